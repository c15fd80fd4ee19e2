package tablesim

import (
	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// Truth is the exact content of a frame.
type Truth struct {
	Camera  calibration.Camera
	Scene   engine.Scene
	Ships   []ShipTruth   // one for each ship of Scene, in the same order
	Markers []MarkerTruth // one for each marker of the layout, in the same order
	Board   *BoardTruth   // nil: none is held before the camera
}

// ShipTruth is a ship as it truly stands in the picture.
type ShipTruth struct {
	ID   string
	Base engine.Base
	Pose geom.Pose

	Top     geom.Length   // true height of the token over the mat
	Corners [4]geom.Pixel // of the top: front left, front right, rear right, rear left

	// Visible is the share of the top's outline that reaches the camera, inside
	// the picture and hidden by neither miniatures nor hands.
	Visible float64
	// SideVisible is the same share of each side's coded rim, over its whole
	// length and token.RimDeep deep, indexed by token.Side.
	SideVisible [4]float64
}

// WholeSide reports whether one side can be seen from end to end.
func (s ShipTruth) WholeSide() bool {
	for _, v := range s.SideVisible {
		if v >= 0.97 {
			return true
		}
	}
	return false
}

// MarkerTruth is where a mat marker truly appears.
type MarkerTruth struct {
	ID      int
	Corners [4]geom.Pixel // of the black square: top left, top right, bottom right, bottom left of the print
}

// Ship returns the truth about the ship with this id.
func (t Truth) Ship(id string) (ShipTruth, bool) {
	for _, s := range t.Ships {
		if s.ID == id {
			return s, true
		}
	}
	return ShipTruth{}, false
}

// witness determines what is visible: a lens, and the objects before it.
type witness struct {
	lens   *cameraModel
	solids []solid
}

func (r witness) truth(t *Table) Truth {
	out := Truth{Camera: t.Camera, Scene: t.Scene}
	for _, s := range t.Scene.Ships {
		out.Ships = append(out.Ships, r.shipTruth(s, t.baseTop(s.ID)))
	}
	for _, m := range t.Layout.Markers {
		f := frameOf(geom.Pose{Point: m.Center, Heading: m.Heading})
		h := float64(m.Size) / 2
		mt := MarkerTruth{ID: m.ID}
		for i, c := range [4][2]float64{{-h, h}, {h, h}, {h, -h}, {-h, -h}} {
			mt.Corners[i] = r.pixel(&f, c[0], c[1], float64(m.Z))
		}
		out.Markers = append(out.Markers, mt)
	}
	if t.Board != nil {
		out.Board = r.boardTruth(*t.Board)
	}
	return out
}

// pixel returns the pixel of a point of a frame.
func (r witness) pixel(f *frame, x, y, z float64) geom.Pixel {
	x, y = f.table(x, y)
	u, v, _ := r.lens.project(x, y, z)
	return geom.Pixel{X: u, Y: v}
}

func (r witness) shipTruth(s engine.Ship, top float64) ShipTruth {
	out := ShipTruth{ID: s.ID, Base: s.Base, Pose: s.Pose, Top: geom.Length(top)}
	w, l := s.Base.Size()
	f, hx, hy := frameOf(s.Pose), float64(w)/2, float64(l)/2
	for i, c := range [4][2]float64{{-hx, hy}, {hx, hy}, {hx, -hy}, {-hx, -hy}} {
		out.Corners[i] = r.pixel(&f, c[0], c[1], top)
	}
	// Only higher objects can hide the top.
	const step, in = 0.5, 0.1
	var seen, all float64
	for k := range 4 {
		h, out1 := hx, hy // half the side, and how far it is from the centre
		if k%2 == 1 {
			h, out1 = hy, hx
		}
		n := int(2*h/step + 0.5)
		var strip float64
		for i := range n {
			along := -h + (float64(i)+0.5)*step
			if r.visible(&f, k, along, out1-in, top) {
				seen++
			}
			all++
			const deep = 4
			for d := range deep {
				if r.visible(&f, k, along, out1-(float64(d)+0.5)/deep*float64(token.RimDeep), top) {
					strip += 1.0 / deep
				}
			}
		}
		out.SideVisible[k] = strip / float64(n)
	}
	out.Visible = seen / all
	return out
}

// visible reports whether a place of a ship's top, given along a side (clockwise from its middle)
// and outwards from the centre, is visible to the camera.
func (r witness) visible(f *frame, side int, along, out, z float64) bool {
	var x, y float64
	switch token.Side(side) {
	case token.Front:
		x, y = along, out
	case token.RightSide:
		x, y = out, -along
	case token.Rear:
		x, y = -along, -out
	default:
		x, y = -out, along
	}
	x, y = f.table(x, y)
	u, v, ok := r.lens.project(x, y, z)
	if !ok || u < -0.5 || v < -0.5 || u > float64(r.lens.w)-0.5 || v > float64(r.lens.h)-0.5 {
		return false
	}
	ray := r.lens.rayThrough(x, y, z)
	h := hit{z: z + 1e-6}
	for _, s := range r.solids {
		if s.meets(ray, &h) {
			return false
		}
	}
	return true
}
