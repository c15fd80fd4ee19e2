package look

import "math"

// Another faction has the same drawing in other colours, which agrees with a look in many blocks, because light and dark are
// in the same places. So the blocks that show the card are also compared by colour alone. Of 228 cards of another faction that
// were never shown, 51 would be accepted without this, and 31 are with it.
const (
	colorTell   = 6.0     // grey levels by which a block's colours must vary in the look
	colorAgrees = 0.3     // correlation from which a block shows the look's colours
	colorDenies = -0.2    // correlation up to which it shows others
	deniedMost  = 1.0 / 3 // ratio of contradicting to agreeing blocks: none of 216 cards that were shown has more
)

// colorSums holds a block's sums of its light and its two colour differences, for look and picture.
type colorSums [3]struct{ n, t, i, tt, ii, ti float64 }

func (s *colorSums) add(w float64, t, i [3]float64) {
	for c := range s {
		m := &s[c]
		m.n += w
		m.t += w * t[c]
		m.i += w * i[c]
		m.tt += w * t[c] * t[c]
		m.ii += w * i[c] * i[c]
		m.ti += w * t[c] * i[c]
	}
}

// moments returns the variances of look and picture and their covariance, summed over the quantities from to to-1.
func (s *colorSums) moments(from, to int) (look, picture, both float64) {
	for _, m := range s[from:to] {
		mt, mi := m.t/m.n, m.i/m.n
		look += max(m.tt/m.n-mt*mt, 0)
		picture += max(m.ii/m.n-mi*mi, 0)
		both += m.ti/m.n - mt*mi
	}
	return look, picture, both
}

// lightAndColors returns the mean of the channels, and green minus red and green minus blue.
func lightAndColors(v [channels]float64) [3]float64 {
	return [3]float64{(v[0] + v[1] + v[2]) / 3, v[1] - v[2], v[1] - v[0]}
}

// colors counts, among the blocks whose light agrees with the look, those that have its colours and those that have others.
func (f *fitting) colors() (agree, deny float64) {
	sums := make([]colorSums, f.g.blocks)
	for k, w := range f.g.weight {
		if w == 0 || !f.seen[k] {
			continue
		}
		var t, i [channels]float64
		for c := range channels {
			t[c], i[c] = float64(f.g.t[channels*k+c]), float64(f.deriv[k].v[c])/f.photo[ofGain+c]
		}
		sums[f.g.block[k]].add(float64(w), lightAndColors(t), lightAndColors(i))
	}
	for b := range sums {
		if sums[b][0].n == 0 || f.g.tell[b] == 0 {
			continue
		}
		look, picture, both := sums[b].moments(0, 1)
		if look < tellLeast*tellLeast || both/math.Sqrt((look+blockNoise)*(picture+blockNoise)) < shown {
			continue
		}
		look, picture, both = sums[b].moments(1, 3)
		if look < colorTell*colorTell {
			continue
		}
		switch r := both / math.Sqrt((look+blockNoise)*(picture+blockNoise)); {
		case r > colorAgrees:
			agree++
		case r < colorDenies:
			deny++
		}
	}
	return agree, deny
}
