package lens

import (
	"errors"
	"fmt"
	"math"
	"time"

	"sightline/calibration"
	"sightline/engine/geom"
)

// GuideOptions sets a Guide's limits. The zero value of each means its default.
type GuideOptions struct {
	// StillFor is how long the board must rest before a view is taken: 0.4 s by default.
	StillFor time.Duration
	// MaxMotion is the largest rms motion of a resting board's corners, as a share of the
	// picture's width: 0.0012, 1.5 px at 1280. Handheld boards leaned on something reach
	// it; during an exposure of 30 ms it is a tenth of a pixel.
	MaxMotion float64
	// MaxEdge is the widest step from black to white that counts as sharp, as a share of
	// the picture's width: 0.004, 5 px at 1280.
	MaxEdge float64
	// MinContrast is the least step from black to white in grey levels: 40.
	MinContrast float64
	// MinViews is the least number of views that can be enough: 10.
	MinViews int
	// MaxViews is the number of views after which the guide stops asking for a smaller
	// sigma: 30.
	MaxViews int
	// MaxMatSigma is the largest accepted MatSigma: 0.06 mm, a fifth of the other errors
	// of a good table.
	MaxMatSigma geom.Length
	// MaxFocalSigma is the largest accepted relative sigma of the focal lengths: 0.0015,
	// which moves a base's top by less than 0.01 mm at the mat's corner.
	MaxFocalSigma float64
}

func (o GuideOptions) withDefaults() GuideOptions {
	def := func(v *float64, d float64) {
		if !(*v > 0) {
			*v = d
		}
	}
	if o.StillFor <= 0 {
		o.StillFor = 400 * time.Millisecond
	}
	def(&o.MaxMotion, 0.0012)
	def(&o.MaxEdge, 0.004)
	def(&o.MinContrast, 40)
	if o.MinViews < MinViews {
		o.MinViews = 10
	}
	if o.MaxViews < o.MinViews {
		o.MaxViews = max(30, o.MinViews)
	}
	def((*float64)(&o.MaxMatSigma), 0.06)
	def(&o.MaxFocalSigma, 0.0015)
	return o
}

// The size of the grid over the picture in which a Guide counts corners.
const (
	GuideCols = 8
	GuideRows = 6
)

// The requirements of a Guide.
const (
	minCovered  = 0.85             // of the grid's cells; all four corner cells are among them
	guideTilt   = 15 * geom.Degree // from which a board counts as tilted to a side
	wantedTilt  = 30               // degrees, in the advice: the focal length follows from sin² of the angle
	nearSpan    = 0.55             // share of the picture's width or height from which a board counts as near
	farSpan     = 0.45             // share below which it counts as far
	minChange   = 0.03             // of the picture's width: corners that moved less are the same view
	askedChange = 0.008            // minChange for a requested view, for which there may be little room

	// A view adds something when it lowers the sigma furthest from its goal by this share
	// divided by the number of views; one more of the same kind does by 0.5.
	minGain = 0.35
	// The most views that are kept: a person who has shown so many and still lacks
	// something must start over.
	mostViews = 100
)

// GuideOutcome says how a sighting was used.
type GuideOutcome int

const (
	GuideNotFound   GuideOutcome = iota // no board in the picture
	GuideTaken                          // the view was taken
	GuideMoving                         // the board is not at rest
	GuideBlurred                        // the picture is not sharp
	GuideDim                            // the contrast of the board is too low
	GuideNothingNew                     // such a view was taken before
	GuideDisagrees                      // the corners do not fit the views so far
	GuideInvalid                        // the sighting is not of this board
)

// String returns the outcome as a short word.
func (o GuideOutcome) String() string {
	words := [...]string{"not found", "taken", "moving", "blurred", "dim", "nothing new", "disagrees", "invalid"}
	if o < 0 || int(o) >= len(words) {
		return fmt.Sprintf("GuideOutcome(%d)", int(o))
	}
	return words[o]
}

// GuideStep is a Guide's answer to one sighting.
type GuideStep struct {
	Outcome GuideOutcome
	Reason  string // in words, for the person who holds the board
	Added   string // what the view added, if it was taken
}

// Side is a side of the board in the picture.
type Side int

// The sides of the board. A board tilted to a side has it nearer to the camera.
const (
	Left Side = iota
	Right
	Top
	Bottom
)

// String returns the side's name.
func (s Side) String() string {
	if s < Left || s > Bottom {
		return fmt.Sprintf("Side(%d)", int(s))
	}
	return [...]string{"left", "right", "top", "bottom"}[s]
}

// GuideTarget is the next request of the guide, for programs. More than one field may be
// set: a view that meets any of them adds something.
type GuideTarget struct {
	Col, Row int // of the grid's cell to cover; -1 for none
	Tilt     Side
	Tilted   bool // Tilt is requested
	Near     bool // closer to the camera
	Far      bool // further off
	Turn     bool // turned by a quarter in its own plane
}

// GuideSigma states the lens's standard deviations from the views so far: from their
// geometry with the noise that they show, doubled because the errors of one picture's
// corners are correlated (on OpenCV's photographs the jackknife gives 1.8 times the formal
// sigma).
type GuideSigma struct {
	Fx, Fy, Cx, Cy float64     // px
	Mat            geom.Length // see MatSigma
	RMS            float64     // reprojection error, px
}

// GuideState is the progress of a guided capture.
type GuideState struct {
	Views   int
	Counts  [GuideRows][GuideCols]int // corners in each cell of the picture
	Covered float64                   // share of the cells with corners
	Tilts   [4]bool                   // by Side
	Near    bool
	Far     bool
	Sigma   *GuideSigma // nil before the views fix a lens

	Enough bool
	// Advice is one sentence that says what to do next, or that the views are enough.
	Advice string
	Target GuideTarget
}

// A Guide leads a person who holds a board before a camera through a lens calibration.
// It is offered the board in every frame, takes the views that add something, and says
// what is missing. It has no I/O and no clock: the same sightings always give the same
// answers. It is not safe for concurrent use.
type Guide struct {
	board         calibration.Board
	width, height int
	o             GuideOptions

	views []calibration.BoardView
	poses []calibration.Extrinsics
	lens  calibration.Intrinsics // the latest solution, or a guess
	ready bool                   // lens is a solution
	inv   []float64              // inverse normal matrix of the lens, 9×9
	noise float64                // px per axis
	state GuideState

	rest      calibration.BoardSighting // since which the board has been at rest
	restCount int
	best      float64 // the narrowest edge so far
}

// NewGuide returns a guide for a board and pictures of the given size.
func NewGuide(board calibration.Board, width, height int, o GuideOptions) (*Guide, error) {
	if err := board.Validate(); err != nil {
		return nil, fmt.Errorf("calibration: new guide: board: %w", err)
	}
	if width < 16 || height < 16 {
		return nil, fmt.Errorf("calibration: new guide: picture of %d×%d: expected at least 16×16", width, height)
	}
	g := &Guide{board: board, width: width, height: height, o: o.withDefaults()}
	f := defaultFocal * float64(width)
	g.lens = calibration.Intrinsics{Width: width, Height: height, Fx: f, Fy: f, Cx: float64(width-1) / 2, Cy: float64(height-1) / 2}
	g.advise()
	return g, nil
}

// State returns the progress of the capture.
func (g *Guide) State() GuideState { return g.state }

// Views returns the views taken, in their order.
func (g *Guide) Views() []calibration.BoardView {
	return append([]calibration.BoardView(nil), g.views...)
}

// Offer takes the board in the next frame as a view if it is at rest, sharp, and adds
// something.
func (g *Guide) Offer(s calibration.BoardSighting) GuideStep {
	v, pose, step := g.locate(s)
	if step.Outcome != GuideTaken {
		if step.Outcome == GuideNotFound || step.Outcome == GuideInvalid {
			g.restCount = 0
		}
		return step
	}
	rests, added := g.rests(s), g.adds(v, pose)
	switch {
	case added == "":
		return GuideStep{Outcome: GuideNothingNew, Reason: "that view has already been taken: " + g.state.Advice}
	case !rests:
		return GuideStep{Outcome: GuideMoving, Reason: "hold the board still"}
	}
	if step, ok := g.sharp(s); !ok {
		return step
	}
	if step, ok := g.agrees(v, pose); !ok {
		return step
	}
	g.restCount = 0
	g.take(v)
	return GuideStep{Outcome: GuideTaken, Added: added}
}

// Add takes a picture chosen by a person as a view, whatever it adds. It refuses only a
// picture without a board.
func (g *Guide) Add(s calibration.BoardSighting) GuideStep {
	v, pose, step := g.locate(s)
	if step.Outcome == GuideTaken {
		step.Added = g.adds(v, pose)
		g.take(v)
	}
	return step
}

// locate validates a sighting and finds the board's pose in it.
func (g *Guide) locate(s calibration.BoardSighting) (calibration.BoardView, calibration.Extrinsics, GuideStep) {
	v := calibration.BoardView{Name: s.Name, Pixels: s.Pixels, Indices: s.Indices}
	if len(s.Pixels) == 0 {
		reason := s.Reason
		if reason == "" {
			reason = "the board is not in the picture, whole and in plain view"
			if g.board.Kind == calibration.ChArUco {
				reason = "the board is not in the picture"
			}
		}
		return v, calibration.Extrinsics{}, GuideStep{Outcome: GuideNotFound, Reason: reason}
	}
	if err := v.Validate(g.board.Cols * g.board.Rows); err != nil {
		return v, calibration.Extrinsics{}, GuideStep{Outcome: GuideInvalid, Reason: err.Error()}
	}
	pose, ok := g.pose(v)
	if !ok {
		return v, pose, GuideStep{Outcome: GuideInvalid, Reason: "too little of the board is seen"}
	}
	return v, pose, GuideStep{Outcome: GuideTaken}
}

// pose finds the board's pose through the present lens.
func (g *Guide) pose(v calibration.BoardView) (calibration.Extrinsics, bool) {
	ideal := v
	ideal.Pixels = make([]geom.Pixel, len(v.Pixels))
	for k, px := range v.Pixels {
		x, y, ok := g.lens.Undistort(px)
		if !ok {
			x, y = (px.X-g.lens.Cx)/g.lens.Fx, (px.Y-g.lens.Cy)/g.lens.Fy
		}
		ideal.Pixels[k] = geom.Pixel{X: x, Y: y}
	}
	m, ok := viewHomography(g.board.Points(), ideal, geom.Pixel{}, 1)
	if !ok {
		return calibration.Extrinsics{}, false
	}
	return poseOf(&m)
}

// rests reports whether the board has been at rest for long enough.
func (g *Guide) rests(s calibration.BoardSighting) bool {
	if g.restCount == 0 || s.At.Before(g.rest.At) || g.moved(g.rest, s) > g.o.MaxMotion*float64(g.width) {
		g.rest, g.restCount = s, 1
		return false
	}
	g.restCount++
	return s.At.Sub(g.rest.At) >= g.o.StillFor
}

// moved is the rms motion, px, of the points in both sightings; +Inf when they have few
// in common. A chessboard's corners may be numbered from either end.
func (g *Guide) moved(a, b calibration.BoardSighting) float64 {
	va, vb := calibration.BoardView{Pixels: a.Pixels, Indices: a.Indices}, calibration.BoardView{Pixels: b.Pixels, Indices: b.Indices}
	return viewDistance(va, vb)
}

func viewDistance(a, b calibration.BoardView) float64 {
	at := map[int]geom.Pixel{}
	for k, px := range a.Pixels {
		at[a.Index(k)] = px
	}
	n, straight, reversed := 0, 0.0, 0.0
	for k, px := range b.Pixels {
		if was, ok := at[b.Index(k)]; ok {
			d := px.Sub(was)
			straight += d.X*d.X + d.Y*d.Y
			n++
		}
		if a.Indices == nil && b.Indices == nil && len(a.Pixels) == len(b.Pixels) {
			d := px.Sub(a.Pixels[len(a.Pixels)-1-k])
			reversed += d.X*d.X + d.Y*d.Y
		} else {
			reversed = math.Inf(1)
		}
	}
	if n < 4 {
		return math.Inf(1)
	}
	return math.Sqrt(min(straight, reversed) / float64(n))
}

// sharp checks the picture's sharpness and contrast.
func (g *Guide) sharp(s calibration.BoardSighting) (GuideStep, bool) {
	if s.Contrast > 0 && s.Contrast < g.o.MinContrast {
		return GuideStep{Outcome: GuideDim, Reason: fmt.Sprintf("the board's black and white differ by %.0f grey levels only, %.0f are "+
			"needed: more light", s.Contrast, g.o.MinContrast)}, false
	}
	if s.EdgeWidth <= 0 {
		return GuideStep{}, true
	}
	if limit := max(3, g.o.MaxEdge*float64(g.width)); s.EdgeWidth > limit {
		return GuideStep{Outcome: GuideBlurred, Reason: fmt.Sprintf("the picture is blurred: an edge is %.1f px wide, at most %.1f is sharp "+
			"enough: hold still, or set the focus", s.EdgeWidth, limit)}, false
	}
	// Much less sharp than the best view: motion, or a camera that refocused.
	if g.best > 0 && s.EdgeWidth > max(3, 1.75*g.best) {
		return GuideStep{Outcome: GuideBlurred, Reason: fmt.Sprintf("the picture is less sharp than others were (an edge is %.1f px wide, the "+
			"best was %.1f): hold still, and lock the focus", s.EdgeWidth, g.best)}, false
	}
	if g.best == 0 || s.EdgeWidth < g.best {
		g.best = s.EdgeWidth
	}
	return GuideStep{}, true
}

// cell returns the grid cell of a pixel.
func (g *Guide) cell(px geom.Pixel) (col, row int, ok bool) {
	col = int(math.Floor((px.X + 0.5) / float64(g.width) * GuideCols))
	row = int(math.Floor((px.Y + 0.5) / float64(g.height) * GuideRows))
	return col, row, col >= 0 && row >= 0 && col < GuideCols && row < GuideRows
}

// appearance is how a board appears: its tilts, and the share of the picture it spans.
type appearance struct {
	tilts     [4]bool
	near, far bool
}

func (g *Guide) appearance(pose calibration.Extrinsics, v calibration.BoardView) (l appearance) {
	// The board's plane in the camera's frame is z = a x + b y + …, with a > 0 when the
	// left side is nearer.
	n := calibration.Vec3{pose.R[0][2], pose.R[1][2], pose.R[2][2]}
	if n[2] != 0 {
		across, down := math.Atan(-n[0]/n[2]), math.Atan(-n[1]/n[2])
		limit := float64(guideTilt)
		l.tilts = [4]bool{across > limit, across < -limit, down > limit, down < -limit}
	}
	lo, hi := v.Pixels[0], v.Pixels[0]
	for _, p := range v.Pixels {
		lo = geom.Pixel{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}
		hi = geom.Pixel{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
	}
	span := max((hi.X-lo.X)/float64(g.width), (hi.Y-lo.Y)/float64(g.height))
	whole := len(v.Pixels) == g.board.Cols*g.board.Rows
	l.near, l.far = span >= nearSpan, whole && span <= farSpan
	return l
}

// adds says what a view would add; "" for nothing.
func (g *Guide) adds(v calibration.BoardView, pose calibration.Extrinsics) string {
	if len(g.views) >= mostViews {
		return ""
	}
	l := g.appearance(pose, v)
	for _, old := range g.views {
		d := viewDistance(old, v)
		if d < minChange*float64(g.width) && (d < askedChange*float64(g.width) || !g.asked(v, l)) {
			return ""
		}
	}
	if len(g.views) == 0 {
		return "the first view"
	}
	for s, tilted := range l.tilts {
		if tilted && !g.state.Tilts[s] {
			return fmt.Sprintf("the %s side towards the camera", Side(s))
		}
	}
	if fresh := g.freshCells(v); fresh > 0 {
		return fmt.Sprintf("%d new parts of the picture", fresh)
	}
	switch {
	case l.near && !g.state.Near:
		return "the board close to the camera"
	case l.far && !g.state.Far:
		return "the board further from the camera"
	}
	if gain := g.gain(v, pose); gain*float64(len(g.views)) >= minGain {
		return fmt.Sprintf("the lens known %.0f %% better", 100*gain)
	}
	if g.asked(v, l) {
		return "what was asked for"
	}
	return ""
}

// asked reports whether a view does what the advice asks for. Such a view is taken even
// when it adds little: a person who followed the advice must not be refused.
func (g *Guide) asked(v calibration.BoardView, l appearance) bool {
	t := g.state.Target
	switch {
	case t.Tilted && !l.tilts[t.Tilt]:
		return false
	case t.Col >= 0 && t.Row >= 0:
		for _, px := range v.Pixels {
			if c, r, ok := g.cell(px); ok && c == t.Col && r == t.Row {
				return true
			}
		}
		return false
	case t.Turn:
		return l.tilts != [4]bool{}
	}
	return t.Tilted
}

func (g *Guide) freshCells(v calibration.BoardView) (n int) {
	seen := map[[2]int]bool{}
	for _, px := range v.Pixels {
		c, r, ok := g.cell(px)
		if ok && g.state.Counts[r][c] == 0 && !seen[[2]int{c, r}] {
			seen[[2]int{c, r}] = true
			n++
		}
	}
	return n
}

// gain is the share by which a view would lower the sigma that is furthest from its goal.
func (g *Guide) gain(v calibration.BoardView, pose calibration.Extrinsics) float64 {
	if !g.ready {
		return 0
	}
	all := g.problem()
	all.views, all.poses = append(all.views, v), append(all.poses, pose)
	after, ok := all.inverse()
	if !ok {
		return 0
	}
	now, then := g.sigma(g.inv, g.noise, 0), g.sigma(after, g.noise, 0)
	worst := func(s GuideSigma) float64 {
		return max(s.Fx/g.lens.Fx/g.o.MaxFocalSigma, s.Fy/g.lens.Fy/g.o.MaxFocalSigma, float64(s.Mat/g.o.MaxMatSigma))
	}
	return 1 - worst(then)/worst(now)
}

// agrees reports whether a view fits the lens of the views so far.
func (g *Guide) agrees(v calibration.BoardView, pose calibration.Extrinsics) (GuideStep, bool) {
	if !g.ready || len(g.views) < 2*MinViews {
		return GuideStep{}, true
	}
	// A good view in a new part of the picture may deviate by several px from the present
	// lens; a bent board or wrong corners deviate by more.
	p := g.problem()
	rms, limit := p.foreignRMS(v, pose), 1+5*g.noise
	if !(rms <= limit) {
		return GuideStep{Outcome: GuideDisagrees, Reason: fmt.Sprintf("the corners lie %.1f px (rms) from where the views so far put them: is "+
			"the board flat, stiff and still?", rms)}, false
	}
	return GuideStep{}, true
}

// take adds a view and updates the state.
func (g *Guide) take(v calibration.BoardView) {
	v.Pixels = append([]geom.Pixel(nil), v.Pixels...)
	if v.Indices != nil {
		v.Indices = append([]int(nil), v.Indices...)
	}
	g.views = append(g.views, v)
	g.solve()
	g.count()
	g.advise()
}

// guideFree are the parameters that the guide fits. k3 needs pictures that it may not
// have yet.
var guideFree = freeParams{true, true, true, true, true, true, true, true, false}

func (g *Guide) problem() *problem {
	return &problem{object: g.board.Points(), lens: g.lens, free: guideFree,
		views: append([]calibration.BoardView(nil), g.views...), poses: append([]calibration.Extrinsics(nil), g.poses...)}
}

// solve fits the lens to all views. The guess stays when they do not fix one.
func (g *Guide) solve() {
	g.poses = g.poses[:0]
	for _, v := range g.views {
		pose, _ := g.pose(v)
		g.poses = append(g.poses, pose)
	}
	g.ready, g.state.Sigma = false, nil
	if len(g.views) < MinViews {
		return
	}
	start, poses, err := startLens(g.board, g.views, g.width, g.height)
	if err != nil {
		return
	}
	p := &problem{object: g.board.Points(), lens: start, views: g.views, poses: poses,
		free: freeParams{true, true, false, false, true}}
	if p.solve() != nil {
		return
	}
	p.free = guideFree
	if p.solve() != nil {
		return
	}
	inv, ok := p.inverse()
	freedom := p.freedom()
	if !ok || freedom <= 0 || p.lens.Fx > 20*float64(g.width) || p.lens.Fy > 20*float64(g.width) {
		return
	}
	noise := math.Sqrt(p.cost(&p.lens, p.poses) / float64(freedom))
	s := g.sigmaOf(p.lens, inv, noise, p.rms())
	if !(s.Fx < 0.2*p.lens.Fx) || !(s.Fy < 0.2*p.lens.Fy) { // the guess is as good
		return
	}
	g.lens, g.poses, g.inv, g.noise, g.ready, g.state.Sigma = p.lens, p.poses, inv, noise, true, &s
}

// guideNoise is the least noise of a corner that a prediction assumes, px per axis: the
// detector's on a rendered board.
const guideNoise = 0.05

func (g *Guide) sigma(inv []float64, noise, rms float64) GuideSigma {
	return g.sigmaOf(g.lens, inv, noise, rms)
}

// sigmaOf turns an inverse normal matrix into predicted standard deviations.
func (g *Guide) sigmaOf(lens calibration.Intrinsics, inv []float64, noise, rms float64) GuideSigma {
	scale := 2 * max(noise, guideNoise)
	cov := make([]float64, len(inv))
	for i := range inv {
		cov[i] = inv[i] * scale * scale
	}
	sd := func(k int) float64 { return math.Sqrt(cov[10*k]) }
	lens.Covariance = cov
	mat, ok := MatSigma(lens)
	if !ok {
		mat = geom.Length(math.Inf(1))
	}
	return GuideSigma{Fx: sd(0), Fy: sd(1), Cx: sd(2), Cy: sd(3), Mat: mat, RMS: rms}
}

// count computes coverage, tilts and distances again from all views, since the lens is
// better known now than when each was taken.
func (g *Guide) count() {
	s := &g.state
	s.Views = len(g.views)
	s.Counts, s.Tilts, s.Near, s.Far = [GuideRows][GuideCols]int{}, [4]bool{}, false, false
	for i, v := range g.views {
		for _, px := range v.Pixels {
			if c, r, ok := g.cell(px); ok {
				s.Counts[r][c]++
			}
		}
		l := g.appearance(g.poses[i], v)
		for k, tilted := range l.tilts {
			s.Tilts[k] = s.Tilts[k] || tilted
		}
		s.Near, s.Far = s.Near || l.near, s.Far || l.far
	}
	covered := 0
	for _, row := range s.Counts {
		for _, n := range row {
			if n > 0 {
				covered++
			}
		}
	}
	s.Covered = float64(covered) / (GuideCols * GuideRows)
}

// errGuide is in the error of an incomplete capture.
var errGuide = errors.New("not enough views yet")

// Check returns nil when the views are enough, else an error that says what is missing.
func (g *Guide) Check() error {
	if g.state.Enough {
		return nil
	}
	return fmt.Errorf("calibration: guide: %w (%d): %s", errGuide, g.state.Views, g.state.Advice)
}
