package lens_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/lens"
)

// A null among a matrix's numbers is not read as the 0 that it is to a decoder.
func TestANullInAMatrixIsNoNumber(t *testing.T) {
	const yaml = `image_width: 640
image_height: 480
camera_matrix: {rows: 3, cols: 3, data: [600, 0, FIRST, 0, 600, 240, 0, 0, 1]}
distortion_model: plumb_bob
distortion_coefficients: {rows: 1, cols: 5, data: [0, SECOND, 0, 0, 0]}
`
	const json = `{"image_width": 640, "image_height": 480,
		"camera_matrix": {"rows": 3, "cols": 3, "data": [600, 0, FIRST, 0, 600, 240, 0, 0, 1]},
		"distortion_model": "plumb_bob", "distortion_coefficients": {"rows": 1, "cols": 5, "data": [0, SECOND, 0, 0, 0]}}`
	for name, text := range map[string]string{"lens.yaml": yaml, "lens.json": json} {
		for _, c := range []struct{ first, second, want string }{
			{"320", "0.1", ""},
			{"null", "0.1", "camera_matrix: data[2]: expected a finite number, got none"},
			{"320", "null", "distortion_coefficients: data[1]: expected a finite number, got none"},
		} {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer("FIRST", c.first, "SECOND", c.second).Replace(text)), 0o600))
			in, _, err := lens.Load(path)
			if c.want == "" {
				require.NoError(t, err, name)
				assert.Equal(t, 320.0, in.Cx)
				assert.Equal(t, 0.1, in.Distortion[1])
				continue
			}
			assert.ErrorContains(t, err, c.want, name)
		}
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(strings.NewReplacer("FIRST", "true", "SECOND", "0").Replace(text)), 0o600))
		_, _, err := lens.Load(path)
		assert.Error(t, err, name)
		t.Log(err)
	}
}
