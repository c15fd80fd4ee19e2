package web

import (
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// The demo is a scripted game for laying out a streamer's scene. The table is invented; it is
// measured and projected like a real one.

// demoJSON is a loop of scenes, timed by the time of day.
type demoJSON struct {
	LengthMS int64           `json:"length_ms"`
	Scenes   []demoSceneJSON `json:"scenes"`
}

type demoSceneJSON struct {
	FromMS int64     `json:"from_ms"`
	What   string    `json:"what"`
	State  stateJSON `json:"state"`
}

const demoEach = 7 * time.Second

// demoScene is one scene: a question, and its peculiarity.
type demoScene struct {
	what     string
	from, to string
	arc      engine.Arc
	change   func(*live.State)
}

var demoScenes = []demoScene{
	{what: "a range in the arc", from: "A1", to: "B1", arc: engine.ArcFront},
	{what: "too close to call", from: "A2", to: "B2", arc: engine.ArcFront},
	{what: "obstructed", from: "A3", to: "B3", arc: engine.ArcFront},
	{what: "no view: a hand covers the target, and nothing is shown of the pair", from: "A1", to: "B1", arc: engine.ArcFront,
		change: func(state *live.State) {
			state.Pair, state.Reason = nil, "B1 has not been seen for 4 s"
			for _, ship := range state.Located.Scene.Ships {
				if ship.ID == "B1" {
					state.Tracks = append(state.Tracks, vision.Track{Ship: ship, State: vision.Hidden, Captured: state.Located.Captured.Add(
						-4 * time.Second)})
				}
			}
		}},
	{what: "beyond the arc", from: "A1", to: "B4", arc: engine.ArcFront},
	{what: "held for a judge", from: "A2", to: "B2", arc: engine.ArcFront, change: func(state *live.State) {
		state.Held, state.Hold = true, &live.Held{Number: 1, AskedBy: "player 1"}
	}},
	{what: "a ruling", from: "A2", to: "B2", arc: engine.ArcFront, change: demoRuling(live.Ruling{
		Number: 11, Title: "Range 2, in the front arc", Decision: live.Decided, Reason: "Too close to measure; ruled by the judge.",
	})},
	{what: "a ruling that overrules", from: "A2", to: "B2", arc: engine.ArcFront, change: demoRuling(live.Ruling{
		Number: 12, Title: "Range 3, in the front arc", Decision: live.Overruled, Reason: "The base was pushed after the picture was held.",
	})},
}

func demoRuling(r live.Ruling) func(*live.State) {
	return func(state *live.State) {
		r.At, r.From, r.To, r.Arc = state.At, state.Choice.From, state.Choice.To, state.Choice.Arc
		if state.Pair != nil {
			r.Lines = state.Pair.Range.Lines
		}
		state.Ruling = &r
	}
}

// demoTable is the invented table; player 1 is at the bottom. A2 and B2 stand where range 2 and 3
// cannot be distinguished.
func demoTable() engine.Scene {
	cov := geom.Cov3{0.03, 0, 0, 0, 0.03, 0, 0, 0, 8e-6}
	s := engine.Scene{Rules: engine.Rules25, MatWidth: calibration.MatSide, MatHeight: calibration.MatSide, ScaleSigma: 0.0003}
	for _, k := range []struct {
		id        string
		base      engine.Base
		x, y, deg float64
		player    int
	}{
		{"A1", engine.Small, 268, 214, 12, 1}, {"A2", engine.Medium, 566, 242, 352, 1}, {"A3", engine.Large, 762, 268, 338, 1},
		{"B1", engine.Small, 318, 396, 196, 2}, {"B2", engine.Small, 548, 493.2, 176, 2}, {"B3", engine.Large, 655, 600, 160, 2},
		{"B4", engine.Small, 96, 170, 90, 2},
	} {
		s.Ships = append(s.Ships, engine.Ship{
			ID: k.id, Player: k.player, Base: k.base, Covariance: cov, Seen: "token", Visible: 0.96,
			Pose: geom.Pose{Point: geom.Point{X: k.x, Y: k.y}, Heading: geom.Angle(k.deg) * geom.Degree},
		})
	}
	rock := func(id, kind string, x, y, deg float64, outline ...geom.Point) {
		s.Obstacles = append(s.Obstacles, engine.Obstacle{
			ID: id, Kind: kind, Sigma: 0.3, Outline: outline,
			Pose: geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(deg) * geom.Degree},
		})
	}
	rock("rock1", "asteroid", 690, 470, 20, geom.Point{X: -42, Y: -20}, geom.Point{X: -12, Y: -38}, geom.Point{X: 34, Y: -28},
		geom.Point{X: 48, Y: 6}, geom.Point{X: 18, Y: 36}, geom.Point{X: -30, Y: 26})
	rock("rock2", "asteroid", 214, 610, 75, geom.Point{X: -34, Y: -26}, geom.Point{X: 8, Y: -36}, geom.Point{X: 40, Y: -8},
		geom.Point{X: 26, Y: 30}, geom.Point{X: -22, Y: 34})
	rock("cloud1", "gas", 448, 690, 0, geom.Point{X: -52, Y: -14}, geom.Point{X: -6, Y: -40}, geom.Point{X: 46, Y: -20},
		geom.Point{X: 40, Y: 24}, geom.Point{X: -16, Y: 40})
	return s
}

// demoCamera hangs 1.25 m over the mat, a little askew, with the lens of a common webcam.
var demoCamera = calibration.Camera{
	Intrinsics: calibration.Intrinsics{
		Width: 1920, Height: 1080, Fx: 1225, Fy: 1226.2, Cx: 968.8, Cy: 533.1, Distortion: [5]float64{-0.085, 0.03, 0.0006, -0.0004, -0.004},
	},
	Extrinsics: calibration.Extrinsics{
		R: [3][3]float64{
			{0.999799569798, 0.017440685293, -0.009830703380},
			{0.017067782947, -0.999176191224, -0.036818876633},
			{-0.010464751201, 0.036643708707, -0.999273599969},
		},
		T: calibration.Vec3{-466.326213791, 462.991363158, 1237.528433458},
	},
}

// makeDemo measures and projects every scene.
func makeDemo() demoJSON {
	table := &calibration.Table{Camera: demoCamera, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	demo := demoJSON{LengthMS: demoEach.Milliseconds() * int64(len(demoScenes))}
	for i, k := range demoScenes {
		v := demoState(k)
		state := stateOf(&v)
		state.Overlay = overlayOf(&v, table)
		demo.Scenes = append(demo.Scenes, demoSceneJSON{demoEach.Milliseconds() * int64(i), k.what, state})
	}
	return demo
}

func demoState(k demoScene) live.State {
	scene := demoTable()
	now := time.Unix(1700000000, 0)
	state := live.State{
		At: now, Health: live.Health{Code: live.OK}, Source: "demo", Sigmas: engine.DefaultSigmas, ObstaclesWatched: true,
		Located: vision.Located{Scene: scene}, Choice: live.Choice{From: k.from, To: k.to, Arc: k.arc},
		Match: live.Match{Title: "Demo Open", Round: "Round 3", Sides: [2]live.MatchSide{{Name: "Ada Example", Score: 7, Squad: 20},
			{Name: "Ben Example", Score: 4, Squad: 20}}},
	}
	state.Located.Captured = now
	pair, err := engine.MeasurePair(&scene, k.from, k.to, engine.Options{})
	if err != nil {
		state.Reason = err.Error()
	} else {
		state.Pair = &pair
	}
	if k.change != nil {
		k.change(&state)
	}
	state.Panel = live.PanelState(&state)
	return state
}
