package obstacle

import (
	"image"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/visiontest"
	"sightline/vision/token"
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

// Where there is more noise than elsewhere, what lies there is no part of a larger thing.
func TestNoiseOfAPartOfTheMatIsNoBlob(t *testing.T) {
	f, table := finderOfGrain(t)
	g := grainy(table, 1.5, 6, 1)
	f.compare(vision.Frame{Gray: g})
	f.coverShips(nil)
	f.weigh(nil)
	f.markBlobs(0, nil)
	assert.NotEmpty(t, f.diff.blobs(120), "by the noise of all of it")
	f.markBlobs(0, f.noisy)
	assert.Empty(t, f.diff.blobs(120))
}

func TestGrainThatDiffersFromPlaceToPlaceIsNoThing(t *testing.T) {
	f, table := finderOfGrain(t)
	for seed := range uint64(3) {
		f.compare(vision.Frame{Gray: grainy(table, 1.5, 6, seed)})
		f.coverShips(nil)
		f.weigh(nil)
		assert.Empty(t, f.things(nil, nil), "bare mat")
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
		for j := range f.diff.view.Height {
			for i := range f.diff.view.Width {
				if p := cellAt(i, j); math.Hypot(p.X-x, p.Y-200) < 20 {
					out = append(out, j*f.diff.view.Width+i)
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
			f.weigh(nil)
			inside := cells(x)
			least[side] = leastNoticed(f, inside[len(inside)/2])
			per := float64(levelsPerLight[100]) * paperUnknown * least[side]
			work, diff := append([]float32(nil), f.diff.work...), append([]float32(nil), f.diff.diff...)
			for _, times := range [2]float64{0.45, 1.3} {
				copy(f.diff.work, work)
				copy(f.diff.diff, diff)
				for _, k := range inside {
					// Waves of 14 mm, lighter than the mat by half as much: rms 1.
					p := cellAt(k%f.diff.view.Width, k/f.diff.view.Width)
					print := float32(times * per * (0.5 + 1.73*math.Sin(p.X*0.45)*math.Cos(p.Y*0.45)))
					f.diff.work[k], f.diff.diff[k] = work[k]+print, diff[k]+print
				}
				f.weigh(nil)
				if len(f.things(nil, nil)) > 0 {
					found[times]++
				}
			}
		}
	}
	assert.Equal(t, 8, found[1.3], "prints of 1.3 times the stated contrast")
	assert.LessOrEqual(t, found[0.45], 2, "prints of less than half of it")
	assert.Greater(t, least[1], 1.5*least[0], "noise hides print where it is")
}

func TestTheMatIsBlindWhereAnObstacleWouldNotBeNoticed(t *testing.T) {
	f, table := finderOfGrain(t)
	for noise, blind := range map[float64]bool{1.5: false, 4.5: true, 15: true} {
		f.compare(vision.Frame{Gray: grainy(table, noise, noise, 5)})
		f.coverShips(nil)
		f.weigh(nil)
		f.things(nil, nil)
		_, hidden := f.unnoticed(nil, nil)
		assert.Equal(t, blind, hidden, "noise of %v", noise)
		assert.Equal(t, blind, len(f.blind(nil, nil)) > 0, "noise of %v", noise)
	}
}

func TestASureThingInNoiseReachesNoFurtherThanItself(t *testing.T) {
	f, table := finderOfGrain(t)
	f.compare(vision.Frame{Gray: grainy(table, 4.5, 4.5, 5)})
	f.coverShips(nil)
	f.weigh(nil)
	w, half := f.test.w, f.thingHalf()
	f.test.limit, f.test.most = 3, 5
	for _, c := range []struct {
		name        string
		wide        int // cells
		card, speck float32
		off         int // cells from the card's edge to the speck
		to          int // cells beyond the card's edge that it reaches
	}{
		{"what noise leaves at a sure thing", 40, matSure, 4.5, half - 1, 0},
		{"what is sure", 40, matSure, 6, half - 1, half},
		{"what differs by a thing's edge", 40, matSure, 4.5, 1, 5},
		{"a faint thing's faint part", 40, 4, 4, 2, 6},
		{"a thing that is noticed because it is sure", half + 2, matSure, 4.5, 2, 6},
	} {
		for k := range f.test.energy {
			f.test.energy[k], f.test.shade[k] = 1, noShade
			i, j := k%w-200, k/w-200
			if i >= 0 && i < c.wide && j >= 0 && j < 40 {
				f.test.energy[k] = c.card
			}
			if n := i - c.wide; n >= c.off && n < c.off+4 && j >= 18 && j < 22 {
				f.test.energy[k] = c.speck
			}
		}
		things := f.things(nil, nil)
		require.Len(t, things, 1, c.name)
		right := 0.0
		for _, p := range things[0].Outline {
			right = max(right, p.X)
		}
		assert.InDelta(t, float64(200+c.wide+c.to)-0.5+matSmall, right, 1e-9, c.name)
	}
}

// What white bases throw on the mat is far beyond the noise of a mean of pictures, and far from the least print. Of what is darker only
// the texture tells, from which such light takes nothing.
func TestFaintLightOnTheMatIsNoThing(t *testing.T) {
	f, table := finderOfGrain(t)
	paper := []paperLight{{light: 1, share: 1}}
	least := 0.02 * float64(levelsPerLight[100]) // of a print; leastPrint is a little less
	for _, c := range []struct {
		name   string
		levels func(p geom.Point) float64
		things int
	}{
		{"light", func(p geom.Point) float64 { return 0.35 * least / (1 + math.Exp((p.Norm()-18)/3)) }, 0},
		{"print", func(p geom.Point) float64 { return 2 * least * math.Sin(p.X*0.45) * math.Cos(p.Y*0.45) }, 1},
		{"dark print", func(p geom.Point) float64 { return (0.4*math.Sin(p.X*0.9)*math.Cos(p.Y*0.9) - 1.2) * least }, 1},
	} {
		f.compare(vision.Frame{Gray: grainy(table, 0.5, 0.5, 3)})
		f.coverShips(nil)
		f.eachInside(square(200, 200, 30), 0, func(k int) {
			more := float32(c.levels(cellAt(k%f.diff.view.Width, k/f.diff.view.Width).Sub(geom.Point{X: 200, Y: 200})))
			f.diff.work[k], f.diff.diff[k] = f.diff.work[k]+more, f.diff.diff[k]+more
		})
		f.weigh(paper)
		assert.Len(t, f.things(nil, paper), c.things, c.name)
	}
}

// lay weighs a picture of little noise on which the light of the cells of an area is multiplied by what light says.
func lay(f *Finder, table calibration.Table, bases []geom.Polygon, area geom.Polygon, light func(p geom.Point) float64) {
	f.compare(vision.Frame{Gray: grainy(table, 1.5, 1.5, 7)})
	f.bases = bases
	f.coverShips(bases)
	f.eachInside(area, 0, func(k int) {
		was := f.diff.work[k]
		lit := float64(gray.LinearLight[uint8(was)]) * light(cellAt(k%f.diff.view.Width, k/f.diff.view.Width))
		level := sort.Search(255, func(i int) bool { return float64(gray.LinearLight[i]) >= lit })
		f.diff.work[k], f.diff.diff[k] = float32(level), f.diff.diff[k]+float32(level)-was
	})
	f.weigh(nil)
}

func square(x, y, half float64) geom.Polygon {
	return geom.Polygon{{X: x - half, Y: y - half}, {X: x + half, Y: y - half}, {X: x + half, Y: y + half}, {X: x - half, Y: y + half}}
}

func TestASpeckIsNoThingWhereTheRestOfAnObstacleWouldBeSeen(t *testing.T) {
	f, table := finderOfGrain(t)
	light := func(geom.Point) float64 { return 2 }
	speck := 0.6 * float64(f.thingHalf())
	lay(f, table, nil, square(200, 200, speck), light)
	assert.Empty(t, f.things(nil, nil), "a speck alone")
	noticed := 0
	for _, v := range f.test.wide {
		if v > f.test.limit {
			noticed++
		}
	}
	assert.Positive(t, noticed, "it was noticed")
	lay(f, table, nil, square(200, 200, 1.6*speck), light)
	assert.Len(t, f.things(nil, nil), 1, "what is as large as a part of an obstacle")
	lay(f, table, nil, square(2*speck, 200, speck), light)
	assert.Len(t, f.things(nil, nil), 1, "at the mat's edge")
	far := token.MiniatureReach + 5.0
	lay(f, table, []geom.Polygon{square(200+far+20, 200, 20), square(200, 200+speck+20, 10)}, square(200, 200, speck), light)
	f.bases = f.bases[:1] // the other is no ship's, and hides the mat
	assert.Len(t, f.things(nil, nil), 1, "where something hides the rest")
}

func TestADarkShapeWithoutTextureAtAShipIsAShadow(t *testing.T) {
	f, table := finderOfGrain(t)
	entry := &f.catalogue.Entries[0]
	pose := geom.Pose{Point: geom.Point{X: 200, Y: 200}}
	v := vision.ObstacleView{Entry: entry, Pose: pose, Misfit: 0.5, Visible: 1}
	for _, p := range entry.Outline {
		v.Outline = append(v.Outline, pose.Transform(p))
	}
	ship := []geom.Polygon{square(200, 270, 20)}
	shade := func(geom.Point) float64 { return 0.5 }
	shadow := func(v vision.ObstacleView, bases []geom.Polygon, light func(geom.Point) float64) bool {
		lay(f, table, bases, v.Outline, light)
		f.things(nil, nil)
		return f.shadow(&v, nil)
	}
	assert.True(t, shadow(v, ship, shade), "a shadow")
	assert.False(t, shadow(v, nil, shade), "no ship casts it")
	assert.True(t, shadow(v, []geom.Polygon{square(200, 320, 20)}, shade), "a lamp that hangs low throws it 100 mm")
	assert.False(t, shadow(v, []geom.Polygon{square(200, 380, 20)}, shade), "none throws it as far as this")
	assert.False(t, shadow(v, ship, func(p geom.Point) float64 { return 0.5 + 0.4*math.Sin(p.X*0.45)*math.Cos(p.Y*0.45) }), "it is printed")
	assert.False(t, shadow(v, ship, func(geom.Point) float64 { return 1.5 }), "it is lighter than the mat")
	assert.False(t, shadow(v, ship, func(geom.Point) float64 { return 0.02 }), "no print would be seen in so little light")
	fits := v
	fits.Misfit = 0.3
	assert.False(t, shadow(fits, ship, shade), "no shadow fits so well")
}

func TestPrintsInDeepShadeAreNoticedFromTheContrastThatIsStated(t *testing.T) {
	f, table := finderOfGrain(t)
	const shade, times = 0.35, 1.5
	area := square(200, 200, 40)
	lit := func(contrast float64) func(p geom.Point) float64 { // waves of 8 mm, rms contrast, as the shade dims them
		c := 2 * contrast * paperUnknown / float64(gray.LinearLight[100])
		return func(p geom.Point) float64 { return shade * (1 + c*math.Sin(p.X*0.8)*math.Cos(p.Y*0.8)) }
	}
	lay(f, table, nil, area, lit(0))
	assert.Empty(t, f.things(nil, nil), "a shadow")
	middle := 200*f.test.w + 200
	assert.Less(t, f.test.z[middle], float32(-matOutlier))
	least := leastNoticed(f, middle)
	assert.Greater(t, least, 1.3*leastNoticed(f, 100*f.test.w+100), "a shade hides print")
	lay(f, table, nil, area, lit(times*least))
	assert.Len(t, f.things(nil, nil), 1, "a dark print of contrast %.3f", times*least)
	lay(f, table, nil, area, lit(least/3))
	assert.Empty(t, f.things(nil, nil), "a third of what is stated")
	lay(f, table, nil, area, func(p geom.Point) float64 { return shade * (1.5 + 0.006*(p.X-200) - 0.005*(p.Y-200)) })
	assert.Empty(t, f.things(nil, nil), "a shadow that fades")
}

func TestADarkThingIsNoticedWhateverTheNoise(t *testing.T) {
	f, table := finderOfGrain(t)
	f.compare(vision.Frame{Gray: grainy(table, 1.5, 1.5, 5)})
	f.coverShips(nil)
	f.weigh(nil)
	for _, limit := range []float32{matLimit, 4.2, 8} {
		f.test.limit, f.test.most = limit, 2*limit-1
		for k := range f.test.energy {
			f.test.energy[k], f.test.shade[k] = 1, noShade
			if i, j := k%f.test.w-200, k/f.test.w-200; i >= 0 && i < 40 && j >= 0 && j < 40 {
				f.test.energy[k], f.test.shade[k] = matSure, plainShade
			}
		}
		assert.Len(t, f.things(nil, nil), 1, "ink on a light mat, limit %v", limit)
	}
}

func TestWhatIsApartFromAShipIsNotItsMiniature(t *testing.T) {
	f, table := finderOfGrain(t)
	print := func(light float64) func(p geom.Point) float64 {
		return func(p geom.Point) float64 { return light * (1 + 0.5*math.Sin(p.X*0.45)*math.Cos(p.Y*0.45)) }
	}
	thing := square(200, 200, 14)
	for _, c := range []struct {
		name   string
		ship   geom.Polygon
		light  float64
		things int
	}{
		{"apart from a ship", square(200, 250, 20), 1.4, 1},
		{"it begins at the base", square(200, 238, 20), 1.4, 0},
		{"a peg's end over it", square(200, 250, 20), 1.4, 0},
		{"a shadow of its miniature", square(200, 250, 20), 0.7, 0},
	} {
		if c.name == "a peg's end over it" {
			f.fit.eye[1] = 340 // the camera hangs beyond the ship, and sees it aslant
			f.fit.eye[2] = 200
		}
		lay(f, table, []geom.Polygon{c.ship}, thing, print(c.light))
		assert.Len(t, f.things(nil, nil), c.things, c.name)
		if c.light > 1 {
			f.diff.noise = noiseMost + 1
			assert.Len(t, f.things(nil, nil), 1, "in much noise, %s", c.name)
		}
	}
}

// Light that is followed, and shade, take the mean of a print: what a square has lost so is not expected of it.
func TestWhatTheMeanHasLostIsNotExpected(t *testing.T) {
	f, table := finderOfGrain(t)
	expected := func(light float64) float32 {
		lay(f, table, nil, square(200, 200, 30), func(geom.Point) float64 { return light })
		sums, least := f.expectedSums(nil, nil)
		return sums[200*f.test.w+200] / least
	}
	assert.Greater(t, expected(1), float32(1), "a print is noticed on the bare mat")
	for _, light := range []float64{0.97, 1.05} {
		assert.Less(t, expected(light), float32(1), "%v of the light", light)
	}
}
