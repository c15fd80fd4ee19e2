package look

import (
	"math"

	"sightline/engine/geom"
)

// Another faction has the same drawing in other colours, which agrees with a look in many blocks, because light and dark are
// in the same places. The light that is fitted to each channel hides a part of the difference. So the hues are compared of all cells that
// are clearly coloured in look and picture, in blocks that show the card. What is grey in the picture is hidden by a miniature, or pale.
const (
	hueLook    = 20.0 // grey levels of a cell's colour differences from the card's median, in the look
	huePicture = 15.0 // and in the picture
	hueTrust   = 0.4  // trust in a block
	hueLeast   = 10.0 // mm² of such cells

	// The median cosine of the angle between the hues of look and picture from which the card has the look's colours. Of 293 fits to cards
	// with the look's main colour, shown or not, one has less than 0.9, in a wrong place; of 77 others 64 do (1 to 3, 1201 to 1210).
	hueAgrees = 0.85
)

// colorsOf returns green minus red and green minus blue.
func colorsOf(v [channels]float32) [2]float64 {
	return [2]float64{float64(v[1] - v[2]), float64(v[1] - v[0])}
}

// hue returns the median cosine of the angles between the hues of look and picture; false: too little of the card is coloured.
func (f *fitting) hue() (cosine float64, ok bool) {
	var look, picture [][2]float64
	for k, w := range f.g.weight {
		if w <= 0.5 || !f.seen[k] || f.trust[f.g.block[k]] < hueTrust {
			continue
		}
		var t, i [channels]float32
		for c := range channels {
			t[c] = f.g.t[channels*k+c]
			i[c] = f.asLook(f.deriv[k].v[c], float64(f.g.u[k]), float64(f.g.v[k]), c)
		}
		look, picture = append(look, colorsOf(t)), append(picture, colorsOf(i))
	}
	if len(look) == 0 {
		return 0, false
	}
	middle := func(all [][2]float64) (m [2]float64) {
		for d := range m {
			var v []float64
			for _, c := range all {
				v = append(v, c[d])
			}
			m[d] = median(v)
		}
		return m
	}
	a, b := middle(look), middle(picture)
	var cosines []float64
	for k, t := range look {
		i := picture[k]
		x, y, u, v := t[0]-a[0], t[1]-a[1], i[0]-b[0], i[1]-b[1]
		if n, m := math.Hypot(x, y), math.Hypot(u, v); n > hueLook && m > huePicture {
			cosines = append(cosines, (x*u+y*v)/(n*m))
		}
	}
	if float64(len(cosines))*f.g.step*f.g.step < hueLeast {
		return 0, false
	}
	return median(cosines), true
}

// The ground of a card is dark and tinted, and another faction's in another colour. Light that adds to a picture, haze and reflections, is
// nearly white: in the look's light, the offsets of the channels are alike if the card has the look's colours. Of 162 shown cards on 21
// tables (1 to 3, 1201 to 1210, 1221 to 1225, 1241, 1243, 1254) four reach odds of 2.5; so do three of four others of the same drawing in
// another red, or in red instead of yellow.
const (
	tintVeil  = 30.0 // grey levels of offset, in the look's light, up to which it is compared: brighter reflections saturate a channel
	tintSigma = 2.5  // of a difference, if the card has the look's colours
	tintShare = 0.05 // of the offset, added to that
	tintOther = 12.0 // of a difference, if it has others
	tintNamed = 2.0  // odds from which no plate names the card: 7 to 1
)

// tint returns the logarithm of the odds that the ground of a card at a pose has other colours than the look's, from the light that is
// fitted; at least 0: it is no evidence for the look.
func (s *scan) tint(l *Look, pose geom.Pose) float64 {
	f := newFitting(s, l, &l.grids().fine, pose)
	defer f.release()
	if !s.color || !l.Color || !f.light() {
		return 0
	}
	in := func(c int) float64 { return f.photo[ofOffset+c] / f.photo[ofGain+c] }
	green := in(1)
	if math.Abs(green) > tintVeil {
		return 0
	}
	sigma := tintSigma + tintShare*math.Abs(green)
	r := square(in(0)-green) + square(in(2)-green)
	return max(r/2*(1/square(sigma)-1/square(tintOther))-2*math.Log(tintOther/sigma), 0)
}
