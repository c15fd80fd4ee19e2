package obstacle

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/visiontest"
)

// grainy returns a picture of a plain bare mat whose noise grows evenly from the left edge to
// the right one, in grey levels. Neighbours share noise as a colour mosaic makes them.
func grainy(t calibration.Table, left, right float64, seed uint64) *image.Gray {
	rng := rand.New(rand.NewPCG(seed, 3))
	w, h := t.Intrinsics.Width, t.Intrinsics.Height
	raw := make([]float64, (w+1)*(h+1))
	for k := range raw {
		raw[k] = rng.NormFloat64()
	}
	g := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			k := y*(w+1) + x
			sigma := left + (right-left)*float64(x)/float64(w)
			// Half of each of four has a standard deviation of one.
			v := 100 + sigma*(raw[k]+raw[k+1]+raw[k+w+1]+raw[k+w+2])/2
			g.Pix[y*g.Stride+x] = uint8(min(max(math.Round(v), 0), 255))
		}
	}
	return g
}

// finderOfGrain returns a finder for one rock on a mat that was learnt with little noise.
func finderOfGrain(t *testing.T) (*Finder, calibration.Table) {
	table := visiontest.TableOf(1.2, 400)
	rock, err := catalogue.NewEntry("rock", "asteroid", lopsided(24))
	require.NoError(t, err)
	learner := NewBackgroundLearner(table)
	for seed := range uint64(4) {
		require.NoError(t, learner.Add(vision.Frame{Gray: grainy(table, 1, 1, 100+seed)}))
	}
	mat, err := learner.Background()
	require.NoError(t, err)
	f, err := NewFinder(table, &catalogue.Catalogue{Entries: []catalogue.Entry{rock}}, mat, calibration.DefaultUncertainty)
	require.NoError(t, err)
	return f, table
}

func TestGrainThatDiffersFromPlaceToPlaceIsNoThing(t *testing.T) {
	f, table := finderOfGrain(t)
	for seed := range uint64(3) {
		f.compare(vision.Frame{Gray: grainy(table, 1.5, 6, seed)})
		f.coverShips(nil)
		f.test.find(f.diff, f.covered, f.thingHalf())
		assert.Empty(t, f.things(nil), "bare mat")
	}
}

// leastNoticed returns the smallest contrast of a print that counts as noticed at a cell.
func leastNoticed(f *Finder, k int) float64 {
	half := f.thingHalf()
	for contrast := 0.001; contrast < 1; contrast *= 1.05 {
		f.expectedEnergy(nil, contrast)
		n := float32((2*half + 1) * (2*half + 1))
		if gray.BoxSums(f.test.a, f.test.w, f.test.h, half)[k] >= f.test.limit*n {
			return contrast
		}
	}
	return 1
}

func TestPrintsAreNoticedFromTheContrastThatIsStated(t *testing.T) {
	f, table := finderOfGrain(t)
	cells := func(x float64) (out []int) { // of a rock's inside
		for j := range f.diff.view.height {
			for i := range f.diff.view.width {
				if p := cellAt(i, j); math.Hypot(p.X-x, p.Y-200) < 20 {
					out = append(out, j*f.diff.view.width+i)
				}
			}
		}
		return out
	}
	found := map[float64]int{}
	var least [2]float64
	for seed := range uint64(4) {
		for side, x := range [2]float64{100, 300} {
			f.compare(vision.Frame{Gray: grainy(table, 1.5, 8, 50+seed)})
			f.coverShips(nil)
			f.test.find(f.diff, f.covered, f.thingHalf())
			inside := cells(x)
			least[side] = leastNoticed(f, inside[len(inside)/2])
			per := float64(levelsPerLight[100]) * paperUnknown * least[side]
			work, diff := append([]float32(nil), f.diff.work...), append([]float32(nil), f.diff.diff...)
			for _, times := range [2]float64{0.45, 1.3} {
				copy(f.diff.work, work)
				copy(f.diff.diff, diff)
				for _, k := range inside {
					// Waves of 9 mm, lighter than the mat by half as much: rms 1.
					p := cellAt(k%f.diff.view.width, k/f.diff.view.width)
					print := float32(times * per * (0.5 + 1.73*math.Sin(p.X*0.7)*math.Cos(p.Y*0.7)))
					f.diff.work[k], f.diff.diff[k] = work[k]+print, diff[k]+print
				}
				f.test.find(f.diff, f.covered, f.thingHalf())
				if len(f.things(nil)) > 0 {
					found[times]++
				}
			}
		}
	}
	assert.Equal(t, 8, found[1.3], "prints of 1.3 times the stated contrast")
	assert.LessOrEqual(t, found[0.45], 2, "prints of less than half of it")
	assert.Greater(t, least[1], 1.5*least[0], "noise hides print where it is")
}
