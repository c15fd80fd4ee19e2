package pipeline

import (
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/fiducial"
)

// inAMirror sees markers only in every second picture that it is shown: the mirrored one.
type inAMirror struct{ shown int }

func (d *inAMirror) DetectMarkers(*image.Gray) ([]vision.Detection, error) {
	d.shown++
	if d.shown%2 == 0 {
		return make([]vision.Detection, 8), nil
	}
	return nil, nil
}

func TestAMirroredPictureRegistersNothing(t *testing.T) {
	r := Registration{o: RegistrationOptions{
		Markers: &inAMirror{}, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Lens: func() (calibration.Intrinsics, bool) {
			return calibration.Intrinsics{Width: 64, Height: 48, Fx: 60, Fy: 60, Cx: 31.5, Cy: 23.5}, true
		},
	}}
	_, _, err := r.register(image.NewGray(image.Rect(0, 0, 64, 48)))
	require.ErrorIs(t, err, fiducial.ErrMirrored)
	h := (&Registration{problem: err}).Health()
	assert.Equal(t, "Picture mirrored", h.Title)
	assert.Contains(t, h.Advice, "mirroring")
}
