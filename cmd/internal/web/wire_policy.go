package web

import (
	"cmp"
	"slices"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// policyJSON is the agreement on measuring. Times are what is left of them, for the
// clocks of the table's phones differ.
type policyJSON struct {
	Measuring  live.Measuring `json:"measuring"` // free, edition, judge
	JudgesOnly bool           `json:"judges_only"`
	Window     *windowJSON    `json:"window"`   // what is declared; null: nothing
	Proposal   *proposalJSON  `json:"proposal"` // null: none
	Withheld   bool           `json:"withheld"` // there is an answer and the agreement forbids it
	Reach      bool           `json:"reach"`    // the chosen attacker's range may be drawn round it
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

func policyOf(v *live.State) policyJSON {
	p := &v.Policy
	j := policyJSON{
		Measuring: cmp.Or(p.Measuring, live.MeasuringFree), JudgesOnly: p.JudgesOnly, Withheld: v.Withheld,
		Reach: p.Reach(v.Located.Scene.Rules, v.Choice.From),
	}
	if w := p.Window; w != nil {
		j.Window = &windowJSON{w.Doing, w.Ship, w.Target, w.Move, w.Text(), max(0, w.Until.Sub(v.At).Milliseconds())}
	}
	if n := p.Proposal; n != nil {
		j.Proposal = &proposalJSON{n.To, max(0, n.Until.Sub(v.At).Milliseconds())}
	}
	return j
}

// targetsJSON is everything that the chosen attacker could be measured to.
type targetsJSON struct {
	From   string       `json:"from"`
	Reason string       `json:"reason"` // why the list is empty or not whole; "" when neither
	List   []targetJSON `json:"list"`

	Objects []objectJSON `json:"objects"` // obstacles, devices and markers, measured from the same ship
	Blasts  []blastJSON  `json:"blasts"`  // devices, with the ships near them; from no ship
}

type targetJSON struct {
	ID         string          `json:"id"`
	Player     int             `json:"player"`
	Outcome    string          `json:"outcome"` // of the range: yes, too_close, no_view
	Title      string          `json:"title"`   // "Range 2", or why there is no answer
	Band       string          `json:"band"`
	DistanceMM float64         `json:"distance_mm"`
	SigmaMM    float64         `json:"sigma_mm"`
	Arcs       []targetArcJSON `json:"arcs"` // those it is in, or may be in

	NoAttack *restrictionJSON `json:"no_attack"` // as answer.no_attack
	NoLock   *restrictionJSON `json:"no_lock"`
}

type targetArcJSON struct {
	Arc         string           `json:"arc"`
	Outcome     string           `json:"outcome"`      // yes, too_close, no_view
	Attack      string           `json:"attack"`       // "Range 2" inside the arc; "" when it is not in it
	AttackClose bool             `json:"attack_close"` // that range is too close to call
	Obstruction *obstructionJSON `json:"obstruction"`
}

// targetsOf lists what the chosen attacker could be measured to: enemies first, the
// nearest first, as far as the agreement allows it.
func targetsOf(v *live.State) targetsJSON {
	j := targetsJSON{From: v.Choice.From, List: []targetJSON{}, Objects: []objectJSON{}, Blasts: blastsOf(v)}
	s := &v.Located.Scene
	from := live.ShipOf(s, v.Choice.From)
	if from == nil || v.Health.Code != live.OK && !v.Held {
		return j
	}
	j.Objects = objectsOf(v)
	for i := range s.Ships {
		to := &s.Ships[i]
		if to.ID == from.ID {
			continue
		}
		if permit := v.Policy.Pair(s.Rules, from, to); !permit.Range {
			j.Reason = permit.Why
			continue
		}
		j.List = append(j.List, targetOf(v, from, to))
	}
	slices.SortStableFunc(j.List, func(a, b targetJSON) int {
		friend := func(t targetJSON) int {
			if t.Player == from.Player && from.Player != 0 {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(friend(a), friend(b)), cmp.Compare(unknownLast(a), unknownLast(b)), cmp.Compare(a.DistanceMM, b.DistanceMM))
	})
	return j
}

func unknownLast(t targetJSON) int {
	if t.Outcome == engine.NoView.String() {
		return 1
	}
	return 0
}

func targetOf(v *live.State, from, to *engine.Ship) targetJSON {
	t := targetJSON{ID: to.ID, Player: to.Player, Outcome: engine.NoView.String(), Arcs: []targetArcJSON{}}
	for _, id := range []string{from.ID, to.ID} {
		if k, ok := v.Track(id); ok && !k.State.Stands() {
			t.Title = sentence.Upper(live.TrackText(&k, v.Located.Captured))
			return t
		}
	}
	i := slices.IndexFunc(v.Result.Pairs, func(p engine.PairVerdict) bool { return p.From == from.ID && p.To == to.ID })
	if i < 0 {
		t.Title = "Not measured"
		return t
	}
	pair := v.Policy.Cut(&v.Located.Scene, &v.Result.Pairs[i])
	if pair == nil {
		return t
	}
	r := pair.Range
	t.Outcome, t.Title, t.Band = r.Outcome.String(), live.RangeTitle(r), bandLarge(r)
	t.DistanceMM, t.SigmaMM = round(float64(r.Distance)), round(float64(r.Sigma))
	t.NoAttack, t.NoLock = restrictionOf(v.RestrictedFrom("attack", from.ID, to.ID)), restrictionOf(v.RestrictedFrom("lock", from.ID, to.ID))
	for k := range pair.Arcs {
		if a := targetArcOf(v, &pair.Arcs[k]); a.Outcome != engine.No.String() {
			t.Arcs = append(t.Arcs, a)
		}
	}
	return t
}

func targetArcOf(v *live.State, a *engine.ArcVerdict) targetArcJSON {
	j := targetArcJSON{Arc: a.Arc.String(), Outcome: a.InArc.String()}
	if at := a.Attack; at != nil {
		j.Attack, j.AttackClose = live.RangeTitle(at.RangeVerdict), at.Outcome == engine.Indeterminate
		j.Obstruction = &obstructionJSON{Outcome: "not_watched", Text: "obstacles are not watched"}
		if v.ObstaclesWatched {
			j.Obstruction = &obstructionJSON{Outcome: live.ObstructionOutcome(at.Obstruction.Verdict), Text: live.ObstructionText(&at.Obstruction)}
		}
	}
	return j
}

// thingsJSON is what lies on the mat beside ships.
type thingsJSON struct {
	Watched bool           `json:"obstacles_watched"`
	Why     string         `json:"why_not"` // why they are not watched; "" when they are
	Unknown [][][2]float64 `json:"unknown_mm"`
	Blind   []blindJSON    `json:"blind_mm"` // where an obstacle would not be noticed
	Seen    []thingSeen    `json:"seen"`     // how each obstacle of the state was seen, in their order
	Tokens  []tokenJSON    `json:"tokens"`
}

// blindJSON is a part of the mat where an obstacle would not be noticed.
type blindJSON struct {
	Outline [][2]float64 `json:"outline_mm"`
	Why     string       `json:"why"`
}

// thingSeen is how surely an obstacle was found.
type thingSeen struct {
	Visible   float64      `json:"visible"`    // share of its outline
	Misfit    float64      `json:"misfit"`     // of its edges over the picture's contrast
	SigmaMM   float64      `json:"sigma_mm"`   // of its outline
	OutlinePx [][2]float64 `json:"outline_px"` // in the picture
}

func thingsOf(v *live.State) thingsJSON {
	j := thingsJSON{Watched: v.ObstaclesWatched, Unknown: [][][2]float64{}, Blind: []blindJSON{}, Seen: []thingSeen{},
		Tokens: tokensOf(&v.Located.Scene)}
	sight := v.Located.Obstacles
	switch {
	case sight == nil:
		j.Why = "the program has not learnt this table's obstacles"
	case sight.Unseen != "":
		j.Why = sight.Unseen
	}
	for _, u := range v.Located.Scene.Unknown {
		j.Unknown = append(j.Unknown, pointsOf(u))
	}
	for _, b := range v.Located.Scene.Blind {
		j.Blind = append(j.Blind, blindJSON{pointsOf(b.Outline), b.Why})
	}
	for i, o := range v.Located.Scene.Obstacles {
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
