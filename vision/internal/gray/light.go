package gray

import (
	"math"
)

// LinearLight undoes the sRGB transfer curve (IEC 61966-2-1), which cameras and
// their drivers approximate, so that blur and shade add up as light does.
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

// Darkest is the grey level below which a cell says nothing about the light.
const Darkest = 6
