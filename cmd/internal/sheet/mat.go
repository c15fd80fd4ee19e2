package sheet

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sightline/engine/geom"
)

// The mats for the eight markers. On a smaller one the cards are too close; no camera can see a
// larger one.
const (
	minMat = 300 * geom.Millimeter
	maxMat = 2000 * geom.Millimeter
)

// ParseMat parses "914.4x914.4", in mm.
func ParseMat(s string) (width, height geom.Length, err error) {
	// Convert inches to mm for the error text.
	plain := strings.NewReplacer(`"`, "", "″", "", "in", "", " ", "").Replace(s)
	ws, hs, ok := strings.Cut(plain, "x")
	w, errW := strconv.ParseFloat(ws, 64)
	h, errH := strconv.ParseFloat(hs, 64)
	if !ok || errW != nil || errH != nil {
		return 0, 0, fmt.Errorf("--mat %q: expected WIDTHxHEIGHT in mm, such as 914.4x914.4", s)
	}
	for _, v := range []float64{w, h} {
		if plain != s || !(v >= float64(minMat) && v <= float64(maxMat)) || math.IsInf(v, 0) {
			hint := ""
			if w >= 12 && w <= 78 && h >= 12 && h <= 78 {
				hint = fmt.Sprintf("; %gx%g inches are %gx%g", w, h, math.Round(w*254)/10, math.Round(h*254)/10)
			}
			return 0, 0, fmt.Errorf("--mat %q: expected sides of %.0f…%.0f mm%s", s, float64(minMat), float64(maxMat), hint)
		}
	}
	return geom.Length(w), geom.Length(h), nil
}
