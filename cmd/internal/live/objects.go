package live

import (
	"cmp"
	"slices"
	"strings"

	"sightline/engine"
)

// The groups of objects.
const (
	groupObstacle = "obstacle"
	GroupDevice   = "device"
	GroupMarker   = "marker"
)

const kindCache = "supply_cache"

func isSatellite(kind string) bool { return kind == "satellite" || kind == "mission_satellite" }

// partOf reports whether an object is a token or one of the cards that make up a token:
// mine1.left of mine1.
func partOf(object, token string) bool {
	return object == token || strings.HasPrefix(object, token+".")
}

// objectOf returns the group and the kind of an object; "" if there is none with that id.
func objectOf(s *engine.Scene, id string) (group, kind string) {
	for i := range s.Obstacles {
		if s.Obstacles[i].ID == id {
			return groupObstacle, s.Obstacles[i].Kind
		}
	}
	for i := range s.Devices {
		if partOf(id, s.Devices[i].ID) {
			return GroupDevice, s.Devices[i].Kind
		}
	}
	for i := range s.Markers {
		if partOf(id, s.Markers[i].ID) {
			return GroupMarker, s.Markers[i].Kind
		}
	}
	return "", ""
}

// Object is an obstacle, a device or a marker, measured from the chosen attacker.
type Object struct {
	ID, Kind string
	Group    string // obstacle, device, marker
	Range    engine.RangeVerdict
	Act      string         // lock, tow, scramble: what the ship may want to do to it; "": none
	May      engine.Outcome // whether it may, by range and by where it stands; unset without Act
	Text     string
	NoLock   *Restriction // nil: the rules allow a lock
}

// objects lists the objects that the agreement lets the chosen attacker measure to, nearest
// first.
func (s *State) objects() (out []Object) {
	if w := s.Policy.Window; w != nil && w.Doing == DoBlast { // measures from the device
		return nil
	}
	for i := range s.Result.Objects {
		o := &s.Result.Objects[i]
		if o.From == s.Choice.From && s.Stands(o.From) && s.Policy.Object(&s.Located.Scene, o.From, o.To) {
			out = append(out, s.object(o))
		}
	}
	slices.SortStableFunc(out, func(a, b Object) int { return cmp.Compare(a.Range.Distance, b.Range.Distance) })
	return out
}

func (s *State) object(o *engine.ObjectVerdict) Object {
	scene := &s.Located.Scene
	out := Object{ID: o.To, Range: o.Range}
	out.Group, out.Kind = objectOf(scene, o.To)
	most := 1 // G228, G232
	switch {
	case scene.Rules != engine.Rules25:
	case out.Kind == kindCache:
		out.Act = "tow"
	case isSatellite(out.Kind):
		out.Act = "scramble"
	case out.Group != GroupMarker:
		out.Act, most = "lock", 3 // G77, G79
	}
	if out.Act == "" {
		return out
	}
	switch out.May = o.Range.At(0, most); out.May {
	case engine.Yes:
		out.Text = "near enough to " + out.Act
	case engine.No:
		out.Text = "too far to " + out.Act
	case engine.Indeterminate:
		out.Text = "too close to call whether it is near enough to " + out.Act
	}
	if why := s.game().OutOfPlay(o.From); why != "" { // it does nothing, though its base still stands there
		out.May, out.Text = engine.No, why
		return out
	}
	out.NoLock = newRestriction(s.Result.Restrictions("lock", o.From, o.To))
	if no := out.NoLock; no != nil && out.May != engine.No && out.Act == "lock" {
		out.May, out.Text = no.Outcome, no.Text
		if no.certain() {
			out.May = engine.No
		}
	}
	return out
}

// Blast is a device and the ships near it.
type Blast struct {
	ID, Kind  string
	Ships     []BlastShip // up to range 3, nearest first
	Uncounted []string    // ships whose place is not sure, in words
}

// BlastShip is a ship near a device.
type BlastShip struct {
	ID     string
	Player int
	Range  engine.RangeVerdict
}

// blasts lists the devices that the agreement lets players measure from, with the ships near
// them.
func (s *State) blasts() (out []Blast) {
	scene := &s.Located.Scene
	if !s.answers() {
		return nil
	}
	for i := range scene.Devices {
		d := &scene.Devices[i]
		if !s.Policy.Object(scene, "", d.ID) {
			continue
		}
		b := Blast{ID: d.ID, Kind: d.Kind}
		for _, u := range s.Uncounted() {
			b.Uncounted = append(b.Uncounted, u.Why)
		}
		for k := range scene.Ships {
			if ship := &scene.Ships[k]; s.Stands(ship.ID) && s.game().OutOfPlay(ship.ID) == "" {
				b.add(s, ship)
			}
		}
		slices.SortStableFunc(b.Ships, func(a, b BlastShip) int { return cmp.Compare(a.Range.Distance, b.Range.Distance) })
		out = append(out, b)
	}
	return out
}

// add lists a ship that may be at range 0 to 3 of the device, measured from the nearest of its
// cards.
func (b *Blast) add(s *State, ship *engine.Ship) {
	var nearest *engine.ObjectVerdict
	for i := range s.Result.Objects {
		o := &s.Result.Objects[i]
		if o.From == ship.ID && partOf(o.To, b.ID) && (nearest == nil || o.Range.Distance < nearest.Range.Distance) {
			nearest = o
		}
	}
	if nearest != nil && nearest.Range.At(0, 3) != engine.No {
		b.Ships = append(b.Ships, BlastShip{ship.ID, ship.Player, nearest.Range})
	}
}
