package projector

import (
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// drawn is what the page draws, in place of a browser: each pixel's share of a line.
func drawn(lines []Line, width, height int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := 3; i < len(out.Pix); i += 4 {
		out.Pix[i] = 255
	}
	for _, l := range lines {
		for k := range len(l.Points) - 1 {
			a, b := geom.Point{X: l.Points[k][0], Y: l.Points[k][1]}, geom.Point{X: l.Points[k+1][0], Y: l.Points[k+1][1]}
			for y := int(min(a.Y, b.Y) - l.Width); y <= int(max(a.Y, b.Y)+l.Width); y++ {
				for x := int(min(a.X, b.X) - l.Width); x <= int(max(a.X, b.X)+l.Width); x++ {
					p := geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5}
					q, _ := geom.ClosestOnSegment(p, a, b)
					v := byte(255 * min(max(l.Width/2+0.5-float64(p.Distance(q)), 0), 1))
					if c := out.RGBAAt(x, y); v > c.R {
						out.SetRGBA(x, y, color.RGBA{v, v, v, 255})
					}
				}
			}
		}
	}
	return out
}

// TestRecognitionWithLinesAndWithout measures what lines do to recognition in a picture that shows
// them, as the gate lets none through: were it to fail, no ship is lost or moved, no obstacle is taken
// for another, and at worst something unknown is seen.
func TestRecognitionWithLinesAndWithout(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders and searches whole pictures for obstacles, which takes half a minute")
	}
	p := tablesim.DefaultProjector(calibration.MatSide)
	source, err := tablesim.Open(tablesim.Options{Width: 1600, Height: 900, Seed: 5, Still: true, Projector: &p})
	require.NoError(t, err)
	defer source.Close()
	table := calibration.Table{Camera: source.Camera(), Layout: source.Layout()}
	mat, err := obstacle.LearnBackground(table, 4, source.Bare)
	require.NoError(t, err)
	known, err := catalogue.Of(source.Obstacles())
	require.NoError(t, err)
	locator, err := locate.New(table, locate.Options{Catalogue: known, Background: mat})
	require.NoError(t, err)
	see := func() (got vision.Located) {
		for range 12 { // until the search says what lies there
			f, err := source.Next(t.Context())
			require.NoError(t, err)
			got, err = locator.Locate(f)
			require.NoError(t, err)
			if !got.Obstacles.Pending() {
				return got
			}
		}
		t.Fatal(got.Obstacles.Unseen)
		return got
	}
	truth, err := source.TruthAt(1)
	require.NoError(t, err)
	without := see()
	require.Empty(t, without.Scene.Unknown)
	shown := drawn(linesOver(t, &p, &without), screenWide, screenHigh)
	for _, light := range []float64{1, 5} { // as bright as the room; as in a dim one
		p.Light = light
		source.Project(shown)
		with := see()
		require.Len(t, with.Scene.Ships, len(truth.Ships), "no ship is lost, and none is made up")
		var off, moved float64
		for i, s := range with.Scene.Ships {
			require.Equal(t, without.Scene.Ships[i].ID, s.ID)
			moved = max(moved, float64(s.Pose.Distance(without.Scene.Ships[i].Pose.Point)))
			k := slices.IndexFunc(truth.Ships, func(w tablesim.ShipTruth) bool { return w.ID == s.ID })
			off = max(off, float64(s.Pose.Distance(truth.Ships[k].Pose.Point)))
		}
		t.Logf("light %.0f times the room's: %d ships, at most %.2f mm off, moved by at most %.3f mm; %d of %d obstacles, %d unknown things",
			light, len(with.Scene.Ships), off, moved, len(with.Scene.Obstacles), len(without.Scene.Obstacles), len(with.Scene.Unknown))
		assert.Less(t, off, 0.6)
		assert.Less(t, moved, 0.1)
		for _, u := range with.Scene.Unknown {
			assert.True(t, slices.ContainsFunc(with.Scene.Ships, func(s engine.Ship) bool {
				return u.Contains(s.Pose.Point) || u.BoundaryDistance(s.Pose.Point) < 130
			}), "a line round a ship adjoins its rim as what lies under it does; nothing lies at %.0f", u)
		}
		require.Len(t, with.Scene.Obstacles, len(without.Scene.Obstacles))
		for i, o := range with.Scene.Obstacles {
			assert.Less(t, float64(o.Pose.Distance(without.Scene.Obstacles[i].Pose.Point)), 1.0, "%s is where it was", o.ID)
		}
	}
}

// linesOver are lines between three pairs of ships and round all of them, as a projector is set up
// to light them exactly.
func linesOver(t *testing.T, p *tablesim.Projector, seen *vision.Located) (out []Line) {
	var read []reading
	for id, middle := range grid(8, 60, 113) {
		r := reading{id: id}
		for k, d := range [4]geom.Point{{X: -20, Y: 20}, {X: 20, Y: 20}, {X: 20, Y: -20}, {X: -20, Y: -20}} {
			r.at[k] = middle.Add(d)
			px, ok := p.Lens.PixelOf(r.at[k], 0)
			require.True(t, ok)
			r.on[k] = Place{px.X + 0.5, px.Y + 0.5}
		}
		read = append(read, r)
	}
	m, _, err := fit(screenWide, screenHigh, read)
	require.NoError(t, err)
	state := live.State{Located: *seen, Play: &live.Play{}}
	for _, s := range seen.Scene.Ships {
		state.Play.Active = append(state.Play.Active, s.ID)
	}
	for _, pair := range [][2]string{{"A1", "B1"}, {"A2", "B2"}, {"A5", "B5"}} {
		v, err := engine.MeasurePair(&seen.Scene, pair[0], pair[1], engine.Options{Sigmas: engine.DefaultSigmas})
		require.NoError(t, err)
		one := state
		one.Pair, one.Play = &v, &live.Play{}
		out = append(out, linesOf(&one, &m, 0.5)...)
	}
	return append(out, linesOf(&state, &m, 0.5)...)
}
