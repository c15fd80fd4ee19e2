package ship

import (
	"fmt"
	"image"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// A base whose code cannot be read, because of glare, wear or whatever hides it, still has four
// straight edges of known length. If its identity and approximate place are known (from its last
// trusted pose, or from a person), the edges give its pose: the place, and the heading up to
// quarter turns for a square base, or half turns for a huge one.
//
// On each side the edge is where the picture brightens most inwards: from dark plastic or mat to
// the white keyline, or to a light card. A square of known size is fitted to these places by least
// squares with Tukey weights. Light, blur and the keyline's width shift all sides inwards or
// outwards alike. This common inset is an unknown of the fit, so it does not move the centre.

// allRound reports whether enough of every side was found that none may be another edge.
func allRound(s *vision.EdgeSight) bool {
	return slices.Min(s.Sides[:]) >= edgeSideSeen && s.Visible() >= edgeMost
}

const (
	edgeEnds     = 3.0  // mm at each end of a side that are ignored
	edgeLeast    = 0.02 // least brightening, in linear light over a millimetre
	edgeSideSeen = 0.3  // share of a side that must be found for it to count
	edgeWeakest  = 0.26 // share of every side: if one is missing, the opposite one may be any edge
	edgeAllSeen  = 0.45 // share of the whole outline that must be found
	edgeMisfit   = 0.15 // mm, the largest rms residual of a square
	// mm, the same for a square with edgeSideSeen of every side and edgeMost of all found: a camera's
	// grain and a rim one pixel wide scatter the places this much
	edgeCoarse = 0.30
	edgeMost   = 0.6
	edgeInset  = 1.2 // mm, the largest common inset: a keyline as narrow as the blur seems to lie further out
	edgeReach  = 15 * geom.Millimeter
	edgeApart  = 2.5 // mm between the places where a search starts

	// edgeSideSigma, in mm, is how far a whole side, or its ends relative to each other, may be off
	// without noise: by a shadow along it, or the plastic's own wall. Measured: docs/accuracy.md.
	edgeSideSigma = 0.12
	edgeCorrelate = 3.0 // on the variance: neighbouring places share pixels
)

// Edges finds a base by its edges near a hint. It reports false if it finds fewer than three sides
// and a piece of the fourth, if they do not form a square of the base's size, or if two places fit
// alike. It fails for an invalid hint or picture.
func (l *Locator) Edges(f vision.Frame, h vision.EdgeHint) (vision.EdgeSight, bool, error) {
	if _, err := token.NewToken(0, h.Base); err != nil {
		return vision.EdgeSight{}, false, fmt.Errorf("vision: edges: %w", err)
	}
	if w, ht := f.Size(); w != l.table.Intrinsics.Width || ht != l.table.Intrinsics.Height {
		return vision.EdgeSight{}, false, fmt.Errorf("vision: edges: the picture is %d×%d, the calibration is for %d×%d", w, ht,
			l.table.Intrinsics.Width, l.table.Intrinsics.Height)
	}
	if !(h.Reach >= 0 && h.Reach <= edgeReach) || !(h.Turn >= 0) || math.IsNaN(h.Pose.X+h.Pose.Y+float64(h.Pose.Heading)) {
		return vision.EdgeSight{}, false, fmt.Errorf("vision: edges: expected a pose and a reach of at most %v, got %v and %v", edgeReach, h.Pose,
			h.Reach)
	}
	var best, second vision.EdgeSight
	for _, start := range l.edgeStarts(f.Gray, h) {
		s, ok := l.fitEdges(f.Gray, h.Base, start)
		if !ok || s.Pose.Distance(h.Pose.Point) > h.Reach+1 {
			continue
		}
		switch same := s.Pose.Distance(best.Pose.Point) < 1 && math.Abs(token.AlikeTurn(h.Base, s.Pose.Heading-best.Pose.Heading)) < 0.03; {
		case s.Visible() > best.Visible():
			if !same {
				second = best
			}
			best = s
		case !same && s.Visible() > second.Visible():
			second = s
		}
	}
	if best.Visible() == 0 || second.Visible() > 0.85*best.Visible() {
		return vision.EdgeSight{}, false, nil
	}
	if best.Ours = best.Ours || h.Read; !best.Ours && (!foreign(&best) || l.outshone(f.Gray, h.Turn, &best)) {
		return vision.EdgeSight{}, false, nil
	}
	off := token.AlikeTurn(h.Base, best.Pose.Heading-h.Pose.Heading)
	if h.Turn < token.AnyTurn(h.Base) && math.Abs(off) > float64(h.Turn)+0.02 {
		return vision.EdgeSight{}, false, nil
	}
	turns := int(math.Round(float64((h.Pose.Heading + geom.Angle(off) - best.Pose.Heading).Signed()) / (math.Pi / 2)))
	best.Pose.Heading = (best.Pose.Heading + geom.Angle(turns)*90*geom.Degree).Normalized()
	var sides [4]float64
	for i := range sides {
		sides[i] = best.Sides[((i+turns)%4+4)%4]
	}
	best.Sides = sides
	return best, true, nil
}

// edgeStarts returns the poses near a hint at which the picture brightens most along a square's
// outline: the best few that differ.
func (l *Locator) edgeStarts(g *image.Gray, h vision.EdgeHint) []geom.Pose {
	const step, keep = 1.5, 6
	turn := 3 * geom.Degree
	if !token.Square(h.Base) {
		turn = 1 * geom.Degree // the ends of a long side move as far
	}
	reach := int(math.Ceil(float64(h.Reach) / step))
	turns := int(math.Ceil(min(float64(h.Turn), float64(token.AnyTurn(h.Base))) / float64(turn)))
	type guess struct {
		pose  geom.Pose
		score float64
	}
	var all []guess
	for i := -reach; i <= reach; i++ {
		for j := -reach; j <= reach; j++ {
			for k := -turns; k <= turns; k++ {
				p := geom.Pose{Point: h.Pose.Add(geom.Point{X: step * float64(i), Y: step * float64(j)}), Heading: h.Pose.Heading + geom.Angle(k)*turn}
				all = append(all, guess{p, l.brightening(g, h.Base, p)})
			}
		}
	}
	slices.SortFunc(all, func(a, b guess) int {
		if a.score != b.score {
			return int(math.Copysign(1, b.score-a.score))
		}
		return 0
	})
	var out []geom.Pose
	for _, c := range all {
		if len(out) == keep || c.score <= 0 {
			break
		}
		if !slices.ContainsFunc(out, func(p geom.Pose) bool {
			return p.Distance(c.pose.Point) < edgeApart && math.Abs(token.AlikeTurn(h.Base, p.Heading-c.pose.Heading)) < float64(2.3*turn)
		}) {
			out = append(out, c.pose)
		}
	}
	return out
}

// brightening sums over an outline how much brighter it is inside than outside; each place's
// contribution is limited so that none outweighs the others.
func (l *Locator) brightening(g *image.Gray, b engine.Base, pose geom.Pose) (sum float64) {
	t := token.Token{Base: b}
	for s := token.Front; s <= token.LeftSide; s++ {
		line := sideOf(&l.table.Camera, t, pose, s, l.top(pose.Point))
		if !line.valid {
			return 0
		}
		h, _ := t.HalfAlong(s)
		for a := -h + edgeEnds; a <= h-edgeEnds; a += 3 {
			x0, y0 := line.pixel(a, -0.9)
			x1, y1 := line.pixel(a, 0.6)
			out, ok0 := gray.Bilinear(g, x0, y0)
			in, ok1 := gray.Bilinear(g, x1, y1)
			if ok0 && ok1 {
				sum += min(max(in-out, 0), 40)
			}
		}
	}
	return sum
}

// edgePlace is the place of an edge: a along its side, r inwards from the side of the pose, in mm.
type edgePlace struct {
	side   int
	a, r   float64
	weight float64
}

// edgesNear finds the edges along the sides of a token at a pose, up to window mm away. asked
// counts the places of each side that were searched. It reports false if a side lies outside the
// picture.
func (l *Locator) edgesNear(g *image.Gray, t token.Token, pose geom.Pose, inset, window float64, places []edgePlace) (out []edgePlace,
	asked [4]int, ok bool) {
	for s := token.Front; s <= token.LeftSide; s++ {
		line := sideOf(&l.table.Camera, t, pose, s, l.top(pose.Point))
		if !line.valid {
			return places, asked, false
		}
		step := max(1/line.scale, 0.5)
		h, _ := t.HalfAlong(s)
		for a := -h + edgeEnds; a <= h-edgeEnds; a += step {
			asked[s]++
			if r, ok := edgeAlong(g, &line, a, step, inset, window); ok {
				places = append(places, edgePlace{side: int(s), a: a, r: r})
			}
		}
	}
	return places, asked, true
}

// sidesSeen returns the share of each side's places that are used in the fit.
func sidesSeen(places []edgePlace, asked [4]int) (share [4]float64) {
	for s := range share {
		for _, p := range places {
			if p.side == s && p.weight > 0.1 {
				share[s] += 1 / float64(asked[s])
			}
		}
	}
	return share
}

// believable reports whether enough of a square's edges was found, and close enough to it.
func (f *squareFit) believable(sight *vision.EdgeSight) bool {
	seen, weakest := 0, 1.0
	for _, share := range sight.Sides {
		if share >= edgeSideSeen {
			seen++
		}
		weakest = min(weakest, share)
	}
	misfit := edgeMisfit
	if allRound(sight) {
		misfit = edgeCoarse
	}
	return !(seen < 3 || weakest < edgeWeakest || sight.Visible() < edgeAllSeen || f.rms > misfit || math.Abs(f.step[3]) > edgeInset)
}

// fitEdges fits a square to the edges near a pose.
func (l *Locator) fitEdges(g *image.Gray, b engine.Base, pose geom.Pose) (vision.EdgeSight, bool) {
	t := token.Token{Base: b}
	_, longest := t.Half()
	var places []edgePlace
	var asked [4]int
	var fit squareFit
	inset := 0.0
	for _, window := range [...]float64{2.2, 1.6, 1.1, 1.1, 1.1} {
		var ok bool
		places, asked, ok = l.edgesNear(g, t, pose, inset, window, places[:0])
		if !ok || len(places) < 24 || !fit.solve(places, pose) {
			return vision.EdgeSight{}, false
		}
		pose, inset = fit.moved(pose), min(max(fit.step[3], -edgeInset), edgeInset)
		if fit.rms < 0.5*window && math.Abs(fit.step[0])+math.Abs(fit.step[1])+longest*math.Abs(fit.step[2]) < 0.005 {
			break
		}
	}
	out := vision.EdgeSight{Base: b, Pose: pose, Inset: geom.Length(fit.step[3]), Residual: geom.Length(fit.rms),
		Sides: sidesSeen(places, asked)}
	if !fit.believable(&out) || l.rimBeyond(g, t, pose, inset) {
		return vision.EdgeSight{}, false
	}
	out.Ours = l.keylined(g, t, pose, inset, places)
	out.Fit = fit.covariance(t)
	sys := l.errors.Systematic(pose, token.BaseTop, token.SideLength(b, token.RightSide)/2)
	for i := range out.Covariance {
		out.Covariance[i] = out.Fit[i] + sys[i]
	}
	return out, true
}

// rimBeyond reports whether the edge of one of the sides has another, as strong and as straight,
// outside it. It is then the panel's edge, and the other one the rim's.
func (l *Locator) rimBeyond(g *image.Gray, t token.Token, pose geom.Pose, inset float64) bool {
	const middle, window = -float64(token.RimDeep), 0.9 // mm from the side: where a rim's outer edge would be
	for s := token.Front; s <= token.LeftSide; s++ {
		line := sideOf(&l.table.Camera, t, pose, s, l.top(pose.Point))
		h, _ := t.HalfAlong(s)
		n, beyond := 0, []float64(nil)
		step := max(1/line.scale, 0.5)
		for a := -h + edgeEnds; a <= h-edgeEnds; a += step {
			n++
			own, _, ok := strongestRise(g, &line, a, step, inset, 0.6)
			other, at, ok2 := strongestRise(g, &line, a, step, inset+middle, window)
			if ok2 && (!ok || other > 0.8*own) {
				beyond = append(beyond, at)
			}
		}
		if len(beyond) < max(n*4/10, 4) {
			continue
		}
		lo, hi := gray.Quantile(beyond, 0.2), gray.Quantile(beyond, 0.8)
		if hi-lo < 0.5 {
			return true
		}
	}
	return false
}

// strongestRise returns the largest inward brightening within a window around a depth, in linear
// light per millimetre, and its depth.
func strongestRise(g *image.Gray, line *sideLine, a, step, middle, window float64) (best, at float64, ok bool) {
	depth := math.Hypot(line.inX, line.inY)
	for d := middle - window; d <= middle+window; d += 0.25 / depth {
		var rise float64
		for _, b := range [...]float64{a - step, a, a + step} {
			x0, y0 := line.pixel(b, d-0.5/depth)
			x1, y1 := line.pixel(b, d+0.5/depth)
			v0, ok0 := bilinearLight(g, x0, y0)
			v1, ok1 := bilinearLight(g, x1, y1)
			if !ok0 || !ok1 {
				return 0, 0, false
			}
			rise += (v1 - v0) * depth / 3
		}
		if rise > best {
			best, at = rise, d
		}
	}
	return best, at, best >= edgeLeast
}

// edgeKernel is the derivative of a Gaussian of 0.7 px on a grid of a quarter of a pixel.
var edgeKernel = func() (k [15]float64) {
	const sigma = 0.7 / 0.25
	var area float64
	for i := range k {
		x := float64(i - len(k)/2)
		k[i] = x * math.Exp(-x*x/(2*sigma*sigma))
		area += x * k[i]
	}
	for i := range k {
		k[i] /= area * 0.25 // of light that rises by one over a pixel
	}
	return k
}()

// edgeAlong finds how far inwards from a side's line the picture brightens most at the place a,
// within a window around a depth. It reports false if it hardly brightens, or does so in two
// places.
func edgeAlong(g *image.Gray, line *sideLine, a, step, middle, window float64) (float64, bool) {
	const most = 128
	depth := math.Hypot(line.inX, line.inY) // px/mm
	dd := 0.25 / depth
	margin := 2.5 / depth // reach of the kernel and the parabola
	n := min(int(2*(window+margin)/dd)+1, most)
	var light [most]float64
	for i := range n {
		d := middle - window - margin + dd*float64(i)
		for _, b := range [...]float64{a - step, a, a + step} {
			x, y := line.pixel(b, d)
			v, ok := bilinearLight(g, x, y)
			if !ok {
				return 0, false
			}
			light[i] += v / 3
		}
	}
	// The gradient by the derivative of a Gaussian of 0.7 px. A narrower one would lock edges that run
	// along the pixels' rows to the rows.
	var rise [most]float64
	const reach = len(edgeKernel) / 2
	best, second := -1, 0.0
	for i := reach; i < n-reach; i++ {
		for k, v := range edgeKernel {
			rise[i] += v * light[i+k-reach]
		}
		rise[i] *= depth // linear light per mm
		if d := -window - margin + dd*float64(i); math.Abs(d) <= window && (best < 0 || rise[i] > rise[best]) {
			best = i
		}
	}
	const side = 2 // samples from the peak to the other points of its parabola
	if best < reach+side || best >= n-reach-side || rise[best] < edgeLeast || rise[best] < rise[best-1] || rise[best] < rise[best+1] {
		return 0, false
	}
	for i := reach + 1; i < n-reach-1; i++ { // is there another edge as strong
		if math.Abs(dd*float64(i-best)) > 0.8 && math.Abs(dd*float64(i)-window-margin) <= window && rise[i] >= rise[i-1] && rise[i] >= rise[i+1] {
			second = max(second, rise[i])
		}
	}
	if second > 0.7*rise[best] {
		return 0, false
	}
	off := 0.0
	if den := rise[best-side] - 2*rise[best] + rise[best+side]; den < 0 {
		off = side * 0.5 * (rise[best-side] - rise[best+side]) / den
	}
	return middle - window - margin + dd*(float64(best)+off), true
}

// bilinearLight interpolates a picture's linear light, in which blur does not move edges.
func bilinearLight(g *image.Gray, x, y float64) (float64, bool) {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	if !(x >= 0 && y >= 0) || ix >= g.Rect.Dx()-1 || iy >= g.Rect.Dy()-1 {
		return 0, false
	}
	i := iy*g.Stride + ix
	ax, ay := x-fx, y-fy
	at := func(k int) float64 { return float64(gray.LinearLight[g.Pix[k]]) }
	top := at(i) + ax*(at(i+1)-at(i))
	bottom := at(i+g.Stride) + ax*(at(i+g.Stride+1)-at(i+g.Stride))
	return top + ay*(bottom-top), true
}

// squareFit is a least-squares fit of a square or rectangle to edge places. Its four unknowns are
// the shift of the centre, the clockwise turn, and the common inset.
type squareFit struct {
	normal [16]float64
	step   [4]float64
	rms    float64
	scale  float64
	rows   []squareRow
}

type squareRow struct {
	j      [4]float64
	a      float64
	side   int
	weight float64
}

// solve fits the places of a pose, and weights them. It reports false if they do not fix a square.
func (f *squareFit) solve(places []edgePlace, pose geom.Pose) bool {
	f.step = [4]float64{}
	f.rows = f.rows[:0]
	for _, p := range places {
		n := geom.Pose{Heading: pose.Heading + geom.Angle(p.side)*90*geom.Degree}.Forward()
		// A place lies inwards by r: the side moves outwards by r - inset.
		f.rows = append(f.rows, squareRow{j: [4]float64{n.X, n.Y, -p.a, -1}, a: p.a, side: p.side})
	}
	abs := make([]float64, len(places))
	residual := func(i int) float64 {
		e := places[i].r
		for k, v := range f.rows[i].j {
			e += v * f.step[k]
		}
		return e
	}
	for round := range 12 {
		for i := range places {
			abs[i] = math.Abs(residual(i))
		}
		f.scale = max(1.4826*gray.Quantile(abs, 0.5), 0.04)
		limit := 4.685 * max(f.scale, 0.6*math.Pow(0.6, float64(round)))
		f.normal = [16]float64{}
		gradient := [4]float64{}
		var sum, count float64
		for i := range places {
			e := residual(i)
			u := e / limit
			w := 0.0
			if u*u < 1 {
				w = (1 - u*u) * (1 - u*u)
			}
			places[i].weight, f.rows[i].weight = w, w
			sum, count = sum+w*e*e, count+w
			for r, jr := range f.rows[i].j {
				gradient[r] -= w * jr * e
				for c, jc := range f.rows[i].j {
					f.normal[4*r+c] += w * jr * jc
				}
			}
		}
		if count < 16 {
			return false
		}
		f.rms = math.Sqrt(sum / count)
		// The inset is zero give or take half a millimetre.
		info := square(max(f.rms, 0.04) / 0.5)
		f.normal[15] += info
		gradient[3] -= info * f.step[3]
		d, ok := linalg.SolveSPD(slices.Clone(f.normal[:]), gradient[:])
		if !ok {
			return false
		}
		for k := range f.step {
			f.step[k] += d[k]
		}
	}
	return true
}

func square(v float64) float64 { return v * v }

// moved returns a pose moved by the fit.
func (f *squareFit) moved(p geom.Pose) geom.Pose {
	return geom.Pose{Point: p.Add(geom.Point{X: f.step[0], Y: f.step[1]}), Heading: (p.Heading + geom.Angle(f.step[2])).Normalized()}
}

// covariance returns the pose's covariance: from the places' noise, and from whole sides that seem
// shifted or slanted.
func (f *squareFit) covariance(t token.Token) geom.Cov3 {
	var inverse [16]float64
	for k := range 4 {
		e := [4]float64{}
		e[k] = 1
		col, ok := linalg.SolveSPD(slices.Clone(f.normal[:]), e[:])
		if !ok {
			return geom.Cov3{0: math.Inf(1), 4: math.Inf(1), 8: math.Inf(1)}
		}
		for r := range 4 {
			inverse[4*r+k] = col[r]
		}
	}
	var out geom.Cov3
	noise := max(f.rms, 0.04)
	for r := range 3 {
		for c := range 3 {
			out[3*r+c] = noise * noise * edgeCorrelate * inverse[4*r+c]
		}
	}
	for s := range 4 {
		var shift, slant [3]float64
		h, _ := t.HalfAlong(token.Side(s))
		for _, row := range f.rows {
			if row.side != s {
				continue
			}
			for r := range 3 {
				k := 0.0
				for c := range 4 {
					k -= inverse[4*r+c] * row.j[c] * row.weight
				}
				shift[r] += k
				slant[r] += k * row.a / h
			}
		}
		for r := range 3 {
			for c := range 3 {
				out[3*r+c] += edgeSideSigma * edgeSideSigma * (shift[r]*shift[c] + slant[r]*slant[c])
			}
		}
	}
	return out
}

// EdgeView returns the view of a base that was found by its edges.
func (l *Locator) EdgeView(id string, base engine.Base, s vision.EdgeSight) vision.ShipView {
	v := vision.ShipView{ID: id, Residual: float64(s.Residual), Score: s.Visible(), Fit: s.Fit}
	v.Outline = l.outline(s.Pose, token.Token{Base: base})
	return v
}

// FitBase fits a base's outline to the edges near a pose, without knowing which ship it is. It then
// requires more of the outline.
func FitBase(g *image.Gray, t *calibration.Table, errors *calibration.ErrorModel, base engine.Base, start geom.Pose) (
	vision.UnidentifiedBase, bool) {
	l := Locator{table: *t, errors: errors}
	s, ok := l.fitEdges(g, base, start)
	if !ok || !allRound(&s) || !s.Ours && !foreign(&s) {
		return vision.UnidentifiedBase{}, false
	}
	return vision.UnidentifiedBase{Base: base, Pose: s.Pose, Covariance: s.Covariance, Sight: s, Outline: l.outline(s.Pose,
		token.Token{Base: base})}, true
}
