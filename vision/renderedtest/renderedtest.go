// Package renderedtest reads the truth that comes with photorealistic pictures, for tests. The pictures are not part of the
// project; a test skips where they are not there.
package renderedtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sightline/calibration"
)

// File is the name of the truth in a picture's folder.
const File = "truth.json"

// Optics is the truth about the camera. A test embeds it in a struct of what else it needs of the file.
type Optics struct {
	Lens struct {
		Width  int `json:"image_width"`
		Height int `json:"image_height"`
		Matrix struct {
			Data [9]float64 `json:"data"`
		} `json:"camera_matrix"`
		Distortion struct {
			Data [5]float64 `json:"data"`
		} `json:"distortion_coefficients"`
	} `json:"lens"`
	Pose struct {
		R [3][3]float64 `json:"R"`
		T [3]float64    `json:"t_mm"`
	} `json:"camera"`
}

// Camera returns the true camera.
func (o *Optics) Camera() calibration.Camera {
	k := o.Lens.Matrix.Data
	return calibration.Camera{
		Intrinsics: calibration.Intrinsics{
			Width: o.Lens.Width, Height: o.Lens.Height, Fx: k[0], Fy: k[4], Cx: k[2], Cy: k[5], Distortion: o.Lens.Distortion.Data,
		},
		Extrinsics: calibration.Extrinsics{R: o.Pose.R, T: o.Pose.T},
	}
}

// Read reads the truth of the picture in a folder.
func Read(t testing.TB, dir string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, File))
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("the truth of %s: %v", dir, err)
	}
}
