//go:build opencv

package opencv

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gocv.io/x/gocv"
)

// testPicture is a colour picture with enough in it that its file can be cut.
func testPicture(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.RGBA{uint8(3 * x), uint8(5 * y), uint8(x * y / 7), 255})
		}
	}
	return m
}

// writePicture writes a picture as JPEG or PNG and returns its path and content.
func writePicture(t *testing.T, name string, m image.Image) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	require.NoError(t, err)
	if filepath.Ext(name) == ".png" {
		require.NoError(t, png.Encode(f, m))
	} else {
		require.NoError(t, jpeg.Encode(f, m, nil))
	}
	require.NoError(t, f.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return path, raw
}

func TestAPictureIsReadInGreyAndColour(t *testing.T) {
	path, _ := writePicture(t, "a.png", testPicture(63, 41))
	f, err := ReadImage(path)
	require.NoError(t, err)
	w, h := f.Size()
	assert.Equal(t, [2]int{63, 41}, [2]int{w, h})
	assert.Equal(t, path, f.Name)
	assert.False(t, f.Captured.IsZero())
	r, g, b, _ := f.Color.At(20, 30).RGBA()
	assert.Equal(t, [3]uint32{60, 150, 20 * 30 / 7}, [3]uint32{r >> 8, g >> 8, b >> 8})
	assert.InDelta(t, 0.299*60+0.587*150+0.114*85, float64(f.Gray.GrayAt(20, 30).Y), 1)

	one, _ := writePicture(t, "one.jpg", testPicture(1, 1))
	f, err = ReadImage(one)
	require.NoError(t, err)
	w, h = f.Size()
	assert.Equal(t, [2]int{1, 1}, [2]int{w, h})
}

func TestAPictureThatCannotBeReadIsNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, raw []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		return path
	}
	_, jpg := writePicture(t, "a.jpg", testPicture(200, 150))
	_, pngs := writePicture(t, "a.png", testPicture(200, 150))
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "missing.jpg"), "no such file"},
		{dir, "is a directory"},
		{write("empty.jpg", nil), "empty"},
		{write("text.jpg", []byte("this is no picture")), "not a picture"},
		{write("half.jpg", jpg[:len(jpg)/2]), "cut off"},
		{write("start.jpg", jpg[:5]), "cut off"},
		{write("end.jpg", jpg[:len(jpg)-1]), "cut off"},
		{write("half.png", pngs[:len(pngs)/2]), "cut off"},
		{write("signature.png", pngs[:8]), "cut off"},
		{write("damaged.png", append(append(append([]byte(nil), pngs[:60]...), pngs[60]^0x55), pngs[61:]...)), "damaged"},
		{write("shell.jpg", []byte("\xff\xd8\xff\xd9")), "not a picture"},
	} {
		_, err := ReadImage(c.path)
		if assert.Error(t, err, c.path) {
			assert.Contains(t, err.Error(), c.path)
			assert.Contains(t, err.Error(), c.want, c.path)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
}

func TestEveryCutOfAPictureFileIsNoticed(t *testing.T) {
	for _, name := range []string{"a.jpg", "a.png"} {
		_, raw := writePicture(t, name, testPicture(40, 30))
		require.NoError(t, checkComplete(raw))
		for n := 8; n < len(raw)-4; n++ {
			require.Error(t, checkComplete(raw[:n]), "%s cut to %d of %d bytes", name, n, len(raw))
		}
	}
}

// detailed is a picture in which no part looks like another.
func detailed(w, h int) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(7, 7))
	for i := range g.Pix {
		g.Pix[i] = uint8(128 + 90*math.Sin(float64(i%w)/3)*math.Cos(float64(i/w)/5) + 30*r.Float64())
	}
	return g
}

// shifted reports whether most of a picture's lower quarter shows other detail than it should,
// whatever its brightness.
func shifted(want, got *image.Gray) bool {
	w, h := want.Rect.Dx(), want.Rect.Dy()
	off, all := 0, 0
	for y := 3 * h / 4; y < h; y++ {
		for x := 1; x < w; x++ {
			if a, b := got.GrayAt(x, y).Y, got.GrayAt(x-1, y).Y; min(a, b) < 3 || max(a, b) > 252 {
				continue // so much brighter or darker that detail is lost
			}
			step := func(g *image.Gray) int { return int(g.GrayAt(x, y).Y) - int(g.GrayAt(x-1, y).Y) }
			if d := step(want) - step(got); d > 12 || d < -12 {
				off++
			}
			all++
		}
	}
	return 2*off > all && all > w
}

// A bit that falls over in a JPEG may shift all that comes after it by whole blocks: markers above
// it are in place, and a ship below stands 15 mm from where it is.
func TestAJPEGThatADecoderWouldShiftIsDamaged(t *testing.T) {
	g := detailed(320, 240)
	m, err := matFromGray(g)
	require.NoError(t, err)
	defer m.Close()
	for _, params := range [][]int{{gocv.IMWriteJpegQuality, 90}, {gocv.IMWriteJpegQuality, 90, gocv.IMWriteJpegRstInterval, 37},
		{gocv.IMWriteJpegQuality, 60, gocv.IMWriteJpegOptimize, 1}} {
		buf, err := gocv.IMEncodeWithParams(gocv.JPEGFileExt, m, params)
		require.NoError(t, err)
		raw := bytes.Clone(buf.GetBytes())
		buf.Close()
		require.NoError(t, checkFile(raw))
		want, err := DecodeImage(raw)
		require.NoError(t, err)
		moved := 0
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			damaged := bytes.Clone(raw)
			at := 700 + r.IntN(len(raw)/2-700) // in the coded picture's upper half
			damaged[at] ^= 1 << r.IntN(8)
			frame, err := gocv.IMDecode(damaged, gocv.IMReadGrayScale)
			if err != nil || frame.Empty() {
				continue
			}
			got, err := FrameFromMat(frame)
			frame.Close()
			require.NoError(t, err)
			if shifted(want.Gray, got.Gray) {
				moved++
				assert.Error(t, checkFile(damaged), "bit in byte %d", at)
			}
		}
		t.Logf("%v: %d of 300 shift the picture", params, moved)
		if len(params) == 2 {
			assert.Greater(t, moved, 30)
		}
	}
}

func TestCompleteJPEGsOfEveryKindAreAccepted(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {8, 8}, {17, 9}, {33, 70}, {640, 41}} {
		g := detailed(size[0], size[1])
		grey, err := matFromGray(g)
		require.NoError(t, err)
		colour := gocv.NewMat()
		require.NoError(t, gocv.CvtColor(grey, &colour, gocv.ColorGrayToBGR))
		for _, m := range []gocv.Mat{grey, colour} {
			for _, params := range [][]int{{gocv.IMWriteJpegQuality, 95}, {gocv.IMWriteJpegProgressive, 1}, {gocv.IMWriteJpegOptimize, 1},
				{gocv.IMWriteJpegRstInterval, 1}, {gocv.IMWriteJpegQuality, 1}, {gocv.IMWriteJpegQuality, 100}} {
				buf, err := gocv.IMEncodeWithParams(gocv.JPEGFileExt, m, params)
				require.NoError(t, err)
				raw := bytes.Clone(buf.GetBytes())
				buf.Close()
				assert.NoError(t, checkFile(raw), "%v %v", size, params)
				end := len(raw) - 2 // some cameras pad their pictures
				assert.NoError(t, checkFile(slices.Concat(raw[:end], make([]byte, 5), raw[end:])), "%v %v, padded", size, params)
			}
		}
		grey.Close()
		colour.Close()
	}
}

func TestRealPicturesAreNotTakenForCutOff(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "real"), "*", "*.[jp]*g"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.NoError(t, checkFile(raw), f)
	}
}

func FuzzCheckFile(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x04ab\xff\xd9"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND0000"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBP"))
	f.Fuzz(func(_ *testing.T, raw []byte) { _ = checkFile(raw) }) // must end and not panic
}
