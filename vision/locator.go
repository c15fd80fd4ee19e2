package vision

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
)

// ShipLocator finds ships in frames of one calibrated camera: straight edges, the
// rims that can be read along them, and a fit of the printed rim for each. It
// keeps its buffers from frame to frame and belongs to one goroutine.
type ShipLocator struct {
	table  calibration.Table
	errors *calibration.ErrorModel

	reduce int // the picture is made smaller by this factor to search it
	small  image.Gray
	finder finder
	fit    rimFit
}

// finder searches a picture of moderate scale (1 to 1.7 px/mm) for candidates.
type finder struct {
	cam      *calibration.Camera
	z        geom.Length
	roi      image.Rectangle
	segments segmentFinder
	profile  profile
	line     sideLine // that profile was read along, if it is valid
}

// searchScale is the scale, in px/mm, above which a picture is reduced for the
// search. The cells of 2.67 mm need 2.5 px each, and more only costs time.
const searchScale = 1.75

// NewShipLocator returns a locator for the calibrated table. u is zero for calibration.DefaultUncertainty.
func NewShipLocator(t calibration.Table, u calibration.Uncertainty) (*ShipLocator, error) {
	if err := t.Intrinsics.Validate(); err != nil {
		return nil, fmt.Errorf("vision: locator: lens: %w", err)
	}
	middle := geom.Point{X: float64(t.Layout.Width) / 2, Y: float64(t.Layout.Height) / 2}
	_, dx, dy, ok := t.PixelJacobian(middle, BaseTop)
	if !ok {
		return nil, fmt.Errorf("vision: locator: the middle of the %v × %v mat lies behind the camera", t.Layout.Width, t.Layout.Height)
	}
	l := &ShipLocator{table: t, errors: calibration.NewErrorModel(t, u), reduce: 1}
	scale := math.Sqrt(math.Abs(dx.X*dy.Y - dx.Y*dy.X))
	for scale/float64(l.reduce) > searchScale {
		l.reduce++
	}
	cam := t.Camera
	cam.Intrinsics = reduced(cam.Intrinsics, l.reduce)
	l.finder = finder{cam: &cam, z: BaseTop, roi: matRegion(&cam, t.Layout)}
	if l.finder.roi.Empty() {
		return nil, fmt.Errorf("vision: locator: the mat lies outside the %d×%d picture", t.Intrinsics.Width, t.Intrinsics.Height)
	}
	return l, nil
}

// Table returns the calibration that the locator works with.
func (l *ShipLocator) Table() calibration.Table { return l.table }

// reduced returns the lens of a picture whose pixels are means of k×k pixels.
func reduced(in calibration.Intrinsics, k int) calibration.Intrinsics {
	f := float64(k)
	in.Width, in.Height = in.Width/k, in.Height/k
	in.Fx, in.Fy = in.Fx/f, in.Fy/f
	in.Cx, in.Cy = (in.Cx+0.5)/f-0.5, (in.Cy+0.5)/f-0.5
	return in
}

// matRegion returns the pixels that the mat covers, with a base's height to spare.
func matRegion(cam *calibration.Camera, layout calibration.Layout) image.Rectangle {
	var box image.Rectangle
	w, h := float64(layout.Width), float64(layout.Height)
	const steps = 8
	for i := range steps + 1 {
		t := float64(i) / steps
		for _, p := range [...]geom.Point{{X: t * w}, {X: t * w, Y: h}, {Y: t * h}, {X: w, Y: t * h}} {
			px, ok := cam.PixelOf(p, BaseTop)
			if !ok {
				continue
			}
			x, y := int(math.Round(px.X)), int(math.Round(px.Y))
			box = box.Union(image.Rect(x-6, y-6, x+7, y+7))
		}
	}
	return box.Intersect(image.Rect(0, 0, cam.Width, cam.Height))
}

// Locate finds the ships in a frame. The scene's poses carry their covariance,
// systematic part included. It fails when the frame is not of the size that the
// lens was calibrated for.
func (l *ShipLocator) Locate(f Frame) (Located, error) {
	began := time.Now()
	w, h := f.Size()
	if w != l.table.Intrinsics.Width || h != l.table.Intrinsics.Height {
		return Located{}, fmt.Errorf("vision: locate %s: the picture is %d×%d, the calibration is for %d×%d",
			f.Name, w, h, l.table.Intrinsics.Width, l.table.Intrinsics.Height)
	}
	found, twins := l.ships(f.Gray)
	out := Located{Captured: f.Captured, Seq: f.Seq, Twins: twins}
	out.Scene = engine.Scene{
		Rules: engine.Rules25, MatWidth: l.table.Layout.Width, MatHeight: l.table.Layout.Height,
		ScaleSigma:      l.table.ScaleSigma,
		ObstaclesUnseen: true, // until somebody has looked for them
	}
	for _, s := range found {
		out.Scene.Ships = append(out.Scene.Ships, l.ship(s))
		out.Ships = append(out.Ships, l.view(s))
	}
	out.Elapsed = time.Since(began)
	return out, nil
}

// found is an accepted ship: the fit's results, copied out of its buffers.
type found struct {
	token  Token
	pose   geom.Pose
	cov    geom.Cov3
	random geom.Cov3 // the fit's part of cov
	shared geom.Cov3 // the part of cov that other cameras may share
	sides  []Side
	agree  float64
	rms    float64
	edges  bool // the base's outline stands out from the ground on two sides or more
	agreed int  // cells that show what is printed
}

// ships runs the search and the fits, best candidates first.
func (l *ShipLocator) ships(g *image.Gray) (out []found, twins []Twin) {
	search := g
	if l.reduce > 1 {
		search = shrink(g, l.reduce, &l.small)
	}
	var all []candidate
	minLength := 11 * l.searchPixelsPerMM()
	for _, s := range l.finder.segments.find(search, l.finder.roi, minLength) {
		all = l.finder.candidates(search, s, all)
	}
	for i := range all {
		all[i].score = l.finder.support(search, all[i])
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.token.Code, b.token.Code))
	})
	tried := all[:0:0]
	const maxFits = 150
	for _, c := range all {
		if len(tried) >= maxFits || c.score < minSupport {
			break
		}
		if covered(out, c) || repeats(tried, c) {
			continue
		}
		tried = append(tried, c)
		if s, ok := l.try(g, c); ok && !clashes(out, s) {
			out = append(out, s)
		}
	}
	out, twins = dropTwins(out)
	slices.SortFunc(out, func(a, b found) int { return cmp.Compare(a.token.Code, b.token.Code) })
	return out, twins
}

// top returns how high a base's top lies over the plane of the mat's markers: where
// the mat's height was measured it stands on that.
func (l *ShipLocator) top(p geom.Point) geom.Length { return BaseTop + l.table.Surface.Height(p) }

func (l *ShipLocator) searchPixelsPerMM() float64 {
	c := l.table.Extrinsics.Center()
	return l.table.Fx / float64(l.reduce) / math.Max(c[2], 1)
}

// shrink averages k×k pixels into one.
func shrink(g *image.Gray, k int, out *image.Gray) *image.Gray {
	w, h := g.Rect.Dx()/k, g.Rect.Dy()/k
	if out.Rect.Dx() != w || out.Rect.Dy() != h {
		*out = *image.NewGray(image.Rect(0, 0, w, h))
	}
	half := k * k / 2
	for y := range h {
		row := out.Pix[y*out.Stride:][:w]
		for x := range row {
			sum := half
			for j := range k {
				for _, v := range g.Pix[(y*k+j)*g.Stride+x*k:][:k] {
					sum += int(v)
				}
			}
			row[x] = uint8(sum / (k * k))
		}
	}
	return out
}

// minSupport is the least support of a candidate that is worth a fit: one side
// read well.
const minSupport = 0.55

// support sums over the four sides how well the picture agrees with the print,
// each as a correlation less what chance gives.
func (f *finder) support(g *image.Gray, c candidate) float64 {
	var total float64
	for s := Front; s <= LeftSide; s++ {
		line := sideOf(f.cam, c.token, c.pose, s, f.z)
		if !line.valid {
			continue
		}
		h, _ := c.token.halfAlong(s)
		n, w := Cells(c.token.Base, s), float64(CellWidth(c.token.Base, s))
		var fit correlation
		add := func(a, expect float64) {
			x, y := line.pixel(a, 2.3)
			kx, ky := line.pixel(a, 0.6)
			v, ok := lightAt(g, x, y)
			key, ok2 := lightAt(g, kx, ky)
			if !ok || !ok2 {
				return
			}
			fit.add(relativeLight(v, key), expect)
		}
		for i := range n {
			expect := 0.0
			if c.token.Cell(s, i) {
				expect = 1
			}
			add(-h+float64(Corner)+(float64(i)+0.5)*w, expect)
		}
		add(-h+2.6, 0)
		add(h-2.6, 0)
		if r, ok := fit.coefficient(); ok && fit.n > 8 && fit.variance() > 0.015 {
			total += math.Max(0, r-0.35)
		}
	}
	return total
}

// covered reports whether a candidate's centre lies on a ship that was found, or a good part of
// a huge one.
func covered(ships []found, c candidate) bool {
	const part = 8 // mm
	for _, s := range ships {
		p := s.pose.Inverse(c.pose.Point)
		hx, hy := s.token.Half()
		if math.Abs(p.X) < hx-3 && math.Abs(p.Y) < hy-3 {
			return true
		}
		if !Square(c.token.Base) && BasesOverlap(s.token.Base, s.pose, c.token.Base, c.pose, part) {
			return true
		}
	}
	return false
}

// repeats reports whether nearly the same candidate was tried.
func repeats(tried []candidate, c candidate) bool {
	for _, t := range tried {
		if t.token == c.token && t.pose.Distance(c.pose.Point) < 1.2 && math.Abs(float64((t.pose.Heading-c.pose.Heading).Signed())) < 0.03 {
			return true
		}
	}
	return false
}

// clashes reports whether a ship's base would lie inside another one that was
// found before it: plastic does not.
func clashes(ships []found, s found) bool {
	for _, o := range ships {
		if BasesOverlap(o.token.Base, o.pose, s.token.Base, s.pose, basesLap) {
			return true
		}
	}
	return false
}

// dropTwins removes ships whose code was read in two places: one of them is wrong, and
// nobody can say which unless it shows twice as large a share of its own cells. It returns
// where each such code was read too.
func dropTwins(ships []found) (kept []found, twins []Twin) {
	for i, s := range ships {
		doubted, first, at := false, true, []geom.Point{s.pose.Point}
		for k, o := range ships {
			if k == i || o.token.Code != s.token.Code {
				continue
			}
			first = first && k > i
			doubted = doubted || s.share() < 2*o.share()
			at = append(at, o.pose.Point)
		}
		if !doubted {
			kept = append(kept, s)
		}
		if first && len(at) > 1 {
			twins = append(twins, Twin{ID: s.token.Code.ID(), At: at})
		}
	}
	for i := range twins {
		if k := slices.IndexFunc(kept, func(s found) bool { return s.token.Code.ID() == twins[i].ID }); k >= 0 {
			at := kept[k].pose.Point
			twins[i].Believed = &at
		}
	}
	slices.SortFunc(twins, func(a, b Twin) int { return CompareIDs(a.ID, b.ID) })
	return kept, twins
}

// share is how much of what is printed on a ship's own base was seen: a huge base has
// nearly twice the cells of a large one.
func (s *found) share() float64 {
	n := 0
	for side := Front; side <= LeftSide; side++ {
		n += Cells(s.token.Base, side)
	}
	return float64(s.agreed) / float64(n)
}

// try fits a candidate and decides whether it is the ship that it seems to be.
func (l *ShipLocator) try(g *image.Gray, c candidate) (found, bool) {
	f := &l.fit
	if !f.collect(g, &l.table.Camera, l.top(c.pose.Point), c.token, c.pose) || !f.solve() {
		return found{}, false
	}
	sides, agreed, ok := f.identity()
	if !ok || len(sides) == 1 && l.goesOn(g, sides[0]) || l.contradicted(g) {
		return found{}, false
	}
	cov := f.cov
	camera, table := l.errors.Parts(f.pose, BaseTop, SideLength(c.token.Base, RightSide)/2)
	for i := range cov {
		cov[i] += camera[i] + table[i]
	}
	return found{
		token: c.token, pose: f.pose, cov: cov, random: f.cov, shared: table, sides: sides, agree: f.agree, rms: f.rms,
		edges: f.outlineStandsOut(), agreed: agreed,
	}, true
}

// outlineStandsOut reports whether the base's own edge was seen against the
// ground on at least two sides, so that the fit rests on it and not on the print alone.
func (f *rimFit) outlineStandsOut() bool {
	n := 0
	for s := range 4 {
		if f.shares[s] > 0.6 && math.Abs(f.levels[s][1]-f.levels[s][0]) > 0.25*f.white {
			n++
		}
	}
	return n >= 2
}

func (l *ShipLocator) ship(s found) engine.Ship {
	seen := "token"
	if s.edges {
		seen = "both"
	}
	return engine.Ship{
		ID: s.token.Code.ID(), Player: s.token.Code.Player(), Base: s.token.Base,
		Pose: s.pose, Covariance: s.cov, Seen: seen, Visible: s.agree,
	}
}

func (l *ShipLocator) view(s found) ShipView {
	v := ShipView{ID: s.token.Code.ID(), Sides: s.sides, Residual: s.rms, Score: s.agree, Fit: s.random, Shared: s.shared}
	v.Outline = l.outline(s.pose, s.token)
	return v
}

// outline returns where the picture shows the corners of a base's top: front left, front
// right, rear right, rear left.
func (l *ShipLocator) outline(at geom.Pose, t Token) (px [4]geom.Pixel) {
	for i, p := range t.corners() {
		px[i], _ = l.table.PixelOf(at.Transform(p), BaseTop)
	}
	return px
}

// quantile returns the value below which the share q of the values lie, or 0 of
// none. It reorders its argument.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(int(q*float64(len(v))), len(v)-1)]
}
