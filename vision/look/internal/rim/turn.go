package rim

import "math"

// A card may lie askew in its base, by more than the play that its pose's errors allow for. The pose is the card's then, not the base's.
// The rim shows it: across each side, the picture changes in the same way all along the plastic's edge. So it is compared along lines that
// are turned against the card, and the turn is taken at which it varies least.
const (
	inside  = 1.6                 // mm inwards from the base's edge
	outside = 1.2                 // mm outwards
	rows    = 0.4                 // mm between the lines
	most    = 4.0 * math.Pi / 180 // largest turn
	tanMost = 0.07                // its tangent
	step    = 0.5 * math.Pi / 180 // between the turns that are tried
	least   = 1.0 * math.Pi / 180 // smaller ones are within the play
	noise   = 2.0                 // grey levels
	fine    = 0.2                 // mm between samples across a side
	ends    = 3.0                 // mm at both ends of a side that are left out

	guideFrom = 8.5  // mm from the middle of a side to where a guide may begin
	guideTo   = 15.0 // mm to where it has ended

	// By how much less the picture must vary: the sum over the sides of the logarithm. Six views of three cards that lie 1.2 to 3.0°
	// askew (1861, 1862, both sizes) have 0.38 to 1.81; of 325 of straight ones, none has more than 0.29.
	tells = 0.35
)

// Reach is how far outwards a base's side is sampled, in mm. half is half its length.
func Reach(half float64) float64 { return outside + half*tanMost + fine }

// Across holds samples across a side of a base: columns along the side, each from inside outwards.
type Across struct {
	along []float64 // mm from the side's middle
	from  float64   // mm outwards of the first sample of a column
	rows  int
	shot  [][channels]float32
}

// NewAcross samples a side of a length, with or without guides. at returns a sample some mm along the side and outwards from it; false: it
// is not in the picture.
func NewAcross(half float64, guides bool, at func(along, out float64) ([channels]float32, bool)) (a Across, ok bool) {
	reach := (half - ends) * tanMost
	a.from = -inside - reach
	a.rows = int((inside+outside+2*reach)/fine) + 2
	for u := ends - half; u <= half-ends; u++ {
		if g := math.Abs(u); guides && g > guideFrom && g < guideTo {
			continue
		}
		a.along = append(a.along, u)
		for row := range a.rows {
			v, ok := at(u, a.from+float64(row)*fine)
			if !ok {
				return a, false
			}
			a.shot = append(a.shot, v)
		}
	}
	return a, true
}

// Turn returns the angle by which a card is turned in its base; 0: not noticeably.
func Turn(sides []Across) float64 {
	n := int(math.Round(2 * most / step))
	varies, best := make([]float64, n+1), 0
	for i := range varies {
		for s := range sides {
			varies[i] += math.Log(sides[s].varies(float64(i)*step-most) + noise)
		}
		if varies[i] < varies[best] {
			best = i
		}
	}
	turn := float64(best)*step - most
	if math.Abs(turn) < least-step/2 || varies[n/2]-varies[best] < tells {
		return 0
	}
	return turn
}

// varies returns by how many grey levels the samples along lines turned by an angle differ from each line's median.
func (a *Across) varies(turn float64) (sum float64) {
	tan, lines := math.Tan(turn), 0
	line, of := make([][channels]float64, len(a.along)), make([]float64, len(a.along))
	for out := -inside; out <= outside; out += rows {
		for i, u := range a.along {
			at := (out + u*tan - a.from) / fine
			k := min(max(int(at), 0), a.rows-2)
			t := at - float64(k)
			p, q := &a.shot[i*a.rows+k], &a.shot[i*a.rows+k+1]
			for c := range channels {
				line[i][c] = float64(p[c])*(1-t) + float64(q[c])*t
			}
		}
		var middle [channels]float64
		for c := range channels {
			for i := range line {
				of[i] = line[i][c]
			}
			middle[c] = median(of)
		}
		for i, v := range line {
			of[i] = 0
			for c := range channels {
				of[i] += math.Abs(v[c] - middle[c])
			}
		}
		sum += median(of)
		lines++
	}
	return sum / float64(lines)
}
