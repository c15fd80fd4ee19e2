package app

import (
	"bytes"
	"image/color"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/look"
	"sightline/vision/tablesim"
)

// cardLocator locates ships by their cards where they stand, without the search in the background.
type cardLocator struct {
	*locate.Locator
	ships []engine.Ship
}

func (l cardLocator) Locate(f vision.Frame) (vision.Located, error) {
	out, err := l.Locator.Locate(f)
	if err == nil {
		err = l.Again(f, l.ships, &out)
	}
	return out, err
}

// stockTable is a small simulated table whose two ships carry nothing of ours, and their looks.
func stockTable(t *testing.T) (table *tablesim.Table, known *look.Library) {
	t.Helper()
	const mat, side, height, scale = 560 * geom.Millimeter, 716, 1250, 1.05
	camera := calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: side, Height: side, Fx: scale * height, Fy: scale * height, Cx: (side - 1) / 2.0,
			Cy: (side - 1) / 2.0},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
			T: calibration.Vec3{-float64(mat) / 2, float64(mat) / 2, height}},
	}
	ships := []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 260, Y: 150}, Heading: 0.1}},
		{ID: "B1", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 280, Y: 360}, Heading: 3.3}},
	}
	table = &tablesim.Table{Camera: camera, Layout: calibration.DefaultLayout(mat, mat), Look: tablesim.DefaultLook(), Seed: 5,
		Worn:  map[string]tablesim.Wear{"A1": tablesim.WearStock, "B1": tablesim.WearStock},
		Minis: map[string]tablesim.Mini{}, Scene: engine.Scene{MatWidth: mat, MatHeight: mat, Rules: engine.Rules25}}
	table.Look.Samples = 4
	known = &look.Library{}
	for _, s := range ships {
		var views []look.View
		for i := range 4 {
			s.Pose = geom.Pose{Point: geom.Point{X: 180 + 40*float64(i), Y: 190 + 30*float64(i%2)}, Heading: geom.Angle(90*i+4) * geom.Degree}
			table.Scene.Ships = []engine.Ship{s}
			f, _, err := table.Render()
			require.NoError(t, err)
			views = append(views, look.View{Table: calibration.Table{Camera: camera, Layout: table.Layout}, Frame: f, Pose: s.Pose})
		}
		l, err := look.Learn(look.Card{Name: s.ID, Ships: []string{s.ID}, Base: s.Base}, views)
		require.NoError(t, err)
		known.Looks = append(known.Looks, l)
	}
	for _, s := range ships {
		table.Minis[s.ID] = tablesim.Mini{Kind: tablesim.MiniTwin, Width: 30, Length: 26, Z: 38, Thick: 5, Color: color.RGBA{140, 146, 150, 255}}
	}
	table.Scene.Ships = ships
	return table, known
}

// A ruling on ships that were found by their cards contains these cards: the picture alone gives the same, and so does the entry when it
// is worked out again, also where the looks were deleted or learnt again. Without them, the reason is given.
func TestARulingOnStockShipsIsReplayedFromItsPicture(t *testing.T) {
	table, known := stockTable(t)
	var config Config
	config.Table.Looks = filepath.Join(t.TempDir(), "looks")
	for _, l := range known.Looks {
		require.NoError(t, l.Save(config.Table.Looks))
	}
	frame, _, err := table.Render()
	require.NoError(t, err)
	camera := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	seen := append([]engine.Ship(nil), table.Scene.Ships...)
	for i := range seen {
		seen[i].Look = seen[i].ID
	}
	c := newCourt(t, func(_ *desk, o *deskParts) {
		o.Layout, o.File = table.Layout, pipeline.CalibrationFile{Table: &camera, Name: "truth"}
		o.Markers, o.Track = nil, fiducial.TrackMarkers
		o.NewLocator = func(t calibration.Table) (pipeline.Locator, error) {
			l, err := locate.New(t, locate.Options{Looks: known})
			return cardLocator{l, seen}, err
		}
	})
	config.Rulings.Dir = c.dir
	c.judges = newJudges(config, c.game, func(t calibration.Table) (pipeline.Locator, error) {
		return openLocator(t, locate.Options{Looks: known})
	}, c.options())
	for n := range 2 {
		c.now = c.now.Add(deskFrame)
		frame.Seq, frame.Captured = uint64(n+1), c.now
		c.pipeline.Update(frame)
	}
	c.game.AskJudge()
	held := c.hub.Newest().Hold
	require.NotNil(t, held, "%+v", c.hub.Newest().Health)
	require.Len(t, held.Scene().Ships, 2)
	for i, s := range held.Scene().Ships {
		require.Equal(t, "look", s.Seen)
		require.Less(t, s.Pose.Distance(table.Scene.Ships[i].Pose.Point), 1.0)
	}
	replay := func(n int64) rulings.Replayed {
		log, err := c.judges.record()
		require.NoError(t, err)
		r, err := log.Replay(t.Context(), n, "v-test")
		require.NoError(t, err)
		return r
	}
	r, err := c.rule()
	require.NoError(t, err)
	assert.True(t, r.PictureGivesSame, r.PictureDifference)
	require.NoError(t, os.RemoveAll(config.Table.Looks))
	got := replay(1)
	assert.True(t, got.Same(), "%+v", got)
	assert.Len(t, got.Picture.Ships, 2)
	assert.Less(t, got.Picture.Worst(), 1.0)
	log, err := c.judges.record()
	require.NoError(t, err)
	e, err := log.Entry(t.Context(), 1)
	require.NoError(t, err)
	assert.Equal(t, 2, e.Version)
	ref, ok := e.File(rulings.RoleLooks)
	require.True(t, ok)
	raw, err := log.File(t.Context(), ref)
	require.NoError(t, err)
	kept, err := look.DecodeLibrary(raw)
	require.NoError(t, err)
	assert.Len(t, kept.Looks, 2)

	var told bytes.Buffer
	c.judges.log = slog.New(slog.NewTextHandler(&told, nil))
	_, err = c.rule()
	require.NoError(t, err, "the ruling does not depend on it")
	assert.Contains(t, told.String(), "without the cards")
	got = replay(2)
	assert.False(t, got.Same())
	assert.Contains(t, got.Picture.Why, "A1 was found by its card, which the record does not hold")
}
