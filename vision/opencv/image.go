//go:build opencv

package opencv

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"os"

	"gocv.io/x/gocv"

	"sightline/calibration/regularfile"
	"sightline/vision"
	"sightline/vision/capture"
)

// ReadImage reads a picture file into a frame, grey and colour from one decoding. It does not apply
// the EXIF orientation, because a lens calibration is in the sensor's pixels. A missing, empty,
// truncated or unreadable file is an error that names it.
func ReadImage(path string) (vision.Frame, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return vision.Frame{}, fmt.Errorf("opencv: read image %s: is a directory, expected a picture", path)
	}
	raw, err := readPictureFile(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return vision.Frame{}, fmt.Errorf("opencv: read image %s: %w", path, err)
	}
	f, err := DecodeImage(raw)
	if err != nil {
		return vision.Frame{}, fmt.Errorf("opencv: read image %s: %w", path, err)
	}
	f.Name = path
	f.Captured = info.ModTime()
	return f, nil
}

// readPictureFile reads a file, or one byte more than a picture may have.
func readPictureFile(path string) ([]byte, error) {
	f, err := regularfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, capture.MaxPictureFile+1))
}

// DecodeImage decodes the content of a picture file (JPEG, PNG and other formats of OpenCV) into a
// frame, like ReadImage.
func DecodeImage(raw []byte) (vision.Frame, error) {
	if err := checkFile(raw); err != nil {
		return vision.Frame{}, err
	}
	return decodeFrame(raw)
}

// checkFile reports a picture file that is cut off or damaged.
func checkFile(raw []byte) error {
	if err := checkComplete(raw); err != nil || !bytes.HasPrefix(raw, []byte("\xff\xd8")) {
		return err
	}
	return checkScans(raw)
}

// decodeFrame decodes a picture from a camera on this machine. It omits [checkScans], which would
// take longer than decoding.
func decodeFrame(raw []byte) (vision.Frame, error) {
	if err := checkComplete(raw); err != nil {
		return vision.Frame{}, err
	}
	m, err := gocv.IMDecode(raw, gocv.IMReadColor|gocv.IMReadIgnoreOrientation)
	if err != nil {
		return vision.Frame{}, fmt.Errorf("not a picture that can be read: %w", err)
	}
	defer m.Close()
	return FrameFromMat(m)
}

// FrameFromMat copies a picture out of OpenCV's memory: an 8-bit Mat with one channel (grey) or
// three (BGR). The caller keeps the Mat.
func FrameFromMat(m gocv.Mat) (vision.Frame, error) {
	if m.Empty() {
		return vision.Frame{}, errors.New("not a picture that can be read")
	}
	w, h := m.Cols(), m.Rows()
	switch m.Type() {
	case gocv.MatTypeCV8UC1:
		return vision.Frame{Gray: &image.Gray{Pix: m.ToBytes(), Stride: w, Rect: image.Rect(0, 0, w, h)}}, nil
	case gocv.MatTypeCV8UC3:
		gray := gocv.NewMat()
		defer gray.Close()
		if err := gocv.CvtColor(m, &gray, gocv.ColorBGRToGray); err != nil {
			return vision.Frame{}, fmt.Errorf("to grey: %w", err)
		}
		return vision.Frame{
			Gray:  &image.Gray{Pix: gray.ToBytes(), Stride: w, Rect: image.Rect(0, 0, w, h)},
			Color: &vision.BGR{Pix: m.ToBytes(), Width: w, Height: h},
		}, nil
	}
	return vision.Frame{}, fmt.Errorf("picture of type %v, expected 8-bit grey or BGR", m.Type())
}

// matFromGray copies a grey picture of any stride into a Mat, which the caller
// must close. (A Mat over Go's memory would need that memory to be kept alive.)
func matFromGray(g *image.Gray) (gocv.Mat, error) {
	if g == nil || g.Rect.Empty() {
		return gocv.Mat{}, errors.New("no picture")
	}
	w, h := g.Rect.Dx(), g.Rect.Dy()
	m := gocv.NewMatWithSize(h, w, gocv.MatTypeCV8UC1)
	dst, err := m.DataPtrUint8()
	if err != nil {
		m.Close()
		return gocv.Mat{}, err
	}
	for y := range h {
		copy(dst[y*w:(y+1)*w], g.Pix[y*g.Stride:y*g.Stride+w])
	}
	return m, nil
}
