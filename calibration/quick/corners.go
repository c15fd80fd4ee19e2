package quick

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

const (
	// firstCorner is the id of the mat's near left corner in the layout of a mat without markers; the others follow
	// counter-clockwise. No printed marker of family 36h11 has it: they end at 586.
	firstCorner = 1000

	// MatSigma, in mm, is the sigma of a mat's corner from its stated size: mats are cut to a millimetre or two, and their
	// corners are rounded.
	MatSigma = 1.5

	// matScaleSigma is the relative error of a mat's size: 1.5 mm of 914.
	matScaleSigma = 0.0016

	// ClickSigma, in px, is the sigma of a person pointing at a corner of the mat.
	ClickSigma = 1.0

	// cornerSize, in mm, is the side of the square that stands for a point: too small to show its scale or turn.
	cornerSize = 0.2
)

// CornerLayout returns the layout of a mat without markers: a point at each of its corners.
func CornerLayout(width, height geom.Length) calibration.Layout {
	l := calibration.Layout{Width: width, Height: height, Placement: calibration.Placement{
		XY: MatSigma, Turn: calibration.DefaultPlacement.Turn, Z: calibration.DefaultPlacement.Z, Size: calibration.DefaultPlacement.Size,
	}}
	for i, c := range l.Corners() {
		l.Markers = append(l.Markers, calibration.Marker{ID: firstCorner + i, Center: c, Size: cornerSize})
	}
	return l
}

// IsCorners reports whether a layout is that of a mat without markers.
func IsCorners(l calibration.Layout) bool {
	return len(l.Markers) > 0 && l.Markers[0].ID >= firstCorner
}

// Corners returns the input for the mat's four corners as a person pointed at them in a picture of the given size: near
// left, near right, far right, far left as player 1 sees them, then any points of the edges. An edge is straight, so its
// points show the distortion, which four corners cannot. Sigma is in px; 0 means ClickSigma.
func Corners(matWidth, matHeight geom.Length, at []geom.Pixel, sigma float64, width, height int) (Input, error) {
	if len(at) < 4 {
		return Input{}, fmt.Errorf("calibration: quick: expected the mat's four corners, got %d points", len(at))
	}
	if len(at) > mostPoints {
		return Input{}, fmt.Errorf("calibration: quick: expected at most %d points, got %d", mostPoints, len(at))
	}
	if sigma == 0 {
		sigma = ClickSigma
	}
	// Four readings of one point with twice the sigma are together as exact as one.
	in := Input{Layout: CornerLayout(matWidth, matHeight), Width: width, Height: height, CornerSigma: 2 * sigma, ScaleSigma: matScaleSigma,
		loose: map[int][2]float64{}}
	corners := in.Layout.Corners()
	plane, ok := calibration.FitHomography(corners[:], at[:4])
	if !ok {
		return Input{}, fmt.Errorf("calibration: quick: %w: the mat's corners stand in a row", ErrMarkers)
	}
	for _, px := range at[4:] {
		in.edgePoint(&plane, px)
	}
	v := View{Name: "the mat's corners"}
	for i, px := range at {
		v.Seen = append(v.Seen, calibration.MarkerSighting{ID: firstCorner + i, Corners: [4]geom.Pixel{px, px, px, px}})
	}
	in.Views = []View{v}
	return in, nil
}

// mostPoints is more than any person clicks.
const mostPoints = 64

// edgePoint adds a point of the nearest edge: known across the edge, not along it.
func (in *Input) edgePoint(plane *calibration.Homography, px geom.Pixel) {
	best, least := geom.Point{}, math.Inf(1)
	var sigma [2]float64
	corners := in.Layout.Corners()
	for i, from := range corners {
		to := corners[(i+1)%4]
		for k := range edgeSteps {
			p := from.Add(to.Sub(from).Mul((float64(k) + 0.5) / edgeSteps))
			at, ok := plane.Map(p)
			if !ok {
				continue
			}
			if d := at.Sub(px).Norm(); d < least {
				best, least = p, d
				sigma = [2]float64{alongSigma, MatSigma}
				if i%2 == 1 {
					sigma = [2]float64{MatSigma, alongSigma}
				}
			}
		}
	}
	id := firstCorner + len(in.Layout.Markers)
	in.Layout.Markers = append(in.Layout.Markers, calibration.Marker{ID: id, Center: best, Size: cornerSize})
	in.loose[id] = sigma
}

const (
	edgeSteps  = 200   // places tried along an edge
	alongSigma = 100.0 // mm: where along its edge a point lies is unknown
)

// sameView, in px, is the largest motion of a marker between two pictures of a resting camera.
const sameView = 1.5

// Merge averages successive views that show their markers in the same places, those of a resting camera. Averaging reduces
// noise, but not the errors of markers and lens, which must not count once for each picture.
func Merge(views []View) (out []View) {
	for start := 0; start < len(views); {
		end := start + 1
		for end < len(views) && still(views[start], views[end]) {
			end++
		}
		out = append(out, mean(views[start:end]))
		start = end
	}
	return out
}

// still reports whether two views share markers and show all of those in the same places.
func still(a, b View) bool {
	shared := 0
	for _, s := range a.Seen {
		for _, o := range b.Seen {
			if s.ID != o.ID {
				continue
			}
			shared++
			for k := range s.Corners {
				if d := s.Corners[k].Sub(o.Corners[k]); math.Hypot(d.X, d.Y) > sameView {
					return false
				}
			}
		}
	}
	return shared > 0
}

// mean returns the mean of views. A marker that appears twice in one of them stays twice.
func mean(views []View) View {
	out := View{Name: views[len(views)-1].Name}
	type sum struct {
		corners [4]geom.Pixel
		n       float64
	}
	sums, doubled := map[int]*sum{}, map[int]bool{}
	var ids []int
	for _, v := range views {
		here := map[int]bool{}
		for _, s := range v.Seen {
			doubled[s.ID] = doubled[s.ID] || here[s.ID]
			here[s.ID] = true
			if sums[s.ID] == nil {
				sums[s.ID] = &sum{}
				ids = append(ids, s.ID)
			}
			m := sums[s.ID]
			m.n++
			for k, c := range s.Corners {
				m.corners[k] = m.corners[k].Add(c)
			}
		}
	}
	for _, id := range ids {
		m := calibration.MarkerSighting{ID: id}
		for k, c := range sums[id].corners {
			m.Corners[k] = c.Mul(1 / sums[id].n)
		}
		out.Seen = append(out.Seen, m)
		if doubled[id] {
			out.Seen = append(out.Seen, m)
		}
	}
	return out
}
