package pipeline

import (
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine/geom"
)

// frozenCamera is how long a camera may send the same picture, as package app has it.
const frozenCamera = 500 * time.Millisecond

// scene is a picture with noise; from row to row on (of 400) it is what fill says.
func scene(rng *rand.Rand, from, to int, fill func(x, y int) uint8) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, 600, 400))
	for i := range g.Pix {
		x, y := i%600, i/600
		g.Pix[i] = uint8(40 + 100*((x/50+y/50)%2) + rng.IntN(6))
		if y >= from && y < to {
			g.Pix[i] = fill(x, y)
		}
	}
	return g
}

func TestAMissingPartIsReportedAtOnce(t *testing.T) {
	grey := func(int, int) uint8 { return 128 }
	smear := func(x, _ int) uint8 { return uint8(x % 200) } // the last row again and again
	for name, c := range map[string]struct {
		bars     int // rows of a black bar that the camera always delivers
		from, to int
		fill     func(x, y int) uint8
		want     pictureState
	}{
		"whole":                   {0, 0, 0, nil, pictureGood},
		"the lower half grey":     {0, 200, 400, grey, pictureTorn},
		"the upper third grey":    {0, 0, 130, grey, pictureTorn},
		"the last row to the end": {0, 250, 400, smear, pictureTorn},
		"a few rows":              {0, 380, 400, grey, pictureGood},
		"black bars, which the camera always sends": {60, 0, 60, func(int, int) uint8 { return 0 }, pictureGood},
		"black bars and half a picture":             {60, 200, 400, grey, pictureTorn},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			check := pictureCheck{frozenAfter: frozenCamera}
			now := time.Unix(1000, 0)
			black := func(int, int) uint8 { return 0 }
			for range 5 {
				now = now.Add(tenth)
				assert.Equal(t, pictureGood, check.update(scene(rng, 0, c.bars, black), now))
			}
			now = now.Add(tenth)
			assert.Equal(t, c.want, check.update(scene(rng, c.from, c.to, c.fill), now))
			now = now.Add(tenth)
			assert.Equal(t, pictureGood, check.update(scene(rng, 0, c.bars, black), now), "and all is well with the next whole one")
		})
	}
}

func TestAFrozenPartIsReportedAfterHalfASecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	old := scene(rng, 0, 0, nil)
	stuck := func(x, y int) uint8 { return old.Pix[y*old.Stride+x] }
	for after, want := range map[time.Duration]pictureState{frozenCamera: pictureTorn, 0: pictureGood} {
		check := pictureCheck{frozenAfter: after} // 0: a recording, which may show what it likes
		now := time.Unix(1000, 0)
		check.update(old, now)
		for range 4 {
			now = now.Add(tenth)
			assert.Equal(t, pictureGood, check.update(scene(rng, 200, 400, stuck), now), "a camera may send a part twice")
		}
		now = now.Add(tenth)
		assert.Equal(t, want, check.update(scene(rng, 200, 400, stuck), now))
		now = now.Add(tenth)
		assert.Equal(t, pictureGood, check.update(scene(rng, 0, 0, nil), now))
	}
}

// An encoder that leaves out what does not change sends the same picture for seconds, then a full one that shows the same a
// little otherwise. Twice that looks like a fault; from then on it is known.
func TestAStreamThatPausesIsNotFrozenForLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	now := time.Unix(1000, 0)
	check := pictureCheck{frozenAfter: 2 * time.Second, frozenMost: 15 * time.Second}
	stands := func(g *image.Gray, d time.Duration) (frozen time.Duration) {
		for range d / tenth {
			now = now.Add(tenth)
			if check.update(g, now) == pictureFrozen {
				frozen += tenth
			}
		}
		return frozen
	}
	full := func() *image.Gray { return scene(rng, 0, 0, nil) }
	assert.Zero(t, stands(full(), 19*tenth), "for as long as a picture may be old")
	assert.Equal(t, 3*time.Second, stands(full(), 5*time.Second))
	assert.Equal(t, 3*time.Second, stands(full(), 5*time.Second))
	for range 20 {
		assert.Zero(t, stands(full(), 5*time.Second), "the encoder is known")
	}
	assert.Equal(t, 10*time.Second, stands(full(), 20*time.Second), "but not for ever: twice what it does")

	moved := func() *image.Gray { // a ship stands elsewhere
		return scene(rng, 100, 200, func(x, y int) uint8 { return uint8(rng.IntN(200)) })
	}
	now = now.Add(time.Hour)
	stands(full(), time.Second)
	for i := range 4 {
		next := []func() *image.Gray{moved, full}[i%2]
		assert.Equal(t, 3*time.Second, stands(next(), 5*time.Second), "a stream that stood still while something moved was frozen")
	}

	now = now.Add(time.Hour)
	for range 9 {
		stands(full(), 6*time.Second)
	}
	assert.Equal(t, 8*time.Second, stands(full(), 20*time.Second), "twice six")
	for range 9 {
		stands(full(), 14*time.Second)
	}
	assert.Equal(t, 5*time.Second, stands(full(), 20*time.Second), "never longer than the most")
	now = now.Add(pausesFor)
	assert.Equal(t, 3*time.Second, stands(full(), 5*time.Second), "and it is forgotten when it is no longer so")

	camera := pictureCheck{frozenAfter: frozenCamera, frozenMost: frozenCamera}
	check = camera
	for range 9 {
		assert.Equal(t, 500*time.Millisecond, stands(full(), tenth*10), "a camera's noise never stands still")
	}
}

// marks are eight markers round a picture, three at each side and two above.
func marks(shift float64, below float64, without ...int) (out []calibration.MarkerSighting) {
	at := [8]geom.Pixel{{X: 50, Y: 550}, {X: 50, Y: 300}, {X: 50, Y: 50}, {X: 250, Y: 20}, {X: 350, Y: 20}, {X: 550, Y: 50}, {X: 550, Y: 300},
		{X: 550, Y: 550}}
	for id, c := range at {
		gone := false
		for _, w := range without {
			gone = gone || w == id
		}
		if gone {
			continue
		}
		if c.Y > below {
			c.X += shift
		}
		out = append(out, calibration.MarkerSighting{ID: id, Corners: [4]geom.Pixel{c, c.Add(geom.Pixel{X: 30}), c.Add(geom.Pixel{X: 30, Y: 30}),
			c.Add(geom.Pixel{Y: 30})}})
	}
	return out
}

func TestATornPictureIsDetectedByItsMarkers(t *testing.T) {
	d := DriftMonitor{}
	d.reset(calibration.Table{}, nil)
	all := marks(0, 0)
	see := func(seen []calibration.MarkerSighting) []int { d.detectTorn(all, seen); return d.torn }
	assert.Empty(t, see(all))
	assert.Empty(t, see(marks(0, 0, 3)), "a hand on one")
	assert.Empty(t, see(marks(0, 0, 1, 6)), "an arm across two in the middle: there are others above and below")
	assert.Empty(t, see(all))
	assert.Equal(t, []int{0, 7}, see(marks(0, 0, 0, 7)), "both at the near edge at once")
	assert.Equal(t, []int{0, 7}, see(marks(0, 0, 0, 3, 7)), "a hand elsewhere does not mend it")
	assert.Equal(t, []int{0, 7}, see(marks(9, 500, 3)), "nor are they found shifted")
	assert.Empty(t, see(marks(0, 0, 7)), "one that stays away is covered")
	assert.Empty(t, see(all))
	assert.ElementsMatch(t, []int{0, 1, 6, 7}, see(marks(4, 200)), "shifted by four pixels from some row on")
	assert.Empty(t, see(all))
	assert.Empty(t, see(marks(30, -1)), "all moved: the camera did")
	d.reset(calibration.Table{}, nil)
	assert.Empty(t, see(marks(0, 0, 0, 7)), "what was never seen is not missing")
}

// A cheap camera's noise in the dark has pixels of grey level 40 and more; the light is off all
// the same, and a dim picture that shows the markers' paper is no black one.
func TestNoiseInTheDarkIsABlackPicture(t *testing.T) {
	for name, c := range map[string]struct {
		light float64 // of white paper, grey levels
		want  pictureState
	}{"off": {6, pictureDark}, "dim": {40, pictureGood}} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			check := pictureCheck{frozenAfter: frozenCamera}
			now := time.Unix(1000, 0)
			var got pictureState
			for range 15 {
				g := image.NewGray(image.Rect(0, 0, 600, 400))
				for i := range g.Pix {
					v := 0.1 * c.light
					if x, y := i%600, i/600; x < 100 && y < 100 {
						v = c.light
					}
					g.Pix[i] = uint8(max(v+14*rng.NormFloat64(), 0))
				}
				now = now.Add(tenth)
				got = check.update(g, now)
			}
			assert.Equal(t, c.want, got)
		})
	}
}
