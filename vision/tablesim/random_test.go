package tablesim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// solidAt reports whether a table point lies more than a hair inside a ship's
// base or guides.
func solidAt(s engine.Ship, p geom.Point) bool {
	const hair = 1e-6
	q := s.Pose.Inverse(p)
	w, _ := s.Base.Size()
	h := float64(w)/2 - hair
	if math.Abs(q.X) < h && math.Abs(q.Y) < h {
		return true
	}
	x, y := math.Abs(q.X), math.Abs(q.Y)
	return x > 10.1+hair && x < 13.4-hair && y >= h && y < h+protrusion(s.Base)
}

// outlineOf samples the boundary of a ship's base and guides.
func outlineOf(s engine.Ship) []geom.Point {
	w, _ := s.Base.Size()
	h := float64(w) / 2
	var pts []geom.Point
	for a := -h; a <= h; a += 0.25 {
		y := h
		if math.Abs(a) > 10.1 && math.Abs(a) < 13.4 {
			y += protrusion(s.Base)
		}
		pts = append(pts, geom.Point{X: a, Y: y}, geom.Point{X: a, Y: -y}, geom.Point{X: h, Y: a}, geom.Point{X: -h, Y: a})
	}
	for i := range pts {
		pts[i] = s.Pose.Transform(pts[i])
	}
	return pts
}

// checkLegal asserts that no ship stands in another and all stand on the mat.
func checkLegal(t *testing.T, s engine.Scene, label any) {
	t.Helper()
	for i, a := range s.Ships {
		for _, p := range outlineOf(a) {
			if p.X < -1e-6 || p.Y < -1e-6 || p.X > float64(s.MatWidth)+1e-6 || p.Y > float64(s.MatHeight)+1e-6 {
				t.Fatalf("%v: %s stands off the mat at %v", label, a.ID, p)
			}
			for j, b := range s.Ships {
				if i != j && solidAt(b, p) {
					t.Fatalf("%v: %s stands in %s at %v", label, a.ID, b.ID, p)
				}
			}
		}
		for _, o := range s.Obstacles {
			for _, c := range o.Outline {
				if solidAt(a, o.Pose.Transform(c)) {
					t.Fatalf("%v: %s stands on %s", label, a.ID, o.ID)
				}
			}
		}
	}
}

func TestRandomScenesAreLegal(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	bases := map[engine.Base]int{}
	near, total := 0, 0
	for seed := range uint64(60) {
		s := randomScene(seeded(seed), 12, 5, 0)
		assert.Len(t, s.Ships, 12)
		assert.Len(t, s.Obstacles, 5)
		checkLegal(t, s, seed)
		ids := map[string]bool{}
		for i, a := range s.Ships {
			bases[a.Base]++
			total++
			_, err := token.CodeOfID(a.ID)
			assert.NoError(t, err)
			assert.False(t, ids[a.ID], "seed %d: %s twice", seed, a.ID)
			ids[a.ID] = true
			for _, b := range s.Ships[:i] {
				wa, _ := a.Base.Size()
				wb, _ := b.Base.Size()
				if a.Pose.Distance(b.Pose.Point) < (wa+wb)/2*1.25 {
					near++
				}
			}
		}
	}
	assert.InDelta(t, 0.6, float64(bases[engine.Small])/float64(total), 0.08)
	assert.Greater(t, bases[engine.Medium], total/10)
	assert.Greater(t, bases[engine.Large], total/10)
	assert.Greater(t, near, 30, "close pairs in 60 scenes")
}

func TestACrowdedMatGivesFewerShips(t *testing.T) {
	s := randomScene(seeded(1), 1000, 0, 0)
	assert.LessOrEqual(t, len(s.Ships), token.Ships)
	checkLegal(t, s, "crowd")
}
