package pipeline

import (
	"image"
	"log/slog"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/vision"
	"sightline/vision/token"
	"sightline/vision/track"
)

// Track is the stage that follows ships through the pictures, and tells pictures that
// show nothing new.
type Track struct {
	single    bool // each picture speaks for itself
	tracker   *track.Tracker
	looks     *track.AppearanceMemory // how the ships' places look
	newChange func(calibration.Table) (*track.ChangeDetector, error)
	log       *slog.Logger

	change *track.ChangeDetector // nil: every picture is searched
	rules  game.Rules            // that the last search was measured by
	last   pictureName           // of the picture that was searched last
}

// newTrack returns the stage. newChange makes what tells that a picture need not be
// searched; nil: every picture is.
func newTrack(o track.TrackerOptions, newChange func(calibration.Table) (*track.ChangeDetector, error), log *slog.Logger) *Track {
	return &Track{single: o.SettleFrames == 1, tracker: track.NewTracker(o), looks: track.NewAppearanceMemory(), newChange: newChange,
		log: log}
}

// reset forgets all ships: what was seen through another registration does not count.
func (t *Track) reset() {
	t.tracker.Reset()
	t.looks.Reset()
	t.change = nil
}

// forget gives up where a ship stood: something else than its code says where it stands now, and what its old place shows is no measure
// for that.
func (t *Track) forget(id string) {
	t.tracker.Forget(id)
	t.looks.Forget(id)
}

// detectChange begins to tell pictures that show nothing new from others. Where that
// cannot be done every picture is searched.
func (t *Track) detectChange(table calibration.Table) {
	if t.newChange == nil {
		return
	}
	change, err := t.newChange(table)
	if err != nil {
		t.log.Warn("every picture is searched in full", "err", err)
		return
	}
	t.change = change
}

// NewChangeDetector returns what tells pictures that show nothing new, with the usual
// options.
func NewChangeDetector(t calibration.Table) (*track.ChangeDetector, error) {
	return track.NewChangeDetector(t, track.ChangeOptions{})
}

// unchanged reports whether a picture shows what the last one showed that was searched.
// It is asked of every picture, for it counts the quiet ones.
func (t *Track) unchanged(g *image.Gray, at time.Time) bool {
	return t.change != nil && t.change.Unchanged(g, at)
}

// rest takes a picture that is unchanged: what was found stands, seen now.
func (t *Track) rest(captured time.Time, seq uint64) vision.Tracked {
	return t.tracker.Rest(captured, seq)
}

// Update takes the ships of a picture that was searched together with those of the
// pictures before.
func (t *Track) Update(f vision.Frame, located vision.Located, edges track.EdgeFinder) vision.Tracked {
	g := f.Gray
	tracked := t.tracker.SeeEdges(located, func(id string) vision.Place { return t.looks.Look(g, id) }, edges)
	var still []vision.ShipView
	for _, k := range tracked.Tracks {
		if k.State == vision.Still && !token.Unidentified(k.Ship.ID) {
			still = append(still, k.View)
		}
	}
	t.looks.Remember(g, still)
	return tracked
}

// searched tells the change detector that a picture was searched.
func (t *Track) searched(g *image.Gray, at time.Time, tracked *vision.Tracked, rules game.Rules) {
	t.rules = rules
	if t.change != nil {
		pending := tracked.Obstacles != nil && (tracked.Obstacles.Pending() || tracked.Obstacles.Refining)
		t.change.Searched(g, at, &tracked.Located, tracked.AtRest() && !pending)
	}
}

// pictureName tells the pictures of a directory from each other.
type pictureName struct {
	name     string
	captured time.Time
}

// lookAgain resets the tracking when times do not advance. The pictures of a directory
// come in the order of their names, again and again, and have the times of their files:
// the tracker would keep what it said of another picture, or of this one by a mat or a
// catalogue that is gone.
func (t *Track) lookAgain(name string, captured time.Time) {
	before := t.last
	t.last = pictureName{name, captured}
	switch {
	case !t.single || captured.After(before.captured):
	case t.last == before:
		t.tracker.Again()
	default:
		t.tracker.Reset()
		t.looks.Reset()
	}
}
