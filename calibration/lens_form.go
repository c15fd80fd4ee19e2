package calibration

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"
)

// MatrixFile is a matrix as ROS camera_info writes it, row by row.
type MatrixFile struct {
	Rows int     `json:"rows" yaml:"rows"`
	Cols int     `json:"cols" yaml:"cols"`
	Data numbers `json:"data" yaml:"data,flow"`
}

// numbers decode null as NaN; the decoders would make it 0.
type numbers []float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *numbers) UnmarshalJSON(raw []byte) error {
	var some []*float64
	err := json.Unmarshal(raw, &some)
	*n = numbersOf(some)
	return err
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *numbers) UnmarshalYAML(node *yaml.Node) error {
	var some []*float64
	err := node.Decode(&some)
	*n = numbersOf(some)
	return err
}

func numbersOf(some []*float64) numbers {
	if some == nil {
		return nil
	}
	n := numbers{}
	for _, v := range some {
		if v == nil {
			n = append(n, math.NaN())
		} else {
			n = append(n, *v)
		}
	}
	return n
}

// check reports a list of another length or with a null, naming its key.
func (n numbers) check(key string, length int) error {
	if len(n) != length {
		return fmt.Errorf("%s: expected %d numbers, got %d", key, length, len(n))
	}
	if i := slices.IndexFunc(n, math.IsNaN); i >= 0 {
		return fmt.Errorf("%s[%d]: expected a finite number, got none", key, i)
	}
	return nil
}

// Check reports a matrix of another shape than expected, naming its key.
func (m MatrixFile) Check(key string, rows, cols int) error {
	if m.Rows != rows || m.Cols != cols || len(m.Data) != rows*cols {
		return fmt.Errorf("%s: expected %d rows, %d cols and %d numbers in data, got %d, %d and %d",
			key, rows, cols, rows*cols, m.Rows, m.Cols, len(m.Data))
	}
	if i := slices.IndexFunc(m.Data, math.IsNaN); i >= 0 {
		return fmt.Errorf("%s: data[%d]: expected a finite number, got none", key, i)
	}
	return nil
}

// LensFile is the file form of a lens: the keys of ROS camera_info and four of our own.
// Keys of camera_info that a lens does not need are ignored.
type LensFile struct {
	Hash                   string     `json:"hash,omitempty" yaml:"hash,omitempty"` // of all else, see document.Hash
	ImageWidth             int        `json:"image_width" yaml:"image_width"`
	ImageHeight            int        `json:"image_height" yaml:"image_height"`
	CameraName             any        `json:"camera_name,omitempty" yaml:"camera_name,omitempty"`
	CameraMatrix           MatrixFile `json:"camera_matrix" yaml:"camera_matrix"`
	DistortionModel        string     `json:"distortion_model" yaml:"distortion_model"`
	DistortionCoefficients MatrixFile `json:"distortion_coefficients" yaml:"distortion_coefficients"`
	RectificationMatrix    any        `json:"rectification_matrix,omitempty" yaml:"rectification_matrix,omitempty"`
	ProjectionMatrix       any        `json:"projection_matrix,omitempty" yaml:"projection_matrix,omitempty"`
	BinningX               any        `json:"binning_x,omitempty" yaml:"binning_x,omitempty"`
	BinningY               any        `json:"binning_y,omitempty" yaml:"binning_y,omitempty"`
	ROI                    any        `json:"roi,omitempty" yaml:"roi,omitempty"`
	Header                 any        `json:"header,omitempty" yaml:"header,omitempty"`

	RMS        *float64 `json:"rms_px,omitempty" yaml:"rms_px,omitempty"`
	Views      *int     `json:"views,omitempty" yaml:"views,omitempty"`
	Covariance numbers  `json:"covariance,omitempty" yaml:"covariance,omitempty,flow"` // row-major 9×9, see Intrinsics
}

// NewLensFile returns the file form of a lens.
func NewLensFile(in Intrinsics) LensFile {
	f := LensFile{
		ImageWidth:  in.Width,
		ImageHeight: in.Height,
		CameraMatrix: MatrixFile{Rows: 3, Cols: 3,
			Data: []float64{in.Fx, 0, in.Cx, 0, in.Fy, in.Cy, 0, 0, 1}},
		DistortionModel:        "plumb_bob",
		DistortionCoefficients: MatrixFile{Rows: 1, Cols: 5, Data: append([]float64(nil), in.Distortion[:]...)},
		Covariance:             in.Covariance,
	}
	if in.Views > 0 {
		f.RMS, f.Views = &in.RMS, &in.Views
	}
	return f
}

// Intrinsics checks the file form and returns the lens. Errors name the key.
func (f LensFile) Intrinsics() (Intrinsics, error) {
	if f.DistortionModel != "plumb_bob" {
		return Intrinsics{}, fmt.Errorf("distortion_model: expected plumb_bob, got %q", f.DistortionModel)
	}
	if err := f.CameraMatrix.Check("camera_matrix", 3, 3); err != nil {
		return Intrinsics{}, err
	}
	k := f.CameraMatrix.Data
	if k[1] != 0 || k[3] != 0 || k[6] != 0 || k[7] != 0 || k[8] != 1 {
		return Intrinsics{}, errors.New("camera_matrix: expected [fx 0 cx, 0 fy cy, 0 0 1]")
	}
	d := f.DistortionCoefficients
	if len(d.Data) == 4 { // k3 left out, as OpenCV does
		d.Data = append(append([]float64(nil), d.Data...), 0)
		d.Rows, d.Cols = max(d.Rows, d.Cols)/4, min(d.Rows, d.Cols)*5
	}
	if d.Cols == 1 { // OpenCV writes it as a column
		d.Rows, d.Cols = d.Cols, d.Rows
	}
	if err := d.Check("distortion_coefficients", 1, 5); err != nil {
		return Intrinsics{}, err
	}
	in := Intrinsics{Width: f.ImageWidth, Height: f.ImageHeight, Fx: k[0], Fy: k[4], Cx: k[2], Cy: k[5], Covariance: f.Covariance}
	copy(in.Distortion[:], d.Data)
	if f.RMS != nil {
		if !(*f.RMS >= 0) || math.IsInf(*f.RMS, 0) {
			return Intrinsics{}, fmt.Errorf("rms_px: expected a number of pixels, got %v", *f.RMS)
		}
		in.RMS = *f.RMS
	}
	if f.Views != nil {
		if *f.Views < 0 {
			return Intrinsics{}, fmt.Errorf("views: expected a number of pictures, got %d", *f.Views)
		}
		in.Views = *f.Views
	}
	if err := checkCovariance("covariance", in.Covariance, 9); err != nil {
		return Intrinsics{}, err
	}
	return in, in.Validate()
}

// checkCovariance reports an invalid covariance, naming its key: not n×n, not finite, or
// with a negative variance. Nil means unknown and is valid.
func checkCovariance(key string, c []float64, n int) error {
	if c == nil {
		return nil
	}
	if len(c) != n*n {
		return fmt.Errorf("%s: expected %d numbers (%d×%d), got %d", key, n*n, n, n, len(c))
	}
	for i, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) || (i%(n+1) == 0 && v < 0) {
			return fmt.Errorf("%s: expected finite numbers with positive variances, got %v at %d", key, v, i)
		}
	}
	return nil
}
