package quick

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/engine/geom"
)

// ErrMarkers is returned by Solve when the visible markers do not fix the camera's pose.
var ErrMarkers = calibration.ErrMarkers

// View holds the mat's markers in one picture, or in several of a resting camera.
type View struct {
	Name string
	Seen []calibration.MarkerSighting
}

// Input is the data from which Solve estimates a lens and a pose.
type Input struct {
	Layout        calibration.Layout
	Views         []View // all of one lens; the solved pose is that of the last
	Width, Height int    // of the pictures, px

	// CornerSigma is the least sigma of a corner, in px; 0 means that of the marker detector.
	CornerSigma float64
	// ScaleSigma is the relative error shared by all distances; 0 means calibration.DefaultScaleSigma.
	ScaleSigma float64

	loose map[int][2]float64 // by id: sigmas in x and y, mm, of points whose place is not the layout's
}

// Solution is an estimated lens with the camera's place.
type Solution struct {
	Table      calibration.Table
	FocalSigma float64                 // relative
	Unused     []calibration.Rejection // views with too few markers
	Views      int                     // number of views used
}

const (
	minMarkers = 3 // in the last view; three well spread markers give 24 equations

	// detectorSigma is the least sigma of a detected corner that residuals may claim (docs/accuracy.md).
	detectorSigma = 0.05

	// bumpLimit and the least shift and turn are those of calibration.Register: chance exceeds the limit once in 2300
	// markers, and a marker closer than these to its place is used however small its sigma.
	bumpLimit = 18.0
	bumpFloor = 0.5
	bumpTurn  = 1.5 * math.Pi / 180

	// brokenSquare, in px, and brokenSigmas are how far a marker's corners may lie off altogether.
	brokenSquare = 1.5
	brokenSigmas = 6.0

	// placementWeight is how many measurements the stated placement counts as against the observed scatter.
	placementWeight = 10.0

	// noiseRounds is the number of iterations for the corners' sigma and the markers' scatter, which depend on each other.
	noiseRounds = 4
)

// Solve estimates the lens and the camera's pose in the last view. Markers that contradict the others are rejected by name.
// It fails with ErrMarkers when the last view shows fewer than three markers that agree, or all in a row.
func Solve(in Input) (Solution, error) {
	var s Solution
	if err := in.validate(); err != nil {
		return s, fmt.Errorf("calibration: quick: %w", err)
	}
	t := calibration.Table{Layout: in.Layout, ScaleSigma: in.ScaleSigma}
	if t.ScaleSigma == 0 {
		t.ScaleSigma = calibration.DefaultScaleSigma
	}
	out := map[int]bool{}
	for {
		p, names, err := in.problem(out, &s)
		if err != nil {
			return s, in.unfixed(err)
		}
		cov, factor, err := p.adjust(in.CornerSigma)
		if err != nil {
			return s, in.unfixed(err)
		}
		residuals := p.residuals(in.Layout, cov, factor)
		worst, why := p.worst(residuals)
		switch {
		case worst >= 0 && (IsCorners(in.Layout) || len(p.markers) <= minMarkers):
			return s, in.unfixed(fmt.Errorf("marker %d: %s, and without it too few are left", p.markers[worst].ID, why))
		case worst < 0 && !p.converged:
			return s, in.unfixed(errors.New("the solution does not converge"))
		}
		if worst < 0 {
			t.Residuals = append(t.Residuals, residuals...)
			s.Table, s.Views = t, len(names)
			s.finish(p, cov, factor)
			return s, nil
		}
		id := p.markers[worst].ID
		out[id] = true
		t.Rejected = append(t.Rejected, calibration.Rejection{Name: fmt.Sprintf("marker %d", id), Reason: why})
		r := residuals[worst]
		r.Used = false
		t.Residuals = append(t.Residuals, r)
	}
}

// unfixed returns the error for markers or corners that do not fix the camera's pose.
func (in *Input) unfixed(why error) error {
	if IsCorners(in.Layout) {
		return fmt.Errorf("calibration: quick: %w: no usual lens shows the corners of a mat of %.0f × %.0f mm so: are they in their order, "+
			"near left, near right, far right, far left, and is that the mat's size?",
			ErrMarkers, float64(in.Layout.Width), float64(in.Layout.Height))
	}
	return fmt.Errorf("calibration: quick: %w: %w", ErrMarkers, why)
}

func (in *Input) validate() error {
	switch {
	case len(in.Views) == 0:
		return errors.New("no pictures")
	case in.Width < 1 || in.Height < 1:
		return fmt.Errorf("picture of %d×%d", in.Width, in.Height)
	case !(in.CornerSigma >= 0) || !(in.ScaleSigma >= 0):
		return fmt.Errorf("expected sigmas that are not negative, got %v px and %v", in.CornerSigma, in.ScaleSigma)
	}
	for _, v := range in.Views {
		for _, s := range v.Seen {
			for _, c := range s.Corners {
				if !(math.Abs(c.X) < 1e6 && math.Abs(c.Y) < 1e6) {
					return fmt.Errorf("%s: marker %d: corner at %v", v.Name, s.ID, c)
				}
			}
		}
	}
	if err := in.Layout.Validate(); err != nil {
		return fmt.Errorf("layout: %w", err)
	}
	return nil
}

// problem collects the sightings of the markers that are not left out, and finds a start.
func (in *Input) problem(out map[int]bool, s *Solution) (p *problem, names []string, err error) {
	p = &problem{prior: newPrior(in.Width, in.Height), corner: max(detectorSigma, in.CornerSigma)}
	laid := in.Layout.Placement
	if laid == (calibration.Placement{}) {
		laid = calibration.DefaultPlacement
	}
	stated := [placements]float64{float64(laid.XY), float64(laid.XY), float64(laid.Turn), float64(laid.Z), laid.Size, laid.Size}
	index := map[int]int{}
	s.Unused = nil
	for i, v := range in.Views {
		usable := known(in.Layout, v.Seen, out)
		if len(usable) < minMarkers {
			if i == len(in.Views)-1 {
				return nil, nil, fmt.Errorf("%s: %d of %d markers are usable, at least %d are needed", v.Name, len(usable),
					len(in.Layout.Markers), minMarkers)
			}
			s.Unused = append(s.Unused, calibration.Rejection{Name: v.Name, Reason: fmt.Sprintf("%d markers are usable, at least %d are needed",
				len(usable), minMarkers)})
			continue
		}
		for _, u := range usable {
			k, ok := index[u.marker.ID]
			if !ok {
				k = len(p.markers)
				index[u.marker.ID] = k
				p.markers = append(p.markers, u.marker)
				sigma := stated
				if loose, ok := in.loose[u.marker.ID]; ok {
					sigma[0], sigma[1] = loose[0], loose[1]
				}
				p.laid = append(p.laid, sigma)
			}
			p.seen = append(p.seen, sighting{view: len(names), marker: k, corners: u.corners})
		}
		names = append(names, v.Name)
	}
	p.views, p.place = len(names), make([][placements]float64, len(p.markers))
	return p, names, p.start()
}

// usable is a sighting with its marker.
type usable struct {
	marker  calibration.Marker
	corners [4]geom.Pixel
}

// known returns the sightings of the layout's markers that were seen once and are not in out.
func known(l calibration.Layout, seen []calibration.MarkerSighting, out map[int]bool) (all []usable) {
	count := map[int]int{}
	for _, s := range seen {
		count[s.ID]++
	}
	for _, s := range calibration.TurnSightings(l, seen) { // a card may lie turned
		i := slices.IndexFunc(l.Markers, func(m calibration.Marker) bool { return m.ID == s.ID })
		if i >= 0 && count[s.ID] == 1 && !out[s.ID] {
			all = append(all, usable{l.Markers[i], s.Corners})
		}
	}
	return all
}

// starts are the focal lengths, in widths of the picture, from which the solution is searched: the cost of one picture from
// straight above has two minima.
var starts = [...]float64{0.5, 0.75, 1.1, 1.6}

// start finds the solution of least cost among those of the starts.
func (p *problem) start() error {
	best, least := (*problem)(nil), math.Inf(1)
	err := errUnsolvable
	for _, f := range starts {
		try := *p
		try.place = make([][placements]float64, len(p.markers))
		try.shape = p.prior.mean
		try.shape[0] = math.Log(f * float64(p.prior.width))
		try.shape[4] = 0
		if e := try.startPoses(); e != nil {
			err = e
			continue
		}
		cost, e := try.solve()
		if e != nil {
			err = e
			continue
		}
		if cost < least {
			best, least = &try, cost
		}
	}
	if best == nil {
		return err
	}
	*p = *best
	return nil
}

// startPoses sets every view's pose from the homography of its markers, for a lens without distortion.
func (p *problem) startPoses() error {
	lens := p.prior.lens(&p.shape)
	p.poses = make([]calibration.Extrinsics, p.views)
	for v := range p.poses {
		var from []geom.Point
		var to []geom.Pixel
		for _, s := range p.seen {
			if s.view != v {
				continue
			}
			for k, at := range p.markers[s.marker].Corners() {
				px := s.corners[k]
				from = append(from, at)
				to = append(to, geom.Pixel{X: (px.X - lens.Cx) / lens.Fx, Y: (px.Y - lens.Cy) / lens.Fy})
			}
		}
		h, ok := calibration.FitHomography(from, to)
		if !ok {
			return errUnsolvable
		}
		e := calibration.PoseOfColumns(calibration.Vec3{h[0], h[3], h[6]}, calibration.Vec3{h[1], h[4], h[7]},
			calibration.Vec3{h[2], h[5], h[8]})
		if q := e.Camera(calibration.Vec3{from[0].X, from[0].Y, 0}); !(q[2] > 1) || !(e.R[2][2] < 0) {
			return errors.New("they are seen from below or in mirror image: are the ids in their places?")
		}
		p.poses[v] = e
	}
	return nil
}
