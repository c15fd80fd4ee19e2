package capture_test

import (
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision"
	"sightline/vision/capture"
)

// readPNG is a reader of pictures for these tests.
func readPNG(path string) (vision.Frame, error) {
	f, err := os.Open(path)
	if err != nil {
		return vision.Frame{}, err
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		return vision.Frame{}, errors.New(path + ": " + err.Error())
	}
	return vision.Frame{Gray: m.(*image.Gray)}, nil
}

// pictureDir writes pictures whose only pixel is 10, 20, 30 and other files next to them.
func pictureDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, level := range map[string]uint8{"b.png": 20, "a.PNG": 10, "c.png": 30} {
		g := image.NewGray(image.Rect(0, 0, 1, 1))
		g.Pix[0] = level
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, png.Encode(f, g))
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("no picture"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "old.png"), 0o700))
	return dir
}

func TestADirectoryGivesItsPicturesInTheOrderOfTheirNames(t *testing.T) {
	dir := pictureDir(t)
	s, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readPNG})
	require.NoError(t, err)
	assert.Equal(t, dir, s.String())
	for i, name := range []string{"a.PNG", "b.png", "c.png"} {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(dir, name), f.Name)
		assert.EqualValues(t, i+1, f.Seq)
		assert.EqualValues(t, 10*(i+1), f.Gray.Pix[0])
		assert.False(t, f.Captured.IsZero())
	}
	_, err = s.Next(t.Context())
	assert.Equal(t, io.EOF, err)
	require.NoError(t, s.Close())
}

func TestAPictureThatCannotBeReadIsNamedAndTheRestIsShown(t *testing.T) {
	dir := pictureDir(t)
	bad := filepath.Join(dir, "b.png")
	require.NoError(t, os.WriteFile(bad, []byte("\x89PNG\r\n\x1a\ncut off"), 0o600))

	var skipped []string
	s, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readPNG, Skipped: func(path string, err error) {
		assert.Error(t, err)
		skipped = append(skipped, path)
	}})
	require.NoError(t, err)
	n, err := drain(t, s)
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, 2, n)
	assert.Equal(t, []string{bad}, skipped)

	s, err = capture.OpenImageDir(dir, capture.ImageOptions{Read: readPNG})
	require.NoError(t, err)
	n, err = drain(t, s)
	assert.Equal(t, 2, n)
	assert.ErrorContains(t, err, "1 of 3 pictures could not be read: "+bad)
	assert.NotErrorIs(t, err, io.EOF)
}

// drain takes frames until an error and returns how many there were.
func drain(t *testing.T, s vision.Source) (int, error) {
	for n := 0; ; n++ {
		if _, err := s.Next(t.Context()); err != nil {
			return n, err
		}
		require.Less(t, n, 10000)
	}
}

func TestADirectoryThatIsMissingOrHasNoPicturesIsRefused(t *testing.T) {
	_, err := capture.OpenImageDir("/no/such/dir", capture.ImageOptions{Read: readPNG})
	assert.EqualError(t, err, "vision: source /no/such/dir: no such file or directory")
	_, err = capture.OpenImageDir(t.TempDir(), capture.ImageOptions{Read: readPNG})
	assert.ErrorContains(t, err, "no pictures in this directory")
	_, err = capture.OpenImageDir(pictureDir(t), capture.ImageOptions{})
	assert.ErrorContains(t, err, "no reader")
}

func TestPacedPicturesLastTheirTimeAndTheLastOneToo(t *testing.T) {
	dir := pictureDir(t)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readPNG, FPS: 2})
		require.NoError(t, err)
		var at []time.Duration
		for {
			_, err := s.Next(t.Context())
			at = append(at, time.Since(start))
			if err != nil {
				assert.Equal(t, io.EOF, err)
				break
			}
		}
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{0, 500 * ms, 1000 * ms, 1500 * ms}, at)
	})
}

func TestALateReaderIsNotHurriedAndACancelledOneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := capture.Pacer{FPS: 10}
		require.NoError(t, p.Wait(t.Context()))
		time.Sleep(5 * time.Second)
		start := time.Now()
		require.NoError(t, p.Wait(t.Context()))
		require.NoError(t, p.Wait(t.Context()))
		assert.Equal(t, 100*time.Millisecond, time.Since(start))

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.ErrorIs(t, p.Wait(ctx), context.Canceled)
		assert.Equal(t, 100*time.Millisecond, time.Since(start))
	})
}

func TestPicturesThatRepeatBeginAgain(t *testing.T) {
	dir := pictureDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.png"), []byte("no picture"), 0o600))
	var told []string
	s, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readPNG, Repeat: true, Skipped: func(path string,
		_ error) {
		told = append(told, filepath.Base(path))
	}})
	require.NoError(t, err)
	for i := range 7 {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, uint64(i+1), f.Seq)
		assert.Equal(t, uint8(10*(1+i%3)), f.Gray.Pix[0])
	}
	assert.Equal(t, []string{"bad.png", "bad.png"}, told)
	for _, name := range []string{"a.PNG", "b.png", "c.png"} {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
	for err == nil {
		_, err = s.Next(t.Context())
	}
	require.ErrorContains(t, err, "none of", "pictures that are gone are an error, not an endless search")
}

func TestADirectoryOfNoReadablePictureSaysSo(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.png"), []byte("no picture"), 0o600))
	for _, repeat := range []bool{false, true} {
		s, err := capture.OpenImageDir(dir, capture.ImageOptions{Read: readPNG, Repeat: repeat, Skipped: func(string, error) {}})
		require.NoError(t, err)
		_, err = s.Next(t.Context())
		require.ErrorContains(t, err, "bad.png")
		require.NotErrorIs(t, err, io.EOF)
	}
}
