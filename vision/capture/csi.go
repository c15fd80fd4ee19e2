package capture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"os/exec"
	"sightline/vision"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// CSIOptions control a camera on the Raspberry Pi's ribbon connector.
//
// Since 2021 these cameras belong to libcamera and OpenCV cannot open them, so a
// child process (rpicam-vid) takes the pictures and writes them into a pipe.
type CSIOptions struct {
	Width, Height int     // 0: 1920×1080; both must be even
	FPS           float64 // 0: 30
	Camera        int     // its number in rpicam-hello --list-cameras
	MJPEG         bool    // JPEG instead of raw pictures: less data, more decoding
	GrayOnly      bool    // leave the colour picture out

	// DecodeJPEG decodes a JPEG picture (opencv.DecodeImage). MJPEG needs it.
	DecodeJPEG func([]byte) (vision.Frame, error)

	// Args are added to the command line: --shutter, --gain, --lens-position …
	Args []string
	// Command replaces rpicam-vid (or libcamera-vid, its older name).
	Command string
	// RowAlign is the multiple, in bytes, to which the driver pads each row of a raw picture; 0 means
	// 64. Rows of the colour planes are padded to half of it.
	RowAlign int
}

// ParseCSISpec parses a source's name into options: "csi:" or "rpicam:", then the camera's number
// and optionally the word mjpeg ("csi:1,mjpeg").
func ParseCSISpec(spec string, o CSIOptions) (CSIOptions, error) {
	kind, rest, ok := strings.Cut(spec, ":")
	bad := fmt.Errorf("vision: source %q: expected csi:[CAMERA][,mjpeg]", spec)
	if !ok || kind != "csi" && kind != "rpicam" {
		return o, bad
	}
	for field := range strings.SplitSeq(rest, ",") {
		n, err := strconv.Atoi(field)
		switch {
		case field == "":
		case field == "mjpeg":
			o.MJPEG = true
		case err == nil && n >= 0 && n < 100:
			o.Camera = n
		default:
			return o, bad
		}
	}
	return o, nil
}

const (
	csiGrace = time.Second      // from SIGTERM to SIGKILL
	csiEnds  = 20 * time.Second // for the child to exit after it closed its output, on a busy machine
)

// OpenCSI starts the child process and returns the source that reads its pictures. Closing the
// source ends the child and waits for it.
func OpenCSI(name string, o CSIOptions) (vision.Source, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("vision: source %q: %w", name, err)
	}
	child, err := startCSI(name, o)
	if err != nil {
		return nil, err
	}
	return &csiCamera{name: name, o: o, child: child, knobs: map[ControlID]int32{ctrlExposeAuto: exposeAperture, ctrlAutoGain: 1}}, nil
}

// startCSI starts a child process.
func startCSI(name string, o CSIOptions) (*csi, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("vision: source %q: %w", name, err)
	}
	c := &csi{name: name, o: o, pipe: r, exited: make(chan struct{})}
	c.cmd = exec.Command(o.Command, o.args()...)
	c.cmd.Stdout, c.cmd.Stderr = w, &c.complaints
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that a script's children end with it
	c.cmd.WaitDelay = 5 * csiGrace                          // for grandchildren that keep stderr open
	err = c.cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("vision: source %q: start %s: %w", name, o.Command, err)
	}
	go func() {
		c.exit = c.cmd.Wait()
		close(c.exited)
	}()
	if o.MJPEG {
		c.in = bufio.NewReaderSize(r, 1<<16)
	}
	return c, nil
}

func (o CSIOptions) withDefaults() (CSIOptions, error) {
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = 1920, 1080
	}
	if o.FPS <= 0 {
		o.FPS = 30
	}
	if o.RowAlign == 0 {
		o.RowAlign = 64
	}
	switch {
	case o.Width < 2 || o.Height < 2 || o.Width%2 != 0 || o.Height%2 != 0 || o.Width > 16384 || o.Height > 16384:
		return o, fmt.Errorf("size %d×%d: expected even numbers of pixels", o.Width, o.Height)
	case o.RowAlign < 2 || o.RowAlign%2 != 0:
		return o, fmt.Errorf("row alignment %d: expected an even number of bytes", o.RowAlign)
	case o.MJPEG && o.DecodeJPEG == nil:
		return o, errors.New("MJPEG: nothing here can decode JPEG")
	}
	if o.Command != "" {
		return o, nil
	}
	for _, c := range []string{"rpicam-vid", "libcamera-vid"} {
		if path, err := exec.LookPath(c); err == nil {
			o.Command = path
			return o, nil
		}
	}
	return o, errors.New("rpicam-vid is not installed; on Raspberry Pi OS: apt install rpicam-apps")
}

// args returns the child's arguments: no preview window, no time limit, every picture written at
// once.
func (o CSIOptions) args() []string {
	codec := "yuv420"
	if o.MJPEG {
		codec = "mjpeg"
	}
	return append([]string{
		"--nopreview", "--timeout", "0", "--flush",
		"--camera", strconv.Itoa(o.Camera),
		"--width", strconv.Itoa(o.Width), "--height", strconv.Itoa(o.Height),
		"--framerate", strconv.FormatFloat(o.FPS, 'g', -1, 64),
		"--codec", codec, "--output", "-",
	}, o.Args...)
}

// csi is a running child with the pipe that delivers its pictures. csiCamera is the source.
type csi struct {
	name string
	o    CSIOptions
	cmd  *exec.Cmd
	pipe *os.File
	in   *bufio.Reader // MJPEG only

	complaints tail
	exited     chan struct{} // closed when the child has exited; exit is set then
	exit       error
	closing    sync.Once
}

// next returns the next picture. After an error the child must be replaced.
func (c *csi) next(ctx context.Context) (vision.Frame, error) {
	// A deadline in the past ends a waiting read.
	stop := context.AfterFunc(ctx, func() { _ = c.pipe.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	f, err := c.read()
	switch {
	case ctx.Err() != nil:
		return vision.Frame{}, ctx.Err()
	case err != nil:
		return vision.Frame{}, fmt.Errorf("vision: source %q: %w", c.name, c.explain(ctx, err))
	}
	f.Captured = time.Now()
	return f, nil
}

func (c *csi) read() (vision.Frame, error) {
	if c.o.MJPEG {
		raw, err := readJPEG(c.in)
		if err != nil {
			return vision.Frame{}, err
		}
		f, err := c.o.DecodeJPEG(raw)
		if err == nil && c.o.GrayOnly {
			f.Color = nil
		}
		return f, err
	}
	raw := make([]byte, c.o.rawSize())
	if _, err := io.ReadFull(c.pipe, raw); err != nil {
		return vision.Frame{}, err
	}
	return c.o.frame(raw), nil
}

// explain turns the end of the pipe into an error with the child's own message.
func (c *csi) explain(ctx context.Context, err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	how := "closed its output"
	select {
	case <-c.exited:
		how = "ended"
		if c.exit != nil {
			how += " (" + c.exit.Error() + ")"
		}
	case <-ctx.Done():
	case <-time.After(csiEnds):
	}
	if said := c.complaints.last(); said != "" {
		return fmt.Errorf("%s %s: %s", c.o.Command, how, said)
	}
	return fmt.Errorf("%s %s", c.o.Command, how)
}

// close ends the child, first with SIGTERM, and waits for it.
func (c *csi) close() {
	c.closing.Do(func() {
		c.pipe.Close()
		c.signal(syscall.SIGTERM)
		select {
		case <-c.exited:
		case <-time.After(csiGrace):
		}
		c.signal(syscall.SIGKILL) // the child, or what remains of its process group
		<-c.exited
	})
}

// signal signals the child's whole process group.
func (c *csi) signal(s syscall.Signal) { _ = syscall.Kill(-c.cmd.Process.Pid, s) }

// A raw picture is three planes, one after the other: luma, then the two colour
// differences at half the width and height (YUV 4:2:0, "I420"). The driver pads every
// row, so that a picture of 1000 pixels' width comes in rows of 1024 bytes:
//
//	|<------ width ----->|pad|   × height      Y
//	|<- width/2 ->|pad|          × height/2    U
//	|<- width/2 ->|pad|          × height/2    V
func (o CSIOptions) stride() int  { return (o.Width + o.RowAlign - 1) / o.RowAlign * o.RowAlign }
func (o CSIOptions) rawSize() int { return o.stride() * o.Height * 3 / 2 }

// frame converts a raw picture. The luma plane is the grey picture.
func (o CSIOptions) frame(raw []byte) vision.Frame {
	stride, w, h := o.stride(), o.Width, o.Height
	gray := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		copy(gray.Pix[y*w:(y+1)*w], raw[y*stride:])
	}
	f := vision.Frame{Gray: gray}
	if !o.GrayOnly {
		u := raw[stride*h:]
		f.Color = bgrFromYUV(raw, u, u[stride/2*(h/2):], stride, w, h)
	}
	return f
}

// bgrFromYUV converts to colour for people. rpicam-vid's video is BT.709 with luma 16…235 and
// colour differences 16…240; the factors are those of ITU-R BT.709 in 1/256.
func bgrFromYUV(yp, up, vp []byte, stride, w, h int) *vision.BGR {
	pix := make([]byte, 3*w*h)
	for y := range h {
		lu := yp[y*stride : y*stride+w]
		cu := up[y/2*(stride/2):]
		cv := vp[y/2*(stride/2):]
		out := pix[3*y*w : 3*(y+1)*w]
		for x := 0; x < w; x += 2 {
			u, v := int32(cu[x/2])-128, int32(cv[x/2])-128
			db, dg, dr := 541*u+128, -55*u-137*v+128, 459*v+128
			for k := x; k < x+2; k++ {
				l := 298 * (int32(lu[k]) - 16)
				out[3*k] = clamp8((l + db) >> 8)
				out[3*k+1] = clamp8((l + dg) >> 8)
				out[3*k+2] = clamp8((l + dr) >> 8)
			}
		}
	}
	return &vision.BGR{Pix: pix, Width: w, Height: h}
}

func clamp8(v int32) byte { return byte(max(0, min(255, v))) }

// maxJPEG limits the size of a JPEG picture, so that another kind of stream does not fill the
// memory.
const maxJPEG = 64 << 20

// readJPEG returns the next whole JPEG picture of a stream, from its SOI to its EOI marker, and
// skips anything before SOI. It follows the segments' lengths (ITU-T T.81, annex B), so a preview
// inside a segment does not end the picture.
func readJPEG(r *bufio.Reader) ([]byte, error) {
	if err := skipToSOI(r); err != nil {
		return nil, err
	}
	b := bytes.NewBuffer([]byte{0xff, 0xd8})
	for b.Len() < maxJPEG {
		marker, err := copyToMarker(b, r)
		if err != nil {
			return nil, noEOF(err)
		}
		switch {
		case marker == 0xd9: // end of image
			return b.Bytes(), nil
		case marker == 0, marker == 0x01, marker >= 0xd0 && marker <= 0xd7:
			continue // a coded 0xff, or a marker without a segment
		}
		var size [2]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return nil, noEOF(err)
		}
		b.Write(size[:])
		if _, err := io.CopyN(b, r, int64(binary.BigEndian.Uint16(size[:]))-2); err != nil {
			return nil, noEOF(err)
		}
	}
	return nil, fmt.Errorf("no end of a JPEG picture in %d MB", maxJPEG>>20)
}

// noEOF turns an end of the stream inside a picture into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// skipToSOI reads past the next start-of-image marker.
func skipToSOI(r *bufio.Reader) error {
	for last, n := byte(0), 0; n < maxJPEG; n++ {
		c, err := r.ReadByte()
		if err != nil {
			return err
		}
		if last == 0xff && c == 0xd8 {
			return nil
		}
		last = c
	}
	return fmt.Errorf("no JPEG picture in %d MB", maxJPEG>>20)
}

// copyToMarker copies bytes up to and including the next marker and returns its code, 0 for a coded
// 0xff.
func copyToMarker(b *bytes.Buffer, r *bufio.Reader) (byte, error) {
	for b.Len() < maxJPEG {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		b.WriteByte(c)
		for c == 0xff { // any number of 0xff may stand before the code
			if c, err = r.ReadByte(); err != nil {
				return 0, err
			}
			b.WriteByte(c)
			if c != 0xff {
				return c, nil
			}
		}
	}
	return 0, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// tailSize is how much of the child's output is kept.
const tailSize = 4096

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		if line := bytes.IndexByte(t.buf[extra:], '\n'); line >= 0 { // begin with a whole line
			extra += line + 1
		}
		t.buf = append(t.buf[:0], t.buf[extra:]...)
	}
	return len(p), nil
}

// info returns the exposure time, µs, and the analogue gain in rpicam-vid's line about the last
// picture ("#12 (30.00 fps) exp 9999.00 ag 1.50 dg 1.00").
func (t *tail) info() (exposure, gain float64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(string(t.buf), "\n")
	for _, line := range slices.Backward(lines[:len(lines)-1]) { // the last line may be incomplete
		if !strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		for i := range len(words) - 1 {
			v, err := strconv.ParseFloat(words[i+1], 64)
			switch {
			case err != nil:
			case words[i] == "exp":
				exposure = v
			case words[i] == "ag":
				gain = v
			}
		}
		return exposure, gain, exposure > 0 && gain > 0
	}
	return 0, 0, false
}

// last returns the last three lines as one, without rpicam-vid's lines about pictures ("#12 (30.00
// fps) exp …").
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(string(t.buf)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}
