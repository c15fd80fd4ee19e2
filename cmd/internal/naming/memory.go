package naming

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sightline/cmd/internal/kept"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/token"
)

// File is the name of the memory's file in the data directory.
const File = "ships.json"

const (
	keptFor     = 12 * time.Hour // a day of play: the next day's ships are others
	keptShips   = 40
	keptVersion = 1
)

// Memory stores in a file where ships stood under their names, so that ships that still stand there keep their names when the program
// restarts. It is safe for concurrent use.
type Memory struct{ *kept.Store[[]engine.Ship] }

type keptFile struct {
	kept.Header
	Ships []keptShip `json:"ships"`
}

type keptShip struct {
	ID   string `json:"id"`
	Base string `json:"base"`
	Seen string `json:"seen"`
	Look string `json:"look,omitempty"`
	kept.Place
	// Quarters says that the heading may be off by quarter turns.
	Quarters bool `json:"quarters,omitempty"`
	// TurnDoubt says that its card may lie a quarter turn off in its base.
	TurnDoubt bool `json:"turn_doubt,omitempty"`
}

// OpenMemory reads a file. If the file is missing or too old, the memory is empty. If the file is invalid, OpenMemory returns an error and
// an empty memory. If clock tells that the time since it was written is not known, the memory is empty until it is: ships of the day before
// may have stood there.
func OpenMemory(path string, now time.Time, clock *kept.Clock, log *slog.Logger) (*Memory, error) {
	var f keptFile
	store, err := kept.Open(kept.Options[[]engine.Ship]{
		Path: path, Name: "ships' names", Version: keptVersion, For: keptFor, Same: sameShips, Form: fileOf, Clock: clock, Log: log,
	}, now, &f, f.ships)
	return &Memory{store}, err
}

// ships returns the ships of a file.
func (f *keptFile) ships() (out []engine.Ship) {
	for _, k := range f.Ships {
		base, _ := engine.ParseBase(k.Base)
		out = append(out, engine.Ship{ID: k.ID, Player: player(k.ID), Base: base, Seen: k.Seen, Look: k.Look, Quarters: k.Quarters,
			TurnDoubt: k.TurnDoubt, Pose: k.Pose()})
	}
	return out
}

// fileOf returns the file of ships.
func fileOf(h kept.Header, ships []engine.Ship) any {
	f := keptFile{h, []keptShip{}}
	for _, s := range ships[:min(len(ships), keptShips)] {
		f.Ships = append(f.Ships, keptShip{s.ID, s.Base.String(), s.Seen, s.Look, kept.PlaceOf(s.Pose), s.Quarters, s.TurnDoubt})
	}
	return f
}

// player returns the player of a ship by its name; 0: unknown.
func player(id string) int {
	c, err := token.CodeOfID(id)
	if err != nil {
		return 0
	}
	return c.Player()
}

// Check validates a file. The error names the key.
func (f *keptFile) Check() error {
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
		if err := k.Place.Check(); err != nil {
			return fmt.Errorf("ships[%d]: %w", i, err)
		}
	}
	return nil
}

// Known returns the ships that stood under their names, each where it last stood.
func (m *Memory) Known() []engine.Ship { return slices.Clone(m.Value()) }

// keep remembers where the ships stand. Run writes it to the file.
func (m *Memory) keep(stood map[string]engine.Ship) {
	var now []engine.Ship
	for _, s := range stood {
		now = append(now, s)
	}
	slices.SortFunc(now, func(a, b engine.Ship) int { return vision.CompareIDs(a.ID, b.ID) })
	m.Keep(now)
}

// sameShips reports whether the same ships stand where they stood.
func sameShips(now, before []engine.Ship) bool {
	return slices.EqualFunc(now, before, func(a, b engine.Ship) bool {
		return a.ID == b.ID && a.Look == b.Look && a.Seen == b.Seen && a.Quarters == b.Quarters && a.TurnDoubt == b.TurnDoubt &&
			a.Pose.Distance(b.Pose.Point) < 0.05 &&
			a.Pose.Heading.Distance(b.Pose.Heading).Degrees() < 0.05
	})
}
