package lens

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"sightline/calibration"
	"sightline/engine/geom"
)

// ErrViews is returned by Solve when the views do not fix the lens.
var ErrViews = errors.New("the views do not fix the lens")

// The requirements for a set of views.
const (
	// MinViews is the least number of used views. Three fix a lens without redundancy
	// (Zhang 2000, section 3.1); the fourth can contradict.
	MinViews = 4

	// maxFocalSigma is the greatest relative standard deviation of the focal lengths,
	// which is also that of the camera's height over the mat: half a percent is 6 mm at
	// 1.2 m, which moves a base's top by 0.01 mm at the mat's corner. The good sets at
	// hand reach 0.28 % (OpenCV's photographs) and 0.03 % (rendered), the frontal one of
	// PhotonVision 17 %.
	maxFocalSigma = 0.005

	// minTilt is the least angle between the two boards that differ most. Parallel
	// boards cannot separate focal length from distance.
	minTilt = 15 * geom.Degree

	// A view is dropped when its rms exceeds this multiple of the others' median and the
	// rest fits better without it. Good views stay below 1.5 times the median (OpenCV's
	// photographs, the rendered set); the bad view of the rendered set reaches five times.
	outlierRatio = 2.5
)

// Solution is a solved lens with the views that it was solved from.
type Solution struct {
	Lens    calibration.Intrinsics // with RMS, Views and Covariance
	Views   []View                 // those that were used, in their order
	Dropped []calibration.Rejection
	Tilt    geom.Angle // between the two boards that differ most

	// Model is the chosen distortion model. Models are all that were tried, the simplest
	// first. HeldOut is the chosen one's error on views it was not fitted to, px (see Model).
	Model   string
	Models  []Model
	HeldOut float64

	// MatSigma is the error that the lens's covariance causes at the worst mat point (see
	// the function MatSigma).
	MatSigma geom.Length
	// Advice says which further pictures would improve the lens; empty when none are
	// needed.
	Advice []string
}

// View is a view that was used.
type View struct {
	Name    string
	RMS     float64                // px, per corner as OpenCV counts it: the root of the mean squared distance
	Corners int                    // number of visible corners
	Pose    calibration.Extrinsics // the board's frame to the camera's
}

// Solve finds a lens and its covariance from views of a board, whole or in part, in
// pictures of the given size. It starts in closed form (Zhang 2000) and minimises the
// reprojection error of every corner by Levenberg-Marquardt. Views that do not fit the
// others are dropped and named. It chooses the simplest distortion model that does as
// well as the best on held-out views (see Model). It fails with ErrViews, and says what
// to do, when the views do not fix the lens.
//
// The covariance is that of the model with all parameters (see choose), so a parameter
// that the chosen model fixes at zero has a variance too. It uses the noise that the
// residuals show, enlarged where the jackknife over the views exceeds it: the corner
// errors of a photograph are correlated within a view.
func Solve(board calibration.Board, views []calibration.BoardView, width, height int) (Solution, error) {
	var s Solution
	object := board.Points()
	for _, v := range views {
		if err := v.Validate(len(object)); err != nil {
			return s, fmt.Errorf("calibration: solve lens: %w", err)
		}
	}
	if width < 1 || height < 1 {
		return s, fmt.Errorf("calibration: solve lens: picture of %d×%d", width, height)
	}
	if err := checkViewCount(len(views)); err != nil {
		return s, err
	}
	start, poses, err := startLens(board, views, width, height)
	if err != nil {
		return s, fmt.Errorf("calibration: solve lens: %w: %w", ErrViews, err)
	}
	p := &problem{object: object, lens: start, views: append([]calibration.BoardView(nil), views...), poses: poses}
	for _, m := range []int{1, len(models) - 1} { // k1 first, so a strong barrel does not mislead the full model
		p.free = models[m].free
		if err := p.solve(); err != nil {
			return s, err
		}
	}
	if p, err = s.dropOutliers(p); err != nil {
		return s, err
	}
	s.Tilt = p.tilt()
	chosen, tried, cov, err := p.choose()
	for _, t := range tried {
		s.Models = append(s.Models, t.Model)
	}
	if err == nil {
		p = chosen.problem
		s.Model, s.HeldOut = chosen.Name, chosen.HeldOut
	}
	s.Lens = p.lens
	for i, v := range p.views {
		s.Views = append(s.Views, View{Name: v.Name, RMS: p.viewRMS(i), Corners: len(v.Pixels), Pose: p.poses[i]})
	}
	s.Lens.RMS, s.Lens.Views = p.rms(), len(p.views)
	if err := s.checkTilt(); err != nil {
		return s, err
	}
	if err := checkSpread(p.views, width, height); err != nil {
		return s, err
	}
	if err != nil {
		return s, err
	}
	s.Lens.Covariance = cov
	if err := s.check(); err != nil {
		return s, err
	}
	s.MatSigma, _ = MatSigma(s.Lens)
	s.Advice = advice(p.views, width, height)
	return s, nil
}

// dropOutliers drops, one after the other, the views that do not fit the others, and
// names them.
func (s *Solution) dropOutliers(p *problem) (*problem, error) {
	for {
		i, reason := p.outlier()
		if i < 0 {
			return p, nil
		}
		s.Dropped = append(s.Dropped, calibration.Rejection{Name: p.views[i].Name, Reason: reason})
		p = p.without(i)
		if err := p.solve(); err != nil {
			return p, err
		}
	}
}

func checkViewCount(n int) error {
	if n < MinViews {
		return fmt.Errorf("calibration: solve lens: %w: %d usable views, at least %d are needed: take 10 to 15 pictures of the whole board, "+
			"tilted by 20 to 40 degrees in different directions and spread over the picture", ErrViews, n, MinViews)
	}
	return nil
}

// minSpread is the least share of the picture's width and height that the corners of
// all views must span. Elsewhere the model extrapolates: with half of the picture left
// out, by the sixth power of a quarter more radius.
const minSpread = 0.6

// checkSpread refuses views that all lie in one part of the picture.
func checkSpread(views []calibration.BoardView, width, height int) error {
	lo, hi := geom.Pixel{X: math.Inf(1), Y: math.Inf(1)}, geom.Pixel{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, v := range views {
		for _, p := range v.Pixels {
			lo = geom.Pixel{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}
			hi = geom.Pixel{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
		}
	}
	x, y := (hi.X-lo.X)/float64(width), (hi.Y-lo.Y)/float64(height)
	if min(x, y) >= minSpread {
		return nil
	}
	// The advice names the widest empty margin.
	empty := map[string]float64{"left": lo.X / float64(width), "right": 1 - hi.X/float64(width),
		"top": lo.Y / float64(height), "bottom": 1 - hi.Y/float64(height)}
	var sides []string
	for _, side := range [...]string{"top", "bottom", "left", "right"} {
		if empty[side] > (1-minSpread)/2 {
			sides = append(sides, side)
		}
	}
	return fmt.Errorf("calibration: solve lens: %w: the boards cover %.0f percent of the picture's width and %.0f of its height, at least "+
		"%.0f are needed: add pictures with the board, tilted, at the %s of the picture",
		ErrViews, 100*x, 100*y, 100*minSpread, strings.Join(sides, " and at the "))
}

// advice names the corners of the picture without a board.
func advice(views []calibration.BoardView, width, height int) (out []string) {
	var seen [2][2]bool
	for _, v := range views {
		for _, p := range v.Pixels {
			c, r := p.X/float64(width), p.Y/float64(height)
			if (c < 0.2 || c > 0.8) && (r < 0.2 || r > 0.8) {
				seen[int(math.Round(r))][int(math.Round(c))] = true
			}
		}
	}
	for r, down := range [...]string{"top", "bottom"} {
		for c, across := range [...]string{"left", "right"} {
			if !seen[r][c] {
				out = append(out, fmt.Sprintf("no board was seen in the %s %s corner of the picture: what the lens does there is "+
					"concluded from the rest", down, across))
			}
		}
	}
	return out
}

const tiltAdvice = "add pictures with the board tilted by 20 to 40 degrees to the left, right, near and far"

// checkTilt refuses boards that are all nearly parallel.
func (s *Solution) checkTilt() error {
	if s.Tilt < minTilt {
		return fmt.Errorf("calibration: solve lens: %w: the focal length cannot be told from the distance, because the boards are all nearly "+
			"parallel (within %.1f degrees): %s",
			ErrViews, s.Tilt.Degrees(), tiltAdvice)
	}
	return nil
}

// check reports views that do not fix the lens.
func (s *Solution) check() error {
	sx, sy := s.FocalSigma()
	if worst := max(sx/s.Lens.Fx, sy/s.Lens.Fy); !(worst <= maxFocalSigma) {
		return fmt.Errorf("calibration: solve lens: %w: the focal length is known to %.1f percent only (fx %.0f ± %.0f, fy %.0f ± %.0f px), "+
			"at most %.1f is acceptable: %s",
			ErrViews, 100*worst, s.Lens.Fx, sx, s.Lens.Fy, sy, 100*maxFocalSigma, tiltAdvice)
	}
	return nil
}

// FocalSigma returns the standard deviations of fx and fy in px.
func (s *Solution) FocalSigma() (x, y float64) {
	if len(s.Lens.Covariance) != 81 {
		return math.Inf(1), math.Inf(1)
	}
	return math.Sqrt(s.Lens.Covariance[0]), math.Sqrt(s.Lens.Covariance[10])
}
