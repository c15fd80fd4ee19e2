// Package kept stores for a restart what the program has seen. A task writes it to a JSON file when it has changed.
package kept

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sightline/calibration/strictjson"
)

// Header begins a file.
type Header struct {
	Version int `json:"version"`
	Stamp       // when it was written
}

func (h *Header) header() *Header { return h }

// A Document is a file's form. It embeds Header.
type Document interface {
	header() *Header
	Check() error // names the key
}

const bytesMost = 8 << 20 // marks hold what the picture showed there

// Load reads a file. It reports false if there is none, or if it is older than most, or as far in the future: a board without a battery
// starts with the time it last saved, up to an hour before a power cut. Errors name the path.
func Load(path string, version int, to Document, now time.Time, most time.Duration) (fresh bool, err error) {
	age, err := load(path, version, to, now, most, nil)
	return age == Fresh, err
}

func load(path string, version int, to Document, now time.Time, most time.Duration, c *Clock) (Age, error) {
	found, err := strictjson.Load(path, bytesMost, to)
	if err != nil || !found {
		return Old, err
	}
	h := to.header()
	if h.Version != version {
		err = fmt.Errorf("version: expected %d, got %d", version, h.Version)
	} else {
		err = to.Check()
	}
	if err != nil {
		return Old, fmt.Errorf("%s: %w", path, err)
	}
	return h.age(now, most, c), nil
}

// Options say what a Store stores, and where.
type Options[T any] struct {
	Path    string
	Name    string                  // of what is stored, and of the task: a plural
	Version int                     // of the file
	For     time.Duration           // how long the file counts
	Same    func(a, b T) bool       // reports whether two values need not be told apart
	Form    func(h Header, v T) any // returns the file's content
	Clock   *Clock                  // nil: the time of day is trusted
	Again   time.Duration           // after which a value is written again that was still seen; 0: never
	Log     *slog.Logger
}

// Store holds a value and writes it to a file. It is safe for concurrent use.
type Store[T any] struct {
	o Options[T]

	mu    sync.Mutex
	value T
	dirty bool
	seen  bool      // since it was written
	saved time.Time // zero: there is no file
	late  *T        // what the file held if its age was not known; nil: it was, or Late returned it
	from  Header    // late's
}

// Open reads the file into f and returns a store of its value, which value returns from f. If the file is missing or too old, the store
// is empty. If it is invalid, Open returns an error and an empty store.
func Open[T any](o Options[T], now time.Time, f Document, value func() T) (*Store[T], error) {
	age, err := load(o.Path, o.Version, f, now, o.For, o.Clock)
	if err != nil {
		err = fmt.Errorf("%s: %w", o.Name, err)
	}
	s := &Store[T]{o: o, saved: f.header().At}
	switch age {
	case Fresh:
		s.value = value()
	case Unknown:
		late := value()
		s.late, s.from = &late, *f.header()
	}
	return s, err
}

// Late returns once what the file held, if its age was not known when it was read, but is now: the machine's clock was set.
func (s *Store[T]) Late(now time.Time) (v T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late == nil || !s.o.Clock.Set() {
		return v, false
	}
	v, s.late = *s.late, nil
	return v, s.from.age(now, s.o.For, s.o.Clock) == Fresh
}

const every = 2 * time.Second

// Value returns the value. It belongs to the store.
func (s *Store[T]) Value() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

// Keep replaces the value. Run writes it to the file.
func (s *Store[T]) Keep(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen = true; s.dirty || !s.o.Same(v, s.value) {
		s.value, s.dirty = v, true
	}
}

// String names the task.
func (s *Store[T]) String() string { return s.o.Name }

// Run writes the file when something changed, until ctx is cancelled.
func (s *Store[T]) Run(ctx context.Context) error {
	t := time.NewTicker(every)
	defer t.Stop()
	failed := false
	for done := false; !done; {
		select {
		case <-t.C:
		case <-ctx.Done():
			done = true
		}
		err := s.Write(time.Now())
		if err != nil && !failed {
			s.o.Log.Warn("the "+s.o.Name+" are not kept for a restart", "err", err)
		}
		failed = err != nil
	}
	return nil
}

// Write writes the file if something changed since it was written, or if that was long ago and the value was seen since.
func (s *Store[T]) Write(now time.Time) error {
	s.mu.Lock()
	v := s.value
	due := s.dirty || s.o.Again > 0 && s.seen && !s.saved.IsZero() && now.Sub(s.saved).Abs() >= s.o.Again
	if due {
		s.dirty, s.seen = false, false
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	h := Header{s.o.Version, s.o.Clock.Stamp(now)}
	err := strictjson.Save(s.o.Path, s.o.Form(h, v), 0o600)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.dirty = true
		return err
	}
	s.saved = now
	return nil
}
