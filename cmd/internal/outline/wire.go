package outline

import (
	"math"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// wire is a line of a base's wire frame, in the base's own frame: x to its right, y forward, z over
// the mat, mm.
type wire struct {
	Kind   string       `json:"kind"` // top, foot, edge, guide, arc, nose
	Points [][3]float64 `json:"points_mm"`
}

// Dimensions of the guides, in mm.
const (
	guideTop   = 3.2 // over the mat (rules/dimensions)
	guideInner = float64(engine.GuideInner)
	guideOuter = float64(engine.GuideOuter)
)

// wiresOf returns the wire frame of a base: its plastic at the top and at the foot, which differ in
// a picture from the side, its guides, and the lines of its front arc. A person lays them on the
// picture.
func wiresOf(profile *engine.Profile, rules engine.Rules, b engine.Base) (out []wire) {
	w, l := profile.Size(b)
	x, y, top := float64(w)/2, float64(l)/2, float64(token.BaseTop)
	corners := [4][2]float64{{-x, y}, {x, y}, {x, -y}, {-x, -y}}
	square := func(kind string, z float64) wire {
		s := wire{Kind: kind}
		for i := range 5 {
			c := corners[i%4]
			s.Points = append(s.Points, [3]float64{c[0], c[1], z})
		}
		return s
	}
	out = append(out, square("foot", 0), square("top", top))
	for _, c := range corners {
		out = append(out, wire{"edge", [][3]float64{{c[0], c[1], 0}, {c[0], c[1], top}}})
	}
	reach := float64(engine.GuideReach(b))
	for _, side := range [2]float64{1, -1} {
		for _, from := range [2]float64{-guideOuter, guideInner} {
			to := from + guideOuter - guideInner
			out = append(out, wire{"guide", [][3]float64{{from, side * y, guideTop}, {from, side * (y + reach), guideTop},
				{to, side * (y + reach), guideTop}, {to, side * y, guideTop}}})
		}
	}
	tan := math.Tan(float64(profile.HalfAngle(rules, b)))
	for _, side := range [2]float64{1, -1} {
		ax, ay := side*y*tan, y
		if math.Abs(ax) > x {
			ax, ay = side*x, x/tan
		}
		out = append(out, wire{"arc", [][3]float64{{0, 0, top}, {ax, ay, top}}})
	}
	return append(out, wire{"nose", [][3]float64{{-5, y - 9, top}, {0, y - 2, top}, {5, y - 9, top}}})
}

// cameraJSON is all that is needed to project a point of the table; the page does it like
// calibration.Camera.
type cameraJSON struct {
	Width      int           `json:"width"`
	Height     int           `json:"height"`
	Fx         float64       `json:"fx"`
	Fy         float64       `json:"fy"`
	Cx         float64       `json:"cx"`
	Cy         float64       `json:"cy"`
	Distortion [5]float64    `json:"distortion"`
	R          [3][3]float64 `json:"r"`
	T          [3]float64    `json:"t_mm"`
	MatMM      [2]float64    `json:"mat_mm"`
	// Heights is the height of the mat over the plane of its markers on a grid, row by row from
	// player 1's edge; nil: not measured.
	Heights [][]float64 `json:"heights_mm"`
}

// heightSteps is the number of steps along each side of the grid of heights.
const heightSteps = 12

func cameraOf(t *calibration.Table) *cameraJSON {
	c := &cameraJSON{Width: t.Intrinsics.Width, Height: t.Intrinsics.Height, Fx: t.Fx, Fy: t.Fy, Cx: t.Cx, Cy: t.Cy,
		Distortion: t.Distortion, R: t.R, T: t.T, MatMM: [2]float64{float64(t.Layout.Width), float64(t.Layout.Height)}}
	if t.Surface == nil {
		return c
	}
	for i := range heightSteps + 1 {
		row := make([]float64, heightSteps+1)
		for k := range row {
			row[k] = float64(t.Surface.Height(geom.Point{X: c.MatMM[0] * float64(k) / heightSteps, Y: c.MatMM[1] * float64(i) / heightSteps}))
		}
		c.Heights = append(c.Heights, row)
	}
	return c
}

// sureTo returns the sigma of a base's place at the mat's middle and at its worst place, mm. The
// worst place need not be a corner: four corners alone do not show how the lens bends lines between
// them.
func sureTo(t *calibration.Table) (middle, worst float64) {
	b := calibration.NewBudget(*t, calibration.Uncertainty{})
	w, h := float64(t.Layout.Width), float64(t.Layout.Height)
	at := func(x, y float64) float64 {
		terms, ok := b.At(geom.Point{X: x, Y: y}, token.BaseTop)
		if !ok {
			return math.Inf(1)
		}
		return float64(calibration.LargestSigma(terms.Total(1)))
	}
	const in, steps = 20, 12 // mm from the edge; places along each side
	for i := range steps + 1 {
		for k := range steps + 1 {
			worst = max(worst, at(in+(w-2*in)*float64(k)/steps, in+(h-2*in)*float64(i)/steps))
		}
	}
	return at(w/2, h/2), worst
}
