package tablesim

import (
	"fmt"
	"image/color"
	"math"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// rgb is linear light or a reflectance, 0…1.
type rgb struct{ r, g, b float32 }

func (c rgb) scale(k float64) rgb {
	f := float32(k)
	return rgb{f * c.r, f * c.g, f * c.b}
}

func (c rgb) mix(d rgb, t float64) rgb {
	f := float32(t)
	return rgb{c.r + f*(d.r-c.r), c.g + f*(d.g-c.g), c.b + f*(d.b-c.b)}
}

// printed returns the reflectance of an sRGB ink: the blackest print still reflects two per cent,
// paper 92.
func printed(c color.RGBA) rgb {
	f := func(v uint8) float32 { return 0.02 + 0.9*srgbLinear[v] }
	return rgb{f(c.R), f(c.G), f(c.B)}
}

// srgbLinear decodes the sRGB curve (IEC 61966-2-1).
var srgbLinear = func() (t [256]float32) {
	for i := range t {
		v := float64(i) / 255
		if v <= 0.04045 {
			t[i] = float32(v / 12.92)
		} else {
			t[i] = float32(math.Pow((v+0.055)/1.055, 2.4))
		}
	}
	return t
}()

// hit is where a ray hits a solid.
type hit struct {
	z       float64 // height over the mat
	x, y    float64 // in the solid's own frame, or on the table for the ground
	surface uint8   // index of the solid's surface
	mark    uint32  // identifies areas of a surface (inks, cells)
	fine    bool    // too fine for single rays: always supersampled
}

// solid is an object on the table.
type solid interface {
	// meets sets h to the highest point where the ray hits the solid and reports true, if that is
	// higher than h.
	meets(r ray, h *hit) bool
	// color returns the reflectance at a hit.
	color(h *hit, r ray, g *ground) rgb
	// light returns the share of the light that the solid lets through to a table point.
	light(x, y, z float64) float64
	// reach returns the boxes within which the solid can change the picture, shadows included.
	reach() []volume
	// sum returns a checksum that changes whenever the solid does.
	sum() uint64
}

// volume is an axis-parallel box of the table frame.
type volume struct {
	box
	z0, z1 float64
}

// checksum combines numbers into one (FNV-1a over 64-bit words, with a final mix).
func checksum(v ...float64) uint64 {
	h := uint64(14695981039346656037)
	for _, f := range v {
		h = mix64(h ^ math.Float64bits(f))
	}
	return h
}

// mix64 is the finaliser of splitmix64.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// around returns the box around a point with its shadow.
func around(x, y, radius, z0, z1 float64, look *Look) volume {
	sx, sy := look.Slope.X*max(z1, 0), look.Slope.Y*max(z1, 0)
	pad := radius + penumbra(look, max(z1, 0)) + 2
	return volume{box{x - pad + min(sx, 0), y - pad + min(sy, 0), x + pad + max(sx, 0), y + pad + max(sy, 0)}, z0, z1}
}

// penumbra returns the softness of a shadow: half the penumbra at a height difference.
func penumbra(look *Look, dz float64) float64 { return 0.4 + 0.5*look.Spread*dz }

// ---- bases

const (
	surfaceToken uint8 = iota
	surfaceWall
	surfaceGuide
	surfacePeg
)

// base is a ship's plastic base with its token on top.
type base struct {
	frame
	hx, hy, top float64 // half its width and length; height of the token's top
	guides      [4]box
	token       token.Token
	plastic     Plastic
	worn        Wear
	print       Print
	stock       *stockCard // of WearStock
	spare       bool       // the token lies there without a base
	look        *Look
	id          uint64
}

func newBase(s engine.Ship, top float64, look *Look) (*base, error) {
	code, err := token.CodeOfID(s.ID)
	if err != nil {
		return nil, fmt.Errorf("tablesim: %w", err)
	}
	token, err := token.NewToken(code, s.Base)
	if err != nil {
		return nil, fmt.Errorf("tablesim: ship %s: %w", s.ID, err)
	}
	b := &base{frame: frameOf(s.Pose), top: top, guides: guides(s.Base), token: token, plastic: look.Plastic, look: look}
	b.hx, b.hy = token.Half()
	b.id = checksum(1, b.x, b.y, b.s, b.c, top, float64(code), float64(s.Base))
	return b, nil
}

func (b *base) meets(r ray, h *hit) bool {
	x0, y0 := r.at(b.top)
	x0, y0 = b.local(x0, y0)
	deep := min(b.hx-math.Abs(x0), b.hy-math.Abs(y0))
	switch {
	case deep < -12:
		return false
	case deep >= 0 && b.stock != nil:
		return b.meetsStock(r, x0, y0, h)
	case deep >= 0:
		if b.top <= h.z {
			return false
		}
		ink, onPaper := b.token.At(b.print.drawn(x0, y0))
		if !onPaper { // the print is smaller: the sheet's white is around it
			ink = color.RGBA{255, 255, 255, 255}
		}
		ink = b.worn.ink(ink, deep)
		*h = hit{
			z: b.top, x: x0, y: y0, surface: surfaceToken,
			mark: uint32(ink.R)<<16 | uint32(ink.G)<<8 | uint32(ink.B), fine: deep < float64(token.RimDeep)+0.5,
		}
		return true
	}
	x1, y1 := b.local(r.gx, r.gy)
	found := false
	if t, ok := (box{-b.hx, -b.hy, b.hx, b.hy}).enter(x0, y0, x1, y1); ok && b.top*(1-t) > h.z {
		*h = hit{z: b.top * (1 - t), x: x0 + t*(x1-x0), y: y0 + t*(y1-y0), surface: surfaceWall, fine: true}
		found = true
	}
	if b.spare || max(math.Abs(y0), math.Abs(y1)) < b.hy {
		return found
	}
	k := min(guideTop/b.top, 1)
	gx, gy := x1+k*(x0-x1), y1+k*(y0-y1)
	for i := range b.guides {
		if t, ok := b.guides[i].enter(gx, gy, x1, y1); ok && guideTop*(1-t) > h.z {
			*h = hit{z: guideTop * (1 - t), x: gx + t*(x1-gx), y: gy + t*(y1-gy), surface: surfaceGuide, fine: true}
			if t == 0 {
				h.mark = 1
			}
			found = true
		}
	}
	return found
}

func (b *base) color(h *hit, r ray, g *ground) rgb {
	if h.surface == surfaceToken {
		return printed(color.RGBA{uint8(h.mark >> 16), uint8(h.mark >> 8), uint8(h.mark), 255})
	}
	if b.spare {
		return printed(token.InkWhite).scale(0.7) // the paper's edge
	}
	lit := 0.7
	if h.mark == 1 {
		lit = 1 // a guide's flat top
	}
	if h.mark == stockTop {
		lit = b.stock.shine
	}
	switch b.plastic {
	case PlasticWhite:
		return rgb{0.75, 0.75, 0.73}.scale(lit)
	case PlasticClear:
		return g.color(r.gx, r.gy).mix(rgb{0.30, 0.31, 0.33}, 0.45).scale(lit)
	}
	return rgb{0.035, 0.035, 0.038}.scale(lit)
}

// light darkens the mat close to the base.
func (b *base) light(x, y, z float64) float64 {
	if z >= b.top-0.5 {
		return 1
	}
	dz := b.top - z
	x, y = b.local(x-0.5*dz*b.look.Slope.X, y-0.5*dz*b.look.Slope.Y)
	d := max(math.Abs(x)-b.hx, math.Abs(y)-b.hy)
	return 1 - b.look.Shadow*(1-smooth(-1, 3, d))
}

func (b *base) reach() []volume {
	return []volume{around(b.x, b.y, reachOf(b.hx, b.hy), 0, b.top, b.look)}
}
func (b *base) sum() uint64 { return b.id }

// reachOf returns how far a base and its guides extend from the centre. For squares it keeps its
// original value, because it decides which pixels are sampled more finely, and so the pictures of
// all tests.
func reachOf(hx, hy float64) float64 {
	if hx == hy {
		return 1.4143 * (hx + 2)
	}
	return math.Hypot(hx+2, hy+2) + 0.1
}

// ---- miniatures

// figure is a miniature on its peg: one silhouette at a few heights, which is enough of a solid for
// a camera that looks down.
type figure struct {
	frame
	parts  []part
	layers [3]float64 // heights, from the top
	radius float64
	foot   float64 // where the peg starts
	skin   rgb
	look   *Look
	id     uint64
}

func newFigure(m Mini, pose geom.Pose, foot float64, look *Look) (*figure, error) {
	if !(m.Width > 0) || !(m.Length > 0) || !(m.Z > 0) || !(m.Thick >= 0) || m.Kind < 0 || m.Kind >= miniKinds {
		return nil, fmt.Errorf("tablesim: miniature: sizes must be positive and the kind known, got %+v", m)
	}
	z, th := float64(m.Z), float64(m.Thick)
	f := &figure{
		frame: frameOf(pose), parts: silhouette(m), layers: [3]float64{z + th, z + th/2, z},
		radius: math.Hypot(float64(m.Width), float64(m.Length)) / 2, foot: foot, skin: printed(m.Color), look: look,
	}
	f.id = checksum(2, f.x, f.y, f.s, f.c, foot, float64(m.Kind), float64(m.Width), float64(m.Length), z, th,
		float64(m.Color.R), float64(m.Color.G), float64(m.Color.B))
	return f, nil
}

// silhouette draws the miniature's outline, the nose towards +y.
func silhouette(m Mini) []part {
	a, b := float64(m.Width)/2, float64(m.Length)/2
	pt := func(x, y float64) geom.Point { return geom.Point{X: x, Y: y} }
	switch m.Kind {
	case MiniWedge:
		return []part{polygon(pt(-a, -b), pt(-0.12*a, b), pt(0.12*a, b), pt(a, -b), pt(0, -b))}
	case MiniCross:
		return []part{
			polygon(pt(-0.22*a, -b), pt(-0.1*a, b), pt(0.1*a, b), pt(0.22*a, -b)),
			polygon(pt(-a, -0.75*b), pt(-a, -0.45*b), pt(0, -0.05*b), pt(a, -0.45*b), pt(a, -0.75*b)),
		}
	case MiniTwin:
		return []part{
			ellipse(0, 0, 0.42*a, 0.42*a), rectangle(-a, -0.08*b, a, 0.08*b),
			rectangle(-a, -b, -0.86*a, b), rectangle(0.86*a, -b, a, b),
		}
	}
	return []part{ellipse(0, 0, a, b)}
}

func (f *figure) meets(r ray, h *hit) bool {
	// Quick rejection by the distance of the ray's nearest end from the axis.
	x0, y0 := r.at(f.layers[2])
	x1, y1 := r.at(f.foot)
	x0, y0, x1, y1 = x0-f.x, y0-f.y, x1-f.x, y1-f.y
	dx, dy := x1-x0, y1-y0
	n := dx*dx + dy*dy
	if far := f.radius + 15; x0*x0+y0*y0 > far*far && x1*x1+y1*y1 > far*far && n < far*far {
		return false
	}
	for i, z := range f.layers {
		if z <= h.z {
			return false
		}
		x, y := r.at(z)
		x, y = f.local(x, y)
		if x*x+y*y <= f.radius*f.radius && inside(f.parts, x, y) {
			*h = hit{z: z, x: x, y: y, surface: uint8(i), mark: uint32(4*x+400)/24 + uint32(4*y+400)/24<<8}
			return true
		}
	}
	// The peg, an upright cylinder: nearest approach of the ray to its axis.
	t := 0.0
	if n > 0 {
		t = min(max(-(x0*dx+y0*dy)/n, 0), 1)
	}
	x, y := x0+t*dx, y0+t*dy
	z := f.layers[2] + t*(f.foot-f.layers[2])
	if x*x+y*y > pegRadius*pegRadius || z <= h.z {
		return false
	}
	*h = hit{z: z, x: x, y: y, surface: surfacePeg}
	return true
}

func (f *figure) color(h *hit, _ ray, _ *ground) rgb {
	if h.surface == surfacePeg {
		return rgb{0.22, 0.23, 0.25}
	}
	// Panels: a fixed pattern of darker and lighter plates; lower layers are in shade.
	n := mix64(uint64(h.mark)) >> 56
	return f.skin.scale((0.75 + float64(n)/800) * (1 - 0.18*float64(h.surface)))
}

func (f *figure) light(x, y, z float64) float64 {
	dz := f.layers[1] - z
	if dz < 10 {
		return 1 // itself, or a neighbour at the same height
	}
	lx, ly := f.local(x-dz*f.look.Slope.X, y-dz*f.look.Slope.Y)
	w := penumbra(f.look, dz)
	if far := f.radius + w; lx*lx+ly*ly > far*far {
		return 1
	}
	return 1 - f.look.Shadow*(1-smooth(-w, w, distance(f.parts, lx, ly)))
}

func (f *figure) reach() []volume {
	return []volume{around(f.x, f.y, f.radius, 0, f.layers[0], f.look)}
}
func (f *figure) sum() uint64 { return f.id }

// ---- flat things

// slab is an obstacle or a piece of clutter: a polygon of some thickness.
type slab struct {
	outline []geom.Point // on the table
	bounds  box
	top     float64
	ink     rgb
	rocky   bool
	look    *Look
	id      uint64
}

func newSlab(pose geom.Pose, outline []geom.Point, top float64, ink rgb, rocky bool, look *Look) *slab {
	s := &slab{top: top, ink: ink, rocky: rocky, look: look, bounds: box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}}
	sum := []float64{3, top, float64(ink.r), float64(ink.g), float64(ink.b)}
	for _, p := range outline {
		q := pose.Transform(p)
		s.outline = append(s.outline, q)
		s.bounds = box{min(s.bounds.x0, q.X), min(s.bounds.y0, q.Y), max(s.bounds.x1, q.X), max(s.bounds.y1, q.Y)}
		sum = append(sum, q.X, q.Y)
	}
	s.id = checksum(sum...)
	return s
}

func (s *slab) meets(r ray, h *hit) bool {
	x, y := r.at(s.top)
	if far := s.top + 1; x < s.bounds.x0-far || x > s.bounds.x1+far || y < s.bounds.y0-far || y > s.bounds.y1+far {
		return false
	}
	const steps = 4 // down the sides
	for k := range steps + 1 {
		z := s.top * (1 - float64(k)/steps)
		if z <= h.z {
			return false
		}
		if x, y = r.at(z); inPolygon(s.outline, x, y) {
			*h = hit{z: z, x: x, y: y, surface: uint8(min(k, 1))}
			return true
		}
	}
	return false
}

func (s *slab) color(h *hit, _ ray, _ *ground) rgb {
	if h.surface == 1 {
		return s.ink.scale(0.5)
	}
	if s.rocky {
		return s.ink.scale(0.35 + 1.1*clouds(h.x/11, h.y/11, 3))
	}
	return s.ink.scale(0.92 + 0.16*noise(h.x/3, h.y/3))
}

func (s *slab) light(x, y, z float64) float64 {
	if z >= s.top-0.5 || s.top > 20 {
		return 1
	}
	x, y = x-s.top*s.look.Slope.X, y-s.top*s.look.Slope.Y
	d := max(s.bounds.x0-x, x-s.bounds.x1, s.bounds.y0-y, y-s.bounds.y1)
	if d > 0 || !inPolygon(s.outline, x, y) {
		return 1
	}
	return 1 - 0.6*s.look.Shadow
}

func (s *slab) reach() []volume {
	b := s.bounds
	v := around((b.x0+b.x1)/2, (b.y0+b.y1)/2, 0, 0, s.top, s.look)
	w, h := (b.x1-b.x0)/2, (b.y1-b.y0)/2
	v.x0, v.x1, v.y0, v.y1 = v.x0-w, v.x1+w, v.y0-h, v.y1+h
	return []volume{v}
}
func (s *slab) sum() uint64 { return s.id }

// ---- markers

// card is a printed mat marker on its white card.
type card struct {
	frame
	half, edge, z float64 // half sides of the black square and of the card; height
	white         [calibration.TagCells][calibration.TagCells]bool
	look          *Look
	id            uint64
}

func newCard(m calibration.Marker, look *Look) (*card, error) {
	c := &card{
		frame: frameOf(geom.Pose{Point: m.Center, Heading: m.Heading}),
		half:  float64(m.Size) / 2, edge: float64(m.Size/2 + calibration.MarkerMargin), z: float64(m.Z), look: look,
	}
	for row := range calibration.TagCells {
		for col := range calibration.TagCells {
			w, err := calibration.TagWhite(m.ID, col, row)
			if err != nil {
				return nil, fmt.Errorf("tablesim: marker %d: %w", m.ID, err)
			}
			c.white[row][col] = w
		}
	}
	c.id = checksum(4, c.x, c.y, c.s, c.c, c.half, c.z, float64(m.ID))
	return c, nil
}

func (c *card) meets(r ray, h *hit) bool {
	if c.z <= h.z {
		return false
	}
	x, y := r.at(c.z)
	x, y = c.local(x, y)
	out := max(math.Abs(x), math.Abs(y)) - c.edge
	switch {
	case out > 4:
		return false
	case out <= 0:
		*h = hit{z: c.z, x: x, y: y, mark: 1}
		if math.Abs(x) < c.half && math.Abs(y) < c.half {
			col := int((x + c.half) / (2 * c.half) * calibration.TagCells)
			row := int((c.half - y) / (2 * c.half) * calibration.TagCells)
			if !c.white[min(row, calibration.TagCells-1)][min(col, calibration.TagCells-1)] {
				h.mark = 0
			}
		}
		return true
	}
	x1, y1 := r.at(-matThick)
	x1, y1 = c.local(x1, y1)
	t, ok := (box{-c.edge, -c.edge, c.edge, c.edge}).enter(x, y, x1, y1)
	z := c.z - t*(c.z+matThick)
	if !ok || z <= h.z {
		return false
	}
	*h = hit{z: z, x: x + t*(x1-x), y: y + t*(y1-y), surface: 1}
	return true
}

func (c *card) color(h *hit, _ ray, _ *ground) rgb {
	switch {
	case h.surface == 1:
		return rgb{0.25, 0.22, 0.18}
	case h.mark == 1:
		return printed(color.RGBA{255, 255, 255, 255})
	}
	return printed(color.RGBA{8, 8, 8, 255})
}

func (c *card) light(_, _, _ float64) float64 { return 1 }
func (c *card) reach() []volume {
	return []volume{around(c.x, c.y, 1.4143*c.edge, -matThick, c.z, c.look)}
}
func (c *card) sum() uint64 { return c.id }

// ---- hands

// arm is a hand with its arm: rounded limbs at two heights.
type arm struct {
	layers [2]limbs
	look   *Look
	id     uint64
}

// limbs are those of an arm at one height.
type limbs struct {
	z      float64
	parts  []part
	bounds box
}

const (
	sleeveFrom = 230.0 // mm from the finger tips
	armLong    = 700.0
)

func newArm(h Hand, mat calibration.Layout, look *Look) *arm {
	// The arm's own frame: the tips at the origin, the arm towards -y.
	pose := geom.Pose{Point: h.Tip}
	lean := (h.Tip.X/float64(mat.Width) - 0.5) * 0.7 // from the player's middle
	if h.Player == 2 {
		pose.Heading = geom.Angle(math.Pi - lean)
	} else {
		pose.Heading = geom.Angle(lean)
	}
	z := float64(h.Z)
	a := &arm{look: look, id: checksum(5, h.Tip.X, h.Tip.Y, z, float64(h.Player), float64(mat.Width))}
	limb := func(l *limbs, x0, y0, r0, x1, y1, r1 float64) {
		p, q := pose.Transform(geom.Point{X: x0, Y: y0}), pose.Transform(geom.Point{X: x1, Y: y1})
		l.parts = append(l.parts, capsule(p.X, p.Y, r0, q.X, q.Y, r1))
		r := max(r0, r1)
		b := box{min(p.X, q.X) - r, min(p.Y, q.Y) - r, max(p.X, q.X) + r, max(p.Y, q.Y) + r}
		if len(l.parts) > 1 {
			b = box{min(b.x0, l.bounds.x0), min(b.y0, l.bounds.y0), max(b.x1, l.bounds.x1), max(b.y1, l.bounds.y1)}
		}
		l.bounds = b
	}
	up, down := &a.layers[0], &a.layers[1]
	up.z, down.z = z+25, z
	limb(up, 0, -95, 34, 0, -130, 38)          // the hand's back
	limb(up, 0, -150, 28, 0, -armLong, 48)     // forearm and sleeve
	for i, x := range []float64{-22, -4, 14} { // fingers, closed over a base
		limb(down, x+float64(i), -8-5*float64(i%2), 8, 1.2*x, -80, 10)
	}
	limb(down, 30, -30, 9, 30, -90, 13) // thumb
	return a
}

func (a *arm) meets(r ray, h *hit) bool {
	for i := range a.layers {
		l := &a.layers[i]
		if l.z <= h.z {
			return false
		}
		x, y := r.at(l.z)
		if l.bounds.has(x, y) && inside(l.parts, x, y) {
			*h = hit{z: l.z, x: x, y: y, surface: uint8(i)}
			return true
		}
	}
	return false
}

func (a *arm) color(h *hit, _ ray, _ *ground) rgb {
	d := -distance(a.layers[h.surface].parts, h.x, h.y)
	round := 0.55 + 0.45*smooth(0, 14, d)
	p := &a.layers[0].parts[1] // the forearm: from the wrist outwards
	if h.surface == 0 && math.Hypot(h.x-p.x, h.y-p.y) > sleeveFrom-150 && inside(a.layers[0].parts[1:2], h.x, h.y) {
		return rgb{0.05, 0.07, 0.12}.scale(round)
	}
	return rgb{0.50, 0.29, 0.20}.scale(round)
}

func (a *arm) light(x, y, z float64) float64 {
	out := 1.0
	for i := range a.layers {
		l := &a.layers[i]
		dz := l.z - z
		if dz < 12 {
			continue
		}
		sx, sy := x-dz*a.look.Slope.X, y-dz*a.look.Slope.Y
		w := penumbra(a.look, dz)
		if sx < l.bounds.x0-w || sx > l.bounds.x1+w || sy < l.bounds.y0-w || sy > l.bounds.y1+w {
			continue
		}
		out = min(out, 1-a.look.Shadow*(1-smooth(-w, w, distance(l.parts, sx, sy))))
	}
	return out
}

// reach cuts the long arm into pieces so that their pictures stay small.
func (a *arm) reach() []volume {
	var out []volume
	for i := range a.layers {
		l := &a.layers[i]
		for _, p := range l.parts {
			const piece = 30.0
			n := int(math.Hypot(p.ex, p.ey)/piece) + 1
			for k := range n + 1 {
				t := float64(k) / float64(n)
				out = append(out, around(p.x+t*p.ex, p.y+t*p.ey, max(p.a, p.b)+piece/2, 0, l.z, a.look))
			}
		}
	}
	return out
}
func (a *arm) sum() uint64 { return a.id }

// obstacleInk returns the colour that a kind of obstacle is printed in.
func obstacleInk(kind string) rgb {
	switch kind {
	case "debris":
		return rgb{0.20, 0.10, 0.06}
	case "gas":
		return rgb{0.10, 0.16, 0.22}
	}
	return rgb{0.16, 0.14, 0.12}
}

// shipSolids returns a ship's base, and the miniature on it if it has one.
func shipSolids(t *Table, s engine.Ship, look *Look) ([]solid, error) {
	top := t.baseTop(s.ID)
	b, err := newBase(s, top, look)
	if err != nil {
		return nil, err
	}
	if b.print = t.Prints[s.ID]; b.print != (Print{}) {
		b.id = checksum(float64(b.id>>11), b.print.Wider, b.print.Longer, b.print.Sheared)
	}
	if b.worn = t.Worn[s.ID]; b.worn != WearNone {
		b.id = mix64(b.id ^ uint64(b.worn))
	}
	if b.worn == WearStock {
		code := b.token.Code
		if card, ok := t.Cards[s.ID]; ok {
			if code, err = token.CodeOfID(card); err != nil {
				return nil, fmt.Errorf("tablesim: the card of ship %s: %w", s.ID, err)
			}
			b.id = mix64(b.id ^ uint64(code))
		}
		b.stock = newStockCard(b.hx, b.hy, uint64(b.token.Code), uint64(code))
	}
	m, ok := t.Minis[s.ID]
	if !ok {
		return []solid{b}, nil
	}
	f, err := newFigure(m, s.Pose, top, look)
	if err != nil {
		return nil, fmt.Errorf("ship %s: %w", s.ID, err)
	}
	return []solid{b, f}, nil
}

// solidsOf returns everything that stands on the table.
func solidsOf(t *Table, look *Look) ([]solid, error) {
	var out []solid
	for _, m := range t.Layout.Markers {
		c, err := newCard(m, look)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, o := range t.Scene.Obstacles {
		out = append(out, newSlab(o.Pose, o.Outline, obstacleTop, obstacleInk(o.Kind), true, look))
	}
	for _, c := range t.Clutter {
		out = append(out, newSlab(c.Pose, c.outline(), float64(c.Height), printed(c.Color), false, look))
	}
	for _, l := range t.Strips {
		s, err := newLaidStrip(l, look)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if t.Jig != nil {
		parts, err := t.Jig.solids(look)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	for _, s := range t.Scene.Ships {
		parts, err := shipSolids(t, s, look)
		if err != nil {
			return nil, err
		}
		out = append(out, parts...)
	}
	for _, s := range t.Spares {
		b, err := newBase(engine.Ship{ID: s.ID, Base: s.Base, Pose: s.Pose}, spareTop, look)
		if err != nil {
			return nil, err
		}
		b.spare = true
		out = append(out, b)
	}
	for _, h := range t.Hands {
		out = append(out, newArm(h, t.Layout, look))
	}
	if t.Board != nil {
		s, err := newSheet(*t.Board, t.Camera)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
