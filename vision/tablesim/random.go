package tablesim

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// cameraOver returns a camera of the given lens whose optical axis meets the table's plane at a
// point, at a distance, tilted about the picture's x and y axes and rolled. The picture's right is
// the table's +x, its top the far edge.
func cameraOver(lens calibration.Intrinsics, at geom.Point, distance, tiltX, tiltY, roll float64) calibration.Camera {
	rot := func(axis int, a float64) (m [3][3]float64) {
		i, j := (axis+1)%3, (axis+2)%3
		s, c := math.Sincos(a)
		m[axis][axis] = 1
		m[i][i], m[i][j], m[j][i], m[j][j] = c, -s, s, c
		return m
	}
	mul := func(a, b [3][3]float64) (c [3][3]float64) {
		for i := range 3 {
			for j := range 3 {
				for k := range 3 {
					c[i][j] += a[i][k] * b[k][j]
				}
			}
		}
		return c
	}
	down := [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}
	c := calibration.Camera{Intrinsics: lens}
	c.R = mul(mul(mul(rot(2, roll), rot(0, tiltX)), rot(1, tiltY)), down)
	for i := range 3 {
		c.T[i] = -c.R[i][0]*at.X - c.R[i][1]*at.Y
	}
	c.T[2] += distance
	return c
}

// lensFor scales a lens stated at 1920×1080 to another size: pixel centres are
// at integers, so the principal point scales about (-0.5, -0.5).
func lensFor(w, h int, fx, fy, ox, oy float64, d [5]float64) calibration.Intrinsics {
	k := min(float64(w)/1920, float64(h)/1080)
	return calibration.Intrinsics{
		Width: w, Height: h, Fx: k * fx, Fy: k * fy,
		Cx: float64(w)/2 - 0.5 + k*ox, Cy: float64(h)/2 - 0.5 + k*oy, Distortion: d,
	}
}

const deg = math.Pi / 180

// DefaultCamera returns a camera 1.25 m over the middle of a standard mat, slightly tilted and
// rolled, that sees the whole mat and its markers.
func DefaultCamera(width, height int) calibration.Camera {
	lens := lensFor(width, height, 1225, 1226.2, 9.3, -6.4, [5]float64{-0.085, 0.03, 0.0006, -0.0004, -0.004})
	mid := geom.Point{X: float64(calibration.MatSide)/2 + 1, Y: float64(calibration.MatSide)/2 + 14}
	return cameraOver(lens, mid, 1250, -2.1*deg, 0.6*deg, 1*deg)
}

// ObliqueCamera returns a camera with DefaultCamera's lens that looks at the middle of a standard
// mat from the side, as close as it can with the whole mat and its markers visible: from player 1's
// edge with a positive tilt about the picture's x axis, from the right with a positive one about
// its y axis. It reports false if no place shows all of it.
func ObliqueCamera(width, height int, tiltX, tiltY geom.Angle) (calibration.Camera, bool) {
	return oblique(DefaultCamera(width, height).Intrinsics, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), tiltX, tiltY)
}

// oblique is ObliqueCamera with any lens, over any mat.
func oblique(lens calibration.Intrinsics, layout calibration.Layout, tiltX, tiltY geom.Angle) (calibration.Camera, bool) {
	middle := geom.Point{X: float64(layout.Width) / 2, Y: float64(layout.Height) / 2}
	for distance := 1000.0; distance < 4000; distance += 10 {
		for aim := -100.0; aim <= 100; aim += 25 { // the near side takes up more of the picture
			at := middle.Add(geom.Point{X: aim * math.Sin(float64(tiltY)), Y: -aim * math.Sin(float64(tiltX))})
			if c := cameraOver(lens, at, distance, float64(tiltX), float64(tiltY), 0); inView(c, layout, 4) {
				return c, true
			}
		}
	}
	return calibration.Camera{}, false
}

// RandomCamera returns a camera like DefaultCamera with another lens and place, which sees a whole
// standard mat and its markers.
func RandomCamera(rng *rand.Rand, width, height int) calibration.Camera {
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	u := func(r float64) float64 { return r * (2*rng.Float64() - 1) }
	for range 1000 {
		f := 1225 + u(40)
		d := [5]float64{-0.085 + u(0.05), 0.03 + u(0.03), u(0.001), u(0.001), u(0.006)}
		lens := lensFor(width, height, f, f*(1+u(0.002)), u(15), u(15), d)
		at := geom.Point{X: float64(calibration.MatSide)/2 + u(25), Y: float64(calibration.MatSide)/2 + 14 + u(15)}
		c := cameraOver(lens, at, 1260+u(40), u(4*deg), u(4*deg), u(2.5*deg))
		if inView(c, layout, 4) {
			return c
		}
	}
	return DefaultCamera(width, height)
}

// inView reports whether mat and markers lie in the picture with a margin in pixels.
func inView(c calibration.Camera, layout calibration.Layout, spare float64) bool {
	l, err := forwardLens(c)
	if err != nil {
		return false
	}
	w, h := float64(layout.Width), float64(layout.Height)
	points := []geom.Point{{}, {X: w}, {X: w, Y: h}, {Y: h}, {X: w / 2}, {X: w / 2, Y: h}}
	for _, m := range layout.Markers {
		e := float64(m.Size/2 + calibration.MarkerMargin)
		f := frameOf(geom.Pose{Point: m.Center, Heading: m.Heading})
		for _, q := range [4][2]float64{{-e, -e}, {e, -e}, {e, e}, {-e, e}} {
			x, y := f.table(q[0], q[1])
			points = append(points, geom.Point{X: x, Y: y})
		}
	}
	for _, p := range points {
		u, v, ok := l.project(p.X, p.Y, 0)
		if !ok || u < spare || v < spare || u > float64(c.Width)-1-spare || v > float64(c.Height)-1-spare {
			return false
		}
	}
	return l.buildGrid() == nil // last, because it inverts the lens at every pixel
}

// randomScene returns a legal scene on a standard mat: ships of both players with distinct ids,
// bases wholly on the mat, none overlapping another (guides included) or an obstacle, some of them
// close together. The first ships have huge bases, of both sizes in turn. If the mat is too full it
// returns fewer ships; there are at most token.Ships.
func randomScene(rng *rand.Rand, ships, obstacles, huge int) engine.Scene {
	s := engine.Scene{Rules: engine.Rules25, MatWidth: calibration.MatSide, MatHeight: calibration.MatSide}
	for tries := 0; len(s.Obstacles) < obstacles && tries < 200*obstacles; tries++ {
		o := randomObstacle(rng, len(s.Obstacles)+1)
		if fitsObstacle(s, o) {
			s.Obstacles = append(s.Obstacles, o)
		}
	}
	ships = min(ships, token.Ships)
	codes := rng.Perm(token.Ships)
	for tries := 0; len(s.Ships) < ships && tries < 500*ships; tries++ {
		code := token.ShipCode(codes[len(s.Ships)])
		ship := engine.Ship{ID: code.ID(), Player: code.Player(), Base: randomBase(rng), Arcs: []string{"front", "bullseye"}}
		if n := len(s.Ships); n < huge {
			ship.Base = [2]engine.Base{engine.Huge195, engine.Huge225}[n%2]
		}
		ship.Pose = randomPose(rng, s, ship.Base)
		if fits(s, ship) {
			s.Ships = append(s.Ships, ship)
		}
	}
	return s
}

func randomBase(rng *rand.Rand) engine.Base {
	switch v := rng.Float64(); {
	case v < 0.6:
		return engine.Small
	case v < 0.8:
		return engine.Medium
	}
	return engine.Large
}

// randomPose returns a pose anywhere on the mat or, one time in three, close to another ship.
func randomPose(rng *rand.Rand, s engine.Scene, b engine.Base) geom.Pose {
	heading := geom.Angle(2 * math.Pi * rng.Float64())
	if len(s.Ships) > 0 && rng.Float64() < 0.35 {
		o := s.Ships[rng.IntN(len(s.Ships))]
		w, _ := b.Size()
		ow, _ := o.Base.Size()
		if rng.Float64() < 0.3 {
			heading = (o.Pose.Heading + geom.Angle(rng.IntN(4))*math.Pi/2).Normalized()
		}
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		far := (float64(w)+float64(ow))/2 + 0.5 + 25*rng.Float64()
		return geom.Pose{Point: geom.Point{X: o.Pose.X + far*sin, Y: o.Pose.Y + far*cos}, Heading: heading}
	}
	return geom.Pose{
		Point:   geom.Point{X: rng.Float64() * float64(s.MatWidth), Y: rng.Float64() * float64(s.MatHeight)},
		Heading: heading,
	}
}

// randomObstacle returns a rock: a lumpy polygon 50…90 mm across.
func randomObstacle(rng *rand.Rand, n int) engine.Obstacle {
	kind := [3]string{"asteroid", "debris", "gas"}[rng.IntN(3)]
	o := engine.Obstacle{ID: fmt.Sprintf("rock%d", n), Kind: kind}
	o.Pose = geom.Pose{
		Point:   geom.Point{X: 120 + 674*rng.Float64(), Y: 120 + 674*rng.Float64()},
		Heading: geom.Angle(2 * math.Pi * rng.Float64()),
	}
	const corners = 14
	r := 25 + 14*rng.Float64()
	flat := 0.65 + 0.3*rng.Float64()
	for i := range corners {
		s, c := math.Sincos(2 * math.Pi * (float64(i) + 0.5*rng.Float64()) / corners)
		q := r * (0.85 + 0.3*rng.Float64())
		o.Outline = append(o.Outline, geom.Point{X: q * c, Y: flat * q * s})
	}
	return o
}

func fitsObstacle(s engine.Scene, o engine.Obstacle) bool {
	for _, p := range s.Obstacles {
		if o.Pose.Distance(p.Pose.Point) < 110 {
			return false
		}
	}
	return true
}

// fits reports whether a ship stands legally among the others of a scene.
func fits(s engine.Scene, ship engine.Ship) bool {
	for _, p := range footprint(ship) {
		for _, c := range p {
			if c.X < 0 || c.Y < 0 || c.X > float64(s.MatWidth) || c.Y > float64(s.MatHeight) {
				return false
			}
		}
	}
	for _, o := range s.Ships {
		if overlap(footprint(ship), footprint(o)) {
			return false
		}
	}
	w, l := ship.Base.Size()
	for _, o := range s.Obstacles {
		// The distance of the rock's middle from the nearest square as wide as the base.
		at := ship.Pose.Inverse(o.Pose.Point)
		ahead := max(math.Abs(at.Y)-float64(l-w)/2, 0)
		if w == l {
			ahead = at.Y
		}
		if math.Hypot(at.X, ahead) < 46+0.75*float64(w) {
			return false
		}
	}
	return true
}

// footprint returns the base and its guides as convex outlines on the table.
func footprint(s engine.Ship) [][]geom.Point {
	w, l := s.Base.Size()
	boxes := []box{{-float64(w) / 2, -float64(l) / 2, float64(w) / 2, float64(l) / 2}}
	for _, g := range guides(s.Base) {
		boxes = append(boxes, g)
	}
	f := frameOf(s.Pose)
	var out [][]geom.Point
	for _, b := range boxes {
		var q []geom.Point
		for _, c := range [4][2]float64{{b.x0, b.y0}, {b.x1, b.y0}, {b.x1, b.y1}, {b.x0, b.y1}} {
			x, y := f.table(c[0], c[1])
			q = append(q, geom.Point{X: x, Y: y})
		}
		out = append(out, q)
	}
	return out
}

// overlap reports whether the interiors of any two of the convex pieces meet.
func overlap(a, b [][]geom.Point) bool {
	for _, p := range a {
		for _, q := range b {
			if !parted(p, q) && !parted(q, p) {
				return true
			}
		}
	}
	return false
}

// parted reports whether the line through one of p's edges separates p from q (the separating axis
// theorem). Corners run counter-clockwise.
func parted(p, q []geom.Point) bool {
	for i := range p {
		e := p[(i+1)%len(p)].Sub(p[i])
		apart := true
		for _, c := range q {
			if e.Cross(c.Sub(p[i])) > 1e-9 {
				apart = false
				break
			}
		}
		if apart {
			return true
		}
	}
	return false
}

// RandomMini returns a miniature that suits a base.
func RandomMini(rng *rand.Rand, b engine.Base) Mini {
	k := 1.0
	switch b {
	case engine.Medium:
		k = 1.35
	case engine.Large:
		k = 1.75
	}
	size := rng.Float64()
	if _, length := b.Size(); !token.Square(b) {
		return hugeMini(rng, length, size)
	}
	shade := 110 + rng.IntN(110)
	c := func() uint8 { return uint8(min(max(shade+rng.IntN(50)-25, 0), 255)) }
	return Mini{
		Kind:  MiniKind(rng.IntN(int(miniKinds))),
		Width: geom.Length(k * (28 + 8*size)), Length: geom.Length(k * (36 + 11*size)),
		Z: geom.Length(35 + 12*rng.Float64()), Thick: geom.Length(4 + 4*rng.Float64()),
		Color: color.RGBA{c(), c(), c(), 255},
	}
}

// hugeMini returns a miniature that hides a huge base's rim as such ships do: long, narrow, higher
// than others, seldom over both long sides.
func hugeMini(rng *rand.Rand, base geom.Length, size float64) Mini {
	shade := 90 + rng.IntN(120)
	c := func() uint8 { return uint8(min(max(shade+rng.IntN(50)-25, 0), 255)) }
	return Mini{
		Kind:  MiniKind(rng.IntN(int(miniKinds))),
		Width: geom.Length(45 + 35*size), Length: base * geom.Length(0.85+0.3*rng.Float64()),
		Z: geom.Length(45 + 20*rng.Float64()), Thick: geom.Length(8 + 8*rng.Float64()),
		Color: color.RGBA{c(), c(), c(), 255},
	}
}

// The errors of base tops' heights in RandomTable (one sigma, mm): bases and cards differ, and a
// mat is not flat.
const (
	heightSigma   = 0.15
	flatnessSigma = 0.30
)

// RandomTable returns a varied table: a random camera, 8 to 14 ships with miniatures, obstacles,
// some clutter, another mat, light, blur and noise. True heights of the base tops scatter by 0.15
// mm (bases) and 0.3 mm (flatness); set Heights to nil for exact ones.
func RandomTable(seed uint64, width, height int) *Table {
	return RandomTableWithHuge(seed, width, height, 0)
}

// RandomTableWithHuge is RandomTable with a number of its ships, the first in its scene, on huge
// bases, of both sizes in turn, under long miniatures.
func RandomTableWithHuge(seed uint64, width, height, huge int) *Table {
	rng := rand.New(rand.NewPCG(seed, 0x7461626c65))
	t := &Table{
		Camera: RandomCamera(rng, width, height),
		Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Scene:  randomScene(rng, 8+rng.IntN(7), 4+rng.IntN(3), huge),
		Look:   randomLook(rng),
		Minis:  map[string]Mini{}, Heights: map[string]geom.Length{},
		Seed: seed,
	}
	for _, s := range t.Scene.Ships {
		t.Minis[s.ID] = RandomMini(rng, s.Base)
		e := heightSigma*rng.NormFloat64() + flatnessSigma*rng.NormFloat64()
		t.Heights[s.ID] = geom.Length(min(max(e, -1), 1))
	}
	t.Clutter = randomClutter(rng, t.Scene)
	return t
}

func randomLook(rng *rand.Rand) Look {
	l := DefaultLook()
	l.Light = 0.5 + 0.5*rng.Float64()
	l.Slope = geom.Point{X: 0.8*rng.Float64() - 0.4, Y: 0.8*rng.Float64() - 0.4}
	l.Shadow = 0.25 + 0.35*rng.Float64()
	l.Spread = 0.15 + 0.3*rng.Float64()
	l.Falloff = 0.1 + 0.3*rng.Float64()
	l.Blur = 0.45 + 0.35*rng.Float64()
	l.FullWell = 4000 + 8000*rng.Float64()
	l.ReadNoise = 0.001 + 0.002*rng.Float64()
	if rng.Float64() < 0.3 {
		l.Plastic = PlasticClear
	}
	return l
}

// randomClutter lays cards and dice next to the mat and a template or two on it.
func randomClutter(rng *rand.Rand, s engine.Scene) []Clutter {
	w, h := float64(s.MatWidth), float64(s.MatHeight)
	ink := func() color.RGBA {
		return color.RGBA{uint8(60 + rng.IntN(190)), uint8(60 + rng.IntN(190)), uint8(60 + rng.IntN(190)), 255}
	}
	turn := func() geom.Angle { return geom.Angle(2 * math.Pi * rng.Float64()) }
	var out []Clutter
	for range 3 + rng.IntN(6) { // ship cards and dice on the table, left and right
		x := -120 - 180*rng.Float64()
		if rng.IntN(2) == 0 {
			x = w - x
		}
		c := Clutter{Pose: geom.Pose{Point: geom.Point{X: x, Y: h * rng.Float64()}, Heading: turn()}, Width: 63, Length: 88, Height: 0.5,
			Color: ink()}
		if rng.IntN(3) == 0 {
			c.Width, c.Length, c.Height = 12, 12, 12
		}
		out = append(out, c)
	}
	for range rng.IntN(3) { // templates on the mat, clear of the ships
		c := Clutter{
			Pose:  geom.Pose{Point: geom.Point{X: w * (0.1 + 0.8*rng.Float64()), Y: h * (0.1 + 0.8*rng.Float64())}, Heading: turn()},
			Width: 20, Length: geom.Length(40 * (1 + rng.IntN(4))), Height: 2, Color: ink(),
		}
		clear := true
		for _, ship := range s.Ships {
			_, side := ship.Base.Size()
			clear = clear && ship.Pose.Distance(c.Pose.Point) > c.Length/2+side+10
		}
		if clear {
			out = append(out, c)
		}
	}
	return out
}
