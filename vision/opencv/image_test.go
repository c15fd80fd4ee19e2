//go:build opencv

package opencv

import (
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

func TestRealPicturesAreNotTakenForCutOff(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "real"), "*", "*.[jp]*g"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		assert.NoError(t, checkComplete(raw), f)
	}
}

func FuzzCheckComplete(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x04ab\xff\xd9"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x00IEND0000"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBP"))
	f.Fuzz(func(_ *testing.T, raw []byte) { _ = checkComplete(raw) }) // must end and not panic
}
