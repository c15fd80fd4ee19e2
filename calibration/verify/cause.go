package verify

import (
	"fmt"
	"math"
	"sightline/calibration/linalg"
)

// hypothesis is a possible fault, with the error of each line per unit of it.
type hypothesis struct {
	gain []float64
	say  func(amount float64) string
}

// finding is the test of a hypothesis.
type finding struct {
	hypothesis
	amount float64 // of the fault, by generalised least squares
	sigmas float64 // amount in its own standard deviations
	left   float64 // chi-square without the fault
}

// findings tests every hypothesis separately. It finds a fault that changes all distances
// a little long before their common chi-square does.
func (c *check) findings() []finding {
	total := c.chiSquare(c.errors)
	var out []finding
	for _, h := range c.hypotheses() {
		w := c.solve(h.gain)
		info := linalg.Dot(h.gain, w)
		if !(info > 0) {
			continue
		}
		z := linalg.Dot(w, c.errors) / math.Sqrt(info)
		out = append(out, finding{h, z / math.Sqrt(info), math.Abs(z), max(0, total-z*z)})
	}
	return out
}

// largest returns the finding that explains the most.
func largest(all []finding) (finding, bool) {
	var best finding
	for _, f := range all {
		if f.sigmas > best.sigmas {
			best = f
		}
	}
	return best, best.sigmas > 0
}

// cause names the single fault that best explains the errors.
func (c *check) cause() string {
	total := c.chiSquare(c.errors)
	best, ok := largest(c.findings())
	if !ok || best.sigmas < 3 || best.left > total/2 {
		return "no single cause explains the errors: calibrate the lens again, or look for a marker that was moved, and lay the strips flat"
	}
	s := best.say(best.amount)
	if chiSquareTail(best.left, len(c.lines)-1) < checkLevel {
		s += "; more than that is wrong"
	}
	return s
}

// hypotheses lists the faults that are tested, in mm per unit.
func (c *check) hypotheses() []hypothesis {
	camera := c.table.Center()[2]
	on := func(f func(l checkLine) float64) []float64 {
		out := make([]float64, len(c.lines))
		for i, l := range c.lines {
			out[i] = f(l)
		}
		return out
	}
	length := func(l checkLine) float64 { return float64(l.deviation.True) }
	out := []hypothesis{
		{on(length), func(a float64) string {
			return fmt.Sprintf("every distance is %s by %.2f %% at both heights, as if the camera stood %.1f mm %s or the mat's markers lay %.1f "+
				"mm %s on %.0f mm: measure the bars again, then the mat and where its markers lie, and calibrate the table again",
				longShort(a), 100*math.Abs(a), math.Abs(a)*camera, higherLower(-a),
				math.Abs(a)*float64(c.table.Layout.Width), closerWider(a), float64(c.table.Layout.Width))
		}},
		{on(func(l checkLine) float64 { return length(l) * l.along.X * l.along.X }), func(a float64) string {
			return fmt.Sprintf("distances along the mat's width are %s by %.2f %%: check the mat's width and the markers at its "+
				"left and right edges", longShort(a), 100*math.Abs(a))
		}},
		{on(func(l checkLine) float64 { return length(l) * l.along.Y * l.along.Y }), func(a float64) string {
			return fmt.Sprintf("distances along the mat's depth are %s by %.2f %%: check the mat's depth and the markers along it",
				longShort(a), 100*math.Abs(a))
		}},
	}
	for strip := range c.setup.Card.Strips {
		out = append(out, hypothesis{
			on(func(l checkLine) float64 {
				if l.deviation.Strip != strip {
					return 0
				}
				return l.along.Dot(c.slope(l.to).Sub(c.slope(l.from)))
			}),
			func(a float64) string {
				z := float64(c.setup.height(strip))
				if strip == 0 {
					return fmt.Sprintf("the strip on the mat seems to lie at %.1f mm, not at %.1f mm: lay it flat on the mat, give --card-thickness, "+
						"and take care that the strips are not swapped", z+a, z)
				}
				return fmt.Sprintf("the strip on the bases seems to lie at %.1f mm, not at %.1f mm: measure the bases' height with callipers and "+
					"give --base-top, and take care that the strips are not swapped", z+a, z)
			},
		})
	}
	return out
}

func longShort(a float64) string {
	if a < 0 {
		return "too short"
	}
	return "too long"
}

func higherLower(a float64) string {
	if a < 0 {
		return "lower than the file says"
	}
	return "higher than the file says"
}

func closerWider(a float64) string {
	if a < 0 {
		return "too wide"
	}
	return "too close"
}
