package obstacle

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/shift"
	"sightline/vision/tablesim"
)

// starry returns a picture of a mat with stars that was pushed.
func starry(t calibration.Table, push *shift.Push, seed uint64) *image.Gray {
	const side, size = 8.0, 50 // a star in each square of so many mm
	place := rand.New(rand.NewPCG(11, 1))
	var stars [size * size]geom.Point
	for k := range stars {
		p := geom.Point{X: (float64(k%size) + place.Float64()) * side, Y: (float64(k/size) + place.Float64()) * side}
		stars[k] = p.Add(push.At(p))
	}
	g := grainy(t, 1.5, 1.5, seed)
	for _, s := range stars {
		px, ok := t.PixelOf(s, 0)
		for y := int(px.Y) - 4; ok && y <= int(px.Y)+4; y++ {
			for x := int(px.X) - 4; x <= int(px.X)+4; x++ {
				if d := math.Hypot(float64(x)-px.X, float64(y)-px.Y); image.Pt(x, y).In(g.Rect) {
					v := float64(g.GrayAt(x, y).Y) + 90*math.Exp(-d*d/2)
					g.Pix[g.PixOffset(x, y)] = uint8(min(v, 240))
				}
			}
		}
	}
	return g
}

func TestAMatThatWasPushedIsFollowed(t *testing.T) {
	f, table := finderOfGrain(t)
	learner := NewBackgroundLearner(table)
	require.NoError(t, learner.Add(vision.Frame{Gray: starry(table, &shift.Push{}, 100)}))
	mat, err := learner.Background()
	require.NoError(t, err)
	f, err = NewFinder(table, f.catalogue, mat, calibration.DefaultUncertainty)
	require.NoError(t, err)
	for n, push := range []shift.Push{
		{}, {By: geom.Point{X: 3, Y: -2}}, {By: geom.Point{X: 5}}, {About: geom.Point{X: 200, Y: 200}, Turn: 0.01}, {},
	} {
		f.compare(vision.Frame{Gray: starry(table, &push, uint64(n))})
		f.coverShips(nil)
		f.weigh(nil)
		assert.Empty(t, f.things(nil, nil), "%+v", push)
		at := geom.Point{X: 330, Y: 250}
		assert.InDelta(t, 0, f.pushes.All.At(at).Sub(push.At(at)).Norm(), 0.6, "%+v", push)
	}
}

// A rock under a ship was not seen as the mat was pushed with all that stands on it: it lies where the mat's print says, or is unknown.
func TestARockUnderAShipIsPushedWithTheMat(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws and searches six pictures: run without -short")
	}
	for mat, follows := range map[tablesim.MatStyle]bool{tablesim.MatStars: true, tablesim.MatPlain: false} {
		s := newSearchedTable(t, 5, 0, mat)
		scene, home, push := &s.table.Scene, s.table.Camera, geom.Point{X: -5, Y: 3}
		f := s.finder()
		f.memories = &memories{}
		frame, bases := s.picture()
		lay := f.search(frame, bases, nil).Views
		require.Equal(t, "rock1a", lay[0].ID)
		scene.Ships[0].Pose.Point = scene.Obstacles[0].Pose.Point
		frame, bases = s.picture()
		got := f.search(frame, bases, lay)
		require.Equal(t, "rock1a", got.Views[0].ID, "it lies under the ship")

		frame, bases = s.pushed(home, push)
		got = f.search(frame, bases, got.Lying())
		at := lay[0].Pose.Point.Add(push)
		if follows {
			assert.InDelta(t, push.Norm(), float64(got.Pushed), 0.3)
			assert.Contains(t, got.DescribePushed(), "the mat lies up to 6 mm from where it was learnt")
			require.Equal(t, "rock1a", got.Views[0].ID)
			assert.InDelta(t, 0, float64(got.Views[0].Pose.Distance(at)), 0.5)
			assert.Greater(t, float64(got.Views[0].Obstacle().Sigma), carriedLeast)
			frame, bases = s.pushed(home, geom.Point{X: -16, Y: 7})
			got = f.search(frame, bases, got.Lying())
			assert.InDelta(t, 17.5, float64(got.Pushed), 0.3, "far, and told")
			require.Equal(t, "rock1a", got.Views[0].ID)
			assert.InDelta(t, 0, float64(got.Views[0].Pose.Distance(lay[0].Pose.Point.Add(geom.Point{X: -16, Y: 7}))), 0.7)
			continue
		}
		assert.Empty(t, got.DescribePushed())
		assert.NotEqual(t, "rock1a", got.Views[0].ID, "nothing shows how far it was pushed")
		assert.True(t, slices.ContainsFunc(got.Unknown, func(u vision.UnknownObject) bool { return geom.Polygon(u.Outline).Contains(at) }))
	}
}

const carriedLeast = 0.5 // mm, of a place that was not seen

// pushed takes a picture of the table after its mat was pushed: of a camera that was moved the other way.
func (s *searchedTable) pushed(home calibration.Camera, by geom.Point) (vision.Frame, []geom.Polygon) {
	cam := home
	for i := range cam.T {
		cam.T[i] += home.R[i][0]*by.X + home.R[i][1]*by.Y
	}
	s.table.Camera = cam
	f, bases := s.picture()
	s.table.Camera = home
	for _, b := range bases {
		for k := range b {
			b[k] = b[k].Add(by)
		}
	}
	return f, bases
}
