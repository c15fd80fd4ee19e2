package lens

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sightline/calibration"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isOpenCVFile reports whether a YAML file is from OpenCV's cv::FileStorage: its first
// line is a directive that YAML does not know, and its matrices have OpenCV's tag.
func isOpenCVFile(raw []byte) bool {
	directive := bytes.HasPrefix(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), []byte("%YAML:1.0"))
	return directive || bytes.Contains(raw, []byte("!!opencv-matrix"))
}

// The alternative names in the files of OpenCV's samples and tools.
var (
	openCVMatrix     = []string{"camera_matrix", "Camera_Matrix", "cameraMatrix", "camera_Matrix", "K", "M"}
	openCVDistortion = []string{"distortion_coefficients", "Distortion_Coefficients", "distCoeffs", "dist_coeffs", "D"}
	openCVWidth      = []string{"image_width", "image_Width", "imageWidth", "width"}
	openCVHeight     = []string{"image_height", "image_Height", "imageHeight", "height"}
	openCVError      = []string{"avg_reprojection_error", "Avg_Reprojection_Error", "rms"}
	openCVViews      = []string{"nframes", "nr_of_frames", "nrOfFrames"}
	openCVFisheye    = []string{"fisheye_model", "fisheye"}
)

// openCVFile holds the top-level keys of an OpenCV file.
type openCVFile map[string]*yaml.Node

// find returns the first of the names that the file has, and its node; nil for none.
func (f openCVFile) find(names []string) (string, *yaml.Node) {
	for _, name := range names {
		if n, ok := f[name]; ok {
			return name, n
		}
	}
	return names[0], nil
}

// number returns a finite number. It reports false when the file does not have it.
func (f openCVFile) number(names []string) (v float64, ok bool, err error) {
	key, n := f.find(names)
	if n == nil {
		return 0, false, nil
	}
	if err := n.Decode(&v); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false, fmt.Errorf("%s: expected a number, got %.40q", key, n.Value)
	}
	return v, true, nil
}

// matrix returns a required matrix.
func (f openCVFile) matrix(names []string) (key string, m calibration.MatrixFile, err error) {
	key, n := f.find(names)
	if n == nil {
		return key, m, fmt.Errorf("%s: is not there", key)
	}
	if n.Kind != yaml.MappingNode {
		return key, m, fmt.Errorf("%s: expected a matrix (rows, cols, dt, data)", key)
	}
	if err := n.Decode(&m); err != nil {
		return key, m, fmt.Errorf("%s: expected a matrix (rows, cols, dt, data)", key)
	}
	return key, m, nil
}

// parseOpenCVLens reads a lens as OpenCV's calibration sample writes it with
// cv::FileStorage (docs.opencv.org, "Camera calibration with OpenCV"). It ignores keys
// that a lens does not need. A model other than plumb_bob is an error.
func parseOpenCVLens(raw []byte) (in calibration.Intrinsics, err error) {
	f, err := openCVKeys(raw)
	if err != nil {
		return in, err
	}
	for _, read := range []func(*calibration.Intrinsics) error{f.size, f.pinhole, f.distortion, f.quality} {
		if err := read(&in); err != nil {
			return in, err
		}
	}
	return in, in.Validate()
}

// size reads the picture's size.
func (f openCVFile) size(in *calibration.Intrinsics) error {
	for _, side := range []struct {
		names []string
		to    *int
	}{{openCVWidth, &in.Width}, {openCVHeight, &in.Height}} {
		v, ok, err := f.number(side.names)
		if err != nil {
			return err
		}
		if !ok || v != math.Trunc(v) || v < 1 || v > 1e6 {
			return fmt.Errorf("%s: expected the picture's size in pixels, which this OpenCV file must say: add image_width and image_height",
				side.names[0])
		}
		*side.to = int(v)
	}
	return nil
}

// pinhole reads the camera matrix.
func (f openCVFile) pinhole(in *calibration.Intrinsics) error {
	if v, ok, err := f.number(openCVFisheye); err != nil {
		return err
	} else if ok && v != 0 {
		return errors.New("fisheye_model: a fisheye lens is not supported: calibrate with `sightline calibrate lens`, which uses plumb_bob")
	}
	key, k, err := f.matrix(openCVMatrix)
	if err == nil {
		err = k.Check(key, 3, 3)
	}
	if err != nil {
		return err
	}
	if d := k.Data; d[1] != 0 || d[3] != 0 || d[6] != 0 || d[7] != 0 || d[8] != 1 {
		return fmt.Errorf("%s: expected [fx 0 cx, 0 fy cy, 0 0 1]", key)
	}
	in.Fx, in.Fy, in.Cx, in.Cy = k.Data[0], k.Data[4], k.Data[2], k.Data[5]
	return nil
}

// distortion reads the distortion coefficients.
func (f openCVFile) distortion(in *calibration.Intrinsics) error {
	key, d, err := f.matrix(openCVDistortion)
	if err != nil {
		return err
	}
	if min(d.Rows, d.Cols) != 1 || max(d.Rows, d.Cols) != len(d.Data) {
		return fmt.Errorf("%s: expected one row or column, got %d×%d with %d numbers", key, d.Rows, d.Cols, len(d.Data))
	}
	switch len(d.Data) {
	case 4, 5, 8, 12, 14:
	default:
		return fmt.Errorf("%s: expected 4, 5, 8, 12 or 14 numbers, got %d", key, len(d.Data))
	}
	n := copy(in.Distortion[:], d.Data)
	for i, v := range d.Data[n:] {
		if v != 0 {
			return fmt.Errorf("%s: number %d is %g: the rational, thin prism and tilted models are not supported, "+
				"only plumb_bob (k1 k2 p1 p2 k3)", key, n+i+1, v)
		}
	}
	return nil
}

// quality reads the number of views and their rms, if the file has both.
func (f openCVFile) quality(in *calibration.Intrinsics) error {
	views, ok, err := f.number(openCVViews)
	if err != nil {
		return err
	}
	rms, ok2, err := f.number(openCVError)
	if err != nil {
		return err
	}
	if ok && ok2 && views >= 1 && views == math.Trunc(views) && views < 1e6 && rms >= 0 {
		in.Views, in.RMS = int(views), rms
	}
	return nil
}

// openCVKeys returns the file's top-level keys.
func openCVKeys(raw []byte) (openCVFile, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(raw, []byte("%YAML")) {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("not a file of OpenCV's: %s", strings.Join(strings.Fields(err.Error()), " "))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the file is empty, expected a lens as OpenCV writes it (camera_matrix, distortion_coefficients, image_width, " +
			"image_height)")
	}
	keys := openCVFile{}
	content := doc.Content[0].Content
	for i := 0; i+1 < len(content); i += 2 {
		n := content[i+1]
		if strings.HasSuffix(n.Tag, "opencv-matrix") {
			n = openCVMatrixNode(n)
		}
		keys[content[i].Value] = n
	}
	return keys, nil
}

// openCVMatrixNode returns a matrix without its tag and without unused keys.
func openCVMatrixNode(n *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: n.Kind, Tag: "!!map", Line: n.Line}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch n.Content[i].Value {
		case "rows", "cols", "data":
			out.Content = append(out.Content, n.Content[i], n.Content[i+1])
		}
	}
	return out
}
