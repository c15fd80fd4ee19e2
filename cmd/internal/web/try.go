package web

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision"
)

// tryJSON is the answer to a try.
type tryJSON struct {
	Version  int             `json:"version"`
	Ship     string          `json:"ship"`
	Doing    live.Doing      `json:"doing"`
	Move     string          `json:"move"`
	Lines    []moveLineJSON  `json:"lines"`
	Nearest  string          `json:"nearest"`
	Ends     []endJSON       `json:"ends"`
	Chosen   int             `json:"chosen"` // of ends; -1: none
	Template [][2]float64    `json:"template_mm"`
	Device   [][][2]float64  `json:"device_mm"` // of a drop, where it lies
	After    *afterJSON      `json:"after"`     // null: why_nothing_after says why
	WhyNot   string          `json:"why_nothing_after"`
	Result   json.RawMessage `json:"move_result"` // as sightline move prints it
}

type moveLineJSON struct {
	Outcome string `json:"outcome"` // yes, no, too_close, no_view
	Text    string `json:"text"`
}

type endJSON struct {
	Name       string       `json:"name"`
	Legal      string       `json:"legal"`
	Why        string       `json:"why"`
	XMM        float64      `json:"x_mm"`
	YMM        float64      `json:"y_mm"`
	HeadingDeg float64      `json:"heading_deg"`
	SlideMM    [][2]float64 `json:"slide_mm"` // the centres between which it may end; empty: only here
}

type afterJSON struct {
	Targets  targetsJSON    `json:"targets"`  // from the ship
	Incoming []incomingJSON `json:"incoming"` // enemies that have it in an arc, or may have

	Uncounted []string `json:"uncounted"` // enemies that stand nowhere for sure: neither list is whole while there is one
}

type incomingJSON struct {
	From string        `json:"from"`
	Arc  targetArcJSON `json:"arc"`

	NoAttack *restrictionJSON `json:"no_attack"` // of the enemy on the ship
}

func tryOf(t *live.MovePreview, watched bool, sigmas float64) (tryJSON, error) {
	result, err := scenefile.MarshalMove(t.Result)
	j := tryJSON{
		Version: 1, Ship: t.Ship, Doing: t.Doing, Move: t.Move, Lines: moveLinesOf(t), Nearest: live.NearestText(&t.Result, sigmas), Ends: []endJSON{}, Chosen: t.Chosen,
		Template: pointsOf(t.Result.Template), Device: [][][2]float64{}, WhyNot: t.WhyNot, Result: result,
	}
	if t.Doing == live.DoDrop {
		j.Device, j.Chosen = deviceAt(t), -1
	} else {
		for _, e := range t.Ends {
			k := endJSON{Name: e.Name, Legal: e.Legal.String(), Why: e.Why, XMM: round(e.Pose.X), YMM: round(e.Pose.Y), HeadingDeg: round(e.Pose.Heading.Normalized().Degrees()), SlideMM: [][2]float64{}}
			if e.Slide != nil {
				k.SlideMM = [][2]float64{pointOf(e.Pose.Point), pointOf(e.Slide.Point)}
			}
			j.Ends = append(j.Ends, k)
		}
	}
	if t.WhyNot == "" {
		j.After = afterOf(t, watched, sigmas)
	}
	return j, err
}

// moveLinesOf says what would come of a move; null where nothing is said.
func moveLinesOf(t *live.MovePreview) (out []moveLineJSON) {
	for _, l := range t.Lines() {
		out = append(out, moveLineJSON{l.Outcome.String(), l.Text})
	}
	return out
}

// deviceAt is the outline of a dropped device, where it lies.
func deviceAt(t *live.MovePreview) (out [][][2]float64) {
	d, err := engine.ParseDrop(t.Move)
	if err != nil {
		return [][][2]float64{}
	}
	kind := d.Device
	if kind == "" {
		kind = "bomb"
	}
	for _, part := range engine.TokenOutlines(kind) {
		var p []geom.Point
		for _, q := range part {
			p = append(p, t.Result.Final.Transform(q))
		}
		out = append(out, pointsOf(p))
	}
	return out
}

// afterOf words what can be measured after a move, as the page lists it at any time.
func afterOf(t *live.MovePreview, watched bool, sigmas float64) *afterJSON {
	after := t.After
	after.Pairs = slices.Clone(after.Pairs)
	v := live.State{Health: live.Health{Code: live.OK}, ObstaclesWatched: watched, Sigmas: sigmas, Result: after, Choice: live.Choice{From: t.Ship}}
	v.Located.Scene = t.Scene
	for i := range v.Result.Pairs { // no weapon reaches beyond range 3
		arcs := slices.DeleteFunc(slices.Clone(v.Result.Pairs[i].Arcs), func(a engine.ArcVerdict) bool { return !reaches(&a) })
		v.Result.Pairs[i].Arcs = arcs
	}
	a := &afterJSON{Targets: targetsOf(&v), Incoming: []incomingJSON{}, Uncounted: t.UncountedEnemies(&t.Scene)}
	own := live.ShipOf(&t.Scene, t.Ship)
	for _, p := range v.Result.Pairs {
		enemy := live.ShipOf(&t.Scene, p.From)
		if p.To != t.Ship || enemy == nil || own == nil || enemy.Player == own.Player && own.Player != 0 {
			continue
		}
		for i := range p.Arcs {
			if arc := targetArcOf(&v, &p.Arcs[i]); arc.Outcome != engine.No.String() && weaponArc(p.Arcs[i].Arc) {
				a.Incoming = append(a.Incoming, incomingJSON{p.From, arc, restrictionOf(v.RestrictedFrom("attack", p.From, p.To))})
				break
			}
		}
	}
	return a
}

// reaches reports whether an arc's attack range may be one that attacks are made at.
func reaches(a *engine.ArcVerdict) bool { return a.Attack == nil || a.Attack.At(0, 3) != engine.No }

// weaponArc reports whether an arc is one that every ship of an edition, or this ship,
// shoots with: the front arc, or a turret's.
func weaponArc(a engine.Arc) bool {
	return a == engine.ArcFront || strings.Contains(a.String(), "turret") || strings.Contains(a.String(), "mobile")
}

// try answers what would come of a move:
// {"ship":"A1","maneuver":"bank left 1"}, or with "action", or with "drop".
func (s *Server) try(w http.ResponseWriter, r *http.Request) {
	t, problem := readTry(http.MaxBytesReader(w, r.Body, bodyMost))
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	v := s.o.Hub.Newest()
	if v.Health.Code != live.OK && !v.Held {
		http.Error(w, v.Health.Title+": "+v.Health.Detail, http.StatusServiceUnavailable)
		return
	}
	ok, after, why := v.Policy.Move(t.Doing, t.Ship, t.Move)
	if s.judges(r) {
		ok, after = true, true
	}
	if !ok {
		http.Error(w, sentence.Upper(why)+".", http.StatusForbidden)
		return
	}
	scene := v.Standing()
	scene.ObstaclesUnseen = scene.ObstaclesUnseen || !v.ObstaclesWatched
	if live.ShipOf(&scene, t.Ship) == nil {
		text := t.Ship + " is not seen"
		if k, known := v.Track(t.Ship); known {
			text = live.TrackText(&k, v.Located.Captured)
		}
		http.Error(w, sentence.Upper(text)+".", http.StatusConflict)
		return
	}
	t.Uncounted = v.Uncounted()
	tried, err := live.PreviewMove(&scene, t, v.Sigmas, after)
	if err != nil {
		http.Error(w, sentence.Upper(strings.TrimPrefix(err.Error(), "engine: "))+".", http.StatusBadRequest)
		return
	}
	if !after {
		tried.WithholdFigures()
	}
	j, err := tryOf(&tried, v.ObstaclesWatched, v.Sigmas)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, http.StatusOK, j)
}

// readTry reads a move to try; problem is a sentence for people.
func readTry(body io.Reader) (t live.MoveRequest, problem string) {
	var in struct {
		Ship     string `json:"ship"`
		Maneuver string `json:"maneuver"`
		Action   string `json:"action"`
		Drop     string `json:"drop"`
		Option   string `json:"option"`
	}
	if problem := readJSON(body, &in, `{"ship":"A1","maneuver":"bank left 1"}`); problem != "" {
		return t, problem
	}
	t = live.MoveRequest{Ship: in.Ship, Option: in.Option}
	for doing, move := range map[live.Doing]string{live.DoManeuver: in.Maneuver, live.DoAction: in.Action, live.DoDrop: in.Drop} {
		if move == "" {
			continue
		}
		if t.Doing != "" {
			return t, "Expected one of maneuver, action and drop, got several."
		}
		t.Doing = doing
		var err error
		if t.Move, err = live.CanonicalMove(doing, move); err != nil {
			return t, sentence.Of(err)
		}
	}
	if t.Doing == "" || t.Ship == "" {
		return t, "Expected a ship and one of maneuver, action and drop."
	}
	if _, err := vision.CodeOfID(t.Ship); !vision.Unnamed(t.Ship) && err != nil {
		return t, sentence.Of(err)
	}
	return t, ""
}
