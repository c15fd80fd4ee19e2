package look

import (
	"fmt"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// Copies of a ship are distinguished by ID tokens, a pair of which stands in slots of the base's tower: a number to the left of the ship
// and one to the right. From above they are lines, but an oblique camera sees one of them, also while the ship is shown. The number's
// picture is then part of the look. Numbers are compared with what was shown, in whatever print, and never read.

// The places of the numbers come from renders; no real token was measured. They are searched for within faceSlack.
const (
	faceOut   = 5.6  // mm from the base's middle, to the left and to the right
	faceWide  = 6.0  // mm along the base
	faceLow   = 6.5  // mm over the mat
	faceTall  = 8.0  // mm
	faceSlack = 1.25 // mm
	faceCell  = 0.25 // mm

	// A face that is seen nearly edge-on is not used. At this scale a number is about four pixels wide.
	faceScale = 1.0 // px/mm along the base

	faceContrast = 15.0 // grey levels: least contrast of a number
	facePair     = 0.85 // least correlation of the two copies of a ship's number; numbers of two ships reach 0.75

	faceLeast  = 0.80 // least correlation of the right number with what is seen; numbers that were not shown reach 0.75
	faceMargin = 0.15 // least lead over every other number
)

// face is a number as a camera shows it: the rows of its cells from the top on, as an observer beside the ship sees them.
type face struct {
	w, h  int
	cells []float32
	scale float64 // px/mm along the base; 0: it was not seen
}

const (
	faceColumns = int(faceWide / faceCell)
	faceRows    = int(faceTall / faceCell)
	faceMore    = int(faceSlack / faceCell)
)

// shootFace samples the face to the left (side -1) or the right (1) of a base, and more cells around. It reports false where the camera
// does not see it.
func shootFace(t *calibration.Table, f vision.Frame, pose geom.Pose, side float64, more int) (out face, ok bool) {
	c := t.Center()
	to := geom.Point{X: c[0], Y: c[1]}.Sub(pose.Transform(geom.Point{X: side * faceOut}))
	if to.Dot(pose.Right())*side <= 0 {
		return out, false
	}
	out = face{w: faceColumns + 2*more, h: faceRows + 2*more}
	pixel := func(u, z float64) (geom.Pixel, bool) { // u: to the right as the observer sees it
		at := pose.Transform(geom.Point{X: side * faceOut, Y: side * u})
		return t.PixelOf(at, geom.Length(z)+t.Surface.Height(pose.Point))
	}
	const middle = faceLow + faceTall/2
	lo, hi := image.Pt(math.MaxInt32, math.MaxInt32), image.Pt(math.MinInt32, math.MinInt32)
	reach := faceSlack + 1.0
	for _, k := range [4][2]float64{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
		p, ok := pixel(k[0]*(faceWide/2+reach), middle+k[1]*(faceTall/2+reach))
		if !ok {
			return out, false
		}
		lo, hi = image.Pt(min(lo.X, int(p.X)-3), min(lo.Y, int(p.Y)-3)), image.Pt(max(hi.X, int(p.X)+4), max(hi.Y, int(p.Y)+4))
	}
	p, q := pixelOf(pixel, -1, middle), pixelOf(pixel, 1, middle)
	up, down := pixelOf(pixel, 0, middle+1), pixelOf(pixel, 0, middle-1)
	cross := (q.X-p.X)*(down.Y-up.Y) - (q.Y-p.Y)*(down.X-up.X)
	out.scale = math.Abs(cross) / 2 / math.Hypot(down.X-up.X, down.Y-up.Y)
	part := crop(f, image.Rectangle{Min: lo, Max: hi})
	if part.w < 8 || part.h < 8 {
		return out, false
	}
	out.cells = make([]float32, out.w*out.h)
	var s sample
	for k := range out.cells {
		u := (float64(k%out.w) - float64(out.w-1)/2) * faceCell
		z := middle - (float64(k/out.w)-float64(out.h-1)/2)*faceCell
		px, ok := pixel(u, z)
		if !ok || !part.at(px.X, px.Y, &s) {
			return out, false
		}
		out.cells[k] = (s.v[0] + s.v[1] + s.v[2]) / channels
	}
	return out, true
}

func pixelOf(pixel func(u, z float64) (geom.Pixel, bool), u, z float64) geom.Pixel {
	p, _ := pixel(u, z)
	return p
}

// numberIn returns the number that the views of a base show: the same print, light and dark, on both sides of the tower. Its scale is 0 if
// they show none.
func numberIn(views []View, poses []geom.Pose) face {
	var best, wide [2]face // left and right, alone and with their surroundings
	for i := range views {
		for side := range best {
			f, ok := shootFace(&views[i].Table, views[i].Frame, poses[i], float64(2*side-1), 0)
			if !ok || f.scale < max(faceScale, best[side].scale) {
				continue
			}
			if w, ok := shootFace(&views[i].Table, views[i].Frame, poses[i], float64(2*side-1), faceMore); ok {
				best[side], wide[side] = f, w
			}
		}
	}
	l, r := &best[0], &best[1]
	if l.scale == 0 || r.scale == 0 || min(l.contrast(), r.contrast()) < faceContrast || l.like(&wide[1]) < facePair {
		return face{}
	}
	if l.scale > r.scale {
		return *l
	}
	return *r
}

// contrast returns the standard deviation of a face's grey levels.
func (f *face) contrast() float64 {
	var sum, squares float64
	for _, v := range f.cells {
		sum, squares = sum+float64(v), squares+float64(v)*float64(v)
	}
	n := max(float64(len(f.cells)), 1)
	return math.Sqrt(max(squares/n-sum/n*sum/n, 0))
}

// like returns the largest correlation of a number with what is seen, over all places within faceSlack.
func (f *face) like(seen *face) float64 {
	best := -1.0
	for dy := 0; dy <= seen.h-f.h; dy++ {
		for dx := 0; dx <= seen.w-f.w; dx++ {
			best = max(best, f.correlation(seen, dx, dy))
		}
	}
	return best
}

// correlation returns the correlation of a number with what is seen, shifted by some cells.
func (f *face) correlation(seen *face, dx, dy int) float64 {
	var a, b, aa, bb, ab float64
	for j := range f.h {
		x, y := f.cells[j*f.w:][:f.w], seen.cells[(j+dy)*seen.w+dx:][:f.w]
		for i := range x {
			p, q := float64(x[i]), float64(y[i])
			a, b, aa, bb, ab = a+p, b+q, aa+p*p, bb+q*q, ab+p*q
		}
	}
	n := float64(f.w * f.h)
	return (ab - a*b/n) / math.Sqrt(max((aa-a*a/n)*(bb-b*b/n), 1e-9))
}

// HasNumber reports whether the number on the ship's ID tokens was seen when it was shown.
func (l *Look) HasNumber() bool { return l.number.scale > 0 }

// byNumbers distinguishes bases whose cards look alike by their ID tokens. If it would name two bases alike, it names neither.
func (f *Finder) byNumbers(frame vision.Frame, sights []Sight) {
	seen := map[*Look]int{}
	for i := range sights {
		s := &sights[i]
		if s.Number = nil; len(s.Alike) > 0 {
			s.Number = f.Number(frame, s.Pose, append([]*Look{s.Look}, s.Alike...))
			seen[s.Number]++
		}
	}
	for i := range sights {
		if seen[sights[i].Number] > 1 {
			sights[i].Number = nil
		}
	}
}

// Number returns which of several looks a base has, by its number alone; nil: undecided.
func (f *Finder) Number(frame vision.Frame, pose geom.Pose, looks []*Look) *Look {
	if slices.ContainsFunc(looks, func(l *Look) bool { return len(l.Ships) != 1 || !l.HasNumber() }) {
		return nil // it may be a ship whose number was not shown
	}
	for _, side := range [2]float64{-1, 1} {
		seen, ok := shootFace(&f.table, frame, pose, side, faceMore)
		if !ok || seen.scale < faceScale {
			continue // it faces away from the camera
		}
		best, first, second := looks[0], -1.0, -1.0
		for _, l := range looks {
			switch like := l.number.like(&seen); {
			case like > first:
				best, first, second = l, like, first
			case like > second:
				second = like
			}
		}
		if first >= faceLeast && first-second >= faceMargin {
			return best
		}
	}
	return nil
}

// levels returns the cells of a face for a file.
func (f *face) levels() (out []byte) {
	for _, v := range f.cells {
		out = append(out, level(v))
	}
	return out
}

// faceOf reads a face from a file. Without cells it is the face of a number that was not shown.
func faceOf(levels []byte, scale float64) (out face, err error) {
	switch {
	case len(levels) == 0 && scale == 0:
		return out, nil
	case len(levels) != faceColumns*faceRows:
		return out, fmt.Errorf("number: expected %d grey levels, got %d", faceColumns*faceRows, len(levels))
	case !(scale >= faceScale && scale <= 100):
		return out, fmt.Errorf("number_px_per_mm: expected %v to 100, got %v", faceScale, scale)
	}
	out = face{w: faceColumns, h: faceRows, scale: scale}
	for _, v := range levels {
		out.cells = append(out.cells, float32(v))
	}
	return out, nil
}
