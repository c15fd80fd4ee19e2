package web

import (
	"cmp"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// policyJSON is the agreement on measuring. Times are remaining times, because the clocks of the
// phones differ.
type policyJSON struct {
	Measuring  live.Measuring `json:"measuring"` // free, edition, judge
	JudgesOnly bool           `json:"judges_only"`
	Window     *windowJSON    `json:"window"`   // null: none is open
	Proposal   *proposalJSON  `json:"proposal"` // null: none
	Withheld   bool           `json:"withheld"` // there is an answer, but the agreement forbids it
	Reach      bool           `json:"reach"`    // ranges may be drawn around the chosen attacker
}

type windowJSON struct {
	Doing  live.Doing `json:"doing"`
	Ship   string     `json:"ship"`
	Target string     `json:"target"`
	Move   string     `json:"move"`
	Text   string     `json:"text"`
	LeftMS int64      `json:"left_ms"`
}

type proposalJSON struct {
	To     live.Measuring `json:"to"`
	LeftMS int64          `json:"left_ms"`
}

func policyOf(state *live.State) policyJSON {
	p := &state.Policy
	j := policyJSON{
		Measuring: cmp.Or(p.Measuring, live.MeasuringFree), JudgesOnly: p.JudgesOnly, Withheld: state.Withheld,
		Reach: p.Reach(state.Located.Scene.Rules, state.Choice.From),
	}
	if w := p.Window; w != nil {
		j.Window = &windowJSON{w.Doing, w.Ship, w.Target, w.Move, w.Text(), max(0, w.Until.Sub(state.At).Milliseconds())}
	}
	if n := p.Proposal; n != nil {
		j.Proposal = &proposalJSON{n.To, max(0, n.Until.Sub(state.At).Milliseconds())}
	}
	return j
}

// targetsJSON is everything that can be measured from the chosen attacker.
type targetsJSON struct {
	From   string       `json:"from"`
	Reason string       `json:"reason"` // why the list is empty or incomplete; "": it is complete
	List   []targetJSON `json:"list"`

	Objects []objectJSON `json:"objects"` // obstacles, devices and markers, measured from the same ship
	Blasts  []blastJSON  `json:"blasts"`  // devices with the ships near them; from no ship
}

type targetJSON struct {
	ID         string          `json:"id"`
	Player     int             `json:"player"`
	Outcome    string          `json:"outcome"` // of the range: yes, too_close, no_view
	Title      string          `json:"title"`   // "Range 2", or why there is no answer
	Band       string          `json:"band"`
	DistanceMM float64         `json:"distance_mm"`
	SigmaMM    float64         `json:"sigma_mm"`
	Arcs       []targetArcJSON `json:"arcs"` // those that it is in, or may be in

	NoAttack *restrictionJSON `json:"no_attack"` // like answer.no_attack
	NoLock   *restrictionJSON `json:"no_lock"`
}

type targetArcJSON struct {
	Arc         string           `json:"arc"`
	Outcome     string           `json:"outcome"`      // yes, too_close, no_view
	Attack      string           `json:"attack"`       // "Range 2" inside the arc; "": it is not in the arc
	AttackClose bool             `json:"attack_close"` // that range is too close to call
	Obstruction *obstructionJSON `json:"obstruction"`
}

// targetsOf lists what can be measured from the chosen attacker.
func targetsOf(state *live.State) targetsJSON {
	all := state.Targets()
	j := targetsJSON{From: state.Choice.From, Reason: all.Reason, List: []targetJSON{}, Objects: objectsOf(all.Objects),
		Blasts: blastsOf(all.Blasts)}
	for i := range all.Ships {
		j.List = append(j.List, targetOf(state, &all.Ships[i]))
	}
	return j
}

func targetOf(state *live.State, t *live.Target) targetJSON {
	j := targetJSON{
		ID: t.ID, Player: t.Player, Outcome: engine.NoView.String(), Title: t.Title, Arcs: []targetArcJSON{},
		NoAttack: restrictionOf(t.NoAttack), NoLock: restrictionOf(t.NoLock),
	}
	if t.Pair == nil {
		return j
	}
	r := t.Pair.Range
	j.Outcome, j.Band, j.DistanceMM, j.SigmaMM = r.Outcome.String(), live.BandText(r), round(float64(r.Distance)), round(float64(r.Sigma))
	for i := range t.Arcs {
		j.Arcs = append(j.Arcs, targetArcOf(state, &t.Arcs[i]))
	}
	return j
}

func targetArcOf(state *live.State, a *engine.ArcVerdict) targetArcJSON {
	j := targetArcJSON{Arc: a.Arc.String(), Outcome: a.InArc.String()}
	if at := a.Attack; at != nil {
		j.Attack, j.AttackClose = live.RangeTitle(at.RangeVerdict), at.Outcome == engine.Indeterminate
		j.Obstruction = &obstructionJSON{Outcome: "not_watched", Text: state.UnwatchedText()}
		if state.ObstaclesWatched {
			j.Obstruction = &obstructionJSON{Outcome: live.ObstructionOutcome(at.Obstruction.Verdict), Text: live.ObstructionText(&at.Obstruction)}
		}
	}
	return j
}

// thingsJSON is what lies on the mat apart from ships.
type thingsJSON struct {
	Watched bool           `json:"obstacles_watched"`
	Why     string         `json:"why_not"` // why obstacles are not watched; "": they are
	Unknown [][][2]float64 `json:"unknown_mm"`
	Blind   []blindJSON    `json:"blind_mm"` // where an obstacle would go unnoticed
	Seen    []thingSeen    `json:"seen"`     // how each obstacle of the state was seen, in the same order
	Tokens  []tokenJSON    `json:"tokens"`
	Pushed  float64        `json:"mat_pushed_mm"` // by how far the mat lies elsewhere than when it was learnt, if people should know
}

// blindJSON is a part of the mat where an obstacle would go unnoticed.
type blindJSON struct {
	Outline [][2]float64 `json:"outline_mm"`
	Why     string       `json:"why"`
}

// thingSeen describes how well an obstacle was seen.
type thingSeen struct {
	Visible   float64      `json:"visible"`    // share of its outline
	Misfit    float64      `json:"misfit"`     // of its edges, divided by the picture's contrast
	SigmaMM   float64      `json:"sigma_mm"`   // of its outline
	OutlinePx [][2]float64 `json:"outline_px"` // in the picture
}

func thingsOf(state *live.State) thingsJSON {
	j := thingsJSON{Watched: state.ObstaclesWatched, Unknown: [][][2]float64{}, Blind: []blindJSON{}, Seen: []thingSeen{},
		Tokens: tokensOf(&state.Located.Scene)}
	sight := state.Located.Obstacles
	switch {
	case sight == nil:
		j.Why = "the program has not learnt this table's obstacles"
	case sight.Unseen != "":
		j.Why = sight.Unseen
	}
	if sight.DescribePushed() != "" {
		j.Pushed = round(float64(sight.Pushed))
	}
	for _, u := range state.Located.Scene.Unknown {
		j.Unknown = append(j.Unknown, pointsOf(u))
	}
	for _, b := range state.Located.Scene.Blind {
		j.Blind = append(j.Blind, blindJSON{pointsOf(b.Outline), b.Why})
	}
	for i, o := range state.Located.Scene.Obstacles {
		t := thingSeen{SigmaMM: round(float64(o.Sigma)), OutlinePx: [][2]float64{}}
		if sight != nil && i < len(sight.Views) {
			t.Visible, t.Misfit = round(sight.Views[i].Visible), round(sight.Views[i].Misfit)
			t.OutlinePx = outlinePx(&sight.Views[i])
		}
		j.Seen = append(j.Seen, t)
	}
	return j
}

func outlinePx(o *vision.ObstacleView) [][2]float64 {
	out := [][2]float64{}
	for _, p := range o.OutlinePx {
		out = append(out, [2]float64{round(p.X), round(p.Y)})
	}
	return out
}

func pointsOf(points []geom.Point) [][2]float64 {
	out := [][2]float64{}
	for _, p := range points {
		out = append(out, pointOf(p))
	}
	return out
}
