package calibration

import (
	"errors"
	"fmt"
	"math"

	"sightline/engine/geom"
)

// Intrinsics is a lens: OpenCV's pinhole camera with plumb_bob distortion.
// The model is that of OpenCV's "Camera Calibration and 3D Reconstruction":
// with x = X/Z, y = Y/Z and r² = x² + y²,
//
//	x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) + 2 p1 x y + p2 (r² + 2 x²)
//	y' = y (1 + k1 r² + k2 r⁴ + k3 r⁶) + p1 (r² + 2 y²) + 2 p2 x y
//	u  = fx x' + cx,   v = fy y' + cy
type Intrinsics struct {
	Width, Height  int        // the picture's size in pixels
	Fx, Fy, Cx, Cy float64    // focal lengths and principal point in pixels
	Distortion     [5]float64 // k1, k2, p1, p2, k3

	RMS   float64 // reprojection error over the used views in pixels; 0 when unknown
	Views int     // number of views it was estimated from; 0 when unknown

	// Covariance is the row-major 9×9 covariance of (fx, fy, cx, cy, k1, k2, p1,
	// p2, k3), or nil when unknown.
	Covariance []float64
}

// The accepted focal lengths, in sides of the picture. A 170° fisheye taken for a plain
// lens has 0.3, a 3° telephoto lens 19. A value outside was written in millimetres or
// belongs to pictures of another size.
const (
	shortestFocal = 0.1
	longestFocal  = 20
)

// Validate reports what makes the lens unusable, naming the camera_info key.
func (in Intrinsics) Validate() error {
	switch {
	case in.Width <= 0 || in.Height <= 0:
		return fmt.Errorf("image_width and image_height must be positive, got %d×%d", in.Width, in.Height)
	case !(in.Fx > 0) || !(in.Fy > 0) || math.IsInf(in.Fx, 0) || math.IsInf(in.Fy, 0):
		return fmt.Errorf("camera_matrix: focal lengths must be positive and finite, got %v, %v", in.Fx, in.Fy)
	}
	side := float64(max(in.Width, in.Height))
	if least, most := shortestFocal*side, longestFocal*side; min(in.Fx, in.Fy) < least || max(in.Fx, in.Fy) > most {
		return fmt.Errorf("camera_matrix: focal lengths: expected %.0f to %.0f px for pictures of %d×%d, got %v, %v", least, most, in.Width,
			in.Height, in.Fx, in.Fy)
	}
	for _, v := range append([]float64{in.Cx, in.Cy}, in.Distortion[:]...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("camera_matrix and distortion_coefficients must be finite numbers")
		}
	}
	if in.Covariance != nil && len(in.Covariance) != 81 {
		return fmt.Errorf("covariance must hold 81 numbers (9×9), got %d", len(in.Covariance))
	}
	return nil
}

// Parameters returns the lens's parameters in the order of Covariance.
func (in *Intrinsics) Parameters() [9]float64 {
	d := in.Distortion
	return [9]float64{in.Fx, in.Fy, in.Cx, in.Cy, d[0], d[1], d[2], d[3], d[4]}
}

// Perturbed returns the lens with a step added to its nine Parameters.
func (in Intrinsics) Perturbed(step []float64) Intrinsics {
	in.Fx, in.Fy, in.Cx, in.Cy = in.Fx+step[0], in.Fy+step[1], in.Cx+step[2], in.Cy+step[3]
	for i := range in.Distortion {
		in.Distortion[i] += step[4+i]
	}
	return in
}

// squareWithin is the relative difference of fx and fy that is accepted for square
// pixels. Calibrations of cameras with square pixels reach a tenth of it.
const squareWithin = 0.01

// Square reports whether fx and fy agree within 1 %, as for square pixels.
func (in *Intrinsics) Square() bool { return math.Abs(in.Fx/in.Fy-1) <= squareWithin }

// distort applies the lens distortion to normalised coordinates.
func (in *Intrinsics) distort(x, y float64) (float64, float64) {
	k1, k2, p1, p2, k3 := in.Distortion[0], in.Distortion[1], in.Distortion[2], in.Distortion[3], in.Distortion[4]
	r2 := x*x + y*y
	radial := 1 + r2*(k1+r2*(k2+r2*k3))
	return x*radial + 2*p1*x*y + p2*(r2+2*x*x), y*radial + p1*(r2+2*y*y) + 2*p2*x*y
}

// Project maps normalised camera coordinates (X/Z, Y/Z) to the pixel where they appear.
func (in *Intrinsics) Project(x, y float64) geom.Pixel {
	xd, yd := in.distort(x, y)
	return geom.Pixel{X: in.Fx*xd + in.Cx, Y: in.Fy*yd + in.Cy}
}

// Undistort maps a pixel to normalised camera coordinates (X/Z, Y/Z). It solves
// the distortion by Newton's method and reports false where the model cannot be
// inverted (far outside the picture, where a strong barrel folds over).
func (in *Intrinsics) Undistort(px geom.Pixel) (x, y float64, ok bool) {
	xd, yd := (px.X-in.Cx)/in.Fx, (px.Y-in.Cy)/in.Fy
	x, y = xd, yd
	k1, k2, p1, p2, k3 := in.Distortion[0], in.Distortion[1], in.Distortion[2], in.Distortion[3], in.Distortion[4]
	for range 20 {
		fx, fy := in.distort(x, y)
		ex, ey := fx-xd, fy-yd
		r2 := x*x + y*y
		radial := 1 + r2*(k1+r2*(k2+r2*k3))
		d := 2 * (k1 + r2*(2*k2+3*r2*k3)) // d(radial)/d(r²) · 2
		jxx := radial + x*x*d + 2*p1*y + 6*p2*x
		jxy := x*y*d + 2*p1*x + 2*p2*y
		jyy := radial + y*y*d + 6*p1*y + 2*p2*x
		det := jxx*jyy - jxy*jxy
		if !(det > 1e-6) { // folded over, or NaN
			return 0, 0, false
		}
		dx, dy := (jyy*ex-jxy*ey)/det, (jxx*ey-jxy*ex)/det
		x, y = x-dx, y-dy
		if math.Abs(dx)+math.Abs(dy) < 1e-13 {
			return x, y, true
		}
	}
	fx, fy := in.distort(x, y)
	return x, y, math.Hypot(fx-xd, fy-yd) < 1e-9
}

// Contains reports whether the pixel lies within the picture.
func (in *Intrinsics) Contains(px geom.Pixel) bool {
	return px.X >= -0.5 && px.Y >= -0.5 && px.X <= float64(in.Width)-0.5 && px.Y <= float64(in.Height)-0.5
}

// Scaled returns the same lens for a picture of another size with the same
// field of view (a 1080p mode of a 4K camera). Pixel centres are at integers, so
// the principal point scales about (-0.5, -0.5).
func (in Intrinsics) Scaled(width, height int) (Intrinsics, error) {
	sx, sy := float64(width)/float64(in.Width), float64(height)/float64(in.Height)
	if math.Abs(sx/sy-1) > 0.005 {
		return in, fmt.Errorf("the lens was calibrated for %d×%d pictures, got %d×%d, another shape", in.Width, in.Height, width, height)
	}
	out := in
	out.Width, out.Height = width, height
	out.Fx, out.Fy = in.Fx*sx, in.Fy*sy
	out.Cx, out.Cy = (in.Cx+0.5)*sx-0.5, (in.Cy+0.5)*sy-0.5
	out.RMS *= sx
	if in.Covariance != nil {
		f := [9]float64{sx, sy, sx, sy, 1, 1, 1, 1, 1}
		out.Covariance = make([]float64, 81)
		for i := range 9 {
			for j := range 9 {
				out.Covariance[9*i+j] = in.Covariance[9*i+j] * f[i] * f[j]
			}
		}
	}
	return out, nil
}
