package tablesim_test

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// A ship stands on part of a rock that no picture has shown without it. What is seen of the rock is not the ship's miniature:
// in rendered pictures lines across such rocks were called clear.
func TestARockUnderAShipIsNotItsMiniature(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches many pictures: run without -short")
	}
	for _, camera := range []string{"render", "webcam"} {
		table, catalogue := obstacleTable(t)
		model, err := tablesim.CameraNamed(camera)
		require.NoError(t, err)
		table.Model = &model
		mat := learnt(t, table)
		rocks := table.Scene.Obstacles[:1]
		rock := &rocks[0]
		locateAll := func() (things []geom.Polygon) {
			l, err := locate.New(tableOf(table), locate.Options{Catalogue: catalogue, Background: mat})
			require.NoError(t, err)
			got, err := l.Locate(render(t, table))
			require.NoError(t, err)
			require.Len(t, got.Scene.Ships, 2)
			require.Empty(t, got.Obstacles.Unseen)
			things = got.Scene.Unknown
			for _, o := range got.Scene.Obstacles {
				things = append(things, o.Pose.TransformAll(o.Outline))
			}
			return things
		}
		for _, at := range []struct{ toward, off float64 }{{0, 14}, {1.6, 9}, {2.5, 10}, {4.2, 12}} {
			sin, cos := math.Sincos(at.toward)
			table.Scene.Ships[0].Pose = geom.Pose{Heading: geom.Angle(at.toward) + 0.3,
				Point: rock.Pose.Point.Add(geom.Point{X: at.off * cos, Y: at.off * sin})}
			table.Minis = map[string]tablesim.Mini{"A1": {Kind: tablesim.MiniWedge, Width: 30, Length: 46, Z: 42, Thick: 6,
				Color: color.RGBA{190, 185, 180, 255}}}
			table.Scene.Obstacles = rocks
			things := locateAll()
			for _, p := range rock.Outline {
				// What stands out from the base by more than 10 mm lies in a thing or near its border.
				q := rock.Pose.Transform(p)
				local := table.Scene.Ships[0].Pose.Inverse(q)
				if max(math.Abs(local.X), math.Abs(local.Y)) < 30 {
					continue
				}
				assert.True(t, slices.ContainsFunc(things, func(u geom.Polygon) bool { return u.Contains(q) || u.BoundaryDistance(q) < 5 }),
					"%s, ship %+v: nothing is said of the rock at %.0f", camera, at, q)
			}
			table.Scene.Obstacles = nil
			alone := slices.DeleteFunc(locateAll(), func(u geom.Polygon) bool { return u.BoundaryDistance(table.Scene.Ships[0].Pose.Point) > 90 })
			assert.Empty(t, alone, "%s, ship %+v: the ship alone", camera, at)
		}
	}
}

// Miniatures of many shapes, in the places of the scripted game, are no things on the mat.
func TestMiniaturesAreNotObjectsUnderShips(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches whole pictures for obstacles: run without -short")
	}
	for _, seed := range []uint64{0, 2, 4, 8} {
		source, err := tablesim.Open(tablesim.Options{Seed: seed, Still: true})
		require.NoError(t, err)
		table := calibration.Table{Camera: source.Camera(), Layout: source.Layout()}
		mat, err := obstacle.LearnBackground(table, 2, source.Bare)
		require.NoError(t, err)
		known, err := catalogue.Of(source.Obstacles())
		require.NoError(t, err)
		l, err := locate.New(table, locate.Options{Catalogue: known, Background: mat})
		require.NoError(t, err)
		f, err := source.Next(t.Context())
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		require.Empty(t, got.Obstacles.Unseen)
		assert.Greater(t, len(got.Scene.Ships), 8)
		assert.Empty(t, got.Scene.Unknown, "seed %d", seed)
		require.NoError(t, source.Close())
	}
}

// A panel beside its base that hides no more than the white line along the rim hides the rim all the same: what adjoins that rim does
// not lie on the mat.
func TestAPanelThatHidesTheKeylineHidesTheRim(t *testing.T) {
	table, _ := obstacleTable(t)
	table.Scene.Obstacles, table.Scene.Ships = nil, table.Scene.Ships[:1]
	id := table.Scene.Ships[0].ID
	l, err := locate.New(tableOf(table), locate.Options{})
	require.NoError(t, err)
	table.Minis = map[string]tablesim.Mini{id: {Kind: tablesim.MiniTwin, Width: 40, Length: 36, Z: 30, Thick: 10,
		Color: color.RGBA{120, 120, 120, 255}}}
	got, err := l.Locate(render(t, table))
	require.NoError(t, err)
	require.Len(t, got.Ships, 1)
	seen := 0
	for _, c := range got.Ships[0].Rim {
		if c.Seen && c.Line {
			seen++
		}
	}
	assert.LessOrEqual(t, seen, 33, "of %d cells; 37 show their own print", len(got.Ships[0].Rim))
}
