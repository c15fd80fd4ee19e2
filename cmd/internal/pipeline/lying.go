package pipeline

import (
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"sightline/cmd/internal/kept"
	"sightline/vision"
	"sightline/vision/catalogue"
)

// LyingFile is the name of the obstacles' file in the data directory.
const LyingFile = "obstacles-lying.json"

const (
	lyingFor     = 3 * time.Hour // longer than a game: the next one's obstacles lie elsewhere
	lyingAgain   = 5 * time.Minute
	lyingMost    = 60 // obstacles
	lyingVersion = 1
)

// Lying stores in a file which obstacles lie on the mat. When the program starts again, ships may stand on them, and a search that knows
// nothing of them would take what stands out for the ships' miniatures. It is safe for concurrent use.
type Lying struct{ *kept.Store[[]lyingObstacle] }

type lyingFile struct {
	kept.Header
	Obstacles []lyingObstacle `json:"obstacles"`
}

type lyingObstacle struct {
	Name    string `json:"name"`
	Flipped bool   `json:"flipped,omitempty"`
	kept.Place
	Misfit float64 `json:"misfit"`
}

// OpenLying reads a file. If the file is missing or too old, nothing lies on the mat. If it is invalid, there is an error too.
func OpenLying(path string, now time.Time, log *slog.Logger) (*Lying, error) {
	var f lyingFile
	store, err := kept.Open(kept.Options[[]lyingObstacle]{
		Path: path, Name: "obstacles on the mat", Version: lyingVersion, For: lyingFor, Same: sameLying, Again: lyingAgain, Log: log,
		Form: func(h kept.Header, lie []lyingObstacle) any { return lyingFile{h, append([]lyingObstacle{}, lie...)} },
	}, now, &f, func() []lyingObstacle { return f.Obstacles })
	return &Lying{store}, err
}

// Check validates a file. The error names the key.
func (f *lyingFile) Check() error {
	if len(f.Obstacles) > lyingMost {
		return fmt.Errorf("obstacles: expected at most %d, got %d", lyingMost, len(f.Obstacles))
	}
	for i, o := range f.Obstacles {
		if o.Name == "" {
			return fmt.Errorf("obstacles[%d].name: expected an entry's name, got none", i)
		}
		if err := o.Place.Check(); err != nil {
			return fmt.Errorf("obstacles[%d]: %w", i, err)
		}
		if !(o.Misfit >= 0 && o.Misfit <= 1) {
			return fmt.Errorf("obstacles[%d].misfit: expected 0 to 1, got %v", i, o.Misfit)
		}
	}
	return nil
}

// Before returns the obstacles that lay on the mat when the program last ran: of each the name of its entry, and its place.
func (l *Lying) Before() (views []vision.ObstacleView) {
	if l == nil {
		return nil
	}
	for _, o := range l.Value() {
		views = append(views, vision.ObstacleView{
			Entry: &catalogue.Entry{Name: o.Name}, Flipped: o.Flipped, Misfit: o.Misfit, Before: true, Pose: o.Pose(),
		})
	}
	return views
}

// keep remembers which obstacles lie on the mat. Run writes it to the file.
func (l *Lying) keep(views []vision.ObstacleView) {
	if l == nil {
		return
	}
	var now []lyingObstacle
	for i := range views[:min(len(views), lyingMost)] {
		v := &views[i]
		now = append(now, lyingObstacle{v.Entry.Name, v.Flipped, kept.PlaceOf(v.Pose), v.Misfit})
	}
	l.Keep(now)
}

// sameLying reports whether the same obstacles lie where they lay.
func sameLying(now, before []lyingObstacle) bool {
	return slices.EqualFunc(now, before, func(a, b lyingObstacle) bool {
		return a.Name == b.Name && a.Flipped == b.Flipped && math.Hypot(a.X-b.X, a.Y-b.Y) < 0.5 && math.Abs(a.Heading-b.Heading) < 0.5
	})
}
