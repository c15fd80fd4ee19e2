// Package draw draws a scene from above as SVG, to scale: the mat with its grid, the bases with
// guides, noses and arcs, obstacles by kind, devices and markers. For a chosen pair it adds the
// range bands, the measuring lines, what obstructs them, and the uncertainty. The user unit is the
// millimetre; only canvas.at flips y.
//
// The same scene and options give the same bytes. Every name in the scene is escaped, so a drawing
// can be embedded in a page.
package draw

import (
	"errors"
	"fmt"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/tablecheck"
)

// Options say what to draw besides the table.
type Options struct {
	From, To string            // the pair to measure; To may be an obstacle. From alone: its range bands
	Arcs     []engine.Arc      // arcs of From to draw, with the attack range inside each
	Sigmas   float64           // 0 means engine.DefaultSigmas
	Move     *Moved            // a move to show; nil for none
	Areas    []tablecheck.Area // where something may be placed
	Title    string            // "" means the rules' edition and the number of ships
}

// ErrNotThere is the error for a ship or obstacle that is not in the scene.
var ErrNotThere = errors.New("not in the scene")

// drawing is one scene being drawn.
type drawing struct {
	canvas
	scene   *engine.Scene
	profile engine.Profile
	o       Options
	from    *engine.Ship
	moved   *moveDrawn
	view    box // the part of the table that the picture shows
	lines   []string
	taken   []box // what labels should not cover
}

// SVG returns the drawing of a scene as an SVG document.
func SVG(s *engine.Scene, o Options) ([]byte, error) {
	d := &drawing{scene: s, o: o}
	if err := d.prepare(); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	m, err := d.measure()
	if err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	d.table()
	if len(d.o.Areas) > 0 {
		d.onMat(d.areas)
	}
	if d.from != nil {
		d.onMat(func() {
			d.bands(d.from)
			d.arcs(d.from)
		})
	}
	for i := range s.Ships { // before any label
		d.take(d.corners(s.Ships[i].Base, s.Ships[i].Pose)...)
	}
	for i := range s.Obstacles {
		d.obstacle(&s.Obstacles[i])
	}
	for i := range s.Devices {
		d.token("device", &s.Devices[i])
	}
	for i := range s.Markers {
		d.token("marker", &s.Markers[i])
	}
	if d.moved != nil {
		d.under(d.moved)
	}
	for i := range s.Ships {
		d.ship(&s.Ships[i])
	}
	if d.moved != nil {
		d.over(d.moved)
	}
	d.measured(m)
	return d.document(), nil
}

func (d *drawing) prepare() error {
	if err := d.scene.Validate(); err != nil {
		return err
	}
	d.profile = engine.ProfileOf(d.scene)
	if d.o.Sigmas == 0 {
		d.o.Sigmas = engine.DefaultSigmas
	}
	if d.o.From != "" {
		if d.from = d.scene.Ship(d.o.From); d.from == nil {
			return fmt.Errorf("from %q: ship %w", d.o.From, ErrNotThere)
		}
	}
	switch {
	case d.o.To != "" && d.from == nil:
		return errors.New("to: expected a ship to measure from as well")
	case d.o.To != "" && d.o.To == d.o.From:
		return errors.New("to: expected another object than the one to measure from")
	case len(d.o.Arcs) > 0 && d.from == nil:
		return errors.New("arcs: expected a ship that they belong to")
	}
	var err error
	if d.moved, err = d.move(); err != nil {
		return err
	}
	d.view = d.bounds()
	d.top = d.view.y1
	d.unit = math.Max(d.view.x1-d.view.x0, d.view.y1-d.view.y0) / 100
	return nil
}

// box is a rectangle of the table.
type box struct{ x0, y0, x1, y1 float64 }

func (b *box) add(p geom.Point, r float64) {
	b.x0, b.x1 = math.Min(b.x0, p.X-r), math.Max(b.x1, p.X+r)
	b.y0, b.y1 = math.Min(b.y0, p.Y-r), math.Max(b.y1, p.Y+r)
}

func (b box) grown(by float64) box { return box{b.x0 - by, b.y0 - by, b.x1 + by, b.y1 + by} }

// bounds returns a box around the mat and everything on it or next to it.
func (d *drawing) bounds() box {
	empty := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	b := empty
	if d.hasMat() {
		b.add(geom.Point{}, 0)
		b.add(geom.Point{X: float64(d.scene.MatWidth), Y: float64(d.scene.MatHeight)}, 0)
	}
	for i := range d.scene.Ships {
		s := &d.scene.Ships[i]
		w, l := d.profile.Size(s.Base)
		b.add(s.Pose.Point, math.Hypot(float64(w), float64(l))/2)
	}
	for i := range d.scene.Obstacles {
		for _, p := range d.scene.Obstacles[i].Pose.TransformAll(d.scene.Obstacles[i].Outline) {
			b.add(p, 0)
		}
	}
	for _, list := range [][]engine.Token{d.scene.Devices, d.scene.Markers} {
		for i := range list {
			d.widenToken(&b, &list[i])
		}
	}
	if d.moved != nil {
		d.widen(&b, d.moved)
	}
	if b == empty {
		b = box{0, 0, 100, 100}
	}
	margin := 0.04 * math.Max(b.x1-b.x0, b.y1-b.y0)
	b = b.grown(math.Max(12, margin))
	// At least as wide as high, so that the notes below stay legible.
	if more := (b.y1 - b.y0) - (b.x1 - b.x0); more > 0 {
		b.x0, b.x1 = b.x0-more/2, b.x1+more/2
	}
	return b
}

func (d *drawing) widenToken(b *box, t *engine.Token) {
	b.add(t.Pose.Point, 20)
	for _, o := range cards(t) {
		for _, p := range o {
			b.add(t.Pose.Transform(p), 0)
		}
	}
}

// cards returns the outlines of a token's cards in its own frame. It returns none if their size is
// unknown.
func cards(t *engine.Token) [][]geom.Point {
	if len(t.Outline) > 0 {
		return [][]geom.Point{t.Outline}
	}
	return engine.TokenOutlines(t.Kind)
}

func (d *drawing) hasMat() bool { return d.scene.MatWidth > 0 && d.scene.MatHeight > 0 }

// table draws the mat and a grid of 100 mm, or a wider one in a huge picture.
func (d *drawing) table() {
	mat := box{d.view.x0, d.view.y0, d.view.x1, d.view.y1}
	if d.hasMat() {
		mat = box{0, 0, float64(d.scene.MatWidth), float64(d.scene.MatHeight)}
		d.path("mat", d.rectangle(mat))
	}
	step := 100.0
	for (mat.x1-mat.x0)/step > 60 || (mat.y1-mat.y0)/step > 60 {
		step *= 10
	}
	grid := ""
	for x := math.Floor(mat.x0/step)*step + step; x < mat.x1; x += step {
		grid += "M" + d.xy(geom.Point{X: x, Y: mat.y0}) + "L" + d.xy(geom.Point{X: x, Y: mat.y1})
	}
	for y := math.Floor(mat.y0/step)*step + step; y < mat.y1; y += step {
		grid += "M" + d.xy(geom.Point{X: mat.x0, Y: y}) + "L" + d.xy(geom.Point{X: mat.x1, Y: y})
	}
	if grid != "" {
		d.path("grid", grid)
	}
	if d.hasMat() {
		mid, off := mat.x1/2, 0.5*(mat.y0-d.view.y0)
		d.text("edge", 1.8, geom.Point{X: mid, Y: mat.y0 - off}, "player 1")
		d.text("edge", 1.8, geom.Point{X: mid, Y: mat.y1 + off}, "player 2")
	}
}

func (d *drawing) rectangle(b box) string {
	return d.polygon(geom.Point{X: b.x0, Y: b.y0}, geom.Point{X: b.x1, Y: b.y0}, geom.Point{X: b.x1, Y: b.y1}, geom.Point{X: b.x0, Y: b.y1})
}

// onMat clips a drawing to the mat.
func (d *drawing) onMat(draw func()) {
	if !d.hasMat() {
		draw()
		return
	}
	d.printf(`<g clip-path="url(#mat)">` + "\n")
	draw()
	d.close()
}

// bands draws the ranges 1 to 3 around a base. The rounded rectangles are exact: they contain all
// points at that distance from the base.
func (d *drawing) bands(s *engine.Ship) {
	w, l := d.profile.Size(s.Base)
	d.turned(s.Pose, "bands")
	for r := 3; r >= 1; r-- {
		d.printf(`<rect class="band band%d" %s/>`+"\n", r, ring(float64(w), float64(l), 100*float64(r)))
	}
	d.close()
	for r := 1.0; r <= 3; r++ {
		// Next to the nose's line, so that neither arrow nor line covers the label.
		p := s.Pose.Transform(geom.Point{X: -float64(w)/2 - 2*d.unit, Y: float64(l)/2 + 100*r - 1.4*d.unit})
		d.text("ring", 1.8, p, number(r))
		d.taken = append(d.taken, d.labelBox(1.8, p, "00"))
	}
}

// ring returns the rectangle of all points within r of a base, in the base's frame.
func ring(w, l, r float64) string {
	return fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s" rx="%s"`, number(-w/2-r), number(-l/2-r), number(w+2*r), number(l+2*r), number(r))
}

// arcs draws the requested arcs: to range 3 in 2.0 and 2.5, unbounded in the first edition (G46).
func (d *drawing) arcs(s *engine.Ship) {
	if len(d.o.Arcs) == 0 {
		return
	}
	w, l := d.profile.Size(s.Base)
	d.turned(s.Pose, "arcs")
	clip := ""
	if d.scene.Rules != engine.Rules1e {
		d.printf(`<clipPath id="range3"><rect %s/></clipPath>`+"\n", ring(float64(w), float64(l), 300))
		clip = ` clip-path="url(#range3)"`
	}
	for _, a := range d.o.Arcs {
		d.printf(`<path class="arc"%s d="%s"/>`+"\n", clip, d.wedge(s, a))
	}
	d.close()
}

// wedge returns the area of an arc in the ship's frame, y to the back. It reaches beyond the
// picture.
func (d *drawing) wedge(s *engine.Ship, a engine.Arc) string {
	far := 3 * (d.view.x1 - d.view.x0 + d.view.y1 - d.view.y0)
	a, angle := d.profile.Sector(d.scene.Rules, s, a)
	half := float64(angle)
	fan := func(from, to float64) string {
		path := "M0 0"
		for i := range 5 {
			sin, cos := math.Sincos(from + (to-from)*float64(i)/4)
			path += "L" + number(far*sin) + " " + number(-far*cos)
		}
		return path + "Z"
	}
	switch a {
	case 0: // no arc: nothing limits it
		return fan(-math.Pi, math.Pi)
	case engine.ArcRear:
		return fan(math.Pi-half, math.Pi+half)
	case engine.ArcLeft:
		return fan(half-math.Pi, -half)
	case engine.ArcRight:
		return fan(half, math.Pi-half)
	case engine.ArcFullFront:
		return fan(-math.Pi/2, math.Pi/2)
	case engine.ArcFullRear:
		return fan(math.Pi/2, 3*math.Pi/2)
	case engine.ArcBullseye:
		b := number(float64(d.profile.Bullseye) / 2)
		return "M-" + b + " 0V" + number(-far) + "H" + b + "V0Z"
	}
	return fan(-half, half)
}

// Dimensions of the guides in mm. The engine counts them for overlaps.
const (
	guideInner = float64(engine.GuideInner)
	guideOuter = float64(engine.GuideOuter)
)

// ship draws a base: its card with the arcs' lines, nose, guides and name.
func (d *drawing) ship(s *engine.Ship) {
	width, length := d.profile.Size(s.Base)
	w, l := float64(width)/2, float64(length)/2
	d.turned(s.Pose, fmt.Sprintf("ship player%d", s.Player))
	d.base(s.Base, "base")
	half := float64(d.profile.HalfAngle(d.scene.Rules, s.Base))
	x, y := l*math.Tan(half), l
	if x > w {
		x, y = w, w/math.Tan(half)
	}
	for _, sx := range [...]float64{-1, 1} {
		d.printf(`<path class="card" d="M%s %sL%s %s"/>`+"\n", number(-sx*x), number(-y), number(sx*x), number(y))
	}
	if engine.HasSections(d.scene.Rules, s) { // the aft section, shaded
		path := "" // one path for all pieces, which share parts
		for _, piece := range engine.SectionOutlines(&d.profile, s, engine.Aft) {
			for i, p := range piece {
				path += [2]string{"L", "M"}[max(0, 1-i)] + number(p.X) + " " + number(-p.Y)
			}
			path += "Z"
		}
		d.printf(`<path class="aft" d="%s"/>`+"\n", path)
	}
	if d.scene.Rules != engine.Rules1e {
		b := float64(d.profile.Bullseye) / 2
		d.printf(`<path class="card dashed" d="M%s 0V%sM%s 0V%s"/>`+"\n", number(-b), number(-l), number(b), number(-l))
	}
	d.printf(`<path class="nose" d="M0 %sl%s %sh%sz"/>`+"\n", number(-l+1.5), number(0.22*w), number(0.3*w), number(-0.44*w))
	if s.Turret != "" {
		turn := map[string]int{"front": 0, "right": 90, "rear": 180, "left": 270}[s.Turret]
		d.printf(`<path class="turret" transform="rotate(%d)" d="M0 %sl%s %sh%sz"/>`+"\n", turn, number(-0.82*w), number(0.2*w), number(0.2*w),
			number(-0.4*w))
		d.printf(`<circle class="turretring" r="%s"/>`+"\n", number(0.62*w))
	}
	d.close()
	d.doubt(s)
	d.text("id", idSize(w, d.unit), s.Pose.Point, name(s.ID))
}

// idSize returns the size of a ship's name on a base of half the width w.
func idSize(w, unit float64) float64 { return math.Max(1.6, math.Min(2.4, 0.55*w/unit)) }

// corners returns the corners of a base at a pose.
func (d *drawing) corners(b engine.Base, p geom.Pose) []geom.Point {
	w, l := d.profile.Size(b)
	x, y := float64(w)/2, float64(l)/2
	return []geom.Point{
		p.Transform(geom.Point{X: x, Y: y}), p.Transform(geom.Point{X: -x, Y: y}),
		p.Transform(geom.Point{X: -x, Y: -y}), p.Transform(geom.Point{X: x, Y: -y}),
	}
}

// base draws a base's outline in its own frame, with its guides.
func (d *drawing) base(b engine.Base, class string) {
	width, length := d.profile.Size(b)
	w, l := float64(width)/2, float64(length)/2
	if d.profile.Guides {
		reach := float64(engine.GuideReach(b))
		guides := ""
		for _, y := range [...]float64{-l - reach, l} {
			for _, x := range [...]float64{-guideOuter, guideInner} {
				guides += fmt.Sprintf("M%s %sh%sv%sh%sz", number(x), number(y), number(guideOuter-guideInner), number(reach),
					number(guideInner-guideOuter))
			}
		}
		d.printf(`<path class="guide" d="%s"/>`+"\n", guides)
	}
	d.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="1"/>`+"\n", class, number(-w), number(-l), number(2*w), number(2*l))
}

// magnified is the scale of a drawn covariance: at life size, that of a good camera is thinner than
// a line.
const magnified = 10

// doubt draws a ship's uncertainty at the chosen number of standard deviations: the ellipse of its
// centre, magnified, and the fan of its heading.
func (d *drawing) doubt(s *engine.Ship) {
	if s.Covariance == (geom.Cov3{}) {
		return
	}
	k := d.o.Sigmas * magnified
	c := s.Covariance.Position()
	mean, diff := (c.XX+c.YY)/2, math.Hypot((c.XX-c.YY)/2, c.XY)
	a, b := k*math.Sqrt(mean+diff), k*math.Sqrt(math.Max(0, mean-diff))
	tilt := math.Atan2(2*c.XY, c.XX-c.YY) / 2 // of the long axis, from +x towards +y
	x, y := d.at(s.Pose.Point)
	d.printf(`<ellipse class="doubt" cx="%[1]s" cy="%[2]s" rx="%[3]s" ry="%[4]s" transform="rotate(%[5]s %[1]s %[2]s)"/>`+"\n",
		number(x), number(y), number(a), number(b), number(-tilt*180/math.Pi))
	turn := geom.Angle(math.Min(math.Pi/2, k*math.Sqrt(s.Covariance.HeadingVariance())))
	_, l := d.profile.Size(s.Base)
	fan := "M" + d.xy(s.Pose.Point)
	for _, t := range [...]geom.Angle{-turn, 0, turn} {
		p := geom.Pose{Point: s.Pose.Point, Heading: s.Pose.Heading + t}
		fan += "L" + d.xy(p.Transform(geom.Point{Y: 0.75 * float64(l)}))
	}
	d.path("doubt", fan+"Z")
}

// obstacle draws an obstacle in the pattern of its kind.
func (d *drawing) obstacle(o *engine.Obstacle) {
	kind := o.Kind
	if kind == "" {
		kind = "asteroid"
	}
	ps := o.Pose.TransformAll(o.Outline)
	if o.Sigma > 0 {
		d.printf(`<path class="rim" stroke-width="%s" d="%s"/>`+"\n", number(2*d.o.Sigmas*float64(o.Sigma)), d.polygon(ps...))
	}
	d.path("rock "+kind, d.polygon(ps...))
	d.tag(ps, o.ID)
}

// tag writes a name on a thing, or next to it if the thing is too small for the name or something
// covers it.
func (d *drawing) tag(ps []geom.Point, id string) {
	const size = 1.8
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range ps {
		b.add(p, 0)
	}
	words := name(id)
	places := d.around(b, size, words)
	if l := d.labelBox(size, geom.Point{}, words); b.x1-b.x0 > l.x1-l.x0 && b.y1-b.y0 > l.y1-l.y0 {
		places = append([]geom.Point{{X: (b.x0 + b.x1) / 2, Y: (b.y0 + b.y1) / 2}}, places...)
	}
	d.label("tag", size, words, places...)
	d.taken = append(d.taken, b)
}

// token draws a device or a marker: its cards, if their size is known.
func (d *drawing) token(class string, t *engine.Token) {
	outlines := cards(t)
	var all []geom.Point
	d.printf(`<g class="%s player%d">`+"\n", class, t.Player)
	for _, o := range outlines {
		ps := t.Pose.TransformAll(o)
		all = append(all, ps...)
		d.path("body", d.polygon(ps...))
	}
	if len(outlines) == 0 {
		x, y := d.at(t.Pose.Point)
		d.printf(`<circle class="body" cx="%s" cy="%s" r="15"/>`+"\n", number(x), number(y))
		all = append(all, t.Pose.Add(geom.Point{X: 15, Y: 15}), t.Pose.Sub(geom.Point{X: 15, Y: 15}))
	}
	d.close()
	d.turned(t.Pose, class)
	d.printf(`<path class="nose" d="M0 -11l4 6h-8z"/>` + "\n")
	d.close()
	d.tag(all, t.ID)
}
