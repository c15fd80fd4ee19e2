package vision

import (
	"fmt"
	"slices"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// TrackState is the state of a ship's pose. It determines whether questions about the ship are
// answered.
type TrackState int

// The states. Only Still, Unread and Frozen have a pose to answer from.
const (
	Settling TrackState = iota // seen, but not yet still for long enough
	Still                      // seen, where it was
	Moving                     // seen in another place than before
	Unread                     // not read in this picture, but its place looks unchanged
	Frozen                     // partly covered, the rest unchanged: keeps its pose for a while
	Hidden                     // not seen, or covered for longer than that or since it moved
	Lifted                     // its place shows the mat
)

var trackStateNames = [...]string{"settling", "still", "moving", "unread", "frozen", "hidden", "lifted"}

// String returns the state in one word, as in the page's JSON.
func (s TrackState) String() string {
	if s < 0 || int(s) >= len(trackStateNames) {
		return fmt.Sprintf("TrackState(%d)", int(s))
	}
	return trackStateNames[s]
}

// Stands reports whether a ship in this state has a pose to answer from.
func (s TrackState) Stands() bool { return s == Still || s == Unread || s == Frozen }

// InSight reports whether a ship in this state is where it was last seen, or moves there.
func (s TrackState) InSight() bool { return s != Hidden && s != Lifted }

// Place is what a picture shows where a ship stood that was not read.
type Place int

// The kinds. The zero value claims least.
const (
	PlaceCovered   Place = iota // something else: a hand, or unknown
	PlaceUnchanged              // the same as when the ship was read there
	PlaceBare                   // the mat
	PlacePartly                 // something else, but a corner of the ship is visible in its place
)

// Track is one ship over time.
type Track struct {
	// Ship has the mean pose since it stood still or, while it moves or settles, the newest picture's
	// pose.
	Ship     engine.Ship
	View     ShipView // of the newest picture that showed it
	State    TrackState
	Since    time.Time // when the state began
	Captured time.Time // of the newest picture that showed the ship at this pose
	Frames   int       // number of pictures in the mean pose; 0 if it does not stand
	Moved    geom.Length
	Read     bool // its code was read since it came to the table: it carries our print
}

// Age returns the age of the sighting behind the pose.
func (t *Track) Age(now time.Time) time.Duration { return now.Sub(t.Captured) }

// TrackEvent is an event of a ship that people should know about.
type TrackEvent struct {
	At   time.Time // of the picture that showed it
	ID   string
	Left bool        // the table
	Back bool        // it is back on the table; otherwise it moved unseen
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

// Tracked is what all pictures so far show of the table.
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

// Standing returns the scene with only the ships that have a pose to answer from.
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
	// RestFrames is how many pictures the mean pose must include before pictures may go unsearched.
	RestFrames = 3
	// unsettledFor is how long a ship may fail to settle before it no longer requires searches: it is
	// read in some pictures only and has no answers.
	unsettledFor = 2 * time.Second
)

// AtRest reports whether the ships' states will not change by time alone: each is still with the
// mean of some pictures, or is out of sight for good, or is seen so badly that it does not settle.
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

// TakeUnidentified removes the unidentified bases and returns them: fusing cameras compares ships
// by name and card, which these do not have.
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

// GiveUnidentified adds them again, except those that another camera identified.
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
