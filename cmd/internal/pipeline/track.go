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

// Track is the stage that follows ships from picture to picture. It also owns the change
// detector.
type Track struct {
	single    bool // the pictures are independent of each other
	tracker   *track.Tracker
	looks     *track.AppearanceMemory // how the places of the ships look
	newChange func(calibration.Table) (*track.ChangeDetector, error)
	log       *slog.Logger

	change *track.ChangeDetector // nil: every picture is searched
	rules  game.Rules            // of the last search
	last   pictureName           // of the last searched picture
}

// newTrack returns the stage. newChange may be nil: then every picture is searched.
func newTrack(o track.TrackerOptions, newChange func(calibration.Table) (*track.ChangeDetector, error), log *slog.Logger) *Track {
	return &Track{single: o.SettleFrames == 1, tracker: track.NewTracker(o), looks: track.NewAppearanceMemory(), newChange: newChange,
		log: log}
}

// reset forgets all ships, after a change of the registration.
func (t *Track) reset() {
	t.tracker.Reset()
	t.looks.Reset()
	t.change = nil
}

// forget drops a ship's pose and the look of its place, when something else than its code says where it stands now.
func (t *Track) forget(id string) {
	t.tracker.Forget(id)
	t.looks.Forget(id)
}

// detectChange starts change detection for a table. If that fails, every picture is searched.
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

// NewChangeDetector returns a change detector with the default options.
func NewChangeDetector(t calibration.Table) (*track.ChangeDetector, error) {
	return track.NewChangeDetector(t, track.ChangeOptions{})
}

// unchanged reports whether a picture shows the same as the last searched one. It must see every
// picture, since it counts the unchanged ones.
func (t *Track) unchanged(g *image.Gray, at time.Time) bool {
	return t.change != nil && t.change.Unchanged(g, at)
}

// repeat returns the ships of the last searched picture as those of an unchanged one.
func (t *Track) repeat(captured time.Time, seq uint64) vision.Tracked {
	return t.tracker.Rest(captured, seq)
}

// Update adds the ships located in a picture to the tracks.
func (t *Track) Update(f vision.Frame, located vision.Located, edges track.EdgeFinder) vision.Tracked {
	g := f.Gray
	tracked := t.tracker.Update(located, func(id string) vision.Place { return t.looks.Place(g, id) }, edges)
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

// pictureName identifies a picture of a directory.
type pictureName struct {
	name     string
	captured time.Time
}

// resetIfOlder resets the tracking when timestamps go backwards. Pictures of a directory come in
// the order of their names, in a loop, with the times of their files; the tracker must not keep
// the results of another picture, or of this one with an old mat or catalogue.
func (t *Track) resetIfOlder(name string, captured time.Time) {
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
