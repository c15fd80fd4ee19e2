package verify

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// GaugeStudy says how well a measured distance repeats: that between two markers of the
// check card, measured several times at each of several places.
//
// With k places and n pictures at each, x the error of a picture's distance and MS the
// mean squares of a one-way analysis of variance between and within places
// (ISO 5725-2, 7.4; AIAG Measurement Systems Analysis, 4th edition, chapter III):
//
//	repeatability   s_r² = MS_within                       (nothing touched: equipment variation, EV)
//	between places  s_L² = max(0, (MS_between - MS_within)/n)
//	reproducibility s_R² = s_r² + s_L²                      (card put elsewhere and back)
//	bias            mean of x
//	%GRR            6 s_R / tolerance
//	C_g, C_gk       0.2 T / 6 s_r, (0.1 T - |bias|) / 3 s_r (type-1 study, k of 20 % of the tolerance)
//
// For places with different numbers of pictures, n is the ISO's weighted mean.
type GaugeStudy struct {
	Places, Pictures int
	Bias             geom.Length
	Repeatability    geom.Length // s_r
	Between          geom.Length // s_L
	Reproducibility  geom.Length // s_R
	Tolerance        geom.Length // the width of the band, T
	GRR              float64     // share of the tolerance: 0.1 is good, 0.3 the usual limit
	Cg, Cgk          float64     // 1.33 is the usual requirement
}

// NewGaugeStudy computes a study from the errors in mm, by place. It needs at least two
// pictures at one place. With one place, Between is 0 and the study is a type-1 study.
func NewGaugeStudy(places [][]float64, tolerance geom.Length) (GaugeStudy, error) {
	s := GaugeStudy{Tolerance: tolerance}
	if !(tolerance > 0) {
		return s, fmt.Errorf("calibration: gauge study: tolerance: expected more than 0 mm, got %v", float64(tolerance))
	}
	var sum, squares float64 // of the pictures' errors; of the places' numbers
	for _, errors := range places {
		if len(errors) == 0 {
			continue
		}
		s.Places++
		s.Pictures += len(errors)
		squares += float64(len(errors) * len(errors))
		for _, e := range errors {
			sum += e
		}
	}
	freedom := s.Pictures - s.Places
	if freedom < 1 {
		return s, fmt.Errorf("calibration: gauge study: expected at least two pictures of the card lying still at one place, got %d of %d places",
			s.Pictures, s.Places)
	}
	n := float64(s.Pictures)
	bias := sum / n
	var within, between float64
	for _, errors := range places {
		if len(errors) == 0 {
			continue
		}
		mean := 0.0
		for _, e := range errors {
			mean += e / float64(len(errors))
		}
		for _, e := range errors {
			within += (e - mean) * (e - mean)
		}
		between += float64(len(errors)) * (mean - bias) * (mean - bias)
	}
	repeat := within / float64(freedom)
	var place float64
	if s.Places > 1 {
		each := (n - squares/n) / float64(s.Places-1)
		place = math.Max(0, (between/float64(s.Places-1)-repeat)/each)
	}
	s.Bias = geom.Length(bias)
	s.Repeatability, s.Between = geom.Length(math.Sqrt(repeat)), geom.Length(math.Sqrt(place))
	s.Reproducibility = geom.Length(math.Sqrt(repeat + place))
	t := float64(tolerance)
	s.GRR = 6 * float64(s.Reproducibility) / t
	// A noiseless picture measured again has no spread to divide by.
	if r := float64(s.Repeatability); r > 0 {
		s.Cg, s.Cgk = 0.2*t/(6*r), (0.1*t-math.Abs(bias))/(3*r)
	} else {
		s.Cg, s.Cgk = math.Inf(1), math.Inf(1)
	}
	return s, nil
}
