package exposure

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision"
)

// greyWithNoise is a picture of two greys side by side with noise.
func greyWithNoise(seed uint64, sigma float64) vision.Frame {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := image.NewGray(image.Rect(0, 0, 320, 240))
	for i := range g.Pix {
		v := 60.0
		if i%320 >= 160 {
			v = 160
		}
		g.Pix[i] = uint8(v + sigma*rng.NormFloat64() + 0.5)
	}
	return vision.Frame{Gray: g, Name: "a"}
}

func TestTheMeanOfPicturesHasLessNoise(t *testing.T) {
	var a Averager
	_, err := a.Frame()
	require.ErrorContains(t, err, "expected at least one picture")
	for i := range uint64(16) {
		require.NoError(t, a.Add(greyWithNoise(i, 8)))
	}
	f, err := a.Frame()
	require.NoError(t, err)
	var square float64
	for i, v := range f.Gray.Pix {
		want := 60.0
		if i%320 >= 160 {
			want = 160
		}
		square += (float64(v) - want) * (float64(v) - want) / float64(len(f.Gray.Pix))
	}
	assert.InDelta(t, 8*8/16.0, square, 0.5, "variance of the mean of 16")
}

func TestTheMeanOfPicturesKeepsTheirSteps(t *testing.T) {
	var a, plain Averager
	for i := range uint64(4) {
		f := greyWithNoise(i, 8)
		require.NoError(t, plain.Add(f))
		var b bytes.Buffer
		require.NoError(t, jpeg.Encode(&b, f.Gray, &jpeg.Options{Quality: 60}))
		m, err := jpeg.Decode(&b)
		require.NoError(t, err)
		require.NoError(t, a.Add(vision.Frame{Gray: m.(*image.Gray)}))
	}
	f, err := a.Frame()
	require.NoError(t, err)
	require.NotNil(t, f.Steps)
	assert.Equal(t, []float32{9, 8, 13, 19}, f.Steps[1:5], "the standard's table at quality 60")
	f, err = plain.Frame()
	require.NoError(t, err)
	assert.Nil(t, f.Steps)
}

func TestPicturesThatDifferAreNotAveraged(t *testing.T) {
	var a Averager
	require.NoError(t, a.Add(greyWithNoise(1, 8)))
	require.ErrorContains(t, a.Add(vision.Frame{}), "no picture")
	require.ErrorContains(t, a.Add(vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 8, 8)), Name: "b"}), "b is 8×8")
	moved := greyWithNoise(2, 8)
	for y := 100; y < 140; y++ { // a token 40 px wide
		for x := 30; x < 70; x++ {
			moved.Gray.Pix[y*320+x] = 90
		}
	}
	require.ErrorContains(t, a.Add(moved), "something moved")
	assert.False(t, Moved(greyWithNoise(3, 8).Gray, greyWithNoise(4, 8).Gray), "noise is no motion")
	assert.Equal(t, 1, a.Len())
}
