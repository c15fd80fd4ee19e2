package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision"
	"sightline/vision/capture"
)

// fakeChild writes a shell script that stands in place of rpicam-vid and returns its
// path and its directory. The script's process number is written to pid, its
// arguments to args.
func fakeChild(t *testing.T, script string) (path, dir string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "rpicam-fake")
	text := "#!/bin/sh\ncd '" + dir + "'\necho $$ > pid\necho \"$@\" > args\n" + script + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return path, dir
}

// i420 is a raw picture with padded rows: luma rises with x and y, and its left half is of
// one colour, its right half of another. The padding is 99.
func i420(w, h, stride int, left, right [2]byte) []byte {
	out := bytes.Repeat([]byte{99}, stride*h*3/2)
	for y := range h {
		for x := range w {
			out[y*stride+x] = byte(16 + 2*x + 3*y)
		}
	}
	for plane := range 2 {
		base := stride*h + plane*stride/2*h/2
		for y := range h / 2 {
			for x := range w / 2 {
				c := left
				if x >= w/4 {
					c = right
				}
				out[base+y*stride/2+x] = c[plane]
			}
		}
	}
	return out
}

func TestRawPicturesWithPaddedRowsComeOutOfThePipeWhole(t *testing.T) {
	const w, h = 40, 12 // rows of 64 bytes
	neutral, red := [2]byte{128, 128}, [2]byte{102, 240}
	one := i420(w, h, 64, neutral, red)
	two := bytes.Clone(one)
	two[0] = 235
	child, dir := fakeChild(t, "cat frames\nexec sleep 60")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frames"), append(one, two...), 0o600))

	s, err := capture.OpenCSI("csi:", capture.CSIOptions{Width: w, Height: h, FPS: 12.5, Camera: 1, Command: child, Args: []string{"--gain",
		"2"}})
	require.NoError(t, err)
	defer s.Close()
	f, err := s.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, w, h), f.Gray.Bounds())
	for y := range h {
		for x := range w {
			require.EqualValues(t, 16+2*x+3*y, f.Gray.GrayAt(x, y).Y, "(%d, %d)", x, y)
		}
	}
	// A neutral colour is grey: (16+2·10+3·4 - 16)·255/219 = 37.
	assert.Equal(t, color.RGBA{37, 37, 37, 255}, f.Color.At(10, 4))
	// Full red of BT.709 is Y 63, Cb 102, Cr 240.
	x, y := 22, 1
	require.EqualValues(t, 63, f.Gray.GrayAt(x, y).Y)
	r, g, b, _ := f.Color.At(x, y).RGBA()
	assert.Greater(t, r>>8, uint32(250))
	assert.Less(t, g>>8, uint32(5))
	assert.Less(t, b>>8, uint32(5))

	f2, err := s.Next(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 235, f2.Gray.Pix[0])
	assert.EqualValues(t, 2, f2.Seq)

	args, err := os.ReadFile(filepath.Join(dir, "args"))
	require.NoError(t, err)
	assert.Equal(t, "--nopreview --timeout 0 --flush --camera 1 --width 40 --height 12 --framerate 12.5 --codec yuv420 --output - --gain 2\n",
		string(args))
	checkChildEnds(t, s, dir)
}

// checkChildEnds closes the source and looks whether the process is gone.
func checkChildEnds(t *testing.T, s vision.Source, dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, 0), "the child runs")
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice does no harm")
	assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the child is gone and waited for")
}

func TestAChildThatDoesNotListenIsKilled(t *testing.T) {
	child, dir := fakeChild(t, "trap '' TERM\necho ready\nwhile :; do sleep 0.05; done")
	s, err := capture.OpenCSI("csi:", capture.CSIOptions{Width: 2, Height: 2, RowAlign: 2, GrayOnly: true, Command: child})
	require.NoError(t, err)
	f, err := s.Next(t.Context()) // six bytes: "ready\n"
	require.NoError(t, err)
	assert.Equal(t, []byte("read"), f.Gray.Pix)
	assert.Nil(t, f.Color)
	checkChildEnds(t, s, dir)
}

func TestAChildThatEndsIsAFailureInItsOwnWords(t *testing.T) {
	child, _ := fakeChild(t, `i=0; while [ $i -lt 400 ]; do echo "#$i (30.00 fps) exp 33000.00" >&2; i=$((i+1)); done
printf 'half a picture'
echo "ERROR: *** no cameras available ***" >&2
exit 255`)
	s, err := capture.OpenCSI("csi:", capture.CSIOptions{Command: child})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Next(t.Context())
	require.Error(t, err)
	assert.NotErrorIs(t, err, io.EOF, "a camera does not come to its end")
	assert.Equal(t, "vision: source \"csi:\": "+child+" ended (exit status 255): ERROR: *** no cameras available ***", err.Error())
}

func TestASilentChildDoesNotHoldUpACancelledReader(t *testing.T) {
	child, _ := fakeChild(t, "exec sleep 60")
	s, err := capture.OpenCSI("csi:", capture.CSIOptions{Command: child})
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = s.Next(ctx)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(began), 30*time.Second, "the child sleeps for a minute")
}

// jpegOf is a grey JPEG picture with a preview picture in a segment, whose end-of-image
// marker could be taken for its own.
func jpegOf(t *testing.T, level uint8) []byte {
	t.Helper()
	encode := func(w int) []byte {
		g := image.NewGray(image.Rect(0, 0, w, w))
		for i := range g.Pix {
			g.Pix[i] = level
		}
		var b bytes.Buffer
		require.NoError(t, jpeg.Encode(&b, g, nil))
		return b.Bytes()
	}
	preview, picture := encode(8), encode(32)
	n := len(preview) + 2
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1, byte(n >> 8), byte(n)}, preview...)
	return append(out, picture[2:]...)
}

func decodeGoJPEG(raw []byte) (vision.Frame, error) {
	m, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		return vision.Frame{}, err
	}
	return vision.Frame{Gray: m.(*image.Gray)}, nil
}

func TestJPEGPicturesAreCutOutOfTheStream(t *testing.T) {
	child, dir := fakeChild(t, "cat frames")
	stream := append([]byte("noise \xff\xd9\xff"), jpegOf(t, 50)...)
	stream = append(stream, jpegOf(t, 180)...)
	last := jpegOf(t, 90)
	stream = append(stream, last[:len(last)-2]...) // cut off
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frames"), stream, 0o600))
	s, err := capture.OpenCSI("csi:0,mjpeg", capture.CSIOptions{MJPEG: true, DecodeJPEG: decodeGoJPEG, Command: child})
	require.NoError(t, err)
	defer s.Close()
	for _, level := range []int{50, 180} {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, image.Rect(0, 0, 32, 32), f.Gray.Bounds())
		assert.InDelta(t, level, int(f.Gray.Pix[500]), 1)
	}
	_, err = s.Next(t.Context())
	assert.ErrorContains(t, err, "rpicam-fake ended")
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	require.NoError(t, err)
	assert.Contains(t, string(args), "--codec mjpeg")
}

func TestACSISpecNamesTheCameraAndTheCodec(t *testing.T) {
	for spec, want := range map[string]capture.CSIOptions{
		"csi:":          {FPS: 10},
		"csi:1":         {FPS: 10, Camera: 1},
		"rpicam:mjpeg":  {FPS: 10, MJPEG: true},
		"csi:2,mjpeg":   {FPS: 10, Camera: 2, MJPEG: true},
		"rpicam:mjpeg,": {FPS: 10, MJPEG: true},
	} {
		got, err := capture.ParseCSISpec(spec, capture.CSIOptions{FPS: 10})
		require.NoError(t, err, spec)
		assert.Equal(t, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got), spec)
	}
	for _, spec := range []string{"", "csi", "usb:0", "csi:-1", "csi:x", "csi:h264", "csi:1e9"} {
		_, err := capture.ParseCSISpec(spec, capture.CSIOptions{})
		assert.ErrorContains(t, err, "expected csi:", spec)
	}
}

func TestCSIOptionsThatCannotBeAreRefused(t *testing.T) {
	for want, o := range map[string]capture.CSIOptions{
		"even numbers of pixels": {Width: 641, Height: 480, Command: "x"},
		"row alignment":          {RowAlign: 3, Command: "x"},
		"decode JPEG":            {MJPEG: true, Command: "x"},
		"start /no/such/program": {Command: "/no/such/program"},
	} {
		_, err := capture.OpenCSI("csi:", o)
		assert.ErrorContains(t, err, want)
	}
	t.Setenv("PATH", t.TempDir())
	_, err := capture.OpenCSI("csi:", capture.CSIOptions{})
	assert.EqualError(t, err, "vision: source \"csi:\": rpicam-vid is not installed; on Raspberry Pi OS: apt install rpicam-apps")
}

func TestAFeedKeepsAChildRunningThatEndsAgainAndAgain(t *testing.T) {
	child, dir := fakeChild(t, "cat frames; echo out of memory >&2; exit 1")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frames"), make([]byte, 3*6), 0o600))
	f := capture.NewFeed(func(context.Context) (vision.Source, error) {
		return capture.OpenCSI("csi:", capture.CSIOptions{Width: 2, Height: 2, RowAlign: 2, Command: child})
	}, capture.FeedOptions{MinBackoff: 10 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	frame, err := f.Next(ctx, 8) // three children
	require.NoError(t, err)
	assert.EqualValues(t, 9, frame.Seq)
	assert.GreaterOrEqual(t, f.Status().Reopened, uint64(2))
	cancel()
	require.NoError(t, <-done)
}

func BenchmarkRawPictureOf1080p(b *testing.B) {
	o := capture.CSIOptions{Width: 1920, Height: 1080, RowAlign: 64}
	raw := i420(1920, 1080, 1920, [2]byte{100, 150}, [2]byte{150, 100})
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		capture.RawFrame(o, raw)
	}
}

// A camera is restarted to set its exposure; what it chose is what it says.
func TestTheExposureOfACSICameraIsHeld(t *testing.T) {
	const w, h = 40, 12
	child, dir := fakeChild(t, `echo "$@" >> all
echo "#0 (30.00 fps) exp 8312.00 ag 2.50 dg 1.00" >&2
while :; do cat frame; sleep 0.02; done`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "frame"), i420(w, h, 64, [2]byte{128, 128}, [2]byte{128, 128}), 0o600))
	s, err := capture.OpenCSI("csi:", capture.CSIOptions{Width: w, Height: h, FPS: 25, Command: child})
	require.NoError(t, err)
	defer s.Close()
	seq := uint64(0)
	next := func() {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		seq++
		require.Equal(t, seq, f.Seq, "the pictures are counted on")
	}
	next()
	d := s.(interface{ Controls() capture.ControlDevice }).Controls()
	paper := capture.Setting{Kind: capture.SettingPaper}
	wished := capture.Settings{Exposure: paper, Gain: paper, Focus: capture.Setting{Kind: capture.SettingLock}}
	_, says := capture.ApplySettings(d, wished, false)
	assert.Empty(t, says)
	// What the child says comes beside its pictures, and may be read after the first.
	require.Eventually(t, func() bool { next(); return len(capture.ExposureControls(d, true)) == 2 }, time.Minute, time.Millisecond)
	held, says := capture.ApplySettings(d, wished, true)
	assert.Equal(t, []string{"The camera's driver does not let its focus be set: it may change while you play."}, says)
	assert.Equal(t, capture.Setting{Kind: capture.SettingFixed, Value: 83}, held.Exposure)
	assert.Equal(t, capture.Setting{Kind: capture.SettingFixed, Value: 250}, held.Gain)
	controls := capture.ExposureControls(d, true)
	require.Len(t, controls, 2)
	assert.EqualValues(t, 400, controls[0].Max, "40 ms at 25 pictures a second")
	pid := func() string {
		raw, err := os.ReadFile(filepath.Join(dir, "pid"))
		require.NoError(t, err)
		return string(raw)
	}
	first := pid()
	restarted := func(before string) func() bool {
		return func() bool { next(); p := pid(); return p != "" && p != before }
	}
	require.Eventually(t, restarted(first), time.Minute, 10*time.Millisecond)
	got, err := capture.SetExposureControl(d, controls[0], 41)
	require.NoError(t, err)
	assert.EqualValues(t, 41, got)
	second := pid()
	require.Eventually(t, restarted(second), time.Minute, 10*time.Millisecond)
	next()
	all, err := os.ReadFile(filepath.Join(dir, "all"))
	require.NoError(t, err)
	runs := strings.Split(strings.TrimSpace(string(all)), "\n")
	require.Len(t, runs, 3)
	assert.NotContains(t, runs[0], "shutter")
	assert.Contains(t, runs[1], "--shutter 8300 --gain 2.5")
	assert.Contains(t, runs[2], "--shutter 4100 --gain 2.5")
	_, err = d.Get(0x0098091a)
	assert.ErrorIs(t, err, capture.ErrNoControl)
	checkChildEnds(t, s, dir)
	_, err = s.Next(t.Context())
	assert.Error(t, err)
}
