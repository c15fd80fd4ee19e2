package look

import (
	"slices"
)

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

func square(v float64) float64 { return v * v }
