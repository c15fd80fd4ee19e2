package gray

import (
	"math"
)

// LinearLight inverts the sRGB transfer curve (IEC 61966-2-1), which cameras and their drivers
// approximate, so that blur and shade become sums.
var LinearLight = func() (t [256]float32) {
	for i := range t {
		v := float64(i) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		t[i] = float32(v)
	}
	return t
}()

// Darkest is the grey level below which a cell is no measure of the light.
const Darkest = 6

// LightAt returns the linear light of a fractional grey level, and its increase per level.
func LightAt(level float64) (light, slope float64) {
	level = min(max(level, 0), 254.99)
	i := int(level)
	a, b := float64(LinearLight[i]), float64(LinearLight[i+1])
	return a + (level-float64(i))*(b-a), b - a
}
