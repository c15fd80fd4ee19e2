package web

import (
	"cmp"
	"slices"

	"sightline/cmd/internal/live"
	"sightline/engine"
)

// What the rules forbid where ships stand. The engine works it out ([engine.Result.Restrictions]);
// every output words it from here.

// restrictionJSON is a Restriction.
type restrictionJSON struct {
	Outcome string   `json:"outcome"` // yes: it is forbidden; too_close, no_view: perhaps
	Text    string   `json:"text"`
	Because []string `json:"because"`
	Rules   []string `json:"rules"`
}

// restrictionOf returns the JSON of a restriction; nil of none.
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
	Act        string           `json:"act"` // what the ship may do to it: lock, tow, scramble; "": nothing is known
	May        string           `json:"may"` // whether it may, by range and where it stands: yes, no, too_close, no_view; "" without an act
	Text       string           `json:"text"`
	NoLock     *restrictionJSON `json:"no_lock"`
}

// blastJSON is a device and the ships near it.
type blastJSON struct {
	ID    string          `json:"id"`
	Kind  string          `json:"kind"`
	Ships []blastShipJSON `json:"ships"` // up to range 3, the nearest first

	Uncounted []string `json:"uncounted"` // ships that stand nowhere for sure, in words
}

type blastShipJSON struct {
	ID         string  `json:"id"`
	Player     int     `json:"player"`
	Outcome    string  `json:"outcome"`
	Title      string  `json:"title"`
	DistanceMM float64 `json:"distance_mm"`
	SigmaMM    float64 `json:"sigma_mm"`
}

// objectsOf lists what lies on the table as measured from the chosen attacker, the
// nearest first, as far as the agreement allows it.
func objectsOf(v *live.State) []objectJSON {
	out := []objectJSON{}
	if w := v.Policy.Window; w != nil && w.Doing == live.DoBlast { // which measures from the device
		return out
	}
	for i := range v.Result.Objects {
		o := &v.Result.Objects[i]
		if o.From == v.Choice.From && v.Stands(o.From) && v.Policy.Object(&v.Located.Scene, o.From, o.To) {
			out = append(out, objectJSONOf(v, o))
		}
	}
	slices.SortStableFunc(out, func(a, b objectJSON) int { return cmp.Compare(a.DistanceMM, b.DistanceMM) })
	return out
}

func objectJSONOf(v *live.State, o *engine.ObjectVerdict) objectJSON {
	s := &v.Located.Scene
	j := objectJSON{ID: o.To, Outcome: o.Range.Outcome.String(), Title: live.RangeTitle(o.Range), Band: bandLarge(o.Range),
		DistanceMM: round(float64(o.Range.Distance)), SigmaMM: round(float64(o.Range.Sigma))}
	j.Group, j.Kind = live.ObjectOf(s, o.To)
	most := 1 // G228, G232
	switch {
	case s.Rules != engine.Rules25:
	case j.Kind == live.KindCache:
		j.Act = "tow"
	case live.IsSatellite(j.Kind):
		j.Act = "scramble"
	case j.Group != live.GroupMarker:
		j.Act, most = "lock", 3 // G77, G79
	}
	if j.Act == "" {
		return j
	}
	may := o.Range.At(0, most)
	j.May = may.String()
	j.Text = map[engine.Outcome]string{
		engine.Yes: "near enough to " + j.Act, engine.No: "too far to " + j.Act,
		engine.Indeterminate: "too close to call whether it is near enough to " + j.Act,
	}[may]
	if j.Act == "lock" {
		j.NoLock = restrictionOf(live.NewRestriction(v.Result.Restrictions("lock", o.From, o.To)))
	}
	if n := j.NoLock; n != nil && may != engine.No {
		j.Text = n.Text
		if j.May = n.Outcome; n.Outcome == engine.Yes.String() {
			j.May = engine.No.String()
		}
	}
	return j
}

// blastsOf lists the devices with the ships near them, as far as the agreement allows it.
func blastsOf(v *live.State) []blastJSON {
	out := []blastJSON{}
	s := &v.Located.Scene
	if v.Health.Code != live.OK && !v.Held {
		return out
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		if !v.Policy.Object(s, "", d.ID) {
			continue
		}
		b := blastJSON{ID: d.ID, Kind: d.Kind, Ships: []blastShipJSON{}, Uncounted: []string{}}
		for _, u := range v.Uncounted() {
			b.Uncounted = append(b.Uncounted, u.Why)
		}
		for k := range s.Ships {
			if ship := &s.Ships[k]; v.Stands(ship.ID) {
				b.add(v, ship)
			}
		}
		slices.SortStableFunc(b.Ships, func(a, b blastShipJSON) int { return cmp.Compare(a.DistanceMM, b.DistanceMM) })
		out = append(out, b)
	}
	return out
}

// add lists a ship if it may be at range 0 to 3 of the device: of the card that is nearest
// to it.
func (b *blastJSON) add(v *live.State, ship *engine.Ship) {
	var nearest *engine.ObjectVerdict
	for i := range v.Result.Objects {
		o := &v.Result.Objects[i]
		if o.From == ship.ID && live.PartOf(o.To, b.ID) && (nearest == nil || o.Range.Distance < nearest.Range.Distance) {
			nearest = o
		}
	}
	if nearest == nil || nearest.Range.At(0, 3) == engine.No {
		return
	}
	r := &nearest.Range
	b.Ships = append(b.Ships, blastShipJSON{ship.ID, ship.Player, r.Outcome.String(), live.RangeTitle(*r), round(float64(r.Distance)),
		round(float64(r.Sigma))})
}

// tokenJSON is a device or a marker on the table.
type tokenJSON struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Group string `json:"group"` // device, marker
}

// tokensOf lists the devices and markers on the table.
func tokensOf(s *engine.Scene) []tokenJSON {
	out := []tokenJSON{}
	for i := range s.Devices {
		out = append(out, tokenJSON{s.Devices[i].ID, s.Devices[i].Kind, live.GroupDevice})
	}
	for i := range s.Markers {
		out = append(out, tokenJSON{s.Markers[i].ID, s.Markers[i].Kind, live.GroupMarker})
	}
	return out
}
