package look

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/calibration/linalg"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// A card can be put into its base a quarter turn off. Its arcs then point to where the base has no guides. Such a base is refused: its
// heading is that of the card for arcs, but that of the plastic for moves. The guides show it. A half turn cannot be seen, and need not:
// front and rear of the plastic are the same.
//
// A guide is as dark or bright as the base's frame, and differs from the mat beside it. So the picture is compared with what a guide would
// cover there, at each of the eight places where guides may be: two at the front and two at the rear, or two at either side. A camera
// aslant sees the guides of a near side in front of the base's wall, and those of a far side behind its edge.
const (
	guideHeight = 3.2 * geom.Millimeter
	guideReach  = 1.5  // mm by which a guide stands out
	guideStep   = 0.5  // mm between samples
	guideAlong  = 19.0 // mm to either side of the middle that are sampled
	guideIn     = 1.5  // mm inwards from the base's edge
	guideOut    = 5.0  // mm outwards
	guideWindow = 7.0  // mm to either side of a guide's middle within which the mat is compared with it
	guideBlur   = 0.46 // px, sigma of the picture
	guideLeast  = 0.35 // share of a sample that a guide covers in a row that is compared
	guideBase   = 0.3  // largest share that the base covers
	guideInset  = 0.7  // mm from the base's edge to the middle of its frame
	guideFew    = 20   // samples

	// The difference between guide and mat, in grey levels, is normal about 0 where there is no guide. Its deviation is guideFactor times that
	// of the fit with guideNoise added, times 1 plus the slope of the camera's ray outwards, or inwards, times guideFar, or guideNear. Where
	// there is a guide, it is normal about the difference between frame and mat, with guideShare of that as deviation, or about 0 with
	// guideOther. Something hides guideHidden of the places and may be anything among guideAnything grey levels.
	guideFactor   = 4.0
	guideNoise    = 2.0
	guideFar      = 4.0
	guideNear     = 2.0
	guideShare    = 0.5
	guideOther    = 25.0
	guideOtherly  = 0.3 // weight of guideOther
	guideHidden   = 0.1
	guideAnything = 120.0

	// The logarithm of the odds from which the guides are at the card's sides: 55 to 1. From the same odds that they are not, the card's
	// heading is the base's without a doubt. Of 196 bases (1 to 3, 1 at 4K, 1201 to 1210, 1221 to 1225, 1241 to 1243, 1251 to 1254), guides
	// seem to be where there are none by 3.4 at most, in pictures of cameras 30° aslant; elsewhere by 1.8.
	guideTurned = 4.0

	// And those of the guides at one of these sides, without which the base is doubted, not refused. Simulated guides half as light as their
	// frame seem to be nowhere: by -4.8, 0.7, -4.1 and -5.1 at the four sides.
	guideShown = 1.0

	// The same of guides at the card's front and rear, from which a base stands there whatever its card is. Of 62 bases that were found on six
	// tables, the 7 with an evidence below sureEvidence have 7.5 or more. Where nothing stands, of five poses with an evidence of 9.2
	// or more on a template, two seem to have guides, by 3.2 and 3.5.
	guideInFront = 4.0
)

// guideSide is a side of a base in the picture: rows of samples at the guides' height, from the base outwards.
type guideSide struct {
	along, out float64 // the horizontal change of the camera's ray per mm of height, along the side and outwards
	shot       []float64
	frame      float64 // grey levels
}

// guideColumns and guideRows are the numbers of samples of a side.
const (
	guideColumns = int(2*guideAlong/guideStep) + 1
	guideRows    = int((guideIn+guideOut)/guideStep) + 1
)

// guideAt returns the place of a sample: along the side, and outwards from it.
func guideAt(k int) (along, out float64) {
	return float64(k%guideColumns)*guideStep - guideAlong, float64(k/guideColumns)*guideStep - guideIn
}

// guideSides samples the front, right, rear and left of a base. nil stands for a side that is not in the picture.
func (f *Finder) guideSides(frame vision.Frame, b engine.Base, at geom.Pose) (sides [4]*guideSide, scale float64) {
	w, _ := b.Size()
	half := float64(w) / 2
	s, ok := newScan(&f.table, frame, at.Point, guideHeight, half*math.Sqrt2+guideOut+2)
	if !ok {
		return sides, 0
	}
	eye := f.table.Center()
	sin, cos := math.Sincos(float64(at.Heading))
	dx, dy := (at.X-eye[0])/(eye[2]-float64(guideHeight)), (at.Y-eye[1])/(eye[2]-float64(guideHeight))
	along, out := dx*cos-dy*sin, dx*sin+dy*cos
	for side := range sides {
		g := &guideSide{along: along, out: out, shot: make([]float64, guideColumns*guideRows)}
		along, out = -out, along
		for k := range g.shot {
			x, y := guideAt(k)
			y += half
			for range side {
				x, y = y, -x
			}
			var p sample
			px, py := s.view.pixel(x*cos+y*sin, -x*sin+y*cos)
			if !s.sharp.valueAt(px, py, &p) {
				g = nil
				break
			}
			g.shot[k] = float64(p.v[0]+p.v[1]+p.v[2]) / channels
		}
		if sides[side] = g; g != nil {
			row := int(math.Round((guideIn - guideInset + float64(token.BaseTop-guideHeight)*g.out) / guideStep))
			row = min(max(row, 0), guideRows-1)
			g.frame = median(slices.Clone(g.shot[row*guideColumns+4 : (row+1)*guideColumns-4]))
		}
	}
	return sides, s.scale
}

// covers returns which share of each sample a box covers that stands on the mat, and what does not count of it; nil: nothing.
func (g *guideSide) covers(along0, along1, out0, out1 float64, height geom.Length, hidden []float64) []float64 {
	cover := make([]float64, len(g.shot))
	for k := range cover {
		along, out := guideAt(k)
		for z := range 9 {
			d := float64(guideHeight - height*geom.Length(z)/8)
			if p, q := along+d*g.along, out+d*g.out; p >= along0 && p <= along1 && q >= out0 && q <= out1 {
				cover[k] = 1
				break
			}
		}
		if hidden != nil {
			cover[k] *= 1 - hidden[k]
		}
	}
	return cover
}

// blurredSamples blurs samples of a side by a sigma in samples.
func blurredSamples(v []float64, sigma float64) []float64 {
	turned := func(v []float64, columns int) []float64 {
		out, rows := make([]float64, len(v)), len(v)/columns
		for k := range v {
			out[k%columns*rows+k/columns] = v[k]
		}
		return out
	}
	return turned(alongRows(turned(alongRows(v, guideColumns, sigma), guideColumns), guideRows, sigma), guideRows)
}

// guides returns the logarithm of the likelihood ratio of two guides at a side and none.
func (g *guideSide) guides(b engine.Base, scale float64) (sum float64) {
	w, _ := b.Size()
	half, sigma := float64(w)/2, guideBlur/scale/guideStep
	body := g.covers(-half, half, -2*half, 0, token.BaseTop, nil)
	base := blurredSamples(body, sigma)
	const middle, wide = float64(engine.GuideInner+engine.GuideOuter) / 2, float64(engine.GuideOuter-engine.GuideInner) / 2
	for _, at := range [2]float64{-middle, middle} {
		cover := blurredSamples(g.covers(at-wide, at+wide, -0.5, guideReach, guideHeight, body), sigma)
		var used []int
		for row := range guideRows {
			var here []int
			var most float64
			for k := row * guideColumns; k < (row+1)*guideColumns; k++ {
				if along, _ := guideAt(k); math.Abs(along-at) < guideWindow && base[k] < guideBase {
					here, most = append(here, k), max(most, cover[k])
				}
			}
			if most > guideLeast {
				used = append(used, here...)
			}
		}
		if d, deviation, mat, ok := g.contrast(used, cover, at); ok {
			sum += g.guide(d, deviation, g.frame-mat)
		}
	}
	return sum
}

// contrast fits a mat that changes linearly, and a guide's difference from it, to some samples. It returns that difference and its
// deviation, and the mat's grey level.
func (g *guideSide) contrast(used []int, cover []float64, at float64) (d, deviation, mat float64, ok bool) {
	const n = 4
	if len(used) < guideFew {
		return 0, 0, 0, false
	}
	var middle float64
	for _, k := range used {
		_, out := guideAt(k)
		middle += out / float64(len(used))
	}
	row := func(k int) [n]float64 {
		along, out := guideAt(k)
		return [n]float64{1, out - middle, (along - at) / guideWindow, cover[k]}
	}
	weights, off := make([]float64, len(used)), make([]float64, len(used))
	for i := range weights {
		weights[i] = 1
	}
	var x [n]float64
	var sigma float64
	normal := make([]float64, n*n)
	for range 4 {
		clear(normal)
		var right [n]float64
		for i, k := range used {
			r := row(k)
			for a := range n {
				right[a] += weights[i] * r[a] * g.shot[k]
				for b := range n {
					normal[a*n+b] += weights[i] * r[a] * r[b]
				}
			}
		}
		for a := range n {
			normal[a*(n+1)] += 1e-6
		}
		solved, ok := linalg.SolveSPD(normal, right[:])
		if !ok {
			return 0, 0, 0, false
		}
		copy(x[:], solved)
		for i, k := range used {
			r := row(k)
			off[i] = math.Abs(g.shot[k] - r[0]*x[0] - r[1]*x[1] - r[2]*x[2] - r[3]*x[3])
		}
		sigma = max(1.4826*median(slices.Clone(off)), 1)
		for i := range weights {
			weights[i] = 1 / (1 + square(off[i]/(2.5*sigma)))
		}
	}
	inverse, ok := linalg.InvertSPD(normal, n)
	if !ok {
		return 0, 0, 0, false
	}
	return x[n-1], sigma * math.Sqrt(inverse[n*n-1]) * 0.25 / guideStep, x[0], true
}

// guide returns the logarithm of the likelihood ratio of a guide and none at a place that differs by d from the mat, with a deviation.
// expected is the difference between frame and mat.
func (g *guideSide) guide(d, deviation, expected float64) float64 {
	normal := func(x, sigma float64) float64 { return math.Exp(-square(x/sigma)/2) / (sigma * math.Sqrt(2*math.Pi)) }
	sigma := math.Hypot(guideFactor*deviation, guideNoise) * (1 + guideFar*max(g.out, 0) + guideNear*max(-g.out, 0))
	seen := (1-guideOtherly)*normal(d-expected, math.Hypot(sigma, guideShare*expected)) + guideOtherly*normal(d, math.Hypot(sigma, guideOther))
	const hidden = guideHidden / guideAnything
	return math.Log(((1-guideHidden)*seen + hidden) / ((1-guideHidden)*normal(d, sigma) + hidden))
}

// turned sets the odds of a sight's guides. It returns an error if guides are seen where its card has its sides, and none where it has its
// front and rear. Where none is seen anywhere, as if guides are darker than their base's frame, the picture does not tell.
func (f *Finder) turned(frame vision.Frame, s *Sight) *TurnedError {
	by := f.guidesBy(frame, s.Look.Base, s.Pose)
	s.Aside = by.aside()
	if !by.turned() {
		return nil
	}
	return &TurnedError{Card: s.Look.Name, Ships: s.Ships(), At: s.Pose.Point}
}

// TurnDoubt reports whether the guides are not seen well enough to know that the card does not lie a quarter turn off in its base.
func (s *Sight) TurnDoubt() bool { return s.Aside > -guideTurned }

// standsThere reports whether the guides show that a base stands at a pose.
func (f *Finder) standsThere(frame vision.Frame, b engine.Base, at geom.Pose) bool {
	return f.guidesAside(frame, b, at) <= -guideInFront
}

// guidesAside returns the logarithm of the odds that the guides of a base are at its card's sides, not at its front and rear.
func (f *Finder) guidesAside(frame vision.Frame, b engine.Base, at geom.Pose) float64 {
	by := f.guidesBy(frame, b, at)
	return by.aside()
}

// guideOdds are the logarithms of the odds that a base has guides at its card's front, right, rear and left.
type guideOdds [4]float64

// aside returns the logarithm of the odds that the guides are at the sides, not at the front and rear.
func (o *guideOdds) aside() float64 { return o[1] + o[3] - o[0] - o[2] }

// turned reports whether guides are seen at the card's sides, and none at its front and rear.
func (o *guideOdds) turned() bool { return o.aside() >= guideTurned && max(o[1], o[3]) >= guideShown }

// guidesBy compares the picture with what guides would cover at each side of a base.
func (f *Finder) guidesBy(frame vision.Frame, b engine.Base, at geom.Pose) (by guideOdds) {
	sides, scale := f.guideSides(frame, b, at)
	for i, side := range sides {
		if side != nil {
			by[i] = side.guides(b, scale)
		}
	}
	return by
}

// A TurnedError is the error for a card that does not lie in a base as it should: a quarter turn off, or on the mat without one.
type TurnedError struct {
	Card  string   // the name of its look
	Ships []string // that carry the card
	At    geom.Point
	Bare  bool // it has no base
}

// Error says what to do.
func (e *TurnedError) Error() string {
	if e.Bare {
		return fmt.Sprintf("%s at (%.0f, %.0f) mm does not count: its card seems to lie on the mat without a base; if a base stands there, "+
			"place the ship by hand", strings.Join(e.Ships, " or "), e.At.X, e.At.Y)
	}
	return fmt.Sprintf("%s at (%.0f, %.0f) mm does not count: its card seems turned in its base, whose guides are at the card's sides; "+
		"put it in the right way round", strings.Join(e.Ships, " or "), e.At.X, e.At.Y)
}
