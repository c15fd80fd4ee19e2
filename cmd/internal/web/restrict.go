package web

import (
	"cmp"
	"slices"
	"strings"

	"sightline/engine"
)

// What the rules forbid where ships stand. The engine works it out ([engine.Result.Barred]);
// every output words it from here.

// Restriction is an act that the rules forbid, or may forbid, where the ships stand.
type Restriction struct {
	Outcome engine.Outcome // Yes: it is forbidden; Indeterminate, NoView: perhaps
	Text    string         // "no attack: at range 0 of an asteroid, rock1 (2.5 G178)"
	Because []string       // ids of the objects and ships that are the reason
	Rules   []string       // "2.5 G178"
}

// sure reports whether the rules forbid the act for certain.
func (r *Restriction) sure() bool { return r.Outcome == engine.Yes }

// restrictionJSON is a Restriction.
type restrictionJSON struct {
	Outcome string   `json:"outcome"` // yes: it is forbidden; too_close, no_view: perhaps
	Text    string   `json:"text"`
	Because []string `json:"because"`
	Rules   []string `json:"rules"`
}

// restrictionOf returns the JSON of a restriction; nil of none.
func restrictionOf(r *Restriction) *restrictionJSON {
	if r == nil {
		return nil
	}
	return &restrictionJSON{r.Outcome.String(), r.Text, r.Because, r.Rules}
}

// newRestriction words what speaks against an act; nil: nothing does. What is only perhaps
// so is left out where something is sure.
func newRestriction(all []engine.Barred) *Restriction {
	if len(all) == 0 {
		return nil
	}
	j := &Restriction{Outcome: all[0].Outcome, Because: []string{}, Rules: []string{}}
	var texts []string
	for i := range all {
		if all[i].Outcome != all[0].Outcome {
			break
		}
		if text := all[i].Words(); !slices.Contains(texts, text) {
			texts, j.Because, j.Rules = append(texts, text), append(j.Because, all[i].Because), append(j.Rules, all[i].Rule)
		}
	}
	j.Text = strings.Join(texts, "; ")
	return j
}

// restricted says what keeps the chosen attacker from an act against the chosen target, as
// far as it may be told; nil: nothing.
func (v *View) restricted(act string) *Restriction {
	if v.Pair == nil {
		return nil
	}
	return v.restrictedFrom(act, v.Choice.From, v.Choice.To)
}

func (v *View) restrictedFrom(act, from, to string) *Restriction {
	return newRestriction(v.Policy.Forbidden(&v.Located.Scene, &v.Result, act, from, to))
}

// The groups of objects.
const (
	groupObstacle = "obstacle"
	groupDevice   = "device"
	groupMarker   = "marker"
)

const kindCache = "supply_cache"

func isSatellite(kind string) bool { return kind == "satellite" || kind == "mission_satellite" }

// partOf reports whether an object is a token, or one of the cards that a token is made
// of: mine1.left of mine1.
func partOf(object, token string) bool {
	return object == token || strings.HasPrefix(object, token+".")
}

// objectOf returns the group and the kind of an object by its id; "" where there is none.
func objectOf(s *engine.Scene, id string) (group, kind string) {
	for i := range s.Obstacles {
		if s.Obstacles[i].ID == id {
			return groupObstacle, s.Obstacles[i].Kind
		}
	}
	for i := range s.Devices {
		if partOf(id, s.Devices[i].ID) {
			return groupDevice, s.Devices[i].Kind
		}
	}
	for i := range s.Markers {
		if partOf(id, s.Markers[i].ID) {
			return groupMarker, s.Markers[i].Kind
		}
	}
	return "", ""
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
func objectsOf(v *View) []objectJSON {
	out := []objectJSON{}
	if w := v.Policy.Window; w != nil && w.Doing == DoBlast { // which measures from the device
		return out
	}
	for i := range v.Result.Objects {
		o := &v.Result.Objects[i]
		if o.From == v.Choice.From && v.stands(o.From) && v.Policy.Object(&v.Located.Scene, o.From, o.To) {
			out = append(out, objectJSONOf(v, o))
		}
	}
	slices.SortStableFunc(out, func(a, b objectJSON) int { return cmp.Compare(a.DistanceMM, b.DistanceMM) })
	return out
}

func objectJSONOf(v *View, o *engine.ObjectVerdict) objectJSON {
	s := &v.Located.Scene
	j := objectJSON{ID: o.To, Outcome: o.Range.Outcome.String(), Title: rangeTitle(o.Range), Band: bandLarge(o.Range),
		DistanceMM: round(float64(o.Range.Distance)), SigmaMM: round(float64(o.Range.Sigma))}
	j.Group, j.Kind = objectOf(s, o.To)
	most := 1 // G228, G232
	switch {
	case s.Rules != engine.Rules25:
	case j.Kind == kindCache:
		j.Act = "tow"
	case isSatellite(j.Kind):
		j.Act = "scramble"
	case j.Group != groupMarker:
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
		j.NoLock = restrictionOf(newRestriction(v.Result.Barred("lock", o.From, o.To)))
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
func blastsOf(v *View) []blastJSON {
	out := []blastJSON{}
	s := &v.Located.Scene
	if v.Health.Code != OK && !v.Held {
		return out
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		if !v.Policy.Object(s, "", d.ID) {
			continue
		}
		b := blastJSON{ID: d.ID, Kind: d.Kind, Ships: []blastShipJSON{}, Uncounted: []string{}}
		for _, u := range v.uncounted() {
			b.Uncounted = append(b.Uncounted, u.Why)
		}
		for k := range s.Ships {
			if ship := &s.Ships[k]; v.stands(ship.ID) {
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
func (b *blastJSON) add(v *View, ship *engine.Ship) {
	var nearest *engine.ObjectVerdict
	for i := range v.Result.Objects {
		o := &v.Result.Objects[i]
		if o.From == ship.ID && partOf(o.To, b.ID) && (nearest == nil || o.Range.Distance < nearest.Range.Distance) {
			nearest = o
		}
	}
	if nearest == nil || nearest.Range.At(0, 3) == engine.No {
		return
	}
	r := &nearest.Range
	b.Ships = append(b.Ships, blastShipJSON{ship.ID, ship.Player, r.Outcome.String(), rangeTitle(*r), round(float64(r.Distance)),
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
		out = append(out, tokenJSON{s.Devices[i].ID, s.Devices[i].Kind, groupDevice})
	}
	for i := range s.Markers {
		out = append(out, tokenJSON{s.Markers[i].ID, s.Markers[i].Kind, groupMarker})
	}
	return out
}
