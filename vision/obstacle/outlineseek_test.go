package obstacle

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
)

// A mat of 120 × 100 mm, grey with noise, and on it whatever a test paints.
func paintedMat(paint func(p geom.Point) (level float32, ok bool)) *subtraction {
	const w, h = 120, 100
	rng := rand.New(rand.NewPCG(1, 2))
	d := &subtraction{view: gray.MatView{Width: w, Height: h, Step: vision.DiffStep}, gain: gainMap{cols: 1, rows: 1, size: 120,
		ratio: []float64{1}}}
	d.mask = make([]bool, w*h)
	for k := range w * h {
		at := geom.Point{X: float64(k%w) + 0.5, Y: float64(k/w) + 0.5}
		level := float32(60)
		if v, ok := paint(at); ok {
			level, d.mask[k] = v, true
		}
		d.work = append(d.work, level+float32(rng.NormFloat64()))
		d.diff = append(d.diff, d.work[k]-60)
	}
	return d
}

func TestTheEdgeFieldIsTheDistanceToTheNearestEdgeOfADirection(t *testing.T) {
	square := geom.Polygon{{X: 40, Y: 30}, {X: 80, Y: 30}, {X: 80, Y: 70}, {X: 40, Y: 70}}
	d := paintedMat(func(p geom.Point) (float32, bool) { return 120, square.Contains(p) })
	var e edgeField
	e.find(d, image.Rect(0, 0, 120, 100), leastSlope(d))
	east, north := direction(0), direction(math.Pi/2)
	at := func(field int, x, y int) float64 { return float64(distances.Cells[e.near[field*len(e.light)+y*120+x]]) }
	for _, x := range []int{36, 38, 43, 45} {
		assert.InDelta(t, math.Abs(float64(x)-39.5), at(east, x, 50), 1.1, "from the left edge at %d", x)
		assert.InDelta(t, nearMost, at(north, x, 50), 1e-6, "an upright edge is none that looks north")
	}
	for _, y := range []int{25, 28, 33} {
		assert.InDelta(t, math.Abs(float64(y)-29.5), at(north, 60, y), 1.1, "from the near edge at %d", y)
	}
	assert.Equal(t, direction(0.3), direction(0.3+math.Pi), "an edge looks both ways")
}

// lopsided is an outline that no turn brings onto itself.
func lopsided(scale float64) geom.Polygon {
	var p geom.Polygon
	for k := range 60 {
		a := 2 * math.Pi * float64(k) / 60
		r := scale * (1 + 0.25*math.Cos(2*a+0.4) + 0.12*math.Sin(3*a) + 0.08*math.Cos(5*a+1))
		p = append(p, geom.Point{X: r * math.Cos(a), Y: r * math.Sin(a)})
	}
	return p
}

func TestSeekFindsATokenWhoseBorderAShadowHides(t *testing.T) {
	entry, err := catalogue.NewEntry("rock", "asteroid", lopsided(20))
	require.NoError(t, err)
	other, err := catalogue.NewEntry("other", "asteroid", lopsided(15))
	require.NoError(t, err)
	for _, heading := range []geom.Angle{0, 0.9, 2.5, -1.7} {
		truth := geom.Pose{Point: geom.Point{X: 62, Y: 48}, Heading: heading}
		var lies geom.Polygon
		for _, p := range entry.Outline {
			lies = append(lies, truth.Transform(p))
		}
		// Light from the left: a shadow three times as wide as the token is thick, and a
		// dial that touches it.
		dial := geom.Point{X: 62, Y: 20}
		d := paintedMat(func(p geom.Point) (float32, bool) {
			switch {
			case lies.Contains(p):
				return 110 + 8*float32(math.Sin(p.X)*math.Cos(p.Y/2)), true
			case p.Distance(dial) < 16:
				return 25, true
			case lies.Contains(geom.Point{X: p.X - 8, Y: p.Y}):
				return 40, true
			}
			return 0, false
		})
		f := &Finder{diff: d, shapes: []shape{newShape(&entry, false), newShape(&entry, true), newShape(&other, false), newShape(&other, true)}}
		blobs := d.blobs(120)
		require.NotEmpty(t, blobs)
		f.focusOn(blobs[0], 40)
		found := f.seek(blobs[0])
		require.NotEmpty(t, found, "heading %v", heading)
		best := found[0]
		assert.Equal(t, "rock", best.shape.entry.Name)
		assert.False(t, best.shape.flipped)
		assert.Less(t, float64(best.pose.Distance(truth.Point)), 2.0, "heading %v: %v", heading, best)
		assert.Less(t, float64(best.pose.Heading.Distance(heading)), 0.1, "heading %v", heading)
	}
}

// What lanes leave out would not have been found.
func TestSeekFindsWhatEveryPlaceAloneWould(t *testing.T) {
	var shapes []shape
	for _, scale := range [...]float64{12, 15, 20} {
		entry, err := catalogue.NewEntry("rock", "asteroid", lopsided(scale))
		require.NoError(t, err)
		shapes = append(shapes, newShape(&entry, false), newShape(&entry, true))
	}
	how := edgeSeek{2 * math.Pi, seekHeadings, seekWorst, seekFill}
	for _, lies := range [...]geom.Point{{X: 60, Y: 50}, {X: 12, Y: 14}, {X: 106, Y: 88}} { // two reach over the mat's edge
		d := paintedMat(func(p geom.Point) (float32, bool) {
			at, rock := p.Sub(lies), geom.Polygon(shapes[2].outline)
			return 90 + 10*float32(math.Sin(p.X/3)*math.Cos(p.Y/4)), rock.Contains(at) || at.Distance(geom.Point{X: 20}) < 14
		})
		f := &Finder{diff: d, shapes: shapes}
		b := d.blobs(120)[0]
		f.focusOn(b, 30)
		f.lanes.set(&f.focus, f.focus.edges.near, b, seekStep, shapes[5].radius)
		found := 0
		for i := range shapes {
			var want []hypothesis
			for k := range how.headings {
				turned := f.turn(&shapes[i], geom.Angle(how.span*float64(k)/float64(how.headings)))
				for y := b.Box.Min.Y; y < b.Box.Max.Y; y += seekStep {
					for x := b.Box.Min.X; x < b.Box.Max.X; x += seekStep {
						limit := how.worst
						if len(want) == seekEach {
							limit = want[seekEach-1].cost
						}
						at := geom.Pose{Point: geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5}, Heading: turned.heading}
						if c := f.edgeCost(turned, at.Point, limit); f.focus.isSolid(x, y) && c < limit &&
							f.filled(&shapes[i], turnOf(at), how.fill) {
							want = insertGuess(want, hypothesis{&shapes[i], at, c})
						}
					}
				}
			}
			found += len(want)
			assert.Equal(t, want, f.seekShape(&shapes[i], how), "%v, shape %d", lies, i)
		}
		assert.Positive(t, found, "%v: something to compare", lies)
	}
}

// The same holds for the scan by the mask's border.
func TestScanFindsWhatEveryPlaceAloneWould(t *testing.T) {
	entry, err := catalogue.NewEntry("rock", "asteroid", lopsided(20))
	require.NoError(t, err)
	for _, lies := range [...]geom.Point{{X: 60, Y: 50}, {X: 27, Y: 24}} { // one lies at the mat's edge
		s := newShape(&entry, false)
		d := paintedMat(func(p geom.Point) (float32, bool) {
			at := p.Sub(lies)
			return 110, geom.Polygon(s.outline).Contains(at) || at.X > 10 && math.Abs(at.Y) < 2
		})
		f := &Finder{diff: d, shapes: []shape{s}, widest: s.radius}
		b := d.blobs(120)[0]
		f.focusOn(b, 30)
		var want []hypothesis
		for y := b.Box.Min.Y; y < b.Box.Max.Y; y += scanStep {
			for x := b.Box.Min.X; x < b.Box.Max.X; x += scanStep {
				for k := range scanHeadings {
					pose := geom.Pose{Point: geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5},
						Heading: geom.Angle(2 * math.Pi * float64(k) / scanHeadings)}
					if c := (edgeMatcher{f}).cost(&f.shapes[0], turnOf(pose), math.Inf(1)); f.focus.isSolid(x, y) && c < 1.6 &&
						f.filled(&f.shapes[0], turnOf(pose), 1) {
						want = append(want, hypothesis{&f.shapes[0], pose, c})
					}
				}
			}
		}
		assert.NotEmpty(t, want, "%v: something to compare", lies)
		assert.Equal(t, want, edgeMatcher{f}.scan(b), "%v", lies)
	}
}

// Where no wall is seen, fewer unknowns cost the same.
func TestAnEdgeWithoutAWallCostsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		f := &stepFit{step: 0.4 + 0.1*rng.Float64(), sigma: 0.3 + rng.Float64(), inside: 0.3 * rng.Float64(), ground: rng.Float64()}
		for range 13 {
			f.d, f.variance = append(f.d, 0.2*rng.NormFloat64()), append(f.variance, 1e-4*rng.Float64())
		}
		f.bare = make([]bareRow, len(f.d))
		f.variances()
		t0 := 4 * (rng.Float64() - 0.5)
		f.bareRows(f.bare, t0)
		want, _ := f.try(t0, f.bare, false)
		assert.InDelta(t, want, f.tryBare(f.bare), 1e-9*math.Abs(want))
	}
}

func TestSeekKeepsTheBestGuessesOfPlacesThatDiffer(t *testing.T) {
	var kept []hypothesis
	rng := rand.New(rand.NewPCG(3, 4))
	least := math.Inf(1)
	for range 500 {
		g := hypothesis{pose: geom.Pose{Point: geom.Point{X: 100 * rng.Float64(), Y: 0}, Heading: geom.Angle(6 * rng.Float64())},
			cost: rng.Float64()}
		least = math.Min(least, g.cost)
		kept = insertGuess(kept, g)
		require.LessOrEqual(t, len(kept), seekEach)
		require.IsNonDecreasing(t, costs(kept), fmt.Sprint(kept))
	}
	assert.Equal(t, least, kept[0].cost)
}

func costs(g []hypothesis) (out []float64) {
	for _, x := range g {
		out = append(out, x.cost)
	}
	return out
}
