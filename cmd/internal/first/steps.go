package first

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// Facts are the present state of the table. The steps depend on nothing else, so a step completed
// elsewhere (by a command, in another browser) is complete here too.
type Facts struct {
	Camera     string // the source in use; "": none
	Live       bool   // it delivers pictures
	Trouble    string // why it does not
	Ended      bool   // it was a recording, and has ended
	Simulated  bool
	Height     int // of its pictures, px; 0: unknown
	Print      *Print
	Quick      bool               // the user chose the quick way
	Lens       bool               // a lens is known, from any source
	Rough      bool               // the lens was estimated from markers
	RoughTable bool               // Table was made with such a lens
	Table      *calibration.Table // in use; nil: the camera's pose is unknown
	Saved      bool               // Table was saved, or found again from a saved one
	Busy       bool               // a calibration uses the camera
	Missing    int                // markers of the layout that are not visible
	MatLearnt  bool
	Tokens     int  // in the catalogue
	Watched    bool // obstacles
	Ships      int  // that are recognised
	Answers    bool // there are answers
	Verified   bool
	Outcome    string // of the last verification
	WorstError float64
}

// State is the progress of a step.
type State string

// The states of a step.
const (
	Done    State = "done"
	Next    State = "next"    // the first open one
	Open    State = "open"    // can be done now
	Waiting State = "waiting" // for another step
	Skipped State = "skipped" // the quick way skips it
)

// Step is a step to the first trusted answer.
type Step struct {
	ID    string
	Title string
	State State
	Now   string // the current state in words
	Gain  string // benefit, in millimetres if it has such
	Does  string // label of its button; "": no button
	Href  string // where the button leads; "": the page itself handles it
	Needs string // what must be done first, if it waits
}

// The ids of the steps in their order.
const (
	camera    = "camera"
	printing  = "print"
	lens      = "lens"
	markers   = "markers"
	mat       = "mat"
	obstacles = "obstacles"
	ships     = "ships"
	verifying = "verify"
)

// Steps returns all steps in their order.
func Steps(f Facts) []Step {
	g := gainsOf(f.Table)
	all := []Step{
		f.camera(), f.print(), f.lens(g), f.markers(g), f.mat(), f.obstacles(), f.ships(), f.verify(g),
	}
	next := false
	for i := range all {
		if all[i].State == Open && !next {
			all[i].State, next = Next, true
		}
	}
	return all
}

func (f Facts) camera() Step {
	s := Step{ID: camera, Title: "Choose the camera", State: Open, Does: "Choose"}
	const about = 1.1 * float64(calibration.MatSide) // the mat and its markers fill the picture's height
	s.Gain = fmt.Sprintf("One pixel covers %.1f mm of the mat at 1080p, %.1f mm at 4K.", about/1080, about/2160)
	switch {
	case f.Camera == "":
		s.Now = "No camera is chosen."
	case f.Ended:
		s.Now = f.Camera + " has ended."
	case !f.Live:
		s.Now = fmt.Sprintf("%s does not answer: %s", f.Camera, f.Trouble)
	default:
		s.State, s.Now = Done, f.Camera+" gives pictures."
		if f.Height > 0 {
			s.Gain = fmt.Sprintf("One pixel of this camera covers about %.1f mm of the mat.", about/float64(f.Height))
		}
	}
	return s
}

func (f Facts) print() Step {
	s := Step{ID: printing, Title: "Print and check the scale", State: Open,
		Gain: "A page printed “to fit” comes out about 3 % too small, a small base's token by 1.2 mm. Checked with a steel rule, the " +
			"error is 0.1 mm."}
	switch p := f.Print; {
	case p == nil:
		s.Now = "No bar has been measured yet."
	case !p.Good:
		s.Now = fmt.Sprintf("The bars measured %.1f and %.1f mm. The sheets are now drawn for this printer: print them again and measure again.",
			p.BarX, p.BarY)
	default:
		s.State, s.Now = Done, fmt.Sprintf("The bars measured %.1f and %.1f mm: correct.", p.BarX, p.BarY)
	}
	return s
}

// needs returns the step as waiting for something.
func (s Step) needs(what string) Step {
	s.State, s.Needs, s.Does, s.Href = Waiting, what, "", ""
	return s
}

func (f Facts) lens(g gains) Step {
	s := Step{ID: lens, Title: "Calibrate the lens", State: Open, Does: "Calibrate the lens", Href: "/calibrate#lens"}
	s.Gain = fmt.Sprintf("Estimated from the markers, the lens adds an error of about %s over 300 mm; calibrated with a board, less "+
		"than %s.", g.rough, g.exact)
	switch {
	case f.Table == nil:
	case g.lensMiddle > 0:
		s.Gain = fmt.Sprintf("Its error is %s over 300 mm in the middle of the mat, %s in a corner.", millimetres(g.lensMiddle),
			millimetres(g.lensCorner))
	case f.Simulated:
		s.Gain = "The simulated camera's lens is known exactly. No real one is."
	default:
		s.Gain = "This lens file states no uncertainty, so the answers include none for the lens. Calibrate it to include one."
	}
	switch {
	case f.Lens && !f.Rough:
		s.State, s.Does = Done, "Do it again"
		s.Now = "The lens is known."
	case !f.Live:
		return s.needs("a camera that gives pictures")
	case f.Quick && f.Rough:
		s.State, s.Does = Skipped, "Improve it: calibrate the lens"
		s.Now = "Estimated from the markers. A board makes it exact."
	case f.Quick:
		s.State, s.Now, s.Does = Skipped, "The quick way estimates it from the markers.", ""
	case f.Rough:
		s.Now = "Estimated from the markers so far."
	default:
		s.Now = "The lens is not known yet."
	}
	return s
}

func (f Facts) markers(g gains) Step {
	s := Step{ID: markers, Title: "Lay the markers", State: Open, Does: "Find the camera's place", Href: "/calibrate#table"}
	s.Gain = "The camera's place: nothing can be measured without it."
	if f.Quick && !f.Lens {
		s.Does, s.Href = "Estimate lens and place", "/calibrate#quick"
	}
	switch {
	case f.Busy:
		s.Now, s.Does, s.Href = "A calibration is open: finish it, and what it saved counts.", "Go on with the calibration", "/calibrate"
	case f.Table != nil && f.RoughTable && !f.Quick:
		s.Now = "The camera's place is that of the quick way. Find it again with the lens from the board."
	case f.Table != nil:
		s.State, s.Does = Done, "Do it again"
		if f.Quick && f.Rough {
			s.Href = "/calibrate#quick"
		}
		s.Now = fmt.Sprintf("%d markers give the camera's place.", len(f.Table.Used))
		if f.Missing > 0 {
			s.Now += fmt.Sprintf(" %d of the others are not seen.", f.Missing)
		}
		s.Gain = fmt.Sprintf("Over 300 mm, the camera's place adds an error of %s, and the scale of the printed markers another %s. "+
			"Two long distances between markers, measured with a steel rule or tape, reduce the second: do the step again and type them in.",
			millimetres(g.place), millimetres(g.scale))
	case !f.Live:
		return s.needs("a camera that gives pictures")
	case !f.Lens && !f.Quick:
		return s.needs("the lens, or the quick way")
	default:
		s.Now = "Lay the eight cards around the mat as their last sheet shows, all of them in the picture."
	}
	return s
}

func (f Facts) mat() Step {
	s := Step{ID: mat, Title: "Learn the empty mat", State: Open, Does: "Learn the empty mat", Href: "/obstacles#mat",
		Gain: "Obstacles are found against it. Without it obstruction has no answer."}
	return f.taught(s, f.MatLearnt, "The empty mat is learnt.", "Learn it again",
		"The empty mat is not learnt yet. Ranges and arcs are answered without it.")
}

func (f Facts) obstacles() Step {
	s := Step{ID: obstacles, Title: "Show it your obstacles", State: Open, Does: "Trace your tokens", Href: "/obstacles#tokens",
		Gain: "Obstruction is answered, to 0.2 mm of a traced edge."}
	learnt := fmt.Sprintf("%d %s in the catalogue.", f.Tokens, plural(f.Tokens, "token is", "tokens are"))
	return f.taught(s, f.Tokens > 0 && f.MatLearnt, learnt, "More tokens", "The catalogue is empty. A game without obstacles needs none.")
}

// taught completes a step that needs the markers. now and again are its text and button when it is
// done, before is its text until then.
func (f Facts) taught(s Step, done bool, now, again, before string) Step {
	switch {
	case done:
		s.State, s.Now, s.Does = Done, now, again
	case f.Table == nil:
		return s.needs("the markers")
	default:
		s.Now = before
	}
	return s
}

func (f Facts) ships() Step {
	s := Step{ID: ships, Title: "Put ships on the mat", State: Open, Does: "Go to the table", Href: "/",
		Gain: "Printing and cutting add an error of 0.1 mm for each token, its play on the base another 0.1 mm."}
	switch {
	case f.Ships >= 2 && f.Answers:
		s.State, s.Now = Done, fmt.Sprintf("%d ships are recognised, and their ranges answered.", f.Ships)
	case f.Table == nil:
		return s.needs("the markers")
	case f.Ships == 1:
		s.Now = "1 ship is recognised: an answer takes two."
	case f.Busy:
		s.Now = "The camera is being calibrated: answers come back when that is finished."
	default:
		s.Now = "No ship is recognised yet. Cut the tokens exactly, lay them flat on their bases, and keep lamps from mirroring in them."
	}
	return s
}

func (f Facts) verify(g gains) Step {
	s := Step{ID: verifying, Title: "Verify with the check card", State: Open, Does: "Verify", Href: "/calibrate#verify",
		Gain: "It improves nothing, but checks everything: a wrong sigma shows up."}
	if f.Table != nil {
		s.Gain = fmt.Sprintf("It improves nothing, but checks everything: 300 mm in the middle of the mat are stated to ±%s.",
			millimetres(g.total))
	}
	switch {
	case f.Verified && f.Outcome == "pass":
		s.State, s.Does = Done, "Verify again"
		s.Now = fmt.Sprintf("Passed, largest error %.2f mm.", f.WorstError)
	case f.Table == nil:
		return s.needs("the markers")
	case f.Quick && (f.Rough || f.RoughTable):
		s.State, s.Now = Skipped, "The quick way leaves it out."
	case f.Verified:
		s.Now = "The last verification did not pass: " + f.Outcome + "."
	case !f.Saved:
		s.Does, s.Href = "Find the camera's place", "/calibrate#table"
		s.Now = "A verification belongs to a saved place of the camera: find and save it first."
	default:
		s.Now = "Nobody has verified this table."
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// gains are standard deviations from the error budget of the table in use, for a distance of 300 mm
// in the middle of the mat unless stated otherwise.
type gains struct {
	lensMiddle, lensCorner, place, scale, total geom.Length
	rough, exact                                string // of a table without a calibration, measured
}

// The lens's contribution to a distance of 300 mm in the middle of the mat, one standard deviation,
// on the simulated tables of the browser tests (docs/calibrating.md#two-ways).
const (
	roughLens = "0.4 mm"
	exactLens = "0.1 mm"
)

// gainsOf computes the gains of a table; the zero Table has none.
func gainsOf(t *calibration.Table) gains {
	g := gains{rough: roughLens, exact: exactLens}
	if t == nil {
		return g
	}
	b := calibration.NewBudget(*t, calibration.Uncertainty{})
	w, h := float64(t.Layout.Width), float64(t.Layout.Height)
	middle := [2]calibration.Spot{
		{Point: geom.Point{X: w/2 - 150, Y: h / 2}, Z: token.BaseTop}, {Point: geom.Point{X: w/2 + 150, Y: h / 2}, Z: token.BaseTop},
	}
	corner := [2]calibration.Spot{{Point: geom.Point{X: 20, Y: 20}, Z: token.BaseTop}, {Point: geom.Point{X: 320, Y: 20}, Z: token.BaseTop}}
	if terms, ok := b.Difference(middle[0], middle[1]); ok {
		along := func(name string) geom.Length {
			return geom.Length(math.Sqrt(max(0, terms.Named(name).Along(geom.Point{X: 1}))))
		}
		g.lensMiddle, g.place, g.scale = along(calibration.TermLens), along(calibration.TermPose), along(calibration.TermScale)
	}
	if terms, ok := b.Difference(corner[0], corner[1]); ok {
		g.lensCorner = geom.Length(math.Sqrt(max(0, terms.Named(calibration.TermLens).Along(geom.Point{X: 1}))))
	}
	g.total, _ = b.Distance(middle[0], middle[1], 1)
	return g
}

// millimetres formats a standard deviation for people.
func millimetres(l geom.Length) string {
	if l < 0.005*geom.Millimeter {
		return "less than 0.01 mm"
	}
	return fmt.Sprintf("%.2f mm", l.Millimeters())
}
