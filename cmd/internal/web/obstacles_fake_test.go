package web_test

import (
	"fmt"
	"image"
	"math"
	"sync"
	"time"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle/trace"
)

// fakeLearning is what someone has taught, without a camera.
type fakeLearning struct {
	mu     sync.Mutex // guards the fields below
	state  live.LearnState
	wanted []live.LearnIntent
	err    error
}

func (f *fakeLearning) Learning() live.LearnState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

func (f *fakeLearning) Learn(in live.LearnIntent) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = append(f.wanted, in)
	return f.err
}

func (f *fakeLearning) Traced() (live.State, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return live.State{Frame: fakePicture()}, f.state.Trace != nil
}

// lump is an uneven outline about a place.
func lump(at geom.Point, r float64, lobes int) (out []geom.Point) {
	for i := range 40 {
		s, c := math.Sincos(2 * math.Pi * float64(i) / 40)
		k := r * (1 + 0.15*math.Cos(float64(lobes*i)*2*math.Pi/40) + 0.08*s)
		out = append(out, at.Add(geom.Point{X: k * c, Y: k * s}))
	}
	return out
}

func lumpPx(outline []geom.Point) (out []geom.Pixel) {
	for _, p := range outline {
		out = append(out, geom.Pixel{X: 500 + p.X, Y: 1000 - p.Y})
	}
	return out
}

// taught is a state in which everything stands that the page shows.
func taught() live.LearnState {
	made := time.Unix(1700000000, 0)
	s := live.LearnState{
		Wanted: 10, Last: live.LearnTrace, Done: "2 of 3 things on the paper are traced.", Paper: true,
		Mat: live.LearntFile{File: "calibration/mat.png", Version: "5319fae3526c6e72", At: made}, MatWidth: 914.5, MatHeight: 914.5,
		Catalogue: live.LearntFile{File: "calibration/obstacles.json", Version: "90ab", At: made},
		Trace:     &live.TokenTrace{Number: 3, At: made, Top: 2, Region: image.Rect(0, 0, 1920, 1080)},
	}
	for i, kind := range []string{"asteroid", "debris", "gas", "seismic_charge"} {
		s.Entries = append(s.Entries, catalogue.Entry{Name: fmt.Sprint(kind, 1), Kind: kind, Sigma: 0.2, Top: 2, Outline: lump(geom.Point{},
			20+4*float64(i), 2+i)})
	}
	for i := range 3 {
		k := trace.Token{Outline: lump(geom.Point{X: 150 + 250*float64(i), Y: 600}, 30, 3+i), Seen: 0.99, Scatter: 0.07, Area: 2800,
			Long: 64, Short: 55}
		k.OutlinePx = lumpPx(k.Outline)
		t := live.LearnToken{Token: k}
		switch i {
		case 1:
			t.Doubts, t.Alike = []string{"Its two faces look almost the same. The program may call it unknown rather than " +
				"guess."}, []string{"debris1"}
		case 2:
			t.Problem = "Its edge cannot be made out all round."
		}
		s.Trace.Tokens = append(s.Trace.Tokens, t)
	}
	return s
}

// recognised puts obstacles on a view's table.
func recognised(state *live.State, l *live.LearnState) {
	state.ObstaclesWatched = true
	sight := &vision.ObstacleSight{}
	for i := range 2 {
		o := lump(geom.Point{X: 250 + 300*float64(i), Y: 620}, 30, 3+i)
		e := &l.Entries[i]
		sight.Views = append(sight.Views, vision.ObstacleView{ID: e.Name, Entry: e, Flipped: i == 1, Visible: 1, Misfit: 0.1, Outline: o,
			OutlinePx: lumpPx(o)})
		state.Located.Scene.Obstacles = append(state.Located.Scene.Obstacles, engine.Obstacle{ID: e.Name, Kind: e.Kind, Sigma: 0.34,
			Outline: e.Outline})
	}
	o := lump(geom.Point{X: 800, Y: 640}, 25, 2)
	sight.Unknown = []vision.UnknownObject{{Outline: o, OutlinePx: lumpPx(o)}}
	state.Located.Obstacles = sight
}
