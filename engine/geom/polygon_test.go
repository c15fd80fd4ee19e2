package geom_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
)

func pt(x, y float64) geom.Point { return geom.Point{X: x, Y: y} }

var (
	square = geom.Polygon{pt(0, 0), pt(10, 0), pt(10, 10), pt(0, 10)}
	// A U that opens upward:
	//
	//	#  #
	//	#  #
	//	####
	cup = geom.Polygon{pt(0, 0), pt(30, 0), pt(30, 30), pt(20, 30), pt(20, 10), pt(10, 10), pt(10, 30), pt(0, 30)}
)

func TestAPolygonMayBeConcave(t *testing.T) {
	assert.True(t, cup.Contains(pt(5, 20)))
	assert.False(t, cup.Contains(pt(15, 20)), "in the mouth of the cup")
	assert.False(t, cup.Convex())
	assert.True(t, square.Convex())
	assert.InDelta(t, 700, cup.Area(), 1e-12)
	assert.InDelta(t, 5, cup.Depth(pt(5, 20)), 1e-12)
	assert.InDelta(t, -5, cup.Depth(pt(15, 20)), 1e-12)
}

func TestBoundsAndInradius(t *testing.T) {
	lo, hi := cup.Bounds()
	assert.Equal(t, pt(0, 0), lo)
	assert.Equal(t, pt(30, 30), hi)
	assert.InDelta(t, 5.86, cup.Inradius(), 0.75, "half a step of 1.5 mm: between two walls and an inner corner")
	assert.InDelta(t, 5, square.Inradius(), 0.25)
}

func TestClosestOnSegment(t *testing.T) {
	for _, c := range []struct {
		name    string
		p, want geom.Point
		at      float64
	}{
		{"beside it", pt(3, 5), pt(3, 0), 0.3},
		{"before it", pt(-3, 4), pt(0, 0), 0},
		{"beyond it", pt(13, 4), pt(10, 0), 1},
	} {
		q, at := geom.ClosestOnSegment(c.p, pt(0, 0), pt(10, 0))
		assert.Equal(t, c.want, q, c.name)
		assert.Equal(t, c.at, at, c.name)
	}
	q, _ := geom.ClosestOnSegment(pt(1, 1), pt(4, 5), pt(4, 5))
	assert.Equal(t, pt(4, 5), q, "a segment of no length")
}

func TestGap(t *testing.T) {
	move := func(g geom.Polygon, x, y float64) (m geom.Polygon) {
		for _, p := range g {
			m = append(m, p.Add(pt(x, y)))
		}
		return m
	}
	assert.InDelta(t, 5, geom.Gap(square, move(square, 15, 3)), 1e-12)
	assert.InDelta(t, 5, geom.Gap(square, move(square, 13, 14)), 1e-12)
	assert.Zero(t, geom.Gap(square, move(square, 10, 3)), "touching")
	assert.Zero(t, geom.Gap(cup, move(square, 25, 25)))
	assert.Zero(t, geom.Gap(square, geom.Polygon{pt(2, 2), pt(3, 2), pt(2, 3)}), "one within the other")
	assert.Zero(t, geom.Gap(geom.Polygon{pt(-5, 5), pt(15, 5)}, square), "a segment across")
	assert.InDelta(t, 2, geom.Gap(cup, geom.Polygon{pt(12, 12), pt(18, 12), pt(18, 20), pt(12, 20)}), 1e-12, "within the mouth of the cup")
	assert.True(t, math.IsInf(geom.Gap(square, nil), 1))
	assert.Zero(t, geom.Gap(geom.Polygon{pt(160, 160), pt(240, 240), pt(240, 240)}, geom.Polygon{pt(160, 160), pt(241, 243)}),
		"from a vertex on, exactly")
}

func TestASegmentGrazesOrPassesThrough(t *testing.T) {
	for _, c := range []struct {
		name    string
		g       geom.Polygon
		a, b    geom.Point
		through bool
	}{
		{"across", square, pt(-5, 5), pt(15, 5), true},
		{"across a corner", square, pt(9, -1), pt(11, 1.1), true},
		{"along an edge", square, pt(-5, 0), pt(15, 0), false},
		{"at a corner", square, pt(-1, 1), pt(1, -1), false},
		{"wholly inside", square, pt(4, 5), pt(6, 5), true},
		{"ending inside", square, pt(-5, 5), pt(1, 5), true},
		{"a point inside", square, pt(5, 5), pt(5, 5), true},
		{"a point on the edge", square, pt(5, 0), pt(5, 0), false},
		{"in the mouth of the cup", cup, pt(15, 12), pt(15, 40), false},
		{"from rim to rim", cup, pt(-5, 20), pt(35, 20), true},
		{"along the cup's rims", cup, pt(-5, 30), pt(35, 30), false},
		{"a sliver of a thousandth", geom.Polygon{pt(0, 0), pt(100, 0), pt(100, 0.001), pt(0, 0.001)}, pt(50, -5), pt(50, 5), true},
	} {
		assert.Equal(t, c.through, c.g.MeetsInterior(c.a, c.b, 1e-9), c.name)
	}
}

func TestTheDeepestPointOfASegment(t *testing.T) {
	p, d := square.Deepest(pt(-5, 5), pt(15, 5), 1e-9)
	assert.InDelta(t, 5, d, 1e-8)
	assert.InDelta(t, 5, p.X, 1e-6)
	_, d = square.Deepest(pt(-5, 2), pt(15, 2), 1e-9)
	assert.InDelta(t, 2, d, 1e-9, "a plateau")

	r := rand.New(rand.NewPCG(1, 1))
	for range 300 { // against walking along it
		a, b := pt(40*r.Float64()-5, 40*r.Float64()-5), pt(40*r.Float64()-5, 40*r.Float64()-5)
		want := math.Inf(-1)
		for k := range 2001 {
			want = math.Max(want, cup.Depth(a.Lerp(b, float64(k)/2000)))
		}
		_, d := cup.Deepest(a, b, 1e-9)
		if want > 0 || d > 0 {
			assert.InDelta(t, want, d, 0.015, "%v %v", a, b)
			assert.GreaterOrEqual(t, d, want-1e-8)
		}
		for _, known := range []float64{0, want / 2, want, want + 1} {
			known = max(0, known)
			got := cup.DeepestBeyond(a, b, 0.05, known)
			assert.GreaterOrEqual(t, got, known)
			assert.InDelta(t, math.Max(known, d), got, 0.05, "%v %v beyond %v", a, b, known)
		}
	}
}

// Outlines with many teeth, lines through their corners and along their edges, points and lines outside.
func TestTheDeepestPointInAToothedOutline(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 1500 {
		g := make(geom.Polygon, 3+r.IntN(40))
		for i := range g {
			s, c := math.Sincos(2 * math.Pi * (float64(i) + 0.8*r.Float64()) / float64(len(g)))
			g[i] = pt(c, s).Mul(5 + 20*r.Float64())
		}
		if _, _, bad := g.Crossing(); bad {
			continue
		}
		a, b := pt(60*r.Float64()-30, 60*r.Float64()-30), g[r.IntN(len(g))]
		switch r.IntN(8) {
		case 0:
			b = a
		case 1:
			a, b = g[len(g)-1], g[0]
		}
		want, step := math.Inf(-1), b.Sub(a).Norm()/400
		for k := range 401 {
			want = max(want, g.Depth(a.Lerp(b, float64(k)/400)))
		}
		at, d := g.Deepest(a, b, 1e-6)
		if want <= 0 {
			assert.LessOrEqual(t, d, step)
			continue
		}
		assert.InDelta(t, g.Depth(at), d, 1e-9)
		assert.GreaterOrEqual(t, d, want-1e-6, "%v %v in %v", a, b, g)
		assert.LessOrEqual(t, d, want+step/2+1e-9, "%v %v in %v", a, b, g)
		known := 1.1 * want * r.Float64()
		if _, deeper := g.Deeper(a, b, known); math.Abs(d-known) > 1e-5 {
			assert.Equal(t, d > known, deeper > known+1e-9, "%v %v in %v", a, b, g)
		}
	}
}

func TestCrossingEdgesAreFound(t *testing.T) {
	for _, c := range []struct {
		name string
		g    geom.Polygon
		ok   bool
	}{
		{"a square", square, false},
		{"a cup", cup, false},
		{"a bow tie", geom.Polygon{pt(0, 0), pt(10, 10), pt(10, 0), pt(0, 10)}, true},
		{"a repeated vertex", geom.Polygon{pt(0, 0), pt(10, 0), pt(10, 0), pt(0, 10)}, true},
		{"folded back", geom.Polygon{pt(0, 0), pt(10, 0), pt(5, 0), pt(0, 10)}, true},
		{"a vertex on another edge", geom.Polygon{pt(0, 0), pt(10, 0), pt(10, 10), pt(5, 0), pt(0, 10)}, true},
		{"a straight corner is none", geom.Polygon{pt(0, 0), pt(5, 0), pt(10, 0), pt(0, 10)}, false},
	} {
		_, _, ok := c.g.Crossing()
		assert.Equal(t, c.ok, ok, c.name)
	}
	i, j, _ := geom.Polygon{pt(0, 0), pt(10, 10), pt(10, 0), pt(0, 10)}.Crossing()
	assert.Equal(t, [2]int{0, 2}, [2]int{i, j}, "and it says which")
}

func TestTenThousandVerticesAreChecked(t *testing.T) {
	g := make(geom.Polygon, 10000)
	for i := range g {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(len(g)))
		g[i] = pt(100*c, 100*s)
	}
	_, _, ok := g.Crossing()
	assert.False(t, ok)
	g[5000], g[5003] = g[5003], g[5000]
	_, _, ok = g.Crossing()
	assert.True(t, ok)
}

func TestAnOutlineIsTransformedPointByPoint(t *testing.T) {
	at := geom.Pose{Point: geom.Point{X: 30, Y: 40}, Heading: 90 * geom.Degree}
	got := at.TransformAll([]geom.Point{{X: 0, Y: 10}, {X: 5, Y: 0}}) // ahead is to the right, right is towards player 1
	for i, want := range []geom.Point{pt(40, 40), pt(30, 35)} {
		assert.InDelta(t, 0, float64(got[i].Distance(want)), 1e-9, "point %d: got %v, want %v", i, got[i], want)
	}
	assert.Len(t, got, 2)
}
