package move_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
)

// G184: what of a device lies outside the play area does not count. Where the device's place is not
// exact, nor is how much of it counts.
func TestTheMatsEdgeCutsADeviceAsSurelyAsItsPlaceIsKnown(t *testing.T) {
	for _, c := range []struct {
		y     float64     // of the device, 32.6 mm long
		sigma geom.Length // of its place
		base  engine.Outcome
	}{
		{-16, 0, engine.Yes}, {-16, 0.05, engine.Yes}, {-16, 0.15, engine.Indeterminate}, {-16.4, 0.05, engine.Indeterminate},
		{-16.4, 0, engine.No}, {-16.5, 0.05, engine.No},
	} {
		s := enginetest.Scene(t, "2.5; A small 100 20 0")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		s.Devices = []engine.Token{{ID: "mine", Kind: "bomb", Sigma: c.sigma, Pose: geom.Pose{Point: geom.Point{X: 100, Y: c.y}}}}
		r := moved(t, s, "A", "stationary")
		got := engine.No
		for _, h := range r.Devices {
			got = h.Base
		}
		assert.Equal(t, c.base, got, "%+v", c)
		m, err := engine.Measure(&s, engine.Options{})
		require.NoError(t, err)
		contact := engine.No // the guides' length does not matter: the bomb lies under the base, or counts for nothing
		for _, o := range m.Objects {
			contact = o.Contact
			assert.Equal(t, c.base, o.Range.Outcome, "%+v: %+v", c, o.Range)
			assert.Equal(t, c.base, o.Range.At(0, 3), "%+v: %+v", c, o.Range)
		}
		assert.Equal(t, c.base, contact, "%+v", c)
	}
}

// G184: decided answers about devices at the mat's edge hold for places that the uncertainty allows.
func TestDecidedAnswersAtTheMatsEdgeAreRight(t *testing.T) {
	const truths = 100
	decided, open := 0, 0
	for seed := range uint64(enginetest.Shorter(300, 60)) {
		r := rand.New(rand.NewPCG(seed, 184))
		s, ask := edgeScene(r)
		verdicts := ask(&s)
		wrong := map[string]int{}
		for range truths {
			truth := drawTable(r, &s)
			truth.Devices = nil
			for _, d := range s.Devices {
				d.Pose.X += float64(d.Sigma) * r.NormFloat64()
				d.Pose.Y += float64(d.Sigma) * r.NormFloat64()
				d.Sigma = 0
				truth.Devices = append(truth.Devices, d)
			}
			answers := ask(&truth)
			for q, v := range verdicts {
				if v != engine.Indeterminate && answers[q] != v {
					wrong[q]++
				}
			}
		}
		for q, v := range verdicts {
			if v == engine.Indeterminate {
				open++
				continue
			}
			decided++
			assert.LessOrEqual(t, wrong[q], truths/20, "scene %d: %s is %v", seed, q, v)
		}
	}
	t.Logf("%d answers decided, %d too close to call", decided, open)
	assert.Greater(t, decided, open)
}

// edgeScene makes a table on which a device reaches over the near edge, lying there or dropped, and
// what is asked of it.
func edgeScene(r *rand.Rand) (engine.Scene, func(*engine.Scene) map[string]engine.Outcome) {
	kinds := []string{"bomb", "mine", "conner_net", "buzz_droids", "cluster_mines"}
	kind := kinds[r.IntN(len(kinds))]
	a := engine.Ship{ID: "A", Base: engine.Base(1 + r.IntN(3)), Pose: geom.Pose{Point: geom.Point{X: 300}}}
	b := engine.Ship{ID: "B", Base: engine.Small, Pose: geom.Pose{Heading: geom.Angle(6 * r.Float64())}}
	s := engine.Scene{Rules: engine.Rules(1 + r.IntN(3)), MatWidth: 914.4, MatHeight: 914.4}
	lies := r.IntN(2) == 0
	_, l := a.Base.Size()
	a.Pose.Y = 45 + float64(l)*r.Float64()/4
	if lies {
		heading := geom.Angle(6 * r.Float64())
		out := math.Hypot(40, 40) * (r.Float64() - 0.2)
		s.Devices = []engine.Token{{ID: "d", Kind: kind, Sigma: geom.Length(0.5 * r.Float64()),
			Pose: geom.Pose{Point: geom.Point{X: 300 + 60*(r.Float64()-0.5), Y: -out}, Heading: heading}}}
	} else {
		a.Pose.Y = float64(l)/2 + 40 + 60*(r.Float64()-0.2)
	}
	b.Pose.Point = geom.Point{X: 300 + 60*(r.Float64()-0.5), Y: 30 * r.Float64()}
	s.Ships = []engine.Ship{a, b}
	for i := range s.Ships {
		enginetest.Uncertain(r, &s.Ships[i], 1)
	}
	if lies {
		return s, askAtEdge
	}
	drop := move.Drop{Template: move.Template{Kind: move.TemplateKind(r.IntN(2)), Speed: 1}, Device: kind}
	return s, func(s *engine.Scene) map[string]engine.Outcome {
		v, err := move.LayDrop(s, "A", drop, engine.Options{})
		if err != nil {
			panic(err)
		}
		return map[string]engine.Outcome{"under B": listed(&v, "the device under B", v.FirstOverlapped, "B")}
	}
}

// askAtEdge asks what the ships have to do with the device d.
func askAtEdge(s *engine.Scene) map[string]engine.Outcome {
	v, err := move.Execute(s, "B", move.Maneuver{Bearing: move.Stationary}, engine.Options{})
	if err != nil {
		panic(err)
	}
	out := map[string]engine.Outcome{"base": engine.No}
	for _, h := range v.Devices {
		out["base"] = h.Base
	}
	m, err := engine.Measure(s, engine.Options{})
	if err != nil {
		panic(err)
	}
	for _, ship := range s.Ships {
		for _, part := range []string{"d", "d.left", "d.right"} {
			out[fmt.Sprint(ship.ID, " at 0-1 of ", part)] = engine.No // as of one that is ignored
		}
	}
	for _, o := range m.Objects {
		out[fmt.Sprint(o.From, " at 0-1 of ", o.To)] = o.Range.At(0, 1)
	}
	return out
}

// listed returns whether a result lists an id, or leaves it open.
func listed(v *move.Result, doubt string, ids []string, id string) engine.Outcome {
	for _, u := range v.Undecided {
		if u == doubt {
			return engine.Indeterminate
		}
	}
	for _, i := range ids {
		if i == id {
			return engine.Yes
		}
	}
	return engine.No
}

// G184: of a concave device too only what lies in the play area counts, and all pieces into which the edge cuts it.
func TestTheMatsEdgeCutsAConcaveDevice(t *testing.T) {
	ask := func(sigma geom.Length, outline []geom.Point) (engine.ObjectVerdict, engine.Outcome) {
		s := enginetest.Scene(t, "2.5; A small 100 20 0")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		s.Devices = []engine.Token{{ID: "mine", Kind: "mine", Sigma: sigma, Outline: outline}}
		m, err := engine.Measure(&s, engine.Options{})
		require.NoError(t, err)
		under := engine.No
		for _, h := range moved(t, s, "A", "stationary").Devices {
			under = h.Base
		}
		return m.Objects[0], under
	}
	foot := []geom.Point{{X: 119, Y: -20}, {X: 210, Y: -20}, {X: 210, Y: 30}, {X: 200, Y: 30}, {X: 200, Y: -1}, {X: 119, Y: -1}}
	for _, sigma := range []geom.Length{0, 0.1} {
		o, under := ask(sigma, foot)
		assert.InDelta(t, 80, float64(o.Range.Distance), 1e-9, "its foot lies outside")
		assert.Equal(t, engine.No, o.Contact)
		assert.Equal(t, engine.No, under)
	}
	prongs := func(x float64) []geom.Point {
		return []geom.Point{{X: x, Y: -20}, {X: 230, Y: -20}, {X: 230, Y: 30}, {X: 200, Y: 30}, {X: 200, Y: -2},
			{X: x + 10, Y: -2}, {X: x + 10, Y: 10}, {X: x, Y: 10}}
	}
	for _, sigma := range []geom.Length{0, 0.1} {
		o, under := ask(sigma, prongs(115))
		assert.Equal(t, engine.Yes, o.Contact, "its smaller prong lies under the ship")
		assert.Equal(t, engine.Yes, under)
		o, under = ask(sigma, prongs(130))
		assert.InDelta(t, 10, float64(o.Range.Distance), 1e-9, "its smaller prong is the nearest")
		assert.Equal(t, engine.No, o.Contact)
		assert.Equal(t, []int{1}, o.Range.Possible)
		assert.Equal(t, engine.No, under)
	}
}

// G184: next to a corner of the mat a device may lie outside without being beyond either edge.
func TestADeviceOutsideTheMatsCorner(t *testing.T) {
	for _, c := range []struct {
		at      float64
		sigma   geom.Length
		objects int
	}{{-8, 0, 1}, {-8, 0.1, 1}, {-12, 0, 0}, {-12, 0.1, 0}, {-12, 3, 1}} {
		s := enginetest.Scene(t, "2.5; A small 100 100 0")
		s.MatWidth, s.MatHeight = 914.4, 914.4
		at := geom.Pose{Point: geom.Point{X: c.at, Y: c.at}, Heading: math.Pi / 4}
		s.Devices = []engine.Token{{ID: "bomb", Kind: "bomb", Sigma: c.sigma, Pose: at}}
		m, err := engine.Measure(&s, engine.Options{})
		require.NoError(t, err)
		assert.Len(t, m.Objects, c.objects, c)
		assert.Len(t, m.Problems, 1-c.objects, c)
		for _, o := range m.Objects {
			assert.Equal(t, c.sigma == 3, o.Range.Outcome == engine.Indeterminate, c)
		}
		assert.Empty(t, moved(t, s, "A", "stationary").Devices)
	}
}
