// Package trace traces a user's own obstacle tokens on a sheet of white paper, against which the dark border of a print stands out.
// It finds the paper, takes what the paper encloses for tokens, and moves each outline to where the light, along profiles across the
// border, is halfway between the paper's and the border's.
package trace

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
)

// Token is something on white paper: a token that was traced, or something like one that could not be.
type Token struct {
	Outline   []geom.Point // on the table, mm, counter-clockwise; with a Problem only roughly
	OutlinePx []geom.Pixel // of its upper edge, in the picture
	Area      float64      // mm²
	Long      geom.Length  // of the smallest rectangle about it, the longer side
	Short     geom.Length  // and the shorter one
	Seen      float64      // share of the border along which an edge was found
	Scatter   float64      // rms of single places of the edge about their neighbours, mm
	Problem   string       // why it cannot be taken, in a sentence; "": it was traced
	Doubt     string       // what should be looked at before it is taken; "": nothing
}

// Why something on paper was not traced.
const (
	traceSmall  = "It is smaller than any token: a crumb, a shadow, or print on the paper."
	traceLarge  = "It is larger than any token: do several of them touch, or is it the bare mat between two sheets?"
	traceBorder = "It lies at the mat's edge: paper must show all round it, and all of it must lie on the mat."
	traceOver   = "Something reaches over the paper's edge here: paper must show all round a token."
	traceEdges  = "Its edge cannot be made out all round: glare on it, a shadow, or a border as bright as the paper."
	traceCrossy = "Its edge crosses itself as it was traced: glare or a shadow spoils it."
	traceTwo    = "It has a narrow waist: are these two tokens that touch? Lay them apart unless it is one."
)

const (
	crumbArea  = 20.0   // mm² from which anything is worth a word
	paperArea  = 3200.0 // mm² from which something bright is a sheet of paper
	paperFull  = 0.7    // share of its hull that a sheet fills, whatever lies over its edge
	biteDepth  = 2.5    // mm: paper curls and its edge is not straight, but by less
	biteArea   = 60.0   // mm²
	waistWide  = 10.0   // mm: two tokens that touch hang together by less
	waistParts = 0.2    // share of the whole that each of the two has
	pageLevel  = 100.0  // grey level: what is darker is no white paper in any usable light
)

// Sheet traces the tokens on white paper or on a light mat, from left to right. top is the height of their upper face above the mat:
// the camera sees that face's edge where the wall faces away from it, and the foot where the wall faces it. The list includes what
// cannot be traced, with its Problem.
func Sheet(f vision.Frame, t calibration.Table, top geom.Length) ([]Token, error) {
	if w, h := f.Size(); w != t.Intrinsics.Width || h != t.Intrinsics.Height {
		return nil, fmt.Errorf("trace: %s is %d×%d, the calibration is for %d×%d", f.Name, w, h, t.Intrinsics.Width, t.Intrinsics.Height)
	}
	w, h := int(float64(t.Layout.Width)/traceStep), int(float64(t.Layout.Height)/traceStep)
	view := gray.MatView{Camera: &t.Camera, Width: w, Height: h, Step: traceStep}
	mask, paper := tokenMask(view.Levels(f.Gray), w, h)
	var out []Token
	for _, b := range blobsOf(mask, w, h, crumbArea) {
		out = append(out, traceBlob(f.Gray, &t, b, w, top))
	}
	out = append(out, bites(paper, mask, w, h)...)
	for i := range out {
		out[i].measure(&t, top)
	}
	slices.SortStableFunc(out, func(a, b Token) int { return cmp.Compare(middleX(a.Outline), middleX(b.Outline)) })
	return out, nil
}

// blobsOf returns the parts of a mask of at least so many mm², small gaps closed, the largest first.
func blobsOf(mask []bool, w, h int, least float64) []gray.Blob {
	return gray.Blobs(mask, w, h, int(least/(traceStep*traceStep)), maskGap)
}

// maskGap is half the width, in cells, of the gaps of a mask that are closed.
const maskGap = 2

func middleX(p []geom.Point) float64 {
	_, c := catalogue.Centroid(p)
	return c.X
}

// HasPaper reports whether a sheet of white paper lies on the mat in a picture: something
// large and bright that ends abruptly, as glare does not.
func HasPaper(f vision.Frame, t calibration.Table) bool {
	const step = 4.0
	view := gray.MatView{Camera: &t.Camera, Step: step}
	view.Width, view.Height = int(float64(t.Layout.Width)/step), int(float64(t.Layout.Height)/step)
	seen := view.Levels(f.Gray)
	bright := make([]bool, len(seen))
	levels := make([]float64, 0, len(seen))
	limit := paperLevel(seen)
	for k, v := range seen {
		bright[k] = v > limit && limit > pageLevel
		levels = append(levels, float64(v))
	}
	mat := gray.Quantile(slices.Clone(levels), 0.5)
	if float32(mat) > limit { // a light mat
		return false
	}
	large := gray.Open(bright, view.Width, view.Height, 3) // 28 mm: larger than what is printed on a mat
	for _, b := range gray.Blobs(large, view.Width, view.Height, int(paperArea/step/step), maskGap) {
		if abruptShare(b, bright, levels, view.Width, mat) >= abruptLeast {
			return true
		}
	}
	return false
}

// abruptLeast is the share of a sheet's border that is abrupt. On simulated tables sheets have
// 0.91 and more, glare of a sigma of 40 mm and more 0.00 (TestGlareIsNoSheetOfPaper).
const abruptLeast = 0.5

// abruptShare returns the share of a blob's border at which the light falls by half of what the
// blob is brighter than the mat, within 12 mm. The blob is grown to all that is bright about
// it. levels are of a grid of 4 mm, so many wide; the mat's own edge says nothing.
func abruptShare(b gray.Blob, bright []bool, levels []float64, width int, mat float64) float64 {
	in := make(map[int]bool, len(b.Cells))
	inside := make([]float64, 0, len(b.Cells))
	var cells []int
	for _, c := range b.Cells {
		in[int(c)] = true
		cells = append(cells, int(c))
		inside = append(inside, levels[c])
	}
	for n := 0; n < len(cells); n++ {
		x := cells[n] % width
		for _, k := range [4]int{cells[n] - 1, cells[n] + 1, cells[n] - width, cells[n] + width} {
			if k >= 0 && k < len(levels) && bright[k] && !in[k] && (k%width-x)*(k%width-x) <= 1 {
				in[k] = true
				cells = append(cells, k)
			}
		}
	}
	half := (gray.Quantile(inside, 0.5) - mat) / 2
	abrupt, all := 0, 0
	for _, c := range cells {
		x, y := c%width, c/width
		for _, d := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			at := func(n int) (int, bool) {
				i, j := x+n*d[0], y+n*d[1]
				return j*width + i, i >= 0 && i < width && j >= 0 && j < len(levels)/width
			}
			out, ok := at(1)
			far, there := at(2)
			near, back := at(-1)
			if !ok || in[out] || !there || !back {
				continue
			}
			all++
			if levels[near]-levels[far] >= half {
				abrupt++
			}
		}
	}
	if all == 0 { // from one edge of the mat to the other
		return 1
	}
	return float64(abrupt) / float64(all)
}

// traceBlob traces one thing that paper encloses.
func traceBlob(g *image.Gray, t *calibration.Table, b gray.Blob, w int, top geom.Length) Token {
	k := Token{Outline: border(b, w)}
	area := float64(len(b.Cells)) * traceStep * traceStep
	switch {
	case b.Edge:
		k.Problem = traceBorder
	case area < catalogue.LeastTokenArea || len(k.Outline) < 8:
		k.Problem = traceSmall
	case area > catalogue.MostTokenArea:
		k.Problem = traceLarge
	}
	if k.Problem != "" {
		return k
	}
	for range 3 {
		edge := traceEdge(g, t, k.Outline, top)
		if k.Seen, k.Scatter = edge.seen, edge.scatter; !edge.ok {
			k.Problem = traceEdges
			return k
		}
		k.Outline = edge.outline
	}
	if _, _, crosses := geom.Polygon(k.Outline).Crossing(); crosses {
		k.Problem = traceCrossy
	} else if waisted(b, w) {
		k.Doubt = traceTwo
	}
	return k
}

// measure works out what a traced outline is like.
func (k *Token) measure(t *calibration.Table, top geom.Length) {
	k.Area = geom.Polygon(k.Outline).Area()
	k.Long, k.Short = sidesOf(k.Outline)
	for _, p := range k.Outline {
		px, _ := t.PixelOf(p, top)
		k.OutlinePx = append(k.OutlinePx, px)
	}
}

// sidesOf returns the sides of the smallest rectangle about a polygon, the longer first.
// One of the rectangle's sides lies along one of the hull's.
func sidesOf(p []geom.Point) (long, short geom.Length) {
	hull := geom.Polygon(p).Hull(nil)
	best := math.Inf(1)
	for i, a := range hull {
		d := hull[(i+1)%len(hull)].Sub(a)
		l := d.Norm()
		if l == 0 {
			continue
		}
		u := d.Mul(1 / l)
		var lo, hi, high float64
		for _, q := range hull {
			r := q.Sub(a)
			along, across := r.X*u.X+r.Y*u.Y, math.Abs(r.X*u.Y-r.Y*u.X)
			lo, hi, high = min(lo, along), max(hi, along), max(high, across)
		}
		if area := (hi - lo) * high; area < best {
			best, long, short = area, geom.Length(max(hi-lo, high)), geom.Length(min(hi-lo, high))
		}
	}
	return long, short
}

// waisted reports whether a blob falls into two large parts when what is narrower than
// waistWide is taken away.
func waisted(b gray.Blob, w int) bool {
	const margin = 2
	bw, bh := b.Box.Dx()+2*margin, b.Box.Dy()+2*margin
	mask := make([]bool, bw*bh)
	for _, c := range b.Cells {
		x, y := int(c)%w-b.Box.Min.X+margin, int(c)/w-b.Box.Min.Y+margin
		mask[y*bw+x] = true
	}
	for r := 1; 2*r*traceStepTenths <= int(waistWide*10); r++ {
		parts := 0
		for _, p := range gray.Blobs(gray.BoxMask(mask, bw, bh, r, false), bw, bh, 1, 0) {
			// What was eroded comes back: a part of half the width has lost more of it.
			if grown := float64(len(p.Cells)) + float64(r)*2*float64(p.Box.Dx()+p.Box.Dy()); grown > waistParts*float64(len(b.Cells)) {
				parts++
			}
		}
		if parts > 1 {
			return true
		}
	}
	return false
}

const traceStepTenths = int(traceStep * 10)

// bites lists what reaches over a sheet of paper's edge: the sheet is convex, and lacks
// a piece there.
func bites(paper, tokens []bool, w, h int) (out []Token) {
	deep := int(biteDepth / traceStep)
	for _, sheet := range blobsOf(paper, w, h, paperArea) {
		// The sheet on its own, with a margin, so that what follows is not done for all the mat.
		box := image.Rect(sheet.Box.Min.X-2*deep, sheet.Box.Min.Y-2*deep, sheet.Box.Max.X+2*deep, sheet.Box.Max.Y+2*deep)
		bw, bh := box.Dx(), box.Dy()
		whole := make([]bool, bw*bh)
		for _, c := range sheet.Cells {
			whole[(int(c)/w-box.Min.Y)*bw+int(c)%w-box.Min.X] = true
		}
		hull := hullOf(whole, bw, bh)
		if float64(len(sheet.Cells)) < paperFull*hull.Area() {
			continue // two sheets that touch, or no sheet
		}
		whole = gray.FillHoles(whole, bw, bh)
		lacks := make([]bool, bw*bh)
		for y := range bh {
			from, to := span(hull, float64(y))
			for x := max(int(from)+1, 0); x < min(int(to), bw); x++ {
				on := image.Pt(x+box.Min.X, y+box.Min.Y)
				lacks[y*bw+x] = !whole[y*bw+x] && (!on.In(image.Rect(0, 0, w, h)) || !tokens[on.Y*w+on.X])
			}
		}
		for _, b := range blobsOf(gray.Open(lacks, bw, bh, deep), bw, bh, biteArea) {
			outline := border(b, bw)
			for i := range outline {
				outline[i] = outline[i].Add(geom.Point{X: float64(box.Min.X) * traceStep, Y: float64(box.Min.Y) * traceStep})
			}
			out = append(out, Token{Outline: outline, Problem: traceOver})
		}
	}
	return out
}

// hullOf returns the convex hull of a mask's cells: of the first and the last of each row.
func hullOf(mask []bool, w, h int) (hull geom.Polygon) {
	for y := range h {
		row := mask[y*w : (y+1)*w]
		first := slices.Index(row, true)
		if first < 0 {
			continue
		}
		last := w - 1
		for !row[last] {
			last--
		}
		hull = append(hull, geom.Point{X: float64(first), Y: float64(y)}, geom.Point{X: float64(last), Y: float64(y)})
	}
	return hull.Hull(nil)
}

// span returns where a row lies in a convex polygon; from > to where it does not.
func span(hull geom.Polygon, y float64) (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for i, a := range hull {
		b := hull[(i+1)%len(hull)]
		if (a.Y > y) == (b.Y > y) {
			continue
		}
		x := a.X + (y-a.Y)/(b.Y-a.Y)*(b.X-a.X)
		from, to = min(from, x), max(to, x)
	}
	if from > to { // so that it can be counted from
		return 0, 0
	}
	return from, to
}
