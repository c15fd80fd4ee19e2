package web

import (
	"time"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
)

// The JSON of the page that learns obstacles. Keys have units.

type learnStateJSON struct {
	Version   int             `json:"version"`
	Seq       uint64          `json:"seq"` // of the state from which the rest was made
	Health    healthJSON      `json:"health"`
	Picture   *pictureJSON    `json:"picture"`
	Way       []string        `json:"in_the_way"`
	MatWay    []string        `json:"in_the_way_of_the_mat"`
	Lying     []string        `json:"on_the_mat"`
	Paper     bool            `json:"paper_on_the_mat"`
	Task      learnTaskJSON   `json:"task"`
	Mat       learntMatJSON   `json:"mat"`
	Trace     *learnTraceJSON `json:"trace"` // null: none
	Catalogue learntListJSON  `json:"catalogue"`
	Kinds     []learnKindJSON `json:"kinds"`
	Now       learnNowJSON    `json:"now"`
}

type learnTaskJSON struct {
	Doing   live.LearnAction `json:"doing"` // "": nothing
	Frames  int              `json:"frames"`
	Wanted  int              `json:"frames_wanted"`
	Last    live.LearnAction `json:"last"`          // the last ended action
	EndedMS int64            `json:"ended_unix_ms"` // 0: none has ended
	Done    string           `json:"done"`
	Problem string           `json:"problem"`
}

type learntMatJSON struct {
	File     string  `json:"file"`
	Version  string  `json:"version"` // "": not learnt
	AtMS     int64   `json:"at_unix_ms"`
	Problem  string  `json:"problem"`
	WidthMM  float64 `json:"width_mm"`
	HeightMM float64 `json:"height_mm"`
}

type learnTraceJSON struct {
	Number  uint64           `json:"number"`
	AtMS    int64            `json:"at_unix_ms"`
	TopMM   float64          `json:"top_mm"`
	Clipped bool             `json:"paper_clipped"` // brighter than the camera can measure
	Region  [4]int           `json:"region_px"`     // the part in its picture: left, top, width, height
	Tokens  []learnTokenJSON `json:"tokens"`
}

type learnTokenJSON struct {
	Number    int          `json:"number"`
	OutlinePx [][2]float64 `json:"outline_px"`
	Shape     [][2]float64 `json:"shape_mm"` // around its centre, y away from player 1
	LongMM    float64      `json:"long_mm"`
	ShortMM   float64      `json:"short_mm"`
	AreaMM2   float64      `json:"area_mm2"`
	Seen      float64      `json:"edge_seen"`   // share of the border
	ScatterMM float64      `json:"edge_rms_mm"` // of single places relative to their neighbours
	Problem   string       `json:"problem"`     // why it was not traced; "": it was
	Doubts    []string     `json:"doubts"`      // what may make it unknown later
	Alike     []string     `json:"alike"`       // entries that look the same
	Saved     string       `json:"saved"`       // the entry as which it was saved; "": none
}

type learntListJSON struct {
	File    string           `json:"file"`
	Version string           `json:"version"` // "": none
	AtMS    int64            `json:"at_unix_ms"`
	Problem string           `json:"problem"`
	Entries []learnEntryJSON `json:"entries"`
}

type learnEntryJSON struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"`
	Shape   [][2]float64 `json:"shape_mm"`
	AreaMM2 float64      `json:"area_mm2"`
	SigmaMM float64      `json:"sigma_mm"`
	TopMM   float64      `json:"top_mm"`
	Alike   []string     `json:"alike"` // entries that look the same
}

// learnKindJSON is a possible kind of a token.
type learnKindJSON struct {
	Kind  string `json:"kind"`
	Group string `json:"group"` // obstacle, device, marker
}

// learnNowJSON is what the camera recognises now.
type learnNowJSON struct {
	Watched bool             `json:"watched"`
	Why     string           `json:"why_not"` // why obstacles are not watched; "": they are
	Found   []learnFoundJSON `json:"found"`
	Unknown [][][2]float64   `json:"unknown_px"`
}

type learnFoundJSON struct {
	ID        string       `json:"id"`
	Entry     string       `json:"entry"`
	Kind      string       `json:"kind"`
	Flipped   bool         `json:"flipped"` // its other face, not the traced one, is up
	SigmaMM   float64      `json:"sigma_mm"`
	Visible   float64      `json:"visible"`
	Misfit    float64      `json:"misfit"`
	OutlinePx [][2]float64 `json:"outline_px"`
}

func learnStateOf(state *live.State, l *live.LearnState) learnStateJSON {
	j := learnStateJSON{
		Version: 1, Seq: state.Seq, Health: healthJSON(state.Health), Picture: pictureOf(state),
		Way: append([]string{}, l.Blockers...), MatWay: append([]string{}, l.MatBlockers...), Paper: l.Paper,
		Lying: append([]string{}, l.Lying...),
		Task:  learnTaskJSON{l.Doing, l.Frames, l.Wanted, l.Last, unixMS(l.Ended), l.Done, l.Problem},
		Mat: learntMatJSON{
			File: l.Mat.File, Version: l.Mat.Version, AtMS: unixMS(l.Mat.At), Problem: l.Mat.Problem,
			WidthMM: round(l.MatWidth.Millimeters()), HeightMM: round(l.MatHeight.Millimeters()),
		},
		Trace: learnTraceOf(l.Trace),
		Catalogue: learntListJSON{
			File: l.Catalogue.File, Version: l.Catalogue.Version, AtMS: unixMS(l.Catalogue.At), Problem: l.Catalogue.Problem,
			Entries: []learnEntryJSON{},
		},
		Kinds: learnKinds(), Now: learnNowOf(state, l),
	}
	for _, e := range l.Entries {
		j.Catalogue.Entries = append(j.Catalogue.Entries, learnEntryJSON{
			Name: e.Name, Kind: e.Kind, Shape: shapeOf(e.Outline, geom.Point{}), AreaMM2: round(geom.Polygon(e.Outline).Area()),
			SigmaMM: round(float64(e.Sigma)), TopMM: round(float64(e.Top)), Alike: append([]string{}, l.Twins[e.Name]...),
		})
	}
	return j
}

func unixMS(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func learnTraceOf(t *live.TokenTrace) *learnTraceJSON {
	if t == nil {
		return nil
	}
	j := &learnTraceJSON{Number: t.Number, AtMS: t.At.UnixMilli(), TopMM: t.Top.Millimeters(), Clipped: t.Clipped,
		Region: [4]int{t.Region.Min.X, t.Region.Min.Y, t.Region.Dx(), t.Region.Dy()}, Tokens: []learnTokenJSON{}}
	for i, k := range t.Tokens {
		middle := geom.Point{}
		for _, p := range k.Outline {
			middle = middle.Add(p.Mul(1 / float64(len(k.Outline))))
		}
		token := learnTokenJSON{
			Number: i + 1, OutlinePx: [][2]float64{}, Shape: shapeOf(k.Outline, middle),
			LongMM: round(k.Long.Millimeters()), ShortMM: round(k.Short.Millimeters()), AreaMM2: round(k.Area),
			Seen: round(k.Seen), ScatterMM: round(k.Scatter), Problem: k.Problem,
			Doubts: append([]string{}, k.Doubts...), Alike: append([]string{}, k.Alike...), Saved: k.Saved,
		}
		for _, p := range k.OutlinePx {
			token.OutlinePx = append(token.OutlinePx, [2]float64{round(p.X), round(p.Y)})
		}
		j.Tokens = append(j.Tokens, token)
	}
	return j
}

// shapePoints is the number of an outline's points in a small drawing.
const shapePoints = 60

// shapeOf returns an outline for a small drawing.
func shapeOf(outline []geom.Point, middle geom.Point) [][2]float64 {
	out := [][2]float64{}
	every := max((len(outline)+shapePoints-1)/shapePoints, 1)
	for i := 0; i < len(outline); i += every {
		out = append(out, pointOf(outline[i].Sub(middle)))
	}
	return out
}

func learnKinds() (out []learnKindJSON) {
	obstacles, devices, markers := catalogue.Kinds()
	for _, g := range []struct {
		group string
		kinds []string
	}{{"obstacle", obstacles}, {"device", devices}, {"marker", markers}} {
		for _, k := range g.kinds {
			out = append(out, learnKindJSON{k, g.group})
		}
	}
	return out
}

func learnNowOf(state *live.State, l *live.LearnState) learnNowJSON {
	j := learnNowJSON{Why: l.UnusedReason(state), Found: []learnFoundJSON{}, Unknown: [][][2]float64{}}
	// the learnt data may have changed since the search
	j.Watched = state.ObstaclesWatched && state.Health.Code == live.OK && j.Why == ""
	sight := state.Located.Obstacles
	if sight == nil || state.Health.Code != live.OK {
		return j
	}
	for i := range sight.Views {
		o := &sight.Views[i]
		if o.Entry == nil {
			continue
		}
		j.Found = append(j.Found, learnFoundJSON{
			ID: o.ID, Entry: o.Entry.Name, Kind: o.Entry.Kind, Flipped: o.Flipped, SigmaMM: round(sigmaOf(state, o.ID)),
			Visible: round(o.Visible), Misfit: round(o.Misfit), OutlinePx: outlinePx(o),
		})
	}
	for _, t := range sight.Unknown {
		px := [][2]float64{}
		for _, p := range t.OutlinePx {
			px = append(px, [2]float64{round(p.X), round(p.Y)})
		}
		j.Unknown = append(j.Unknown, px)
	}
	return j
}

// sigmaOf returns the standard deviation of an object's outline in the scene, mm.
func sigmaOf(state *live.State, id string) float64 {
	s := &state.Located.Scene
	for _, o := range s.Obstacles {
		if o.ID == id {
			return float64(o.Sigma)
		}
	}
	for _, list := range [2][]engine.Token{s.Devices, s.Markers} {
		for _, k := range list {
			if k.ID == id {
				return float64(k.Sigma)
			}
		}
	}
	return 0
}
