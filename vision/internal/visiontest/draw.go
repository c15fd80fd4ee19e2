// Package visiontest draws tokens for tests by the plainest means: every pixel is
// the mean of 4×4 rays, each asked what lies under it, then blurred a little. The
// camera looks straight down on a small mat, without distortion.
package visiontest

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

const (
	testMat = 200.0 // mm
	Scale   = 1.1   // px/mm at the height of a base's top
)

// Table is a camera that looks straight down on a mat of testMat, scale px to the
// millimetre at the height of a base's top.
func Table(scale float64) calibration.Table { return TableOf(scale, testMat) }

// TableOf is Table with a square mat of another size, in mm.
func TableOf(scale, mat float64) calibration.Table {
	const height = 1200.0
	side := int(mat*scale) + 20
	f := scale * (height - 4)
	return calibration.Table{
		Camera: calibration.Camera{
			Intrinsics: calibration.Intrinsics{Width: side, Height: side, Fx: f, Fy: f, Cx: float64(side-1) / 2, Cy: float64(side-1) / 2},
			Extrinsics: calibration.Extrinsics{
				R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
				T: calibration.Vec3{-mat / 2, mat / 2, height},
			},
		},
		Layout: calibration.Layout{Width: geom.Length(mat), Height: geom.Length(mat)},
	}
}

// Placed is a token on the table.
type Placed struct {
	token.Token
	Pose geom.Pose
}

// cover hides a part of the picture: it reports the light at a table point.
type cover func(p geom.Point) (light float64, hides bool)

// MatLight is the light of the dark mat on which tokens are drawn.
const MatLight = 0.02

// Plain returns the light of a pixel in which nothing but the mat or one cover is in view, all at once: most are such.
func Plain(t calibration.Table, ships []Placed, covers []cover, x, y int) (light float64, ok bool) {
	middle, _ := t.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, token.BaseTop)
	corner, _ := t.PointAt(geom.Pixel{X: float64(x) + 0.5, Y: float64(y) + 0.5}, token.BaseTop)
	reach := middle.Distance(corner).Millimeters()
	for _, s := range ships {
		hx, hy := s.Half()
		if s.Pose.Distance(middle).Millimeters() < math.Hypot(hx, hy)+2*reach {
			return 0, false
		}
	}
	light = MatLight
	for _, c := range covers {
		l, hides := c(middle)
		for k := range 4 {
			p, _ := t.PointAt(geom.Pixel{X: float64(x) + float64(k%2) - 0.5, Y: float64(y) + float64(k/2) - 0.5}, token.BaseTop)
			if _, h := c(p); h != hides {
				return 0, false
			}
		}
		if hides {
			light = l
		}
	}
	return light, true
}

// Draw draws the tokens on a dark mat. Later tokens and covers lie on top.
func Draw(t calibration.Table, ships []Placed, noise float64, covers ...cover) *image.Gray {
	w, h := t.Intrinsics.Width, t.Intrinsics.Height
	lights := make([]float64, w*h)
	for y := range h {
		for x := range w {
			l, ok := Plain(t, ships, covers, x, y)
			if !ok {
				l = pixelLight(t, ships, covers, x, y)
			}
			lights[y*w+x] = l
		}
	}
	rng := rand.New(rand.NewPCG(uint64(len(ships)), 7))
	g := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			g.Pix[y*g.Stride+x] = Encode(blurred(lights, w, h, x, y) + noise*rng.NormFloat64())
		}
	}
	return g
}

// pixelLight returns the light of a pixel, the mean over a grid of rays.
func pixelLight(t calibration.Table, ships []Placed, covers []cover, x, y int) (sum float64) {
	const rays = 4
	for i := range rays * rays {
		px := geom.Pixel{
			X: float64(x) + (float64(i%rays)+0.5)/rays - 0.5,
			Y: float64(y) + (float64(i/rays)+0.5)/rays - 0.5,
		}
		p, _ := t.PointAt(px, token.BaseTop)
		light := MatLight
		for _, s := range ships {
			if ink, on := s.At(s.Pose.Inverse(p)); on {
				light = 0.7 * float64(gray.LinearLight[ink.G])
			}
		}
		for _, c := range covers {
			if l, hides := c(p); hides {
				light = l
			}
		}
		sum += light
	}
	return sum / (rays * rays)
}

// blurred returns the light of a pixel behind the lens: 1 2 1 in both directions, a blur of 0.7 px.
func blurred(lights []float64, w, h, x, y int) (sum float64) {
	for j := -1; j <= 1; j++ {
		for i := -1; i <= 1; i++ {
			xx, yy := min(max(x+i, 0), w-1), min(max(y+j, 0), h-1)
			sum += float64((2-i*i)*(2-j*j)) / 16 * lights[yy*w+xx]
		}
	}
	return sum
}

// Encode is the sRGB transfer curve.
func Encode(v float64) uint8 {
	switch {
	case v <= 0:
		return 0
	case v >= 1:
		return 255
	case v <= 0.0031308:
		v *= 12.92
	default:
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return uint8(255*v + 0.5)
}

// Token returns a ship's token.
func Token(t *testing.T, id string, base engine.Base) token.Token {
	t.Helper()
	code, err := token.CodeOfID(id)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := token.NewToken(code, base)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// Pose is a pose: mm, mm and degrees.
func Pose(x, y, degrees float64) geom.Pose {
	return geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(degrees) * geom.Degree}
}

// HidePlane hides everything on one side of a line through the ship: what lies
// more than d mm ahead of its centre in the direction turned by degrees.
func HidePlane(pose geom.Pose, degrees, d, light float64) cover {
	dir := geom.Pose{Heading: pose.Heading + geom.Angle(degrees)*geom.Degree}.Forward()
	return func(p geom.Point) (float64, bool) { return light, p.Sub(pose.Point).Dot(dir) > d }
}
