package tablesim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// quiet is a look without noise, blur, shadows or vignetting.
func quiet(mat MatStyle) Look { return Look{Mat: mat, Light: 1} }

// closeUp is a small picture at the scale of 1080p, aimed at a point from a slant.
func closeUp(at geom.Point, w, h int) calibration.Camera {
	lens := calibration.Intrinsics{
		Width: w, Height: h, Fx: 1225, Fy: 1226, Cx: float64(w)/2 - 0.3, Cy: float64(h)/2 - 0.9,
		Distortion: [5]float64{-0.085, 0.03, 0.0006, -0.0004, -0.004},
	}
	return cameraOver(lens, at, 1300, 22*deg, -17*deg, 5*deg)
}

func mustRender(t *testing.T, table *Table) (vision.Frame, Truth) {
	t.Helper()
	f, truth, err := table.Render()
	require.NoError(t, err)
	return f, truth
}

// linear undoes the sensor's curve.
func linear(v uint8) float64 { return float64(srgbLinear[v]) }

func TestPrintedDotsStandWhereTheCameraModelPutsThem(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	table := &Table{
		Camera: DefaultCamera(1280, 720), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Look: quiet(MatDots),
	}
	table.Look.Blur = 0.6
	table.Layout.Markers = nil
	f, _ := mustRender(t, table)
	var sum geom.Pixel
	var sq, worst float64
	places := dotPlaces(table.Layout.Width, table.Layout.Height)
	for _, p := range places {
		// The disc's centroid in the picture: the mean over the disc.
		var want geom.Pixel
		n := 0.0
		for y := -0.98; y < 1; y += 0.04 {
			for x := -0.98; x < 1; x += 0.04 {
				if x*x+y*y <= 1 {
					q, _ := table.Camera.PixelOf(p.Add(geom.Point{X: x, Y: y}.Mul(float64(DotRadius))), 0)
					want, n = want.Add(q), n+1
				}
			}
		}
		e := centroid(f, want.Mul(1/n), 9).Sub(want.Mul(1 / n))
		sum, sq, worst = sum.Add(e), sq+e.X*e.X+e.Y*e.Y, max(worst, e.Norm())
	}
	k := 1 / float64(len(places))
	t.Logf("%d dots: mean (%.4f, %.4f) px, rms %.4f, worst %.4f", len(places), sum.X*k, sum.Y*k, math.Sqrt(sq*k), worst)
	assert.Less(t, sum.Mul(k).Norm(), 0.004, "mean error, px")
	assert.Less(t, math.Sqrt(sq*k), 0.015, "rms error, px")
	assert.Less(t, worst, 0.04, "worst error, px")
}

// centroid is that of the light above the darkest pixel in a window.
func centroid(f vision.Frame, at geom.Pixel, r int) geom.Pixel {
	cx, cy := int(math.Round(at.X)), int(math.Round(at.Y))
	dark := linear(f.Gray.GrayAt(cx-r, cy-r).Y)
	var c geom.Pixel
	var sum float64
	for y := cy - r; y <= cy+r; y++ {
		for x := cx - r; x <= cx+r; x++ {
			if v := linear(f.Gray.GrayAt(x, y).Y) - dark; math.Abs(v) > 0.004 {
				c, sum = c.Add(geom.Pixel{X: float64(x), Y: float64(y)}.Mul(v)), sum+v
			}
		}
	}
	return c.Mul(1 / sum)
}

// bruteForce is the luma of a bare ship on a plain mat by another road: the
// camera model of package calibration, 10×10 rays, and a march down each ray. It
// is right for opaque walls and for a look without shadows.
func bruteForce(c calibration.Camera, s engine.Ship, x, y int) float64 {
	const n, top = 10, 4.0
	code, _ := token.CodeOfID(s.ID)
	token := token.Token{Code: code, Base: s.Base}
	width, _ := s.Base.Size()
	far := float64(width)/2 + 5
	luma := func(r, g, b float64) float64 { return 0.299*r + 0.587*0.985*g + 0.114*0.955*b }
	sum := 0.0
	for j := range n {
		for i := range n {
			px := geom.Pixel{X: float64(x) + (float64(i)+0.5)/n - 0.5, Y: float64(y) + (float64(j)+0.5)/n - 0.5}
			a, _ := c.PointAt(px, top)
			b, _ := c.PointAt(px, 0)
			la, lb := s.Pose.Inverse(a), s.Pose.Inverse(b)
			if ink, ok := token.At(la); ok {
				sum += luma(0.02+0.9*linear(ink.R), 0.02+0.9*linear(ink.G), 0.02+0.9*linear(ink.B))
				continue
			}
			v := luma(0.18, 0.18, 0.18)
			for k := 1; k <= 80 && max(math.Abs(lb.X), math.Abs(lb.Y)) < far; k++ {
				z := top * (1 - float64(k)/80)
				if w := wallAt(s.Base, lb.Lerp(la, z/top), z); w > 0 {
					v = w * luma(0.035, 0.035, 0.038)
					break
				}
			}
			sum += v
		}
	}
	return sum / (n * n)
}

// protrusion is how far guides stand out (rules/dimensions 1.1).
func protrusion(b engine.Base) float64 { return []float64{1.6, 1.7, 1.8}[b-engine.Small] }

// wallAt is the light of the plastic at a point inside it, 0 outside.
func wallAt(b engine.Base, p geom.Point, z float64) float64 {
	w, _ := b.Size()
	h := float64(w) / 2
	if math.Abs(p.X) <= h && math.Abs(p.Y) <= h {
		return 0.7
	}
	x, y := math.Abs(p.X), math.Abs(p.Y)
	if z <= 3.2 && x >= 10.1 && x <= 13.4 && y >= h && y <= h+protrusion(b) {
		if z > 3.2-0.06 {
			return 1 // its top
		}
		return 0.7
	}
	return 0
}

func TestABaseIsDrawnWhereASecondRendererDrawsIt(t *testing.T) {
	if testing.Short() {
		t.Skip("compares two renderers pixel by pixel in one goroutine: nothing for the race detector")
	}
	for name, ship := range map[string]engine.Ship{
		"small, turned":         {ID: "A7", Base: engine.Small, Pose: pose(200.3, 300.7, 27)},
		"small, along the axes": {ID: "B2", Base: engine.Small, Pose: pose(200.3, 300.7, 180)},
		"medium":                {ID: "B13", Base: engine.Medium, Pose: pose(200.3, 300.7, 250)},
	} {
		t.Run(name, func(t *testing.T) {
			table := &Table{Camera: closeUp(ship.Pose.Point, 96, 90), Layout: calibration.DefaultLayout(914.4, 914.4), Look: quiet(MatPlain)}
			table.Scene.Ships = []engine.Ship{ship}
			r, err := newRenderer(table)
			require.NoError(t, err)
			r.linear = make([]float32, 3*r.lens.w*tile*r.th) // all of the picture
			require.NoError(t, r.update(table))
			w, h := r.lens.w, r.lens.h
			want := make([]float64, w*h)
			for y := range h {
				for x := range w {
					want[y*w+x] = bruteForce(table.Camera, ship, x, y)
				}
			}
			// How far must the one picture be shifted to be the other? Least squares
			// over the picture's slope.
			var xx, xy, yy, xd, yd, dd float64
			for y := 1; y < h-1; y++ {
				for x := 1; x < w-1; x++ {
					p := r.light(y)[3*x:]
					d := 0.299*float64(p[0]) + 0.587*float64(p[1]) + 0.114*float64(p[2]) - want[y*w+x]
					gx, gy := (want[y*w+x+1]-want[y*w+x-1])/2, (want[(y+1)*w+x]-want[(y-1)*w+x])/2
					xx, xy, yy, xd, yd, dd = xx+gx*gx, xy+gx*gy, yy+gy*gy, xd+gx*d, yd+gy*d, dd+d*d
				}
			}
			det := xx*yy - xy*xy
			sx, sy := (yy*xd-xy*yd)/det, (xx*yd-xy*xd)/det
			rms := math.Sqrt(dd / float64(w*h))
			t.Logf("shift (%.4f, %.4f) px, rms difference %.4f of full scale", sx, sy, rms)
			assert.Less(t, math.Hypot(sx, sy), 0.005, "shift, px")
			assert.Less(t, rms, 0.012, "rms difference, full scale")
		})
	}
}

func TestTheRimReadsClockwiseFromTheFront(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	table := RandomTableWithHuge(5, 1280, 720, 2)
	table.Scene.Ships = table.Scene.Ships[:6]
	table.Minis, table.Clutter, table.Heights = nil, nil, nil
	table.Look.FullWell, table.Look.ReadNoise, table.Look.Shadow, table.Look.Blur = 0, 0, 0, 0
	f, _ := mustRender(t, table)
	for _, s := range table.Scene.Ships {
		code, err := token.CodeOfID(s.ID)
		require.NoError(t, err)
		w, l := s.Base.Size()
		for k := range 4 {
			h, out, n := float64(w)/2, float64(l)/2, token.Cells(s.Base, token.Side(k))
			if k%2 == 1 {
				h, out = out, h
			}
			// Side k's own frame: the base turned so that this side is ahead; seen from
			// above, clockwise runs from left to right along it.
			p := geom.Pose{Point: s.Pose.Point, Heading: s.Pose.Heading + geom.Angle(k)*90*geom.Degree}
			got, want := uint16(0), code.Word(token.Side(k))
			for i := range token.WordBits {
				along := -h + 4 + (float64(i)+0.5)*(2*h-8)/float64(n)
				px, _ := table.Camera.PixelOf(p.Transform(geom.Point{X: along, Y: out - 2.5}), 4)
				if v := f.Gray.GrayAt(int(math.Round(px.X)), int(math.Round(px.Y))).Y; linear(v) > 0.4*table.Look.Light {
					got |= 1 << i
				}
			}
			assert.Equal(t, want, got, "%s, %v side: got %012b, want %012b", s.ID, token.Side(k), got, want)
		}
	}
}

func TestTheSameTableGivesTheSamePictureWithAnyNumberOfWorkers(t *testing.T) {
	a := RandomTable(9, 320, 180)
	b := RandomTable(9, 320, 180)
	a.Workers, b.Workers = 1, 4
	fa, ta := mustRender(t, a)
	fb, tb := mustRender(t, b)
	assert.Equal(t, fa.Color.Pix, fb.Color.Pix)
	assert.Equal(t, fa.Gray.Pix, fb.Gray.Pix)
	assert.Equal(t, ta, tb)
	c := RandomTable(10, 320, 180)
	fc, _ := mustRender(t, c)
	assert.NotEqual(t, fa.Color.Pix, fc.Color.Pix, "another seed, another table")
}

func TestAChangedTableIsRedrawnAsIfFromScratch(t *testing.T) {
	table := RandomTable(4, 640, 360)
	r, err := newRenderer(table)
	require.NoError(t, err)
	require.NoError(t, r.update(table))
	table.Scene.Ships[0].Pose = pose(460, 420, 77)
	table.Hands = []Hand{{Player: 1, Tip: geom.Point{X: 300, Y: 250}, Z: 45}}
	require.NoError(t, r.update(table))
	table.Hands[0].Tip = geom.Point{X: 500, Y: 350}
	require.NoError(t, r.update(table))
	want, _ := mustRender(t, table)
	assert.Equal(t, want.Color.Pix, r.expose(1).Color.Pix)
	table.Hands = nil
	require.NoError(t, r.update(table))
	want, _ = mustRender(t, table)
	assert.Equal(t, want.Color.Pix, r.expose(1).Color.Pix)
	assert.NotEqual(t, want.Color.Pix, r.expose(2).Color.Pix, "the next frame has other noise")
}

// Tiles look only at the solids within reach; looking at all of them everywhere
// must make no difference.
func TestNothingReachesBeyondItsTiles(t *testing.T) {
	for seed := range uint64(2) {
		table := RandomTable(seed, 240, 135)
		table.Look.Spread, table.Look.Slope = 0.5, geom.Point{X: 0.6, Y: -0.5}
		table.Hands = []Hand{{Player: 1, Tip: geom.Point{X: 300, Y: 350}, Z: 45}, {Player: 2, Tip: geom.Point{X: 700, Y: 450}, Z: 60}}
		r, err := newRenderer(table)
		require.NoError(t, err)
		r.linear = make([]float32, 3*r.lens.w*tile*r.th) // all of the picture
		require.NoError(t, r.update(table))
		got := append([]float32(nil), r.linear...)
		var s tracer
		for k := range r.sums {
			s.trace(r, k%r.tw, k/r.tw, r.solids)
		}
		for i := range got {
			if math.Abs(float64(got[i]-r.linear[i])) > 1e-5 {
				t.Fatalf("seed %d: pixel (%d, %d) shows %.4f, want %.4f", seed, i/3%240, i/3/240, got[i], r.linear[i])
			}
		}
	}
}

func TestGreyIsTheLumaOfTheColour(t *testing.T) {
	f, _ := mustRender(t, RandomTable(2, 320, 180))
	for i, g := range f.Gray.Pix {
		b, gr, r := float64(f.Color.Pix[3*i]), float64(f.Color.Pix[3*i+1]), float64(f.Color.Pix[3*i+2])
		require.InDelta(t, 0.299*r+0.587*gr+0.114*b, float64(g), 0.51, "pixel %d", i)
	}
}

func TestNoiseHasTheStatedLevel(t *testing.T) {
	table := &Table{
		Camera: closeUp(geom.Point{X: 450, Y: 450}, 320, 240), Layout: calibration.DefaultLayout(914.4, 914.4),
		Look: Look{Mat: MatPlain, Light: 1, FullWell: 2000, ReadNoise: 0.004}, Seed: 3,
	}
	f, _ := mustRender(t, table)
	// Through the sensor's curve by its slope; eight bits add 1/12.
	const light = 0.18
	slope := 255 * 1.055 / 2.4 * math.Pow(light, 1/2.4-1)
	want := math.Sqrt(math.Pow(slope*math.Sqrt(light/2000+0.004*0.004), 2) + 1.0/12)
	var sum, sq, cross float64
	n := len(f.Gray.Pix)
	last := 0.0
	for i := range n {
		v := float64(f.Color.Pix[3*i+2])
		sum, sq, cross = sum+v, sq+v*v, cross+v*last
		last = v
	}
	mean := sum / float64(n)
	got := math.Sqrt(sq/float64(n) - mean*mean)
	assert.InEpsilon(t, want, got, 0.03, "sigma of the red channel, grey levels")
	assert.InDelta(t, 255*srgbEncode(light), mean, 0.1, "the noise has no mean")
	assert.InDelta(t, 0, (cross/float64(n)-mean*mean)/(got*got), 0.02, "neighbours are independent")
}

func TestVisibilityIsThatOfABruteForceCount(t *testing.T) {
	// One ship far out, where the miniature's disc hides a part of the rim.
	ship := engine.Ship{ID: "B4", Base: engine.Small, Pose: pose(120, 790, 33)}
	mini := Mini{Kind: MiniOval, Width: 36, Length: 46, Z: 38, Thick: 6}
	table := &Table{
		Camera: DefaultCamera(640, 360), Layout: calibration.DefaultLayout(914.4, 914.4), Look: quiet(MatPlain),
		Minis: map[string]Mini{"B4": mini}, Heights: map[string]geom.Length{"B4": 0.3},
	}
	table.Scene.Ships = []engine.Ship{ship}
	_, truth := mustRender(t, table)
	eye := table.Camera.Center()
	seen := func(local geom.Point) bool {
		p := ship.Pose.Transform(local)
		for z := 38.0; z <= 44; z += 3 { // towards the eye, through the disc's three layers
			k := (z - 4.3) / (eye[2] - 4.3)
			q := ship.Pose.Inverse(p.Lerp(geom.Point{X: eye[0], Y: eye[1]}, k))
			if q.X*q.X/(18*18)+q.Y*q.Y/(23*23) <= 1 {
				return false
			}
		}
		return true
	}
	var all, sides float64
	for k := range 4 {
		turn := geom.Pose{Heading: geom.Angle(k) * 90 * geom.Degree}
		n, s := 0.0, 0.0
		for a := -19.95; a < 20; a += 0.1 {
			if seen(turn.Transform(geom.Point{X: a, Y: 19.99})) {
				all++
			}
			for d := 0.05; d < 3.7; d += 0.1 {
				n++
				if seen(turn.Transform(geom.Point{X: a, Y: 20 - d})) {
					s++
				}
			}
		}
		assert.InDelta(t, s/n, truth.Ships[0].SideVisible[k], 0.01, "%v side", token.Side(k))
		sides += s / n
	}
	assert.InDelta(t, all/1600, truth.Ships[0].Visible, 0.01, "outline")
	assert.Less(t, sides, 3.8, "the case hides something")
}

func TestWithoutMiniaturesEverythingIsVisible(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	table := RandomTable(8, 640, 360)
	table.Minis = nil
	_, truth := mustRender(t, table)
	require.NotEmpty(t, truth.Ships)
	for _, s := range truth.Ships {
		assert.Equal(t, 1.0, s.Visible, s.ID)
		assert.Equal(t, [4]float64{1, 1, 1, 1}, s.SideVisible, s.ID)
		assert.True(t, s.WholeSide())
	}
}

func TestTruthNamesTheCornersOfTopsAndMarkers(t *testing.T) {
	table := RandomTable(8, 640, 360)
	_, truth := mustRender(t, table)
	for i, s := range table.Scene.Ships {
		side, _ := s.Base.Size()
		h := float64(side) / 2
		for k, c := range []geom.Point{{X: -h, Y: h}, {X: h, Y: h}, {X: h, Y: -h}, {X: -h, Y: -h}} {
			want, _ := table.Camera.PixelOf(s.Pose.Transform(c), token.BaseTop+table.Heights[s.ID])
			assert.InDelta(t, 0, want.Sub(truth.Ships[i].Corners[k]).Norm(), 1e-9, "%s corner %d", s.ID, k)
		}
	}
	for i, m := range table.Layout.Markers {
		for k, c := range m.Corners() {
			want, _ := table.Camera.PixelOf(c, m.Z)
			assert.InDelta(t, 0, want.Sub(truth.Markers[i].Corners[k]).Norm(), 1e-9, "marker %d corner %d", m.ID, k)
		}
	}
}

func TestAHandHidesAndShades(t *testing.T) {
	table := &Table{
		Camera: DefaultCamera(640, 360), Layout: calibration.DefaultLayout(914.4, 914.4), Look: quiet(MatPlain),
	}
	table.Scene.Ships = []engine.Ship{{ID: "A1", Base: engine.Small, Pose: pose(400, 400, 0)}}
	table.Hands = []Hand{{Player: 1, Tip: geom.Point{X: 400, Y: 420}, Z: 45}}
	f, truth := mustRender(t, table)
	assert.Less(t, truth.Ships[0].Visible, 0.8)
	px, _ := table.Camera.PixelOf(geom.Point{X: 400, Y: 320}, 70) // the hand's back
	c := f.Color.Pix[3*(int(px.Y)*640+int(px.X)):]
	assert.Greater(t, c[2], c[0]+40, "skin is redder than blue")
	table.Hands[0].Player = 2 // from the far side, past the ship: it stays visible
	table.Hands[0].Tip.Y = 700
	_, truth = mustRender(t, table)
	assert.Equal(t, 1.0, truth.Ships[0].Visible)
}

func TestATableThatCannotBeRenderedSaysWhy(t *testing.T) {
	for want, change := range map[string]func(*Table){
		"expected A1":    func(t *Table) { t.Scene.Ships[0].ID = "X1" },
		"tokens are":     func(t *Table) { t.Scene.Ships[0].Base = engine.BaseUnknown },
		"light":          func(t *Table) { t.Look.Light = 0 },
		"blur":           func(t *Table) { t.Look.Blur = math.NaN() },
		"samples":        func(t *Table) { t.Look.Samples = 99 },
		"noise":          func(t *Table) { t.Look.ReadNoise = -1 },
		"mat must have":  func(t *Table) { t.Layout.Width = 0 },
		"finite":         func(t *Table) { t.Scene.Ships[0].Pose.X = math.Inf(1) },
		"marker 4000":    func(t *Table) { t.Layout.Markers[0].ID = 4000 },
		"miniature":      func(t *Table) { t.Minis[t.Scene.Ships[0].ID] = Mini{} },
		"top at":         func(t *Table) { t.Heights[t.Scene.Ships[0].ID] = -9 },
		"focal lengths":  func(t *Table) { t.Camera.Fy = -1 },
		"image_width an": func(t *Table) { t.Camera.Width = 0 },
	} {
		table := RandomTable(1, 160, 90)
		change(table)
		_, _, err := table.Render()
		assert.ErrorContains(t, err, want)
	}
}

// dotPlaces returns the centres of the discs of MatDots, every 100 mm.
func dotPlaces(width, height geom.Length) []geom.Point {
	var out []geom.Point
	for y := 50.0; y < float64(height)-20; y += 100 {
		for x := 50.0; x < float64(width)-20; x += 100 {
			out = append(out, geom.Point{X: x, Y: y})
		}
	}
	return out
}

// Wood and sand have a texture that a camera sees wherever they lie bare.
func TestWoodAndSandHaveATexture(t *testing.T) {
	spread := func(name string) float64 {
		mat, err := MatNamed(name)
		require.NoError(t, err)
		table := &Table{
			Camera: closeUp(geom.Point{X: 400, Y: 500}, 160, 120), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
			Look: quiet(mat), Seed: 3,
		}
		f, _ := mustRender(t, table)
		p, sum, n := f.Gray, 0.0, 0.0
		for y := 2; y < 120; y++ {
			for x := 2; x < 160; x++ { // neighbours: light that changes slowly counts for nothing
				v := float64(p.Pix[y*p.Stride+x])
				a, b := v-float64(p.Pix[y*p.Stride+x-2]), v-float64(p.Pix[(y-2)*p.Stride+x])
				sum, n = sum+a*a+b*b, n+2
			}
		}
		return math.Sqrt(sum / n)
	}
	for _, name := range []string{"wood", "sand"} {
		got := spread(name)
		t.Logf("%s: neighbours differ by %.2f grey levels", name, got)
		assert.Greater(t, got, 2.0, name)
	}
	assert.Less(t, spread("plain"), 0.5)
}

// A source opened by name shows the mat that it names.
func TestTheSourceShowsItsMat(t *testing.T) {
	pictures := map[string][]byte{}
	for _, name := range matNames {
		o, err := ParseSpec("sim:160x90,still=1,fps=0,mat=" + name)
		require.NoError(t, err)
		bare, err := open(t, o).Bare()
		require.NoError(t, err)
		for other, pix := range pictures {
			assert.NotEqual(t, pix, bare.Gray.Pix, "%s and %s", name, other)
		}
		pictures[name] = bare.Gray.Pix
	}
}
