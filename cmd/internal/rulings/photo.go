package rulings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"image"
	_ "image/jpeg" // pictures in colour
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/token"
)

// photo is the camera's picture with the measurement drawn on it, in the picture's pixels: the
// whole mat, and the pair enlarged.
type photo struct {
	URI           template.URL
	Width, Height int
	Whole, Close  view
	Color         bool
	Marks         []mark // drawn in order
	Labels        []label
}

// view is the visible part of the picture, and the width of a thin line in it.
type view struct{ X, Y, W, H, Unit float64 }

// Box returns the view as an SVG viewBox.
func (v view) Box() string { return fmt.Sprintf("%.1f %.1f %.1f %.1f", v.X, v.Y, v.W, v.H) }

// Font is the size of letters.
func (v view) Font() string { return strconv.FormatFloat(v.Unit*2.4, 'f', 2, 64) }

type mark struct{ Class, Path string }

type label struct {
	X, Y        float64
	Class, Text string
}

// photo loads the picture and draws the measurement.
func (d *document) photo(ctx context.Context, l *Log, scene *engine.Scene, table *calibration.Table, known bool) {
	ref, color := d.File(RoleColor)
	if !color {
		var ok bool
		if ref, ok = d.File(RoleFrame); !ok {
			d.PhotoWhy = "The ruling was made without a picture."
			return
		}
	}
	raw, err := l.File(ctx, ref)
	switch {
	case errors.Is(err, ErrPruned):
		d.PhotoWhy = "The picture was removed for its age."
		return
	case errors.Is(err, fs.ErrNotExist):
		d.PhotoWhy = "The picture is missing."
		return
	case err != nil:
		d.PhotoWhy = "The picture is not the one that was recorded, and is not shown."
		return
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		d.PhotoWhy = "The picture cannot be read."
		return
	}
	p := &photo{URI: dataURI(ref.Type, raw), Width: config.Width, Height: config.Height, Color: color}
	p.Whole = view{0, 0, float64(config.Width), float64(config.Height), 0}.sized()
	if known && table.Intrinsics.Width == config.Width && table.Intrinsics.Height == config.Height {
		s := sketch{photo: p, table: table}
		s.draw(d, scene)
	}
	d.Photo = p
}

func (v view) sized() view {
	v.Unit = math.Max(v.W, v.H*1.5) / 100
	return v
}

// sketch draws the table into the picture.
type sketch struct {
	*photo
	table *calibration.Table
	close box
}

// box is a rectangle of the picture.
type box struct{ x0, y0, x1, y1 float64 }

func (b *box) add(p geom.Pixel) {
	if *b == (box{}) {
		*b = box{p.X, p.Y, p.X, p.Y}
	}
	b.x0, b.y0, b.x1, b.y1 = math.Min(b.x0, p.X), math.Min(b.y0, p.Y), math.Max(b.x1, p.X), math.Max(b.y1, p.Y)
}

func (s *sketch) draw(d *document, scene *engine.Scene) {
	if corners, ok := s.table.MatCorners(); ok {
		var b box
		for _, c := range corners {
			b.add(c)
		}
		s.Whole = s.within(b, 0.04, 0)
	}
	lines, class, by := d.measuringLines()
	for i := range scene.Obstacles {
		o := &scene.Obstacles[i]
		name := "rock"
		if slices.Contains(by, o.ID) {
			name += " onit"
		}
		s.outline(name, o.ID, o.Pose.TransformAll(o.Outline), catalogue.TokenTop, slices.Contains(by, o.ID))
	}
	profile := engine.ProfileOf(scene)
	for i := range scene.Ships {
		ship := &scene.Ships[i]
		pair := ship.ID == d.From || ship.ID == d.To
		name := fmt.Sprintf("ship p%d", ship.Player)
		if pair {
			name += " chosen"
		}
		s.outline(name, ship.ID, profile.Corners(ship.Base, ship.Pose), token.BaseTop, pair)
		w, h := profile.Size(ship.Base)
		x, y := float64(w)/2, float64(h)/2
		nose := []geom.Point{{X: -x / 3, Y: y * 0.55}, {Y: y * 0.9}, {X: x / 3, Y: y * 0.55}}
		s.path(name+" nose", ship.Pose.TransformAll(nose), token.BaseTop, false)
	}
	s.lines(lines, class)
	if s.close != (box{}) {
		s.Close = s.within(s.close, 0.2, 1.35)
	}
}

// measuringLines returns the lines of the measurement: those of the attack in the chosen arc, or
// of the range. class says whether they are obstructed, and by lists what obstructs them.
func (d *document) measuringLines() (lines [][2][2]float64, class string, by []string) {
	if !d.hasVerdict() {
		return nil, "", nil
	}
	p, err := parsePair(d.Verdict)
	if err != nil {
		return nil, "", nil
	}
	for _, a := range p.Arcs {
		if a.Arc == d.Arc && a.Attack != nil {
			return a.Attack.Lines, a.Attack.Obstruction.Verdict, a.Attack.Obstruction.By
		}
	}
	return p.Range.Lines, "range", nil
}

// outline draws a closed outline with its name.
func (s *sketch) outline(class, name string, points []geom.Point, z geom.Length, near bool) {
	b, ok := s.path(class, points, z, true)
	if !ok {
		return
	}
	s.Labels = append(s.Labels, label{(b.x0 + b.x1) / 2, b.y0, class, name})
	if near {
		s.close.add(geom.Pixel{X: b.x0, Y: b.y0})
		s.close.add(geom.Pixel{X: b.x1, Y: b.y1})
	}
}

// lines draws the measuring lines on top, with the band between two.
func (s *sketch) lines(lines [][2][2]float64, class string) {
	point := func(p [2]float64) geom.Point { return geom.Point{X: p[0], Y: p[1]} }
	if len(lines) > 1 {
		s.path("band "+class, []geom.Point{point(lines[0][0]), point(lines[0][1]), point(lines[1][1]), point(lines[1][0])}, token.BaseTop, true)
	}
	for _, under := range []string{"casing", "line"} {
		for _, l := range lines {
			s.path(under+" "+class, []geom.Point{point(l[0]), point(l[1])}, token.BaseTop, false)
		}
	}
}

// path projects a line through points. A lens bends straight lines, so it goes in steps of 10 mm,
// whose chords are off by less than 0.02 px.
func (s *sketch) path(class string, points []geom.Point, z geom.Length, closed bool) (b box, ok bool) {
	if len(points) < 2 {
		return b, false
	}
	all := points
	if closed {
		all = append(slices.Clone(points), points[0])
	}
	const step = 10.0 // mm
	var text strings.Builder
	add := func(p geom.Point) bool {
		px, ok := s.table.PixelOf(p, z)
		if !ok {
			return false
		}
		b.add(px)
		fmt.Fprintf(&text, "%c%.2f %.2f", "ML"[min(text.Len(), 1)], px.X+0.5, px.Y+0.5) // SVG has pixel corners at integers, OpenCV centres
		return true
	}
	if !add(all[0]) {
		return b, false
	}
	for i := 1; i < len(all); i++ {
		n := max(1, int(math.Ceil(float64(all[i-1].Distance(all[i]))/step)))
		for k := 1; k <= n; k++ {
			if !add(all[i-1].Lerp(all[i], float64(k)/float64(n))) {
				return b, false
			}
		}
	}
	if closed {
		text.WriteByte('Z')
	}
	s.Marks = append(s.Marks, mark{class, text.String()})
	return b, true
}

// within returns the part of the picture around a box with some room, and with at least an aspect
// ratio (width over height) if that is not 0.
func (s *sketch) within(b box, room, aspect float64) view {
	w, h := (b.x1-b.x0)*(1+2*room), (b.y1-b.y0)*(1+2*room)
	if aspect > 0 {
		w, h = math.Max(w, h*aspect), math.Max(h, w/aspect)
	}
	w, h = math.Min(w, float64(s.Width)), math.Min(h, float64(s.Height))
	x := math.Min(math.Max((b.x0+b.x1-w)/2, 0), float64(s.Width)-w)
	y := math.Min(math.Max((b.y0+b.y1-h)/2, 0), float64(s.Height)-h)
	return view{x, y, w, h, 0}.sized()
}
