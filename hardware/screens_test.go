package hardware_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/hardware"
)

// screens are every screen there is, as docs/hardware.md shows them.
var screens = map[string]hardware.State{
	"answer": pair(func(s *hardware.State) { s.InArc = engine.Yes }),
	"why":    pair(func(s *hardware.State) { s.InArc, s.ArcMarginMM, s.Screen.Page = engine.Yes, 18.1, 1 }),
	"obstructed": pair(func(s *hardware.State) {
		s.InArc, s.Obstructed, s.ObstructedBy = engine.Yes, engine.Yes, "rock1"
	}),
	"obstructed-why": pair(func(s *hardware.State) {
		s.InArc, s.ArcMarginMM, s.Obstructed, s.ObstructedBy, s.Screen.Page = engine.Yes, 6.3, engine.Yes, "rock1", 1
	}),
	"too-close": pair(func(s *hardware.State) {
		s.Range, s.Possible, s.DistanceMM, s.SigmaMM, s.MarginMM = engine.Indeterminate, []int{2, 3}, 200.11, 0.24, 0.11
		s.InArc = engine.Yes
	}),
	"beyond":   pair(func(s *hardware.State) { s.Band, s.DistanceMM = 7, 644.72 }),
	"contact":  pair(func(s *hardware.State) { s.Band, s.DistanceMM, s.Contact = 0, 0, engine.Yes }),
	"frozen":   pair(func(s *hardware.State) { s.InArc, s.Frozen = engine.Yes, true }),
	"no-view":  pair(func(s *hardware.State) { s.Range, s.Reason = engine.NoView, "B1 is not seen" }),
	"nobody":   {Blind: true, Reason: "no camera"},
	"choose":   {Reason: "click attacker, then target on the page"},
	"attacker": onScreen("c"),
	"target":   onScreen("cpr"),
	"menu":     onScreen("prr"),
	"edition":  onScreen("prrrrrp"),
	"judge":    onScreen("F"),
	"address":  onScreen("prrrrrrp"),
	"pairing":  {Screen: hardware.Screen{Kind: hardware.ScreenAddress, Address: "http://192.168.178.25:8080/", Code: "K7M2QX"}},
}

// onScreen is a state with the menu where the keys lead.
func onScreen(inputs string) hardware.State {
	m, _ := keys(world(), inputs)
	s := pair(nil)
	s.Screen = m.Screen(world(), start)
	return s
}

// TestThePicturesInTheDocs keeps docs/screens as the program draws it: -update draws
// them again. They are twice as large as the display, so that a browser shows every dot.
func TestThePicturesInTheDocs(t *testing.T) {
	for name, s := range screens {
		var got bytes.Buffer
		require.NoError(t, png.Encode(&got, enlarged(hardware.Draw(s))))
		path := filepath.Join("..", "docs", "screens", name+".png")
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "run with -update to draw it")
		assert.True(t, bytes.Equal(want, got.Bytes()), "%s is not what is drawn now: run with -update and look at it", path)
	}
	files, err := filepath.Glob("../docs/screens/*.png")
	require.NoError(t, err)
	assert.Len(t, files, len(screens), "a picture that nothing draws")
}

// enlarged is the display twice as large, in the blue-white of a usual OLED.
func enlarged(src image.Image) image.Image {
	b := src.Bounds()
	dst := image.NewPaletted(image.Rect(0, 0, 2*b.Dx(), 2*b.Dy()), color.Palette{color.RGBA{8, 10, 14, 255}, color.RGBA{190, 225, 255, 255}})
	for y := range dst.Rect.Dy() {
		for x := range dst.Rect.Dx() {
			if lit(src.At(x/2, y/2)) {
				dst.SetColorIndex(x, y, 1)
			}
		}
	}
	return dst
}

// photo is what a phone's camera sees of the display: every dot a glowing square with
// a dark gap, seen from a little aside and turned, blurred, with noise.
func photo(src image.Image, zoom, turn, slant, blur float64, r *rand.Rand) *image.Gray {
	w, h := int(170*zoom), int(90*zoom)
	sharp := make([]float64, w*h)
	cos, sin := math.Cos(turn), math.Sin(turn)
	const samples = 2
	for y := range h {
		for x := range w {
			sum := 0.0
			for sub := range samples * samples {
				px := (float64(x)+(float64(sub%samples)+0.5)/samples)/zoom - 85
				py := (float64(y)+(float64(sub/samples)+0.5)/samples)/zoom - 45
				k := 1 + slant*px/85 // nearer on one side
				u, v := (px*cos+py*sin)*k+64, (-px*sin+py*cos)*k+32
				fu, fv := u-math.Floor(u), v-math.Floor(v)
				if u >= 0 && u < 128 && v >= 0 && v < 64 && lit(src.At(int(u), int(v))) && fu < 0.85 && fv < 0.85 {
					sum++
				}
			}
			sharp[y*w+x] = sum / (samples * samples)
		}
	}
	soft := blurred(blurred(sharp, w, h, 1, blur*zoom), w, h, w, blur*zoom)
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i, v := range soft {
		img.Pix[i] = uint8(max(0, min(255, 18+200*v+6*r.NormFloat64())))
	}
	return img
}

// blurred blurs along one direction with a Gaussian.
func blurred(in []float64, w, h, step int, sigma float64) []float64 {
	n := int(3*sigma) + 1
	kernel, total := make([]float64, 2*n+1), 0.0
	for i := range kernel {
		d := float64(i-n) / max(sigma, 1e-6)
		kernel[i] = math.Exp(-d * d / 2)
		total += kernel[i]
	}
	out := make([]float64, len(in))
	for i := range in {
		at, size := i%w, w
		if step != 1 {
			at, size = i/w, h
		}
		for k, weight := range kernel {
			if j := at + k - n; j >= 0 && j < size {
				out[i] += weight / total * in[i+(k-n)*step]
			}
		}
	}
	return out
}

// readQR reads a QR code with a reader that has nothing to do with the writer.
func readQR(img image.Image) (string, error) {
	bits, err := gozxing.NewBinaryBitmapFromImage(img)
	if err != nil {
		return "", err
	}
	result, err := qrcode.NewQRCodeReader().Decode(bits, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true})
	if err != nil {
		return "", err
	}
	return result.GetText(), nil
}

func TestAPhoneReadsTheAddressFromThePanelsPicture(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, c := range []struct{ address, code, want string }{
		{"http://192.168.178.25:8080/", "", "HTTP://192.168.178.25:8080/"},
		{"http://10.0.0.7/", "", "HTTP://10.0.0.7/"},
		{"http://255.255.255.255:65535/", "K7M2QX", "HTTP://255.255.255.255:65535/PAIR/K7M2QX"},
		{"http://sightline.local:8080/", "", "HTTP://SIGHTLINE.LOCAL:8080/"},
	} {
		display := hardware.Draw(hardware.State{Screen: hardware.Screen{Kind: hardware.ScreenAddress, Address: c.address, Code: c.code}})
		read, tries := 0, 0
		for _, zoom := range []float64{3, 4} {
			for _, turn := range []float64{0, -0.12} {
				for _, slant := range []float64{0, 0.08} {
					tries++
					if text, err := readQR(photo(display, zoom, turn, slant, 0.35, r)); err == nil {
						require.Equal(t, c.want, text)
						read++
					}
				}
			}
		}
		t.Logf("%s: read from %d of %d pictures", c.want, read, tries)
		assert.GreaterOrEqual(t, read, tries*3/4, "a phone looks at ten pictures a second; most must be readable")
	}
}

func TestAnAddressTooLongForACodeIsShownAsText(t *testing.T) {
	long := hardware.Screen{Kind: hardware.ScreenAddress,
		Address: "http://a-very-long-name-of-a-machine.example.org:8080/And/A/Path/In/Small/letters"}
	img := hardware.Draw(hardware.State{Screen: long})
	_, err := readQR(photo(img, 4, 0, 0, 0.3, rand.New(rand.NewPCG(1, 1))))
	assert.Error(t, err)
	ink := 0
	for _, b := range img.Pix {
		if b != 0 {
			ink++
		}
	}
	assert.Greater(t, ink, 100)
}

func TestOnlyCaseInsensitivePartsAreCapitalised(t *testing.T) {
	assert.Equal(t, "HTTP://HOST.LOCAL:80/", hardware.PhoneAddress("http://host.local:80/", ""))
	assert.Equal(t, "HTTP://HOST/PAIR/AB12", hardware.PhoneAddress("http://host/", "AB12"))
	assert.Equal(t, "http://host/page", hardware.PhoneAddress("http://host/page", ""), "a path's case matters")
	assert.Equal(t, "http://host/PAIR/ab12", hardware.PhoneAddress("http://host/", "ab12"))
}

func TestAddressesBreakWherePeopleWould(t *testing.T) {
	for address, want := range map[string][]string{
		"http://192.168.178.25:8080/":   {"192.168.", "178.25", ":8080"},
		"http://10.0.0.7/":              {"10.0.0.7"},
		"http://sightline.local:8080/":  {"sightlin", "e.local", ":8080"},
		"http://255.255.255.255:65535/": {"255.255.", "255.255", ":65535"},
		"http://table-3/":               {"table-3"},
	} {
		assert.Equal(t, want, hardware.BreakAddress(address, 8), address)
	}
	assert.Empty(t, hardware.BreakAddress("http://a/", 0))
}

func TestAFrozenAnswerLooksFrozen(t *testing.T) {
	_, n := difference(hardware.Draw(pair(nil)), hardware.Draw(pair(func(s *hardware.State) { s.Frozen = true })))
	assert.Greater(t, n, 1000)
}

func TestTheSelectedEntryIsAlwaysSeen(t *testing.T) {
	items := []string{"aa", "bb", "cc", "dd", "ee", "ff", "gg"}
	pictures := map[string]int{}
	for i := range items {
		img := hardware.Draw(hardware.State{Screen: hardware.Screen{Kind: hardware.ScreenList, Title: "T", Items: items, Selected: i}})
		bars := 0
		for line := 1; line < 4; line++ { // on a bar: the line's left edge is lit
			if img.BitAt(0, 16*line+8) {
				bars++
			}
		}
		assert.Equal(t, 1, bars, "entry %d", i)
		pictures[string(img.Pix)]++
	}
	assert.Len(t, pictures, len(items), "every selection looks different")
}

func BenchmarkDraw(b *testing.B) { // 20 times a second; a Pi 3 is about ten times slower than this machine: below 0.5 ms here
	s := pair(nil)
	for b.Loop() {
		hardware.Draw(s)
	}
}
