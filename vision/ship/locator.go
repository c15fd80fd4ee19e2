// Package ship finds the ships in a picture: it finds straight edges, reads codes along them, fits
// the printed rim, and decides which ship it is. It also measures a base by its edges alone, and by
// a person's mark. Poses are on the table, in millimetres, with their covariance.
package ship

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
	"sightline/vision"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// Locator finds ships in frames of one calibrated camera. It reuses its buffers from frame to frame
// and belongs to one goroutine.
type Locator struct {
	table  calibration.Table
	errors *calibration.ErrorModel

	reduce int // factor by which the picture is reduced for the search
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

// NewLocator returns a locator for the calibrated table. The zero u means
// calibration.DefaultUncertainty.
func NewLocator(t calibration.Table, u calibration.Uncertainty) (*Locator, error) {
	if err := t.Intrinsics.Validate(); err != nil {
		return nil, fmt.Errorf("vision: locator: lens: %w", err)
	}
	middle := geom.Point{X: float64(t.Layout.Width) / 2, Y: float64(t.Layout.Height) / 2}
	_, dx, dy, ok := t.PixelJacobian(middle, token.BaseTop)
	if !ok {
		return nil, fmt.Errorf("vision: locator: the middle of the %v × %v mat lies behind the camera", t.Layout.Width, t.Layout.Height)
	}
	l := &Locator{table: t, errors: calibration.NewErrorModel(t, u), reduce: 1}
	scale := math.Sqrt(math.Abs(dx.X*dy.Y - dx.Y*dy.X))
	for scale/float64(l.reduce) > gray.SearchScale {
		l.reduce++
	}
	cam := t.Camera
	cam.Intrinsics = gray.Reduced(cam.Intrinsics, l.reduce)
	l.finder = finder{cam: &cam, z: token.BaseTop, roi: gray.MatRegion(&cam, t.Layout)}
	if l.finder.roi.Empty() {
		return nil, fmt.Errorf("vision: locator: the mat lies outside the %d×%d picture", t.Intrinsics.Width, t.Intrinsics.Height)
	}
	return l, nil
}

// Table returns the locator's calibration.
func (l *Locator) Table() calibration.Table { return l.table }

// Locate finds the ships in a frame. The poses' covariances include the systematic part. It fails
// if the frame has not the size for which the lens was calibrated.
func (l *Locator) Locate(f vision.Frame) (vision.Located, error) {
	began := time.Now()
	w, h := f.Size()
	if w != l.table.Intrinsics.Width || h != l.table.Intrinsics.Height {
		return vision.Located{}, fmt.Errorf("vision: locate %s: the picture is %d×%d, the calibration is for %d×%d",
			f.Name, w, h, l.table.Intrinsics.Width, l.table.Intrinsics.Height)
	}
	found, spare, small := l.stand(l.ships(f.Gray))
	found, twins := dropTwins(found) // a spare token is not a duplicate of its ship on the table
	found, raised := l.dropRaised(found)
	out := vision.Located{Captured: f.Captured, Seq: f.Seq, Duplicates: twins, Raised: raised, Spare: spare, Small: small}
	out.Scene = engine.Scene{
		Rules: engine.Rules25, MatWidth: l.table.Layout.Width, MatHeight: l.table.Layout.Height,
		ScaleSigma:      l.table.ScaleSigma,
		ObstaclesUnseen: true, // obstacles are searched later
	}
	for _, s := range found {
		out.Scene.Ships = append(out.Scene.Ships, l.ship(s))
		out.Ships = append(out.Ships, l.view(s))
	}
	out.Elapsed = time.Since(began)
	return out, nil
}

// found is an accepted ship: the fit's results, copied from its buffers.
type found struct {
	token  token.Token
	pose   geom.Pose
	cov    geom.Cov3
	random geom.Cov3 // the fit's part of cov
	shared geom.Cov3 // the part of cov that other cameras may share
	sides  []token.Side
	rim    []vision.RimCell
	agree  float64
	rms    float64
	edges  bool // the base's outline stands out from the ground on two sides or more
	agreed int  // cells that show what is printed
	height height
	bare   bool // nothing stands on the token
}

// ships searches and fits, best candidates first, and returns the ships in the order of their
// codes.
func (l *Locator) ships(g *image.Gray) (out []found) {
	search := g
	if l.reduce > 1 {
		search = gray.Shrink(g, l.reduce, &l.small)
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
	slices.SortFunc(out, func(a, b found) int { return cmp.Compare(a.token.Code, b.token.Code) })
	return out
}

// top returns the height of a base's top over the plane of the mat's markers, including the mat's
// measured height.
func (l *Locator) top(p geom.Point) geom.Length { return token.BaseTop + l.table.Surface.Height(p) }

func (l *Locator) searchPixelsPerMM() float64 {
	c := l.table.Extrinsics.Center()
	return l.table.Fx / float64(l.reduce) / math.Max(c[2], 1)
}

// minSupport is the least support of a candidate that is worth a fit: one side read well.
const minSupport = 0.55

// support sums over the four sides how well the picture agrees with the print, each as a
// correlation less its expectation by chance.
func (f *finder) support(g *image.Gray, c candidate) float64 {
	var total float64
	for s := token.Front; s <= token.LeftSide; s++ {
		line := sideOf(f.cam, c.token, c.pose, s, f.z)
		if !line.valid {
			continue
		}
		h, _ := c.token.HalfAlong(s)
		n, w := token.Cells(c.token.Base, s), float64(token.CellWidth(c.token.Base, s))
		var fit correlation
		add := func(a, expect float64) {
			x, y := line.pixel(a, 2.3)
			kx, ky := line.pixel(a, 0.6)
			v, ok := lightAt(g, x, y)
			key, ok2 := lightAt(g, kx, ky)
			if !ok || !ok2 {
				return
			}
			fit.add(relativeLight(v, key, 1), expect)
		}
		for i := range n {
			expect := 0.0
			if c.token.Cell(s, i) {
				expect = 1
			}
			add(-h+float64(token.Corner)+(float64(i)+0.5)*w, expect)
		}
		add(-h+2.6, 0)
		add(h-2.6, 0)
		if r, ok := fit.coefficient(); ok && fit.n > 8 && fit.variance() > 0.015 {
			total += math.Max(0, r-0.35)
		}
	}
	return total
}

// covered reports whether a candidate's centre lies on a ship that was found, or on a large part of
// a huge one.
func covered(ships []found, c candidate) bool {
	const part = 8 // mm
	for _, s := range ships {
		p := s.pose.Inverse(c.pose.Point)
		hx, hy := s.token.Half()
		if math.Abs(p.X) < hx-3 && math.Abs(p.Y) < hy-3 {
			return true
		}
		if !token.Square(c.token.Base) && token.BasesOverlap(s.token.Base, s.pose, c.token.Base, c.pose, part) {
			return true
		}
	}
	return false
}

// repeats reports whether a very similar candidate was tried.
func repeats(tried []candidate, c candidate) bool {
	for _, t := range tried {
		if t.token == c.token && t.pose.Distance(c.pose.Point) < 1.2 && t.pose.Heading.Distance(c.pose.Heading) < 0.03 {
			return true
		}
	}
	return false
}

// clashes reports whether a ship's base would overlap one that was found before it.
func clashes(ships []found, s found) bool {
	for _, o := range ships {
		if token.BasesOverlap(o.token.Base, o.pose, s.token.Base, s.pose, token.BasesLap) {
			return true
		}
	}
	return false
}

// dropTwins removes ships whose code was read in two places, except one that shows twice as large a
// share of its own cells as the other. It also returns the places of each such code.
func dropTwins(ships []found) (kept []found, twins []vision.DuplicateID) {
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
			twins = append(twins, vision.DuplicateID{ID: s.token.Code.ID(), At: at})
		}
	}
	for i := range twins {
		if k := slices.IndexFunc(kept, func(s found) bool { return s.token.Code.ID() == twins[i].ID }); k >= 0 {
			at := kept[k].pose.Point
			twins[i].Believed = &at
		}
	}
	slices.SortFunc(twins, func(a, b vision.DuplicateID) int { return vision.CompareIDs(a.ID, b.ID) })
	return kept, twins
}

// share returns the share of the print on a ship's own base that was seen: a huge base has nearly
// twice the cells of a large one.
func (s *found) share() float64 {
	n := 0
	for side := token.Front; side <= token.LeftSide; side++ {
		n += token.Cells(s.token.Base, side)
	}
	return float64(s.agreed) / float64(n)
}

// try fits a candidate and decides whether it is the ship that it seems to be.
func (l *Locator) try(g *image.Gray, c candidate) (found, bool) {
	f := &l.fit
	if !f.collect(g, &l.table.Camera, l.top(c.pose.Point), c.token, c.pose) || !f.solve() {
		return found{}, false
	}
	sides, agreed, ok := f.identity()
	if !ok || len(sides) == 1 && !f.namedWithout(sides[0], agreed) &&
		(l.continues(g, sides[0]) || !f.named && !l.turnsAtBothEnds(g, sides[0])) || l.contradicted(g) {
		return found{}, false
	}
	bare := l.panelShown(g) >= bareLines && l.panelPlain(g) >= barePlain
	h := f.height()
	cov, radius := f.cov, token.SideLength(c.token.Base, token.RightSide)/2
	camera, table := l.errors.Parts(f.pose, token.BaseTop, radius)
	for i := range cov {
		cov[i] += camera[i] + table[i]
	}
	return found{
		rim: f.rim(), token: c.token, pose: f.pose, cov: cov, random: f.cov, shared: table, sides: sides, agree: f.agree, rms: f.rms,
		edges: f.outlineStandsOut(), agreed: agreed, height: h, bare: bare,
	}, true
}

// keylineSeen is the largest rms residual of the keyline before a cell that counts as visible. A
// miniature's panel next to its base hides the keyline and leaves the cells behind it visible. On
// rendered tables 1501 and 1502 (2026-11-27, five cameras each) 267 cells next to rocks had 0.05 in
// the median, 0.17 in all but 2 % and 0.30 at most, 276 next to miniatures 0.11 and up to 1.0, a
// quarter of them more than 0.23.
const keylineSeen = 0.3

// rim returns the views of a token's rim cells.
func (f *rimFit) rim() (rim []vision.RimCell) {
	for s := range token.Side(4) {
		along, far := f.token.HalfAlong(s)
		turn := geom.Pose{Heading: f.pose.Heading + geom.Angle(s)*90*geom.Degree}
		width := float64(token.CellWidth(f.token.Base, s))
		for i := range token.Cells(f.token.Base, s) {
			a := -along + float64(token.Corner) + (float64(i)+0.5)*width
			at := f.pose.Point.Add(turn.Forward().Mul(far)).Add(turn.Right().Mul(a))
			seen, line := f.cells[s][i] == cellAgrees, f.keyOff[s][i] <= keylineSeen
			rim = append(rim, vision.RimCell{At: at, Out: turn.Forward(), Width: width, White: f.token.Cell(s, i), Seen: seen, Line: line})
		}
	}
	return rim
}

// outlineStandsOut reports whether the base's edge contrasts with the ground on at least two sides,
// so that the fit does not rest on the print alone.
func (f *rimFit) outlineStandsOut() bool {
	n := 0
	for s := range 4 {
		if f.shares[s] > 0.6 && math.Abs(f.levels[s][1]-f.levels[s][0]) > 0.25*f.white {
			n++
		}
	}
	return n >= 2
}

func (l *Locator) ship(s found) engine.Ship {
	seen := "token"
	if s.edges {
		seen = "both"
	}
	return engine.Ship{
		ID: s.token.Code.ID(), Player: s.token.Code.Player(), Base: s.token.Base,
		Pose: s.pose, Covariance: s.cov, Seen: seen, Visible: s.agree,
	}
}

func (l *Locator) view(s found) vision.ShipView {
	v := vision.ShipView{ID: s.token.Code.ID(), Sides: s.sides, Rim: s.rim, Residual: s.rms, Score: s.agree, Fit: s.random, Shared: s.shared}
	v.Outline = l.outline(s.pose, s.token)
	return v
}

// outline returns the pixels of the corners of a base's top: front left, front right, rear right,
// rear left.
func (l *Locator) outline(at geom.Pose, t token.Token) (px [4]geom.Pixel) {
	for i, p := range t.Corners() {
		px[i], _ = l.table.PixelOf(at.Transform(p), token.BaseTop)
	}
	return px
}
