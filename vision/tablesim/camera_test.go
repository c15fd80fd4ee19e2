package tablesim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision"
)

// developed returns the picture that a model makes of light given for each pixel.
func developed(t *testing.T, m CameraModel, w, h int, seq uint64, light func(x, y int) float64) vision.Frame {
	t.Helper()
	require.NoError(t, m.validate())
	codes := make([]uint16, 3*w*h)
	for i := range codes {
		codes[i] = uint16(math.Round(light(i/3%w, i/3/w) * modelScale))
	}
	f, err := newDarkroom(m, w, h, 2, &newSensor(DefaultLook()).normal).develop(codes, 7, seq, 1)
	require.NoError(t, err)
	return f
}

func flat(v float64) func(x, y int) float64 { return func(int, int) float64 { return v } }

// edge is dark left of the column x0 and light from it on.
func edge(x0 int, dark, light float64) func(x, y int) float64 {
	return func(x, _ int) float64 {
		if x < x0 {
			return dark
		}
		return light
	}
}

// moments returns the mean and the variance of the grey levels of a part of a picture.
func moments(f vision.Frame, x0, x1 int) (mean, variance float64) {
	n := 0.0
	var sum, square float64
	for y := 8; y < f.Gray.Rect.Dy()-8; y++ {
		for x := x0; x < x1; x++ {
			v := float64(f.Gray.Pix[y*f.Gray.Stride+x])
			n, sum, square = n+1, sum+v, square+v*v
		}
	}
	return sum / n, square/n - sum/n*sum/n
}

func TestCameraModelsAreDeterministic(t *testing.T) {
	plain, _ := mustRender(t, RandomTable(9, 320, 180))
	for _, name := range CameraNames() {
		m, err := CameraNamed(name)
		require.NoError(t, err)
		a, b := RandomTable(9, 320, 180), RandomTable(9, 320, 180)
		a.Model, b.Model = &m, &m
		a.Workers, b.Workers = 1, 4
		fa, _ := mustRender(t, a)
		fb, _ := mustRender(t, b)
		assert.Equal(t, fa.Gray.Pix, fb.Gray.Pix, name)
		assert.Equal(t, fa.Color.Pix, fb.Color.Pix, name)
		assert.NotEqual(t, plain.Gray.Pix, fa.Gray.Pix, name)

		r, err := newRenderer(a)
		require.NoError(t, err)
		require.NoError(t, r.update(a))
		second, err := r.take(2, 1)
		require.NoError(t, err)
		assert.NotEqual(t, fa.Gray.Pix, second.Gray.Pix, "%s: the next frame has other noise", name)
		again, err := r.take(1, 1)
		require.NoError(t, err)
		assert.Equal(t, fa.Gray.Pix, again.Gray.Pix, "%s: a frame does not depend on those before", name)
		bright, err := r.take(1, 1.5)
		require.NoError(t, err)
		more := m.exposed(1.5)
		b.Model = &more
		fb, _ = mustRender(t, b)
		assert.Equal(t, fb.Gray.Pix, bright.Gray.Pix, "%s: a factor is a gain", name)
	}
}

func TestTheToneCurveHasAShoulder(t *testing.T) {
	m := CameraModel{Knee: 0.7}
	last := 0.0
	for _, v := range []float64{0.001, 0.05, 0.3, 0.6, 0.7, 0.9, 1.1, 1.5} {
		got, _ := moments(developed(t, CameraModel{Knee: 0.7, Headroom: 4}, 32, 32, 1, flat(v)), 8, 24)
		want := 255 * srgbEncode(v)
		if v > 0.7 {
			want = 255 * srgbEncode(1-0.3*math.Exp(-(v-0.7)/0.3))
		}
		assert.InDelta(t, want, got, 0.51, "light %v", v)
		assert.Greater(t, got, last, "light %v", v)
		last = got
	}
	assert.InDelta(t, 255*m.tone(1.3), first(moments(developed(t, CameraModel{Knee: 0.7, Headroom: 1.3}, 32, 32, 1, flat(3)), 8, 24)), 0.51,
		"saturated")
	assert.Equal(t, 255.0, first(moments(developed(t, CameraModel{}, 32, 32, 1, flat(1)), 8, 24)), "without a knee it clips at full scale")
}

func first(a, _ float64) float64 { return a }

func TestPhotonNoise(t *testing.T) {
	for _, well := range []float64{600, 2000, 6000} {
		for _, v := range []float64{0.1, 0.3, 0.6} {
			_, got := moments(developed(t, CameraModel{FullWell: well, ReadNoise: 0.004}, 400, 400, 1, flat(v)), 8, 392)
			slope := 255 * (srgbEncode(v+1e-4) - srgbEncode(v-1e-4)) / 2e-4
			// Three colours with noise of their own, and rounding.
			want := (v/well+0.004*0.004)*slope*slope*(0.299*0.299+0.587*0.587+0.114*0.114) + 1.0/12
			assert.InEpsilon(t, want, got, 0.12, "well %v, light %v", well, v)
		}
	}
}

func TestTheMosaicKeepsLevelsAndEdges(t *testing.T) {
	m := CameraModel{Mosaic: true}
	got, spread := moments(developed(t, m, 64, 64, 1, flat(0.3)), 8, 56)
	assert.InDelta(t, 255*srgbEncode(0.3), got, 0.51)
	assert.Zero(t, spread)
	ramp := func(x, _ int) float64 { return 0.1 + 0.005*float64(x) }
	assert.Equal(t, developed(t, CameraModel{}, 64, 64, 1, ramp).Gray.Pix[32*64+8:][:48],
		developed(t, m, 64, 64, 1, ramp).Gray.Pix[32*64+8:][:48])

	// Noise is no longer a pixel's own.
	m.FullWell = 1000
	f := developed(t, m, 400, 400, 1, flat(0.3))
	mean, variance := moments(f, 8, 392)
	together, n := 0.0, 0.0
	for y := 8; y < 392; y++ {
		for x := 8; x < 391; x++ {
			at := y*f.Gray.Stride + x
			together += (float64(f.Gray.Pix[at]) - mean) * (float64(f.Gray.Pix[at+1]) - mean)
			n++
		}
	}
	assert.Greater(t, together/n, 0.1*variance)
}

func TestBloomSharpeningAndLocalTone(t *testing.T) {
	white := edge(100, 0.02, 1.5)
	sharp := developed(t, CameraModel{Headroom: 4}, 200, 64, 1, white)
	bloomed := developed(t, CameraModel{Headroom: 4, Bloom: 0.05, BloomWide: 10}, 200, 64, 1, white)
	near, _ := moments(bloomed, 92, 98)
	away, _ := moments(bloomed, 4, 20)
	dark, _ := moments(sharp, 4, 20)
	assert.Greater(t, near, dark+15, "scattered light beside the white")
	assert.InDelta(t, dark, away, 2, "none far from it")

	step := edge(100, 0.1, 0.4)
	before := developed(t, CameraModel{}, 200, 64, 1, step)
	after := developed(t, CameraModel{Sharpen: 0.5, SharpenWide: 1.2}, 200, 64, 1, step)
	lo, hi := first(moments(before, 20, 40)), first(moments(before, 160, 180))
	assert.Less(t, first(moments(after, 99, 100)), lo-10)
	assert.Greater(t, first(moments(after, 100, 101)), hi+10)
	assert.Equal(t, hi, first(moments(after, 160, 180)))

	half := edge(100, 0.02, 0.6)
	before = developed(t, CameraModel{}, 200, 64, 1, half)
	after = developed(t, CameraModel{LocalTone: 0.4, LocalWide: 20}, 200, 64, 1, half)
	assert.Less(t, first(moments(after, 180, 192))-first(moments(after, 8, 20)),
		0.8*(first(moments(before, 180, 192))-first(moments(before, 8, 20))))
}

func TestBandsWander(t *testing.T) {
	m := CameraModel{Flicker: 0.1, BandRows: 64, Drift: 16}
	row := func(seq uint64, y int) float64 {
		return float64(developed(t, m, 16, 256, seq, flat(0.4)).Gray.Pix[y*16+8])
	}
	assert.InDelta(t, 255*srgbEncode(0.4*(1+0.1*math.Sin(2*math.Pi*(80+16.0)/64))), row(1, 80), 0.51)
	assert.Equal(t, row(1, 80), row(1, 80+64), "the period")
	assert.Equal(t, row(1, 80), row(2, 80-16), "the drift")
	assert.NotEqual(t, row(1, 80), row(2, 80))
}

func TestCompression(t *testing.T) {
	busy := func(x, y int) float64 { return 0.3 + 0.25*math.Sin(float64(x*x+3*y)/40)*math.Cos(float64(y*x)/300) }
	worst := func(m CameraModel) (sum float64) {
		a, b := developed(t, CameraModel{}, 256, 256, 1, busy), developed(t, m, 256, 256, 1, busy)
		for i, v := range a.Gray.Pix {
			sum += math.Abs(float64(v) - float64(b.Gray.Pix[i]))
		}
		return sum / float64(len(a.Gray.Pix))
	}
	good, bad, tight := worst(CameraModel{Quality: 95}), worst(CameraModel{Quality: 40}), worst(CameraModel{Quality: 95, Bytes: 9000})
	assert.Greater(t, good, 0.1)
	assert.Greater(t, bad, 2*good)
	assert.Greater(t, tight, 2*good, "what does not fit is compressed harder")

	// The quality of a stream follows the picture down and up again.
	d := newDarkroom(CameraModel{Quality: 90, Bytes: 9000}, 256, 256, 1, &newSensor(DefaultLook()).normal)
	codes := make([]uint16, 3*256*256)
	_, err := d.develop(codes, 1, 1, 1)
	require.NoError(t, err)
	assert.Equal(t, 90, d.quality, "a black picture fits")
	for i := range codes {
		codes[i] = uint16(busy(i/3%256, i/3/256) * modelScale)
	}
	_, err = d.develop(codes, 1, 2, 1)
	require.NoError(t, err)
	assert.Less(t, d.quality, 70)
	_, err = d.develop(make([]uint16, 3*256*256), 1, 3, 1)
	require.NoError(t, err)
	assert.Equal(t, 90, d.quality)
}

func TestInvalidCameraModels(t *testing.T) {
	for field, m := range map[string]CameraModel{
		"gain":         {Gain: -1},
		"blur":         {Blur: math.NaN()},
		"bloom's":      {Bloom: 0.1},
		"rows of":      {Flicker: 0.1},
		"full well":    {FullWell: -3},
		"read noise":   {ReadNoise: 2},
		"headroom":     {Headroom: 5},
		"local tone's": {LocalTone: 0.2},
		"knee":         {Knee: 1.2},
		"sharpening's": {Sharpen: 0.2},
		"JPEG quality": {Quality: 101},
		"bytes":        {Bytes: 1000},
		"tint":         {Tint: [3]float64{1, 9, 1}},
	} {
		table := RandomTable(1, 64, 64)
		table.Model = &m
		assert.ErrorContains(t, table.Validate(), "camera model: "+field)
	}
}

func TestTheSourceTakesACameraModel(t *testing.T) {
	o, err := ParseSpec("sim:160x90,camera=webcam,gain=1.5")
	require.NoError(t, err)
	webcam, err := CameraNamed("webcam")
	require.NoError(t, err)
	assert.Equal(t, webcam.exposed(1.5), *o.Model)
	for spec, change := range map[string]func(m *CameraModel){
		"quality=60":          func(m *CameraModel) { m.Quality = 60 },
		"quality=60,gain=1.5": func(m *CameraModel) { m.Quality, m.Gain = 60, 1.5 },
		"tone=0.5":            func(m *CameraModel) { m.LocalTone, m.LocalWide = 0.5, localWide },
	} {
		want := webcam
		change(&want)
		got, err := ParseSpec("sim:camera=webcam," + spec)
		require.NoError(t, err, spec)
		assert.Equal(t, want, *got.Model, spec)
	}
	o.FPS = 0
	s, err := Open(o)
	require.NoError(t, err)
	assert.Equal(t, "sim:160x90,seed=0,camera=webcam,gain=1.5", s.String())
	f, err := s.Next(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 1, f.Seq)
	for spec, says := range map[string]string{
		"sim:camera=":                   "good-webcam, phone, picam3, render, webcam",
		"sim:camera=leica":              `got "leica"`,
		"sim:gain=2":                    "after camera=NAME",
		"sim:camera=phone,gain=0":       "a factor",
		"sim:quality=60":                "a JPEG quality of 1 to 100 after camera=NAME",
		"sim:camera=phone,quality=60.5": "a JPEG quality of 1 to 100",
		"sim:camera=phone,quality=0":    "a JPEG quality of 1 to 100",
		"sim:camera=phone,quality=NaN":  "a JPEG quality of 1 to 100",
		"sim:camera=phone,tone=2":       "a strength of 0 to 1",
		"sim:tone=0.2":                  "after camera=NAME",
		"sim:camera=phone,gain=eight":   "a factor",
	} {
		_, err := ParseSpec(spec)
		assert.ErrorContains(t, err, says, spec)
	}
}
