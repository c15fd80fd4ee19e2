package scenefile

import (
	"encoding/json"
	"sightline/engine"
	"sightline/engine/geom"
)

// The JSON form of results. Every list is written as one, never as null.

type wireResult struct {
	Version  int           `json:"version"`
	Rules    string        `json:"rules"`
	Pairs    []wirePair    `json:"pairs"`
	Objects  []wireObject  `json:"objects"`
	Problems []wireProblem `json:"problems"`

	Standing []wireStanding `json:"standing,omitempty"`
}

type wireStanding struct {
	ID           string            `json:"id"`
	Contacts     []string          `json:"contacts"`
	Overlaps     []string          `json:"overlaps"`
	Restrictions []wireRestriction `json:"may_not"`
}

type wireRestriction struct {
	Act     string `json:"act"`
	Target  string `json:"target,omitempty"`
	Because string `json:"because"`
	Outcome string `json:"outcome"`
	Why     string `json:"why"`
	Rule    string `json:"rule"`
}

type wirePair struct {
	From    string    `json:"from"`
	To      string    `json:"to"`
	Range   wireRange `json:"range"`
	Contact string    `json:"contact"`
	Arcs    []wireArc `json:"arcs"`

	Farthest wireDistance `json:"farthest"`
	Side     string       `json:"side,omitempty"`

	Sections []wireSection `json:"sections,omitempty"`
}

// wireSection is a section of a huge ship of the first edition.
type wireSection struct {
	Section string    `json:"section"`
	Range   wireRange `json:"range"`
	Contact string    `json:"contact"`
	Arcs    []wireArc `json:"arcs"`
}

type wireDistance struct {
	Distance float64 `json:"distance_mm"`
	Sigma    float64 `json:"sigma_mm"`
	Band     int     `json:"band"`
	Possible []int   `json:"possible_bands,omitempty"`
	Margin   float64 `json:"margin_mm"`
}

type wireRange struct {
	wireDistance
	Outcome string          `json:"outcome"`
	Lines   [][2][2]float64 `json:"lines_mm"`
}

type wireArc struct {
	Arc    string      `json:"arc"`
	InArc  string      `json:"in_arc"`
	Margin float64     `json:"margin_mm"`
	Sigma  float64     `json:"sigma_mm"`
	Attack *wireAttack `json:"attack,omitempty"`
}

type wireAttack struct {
	wireDistance
	DistanceArcStart float64         `json:"distance_arc_start_mm"`
	BandArcStart     int             `json:"band_arc_start"`
	Lines            [][2][2]float64 `json:"lines_mm"`
	Obstruction      wireObstruction `json:"obstruction"`
}

type wireObstruction struct {
	Verdict string   `json:"verdict"`
	By      []string `json:"by"`
	Ships   []string `json:"ships"`
	Margin  float64  `json:"margin_mm"`
	Sigma   float64  `json:"sigma_mm"`
	Devices []string `json:"devices,omitempty"`
}

type wireObject struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
	wireDistance
	Outcome string `json:"outcome"`
	Contact string `json:"contact"`
	Overlap string `json:"overlap"`
}

type wireProblem struct {
	ID      string  `json:"id"`
	Problem string  `json:"problem"`
	Margin  float64 `json:"margin_mm"`
}

// MarshalResult writes a result as JSON, on one line.
func MarshalResult(r engine.Result) ([]byte, error) { return json.Marshal(newWireResult(&r)) }

// MarshalResults writes the results of a list of scenes, in order.
func MarshalResults(rs []engine.Result) ([]byte, error) {
	w := struct {
		Version int          `json:"version"`
		Results []wireResult `json:"results"`
	}{wireVersion, make([]wireResult, len(rs))}
	for i := range rs {
		w.Results[i] = newWireResult(&rs[i])
	}
	return json.Marshal(w)
}

func newWireResult(r *engine.Result) wireResult {
	w := wireResult{
		Version: wireVersion, Rules: r.Rules.String(),
		Pairs:    make([]wirePair, len(r.Pairs)),
		Objects:  make([]wireObject, len(r.Objects)),
		Problems: make([]wireProblem, len(r.Problems)),
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		w.Pairs[i] = wirePair{
			From: p.From, To: p.To, Contact: p.Contact.String(), Arcs: make([]wireArc, len(p.Arcs)),
			Farthest: newWireDistance(&p.Farthest), Side: p.Side().String(),
			Range: wireRange{newWireDistance(&p.Range), p.Range.Outcome.String(), wireLines(p.Range.Lines)},
		}
		for j := range p.Arcs {
			w.Pairs[i].Arcs[j] = newWireArc(&p.Arcs[j])
		}
		for _, s := range p.Sections {
			ws := wireSection{
				Section: s.Section.String(), Contact: s.Contact.String(), Arcs: make([]wireArc, len(s.Arcs)),
				Range: wireRange{newWireDistance(&s.Range), s.Range.Outcome.String(), wireLines(s.Range.Lines)},
			}
			for j := range s.Arcs {
				ws.Arcs[j] = newWireArc(&s.Arcs[j])
			}
			w.Pairs[i].Sections = append(w.Pairs[i].Sections, ws)
		}
	}
	for i, o := range r.Objects {
		w.Objects[i] = wireObject{o.From, o.To, o.Kind, newWireDistance(&o.Range), o.Range.Outcome.String(), o.Contact.String(),
			o.Overlap.String()}
	}
	for _, s := range r.Standing {
		ws := wireStanding{s.ID, listed(s.Contacts), listed(s.Overlaps), make([]wireRestriction, len(s.Restrictions))}
		for i, b := range s.Restrictions {
			ws.Restrictions[i] = wireRestriction{b.Act, b.Target, b.Because, b.Outcome.String(), b.Why, b.Rule}
		}
		w.Standing = append(w.Standing, ws)
	}
	for i, p := range r.Problems {
		w.Problems[i] = wireProblem{p.ID, p.Problem, float64(p.Margin)}
	}
	return w
}

func newWireArc(a *engine.ArcVerdict) wireArc {
	w := wireArc{Arc: a.Arc.String(), InArc: a.InArc.String(), Margin: float64(a.Margin), Sigma: float64(a.Sigma)}
	if at := a.Attack; at != nil {
		o := &at.Obstruction
		w.Attack = &wireAttack{
			wireDistance:     newWireDistance(&at.RangeVerdict),
			DistanceArcStart: float64(at.DistanceArcStart),
			BandArcStart:     at.BandArcStart,
			Lines:            wireLines(at.Lines),
			Obstruction:      wireObstruction{o.Verdict, listed(o.By), listed(o.Ships), float64(o.Margin), float64(o.Sigma), o.Devices},
		}
	}
	return w
}

func newWireDistance(r *engine.RangeVerdict) wireDistance {
	return wireDistance{float64(r.Distance), float64(r.Sigma), r.Band, listed(r.Possible), float64(r.Margin)}
}

func wireLines(lines []geom.Line) [][2][2]float64 {
	w := make([][2][2]float64, len(lines))
	for i, l := range lines {
		w[i] = [2][2]float64{{l[0].X, l[0].Y}, {l[1].X, l[1].Y}}
	}
	return w
}

// listed makes an empty list of none.
func listed[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
