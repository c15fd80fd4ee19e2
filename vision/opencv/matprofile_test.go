//go:build matprofile && !nocv

package opencv

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gocv.io/x/gocv"
)

// openMats is the number of Mats that nobody has closed yet.
func openMats() int { return gocv.MatProfile.Count() }

func TestEveryMatIsClosed(t *testing.T) {
	before := openMats()
	path, raw := writePicture(t, "a.jpg", testPicture(200, 150))
	for range 20 {
		_, err := ReadImage(path)
		require.NoError(t, err)
		_, err = DecodeImage([]byte("no picture"))
		require.Error(t, err)
		_, err = DecodeImage(raw[:len(raw)/2])
		require.Error(t, err)
	}
	require.Equal(t, before, openMats())
}
