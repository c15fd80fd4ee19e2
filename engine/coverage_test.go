package engine_test

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/internal/enginetest"
)

func TestIntervalsOfDistancesCoverTheTruth(t *testing.T) {
	const k = 1.959964 // 95 %
	r := rand.New(rand.NewPCG(95, 96))
	var m, exact engine.Measurer
	type cover struct{ in, n int }
	all := map[string]*cover{}
	count := func(name string, got engine.RangeVerdict, truth engine.RangeVerdict) {
		c := all[name]
		if c == nil {
			c = &cover{}
			all[name] = c
		}
		c.n++
		if math.Abs(float64(got.Distance-truth.Distance)) <= k*float64(got.Sigma) {
			c.in++
		}
	}
	for range enginetest.SceneCount(enginetest.Shorter(3000, 300), 100000) {
		s := randomScene(r)
		s.ScaleSigma = 0.0003 * r.Float64()
		enginetest.Uncertain(r, &s.Ships[0], 1)
		enginetest.Uncertain(r, &s.Ships[1], 1)
		got, err := m.Pair(&s, "A", "B", engine.Options{Sigmas: k})
		require.NoError(t, err)
		if got.Contact != engine.No { // a distance ends at 0
			continue
		}
		truth := drawScene(r, &s)
		want, err := exact.Pair(&truth, "A", "B", engine.Options{})
		require.NoError(t, err)
		count("range", got.Range, want.Range)
		count("farthest", got.Farthest, want.Farthest)
		for i, g := range got.Arcs {
			// A part that is in the arc for sure, and so is measured.
			if w := want.Arcs[i]; g.InArc == engine.Yes && w.Attack != nil {
				count("attack "+g.Arc.String(), g.Attack.RangeVerdict, w.Attack.RangeVerdict)
			}
		}
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	var total cover
	for _, name := range names {
		c := all[name]
		total.n, total.in = total.n+c.n, total.in+c.in
		t.Logf("95 %% intervals, %-18s cover %.2f %% of %d", name, 100*float64(c.in)/float64(c.n), c.n)
	}
	for _, c := range [...]cover{*all["range"], *all["farthest"], total} {
		sd := 100 * math.Sqrt(0.95*0.05/float64(c.n))
		require.InDelta(t, 95, 100*float64(c.in)/float64(c.n), 1+3*sd)
	}
}

// An ideal rule knows how the truth is spread about what was measured: it decides
// when at most Φ(-3) of the possible truths would answer otherwise. This one learns
// that spread by drawing truths.
func TestTooCloseIsAlmostAsRareAsWithAnIdealRule(t *testing.T) {
	const k, draws = 3, 3000
	ideal := math.Erfc(k/math.Sqrt2) / 2
	r := rand.New(rand.NewPCG(115, 3))
	var m, exact engine.Measurer
	type said struct{ asked, ours, ideal int }
	all := map[string]*said{}
	scenes := enginetest.SceneCount(enginetest.Shorter(40, 6), 600)
	for n := range scenes {
		s := randomScene(r)
		size := 1.0
		if n%2 == 0 {
			nearBandEdge(t, r, &s, size)
		} else {
			nearArcEdge(t, r, &s, size)
		}
		s.ScaleSigma = 0.0003 * r.Float64()
		enginetest.Uncertain(r, &s.Ships[0], size)
		enginetest.Uncertain(r, &s.Ships[1], size)
		got, err := m.Pair(&s, "A", "B", engine.Options{Sigmas: k})
		require.NoError(t, err)
		tooClose := map[string]bool{"range": got.Range.Outcome != engine.Yes, "contact": got.Contact == engine.Indeterminate}
		for _, a := range got.Arcs {
			tooClose["in arc "+a.Arc.String()] = a.InArc == engine.Indeterminate
			if a.InArc == engine.Yes {
				tooClose["attack "+a.Arc.String()] = a.Attack.Outcome != engine.Yes
			}
		}
		answers := map[string]map[int]int{}
		for q := range tooClose {
			answers[q] = map[int]int{}
		}
		for range draws {
			truth := drawScene(r, &s)
			w, err := exact.Pair(&truth, "A", "B", engine.Options{})
			require.NoError(t, err)
			answers["range"][w.Range.Band]++
			answers["contact"][int(w.Contact)]++
			for _, a := range w.Arcs {
				answers["in arc "+a.Arc.String()][int(a.InArc)]++
				if c := answers["attack "+a.Arc.String()]; c != nil && a.Attack != nil {
					c[a.Attack.Band]++
				}
			}
		}
		for q, ours := range tooClose {
			name := q[:min(len(q), 6)]
			if all[name] == nil {
				all[name] = &said{}
			}
			c := all[name]
			c.asked++
			if ours {
				c.ours++
			}
			total, most := 0, 0
			for _, n := range answers[q] {
				total += n
				most = max(most, n)
			}
			if float64(total-most) > ideal*float64(total) {
				c.ideal++
			}
		}
	}
	var sum said
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		c := all[name]
		t.Logf("%-8s asked %6d: too close %5d, ideal %5d, ratio %.3f", name, c.asked, c.ours, c.ideal, float64(c.ours)/math.Max(1,
			float64(c.ideal)))
		sum.ours += c.ours
		sum.ideal += c.ideal
	}
	ratio := float64(sum.ours) / float64(sum.ideal)
	t.Logf("too close: %d, ideal %d, ratio %.3f over %d scenes", sum.ours, sum.ideal, ratio, scenes)
	// So few scenes leave the ratio uncertain by about the root of their number.
	require.LessOrEqual(t, ratio, 1.15+2/math.Sqrt(float64(sum.ideal)))
}
