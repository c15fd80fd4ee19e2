package ship

import (
	"image"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// candidate is a possible ship: a token at an approximate pose.
type candidate struct {
	token token.Token
	pose  geom.Pose
	score float64
}

// minReadScore is the correlation at which a reading becomes a candidate. A rim
// under blur 1.2 px, noise 6 and contrast 80 still reads 0.85.
const minReadScore = 0.80

// sidePrint is a way of dividing sides into cells.
type sidePrint struct {
	base engine.Base
	side token.Side // Front stands for the rear too, RightSide for the left
}

// squarePrints are those of bases whose four sides are alike, frontPrints those of the fronts
// and rears of huge bases, longPrints those along them.
// The longest come first: what is read along a line for them serves the shorter too.
var (
	squarePrints = [...]sidePrint{{engine.Large, token.Front}, {engine.Medium, token.Front}, {engine.Small, token.Front}}
	frontPrints  = [...]sidePrint{{engine.Huge195, token.Front}, {engine.Huge225, token.Front}}
	longPrints   = [...]sidePrint{{engine.Huge195, token.RightSide}, {engine.Huge225, token.RightSide}}
)

// edgeSlack is by how much an edge may appear longer or shorter than its side, in mm.
const edgeSlack = 2.5

// longestRow is the longest edge that is read, in mm: the fronts of eight small bases that touch,
// or the long side of a huge one.
const longestRow = 8*40 + edgeSlack

// candidates reads the rim along one edge in every way that the edge allows: any base size, and any
// place of the side that the visible piece fits.
func (f *finder) candidates(g *image.Gray, s segment, out []candidate) []candidate {
	p0, ok0 := f.cam.PointAt(s.A, f.z)
	p1, ok1 := f.cam.PointAt(s.B, f.z)
	if !ok0 || !ok1 {
		return out
	}
	length := p1.Sub(p0).Norm()
	if length < 6 || length > longestRow {
		return out
	}
	dir := p1.Sub(p0).Mul(1 / length)
	in := geom.Point{X: dir.Y, Y: -dir.X}
	deep, clipped := f.bloom(g, p0, dir, length)
	for range clippedDepths {
		edge := p0.Add(in.Mul(deep))
		f.line = sideLine{}
		for _, print := range squarePrints {
			out = f.alongPiece(g, print, edge, dir, length, out)
		}
		out = f.alongHuge(g, edge, dir, length, out)
		if !clipped {
			break
		}
		deep += clippedStep
	}
	return out
}

const (
	// bloomReach is how far in mm across an edge bloom searches.
	bloomReach = 2.5
	// The light of clipped paper is unknown, so half of its light may lie up to 1.2 mm further inwards
	// than bloom finds: the rim is then read at clippedDepths depths, clippedStep mm apart.
	clippedDepths = 3
	clippedStep   = 0.5
	// clippedInside is the light inside an edge from which it is clipped.
	clippedInside = 0.95 * brightest
)

// bloom returns how far inwards of an edge, in mm, the light is half of that inside, and whether
// that is clipped. A camera's curve and its clipping move the steepest slope of grey levels
// outwards, by as much as the width of the blur.
func (f *finder) bloom(g *image.Gray, p0, dir geom.Point, length float64) (deep float64, clipped bool) {
	line := newSideLine(f.cam, p0, dir, 0, length, f.z)
	if !line.valid {
		return 0, false
	}
	const steps, places = 20, 6
	var light [steps + 1]float64
	for k := range light {
		d := bloomReach * (2*float64(k)/steps - 1)
		for _, t := range [...]float64{0.1, 0.26, 0.42, 0.58, 0.74, 0.9} {
			x, y := line.pixel(t*length, d)
			v, ok := lightAt(g, x, y)
			if !ok {
				return 0, false
			}
			light[k] += v / places
		}
	}
	const edge = steps / 2
	outside, inside := light[0], 0.0
	for k := edge; k <= edge+5; k++ {
		inside = max(inside, light[k])
	}
	half, clipped := (inside+outside)/2, inside > clippedInside
	for k := edge - 3; k < edge+5; k++ {
		if light[k] <= half && light[k+1] > half {
			return bloomReach * (2*(float64(k)+(half-light[k])/(light[k+1]-light[k]))/steps - 1), clipped
		}
	}
	return 0, clipped
}

// middles returns the range along an edge in which the middle of a side lies, and whether the edge
// is longer than the side.
func middles(length, side float64) (lo, hi float64, row bool) {
	if length > side+edgeSlack {
		return side/2 - edgeSlack, length - side/2 + edgeSlack, true
	}
	return length - side/2 - edgeSlack, side/2 + edgeSlack, false
}

// alongPiece reads a side of which the edge is a piece or the whole; for an edge as long as a huge
// base is wide, also its front. Bases that touch with their sides in line have one edge: in an edge
// longer than the side, each stretch as long as the side is read separately.
func (f *finder) alongPiece(g *image.Gray, print sidePrint, p0, dir geom.Point, length float64, out []candidate) []candidate {
	side := float64(token.SideLength(print.base, print.side))
	if length < 0.3*side {
		return out
	}
	lo, hi, row := middles(length, side)
	if !f.line.valid {
		f.line = newSideLine(f.cam, p0, dir, lo-side/2-1, hi+side/2+1, f.z)
		if !f.line.valid || !f.profile.read(g, &f.line) {
			// Near the picture's border the full range may not be visible; then only the piece itself can be
			// the side.
			f.line = sideLine{}
			return out
		}
	}
	line := &f.line
	var best bestReadings
	try := func(c float64) float64 {
		r, ok := f.profile.readAt(print.base, print.side, c)
		if !ok {
			return 0
		}
		// Weak words are read only along an edge that is the whole side.
		if r.score >= minReadScore && print.carries(r.word) && (!token.WeakWord(token.AllWords[r.word]) || length > side-edgeSlack && !row) {
			best.add(r)
		}
		return r.score
	}
	next := lo + side
	for c := lo; c <= hi; c += readStep {
		if row && c > next {
			out = best.candidates(print.base, line, out)
			best, next = bestReadings{}, next+side
		}
		if try(c) >= nearlyRead {
			try(c - readStep/3)
			try(c + readStep/3)
		}
	}
	out = best.candidates(print.base, line, out)
	if print.base != engine.Large || row || length < leastFront*side {
		return out
	}
	// A front must have an end in the piece; others are found by their long sides.
	for _, front := range frontPrints {
		var best bestReadings
		for c := lo; c <= hi; c += hugeStep {
			if c > lo+2*edgeSlack && c < hi-2*edgeSlack {
				continue
			}
			if r, ok := f.profile.readAt(front.base, front.side, c); ok && r.score >= minReadScore && front.carries(r.word) {
				best.add(r)
			}
		}
		out = best.candidates(front.base, line, out)
	}
	return out
}

const (
	// readStep is the step in mm between the places of a side along an edge that are tried; it is a
	// third of that next to places that read by nearlyRead.
	readStep   = 1.0
	nearlyRead = 0.7
	// hugeStep is the step in mm for the sides of huge bases; the fit corrects the rest.
	hugeStep = 0.8
	// leastFront is the share of a huge base's front that is read.
	leastFront = 0.5
	// leastLong is the shortest piece of a huge base's long side that is read, in mm: a word
	// and a corner.
	leastLong = 12*2.9 + float64(token.Corner)
	// surelyLong is the length from which an edge cannot be a large base's side: it may then be any
	// piece of a long one, also one without an end.
	surelyLong = 80 + edgeSlack
)

// alongHuge reads the edge as a piece of a huge base's long side, only the cells next to the piece,
// because the miniature hides others. A word repeats every twelve cells, so a piece without an end
// may belong to several places: a short one must have an end.
func (f *finder) alongHuge(g *image.Gray, p0, dir geom.Point, length float64, out []candidate) []candidate {
	if length < leastLong {
		return out
	}
	line := newSideLine(f.cam, p0, dir, -edgeSlack-1, length+edgeSlack+1, f.z)
	if !line.valid || !f.profile.read(g, &line) {
		return out
	}
	for _, print := range longPrints {
		side := float64(token.SideLength(print.base, print.side))
		if length > side+edgeSlack {
			continue
		}
		best := bestReadings{apart: 20} // less than twelve cells
		read := func(from, to float64) {
			for c := from; c <= to; c += hugeStep {
				r, ok := f.profile.readBetween(print.base, print.side, c, -0.5, length+0.5)
				if ok && r.score >= minReadScore && print.carries(r.word) && !token.WeakWord(token.AllWords[r.word]) {
					best.add(r)
				}
			}
		}
		first, last := length-side/2, side/2 // where its middle is if the piece has its end, or its start
		if length > surelyLong || last-first < 2*edgeSlack {
			read(first-edgeSlack, last+edgeSlack)
		} else {
			read(first-edgeSlack, first+edgeSlack)
			read(last-edgeSlack, last+edgeSlack)
		}
		out = best.candidates(print.base, &line, out)
	}
	return out
}

// carries reports whether a side with this print may have the word of a number, 4·ship + side.
func (p sidePrint) carries(word int) bool {
	return token.Square(p.base) || token.Side(word)&1 == p.side
}

// bestReadings are the best few readings of different words or, if apart is set, of one word in
// places at least that far apart, in mm.
type bestReadings struct {
	r     [4]reading
	n     int
	apart float64
}

// add keeps a reading if it is among the best.
func (b *bestReadings) add(r reading) {
	worst := 0
	for i := range b.n {
		if b.r[i].word == r.word && (b.apart == 0 || math.Abs(b.r[i].center-r.center) < b.apart) {
			if r.score > b.r[i].score {
				b.r[i] = r
			}
			return
		}
		if b.r[i].score < b.r[worst].score {
			worst = i
		}
	}
	switch {
	case b.n < len(b.r):
		b.r[b.n] = r
		b.n++
	case r.score > b.r[worst].score:
		b.r[worst] = r
	}
}

// candidates turns readings along a line into ships at rough poses.
func (b *bestReadings) candidates(base engine.Base, line *sideLine, out []candidate) []candidate {
	in := geom.Point{X: line.dir.Y, Y: -line.dir.X}
	for _, r := range b.r[:b.n] {
		side := token.Side(r.word % 4)
		token := token.Token{Code: token.ShipCode(r.word / 4), Base: base}
		_, deep := token.HalfAlong(side)
		center := line.start.Add(line.dir.Mul(r.center)).Add(in.Mul(deep))
		// The side's outward direction is -in; the side is front, right, … so the
		// heading is that direction turned back by the side's quarter turns.
		out1 := geom.Angle(math.Atan2(-in.X, -in.Y))
		heading := (out1 - geom.Angle(side)*90*geom.Degree).Normalized()
		out = append(out, candidate{token: token, pose: geom.Pose{Point: center, Heading: heading}, score: r.score})
	}
	return out
}
