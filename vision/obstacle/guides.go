package obstacle

import (
	"image"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// A base stands out from a card or a tile of its size by its guides: four small tongues
// between which templates are laid, two at the front and two at the rear, at places that
// the rules' dimensions fix. In the picture they are a few pixels each, and all of
// one plastic: what is looked for is the same step, up or down, at three of the four places at least,
// and nothing like it anywhere else along the sides.

// Places and size of the guides, mm (rules/dimensions 1.1).
const (
	guideAside = (20.2 + 3.3) / 2 // from the middle of the side to a guide's
	guideTop   = 3.2 * geom.Millimeter
)

// guideStrip is the light along a strip just outside a side, as it departs from the empty mat.
type guideStrip struct {
	from, step float64 // mm along the side, from its middle
	d          []float64
	mat        []float64 // grey level of the empty mat there
}

const guideStep = 0.3 // mm

// strip takes the mean difference from the empty mat along one side of a base, between two distances from it, in mm.
// It keeps the buffer of the strip that it is given.
func (f *Finder) strip(g *image.Gray, base engine.Base, pose geom.Pose, side int, near, far float64, out guideStrip) (guideStrip, bool) {
	width, _ := base.Size()
	h := float64(width) / 2
	turn := geom.Pose{Heading: pose.Heading + geom.Angle(side)*90*geom.Degree}
	away, along := turn.Forward(), turn.Right()
	middle := pose.Point.Add(away.Mul(h))
	// As the outline's fit has it: the upper edge where the wall looks away from the camera, the foot where it
	// looks towards it.
	z := float64(guideTop)
	if away.X*(middle.X-f.fit.eye[0])+away.Y*(middle.Y-f.fit.eye[1]) < 0 {
		z = 0
	}
	foot := f.fit.eye[2] / (f.fit.eye[2] - z)
	out.from, out.step, out.d, out.mat = -h, guideStep, out.d[:0], out.mat[:0]
	for a := -h; a <= h; a += guideStep {
		var sum, mat, n float64
		for d := near; d <= far; d += 0.25 {
			p := middle.Add(along.Mul(a)).Add(away.Mul(d))
			px, ok := f.fit.cam.PixelOf(p, geom.Length(z))
			v, ok2 := gray.Bilinear(g, px.X, px.Y)
			e, ok3 := f.diff.mat.At(geom.Point{X: f.fit.eye[0] + (p.X-f.fit.eye[0])*foot, Y: f.fit.eye[1] + (p.Y-f.fit.eye[1])*foot})
			if !ok || !ok2 || !ok3 {
				return out, false
			}
			e *= f.diff.gain.At(p)
			sum, mat, n = sum+v-e, mat+e, n+1
		}
		out.d, out.mat = append(out.d, sum/n), append(out.mat, mat/n)
	}
	return out, true
}

// mean is that of the strip from one place to another.
func (s *guideStrip) mean(from, to float64) float64 {
	i, j := int(math.Ceil((from-s.from)/s.step)), int(math.Floor((to-s.from)/s.step))
	i, j = max(i, 0), min(j, len(s.d)-1)
	var sum float64
	for _, v := range s.d[i : j+1] {
		sum += v
	}
	return sum / float64(j-i+1)
}

// tongue is by how much a guide at a place would step out from what lies on both sides of it.
func (s *guideStrip) tongue(at float64) float64 {
	return s.mean(at-1.3, at+1.3) - (s.mean(at-5.5, at-2.7)+s.mean(at+2.7, at+5.5))/2
}

// guidesSeen reports whether a base shows its guides: the same step at three of the four places at least, of the
// front and the rear but not of the two other sides.
func (f *Finder) guidesSeen(g *image.Gray, base engine.Base, pose geom.Pose) bool {
	var seen [2]float64
	for axis := range seen {
		var steps [4]float64
		for k := range 2 {
			s, ok := f.strip(g, base, pose, axis+2*k, 0.4, float64(engine.GuideReach(base))-0.2, f.guide)
			if f.guide = s; !ok {
				return false
			}
			steps[2*k], steps[2*k+1] = s.tongue(-guideAside), s.tongue(guideAside)
		}
		seen[axis] = math.Abs(third(steps))
	}
	return max(seen[0], seen[1]) >= max(guideLeast, guideNoise*f.diff.noise) && max(seen[0], seen[1]) >= guideApart*min(seen[0], seen[1])
}

// What three guides must step out by at least, in grey levels, in noises of a square millimetre of the mat, and
// over what the two sides without guides show. Tiles without guides in 100 simulated pictures stay below on
// one count or another, as does whatever lies in ten rendered ones (docs/accuracy.md, 2026-11-21).
const (
	guideLeast = 4.5
	guideNoise = 2.5
	guideApart = 2
)

// How far beyond a side the mat is looked for, and what may differ from it there: noise, and of its light what a
// shadow takes. A square that is part of something larger, a medium one in the corner of a large base, has
// the mat on two sides only.
const (
	bareNear, bareFar = 2.3, 3.8 // mm
	bareNoise         = 4
	bareShadow        = 0.5
	bareLength        = 0.5 // of a side
	bareSides         = 3
)

// onTheMat reports whether the mat lies round a base on three sides at least.
func (f *Finder) onTheMat(g *image.Gray, base engine.Base, pose geom.Pose) bool {
	sides := 0
	for side := range 4 {
		s, ok := f.strip(g, base, pose, side, bareNear, bareFar, f.guide)
		if f.guide = s; !ok {
			continue
		}
		bare := 0
		for i, d := range s.d {
			if d <= bareNoise*f.diff.noise && -d <= bareNoise*f.diff.noise+bareShadow*s.mat[i] {
				bare++
			}
		}
		if float64(bare) >= bareLength*float64(len(s.d)) {
			sides++
		}
	}
	return sides >= bareSides
}

// third is the third largest of four steps of one sign.
func third(v [4]float64) float64 {
	slices.Sort(v[:])
	return max(v[1], -v[2])
}
