package rulings_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// photographed is a picture of the simulated table with all that a ruling on it holds.
type photographed struct {
	files rulings.Files
	scene engine.Scene // as it was located
}

// simulated is a table on which A1 looks at B1 past a rock, with B2 to the left.
var simulated = sync.OnceValues(func() (photographed, error) {
	table := tablesim.RandomTable(3, 1920, 1080)
	table.Camera = tablesim.DefaultCamera(1920, 1080)
	table.Look = tablesim.DefaultLook()
	table.Clutter, table.Hands, table.Heights = nil, nil, nil
	rock := []geom.Point{{X: -30, Y: -20}, {X: 25, Y: -25}, {X: 35, Y: 5}, {X: 10, Y: 30}, {X: -25, Y: 18}}
	entry, err := catalogue.NewEntry("rock", "asteroid", rock)
	if err != nil {
		return photographed{}, err
	}
	table.Scene.Ships = []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 430, Y: 250}, Heading: 6.2}},
		{ID: "B1", Player: 2, Base: engine.Medium, Pose: geom.Pose{Point: geom.Point{X: 470, Y: 520}, Heading: 3.4}},
		{ID: "B2", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 250, Y: 480}, Heading: 2.6}},
	}
	table.Minis = nil
	table.Scene.Obstacles = nil
	learner := obstacle.NewBackgroundLearner(calibration.Table{Camera: table.Camera, Layout: table.Layout})
	empty := *table
	empty.Scene.Ships, empty.Shot = nil, 1
	f, _, err := empty.Render()
	if err == nil {
		err = learner.Add(f)
	}
	if err != nil {
		return photographed{}, err
	}
	mat, err := learner.Background()
	if err != nil {
		return photographed{}, err
	}
	table.Scene.Obstacles = []engine.Obstacle{{ID: "rock", Kind: "asteroid", Outline: entry.Outline,
		Pose: geom.Pose{Point: geom.Point{X: 452, Y: 380}, Heading: 0.7}}}
	frame, _, err := table.Render()
	if err != nil {
		return photographed{}, err
	}
	return locateIt(table, frame, &catalogue.Catalogue{Entries: []catalogue.Entry{entry}}, mat)
})

// locateIt registers the camera from exactly seen markers and locates what a frame shows.
func locateIt(table *tablesim.Table, frame vision.Frame, c *catalogue.Catalogue, mat *obstacle.Background) (p photographed, err error) {
	var seen []calibration.MarkerSighting
	for _, m := range table.Layout.Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for i, q := range m.Corners() {
			s.Corners[i], _ = table.Camera.PixelOf(q, m.Z)
		}
		seen = append(seen, s)
	}
	cal, err := calibration.Register(table.Camera.Intrinsics, table.Layout, seen)
	if err != nil {
		return p, err
	}
	p.files = rulings.Files{Frame: frame.Gray}
	if frame.Color != nil {
		p.files.Color = frame.Color
	}
	if p.files.Calibration, err = calibration.MarshalTable(&cal); err != nil {
		return p, err
	}
	if p.files.Catalogue, err = c.MarshalJSON(); err != nil {
		return p, err
	}
	var b bytes.Buffer
	if err = mat.WritePNG(&b); err != nil {
		return p, err
	}
	p.files.EmptyMat = b.Bytes()
	// What is located is what is stored.
	if cal, err = calibration.ParseTableFile(p.files.Calibration); err != nil {
		return p, err
	}
	if c, err = catalogue.Parse(bytes.NewReader(p.files.Catalogue)); err != nil {
		return p, err
	}
	if mat, err = obstacle.ReadBackground(bytes.NewReader(p.files.EmptyMat)); err != nil {
		return p, err
	}
	l, err := locate.New(cal, locate.Options{Catalogue: c, Background: mat})
	if err != nil {
		return p, err
	}
	located, err := l.Locate(frame)
	p.scene = located.Scene
	p.scene.Profile = "nominal"
	return p, err
}

// simulatedRuling is a ruling on the simulated table.
func simulatedRuling(t testing.TB) (rulings.Ruling, rulings.Files) {
	if testing.Short() {
		t.Skip("renders two pictures of 1080p, a minute under the race detector: the whole tests do")
	}
	p, err := simulated()
	require.NoError(t, err)
	require.Len(t, p.scene.Ships, 3)
	require.Len(t, p.scene.Obstacles, 1)
	r := ruling(t, 0)
	r.Scene = p.scene
	pair, err := engine.MeasurePair(&r.Scene, "A1", "B1", engine.Options{Sigmas: r.Sigmas})
	require.NoError(t, err)
	r.Pair = &pair
	r.Question = "Is B1 at range 2 of A1, and does the asteroid obstruct the attack?"
	r.Answer = "Range 3, in the front arc, obstructed"
	r.Text = "B1 is at range 3 in the front arc. The attack is obstructed by the asteroid."
	r.Verified = &verify.AnswerJSON{At: noon.Add(-3 * time.Hour), Outcome: "pass", WorstError: 0.21, WorstSigmas: 1.3, Places: 5, Covered: 0.9,
		Holds: true}
	return r, p.files
}

// shifted is the scene with a ship pushed.
func shifted(s engine.Scene, id string, x, y float64) engine.Scene {
	s.Ships = append([]engine.Ship(nil), s.Ships...)
	for i := range s.Ships {
		if s.Ships[i].ID == id {
			s.Ships[i].Pose.Point = s.Ships[i].Pose.Add(geom.Point{X: x, Y: y})
		}
	}
	return s
}
