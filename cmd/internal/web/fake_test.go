package web_test

import (
	"image"
	"math"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// fakeTable is a known scene behind a hub, with the choice as package app keeps it.
type fakeTable struct {
	t   testing.TB
	hub *live.Hub

	mu   sync.Mutex
	view live.State

	placed []live.PlacedShip

	agree   func(live.Measuring, bool)
	declare func(*live.Declaration)
	options func(*web.Options) // nil: nothing more than what follows
}

// A1 at (300, 300) heading north, B1 147.3 mm in front of it: 187.3 mm between
// centres of two 40 mm bases. A2 and B2 stand exactly at the edge of range 2 and 3.
func knownScene() engine.Scene {
	cov := geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5}
	ship := func(id string, player int, base engine.Base, x, y, deg float64) engine.Ship {
		return engine.Ship{
			ID: id, Player: player, Base: base, Covariance: cov, Seen: "token", Visible: 0.93,
			Pose: geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(deg) * geom.Degree},
		}
	}
	return engine.Scene{
		Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4, ScaleSigma: 0.0003,
		Ships: []engine.Ship{
			ship("A1", 1, engine.Small, 300, 300, 0),
			ship("A2", 1, engine.Large, 620, 180, 340),
			ship("A3", 1, engine.Medium, 150, 120, 25),
			ship("B1", 2, engine.Small, 310, 487.3, 190),
			ship("B2", 2, engine.Small, 640, 456.9, 200),
			ship("B3", 2, engine.Large, 500, 760, 170),
		},
	}
}

// outlinesOf places the ships' outlines in a picture that looks straight down.
func outlinesOf(s engine.Scene) []vision.ShipView {
	var out []vision.ShipView
	for _, ship := range s.Ships {
		w, l := ship.Base.Size()
		view := vision.ShipView{ID: ship.ID}
		for i, c := range []geom.Point{{X: -1, Y: 1}, {X: 1, Y: 1}, {X: 1, Y: -1}, {X: -1, Y: -1}} {
			p := ship.Pose.Transform(geom.Point{X: c.X * float64(w) / 2, Y: c.Y * float64(l) / 2})
			view.Outline[i] = geom.Pixel{X: 500 + p.X, Y: 1000 - p.Y}
		}
		out = append(out, view)
	}
	return out
}

// fakePicture is a mat with the known scene's bases on it, in colour; no one writes
// to it.
var fakePicture = sync.OnceValue(func() vision.Frame {
	s := knownScene()
	const w, h = 1920, 1080
	f := vision.Frame{Gray: image.NewGray(image.Rect(0, 0, w, h)), Color: &vision.BGR{Pix: make([]byte, 3*w*h), Width: w, Height: h}, Seq: 7}
	for y := range h {
		for x := range w {
			v := byte(40 + 12*math.Sin(float64(x)/90)*math.Cos(float64(y)/70))
			for _, ship := range s.Ships {
				q := ship.Pose.Inverse(geom.Point{X: float64(x) - 500, Y: 1000 - float64(y)})
				if size, _ := ship.Base.Size(); math.Max(math.Abs(q.X), math.Abs(q.Y)) < float64(size)/2 {
					v = 190
				}
			}
			i := y*w + x
			f.Gray.Pix[i], f.Color.Pix[3*i], f.Color.Pix[3*i+1], f.Color.Pix[3*i+2] = v, v, v, v
		}
	}
	return f
})

func newFakeTable(t testing.TB) *fakeTable {
	scene := knownScene()
	f := &fakeTable{t: t, view: live.State{
		At: time.Unix(1700000000, 0), Health: live.Health{Code: live.OK}, Source: "fake camera", Sigmas: 3,
		Figures:  live.Figures{Frames: 120, Dropped: 3, FPS: 14.6, Locating: 41 * time.Millisecond},
		Register: live.Register{From: "the mat's markers", RMSPx: 0.04, Markers: []int{0, 1, 2, 3, 4, 5, 6, 7}},
		Located:  vision.Located{Scene: scene, Ships: outlinesOf(scene)}, Frame: fakePicture(),
		Choice: live.Choice{Arc: engine.ArcFront}, PanelName: "no hardware", Reason: "click attacker, then target on the page",
	}}
	result, err := engine.Measure(&scene, engine.Options{})
	require.NoError(t, err)
	f.view.Result = result
	f.view.Panel = live.PanelState(&f.view)
	f.hub = live.NewHub(f.view)
	return f
}

// change changes the view and publishes it.
func (f *fakeTable) change(do func(*live.State)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do(&f.view)
	f.view.Panel = live.PanelState(&f.view)
	f.hub.Publish(f.view)
}

// choose does what package app does: measure the pair and publish.
func (f *fakeTable) choose(c live.Choice) {
	f.change(func(state *live.State) {
		state.Choice, state.Pair, state.Reason, state.Withheld = c, nil, "", false
		if c.From == "" || c.To == "" {
			state.Reason = "click attacker, then target on the page"
			return
		}
		pair, err := engine.MeasurePair(&state.Located.Scene, c.From, c.To, engine.Options{})
		if err != nil {
			state.Reason = err.Error()
			return
		}
		state.Pair = &pair
		state.WithholdPair()
	})
}

func (f *fakeTable) server() *web.Server {
	o := web.Options{Hub: f.hub, Choose: f.choose, SetMatch: f.setMatch, Agree: f.agree, Declare: f.declare, PlaceShip: f.placeShip}
	o.Access.Names = []string{"table.local"} // as ask names it
	if f.options != nil {
		f.options(&o)
	}
	return web.NewServer(o)
}

func (f *fakeTable) setMatch(m live.Match) error {
	f.change(func(state *live.State) { state.Match = m })
	return nil
}

func (f *fakeTable) direct(change live.DirectionChange) (live.Direction, error) {
	state := f.hub.Newest()
	now, err := state.Direction.With(change, state.Choice, time.Now())
	if err == nil {
		f.change(func(state *live.State) { state.Direction, state.At = now, time.Now() })
	}
	return now, err
}

// steady serves a table whose state stays as it is and is sent every second, as a
// running program tells it.
func steady(t *testing.T, f *fakeTable) *httptest.Server {
	server := serve(t, f)
	everySecond(t, func() { f.change(func(*live.State) {}) })
	return server
}

// everySecond calls tell once a second until the test ends.
func everySecond(t testing.TB, tell func()) {
	stop := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				tell()
			}
		}
	})
	t.Cleanup(func() { close(stop); telling.Wait() })
}

// measured measures a view's scene.
func measured(state *live.State) {
	result, err := engine.Measure(&state.Located.Scene, engine.Options{})
	if err == nil {
		state.Result = result
	}
}
