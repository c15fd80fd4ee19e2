package engine_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

func sections(t testing.TB, s engine.Scene, from, to string) (fore, aft engine.SectionVerdict) {
	t.Helper()
	v, err := engine.MeasureSections(&s, from, to, engine.Options{})
	require.NoError(t, err)
	require.Len(t, v, 2)
	require.Equal(t, []string{"fore", "aft"}, []string{v[0].Section.String(), v[1].Section.String()})
	return v[0], v[1]
}

// G54: the arc divides a huge ship's token; each section also has one of the plastic
// bases.
func TestAHugeShipIsDividedByItsArc(t *testing.T) {
	// huge-195 at the origin: plastic bases from y = ±17.5 outward, the token between.
	for _, c := range []struct {
		name      string
		scene     string
		fore, aft float64
	}{
		{"ahead: the front base, and 40 mm of it to the aft section's corner", "1e; H huge-195 0 0 0; A small 0 217.5 0", 100, 180},
		{"behind: the rear base; the fore section's nearest point is the arc's apex", "1e; H huge-195 0 0 0; A small 0 -217.5 0", 197.5, 100},
		{"abeam of the front base", "1e; H huge-195 0 0 0; A small 160 60 0", 100, math.Hypot(100, 22.5)},
		{"abeam of the rear base", "1e; H huge-195 0 0 0; A small 160 -60 0", math.Hypot(100, 57.5), 100},
		{"abeam of the bridge: the side of the token is aft, for it is out of the arc", "1e; H huge-195 0 0 0; A small 160 0 0", 100, 100},
		{"a token that prints a half circle is divided in the middle", "1e; H huge-195 0 0 0 full_front_180; A small 160 -60 0",
			math.Hypot(100, 40), 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hugeScene(t, c.scene)
			fore, aft := sections(t, s, "A", "H")
			assert.InDelta(t, c.fore, fore.Range.Distance.Millimeters(), 1e-9, "fore")
			assert.InDelta(t, c.aft, aft.Range.Distance.Millimeters(), 1e-9, "aft")
			whole, err := engine.MeasurePair(&s, "A", "H", engine.Options{})
			require.NoError(t, err)
			assert.InDelta(t, whole.Range.Distance.Millimeters(), min(fore.Range.Distance, aft.Range.Distance).Millimeters(), 1e-9)
		})
	}
	t.Run("a section in the attacker's arc, the other not", func(t *testing.T) {
		s := enginetest.Scene(t, "1e; H huge-225 0 0 90; A small 120 -150 0")
		fore, aft := sections(t, s, "A", "H")
		assert.Equal(t, engine.Yes, fore.Arcs[0].InArc)
		assert.Equal(t, engine.Yes, aft.Arcs[0].InArc, "the arc is wide")
		s = enginetest.Scene(t, "1e; H huge-225 0 0 90; A small 140 -75 0")
		fore, aft = sections(t, s, "A", "H")
		assert.Equal(t, engine.Yes, fore.Arcs[0].InArc)
		assert.Equal(t, engine.No, aft.Arcs[0].InArc)
		assert.Nil(t, aft.Arcs[0].Attack)
	})
	t.Run("only huge ships of the first edition have sections", func(t *testing.T) {
		s := enginetest.Scene(t, "2.5; H huge-225 0 0 90; A small 120 -150 0")
		_, err := engine.MeasureSections(&s, "A", "H", engine.Options{})
		assert.ErrorIs(t, err, engine.ErrNoSections)
		s.Rules = engine.Rules1e
		_, err = engine.MeasureSections(&s, "H", "A", engine.Options{})
		assert.ErrorIs(t, err, engine.ErrNoSections)
		_, err = engine.MeasureSections(&s, "A", "Z", engine.Options{})
		assert.ErrorIs(t, err, engine.ErrNoShip)
	})
}

// hugeScene reads a scene whose ships may be followed by what their tokens print.
func hugeScene(t testing.TB, text string) engine.Scene {
	t.Helper()
	const arc = " full_front_180"
	for i := 0; i+len(arc) <= len(text); i++ {
		if text[i:i+len(arc)] == arc {
			s := enginetest.Scene(t, text[:i]+text[i+len(arc):])
			s.Ships[0].Arcs = []string{"full_front_180"}
			return s
		}
	}
	return enginetest.Scene(t, text)
}

// G54: the two sections are the whole base, and no point is in both, whatever the
// token prints.
func TestSectionsFillTheBaseOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 1))
	p := engine.Nominal()
	for _, base := range []engine.Base{engine.Huge195, engine.Huge225} {
		for _, arcs := range [][]string{nil, {"front_90"}, {"front_106"}, {"front_136"}, {"full_front_180"}} {
			s := engine.Ship{Base: base, Arcs: arcs}
			fore, aft := engine.SectionOutlines(&p, &s, engine.Fore), engine.SectionOutlines(&p, &s, engine.Aft)
			in := func(pieces [][]geom.Point, q geom.Point) (yes, near bool) {
				for _, g := range pieces {
					yes = yes || geom.Polygon(g).Contains(q)
					near = near || geom.Polygon(g).BoundaryDistance(q) < 1e-6
				}
				return yes, near
			}
			w, l := base.Size()
			half := map[string]float64{"": 40.45, "front_90": 45, "front_106": 53, "front_136": 68, "full_front_180": 90}
			name := ""
			if arcs != nil {
				name = arcs[0]
			}
			for range 2000 {
				q := geom.Point{X: (r.Float64() - 0.5) * float64(w), Y: (r.Float64() - 0.5) * float64(l)}
				f, nf := in(fore, q)
				a, na := in(aft, q)
				if nf || na {
					continue
				}
				require.NotEqual(t, f, a, "%v %v: %v", base, arcs, q)
				ahead := math.Abs(math.Atan2(q.X, q.Y)) < half[name]*math.Pi/180
				want := q.Y > float64(l)/2-80 || q.Y > 80-float64(l)/2 && ahead
				require.Equal(t, want, f, "%v %v: %v", base, arcs, q)
			}
		}
	}
}

// G54: with uncertain poses, the truth's section is among the possible ranges.
func TestSectionsOfAMeasuredTable(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 2))
	wrong, asked := 0, 0
	for range enginetest.Shorter(400, 60) {
		s := enginetest.Scene(t, "1e; A small 0 0 0; H huge-195 0 0 0")
		s.Ships[0].Pose.Heading = geom.Angle(7 * r.Float64())
		s.Ships[1].Pose = geom.Pose{Point: geom.Point{X: 500 * (r.Float64() - 0.5), Y: 200 + 150*r.Float64()},
			Heading: geom.Angle(7 * r.Float64())}
		enginetest.Uncertain(r, &s.Ships[0], 2)
		enginetest.Uncertain(r, &s.Ships[1], 2)
		truth := drawScene(r, &s)
		fore, aft := sections(t, s, "A", "H")
		trueFore, trueAft := sections(t, truth, "A", "H")
		for _, c := range [][2]engine.SectionVerdict{{fore, trueFore}, {aft, trueAft}} {
			asked++
			if c[0].Range.At(c[1].Range.Band, c[1].Range.Band) == engine.No {
				wrong++
			}
		}
	}
	assert.LessOrEqual(t, wrong, asked/100)
}
