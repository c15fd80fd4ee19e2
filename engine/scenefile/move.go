package scenefile

import (
	"encoding/json"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// The JSON form of a move.

type wirePose struct {
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Heading float64 `json:"heading_deg"`
}

type wireHit struct {
	ID       string `json:"id"`
	Template string `json:"template"`
	Base     string `json:"base"`
}

type wireOption struct {
	Name      string    `json:"name"`
	Final     wirePose  `json:"final"`
	FinalTo   *wirePose `json:"final_to,omitempty"`
	From      *float64  `json:"from_mm,omitempty"`
	To        *float64  `json:"to_mm,omitempty"`
	Legal     string    `json:"legal"`
	Why       string    `json:"why"`
	Obstacles []wireHit `json:"obstacles,omitempty"`
	Devices   []wireHit `json:"devices,omitempty"`
	Flees     string    `json:"flees,omitempty"`
}

type wireMove struct {
	Version         int          `json:"version"`
	Ship            string       `json:"ship"`
	Maneuver        string       `json:"maneuver"`
	Full            wirePose     `json:"full"`
	Final           *wirePose    `json:"final,omitempty"`
	FullyExecuted   bool         `json:"fully_executed"`
	InFull          string       `json:"in_full"`
	Outcome         string       `json:"outcome"`
	FirstOverlapped []string     `json:"first_overlapped"`
	Touching        []string     `json:"touching"`
	Overlapped      []string     `json:"overlapped"`
	Obstacles       []wireHit    `json:"obstacles"`
	Devices         []wireHit    `json:"devices"`
	MovedThrough    []string     `json:"moved_through"`
	Flees           string       `json:"flees"`
	Edges           []string     `json:"edges"`
	Outside         string       `json:"outside,omitempty"`
	Margin          *float64     `json:"margin_mm,omitempty"`
	Nearest         string       `json:"margin_of,omitempty"`
	Sigma           float64      `json:"sigma_mm"`
	Undecided       []string     `json:"undecided"`
	Options         []wireOption `json:"options,omitempty"`
	Template        [][2]float64 `json:"template_mm,omitempty"`
}

// MarshalMove writes a move's result as JSON, on one line. final is left
// out where the player chooses among the options, and margin_mm where nothing is
// there to be met. fully_executed claims no more than in_full knows: it is true where that
// is yes, and false where it is no, too_close or no_view.
func MarshalMove(r move.Result) ([]byte, error) {
	w := wireMove{
		Version: wireVersion, Ship: r.Ship, Maneuver: r.Maneuver, Full: newWirePose(r.Full),
		FullyExecuted: r.InFull == engine.Yes, InFull: r.InFull.String(), Outcome: r.Outcome.String(),
		FirstOverlapped: listed(r.FirstOverlapped), Touching: listed(r.Touching), Overlapped: listed(r.Overlapped),
		Obstacles: wireHits(r.Obstacles), Devices: wireHits(r.Devices), MovedThrough: listed(r.MovedThrough),
		Flees: r.Flees.String(), Edges: listed(r.Edges), Outside: r.Outside, Nearest: r.Nearest, Sigma: float64(r.Sigma),
		Undecided: listed(r.Undecided),
	}
	if !r.Chosen {
		p := newWirePose(r.Final)
		w.Final = &p
	}
	if v := float64(r.Margin); !math.IsInf(v, 0) {
		w.Margin = &v
	}
	for _, p := range r.Template {
		w.Template = append(w.Template, [2]float64{p.X, p.Y})
	}
	for i := range r.Options {
		w.Options = append(w.Options, newWireOption(&r.Options[i]))
	}
	return json.Marshal(w)
}

func newWireOption(o *move.Option) wireOption {
	w := wireOption{Name: o.Name, Final: newWirePose(o.Final), Legal: o.Legal.String(), Why: o.Why}
	if o.Range {
		to, x0, x1 := newWirePose(o.FinalTo), float64(o.From), float64(o.To)
		w.FinalTo, w.From, w.To = &to, &x0, &x1
		return w
	}
	w.Obstacles, w.Devices, w.Flees = wireHits(o.Obstacles), wireHits(o.Devices), o.Flees.String()
	return w
}

func newWirePose(p geom.Pose) wirePose { return wirePose{p.X, p.Y, wireDegrees(p.Heading)} }

func wireHits(hs []move.Hit) []wireHit {
	w := make([]wireHit, len(hs))
	for i, h := range hs {
		w[i] = wireHit{h.ID, h.Template.String(), h.Base.String()}
	}
	return w
}
