package tablesim

import (
	"math"
	"regexp"
	"strings"

	"sightline/engine/geom"
)

// The phrases of calibration.Guide's advice that say what to do with the board.
var (
	adviceSide  = regexp.MustCompile(`(left|right|top|bottom) side (?:tilted )?towards the camera`)
	advicePlace = regexp.MustCompile(`to the ((?:top |bottom )?(?:left |right )?(?:corner|edge)|middle) of the picture`)
)

// Obey returns how a person who follows the advice of a guided capture (calibration.Guide) holds
// the board for the n-th time. Attempts vary, as people's do.
func Obey(advice string, n int) Grip {
	vary := func(of int, from, to float64) float64 {
		_, part := math.Modf(float64(n*of+of) * math.Phi)
		return from + (to-from)*part
	}
	g := Grip{U: vary(3, 0.42, 0.58), V: vary(4, 0.44, 0.56), Share: vary(5, 0.30, 0.42), Roll: geom.Angle(vary(7, -12, 12)) * geom.Degree}
	tilt := geom.Angle(vary(2, 28, 40)) * geom.Degree
	side := ""
	if m := adviceSide.FindStringSubmatch(advice); m != nil {
		side = m[1]
	}
	if m := advicePlace.FindStringSubmatch(advice); m != nil && m[1] != "middle" {
		g.Share = vary(5, 0.27, 0.31)
		switch {
		case strings.Contains(m[1], "left"):
			g.U = vary(3, 0.165, 0.19)
		case strings.Contains(m[1], "right"):
			g.U = vary(3, 0.81, 0.835)
		default:
			g.U = vary(3, 0.3, 0.7)
		}
		switch {
		case strings.Contains(m[1], "top"):
			g.V = vary(4, 0.19, 0.22)
		case strings.Contains(m[1], "bottom"):
			g.V = vary(4, 0.78, 0.81)
		default:
			g.V = vary(4, 0.35, 0.65)
		}
	}
	switch {
	case strings.Contains(advice, "closer"):
		g.U, g.V, g.Share, g.Roll = 0.5, 0.5, 0.68, 0
	case strings.Contains(advice, "further away"):
		g.Share = 0.25
	case strings.Contains(advice, "turn the board by a quarter"):
		g.Roll, g.TiltX, g.Share = 90*geom.Degree, tilt, 0.3
	}
	switch side {
	case "left":
		g.TiltY = -tilt
	case "right":
		g.TiltY = tilt
	case "top":
		g.TiltX = tilt
	case "bottom":
		g.TiltX = -tilt
	}
	return g
}
