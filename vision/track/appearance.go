package track

import (
	"image"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// AppearanceMemory remembers what pictures showed where ships stood and around them, and says what
// a later picture shows there: the same, the mat, or something else. It belongs to one goroutine.
type AppearanceMemory struct{ seen map[string]*placeLook }

// NewAppearanceMemory returns an empty memory.
func NewAppearanceMemory() *AppearanceMemory { return &AppearanceMemory{seen: map[string]*placeLook{}} }

// Reset forgets everything.
func (p *AppearanceMemory) Reset() { clear(p.seen) }

// Forget drops the place of one ship.
func (p *AppearanceMemory) Forget(id string) { delete(p.seen, id) }

// A place is sampled on a grid over the base, and on a ring around it where the mat is.
const (
	placeGrid = 10  // samples along each side of the base
	ringSteps = 12  // samples along each side of the ring
	ringReach = 1.3 // of the ring, in half sides of the base
)

// The difference in grey levels that still counts as the same, after correcting for a change of
// light: the noise of four pixels and a shadow's edge stay below it, a hand on a black base does
// not.
const sameLevel = 20.0

type placeLook struct {
	outline [4]geom.Pixel
	base    [placeGrid * placeGrid]float64
	ring    [4 * ringSteps]float64
	rims    [rimHalves][rimPatch]float64 // each side's printed rim, in two halves
}

// The printed rim is sampled along each side, from just outside the base's edge to the cells' inner
// end, finely enough to locate it: rimDeeps in mm of a small base, with six samples to a cell's
// width.
const (
	rimHalves  = 8
	rimSamples = 32
	rimPatch   = rimSamples * len(rimDeeps)
)

var rimDeeps = [...]float64{-0.8, 0.5, 1.8, 3.1}

// A half of a side is in its place if its picture is unchanged except for the light: it needs this
// correlation, and enough contrast. With that, a ship that shows only a corner is found to have
// moved from 0.4 mm on (TestACornerTellsThatAShipIsThere).
const (
	sameRim     = 0.95
	rimContrast = 12.0 // grey levels, standard deviation
)

// Remember stores the places of the ships read in a picture.
func (p *AppearanceMemory) Remember(g *image.Gray, ships []vision.ShipView) {
	for _, v := range ships {
		k := p.seen[v.ID]
		if k == nil {
			k = &placeLook{}
			p.seen[v.ID] = k
		}
		k.outline = v.Outline
		k.take(g)
	}
}

// Place returns what a picture shows where a ship was last read.
func (p *AppearanceMemory) Place(g *image.Gray, id string) vision.Place {
	then, ok := p.seen[id]
	if !ok || g == nil {
		return vision.PlaceCovered
	}
	now := placeLook{outline: then.outline}
	now.take(g)
	// The light is taken from the ring, or where that is covered, as unchanged.
	gain := lightRatio(then.ring[:], now.ring[:])
	base := shareAlike(then.base[:], now.base[:], gain)
	ring := shareAlike(then.ring[:], now.ring[:], gain)
	marks, n := then.marks(&now, gain)
	switch {
	case base >= 0.9 && ring >= 0.6 && (n == 0 || marks >= 0.7):
		return vision.PlaceUnchanged
	// The ring must be in view: otherwise an even hand over base and ring would pass for the mat.
	case n >= minMarks && marks < 0.25 && ring >= 0.8 && now.bare() && p.sameLight(g, id, gain):
		return vision.PlaceBare
	case then.inPart(&now):
		return vision.PlacePartly
	}
	return vision.PlaceCovered
}

// otherLight is the factor between the changes of light at two places from which on it is no light that changed, but something else lies
// at one of them: an even box as dark as the mat within sameLevel.
const otherLight = 1.25

// sameLight reports whether the light around a ship's place changed as around most of the others. It reports true where there are fewer
// than two others.
func (p *AppearanceMemory) sameLight(g *image.Gray, id string, gain float64) bool {
	var others []float64
	for other, then := range p.seen {
		if other != id {
			now := placeLook{outline: then.outline}
			now.takeRing(g)
			others = append(others, lightRatio(then.ring[:], now.ring[:]))
		}
	}
	if len(others) < 2 {
		return true
	}
	slices.Sort(others)
	usual := others[len(others)/2]
	return gain < otherLight*usual && usual < otherLight*gain
}

// inPart reports whether a corner of the base, with half of both sides there, shows the same rim as
// before. One side is not enough, because it looks much the same when pushed along itself.
func (k *placeLook) inPart(now *placeLook) bool {
	for i := range 4 {
		if next := 4 + (i+1)%4; alike(&k.rims[i], &now.rims[i]) && alike(&k.rims[next], &now.rims[next]) {
			return true
		}
	}
	return false
}

// alike reports whether two patches show the same, whatever the light.
func alike(then, now *[rimPatch]float64) bool {
	var st, sn, tt, nn, tn float64
	for i, a := range then {
		b := now[i]
		if a < 0 || b < 0 { // not in the picture
			return false
		}
		st, sn, tt, nn, tn = st+a, sn+b, tt+a*a, nn+b*b, tn+a*b
	}
	const n = float64(rimPatch)
	tt, nn, tn = tt/n-st*st/n/n, nn/n-sn*sn/n/n, tn/n-st*sn/n/n
	const least = rimContrast * rimContrast
	return tt > least && nn > least/4 && tn > 0 && tn*tn >= sameRim*sameRim*tt*nn
}

// take samples a picture at the place.
func (k *placeLook) take(g *image.Gray) {
	for i := range placeGrid {
		for j := range placeGrid {
			u := 1.9*(float64(i)+0.5)/placeGrid - 0.95
			v := 1.9*(float64(j)+0.5)/placeGrid - 0.95
			k.base[i*placeGrid+j] = sampleAt(g, k.pixel(u, v))
		}
	}
	k.takeRing(g)
	long := k.elongation()
	// Side by side clockwise from the front, first the halves at their clockwise ends,
	// then the others: halves i and 4+(i+1)%4 meet at a corner.
	for half := range k.rims {
		n := 0
		for _, deep := range rimDeeps {
			v := 1 - deep/20
			if half%2 == 0 {
				v = 1 - deep/20/long
			}
			for i := range rimSamples {
				u := 0.25 + 0.7*(float64(i)+0.5)/rimSamples
				if half >= 4 {
					u = -u
				}
				at := [4][2]float64{{u, v}, {v, -u}, {-u, -v}, {-v, u}}[half%4]
				p := k.pixel(at[0], at[1])
				x, ok := gray.Bilinear(g, p.X, p.Y)
				if !ok {
					x = -1
				}
				k.rims[half][n] = x
				n++
			}
		}
	}
}

// takeRing samples a picture around the place.
func (k *placeLook) takeRing(g *image.Gray) {
	ahead := 1 + (ringReach-1)/k.elongation() // a ring as wide before a long base as next to it
	for i := range ringSteps {
		s := 2*float64(i)/ringSteps - 1
		for side, at := range [4][2]float64{{s * ringReach, ahead}, {ringReach, -s * ahead}, {-s * ringReach, -ahead}, {-ringReach, s * ahead}} {
			k.ring[side*ringSteps+i] = sampleAt(g, k.pixel(at[0], at[1]))
		}
	}
}

// elongation is how many times longer a huge base is than wide, and 1 for the others.
func (k *placeLook) elongation() float64 {
	o := &k.outline
	across := o[1].Sub(o[0]).Norm() + o[2].Sub(o[3]).Norm()
	along := o[2].Sub(o[1]).Norm() + o[3].Sub(o[0]).Norm()
	if along < 1.7*across { // a slanting view foreshortens a square one by less
		return 1
	}
	return along / across
}

// pixel returns the pixel at a place in half sides of the base, right and forward of
// its centre. Over a base perspective is as good as linear.
func (k *placeLook) pixel(u, v float64) geom.Pixel {
	fl, fr, rr, rl := k.outline[0], k.outline[1], k.outline[2], k.outline[3]
	a, b := (1+u)/2, (1+v)/2
	return fl.Mul((1 - a) * b).Add(fr.Mul(a * b)).Add(rr.Mul(a * (1 - b))).Add(rl.Mul((1 - a) * (1 - b)))
}

// sampleAt returns the mean light of a few pixels round a place, or -1 outside.
func sampleAt(g *image.Gray, p geom.Pixel) float64 {
	var sum float64
	for _, d := range [4][2]float64{{-0.75, -0.75}, {0.75, -0.75}, {-0.75, 0.75}, {0.75, 0.75}} {
		v, ok := gray.Bilinear(g, p.X+d[0], p.Y+d[1])
		if !ok {
			return -1
		}
		sum += v
	}
	return sum / 4
}

// lightRatio returns the factor by which the light on the mat changed: the median, because up to
// half of the samples may be covered. A factor beyond two is not a change of light.
func lightRatio(then, now []float64) float64 {
	var ratios []float64
	for i := range then {
		if then[i] >= 0 && now[i] >= 0 {
			ratios = append(ratios, (now[i]+4)/(then[i]+4))
		}
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	r := ratios[len(ratios)/2]
	if r < 0.5 || r > 2 {
		return 1
	}
	return r
}

// shareAlike returns the share of the samples inside the picture that are unchanged.
func shareAlike(then, now []float64, gain float64) float64 {
	alike, n := 0, 0
	for i := range then {
		if then[i] < 0 || now[i] < 0 {
			continue
		}
		n++
		if d := now[i] - gain*then[i]; d > -sameLevel && d < sameLevel {
			alike++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(alike) / float64(n)
}

// minMarks is how many samples of a ship must differ from the mat before their absence shows that
// the ship is gone. A token's printed rim alone gives about twenty.
const minMarks = 8

// marks returns how many samples of the ship differed from the mat around it, and the share of them
// that is still there. Black card on a dark mat differs from it in little but its printed rim.
func (k *placeLook) marks(now *placeLook, gain float64) (share float64, n int) {
	lo, hi, ok := k.ground()
	if !ok {
		return 0, 0
	}
	alike := 0
	for i, v := range k.base {
		if v < 0 || now.base[i] < 0 || (v > lo && v < hi) {
			continue
		}
		n++
		if d := now.base[i] - gain*v; d > -sameLevel && d < sameLevel {
			alike++
		}
	}
	return float64(alike) / float64(max(n, 1)), n
}

// bare reports whether the base's place has only grey levels of the mat around it.
func (k *placeLook) bare() bool {
	lo, hi, ok := k.ground()
	if !ok {
		return false
	}
	in, n := 0, 0
	for _, v := range k.base {
		if v >= 0 {
			n++
			if v > lo && v < hi {
				in++
			}
		}
	}
	return n > 0 && float64(in) >= 0.93*float64(n)
}

// ground returns the range of grey levels of the mat around the base. It reports false if too
// little of it is in the picture.
func (k *placeLook) ground() (lo, hi float64, ok bool) {
	var ring []float64
	for _, v := range k.ring {
		if v >= 0 {
			ring = append(ring, v)
		}
	}
	if len(ring) < 2*ringSteps {
		return 0, 0, false
	}
	slices.Sort(ring)
	return ring[len(ring)/10] - sameLevel, ring[len(ring)*9/10] + sameLevel, true
}
