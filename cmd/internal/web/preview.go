package web

import (
	"encoding/json"
	"net/http"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/move"
	"sightline/engine/scenefile"
)

// previewJSON is the result of a move that was not made.
type previewJSON struct {
	Version  int             `json:"version"`
	Ship     string          `json:"ship"`
	Doing    live.Doing      `json:"doing"`
	Move     string          `json:"move"`
	Lines    []moveLineJSON  `json:"lines"`
	Nearest  string          `json:"nearest"`
	Ends     []endJSON       `json:"ends"`
	Chosen   int             `json:"chosen"` // of ends; -1: none
	Template [][2]float64    `json:"template_mm"`
	Device   [][][2]float64  `json:"device_mm"` // where a dropped device would lie
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
	SlideMM    [][2]float64 `json:"slide_mm"` // the centres between which a slide may end; empty: no slide
}

type afterJSON struct {
	Targets  targetsJSON    `json:"targets"`  // of the ship at its end
	Incoming []incomingJSON `json:"incoming"` // enemies that have, or may have, the ship in an arc

	Uncounted []string `json:"uncounted"` // enemies without a sure place: with any, both lists are incomplete
}

type incomingJSON struct {
	From string        `json:"from"`
	Arc  targetArcJSON `json:"arc"`

	NoAttack *restrictionJSON `json:"no_attack"` // what forbids the enemy to attack the ship
}

func previewOf(t *live.MovePreview, sigmas float64) (previewJSON, error) {
	result, err := scenefile.MarshalMove(t.Result)
	j := previewJSON{
		Version: 1, Ship: t.Ship, Doing: t.Doing, Move: t.Move, Lines: moveLinesOf(t), Nearest: live.NearestText(&t.Result, sigmas),
		Ends: []endJSON{}, Chosen: t.Chosen,
		Template: pointsOf(t.Result.Template), Device: [][][2]float64{}, WhyNot: t.WhyNot, Result: result,
	}
	if t.Doing == live.DoDrop {
		j.Device, j.Chosen = deviceAt(t), -1
	} else {
		for _, e := range t.Ends {
			k := endJSON{Name: e.Name, Legal: e.Legal.String(), Why: e.Why, XMM: round(e.Pose.X), YMM: round(e.Pose.Y),
				HeadingDeg: round(e.Pose.Heading.Normalized().Degrees()), SlideMM: [][2]float64{}}
			if e.Slide != nil {
				k.SlideMM = [][2]float64{pointOf(e.Pose.Point), pointOf(e.Slide.Point)}
			}
			j.Ends = append(j.Ends, k)
		}
	}
	if t.After != nil {
		j.After = afterOf(t.After)
	}
	return j, err
}

// moveLinesOf returns a move's lines as JSON; null for none.
func moveLinesOf(t *live.MovePreview) (out []moveLineJSON) {
	for _, l := range t.Lines() {
		out = append(out, moveLineJSON{l.Outcome.String(), l.Text})
	}
	return out
}

// deviceAt returns the outlines of a dropped device.
func deviceAt(t *live.MovePreview) (out [][][2]float64) {
	d, err := move.ParseDrop(t.Move)
	if err != nil {
		return [][][2]float64{}
	}
	kind := d.Device
	if kind == "" {
		kind = "bomb"
	}
	for _, part := range engine.TokenOutlines(kind) {
		out = append(out, pointsOf(t.Result.Final.TransformAll(part)))
	}
	return out
}

// afterOf returns what can be measured after a move, in the form of the page's lists.
func afterOf(a *live.AfterMove) *afterJSON {
	j := &afterJSON{Targets: targetsOf(&a.State), Incoming: []incomingJSON{}, Uncounted: append([]string{}, a.Uncounted...)}
	for i := range a.Incoming {
		in := &a.Incoming[i]
		j.Incoming = append(j.Incoming, incomingJSON{in.From, targetArcOf(&a.State, &in.Arc), restrictionOf(in.NoAttack)})
	}
	return j
}

// preview sends the result of a move: {"ship":"A1","maneuver":"bank left 1"}, or with "action" or
// "drop".
func (s *Server) preview(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Ship     string `json:"ship"`
		Maneuver string `json:"maneuver"`
		Action   string `json:"action"`
		Drop     string `json:"drop"`
		Option   string `json:"option"`
	}
	if !readBody(w, r, &in, `{"ship":"A1","maneuver":"bank left 1"}`) {
		return
	}
	t := live.MoveRequest{Ship: in.Ship, Option: in.Option}
	for doing, move := range map[live.Doing]string{live.DoManeuver: in.Maneuver, live.DoAction: in.Action, live.DoDrop: in.Drop} {
		if move == "" {
			continue
		}
		if t.Doing != "" {
			http.Error(w, "Expected one of maneuver, action and drop, got several.", http.StatusBadRequest)
			return
		}
		t.Doing, t.Move = doing, move
	}
	state := s.o.Hub.Newest()
	preview, err := state.Preview(t, s.judges(r))
	if err != nil {
		Refuse(w, err)
		return
	}
	j, err := previewOf(&preview, state.Sigmas)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sayHeld(w, &state)
	WriteJSON(w, http.StatusOK, j)
}
