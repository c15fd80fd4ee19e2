package calibration

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/engine/geom"
)

// RenewFromFew registers the table again from markers that are too few for Renew, or stand in a row. It uses those that lie
// within limit of where the table puts them, since they cannot have been bumped. The new covariance states what they leave
// open. It fails with ErrMarkers when no marker lies in its place, and when the mat's worst corner has a sigma of more than most.
func (t *Table) RenewFromFew(seen []MarkerSighting, limit, most geom.Length) (Table, error) {
	var used []correspondence
	for _, s := range seen {
		m, known := t.Layout.marker(s.ID)
		if off, of, _, _ := t.Displaced([]MarkerSighting{s}, limit); known && off == 0 && of == 1 {
			used = append(used, correspondence{m, t.turned(m, s.Corners)})
		}
	}
	if len(used) == 0 {
		return *t, fmt.Errorf("%w: none lies where the calibration puts it", ErrMarkers)
	}
	noise := noiseModel{max(cornerSigma, t.CornerSigma), t.Layout.placement()}
	s, err := solvePose(t.Intrinsics, used, noise, &t.Extrinsics)
	if err != nil {
		return *t, fmt.Errorf("%w: %w", ErrMarkers, err)
	}
	fresh := *t
	fresh.Extrinsics, fresh.RMS, fresh.Used, fresh.Residuals = s.pose, s.rms, nil, nil
	fresh.CornerSigma, fresh.PlacementFactor = noise.corner, 1
	for _, c := range used {
		fresh.Used = append(fresh.Used, c.marker.ID)
	}
	slices.Sort(fresh.Used)
	fresh.RegistrationCovariance, fresh.PoseCovariance = s.inverse, s.covariance(t.Intrinsics)
	if open := fresh.PlaceSigma(); !(open <= most) {
		return *t, fmt.Errorf("%w: %w", ErrMarkers, errors.New(leavesOpen(len(used), open)))
	}
	return fresh, nil
}

// turned returns a marker's corners in the layout's order: its card may lie turned.
func (t *Table) turned(m Marker, seen [4]geom.Pixel) (out [4]geom.Pixel) {
	least := math.Inf(1)
	for by := range 4 {
		off := 0.0
		for i, p := range m.Corners() {
			px, _ := t.PixelOf(p, m.Z)
			off += px.Sub(seen[(i+by)%4]).Norm()
		}
		if off < least {
			least = off
			for i := range out {
				out[i] = seen[(i+by)%4]
			}
		}
	}
	return out
}

// leavesOpen describes how well too few markers fix the camera.
func leavesOpen(markers int, open geom.Length) string {
	these := "the one marker that lies where the calibration puts it leaves"
	if markers > 1 {
		these = fmt.Sprintf("the %d markers that lie where the calibration puts them leave", markers)
	}
	return fmt.Sprintf("%s the mat's worst corner open by %.1f mm", these, open.Millimeters())
}

// WithCameraSigma returns the table with a standard deviation added to the camera's position along each axis of the picture.
func (t *Table) WithCameraSigma(sigma geom.Length) Table {
	out := *t
	for _, cov := range []*[]float64{&out.PoseCovariance, &out.RegistrationCovariance} {
		if len(*cov) == 36 {
			*cov = slices.Clone(*cov)
			(*cov)[3*6+3] += float64(sigma * sigma)
			(*cov)[4*6+4] += float64(sigma * sigma)
		}
	}
	return out
}
