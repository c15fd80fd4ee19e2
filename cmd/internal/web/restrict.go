package web

import (
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
)

// What the rules forbid where the ships stand. The engine decides it
// ([engine.Result.Restrictions]); every output has its words from here.

// restrictionJSON is a Restriction.
type restrictionJSON struct {
	Outcome string   `json:"outcome"` // yes: forbidden; too_close, no_view: perhaps
	Text    string   `json:"text"`
	Because []string `json:"because"`
	Rules   []string `json:"rules"`
}

// restrictionOf returns the JSON of a restriction, or nil.
func restrictionOf(r *live.Restriction) *restrictionJSON {
	if r == nil {
		return nil
	}
	return &restrictionJSON{r.Outcome.String(), r.Text, r.Because, r.Rules}
}

// objectJSON is an obstacle, a device or a marker, measured from the chosen attacker.
type objectJSON struct {
	ID         string           `json:"id"`
	Kind       string           `json:"kind"`
	Group      string           `json:"group"` // obstacle, device, marker
	Outcome    string           `json:"outcome"`
	Title      string           `json:"title"` // "Range 2"
	Band       string           `json:"band"`
	DistanceMM float64          `json:"distance_mm"`
	SigmaMM    float64          `json:"sigma_mm"`
	Act        string           `json:"act"` // what the ship may do to it: lock, tow, scramble; "": unknown
	May        string           `json:"may"` // whether it may, by range and where it stands: yes, no, too_close, no_view; "" without an act
	Text       string           `json:"text"`
	NoLock     *restrictionJSON `json:"no_lock"`
}

// blastJSON is a device and the ships near it.
type blastJSON struct {
	ID    string          `json:"id"`
	Kind  string          `json:"kind"`
	Ships []blastShipJSON `json:"ships"` // up to range 3, nearest first

	Uncounted []string `json:"uncounted"` // ships without a sure place, in words
}

type blastShipJSON struct {
	ID         string  `json:"id"`
	Player     int     `json:"player"`
	Outcome    string  `json:"outcome"`
	Title      string  `json:"title"`
	DistanceMM float64 `json:"distance_mm"`
	SigmaMM    float64 `json:"sigma_mm"`
}

func objectsOf(all []live.Object) []objectJSON {
	out := []objectJSON{}
	for _, o := range all {
		j := objectJSON{
			ID: o.ID, Kind: o.Kind, Group: o.Group, Outcome: o.Range.Outcome.String(), Title: live.RangeTitle(o.Range), Band: live.BandText(o.Range),
			DistanceMM: round(float64(o.Range.Distance)), SigmaMM: round(float64(o.Range.Sigma)), Act: o.Act, Text: o.Text,
			NoLock: restrictionOf(o.NoLock),
		}
		if o.Act != "" {
			j.May = o.May.String()
		}
		out = append(out, j)
	}
	return out
}

func blastsOf(all []live.Blast) []blastJSON {
	out := []blastJSON{}
	for _, b := range all {
		j := blastJSON{ID: b.ID, Kind: b.Kind, Ships: []blastShipJSON{}, Uncounted: append([]string{}, b.Uncounted...)}
		for _, k := range b.Ships {
			j.Ships = append(j.Ships, blastShipJSON{k.ID, k.Player, k.Range.Outcome.String(), live.RangeTitle(k.Range),
				round(float64(k.Range.Distance)), round(float64(k.Range.Sigma))})
		}
		out = append(out, j)
	}
	return out
}

// tokenJSON is a device or a marker on the table.
type tokenJSON struct {
	ID    string  `json:"id"`
	Kind  string  `json:"kind"`
	Group string  `json:"group"` // device, marker
	XMM   float64 `json:"x_mm"`  // the middle of what it covers
	YMM   float64 `json:"y_mm"`
}

// tokensOf lists the devices and markers on the table.
func tokensOf(s *engine.Scene) []tokenJSON {
	out := []tokenJSON{}
	add := func(tokens []engine.Token, group string) {
		for i := range tokens {
			k := &tokens[i]
			middle := middleOf(k)
			out = append(out, tokenJSON{k.ID, k.Kind, group, round(middle.X), round(middle.Y)})
		}
	}
	add(s.Devices, live.GroupDevice)
	add(s.Markers, live.GroupMarker)
	return out
}

// middleOf returns the middle of the box about a token's outline on the table: it stays where it
// is when the token was seen in another of the headings that look alike.
func middleOf(k *engine.Token) geom.Point {
	if len(k.Outline) == 0 {
		return k.Pose.Point
	}
	outline := k.Pose.TransformAll(k.Outline)
	low, high := outline[0], outline[0]
	for _, p := range outline {
		low = geom.Point{X: min(low.X, p.X), Y: min(low.Y, p.Y)}
		high = geom.Point{X: max(high.X, p.X), Y: max(high.Y, p.Y)}
	}
	return geom.Point{X: (low.X + high.X) / 2, Y: (low.Y + high.Y) / 2}
}
