package pipeline

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/tablesim"
)

// FaultKind is a kind of fault in a camera's pictures.
type FaultKind int

// The faults. Those of the last group happen before the lens and are rendered; the others happen
// behind it.
const (
	FaultNone       FaultKind = iota
	FaultBlack                // black pictures with the sensor's noise
	FaultBlackExact           // pictures of zeros, from a driver
	FaultFrozen               // the previous picture, byte for byte
	FaultTornTime             // the previous picture from some row on
	FaultPartFrozen           // the first picture of the fault from some row on
	FaultTornShift            // shifted to the side from some row on
	FaultHalf                 // one grey level from some row on: missing data
	FaultHalfTop              // the same up to some row
	FaultRotated90            // turned by a quarter, which also changes the size
	FaultRotated180           // upside down
	FaultSize                 // half the width and height
	FaultLightsOff            // lights switched off, and on again at the end
	FaultLightsFade           // dark little by little
	FaultHalfLight            // one of two lamps goes off: half of the light
	FaultBright               // three times the light: whites are clipped
	FaultDefocus              // out of focus
	FaultMotionBlur           // the camera shakes during the exposure
	FaultDeadPixels           // a tenth of the pixels stuck at some level
	FaultPepper               // a tenth of the pixels wrong, different ones in each picture

	FaultOtherView     // another camera of the same kind over the same table
	FaultOtherLens     // a camera with another lens in the same place
	FaultOtherTable    // a camera over another table with the same ships in other places
	FaultMarkerCovered // a card on one marker
	FaultSomeCovered   // on four
	FaultAllCovered    // on all
	FaultMatTurned     // the mat turned by 4 degrees with everything on it
	FaultMatSlid       // by 3 mm
	FaultMatCreeps     // by 0.4 mm from picture to picture
	faultKinds
)

var faultNames = [faultKinds]string{
	"none", "black", "black, exactly", "frozen", "torn in time", "frozen in part", "torn and shifted", "half, the lower part missing",
	"half, the upper part missing",
	"rotated by 90°", "rotated by 180°", "another size", "lights off and on", "lights fading", "half the light", "three times the light",
	"out of focus", "motion blur", "dead pixels", "wrong pixels",
	"another view", "another lens", "another table", "one marker covered", "four markers covered", "all markers covered",
	"mat turned", "mat slid", "mat creeping",
}

// String names the fault for people.
func (k FaultKind) String() string {
	if k < 0 || k >= faultKinds {
		return fmt.Sprintf("FaultKind(%d)", int(k))
	}
	return faultNames[k]
}

// Faulty is the simulated table seen by a camera that fails on demand (Inject). It belongs to one
// goroutine.
type Faulty struct {
	*tablesim.Source
	o tablesim.Options

	other    *tablesim.Source // another table
	otherSeq uint64           // of its last picture
	seq      uint64           // of the last picture
	rng      *rand.Rand
	fault    FaultKind
	step     int // pictures since the fault began

	rendered bool // the source was disturbed
	row      int  // where a torn picture is torn
	shift    int  // px
	level    uint8
	angle    float64
	radius   int
	stuck    []uint8      // of dead pixels: level+1, 0: alive
	before   vision.Frame // as it came
	good     vision.Frame // the same before it was degraded
	shown    calibration.Camera
	covered  []int
}

// NewFaulty opens a simulated table whose faults depend on the seed.
func NewFaulty(o tablesim.Options, seed uint64) (*Faulty, error) {
	s, err := tablesim.Open(o)
	if err != nil {
		return nil, err
	}
	another := o
	another.Seed += 1000
	other, err := tablesim.Open(another)
	if err != nil {
		return nil, err
	}
	f := &Faulty{Source: s, o: o, other: other, rng: rand.New(rand.NewPCG(seed, 0x6661756c74)), shown: s.Camera()}
	return f, nil
}

// Inject replaces the fault from the next picture on; FaultNone ends it.
func (f *Faulty) Inject(k FaultKind) {
	f.fault, f.step = k, 0
	w, h := f.o.Width, f.o.Height
	f.row = h/4 + f.rng.IntN(h/2)
	f.shift = (3 + f.rng.IntN(w/6)) * (1 - 2*f.rng.IntN(2))
	f.level = [...]uint8{0, 77, 128, 149}[f.rng.IntN(4)] // black, green (by its luma), grey
	f.angle = 2 * math.Pi * f.rng.Float64()
	f.radius = 2 + f.rng.IntN(3)
	if k == FaultDeadPixels {
		f.stuck = deadPixels(f.rng, w*h)
	}
	f.covered = nil
	switch k {
	case FaultMarkerCovered:
		f.covered = f.rng.Perm(len(f.Layout().Markers))[:1]
	case FaultSomeCovered:
		f.covered = f.rng.Perm(len(f.Layout().Markers))[:4]
	case FaultAllCovered:
		f.covered = f.rng.Perm(len(f.Layout().Markers))
	}
}

// deadPixels fixes a tenth of the pixels at black, white or a level between.
func deadPixels(rng *rand.Rand, n int) []uint8 {
	stuck := make([]uint8, n)
	for range n / 10 {
		stuck[rng.IntN(n)] = [...]uint8{1, 255, uint8(1 + rng.IntN(255))}[rng.IntN(3)]
	}
	return stuck
}

// camera returns the camera for the next picture.
func (f *Faulty) camera() calibration.Camera {
	c := f.Camera()
	middle := geom.Point{X: float64(f.Layout().Width) / 2, Y: float64(f.Layout().Height) / 2}
	switch f.fault {
	case FaultOtherView:
		return movedCamera(tablesim.Turned(c, 4, -5, 9), geom.Point{X: 60, Y: -40}, 0, middle)
	case FaultOtherLens:
		c.Fx, c.Fy, c.Cx = 0.86*c.Fx, 0.86*c.Fy, c.Cx+9
	case FaultMatTurned:
		return movedCamera(c, geom.Point{}, 4*geom.Degree, middle)
	case FaultMatSlid:
		return movedCamera(c, geom.Point{X: 3 * math.Cos(f.angle), Y: 3 * math.Sin(f.angle)}, 0, middle)
	case FaultMatCreeps:
		d := 0.4 * float64(min(f.step+1, creepSteps))
		return movedCamera(c, geom.Point{X: d * math.Cos(f.angle), Y: d * math.Sin(f.angle)}, 0, middle)
	}
	return c
}

// creepSteps is the number of pictures during which a creeping mat moves.
const creepSteps = 8

// movedCamera returns the camera relative to a table that was turned about a point and then moved.
func movedCamera(c calibration.Camera, by geom.Point, turn geom.Angle, about geom.Point) calibration.Camera {
	s, k := math.Sincos(float64(turn))
	turned := geom.Point{X: k*about.X - s*about.Y, Y: s*about.X + k*about.Y}
	d := about.Sub(turned).Add(by)
	for i := range 3 {
		c.T[i] += c.R[i][0]*d.X + c.R[i][1]*d.Y
	}
	c.R = calibration.MulMat3(c.R, [3][3]float64{{k, -s, 0}, {s, k, 0}, {0, 0, 1}})
	return c
}

// Next implements vision.Source.
func (f *Faulty) Next(ctx context.Context) (vision.Frame, error) {
	before, disturbed := f.rendered, f.fault >= FaultOtherView && f.fault != FaultOtherTable
	f.shown = f.camera()
	switch {
	case disturbed && (f.step == 0 || f.fault == FaultMatCreeps && f.step < creepSteps):
		camera, covered := f.shown, f.covered
		f.Disturb(func(t *tablesim.Table) {
			t.Camera = camera
			for _, i := range covered {
				m := t.Layout.Markers[i]
				t.Clutter = append(t.Clutter[:len(t.Clutter):len(t.Clutter)], tablesim.Clutter{
					Pose: geom.Pose{Point: m.Center}, Width: 1.4 * m.Size, Length: 1.4 * m.Size, Height: 1 * geom.Millimeter, Color: color.RGBA{90, 60, 40,
						255},
				})
			}
		})
		f.rendered = true
	case !disturbed && before:
		f.Disturb(func(*tablesim.Table) {})
		f.rendered = false
	}
	factor, ok := f.lamps()
	if !ok || f.o.Model == nil {
		factor = 1
	}
	f.Light(factor)
	frame, err := f.Source.Next(ctx)
	if err != nil {
		return frame, err
	}
	f.seq = frame.Seq
	if f.fault == FaultOtherTable {
		f.other.Seek(frame.Seq + otherAhead)
		f.otherSeq = frame.Seq + otherAhead + 1
		seq, captured := frame.Seq, frame.Captured
		if frame, err = f.other.Next(ctx); err != nil {
			return frame, err
		}
		frame.Seq, frame.Captured = seq, captured
	}
	out := f.spoil(frame)
	f.step++
	f.before, f.good = out, frame
	return out, nil
}

// otherAhead is by how many pictures the game on the other table is ahead: half a small game at five
// pictures a second.
const otherAhead = 154

// Truth returns the truth about the last picture, without faults behind the lens.
func (f *Faulty) Truth() (tablesim.Truth, error) {
	if f.fault == FaultOtherTable && f.step > 0 {
		return f.other.TruthAt(f.otherSeq)
	}
	return f.TruthAt(f.seq)
}

// Expected returns where the table's markers are in the last picture, visible or not: where a
// search of the whole picture must look.
func (f *Faulty) Expected() []calibration.MarkerSighting {
	var out []calibration.MarkerSighting
	camera := f.shown
	if f.fault == FaultOtherTable {
		camera = f.other.Camera()
	}
	w, h := float64(f.o.Width), float64(f.o.Height)
	for _, m := range f.Layout().Markers {
		s := calibration.MarkerSighting{ID: m.ID}
		for i, p := range m.Corners() {
			px, _ := camera.PixelOf(p, m.Z)
			switch {
			case f.fault == FaultRotated180:
				px = geom.Pixel{X: w - 1 - px.X, Y: h - 1 - px.Y}
			case f.fault == FaultRotated90:
				px = geom.Pixel{X: h - 1 - px.Y, Y: px.X}
			case f.fault == FaultSize:
				px = geom.Pixel{X: (px.X+0.5)/2 - 0.5, Y: (px.Y+0.5)/2 - 0.5}
			case f.fault == FaultTornShift && px.Y > float64(f.row):
				px.X += float64(f.shift)
			}
			s.Corners[i] = px
		}
		out = append(out, s)
	}
	return out
}

// lamps returns the factor of the light under a fault. It reports false if the fault does not
// change the light.
func (f *Faulty) lamps() (float64, bool) {
	switch f.fault {
	case FaultLightsOff:
		return 0.004, true
	case FaultLightsFade:
		return math.Pow(0.6, float64(f.step+1)), true
	case FaultHalfLight:
		return 0.5, true
	case FaultBright:
		return 3, true
	}
	return 1, false
}

// quarterTurned returns the picture turned by 90° clockwise.
func quarterTurned(g *image.Gray) *image.Gray {
	w, h := g.Rect.Dx(), g.Rect.Dy()
	out := image.NewGray(image.Rect(0, 0, h, w))
	for y := range h {
		for x := range w {
			out.Pix[x*out.Stride+h-1-y] = g.Pix[y*g.Stride+x]
		}
	}
	return out
}

// halfTurned returns the picture turned by 180°.
func halfTurned(g *image.Gray) *image.Gray {
	out := image.NewGray(g.Rect)
	for i, v := range g.Pix {
		out.Pix[len(g.Pix)-1-i] = v
	}
	return out
}

// halved returns the picture at half its width and height, each pixel the mean of four.
func halved(g *image.Gray) *image.Gray {
	w, h := g.Rect.Dx()/2, g.Rect.Dy()/2
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			a, b := g.Pix[2*y*g.Stride+2*x:], g.Pix[(2*y+1)*g.Stride+2*x:]
			out.Pix[y*out.Stride+x] = uint8((int(a[0]) + int(a[1]) + int(b[0]) + int(b[1]) + 2) / 4)
		}
	}
	return out
}

// deadened returns the picture with its dead pixels.
func (f *Faulty) deadened(g *image.Gray) *image.Gray {
	out := image.NewGray(g.Rect)
	for i, v := range g.Pix {
		if d := f.stuck[i]; d > 0 {
			v = d - 1
		}
		out.Pix[i] = v
	}
	return out
}

// spoil applies the fault to a picture.
func (f *Faulty) spoil(frame vision.Frame) vision.Frame {
	g := frame.Gray
	switch f.fault {
	case FaultBlack:
		g = f.each(g, func(uint8) float64 { return 2 })
	case FaultBlackExact:
		g = image.NewGray(g.Rect)
	case FaultFrozen:
		if f.before.Gray != nil {
			g = &image.Gray{Pix: append([]uint8(nil), f.before.Gray.Pix...), Stride: f.before.Gray.Stride, Rect: f.before.Gray.Rect}
		}
	case FaultTornTime:
		if f.good.Gray != nil {
			g = joined(g, f.good.Gray, f.row)
		}
	case FaultPartFrozen:
		if f.before.Gray != nil && f.before.Gray.Rect == g.Rect {
			g = joined(g, f.before.Gray, f.row)
		}
	case FaultTornShift:
		g = joined(g, rolled(g, f.shift), f.row)
	case FaultHalf:
		g = joined(g, plain(g.Rect, f.level), f.row)
	case FaultHalfTop:
		g = joined(plain(g.Rect, f.level), g, f.row)
	case FaultRotated90:
		g = quarterTurned(g)
	case FaultRotated180:
		g = halfTurned(g)
	case FaultSize:
		g = halved(g)
	case FaultLightsOff, FaultLightsFade, FaultHalfLight, FaultBright:
		if f.o.Model != nil {
			break // the camera has done it
		}
		factor, _ := f.lamps()
		g = f.lit(g, factor)
	case FaultDefocus:
		g = smeared(smeared(smeared(g, f.radius, 1, 0), f.radius, 0, 1), f.radius/2+1, 1, 1)
	case FaultMotionBlur:
		g = smeared(g, 4*f.radius, math.Cos(f.angle), math.Sin(f.angle))
	case FaultDeadPixels:
		g = f.deadened(g)
	case FaultPepper:
		g = f.each(g, func(v uint8) float64 {
			if f.rng.IntN(10) == 0 {
				return float64(f.rng.IntN(256))
			}
			return float64(v)
		})
	default:
		return frame
	}
	frame.Gray, frame.Color = g, nil
	return frame
}

// each changes the grey levels one by one and adds noise of about a level.
func (f *Faulty) each(g *image.Gray, change func(uint8) float64) *image.Gray {
	out := image.NewGray(g.Rect)
	for i, v := range g.Pix {
		out.Pix[i] = uint8(min(max(change(v)+2*f.rng.Float64()-0.5, 0), 255))
	}
	return out
}

// lit returns the picture with its light multiplied by a factor.
func (f *Faulty) lit(g *image.Gray, factor float64) *image.Gray {
	var table [256]float64
	for v := range table {
		l := float64(v) / 255
		if l > 0.04045 {
			l = math.Pow((l+0.055)/1.055, 2.4)
		} else {
			l /= 12.92
		}
		switch l *= factor; {
		case l >= 1:
			l = 1
		case l <= 0.0031308:
			l *= 12.92
		default:
			l = 1.055*math.Pow(l, 1/2.4) - 0.055
		}
		table[v] = 255 * l
	}
	return f.each(g, func(v uint8) float64 { return table[v] })
}

func plain(r image.Rectangle, level uint8) *image.Gray {
	g := image.NewGray(r)
	for i := range g.Pix {
		g.Pix[i] = level
	}
	return g
}

// joined returns the rows of one picture and, from a row on, those of another.
func joined(top, bottom *image.Gray, row int) *image.Gray {
	out := image.NewGray(top.Rect)
	n := row * out.Stride
	copy(out.Pix[:n], top.Pix)
	copy(out.Pix[n:], bottom.Pix[n:])
	return out
}

// rolled shifts every row to the right, cyclically.
func rolled(g *image.Gray, by int) *image.Gray {
	out, w := image.NewGray(g.Rect), g.Rect.Dx()
	by = (by%w + w) % w
	for y := range g.Rect.Dy() {
		from, to := g.Pix[y*g.Stride:][:w], out.Pix[y*out.Stride:][:w]
		copy(to[by:], from[:w-by])
		copy(to[:by], from[w-by:])
	}
	return out
}

// smeared averages 2n+1 pixels along a direction.
func smeared(g *image.Gray, n int, dx, dy float64) *image.Gray {
	out := image.NewGray(g.Rect)
	w, h := g.Rect.Dx(), g.Rect.Dy()
	var steps []image.Point
	for i := -n; i <= n; i++ {
		steps = append(steps, image.Pt(int(math.Round(float64(i)*dx)), int(math.Round(float64(i)*dy))))
	}
	for y := range h {
		for x := range w {
			sum := 0
			for _, s := range steps {
				sum += int(g.Pix[min(max(y+s.Y, 0), h-1)*g.Stride+min(max(x+s.X, 0), w-1)])
			}
			out.Pix[y*out.Stride+x] = uint8(sum / len(steps))
		}
	}
	return out
}
