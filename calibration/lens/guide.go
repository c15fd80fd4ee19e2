package lens

import (
	"errors"
	"fmt"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
)

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
	return slices.Clone(g.views)
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

// take adds a view and updates the state.
func (g *Guide) take(v calibration.BoardView) {
	v.Pixels, v.Indices = slices.Clone(v.Pixels), slices.Clone(v.Indices)
	g.views = append(g.views, v)
	g.solve()
	g.count()
	g.advise()
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
