package look

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
)

// art is what is printed on a card: its colour (blue, green, red; 0…1) at a place in its own frame, in mm.
type art func(u, v float64) [3]float64

// drawnArt is a dark card with stars, stripes and patches in several colours, another one for each seed.
func drawnArt(seed uint64) art {
	rng := rand.New(rand.NewPCG(seed, 5))
	type patch struct {
		x, y, r, turn float64
		c             [3]float64
		stripe        bool
	}
	var all []patch
	for i := range 70 {
		p := patch{80*rng.Float64() - 40, 80*rng.Float64() - 40, 0.6 + 2*rng.Float64(), math.Pi * rng.Float64(),
			[3]float64{rng.Float64(), rng.Float64(), rng.Float64()}, i%7 == 0}
		all = append(all, p)
	}
	return func(u, v float64) [3]float64 {
		out := [3]float64{0.10, 0.08, 0.07}
		for _, p := range all {
			dx, dy := u-p.x, v-p.y
			d := math.Hypot(dx, dy)
			if p.stripe {
				d = math.Abs(dx*math.Cos(p.turn)+dy*math.Sin(p.turn)) + p.r - 0.8
			}
			if k := min(max(p.r-d+0.3, 0), 1); k > 0 {
				for c := range out {
					out[c] += k * (p.c[c] - out[c])
				}
			}
		}
		return out
	}
}

// drawnBase is a base on a drawn table.
type drawnBase struct {
	base engine.Base
	pose geom.Pose
	art  art
	slip geom.Pose // of the card in its frame

	guides int // quarter turns of the base against its pose, for bases drawn with guides; 0: without them

	bare bool // a card without a base

	number art // of its ID tokens, as an observer beside it sees them, their middle at 0; nil: it has none
}

// token returns what a ray from c to a point p of the card meets of the ID tokens.
func (b *drawnBase) token(c calibration.Vec3, p geom.Point) (out [3]float64, ok bool) {
	if b.number == nil {
		return out, false
	}
	from, to := b.pose.Inverse(geom.Point{X: c[0], Y: c[1]}), b.pose.Inverse(p)
	side := math.Copysign(1, from.X)
	t := (side*faceOut - from.X) / (to.X - from.X)
	y, z := from.Y+t*(to.Y-from.Y), c[2]+t*(float64(CardTop)-c[2])
	if math.Abs(from.X) < faceOut || t > 1 || math.Abs(y) > 4.5 || z < 5 || z > 16 {
		return out, false
	}
	return b.number(side*y, z-10.5), true
}

// guideAt reports whether a point outside the plastic, in the base's frame, lies on a guide.
func (b *drawnBase) guideAt(q geom.Point) bool {
	across, along := q.Y, q.X
	if b.guides%2 == 1 {
		across, along = q.X, q.Y
	}
	w, _ := b.base.Size()
	return math.Abs(across) > float64(w)/2 && math.Abs(along) > float64(engine.GuideInner) && math.Abs(along) < float64(engine.GuideOuter)
}

// drawing is a picture of bases on a dark mat.
type drawing struct {
	table  calibration.Table
	bases  []drawnBase
	light  [3]float64                         // gain of each channel; zero: 1
	hides  func(p geom.Point) (bool, float64) // a miniature over a point of the table, and how bright it is; nil: none
	shades func(p geom.Point) float64         // the share of the light that reaches a point; nil: all
	blur   float64                            // px
	noise  float64                            // grey levels
	matted bool                               // the mat has stars
	mat    [3]float64                         // its colour; zero: dark
}

// tableAt is a camera over a small mat.
func tableAt(scale float64) calibration.Table { return visiontest.TableOf(scale, 260) }

// at returns the colour that a ray to a pixel meets, 0…1.
func (d *drawing) at(px geom.Pixel) [3]float64 {
	p, _ := d.table.PointAt(px, CardTop)
	if d.hides != nil {
		if hidden, light := d.hides(p); hidden {
			return [3]float64{light, light, light}
		}
	}
	for i := range d.bases {
		if c, ok := d.bases[i].token(d.table.Center(), p); ok {
			return c
		}
	}
	for _, b := range d.bases {
		w, _ := b.base.Size()
		half := float64(w) / 2
		q := b.pose.Inverse(p)
		switch r := max(math.Abs(q.X), math.Abs(q.Y)); {
		case r > half && r < half+1.6 && b.guides > 0 && b.guideAt(q):
			return [3]float64{0.03, 0.03, 0.03}
		case r > half, b.bare && r > half-1.7:
		case r > half-1.7:
			return [3]float64{0.03, 0.03, 0.03}
		case r < 6:
			return [3]float64{0.3, 0.3, 0.3} // the tower
		default:
			c := b.slip.Inverse(q)
			return b.art(c.X, c.Y)
		}
	}
	if d.matted && math.Mod(math.Abs(p.X*7.3+p.Y*3.1), 11) < 2 {
		return [3]float64{0.5, 0.4, 0.3}
	}
	if d.mat != [3]float64{} {
		return d.mat
	}
	return [3]float64{0.05, 0.04, 0.03}
}

// draw takes the picture.
func (d *drawing) draw(seed uint64) vision.Frame {
	w, h := d.table.Intrinsics.Width, d.table.Intrinsics.Height
	p := planes{w: w, h: h, v: make([]float32, channels*w*h)}
	light := d.light
	if light == ([3]float64{}) {
		light = [3]float64{1, 1, 1}
	}
	for y := range h {
		for x := range w {
			for _, o := range [4][2]float64{{-0.25, -0.25}, {0.25, -0.25}, {-0.25, 0.25}, {0.25, 0.25}} {
				px, share := geom.Pixel{X: float64(x) + o[0], Y: float64(y) + o[1]}, 1.0
				v := d.at(px)
				if d.shades != nil {
					p, _ := d.table.PointAt(px, CardTop)
					share = d.shades(p)
				}
				for c := range channels {
					p.v[channels*(y*w+x)+c] += float32(min(share*light[c]*v[c], 1) / 4)
				}
			}
		}
	}
	p = p.blurred(max(d.blur, 0.5))
	rng := rand.New(rand.NewPCG(seed, 9))
	f := vision.Frame{Gray: image.NewGray(image.Rect(0, 0, w, h)), Name: "drawn"}
	f.Color = &vision.BGR{Pix: make([]byte, channels*w*h), Width: w, Height: h}
	for i, v := range p.v {
		f.Color.Pix[i] = level(float32(visiontest.Encode(float64(v))) + float32(d.noise*rng.NormFloat64()))
	}
	for i := range f.Gray.Pix {
		f.Gray.Pix[i] = uint8((114*int(f.Color.Pix[3*i]) + 587*int(f.Color.Pix[3*i+1]) + 299*int(f.Color.Pix[3*i+2]) + 500) / 1000)
	}
	return f
}

// quarters are four bases of one card, a quarter turn apart.
func quarters(base engine.Base, a art) (out []drawnBase) {
	for i := range 4 {
		at := geom.Point{X: 70 + 120*float64(i%2), Y: 70 + 120*float64(i/2)}
		out = append(out, drawnBase{base: base, art: a, pose: geom.Pose{Point: at, Heading: geom.Angle(90*i+3*i) * geom.Degree}})
	}
	return out
}

// views shows bases to the camera one picture for all.
func (d *drawing) views(seed uint64) (out []View) {
	f := d.draw(seed)
	for _, b := range d.bases {
		out = append(out, View{d.table, f, b.pose})
	}
	return out
}

// discOver hides what lies up to a radius from a point; it may be dark or bright.
func discOver(at geom.Point, radius, light float64) func(geom.Point) (bool, float64) {
	return func(p geom.Point) (bool, float64) { return float64(p.Distance(at)) < radius, light }
}

// small learns the look of a small base with a drawn card.
func small(t testing.TB, seed uint64, name string) *Look {
	t.Helper()
	d := drawing{table: tableAt(1.02), bases: quarters(engine.Small, drawnArt(seed)), noise: 1}
	l, err := Learn(Card{Name: name, Ships: []string{name}, Base: engine.Small, Pilot: "Drawn"}, d.views(seed))
	if err != nil {
		t.Fatal(err)
	}
	return l
}
