package lens_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
)

// openCVYAML is what OpenCV's calibration sample writes with cv::FileStorage.
const openCVYAML = `%YAML:1.0
---
calibration_time: "Sat Nov 21 10:00:00 2026"
nframes: 13
image_width: 640
image_height: 480
square_size: 2.5e-02
flags: 2
camera_matrix: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 5.359e+02, 0., 3.422e+02, 0.,
       5.361e+02, 2.355e+02, 0., 0., 1. ]
distortion_coefficients: !!opencv-matrix
   rows: 5
   cols: 1
   dt: d
   data: [ -2.66e-01, -3.85e-02,
       1.78e-03, -2.81e-04, 2.38e-01 ]
avg_reprojection_error: 3.92e-01
image_points: !!opencv-matrix
   rows: 1
   cols: 1
   dt: "2f"
   data: [ 2., 3. ]
`

func TestALensOfOpenCVIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "camera.yml")
	want := calibration.Intrinsics{Width: 640, Height: 480, Fx: 535.9, Fy: 536.1, Cx: 342.2, Cy: 235.5,
		Distortion: [5]float64{-0.266, -0.0385, 0.00178, -0.000281, 0.238}, RMS: 0.392, Views: 13}
	for name, file := range map[string]string{
		"as the sample writes it": openCVYAML,
		"of another tool": strings.NewReplacer("camera_matrix", "Camera_Matrix", "distortion_coefficients", "Distortion_Coefficients",
			"image_width", "image_Width", "image_height", "image_Height").Replace(openCVYAML),
		"with carriage returns":     strings.ReplaceAll(openCVYAML, "\n", "\r\n"),
		"with a byte order mark":    "\ufeff" + openCVYAML,
		"with a rational model's 0": strings.NewReplacer("rows: 5", "rows: 8", "2.38e-01 ]", "2.38e-01, 0., 0., 0. ]").Replace(openCVYAML),
	} {
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		in, _, err := lens.Load(path)
		require.NoError(t, err, name)
		assert.Equal(t, want, in, name)
	}
	// Written again it is one of ours.
	in, _, err := lens.Load(path)
	require.NoError(t, err)
	require.NoError(t, lens.Save(path, in))
	again, _, err := lens.Load(path)
	require.NoError(t, err)
	assert.Equal(t, in, again)
}

func TestALensOfOpenCVThatCannotBeUsedSaysWhy(t *testing.T) {
	for want, change := range map[string][]string{
		"rational, thin prism and tilted":  {"rows: 5", "rows: 8", "2.38e-01 ]", "2.38e-01, 0.1, 0., 0. ]"},
		"a fisheye lens is not supported":  {"flags: 2", "fisheye_model: 1"},
		"image_width":                      {"image_width: 640", ""},
		"image_height":                     {"image_height: 480", "image_height: 48.5"},
		"camera_matrix: is not there":      {"camera_matrix", "other"},
		"camera_matrix: expected 3 rows":   {"0., 0., 1. ]", "0., 0. ]"},
		"camera_matrix: expected [fx 0 cx": {"5.359e+02, 0.,", "5.359e+02, 4.,"},
		"camera_matrix: expected a matrix": {"5.359e+02", "red"},
		"distortion_coefficients: expected 4": {"rows: 5", "rows: 2", "[ -2.66e-01, -3.85e-02,\n       1.78e-03, -2.81e-04, 2.38e-01 ]",
			"[ 1., 2. ]"},
		"distortion_coefficients: expected o": {"rows: 5", "rows: 7"},
		"focal lengths must be positive":      {"5.359e+02", "-5."},
		"finite":                              {"-2.66e-01", ".nan"},
		"not a file of OpenCV's":              {"   cols: 3", " : ]"},
		"avg_reprojection_error: expected a":  {"3.92e-01", "good"},
	} {
		raw := strings.NewReplacer(change...).Replace(openCVYAML)
		require.NotEqual(t, openCVYAML, raw, want)
		_, err := lens.Parse([]byte(raw), true)
		require.Error(t, err, want)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n")
	}
	for _, cut := range []string{"%YAML:1.0", "%YAML:1.0\n---\n", openCVYAML[:200]} {
		_, err := lens.Parse([]byte(cut), true)
		assert.Error(t, err)
	}
}

func TestOpenCVsOwnCalibrationIsRead(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "real", "opencv_chess_9x6", "left_intrinsics.yml")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the shared material is not here: %v", err)
	}
	in, _, err := lens.Load(path)
	require.NoError(t, err)
	assert.InDelta(t, 535.916, in.Fx, 0.001)
	assert.Equal(t, 13, in.Views)
	assert.Nil(t, in.Covariance)
}

func FuzzParseOpenCVLens(f *testing.F) {
	f.Add([]byte(openCVYAML))
	f.Add([]byte("%YAML:1.0\n---\nK: !!opencv-matrix\n"))
	f.Add([]byte("%YAML:1.0\n- 1"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := lens.Parse(append([]byte("%YAML:1.0\n"), raw...), true)
		if err == nil && in.Validate() != nil {
			t.Errorf("Parse gave a lens that cannot be: %v", in.Validate())
		}
	})
}
