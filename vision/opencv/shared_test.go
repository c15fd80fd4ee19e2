//go:build opencv

package opencv

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// shared returns a path in the material next to the repository, and skips the test
// when it is not there: that material is not ours to copy.
func shared(t *testing.T, parts ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{"..", "..", "..", "shared"}, parts...)...) // a test runs in its package's folder
	if _, err := os.Stat(p); err != nil {
		t.Skipf("the shared material is not here: %v", err)
	}
	return p
}

// tableTruth is what a rendered table's truth.json says that these tests need.
type tableTruth struct {
	Markers []struct {
		ID      int          `json:"id"`
		Corners [][2]float64 `json:"corners_px"`
		Visible float64      `json:"visible"`
	} `json:"markers"`
	Board struct {
		Pixels [][2]float64 `json:"px"`
	} `json:"board"`
}

func readTruth(t *testing.T, path string) (out tableTruth) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

// errorStats gathers differences between found and true pixels.
type errorStats struct {
	n            int
	x, y, xx, yy float64
	worst        float64
}

func (e *errorStats) add(got, want geom.Pixel) {
	d := got.Sub(want)
	e.n++
	e.x += d.X
	e.y += d.Y
	e.xx += d.X * d.X
	e.yy += d.Y * d.Y
	e.worst = max(e.worst, d.Norm())
}
