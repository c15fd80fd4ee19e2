package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"sightline/calibration/strictjson"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
)

// LyingFile is the name of the obstacles' file in the data directory.
const LyingFile = "obstacles-lying.json"

const (
	lyingFor     = 3 * time.Hour // longer than a game: the next one's obstacles lie elsewhere
	lyingSaved   = 5 * time.Minute
	lyingBytes   = 64 << 10
	lyingMost    = 60 // obstacles
	lyingVersion = 1
	lyingEvery   = 2 * time.Second
)

// Lying stores in a file which obstacles lie on the mat. When the program starts again, ships may stand on them, and a search that knows
// nothing of them would take what stands out for the ships' miniatures. It is safe for concurrent use.
type Lying struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex
	lie   []lyingObstacle
	dirty bool
	saved time.Time
}

type lyingFile struct {
	Version   int             `json:"version"`
	At        time.Time       `json:"at"`
	Obstacles []lyingObstacle `json:"obstacles"`
}

type lyingObstacle struct {
	Name    string  `json:"name"`
	Flipped bool    `json:"flipped,omitempty"`
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Heading float64 `json:"heading_deg"`
	Misfit  float64 `json:"misfit"`
}

// OpenLying reads a file. If the file is missing or too old, nothing lies on the mat. If it is invalid, OpenLying returns an error too.
func OpenLying(path string, now time.Time, log *slog.Logger) (*Lying, error) {
	l := &Lying{path: path, log: log}
	var f lyingFile
	found, err := strictjson.Load(path, lyingBytes, &f)
	if err == nil && found {
		if err = f.check(); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return l, fmt.Errorf("obstacles of before: %w", err)
	}
	if found && now.Sub(f.At).Abs() <= lyingFor {
		l.lie = f.Obstacles
	}
	return l, nil
}

// check validates a file. The error names the key.
func (f *lyingFile) check() error {
	if f.Version != lyingVersion {
		return fmt.Errorf("version: expected %d, got %d", lyingVersion, f.Version)
	}
	if len(f.Obstacles) > lyingMost {
		return fmt.Errorf("obstacles: expected at most %d, got %d", lyingMost, len(f.Obstacles))
	}
	for i, o := range f.Obstacles {
		if o.Name == "" {
			return fmt.Errorf("obstacles[%d].name: expected an entry's name, got none", i)
		}
		if !(math.Abs(o.X) <= 5000 && math.Abs(o.Y) <= 5000 && math.Abs(o.Heading) <= 720 && o.Misfit >= 0 && o.Misfit <= 1) {
			return fmt.Errorf("obstacles[%d]: expected a place of at most 5000 mm, a heading of at most 720° and a misfit of 0 to 1, got %v, %v, "+
				"%v, %v", i, o.X, o.Y, o.Heading, o.Misfit)
		}
	}
	return nil
}

// Before returns the obstacles that lay on the mat when the program last ran: of each the name of its entry, and its place.
func (l *Lying) Before() (views []vision.ObstacleView) {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.lie {
		views = append(views, vision.ObstacleView{
			Entry: &catalogue.Entry{Name: o.Name}, Flipped: o.Flipped, Misfit: o.Misfit, Before: true,
			Pose: geom.Pose{Point: geom.Point{X: o.X, Y: o.Y}, Heading: (geom.Angle(o.Heading) * geom.Degree).Normalized()},
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
		now = append(now, lyingObstacle{v.Entry.Name, v.Flipped, v.Pose.X, v.Pose.Y, v.Pose.Heading.Degrees(), v.Misfit})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.EqualFunc(now, l.lie, func(a, b lyingObstacle) bool {
		return a.Name == b.Name && a.Flipped == b.Flipped && math.Hypot(a.X-b.X, a.Y-b.Y) < 0.5 && math.Abs(a.Heading-b.Heading) < 0.5
	}) {
		l.lie, l.dirty = now, true
	}
}

// String names the task.
func (l *Lying) String() string { return "obstacles on the mat" }

// Run writes the file when something changed, and now and then, until ctx is cancelled.
func (l *Lying) Run(ctx context.Context) error {
	t := time.NewTicker(lyingEvery)
	defer t.Stop()
	failed := false
	for done := false; !done; {
		select {
		case <-t.C:
		case <-ctx.Done():
			done = true
		}
		err := l.write(time.Now())
		if err != nil && !failed {
			l.log.Warn("the obstacles on the mat are not kept for a restart", "err", err)
		}
		failed = err != nil
	}
	return nil
}

// write writes the file if something changed since it was written, or that was long ago.
func (l *Lying) write(now time.Time) error {
	l.mu.Lock()
	f := lyingFile{Version: lyingVersion, At: now, Obstacles: slices.Clone(l.lie)}
	due := l.dirty || len(l.lie) > 0 && now.Sub(l.saved).Abs() >= lyingSaved
	l.dirty = false
	l.mu.Unlock()
	if !due {
		return nil
	}
	if f.Obstacles == nil {
		f.Obstacles = []lyingObstacle{}
	}
	err := strictjson.Save(l.path, f, 0o600)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.dirty = true
		return err
	}
	l.saved = now
	return nil
}
