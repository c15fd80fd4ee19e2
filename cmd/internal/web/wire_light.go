package web

import (
	"cmp"

	"sightline/cmd/internal/live"
	"sightline/vision/exposure"
)

// lightJSON is camera.light: the gauges of exposure.Light. Grey levels are 0 to 255.
type lightJSON struct {
	Advice  []string `json:"advice"`
	Edges   int      `json:"edges"` // measured edges of markers; 0: none is visible
	EdgePx  float64  `json:"edge_px"`
	EdgeMM  float64  `json:"edge_mm"`
	Smear   float64  `json:"smear"` // 1: equally sharp in both directions
	White   float64  `json:"white_level"`
	Paper   float64  `json:"paper_level"` // a quarter of the markers has it or more
	Black   float64  `json:"black_level"`
	Noise   float64  `json:"noise_level"`
	Burnt   float64  `json:"burnt_markers"` // a share, like the two below
	Glare   float64  `json:"glare"`
	Where   string   `json:"glare_at"`
	Flicker float64  `json:"flicker"`

	Exposure exposureJSON `json:"exposure"`
}

// exposureJSON is the state of the camera's exposure.
type exposureJSON struct {
	Code   string `json:"code"` // an exposure.Code
	Says   string `json:"says"`
	Change string `json:"last_change"` // "": none
}

func lightOf(l live.Light) lightJSON {
	return lightJSON{
		Advice: append([]string{}, l.Advice...), Edges: l.Edges, EdgePx: round(l.Edge), EdgeMM: round(l.EdgeMM), Smear: round(l.Smear),
		White: round(l.White), Paper: round(l.Paper), Black: round(l.Black), Noise: round(l.Noise), Burnt: round(l.Burnt),
		Glare: round(l.Glare), Where: l.Where, Flicker: round(l.Banded),
		Exposure: exposureJSON{string(cmp.Or(l.Exposure.Code, exposure.None)), l.Exposure.Says, l.Exposure.Change},
	}
}
