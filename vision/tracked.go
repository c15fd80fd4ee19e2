package vision

import (
	"fmt"
	"slices"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// TrackState says what is known of a ship at an instant, and so whether questions
// about it are answered.
type TrackState int

// The states. Only Still, Unread and Frozen have a pose that stands.
const (
	Settling TrackState = iota // seen, but not still for long enough yet
	Still                      // seen, where it was
	Moving                     // seen elsewhere than in the pictures before
	Unread                     // not read in this picture, in which its place looks as it did
	Frozen                     // something covers a part of it, the rest is where it was: its last pose stands for a while
	Hidden                     // not seen at all, or not read for longer than that, or since it moved
	Lifted                     // its place shows the mat
)

var trackStateNames = [...]string{"settling", "still", "moving", "unread", "frozen", "hidden", "lifted"}

// String returns the state in one word, as the page's JSON has it.
func (s TrackState) String() string {
	if s < 0 || int(s) >= len(trackStateNames) {
		return fmt.Sprintf("TrackState(%d)", int(s))
	}
	return trackStateNames[s]
}

// Stands reports whether a ship in this state has a pose to answer from.
func (s TrackState) Stands() bool { return s == Still || s == Unread || s == Frozen }

// InSight reports whether a ship in this state is where it was seen, or moves there.
func (s TrackState) InSight() bool { return s != Hidden && s != Lifted }

// Place is what the picture shows where a ship stood that was not read.
type Place int

// The zero value is the one that claims least.
const (
	PlaceCovered   Place = iota // something else: a hand, or unknown
	PlaceUnchanged              // what it showed while the ship was read there
	PlaceBare                   // the mat
	PlacePartly                 // something else, but a corner of the ship is seen where it was
)

// Track is one ship over time.
type Track struct {
	// Ship has the pose that stands: the mean of the pictures since it stood still.
	// While the ship moves or settles it has the newest picture's.
	Ship     engine.Ship
	View     ShipView // of the newest picture that showed it
	State    TrackState
	Since    time.Time // when the state began
	Captured time.Time // of the newest picture that showed the ship at this pose
	Frames   int       // that the pose is the mean of; 0: it does not stand
	Moved    geom.Length
	Read     bool // its code was read since it came to the table: the base carries our print
}

// Age returns how old the sight that the pose rests on is.
func (t *Track) Age(now time.Time) time.Duration { return now.Sub(t.Captured) }

// TrackEvent is something that happened to a ship and that people should know.
type TrackEvent struct {
	At   time.Time // of the picture that showed it
	ID   string
	Left bool        // the table
	Back bool        // on the table, after it had left; else it moved unseen
	By   geom.Length // how far it moved
}

// String says it for people: "A1 moved 34 mm unseen".
func (e TrackEvent) String() string {
	if e.Left {
		return e.ID + " was taken off the table"
	}
	if e.Back {
		return e.ID + " is back on the table"
	}
	if e.By < 10 {
		return fmt.Sprintf("%s moved %.1f mm unseen", e.ID, e.By.Millimeters())
	}
	return fmt.Sprintf("%s moved %.0f mm unseen", e.ID, e.By.Millimeters())
}

// Tracked is what all pictures up to one say about the table.
type Tracked struct {
	Located // the newest picture's, its ships with the tracks' poses

	Tracks []Track // one for each ship of Scene, in the same order
	Events []TrackEvent
}

// Track returns a ship's track.
func (t Tracked) Track(id string) (Track, bool) {
	i := slices.IndexFunc(t.Tracks, func(k Track) bool { return k.Ship.ID == id })
	if i < 0 {
		return Track{}, false
	}
	return t.Tracks[i], true
}

// Standing returns the scene with the ships that questions can be answered about.
func (t Tracked) Standing() engine.Scene {
	s := t.Scene
	s.Ships = nil
	for _, k := range t.Tracks {
		if k.State.Stands() {
			s.Ships = append(s.Ships, k.Ship)
		}
	}
	return s
}

const (
	// RestFrames is how many pictures the mean of a pose must hold before it may be used
	// for pictures that are not searched.
	RestFrames = 3
	// unsettledFor is how long a ship may have failed to settle for its pictures to be
	// given up: it is read in some only, and has no answers.
	unsettledFor = 2 * time.Second
)

// AtRest reports whether time alone changes nothing in what is known of the ships: each
// is still and its pose the mean of some pictures, or was lost from sight for good, or
// is so badly seen that it does not settle though nothing moves.
func (t *Tracked) AtRest() bool {
	for i := range t.Tracks {
		k := &t.Tracks[i]
		switch {
		case k.State == Hidden, k.State == Still && k.Frames >= RestFrames:
		case k.State == Settling && t.Captured.Sub(k.Since) >= unsettledFor:
		default:
			return false
		}
	}
	return true
}

// TakeUnidentified takes the bases of which only the place is known out of what is known, and returns them: several cameras put together
// what they see by the ships' names, and by their cards.
func (t *Tracked) TakeUnidentified() (unnamed []Track) {
	var named []Track
	for _, k := range t.Tracks {
		if token.Unidentified(k.Ship.ID) && k.Ship.Look == "" {
			unnamed = append(unnamed, k)
		} else {
			named = append(named, k)
		}
	}
	if len(unnamed) > 0 {
		t.list(named)
	}
	return unnamed
}

// GiveUnidentified puts them back, but those that are ships' by what another camera has seen of them.
func (t *Tracked) GiveUnidentified(unnamed []Track) {
	if len(unnamed) == 0 {
		return
	}
	all := slices.Clone(t.Tracks)
	for _, k := range unnamed {
		u := UnidentifiedBase{Base: k.Ship.Base, Pose: k.Ship.Pose}
		if !slices.ContainsFunc(t.Tracks, func(o Track) bool { return o.State.Stands() && u.At(o.Ship.Base, o.Ship.Pose) }) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b Track) int { return CompareIDs(a.Ship.ID, b.Ship.ID) })
	t.list(all)
}

// list makes the scene's ships those of the tracks.
func (t *Tracked) list(tracks []Track) {
	t.Tracks, t.Scene.Ships, t.Ships = tracks, nil, nil
	for _, k := range tracks {
		t.Scene.Ships, t.Ships = append(t.Scene.Ships, k.Ship), append(t.Ships, k.View)
	}
}
