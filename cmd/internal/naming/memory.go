package naming

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"sightline/calibration/strictjson"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// File is the name of the memory's file in the data directory.
const File = "ships.json"

const (
	keptFor     = 12 * time.Hour // a day of play: the next day's ships are others
	keptMost    = 64 << 10       // bytes
	keptShips   = 40
	keptVersion = 1
	writeEvery  = 2 * time.Second
)

// Memory stores in a file where ships stood under their names, so that ships that still stand there keep their names when the program
// restarts. It is safe for concurrent use.
type Memory struct {
	path string
	log  *slog.Logger

	mu    sync.Mutex
	ships []engine.Ship
	dirty bool
}

type keptFile struct {
	Version int        `json:"version"`
	At      time.Time  `json:"at"`
	Ships   []keptShip `json:"ships"`
}

type keptShip struct {
	ID      string  `json:"id"`
	Base    string  `json:"base"`
	Seen    string  `json:"seen"`
	Look    string  `json:"look,omitempty"`
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Heading float64 `json:"heading_deg"`
	// Quarters says that the heading may be off by quarter turns.
	Quarters bool `json:"quarters,omitempty"`
}

// OpenMemory reads a file. If the file is missing or too old, the memory is empty. If the file is invalid, OpenMemory returns an error and
// an empty memory.
func OpenMemory(path string, now time.Time, log *slog.Logger) (*Memory, error) {
	m := &Memory{path: path, log: log}
	var f keptFile
	found, err := strictjson.Load(path, keptMost, &f)
	if err != nil {
		return m, fmt.Errorf("ships' names: %w", err)
	}
	if !found {
		return m, nil
	}
	if err := f.check(); err != nil {
		return m, fmt.Errorf("ships' names: %s: %w", path, err)
	}
	// A board without a battery starts with the time it last saved, up to an hour before a power cut.
	if now.Sub(f.At).Abs() > keptFor {
		return m, nil
	}
	for _, k := range f.Ships {
		base, _ := engine.ParseBase(k.Base)
		m.ships = append(m.ships, engine.Ship{ID: k.ID, Player: player(k.ID), Base: base, Seen: k.Seen, Look: k.Look, Quarters: k.Quarters,
			Pose: geom.Pose{Point: geom.Point{X: k.X, Y: k.Y}, Heading: (geom.Angle(k.Heading) * geom.Degree).Normalized()}})
	}
	return m, nil
}

// player returns the player of a ship by its name; 0: unknown.
func player(id string) int {
	c, err := token.CodeOfID(id)
	if err != nil {
		return 0
	}
	return c.Player()
}

// check validates a file. The error names the key.
func (f *keptFile) check() error {
	if f.Version != keptVersion {
		return fmt.Errorf("version: expected %d, got %d", keptVersion, f.Version)
	}
	if len(f.Ships) > keptShips {
		return fmt.Errorf("ships: expected at most %d, got %d", keptShips, len(f.Ships))
	}
	for i, k := range f.Ships {
		if _, err := token.CodeOfID(k.ID); err != nil {
			return fmt.Errorf("ships[%d].id: %w", i, err)
		}
		if _, err := engine.ParseBase(k.Base); err != nil {
			return fmt.Errorf("ships[%d].base: %w", i, err)
		}
		if k.Seen != "look" && k.Seen != "edges" {
			return fmt.Errorf("ships[%d].seen: expected look or edges, got %.40q", i, k.Seen)
		}
		if !(math.Abs(k.X) <= 5000 && math.Abs(k.Y) <= 5000 && math.Abs(k.Heading) <= 720) {
			return fmt.Errorf("ships[%d]: expected a place of at most 5000 mm and a heading of at most 720°, got %v, %v, %v", i, k.X, k.Y,
				k.Heading)
		}
	}
	return nil
}

// Known returns the ships that stood under their names, each where it last stood.
func (m *Memory) Known() []engine.Ship {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.ships)
}

// keep remembers where the ships stand. Run writes it to the file.
func (m *Memory) keep(stood map[string]engine.Ship) {
	var now []engine.Ship
	for _, s := range stood {
		now = append(now, s)
	}
	slices.SortFunc(now, func(a, b engine.Ship) int { return vision.CompareIDs(a.ID, b.ID) })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dirty = m.dirty || !slices.EqualFunc(now, m.ships, func(a, b engine.Ship) bool {
		return a.ID == b.ID && a.Look == b.Look && a.Seen == b.Seen && a.Quarters == b.Quarters &&
			a.Pose.Distance(b.Pose.Point) < 0.05 &&
			a.Pose.Heading.Distance(b.Pose.Heading).Degrees() < 0.05
	})
	if m.dirty {
		m.ships = now
	}
}

// String names the task.
func (m *Memory) String() string { return "ships' names" }

// Run writes the file when something changed, until ctx is cancelled.
func (m *Memory) Run(ctx context.Context) error {
	t := time.NewTicker(writeEvery)
	defer t.Stop()
	failed := false
	for done := false; !done; {
		select {
		case <-t.C:
		case <-ctx.Done():
			done = true
		}
		err := m.write(time.Now())
		if err != nil && !failed {
			m.log.Warn("the ships' names are not kept for a restart", "err", err)
		}
		failed = err != nil
	}
	return nil
}

// write writes the file if something changed since it was written.
func (m *Memory) write(now time.Time) error {
	m.mu.Lock()
	ships, dirty := m.ships, m.dirty
	m.dirty = false
	m.mu.Unlock()
	if !dirty {
		return nil
	}
	f := keptFile{Version: keptVersion, At: now, Ships: []keptShip{}}
	for _, s := range ships[:min(len(ships), keptShips)] {
		f.Ships = append(f.Ships, keptShip{s.ID, s.Base.String(), s.Seen, s.Look, s.Pose.X, s.Pose.Y, s.Pose.Heading.Degrees(),
			s.Quarters})
	}
	err := strictjson.Save(m.path, f, 0o600)
	if err != nil {
		m.mu.Lock()
		m.dirty = true
		m.mu.Unlock()
	}
	return err
}
