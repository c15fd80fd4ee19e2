// Package capture delivers pictures: sources that run a camera's own program or read a folder, the
// controls of a camera, and the [Feed] that keeps a source running and provides its newest picture.
package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"sightline/vision"
)

// FeedState is the state of a feed's camera.
type FeedState string

// The states of a feed.
const (
	FeedOpening FeedState = "opening" // being opened, or waiting to be opened again: Err says why
	FeedLive    FeedState = "live"    // frames are coming in
	FeedStalled FeedState = "stalled" // open, but no frame for StallAfter: being closed
	FeedClosed  FeedState = "closed"  // Run has not started, or has returned
)

// The message and the advice for a computer that takes pictures more slowly than its camera
// delivers them.
const (
	SlowComputer       = "this computer does not keep up"
	SlowComputerAdvice = "ask for smaller pictures (camera.width, camera.height), or stop what else runs on it"
)

// FeedOptions control a Feed; the zero value is the default.
type FeedOptions struct {
	Name        string        // name of the source until it is open
	Loop        bool          // reopen a source that has ended (a file) instead of stopping
	OpenTimeout time.Duration // how long opening may take; 0 means 15 s
	StallAfter  time.Duration // how long a frame may take; 0 means 3 s
	MinBackoff  time.Duration // the first pause before opening again; 0 means 0.5 s
	MaxBackoff  time.Duration // the longest pause; 0 means 10 s

	// OnChange, if set, is called for every change of state and every new problem, in order and one at
	// a time, from the feed's goroutines. It must not block.
	OnChange func(FeedStatus)
}

// FeedStatus is the state of a feed.
type FeedStatus struct {
	State     FeedState
	Source    string    // the source's own name once it was open
	Err       string    // why the source was last closed; empty again once frames arrive
	Frames    uint64    // frames taken from the source
	Dropped   uint64    // frames replaced by a newer one before Next returned them
	Reopened  uint64    // reopenings after a failure; rounds of a loop do not count
	LastFrame time.Time // when the last frame arrived
	FPS       float64   // frames a second over the last second or so; 0 unless live
}

// Trouble returns Err without the names of package and source, for a page that names the source.
func (s FeedStatus) Trouble() string {
	text := strings.TrimPrefix(s.Err, "opencv: ")
	return strings.TrimPrefix(text, "source "+s.Source+": ")
}

// ErrFeedClosed is the error of Next when the feed has ended and no frame is left.
var ErrFeedClosed = errors.New("vision: feed: closed")

// abandonAfter is how long Next of a source may take to return after it is cancelled, and again
// after the source is closed, before its goroutine is abandoned.
const abandonAfter = time.Second

// maxAbandoned is the largest number of abandoned goroutines. A driver that never returns costs two
// goroutines, not one for each attempt.
const maxAbandoned = 2

// Feed keeps a source running and holds its newest frame. One goroutine at a time owns the source
// and reads every frame at once. A slow reader therefore never gets old pictures: it misses frames,
// which are counted. A source that fails, panics or delivers no frame is closed, and reopened after
// a pause that doubles from MinBackoff to MaxBackoff.
//
// The frames' sequence numbers are the feed's own: they count from 1 and continue when the source
// is reopened.
type Feed struct {
	open func(ctx context.Context) (vision.Source, error)
	o    FeedOptions

	telling sync.Mutex // held from before a change until OnChange returns; locked before mu
	mu      sync.Mutex // guards the fields below
	changed chan struct{}
	status  FeedStatus
	latest  vision.Frame
	taken   bool // Next has returned latest
	over    error
	owner   *feedSession
	rate    rateMeter
}

// NewFeed returns a feed of the source that open opens. open must return when its context is
// cancelled.
func NewFeed(open func(ctx context.Context) (vision.Source, error), o FeedOptions) *Feed {
	for _, d := range []struct {
		value *time.Duration
		def   time.Duration
	}{
		{&o.OpenTimeout, 15 * time.Second},
		{&o.StallAfter, 3 * time.Second},
		{&o.MinBackoff, 500 * time.Millisecond},
		{&o.MaxBackoff, 10 * time.Second},
	} {
		if *d.value <= 0 {
			*d.value = d.def
		}
	}
	return &Feed{
		open: open, o: o,
		changed: make(chan struct{}),
		status:  FeedStatus{State: FeedClosed, Source: o.Name},
	}
}

// Run keeps the source running until ctx is cancelled or, without Loop, until the source ends, and
// then returns nil. It may be called once.
func (f *Feed) Run(ctx context.Context) error {
	defer func() { f.finish(ctx) }()
	var abandoned []*feedSession
	backoff := f.o.MinBackoff
	f.update(func(s *FeedStatus) { s.State = FeedOpening })
	for ctx.Err() == nil {
		if abandoned = f.awaitAbandoned(ctx, abandoned); ctx.Err() != nil {
			break
		}
		began := time.Now()
		s := f.runSession(ctx)
		if !s.ended() {
			abandoned = append(abandoned, s)
		}
		switch {
		case ctx.Err() != nil:
			continue
		case errors.Is(s.err(), io.EOF) && s.frames() > 0:
			if !f.o.Loop {
				return nil
			}
			backoff = f.o.MinBackoff
			continue
		}
		if s.frames() > 0 && time.Since(began) > f.o.MaxBackoff {
			backoff = f.o.MinBackoff // it ran for a while: this is a new problem
		}
		f.update(func(st *FeedStatus) { st.State, st.Err = FeedOpening, s.failure() })
		if sleep(ctx, backoff) {
			f.update(func(st *FeedStatus) { st.Reopened++ })
		}
		backoff = min(2*backoff, f.o.MaxBackoff)
	}
	return nil
}

// Next waits for a frame with a sequence number above after and returns the newest one. If the feed
// has ended without one, it returns io.EOF for a source that ended and ErrFeedClosed otherwise.
func (f *Feed) Next(ctx context.Context, after uint64) (vision.Frame, error) {
	for {
		f.mu.Lock()
		frame, over, changed := f.latest, f.over, f.changed
		if frame.Seq > after {
			f.taken = true
		}
		f.mu.Unlock()
		switch {
		case frame.Seq > after:
			return frame, nil
		case over != nil:
			return vision.Frame{}, over
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return vision.Frame{}, ctx.Err()
		}
	}
}

// Latest returns the newest frame; false if there was none yet. It does not count as reading the
// frame.
func (f *Feed) Latest() (vision.Frame, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.latest, f.latest.Seq > 0
}

// Status returns the feed's status.
func (f *Feed) Status() FeedStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.statusLocked()
}

func (f *Feed) statusLocked() FeedStatus {
	s := f.status
	if s.State == FeedLive {
		s.FPS = f.rate.perSecond()
	}
	return s
}

// update changes the status.
func (f *Feed) update(change func(*FeedStatus)) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.mu.Lock()
	before := f.status
	change(&f.status)
	f.unlockAndTell(before)
}

// unlockAndTell unlocks mu, while telling is held, and calls OnChange if state or problem differ
// from before.
func (f *Feed) unlockAndTell(before FeedStatus) {
	now := f.statusLocked()
	f.mu.Unlock()
	if f.o.OnChange != nil && (now.State != before.State || now.Err != before.Err) {
		f.o.OnChange(now)
	}
}

// finish marks the feed as ended and wakes all waiting readers.
func (f *Feed) finish(ctx context.Context) {
	f.mu.Lock()
	f.over = io.EOF
	if ctx.Err() != nil {
		f.over = ErrFeedClosed
	}
	close(f.changed)
	f.changed = make(chan struct{})
	f.mu.Unlock()
	f.update(func(s *FeedStatus) { s.State, s.Err = FeedClosed, "" })
}

// publish makes a frame the newest one, unless its session was abandoned.
func (f *Feed) publish(s *feedSession, frame vision.Frame) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.mu.Lock()
	if f.owner != s {
		f.mu.Unlock()
		return
	}
	before := f.status
	if f.latest.Seq > 0 && !f.taken {
		f.status.Dropped++
	}
	f.status.Frames++
	frame.Seq = f.status.Frames
	f.latest, f.taken = frame, false
	f.status.LastFrame = time.Now()
	f.rate.add(f.status.LastFrame)
	f.status.State, f.status.Err = FeedLive, ""
	close(f.changed)
	f.changed = make(chan struct{})
	f.unlockAndTell(before)
}

// opened records the source's own name, unless its session was abandoned.
func (f *Feed) opened(s *feedSession, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owner == s {
		f.status.Source = name
	}
}

// runSession opens the source and reads its frames until it fails, stalls or ends, or ctx is
// cancelled. The session may still hang in its driver afterwards.
func (f *Feed) runSession(ctx context.Context) *feedSession {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &feedSession{beat: make(chan struct{}, 1), done: make(chan struct{})}
	f.mu.Lock()
	f.owner = s
	f.rate = rateMeter{}
	f.mu.Unlock()
	go s.run(ctx, f)

	limit, doing := f.o.OpenTimeout, "opening took longer than"
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-s.done:
			return s
		case <-s.beat:
			limit, doing = f.o.StallAfter, "no frame for"
			timer.Reset(limit)
		case <-timer.C:
			s.fail(fmt.Errorf("%s %v", doing, limit))
			f.update(func(st *FeedStatus) { st.State, st.Err = FeedStalled, s.failure() })
			f.retire(s, cancel)
			return s
		case <-ctx.Done():
			f.retire(s, cancel)
			return s
		}
	}
}

// retire ends a session: it cancels its context, then closes its source, then abandons it.
func (f *Feed) retire(s *feedSession, cancel func()) {
	f.mu.Lock()
	f.owner = nil
	f.mu.Unlock()
	cancel()
	if !s.endsWithin(abandonAfter) {
		go s.close() // a driver may hang here too
		s.endsWithin(abandonAfter)
	}
}

// awaitAbandoned waits until another session may be started.
func (f *Feed) awaitAbandoned(ctx context.Context, all []*feedSession) []*feedSession {
	for {
		var left []*feedSession
		for _, s := range all {
			if !s.ended() {
				left = append(left, s)
			}
		}
		if len(left) < maxAbandoned {
			return left
		}
		f.update(func(s *FeedStatus) { s.State, s.Err = FeedStalled, "the camera's driver does not respond" })
		select {
		case <-left[0].done:
		case <-left[1].done:
		case <-ctx.Done():
			return left
		}
		f.update(func(s *FeedStatus) { s.State = FeedOpening })
		all = left
	}
}

// feedSession is one opening of the source and the goroutine that owns it.
type feedSession struct {
	beat chan struct{} // holds a token after opening and after each frame
	done chan struct{} // closed when the goroutine ends

	mu      sync.Mutex    // guards the fields below
	source  vision.Source // nil when closed
	name    string
	count   uint64
	problem error // the first one
}

// run opens the source and reads its frames until something fails.
func (s *feedSession) run(ctx context.Context, f *Feed) {
	defer close(s.done)
	defer s.close()
	defer func() {
		if p := recover(); p != nil { // a broken source must not end the program
			s.fail(fmt.Errorf("panic in the source: %v", p))
		}
	}()
	source, err := f.open(ctx)
	if err != nil {
		s.fail(err)
		return
	}
	name := source.String()
	s.mu.Lock()
	s.source, s.name = source, name
	s.mu.Unlock()
	if ctx.Err() != nil { // too late: the session was abandoned
		return
	}
	f.opened(s, name)
	s.pulse()
	for {
		frame, err := source.Next(ctx)
		if err == nil && ctx.Err() != nil { // this session was abandoned meanwhile
			return
		}
		if w, h := frame.Size(); err == nil && w*h == 0 {
			err = errors.New("the source gave an empty picture")
		}
		if err != nil {
			s.fail(err)
			return
		}
		s.mu.Lock()
		s.count++
		s.mu.Unlock()
		f.publish(s, frame)
		s.pulse()
	}
}

// pulse shows the watcher that the session is alive.
func (s *feedSession) pulse() {
	select {
	case s.beat <- struct{}{}:
	default:
	}
}

// close closes the source once, even if called several times.
func (s *feedSession) close() {
	s.mu.Lock()
	source := s.source
	s.source = nil
	s.mu.Unlock()
	if source == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			s.fail(fmt.Errorf("panic in the source's Close: %v", p))
		}
	}()
	if err := source.Close(); err != nil {
		s.fail(err)
	}
}

// fail keeps the first error: later ones follow from it.
func (s *feedSession) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.problem == nil {
		s.problem = err
	}
}

func (s *feedSession) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

func (s *feedSession) frames() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// failure returns in words why the session ended.
func (s *feedSession) failure() string {
	err := s.err()
	switch {
	case err == nil:
		return "the source was closed"
	case errors.Is(err, io.EOF):
		return "the source ended before its first frame"
	}
	return err.Error()
}

func (s *feedSession) ended() bool { return s.endsWithin(0) }

// endsWithin reports whether the session's goroutine ends within a time.
func (s *feedSession) endsWithin(d time.Duration) bool {
	select {
	case <-s.done:
		return true
	default:
	}
	if d <= 0 {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.done:
		return true
	case <-timer.C:
		return false
	}
}

// sleep waits, and reports false if ctx is cancelled first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// rateMeter measures the rate at which frames arrive.
type rateMeter struct {
	at [32]time.Time
	n  int // arrivals so far
}

func (r *rateMeter) add(t time.Time) {
	r.at[r.n%len(r.at)] = t
	r.n++
}

// perSecond returns the rate over the last frames, at most 31 intervals; 0 if unknown.
func (r *rateMeter) perSecond() float64 {
	k := min(r.n, len(r.at))
	if k < 2 {
		return 0
	}
	span := r.at[(r.n-1)%len(r.at)].Sub(r.at[(r.n-k)%len(r.at)])
	if span <= 0 {
		return 0
	}
	return float64(k-1) / span.Seconds()
}
