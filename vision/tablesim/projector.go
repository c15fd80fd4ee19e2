package tablesim

import (
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math"
	"os"
	"time"

	"sightline/calibration"
	"sightline/calibration/regularfile"
	"sightline/engine/geom"
)

// Projector projects a picture onto the table. Its lens is that of a camera that would see the
// picture where it is projected: Width and Height are its own pixels, over which the picture is
// stretched. Objects in its way cast shadows.
type Projector struct {
	Lens    calibration.Camera
	Light   float64     // of white, as a multiple of the room's light on the mat
	Picture *image.RGBA // the projected picture, which must not change; nil: none
}

// DefaultProjector returns a projector 2.6 m over the middle of a mat, 8 degrees from vertical,
// that lights a little more than the mat. Its lens distorts the picture by up to 4 mm; its white is
// as bright as the room.
func DefaultProjector(side geom.Length) Projector {
	return hang(float64(side), 2600, 8*deg, 1.5*deg, 0.8*deg, 4, 20, -12)
}

// hang returns a projector of 1920×1080 px. bend is by how much its lens moves the mat's corners,
// mm.
func hang(side, away, tiltX, tiltY, roll, bend, ox, oy float64) Projector {
	const height = 1080
	r := side / math.Sqrt2 / away
	f := 0.86 * height * away / side
	lens := lensFor(1920, height, f, f, ox, oy, [5]float64{bend / away / (r * r * r)})
	return Projector{Lens: cameraOver(lens, geom.Point{X: side / 2, Y: side / 2}, away, tiltX, tiltY, roll), Light: 1}
}

// beam is the light of a projector in one renderer's pictures.
type beam struct {
	picture *image.RGBA
	power   float64
	lens    *cameraModel
	w, h    int
	pix     []rgb
	tiles   []lighting
}

// lighting is the part of the projector's light in a tile of the camera's picture.
type lighting struct {
	sum    uint64
	varied bool // more than one level
}

// throw sets the projector's picture if it has changed.
func (r *renderer) throw(p *Projector) error {
	switch {
	case p == nil || p.Picture == nil || p.Picture.Rect.Empty():
		r.beam = nil
		return nil
	case r.beam != nil && r.beam.picture == p.Picture && r.beam.power == p.Light: // lens and place stay
		return nil
	case !(p.Light >= 0 && p.Light <= 100):
		return fmt.Errorf("tablesim: projector: light: expected 0…100, got %v", p.Light)
	}
	lens, err := forwardLens(p.Lens)
	if err != nil {
		return fmt.Errorf("tablesim: projector: %w", err)
	}
	b := &beam{picture: p.Picture, power: p.Light, lens: lens, w: p.Picture.Rect.Dx(), h: p.Picture.Rect.Dy()}
	b.pix = make([]rgb, b.w*b.h)
	for y := range b.h {
		row := p.Picture.Pix[y*p.Picture.Stride:]
		for x := range b.w {
			b.pix[y*b.w+x] = rgb{srgbLinear[row[4*x]], srgbLinear[row[4*x+1]], srgbLinear[row[4*x+2]]}.scale(p.Light)
		}
	}
	b.tiles = make([]lighting, r.tw*r.th)
	for k := range b.tiles {
		b.tiles[k] = b.lighting(r, k%r.tw, k/r.tw)
	}
	r.beam = b
	return nil
}

// beamTop is the greatest height over the mat, in mm, of what a tile shows.
const beamTop = 80.0

// lighting returns the part of the projector's picture that may light what a tile shows.
func (b *beam) lighting(r *renderer, tx, ty int) lighting {
	x0, y0 := tx*tile, ty*tile
	w, h := min(tile, r.lens.w-x0), min(tile, r.lens.h-y0)
	corners := r.lens.lattice(nil, x0, y0, w+1, h+1)
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, k := range [4]int{0, w, h * (w + 1), (h+1)*(w+1) - 1} {
		for _, z := range [2]float64{-matThick, beamTop} {
			x, y := r.lens.rayTo(corners[k][0], corners[k][1]).at(z)
			if u, v, ok := b.place(x, y, z); ok {
				left, top, right, bottom = min(left, u), min(top, v), max(right, u), max(bottom, v)
			}
		}
	}
	var out lighting
	first, begun := rgb{}, false
	for y := max(int(top)-2, -1); y <= min(int(bottom)+2, b.h); y++ {
		for x := max(int(left)-2, -1); x <= min(int(right)+2, b.w); x++ {
			c := b.pixel(x, y)
			if !begun {
				first, begun = c, true
			}
			out.varied = out.varied || c != first
			out.sum = mix64(out.sum ^ checksum(float64(c.r), float64(c.g), float64(c.b)))
		}
	}
	return out
}

// place returns the place in the picture that lights a point of the table; pixel centres are at
// integers.
func (b *beam) place(x, y, z float64) (u, v float64, ok bool) {
	u, v, ok = b.lens.project(x, y, z)
	return (u+0.5)*float64(b.w)/float64(b.lens.w) - 0.5, (v+0.5)*float64(b.h)/float64(b.lens.h) - 0.5, ok
}

// pixel returns a pixel's light; none outside the picture.
func (b *beam) pixel(x, y int) rgb {
	if x < 0 || y < 0 || x >= b.w || y >= b.h {
		return rgb{}
	}
	return b.pix[y*b.w+x]
}

// light returns the light on a point of the table, unless something is in the way. The pixels are
// interpolated, because the projector's own lens blurs them a little.
func (b *beam) light(x, y, z float64, list []solid) rgb {
	u, v, ok := b.place(x, y, z)
	if !ok || u <= -1 || v <= -1 || u >= float64(b.w) || v >= float64(b.h) {
		return rgb{}
	}
	fu, fv := math.Floor(u), math.Floor(v)
	i, j := int(fu), int(fv)
	c := b.pixel(i, j).mix(b.pixel(i+1, j), u-fu).mix(b.pixel(i, j+1).mix(b.pixel(i+1, j+1), u-fu), v-fv)
	if c == (rgb{}) {
		return c
	}
	const off = 0.2 // mm: a surface does not shade itself
	up := ray{sx: (b.lens.c[0] - x) / (b.lens.c[2] - z), sy: (b.lens.c[1] - y) / (b.lens.c[2] - z)}
	up.gx, up.gy = x-z*up.sx, y-z*up.sy
	for _, o := range list {
		if h := (hit{z: z + off}); o.meets(up, &h) {
			return rgb{}
		}
	}
	return c
}

// under returns the light of a reflectance under a share of the room's light and the projector's.
func (c rgb) under(room float64, more rgb) rgb {
	f := float32(room)
	return rgb{c.r * (f + more.r), c.g * (f + more.g), c.b * (f + more.b)}
}

// Project projects a picture from the next frame on; nil: none. It is safe to call while Next runs.
func (s *Source) Project(picture image.Image) {
	if picture == nil {
		s.screen.Store(nil)
		return
	}
	own := image.NewRGBA(image.Rect(0, 0, picture.Bounds().Dx(), picture.Bounds().Dy()))
	draw.Draw(own, own.Rect, picture, picture.Bounds().Min, draw.Src)
	s.screen.Store(own)
}

// projected returns the projector with its present picture.
func (s *Source) projected() *Projector {
	if s.o.Projector == nil {
		return nil
	}
	if s.o.thrown != "" {
		s.reread()
	}
	p := *s.o.Projector
	p.Picture = s.screen.Load()
	return &p
}

// reread reads the projector's picture from its file if it has changed. While the file is
// incomplete it keeps the previous picture; without a file the projector is dark.
func (s *Source) reread() {
	info, err := os.Stat(s.o.thrown)
	if err != nil {
		s.thrown = time.Time{}
		s.screen.Store(nil)
		return
	}
	if info.ModTime().Equal(s.thrown) {
		return
	}
	f, err := regularfile.Open(s.o.thrown)
	if err != nil {
		return
	}
	defer f.Close()
	config, err := png.DecodeConfig(f)
	if err != nil || config.Width > maxPixels/max(config.Height, 1) {
		return
	}
	if _, err := f.Seek(0, 0); err != nil {
		return
	}
	if picture, err := png.Decode(f); err == nil {
		s.thrown = info.ModTime()
		s.Project(picture)
	}
}
