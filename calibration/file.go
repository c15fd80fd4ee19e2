package calibration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"sightline/calibration/regular"
)

// matrixFile is a matrix as ROS camera_info writes it, row by row.
type matrixFile struct {
	Rows int     `json:"rows" yaml:"rows"`
	Cols int     `json:"cols" yaml:"cols"`
	Data numbers `json:"data" yaml:"data,flow"`
}

// numbers are read with NaN for a null, which the decoders would make a 0.
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

func numbersOf(some []*float64) (n numbers) {
	for _, v := range some {
		if v == nil {
			n = append(n, math.NaN())
		} else {
			n = append(n, *v)
		}
	}
	return n
}

// check reports a matrix of another shape than expected, naming its key.
func (m matrixFile) check(key string, rows, cols int) error {
	if m.Rows != rows || m.Cols != cols || len(m.Data) != rows*cols {
		return fmt.Errorf("%s: expected %d rows, %d cols and %d numbers in data, got %d, %d and %d",
			key, rows, cols, rows*cols, m.Rows, m.Cols, len(m.Data))
	}
	if i := slices.IndexFunc(m.Data, math.IsNaN); i >= 0 {
		return fmt.Errorf("%s: data[%d]: expected a finite number, got none", key, i)
	}
	return nil
}

// lensFile is a lens as the file holds it: the keys of ROS camera_info and four
// of our own. Keys that camera_info has and a lens does not need are read over.
type lensFile struct {
	Hash                   string     `json:"hash,omitempty" yaml:"hash,omitempty"` // of all else, see hashOfFile
	ImageWidth             int        `json:"image_width" yaml:"image_width"`
	ImageHeight            int        `json:"image_height" yaml:"image_height"`
	CameraName             any        `json:"camera_name,omitempty" yaml:"camera_name,omitempty"`
	CameraMatrix           matrixFile `json:"camera_matrix" yaml:"camera_matrix"`
	DistortionModel        string     `json:"distortion_model" yaml:"distortion_model"`
	DistortionCoefficients matrixFile `json:"distortion_coefficients" yaml:"distortion_coefficients"`
	RectificationMatrix    any        `json:"rectification_matrix,omitempty" yaml:"rectification_matrix,omitempty"`
	ProjectionMatrix       any        `json:"projection_matrix,omitempty" yaml:"projection_matrix,omitempty"`
	BinningX               any        `json:"binning_x,omitempty" yaml:"binning_x,omitempty"`
	BinningY               any        `json:"binning_y,omitempty" yaml:"binning_y,omitempty"`
	ROI                    any        `json:"roi,omitempty" yaml:"roi,omitempty"`
	Header                 any        `json:"header,omitempty" yaml:"header,omitempty"`

	RMS        *float64  `json:"rms_px,omitempty" yaml:"rms_px,omitempty"`
	Views      *int      `json:"views,omitempty" yaml:"views,omitempty"`
	Covariance []float64 `json:"covariance,omitempty" yaml:"covariance,omitempty,flow"` // row-major 9×9, see Intrinsics
}

// newLensFile writes a lens into its file form.
func newLensFile(in Intrinsics) lensFile {
	f := lensFile{
		ImageWidth:  in.Width,
		ImageHeight: in.Height,
		CameraMatrix: matrixFile{Rows: 3, Cols: 3,
			Data: []float64{in.Fx, 0, in.Cx, 0, in.Fy, in.Cy, 0, 0, 1}},
		DistortionModel:        "plumb_bob",
		DistortionCoefficients: matrixFile{Rows: 1, Cols: 5, Data: append([]float64(nil), in.Distortion[:]...)},
		Covariance:             in.Covariance,
	}
	if in.Views > 0 {
		f.RMS, f.Views = &in.RMS, &in.Views
	}
	return f
}

// lens checks the file form and turns it into a lens. Its errors name the key.
func (f lensFile) lens() (Intrinsics, error) {
	if f.DistortionModel != "plumb_bob" {
		return Intrinsics{}, fmt.Errorf("distortion_model: expected plumb_bob, got %q", f.DistortionModel)
	}
	if err := f.CameraMatrix.check("camera_matrix", 3, 3); err != nil {
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
	if err := d.check("distortion_coefficients", 1, 5); err != nil {
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

// checkCovariance reports a covariance that is none, naming its key: not n×n, not
// finite, or with a negative variance. Nil is allowed: it is unknown.
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

// LoadLens reads a lens file, JSON or YAML by its ending (.json, .yaml, .yml). An
// unknown key is an error that names it.
func LoadLens(path string) (Intrinsics, error) {
	in, _, err := LoadLensFile(path)
	return in, err
}

// LoadLensFile is LoadLens, and says whether the file is as the program wrote it.
func LoadLensFile(path string) (in Intrinsics, info FileInfo, err error) {
	isYAML, err := lensFormat(path)
	var raw []byte
	if err == nil {
		raw, err = readFile(path)
	}
	if err == nil {
		in, err = parseLens(raw, isYAML)
	}
	if err == nil {
		// OpenCV's files hold no hash; theirs is that of the same lens in a file of ours.
		sealed, sealedYAML := raw, isYAML
		if isYAML && isOpenCVFile(raw) {
			sealedYAML = false
			sealed, err = MarshalLens(in)
		}
		if err == nil {
			info.Integrity, info.Hash, err = integrityOf(sealed, sealedYAML)
		}
		if isYAML && isOpenCVFile(raw) {
			info.Integrity = Unsealed
		}
	}
	if err != nil {
		return Intrinsics{}, FileInfo{}, fmt.Errorf("calibration: load lens %s: %w", path, err)
	}
	return in, info, nil
}

// SaveLens writes a lens file, JSON or YAML by its ending: StoreLens for those who do
// not ask under which name an older file is kept.
func SaveLens(path string, in Intrinsics) error {
	_, err := StoreLens(path, in)
	return err
}

// StoreLens writes a lens file, JSON or YAML by its ending, whole or not at all. What
// the file held before is kept in the same directory; StoreLens returns its new name,
// or "" when there was nothing to keep.
func StoreLens(path string, in Intrinsics) (kept string, err error) {
	raw, err := formatLens(path, in)
	if err == nil {
		kept, err = realStore.save(path, raw)
	}
	if err != nil {
		return "", fmt.Errorf("calibration: save lens %s: %w", path, err)
	}
	return kept, nil
}

func formatLens(path string, in Intrinsics) ([]byte, error) {
	isYAML, err := lensFormat(path)
	if err != nil {
		return nil, err
	}
	f := newLensFile(in)
	if _, err := f.lens(); err != nil {
		return nil, err
	}
	marshal := marshalJSON
	if isYAML {
		marshal = marshalYAML
	}
	return sealed(isYAML, func(hash string) ([]byte, error) {
		f.Hash = hash
		return marshal(f)
	})
}

// sealed returns a file that holds the hash of its own content. write writes it with
// a hash, or without one when that is "".
func sealed(isYAML bool, write func(hash string) ([]byte, error)) ([]byte, error) {
	raw, err := write("")
	if err != nil {
		return nil, err
	}
	_, sum, err := readHash(raw, isYAML)
	if err != nil {
		return nil, err
	}
	return write(sum)
}

// marshalYAML writes one YAML document with a line that ends it.
func marshalYAML(v any) ([]byte, error) {
	raw, err := yaml.Marshal(v)
	return append(raw, yamlEnd+"\n"...), err
}

// CheckLensPath reports a path that SaveLens could not write to because of its
// ending, so that a command can say so before it works for a minute.
func CheckLensPath(path string) error {
	if _, err := lensFormat(path); err != nil {
		return fmt.Errorf("calibration: lens file %s: %w", path, err)
	}
	return nil
}

// lensFormat tells YAML from JSON by the file's ending.
func lensFormat(path string) (isYAML bool, err error) {
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".json" || isYAMLName(path) {
		return isYAMLName(path), nil
	}
	return false, fmt.Errorf("file ending %q: expected .json, .yaml or .yml", ext)
}

func parseLens(raw []byte, isYAML bool) (Intrinsics, error) {
	if isYAML && isOpenCVFile(raw) {
		return parseOpenCVLens(raw)
	}
	var f lensFile
	decode := decodeJSON
	if isYAML {
		decode = decodeYAML
	}
	if err := decode(raw, &f); err != nil {
		if !isYAML && kindOf(raw) == "table" {
			err = errors.New("it is a table calibration, expected a lens file")
		}
		return Intrinsics{}, err
	}
	return f.lens()
}

// kindOf tells a table calibration and a lens file apart by the keys that only one
// of them has, for an error that says what a foreign file is.
func kindOf(raw []byte) string {
	var keys struct {
		Camera json.RawMessage `json:"camera"`
		Matrix json.RawMessage `json:"camera_matrix"`
	}
	switch err := decodeLoose(raw, &keys); {
	case err != nil:
		return ""
	case keys.Camera != nil:
		return "table"
	case keys.Matrix != nil:
		return "lens"
	}
	return ""
}

// decodeJSON decodes exactly one JSON document without unknown keys.
func decodeJSON(raw []byte, to any) error { return decodeJSONDocument(raw, to, true) }

// decodeLoose decodes exactly one JSON document and leaves out unknown keys.
func decodeLoose(raw []byte, to any) error { return decodeJSONDocument(raw, to, false) }

func decodeJSONDocument(raw []byte, to any, strict bool) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(to)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty, expected JSON")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the file is cut off: its JSON does not end")
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: not JSON: %w", lineOf(raw, syntax.Offset), err)
	case errors.As(err, &kind):
		if kind.Field == "" {
			return fmt.Errorf("line %d: expected %s, got %s", lineOf(raw, kind.Offset), kindName(kind.Type.String()), kind.Value)
		}
		return fmt.Errorf("line %d: key %q: expected %s, got %s", lineOf(raw, kind.Offset), kind.Field, kindName(kind.Type.String()), kind.Value)
	case err != nil:
		if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return fmt.Errorf("unknown key %s", key)
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("line %d: something follows the JSON document", lineOf(raw, d.InputOffset()))
	}
	return nil
}

// kindName says a Go type in words that someone who wrote a file understands.
func kindName(t string) string {
	switch {
	case strings.HasPrefix(t, "[]"):
		return "a list"
	case t == "int", strings.HasPrefix(t, "uint"):
		return "a whole number"
	case t == "float64":
		return "a number"
	case t == "string":
		return "a text"
	}
	return "an object"
}

// lineOf returns the line, from 1, of a byte offset.
func lineOf(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(max(offset, 0), int64(len(raw)))], []byte("\n"))
}

var yamlUnknown = regexp.MustCompile(`line (\d+): field (.*) not found in type`)

// decodeYAML decodes exactly one YAML document without unknown keys.
func decodeYAML(raw []byte, to any) error {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	err := d.Decode(to)
	if errors.Is(err, io.EOF) {
		return errors.New("the file is empty, expected YAML")
	}
	if err != nil {
		if m := yamlUnknown.FindStringSubmatch(err.Error()); m != nil {
			return fmt.Errorf("line %s: unknown key %q", m[1], m[2])
		}
		return errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("something follows the YAML document")
	}
	return nil
}

// marshalJSON writes a value for people and programs: indented, lists of numbers
// on one line, a line end at the end.
func marshalJSON(v any) ([]byte, error) {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(numberList.ReplaceAllFunc(raw, func(list []byte) []byte {
		return []byte(strings.Join(strings.Fields(string(list)), " "))
	}), '\n'), nil
}

// numberList is an indented JSON list of nothing but numbers.
var numberList = regexp.MustCompile(`\[\s+[-+0-9.eE]+(,\s+[-+0-9.eE]+)*\s+\]`)

// maxFile is far more than any lens or table file holds. Without a limit, a device
// or a wrong file would fill the memory.
const maxFile = 4 << 20

// readFile reads a file with an error that does not say the path twice.
func readFile(path string) ([]byte, error) {
	raw, err := regular.Read(path, maxFile)
	return raw, plain(err)
}

// MarshalLens returns the lens as its JSON file would hold it.
func MarshalLens(in Intrinsics) ([]byte, error) { return formatLens("lens.json", in) }
