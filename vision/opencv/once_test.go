//go:build opencv

package opencv

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gocv.io/x/gocv"
)

// A picture that OpenCV has decoded becomes one in grey and one in colour, and nothing
// more: four bytes a pixel, once.
func TestADecodedPictureIsCopiedOutOnce(t *testing.T) {
	const width, height, rounds = 1280, 720, 5
	for _, c := range []struct {
		name  string
		kind  gocv.MatType
		bytes int // a pixel
	}{{"colour", gocv.MatTypeCV8UC3, 4}, {"grey", gocv.MatTypeCV8UC1, 1}} {
		m := gocv.NewMatWithSize(height, width, c.kind)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			f, err := FrameFromMat(m)
			require.NoError(t, err)
			require.Len(t, f.Gray.Pix, width*height)
		}
		runtime.ReadMemStats(&after)
		m.Close()
		got := float64(after.TotalAlloc-before.TotalAlloc) / rounds / (width * height)
		assert.InDelta(t, c.bytes, got, 0.05, "%s: bytes a pixel", c.name)
	}
}
