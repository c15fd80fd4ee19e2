package hall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/live"
)

// table is the hall's knowledge of a table. Hall.mu guards all fields but views.
type table struct {
	name   string
	health event.Health
	read   event.Clock   // from the health's message
	came   time.Duration // when the health came, on the hall's steady clock
	heard  time.Time     // the same on the hall's clock
	clock  clock
	chain  chain
	asked  time.Duration // last request for its clock
	before string        // the previous session of its program
	turns  time.Duration // when two sessions last alternated; 0: never

	unread    time.Duration // when it last sent something unreadable; 0: never
	unreadWhy string

	watchers int
	views    live.Broadcast[*view] // its states
	shown    event.Clock           // of the newest state
	resent   time.Time             // last request to send its record again
	alike    map[*table]int        // number of rulings that another table's record has too
	callLost time.Duration         // when its program first came back without the picture that it held for a judge; 0: never
}

// view is a state of a table as it was received.
type view struct {
	json []byte
	read event.Clock
}

// table returns the knowledge of a table. The caller holds mu.
func (h *Hall) table(name string) *table {
	t := h.tables[name]
	if t == nil {
		t = &table{name: name}
		h.tables[name] = t
	}
	return t
}

// sharing records that another table's record has one of this table's rulings. The caller holds
// Hall.mu.
func (t *table) sharing(other *table) {
	if t.alike == nil {
		t.alike = map[*table]int{}
	}
	t.alike[other]++
}

// knows reports whether a table is invited, or has sent something.
func (h *Hall) knows(name string) bool {
	valid, _ := h.invites.Valid() // on an error only tables that have sent something are known
	if slices.ContainsFunc(valid, func(i Invite) bool { return i.Table == name }) {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tables[name] != nil
}

// heard receives a table's health.
func (h *Hall) heard(name string, m *nats.Msg) {
	var is event.Health
	read, err := event.ClockOf(m)
	switch {
	case err != nil:
	case len(m.Data) > healthMost:
		err = fmt.Errorf("expected at most %d bytes of health, got %d", healthMost, len(m.Data))
	default:
		if err = json.Unmarshal(m.Data, &is); err == nil {
			err = is.Clean()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.table(name)
	if err != nil {
		h.cannotRead(t, err)
		return
	}
	if read.Session == t.read.Session && read.UpMS < t.read.UpMS {
		return // an old message
	}
	if read.Session != t.read.Session {
		if read.Session == t.before {
			t.turns = h.up()
		}
		t.before = t.read.Session
		if t.health.Call != nil && is.Call == nil {
			t.callLost = h.up()
		}
	}
	if is.Call != nil {
		t.callLost = 0
	}
	t.health, t.read, t.came, t.heard = is, read, h.up(), time.Now()
	if read.Session != t.clock.session {
		t.clock = clock{session: read.Session}
	}
	h.keepGame(name, is.Game)
	h.askAgain(t)
}

// The largest sizes of a table's messages in bytes, and how long its tile shows a problem.
const (
	healthMost   = 16 << 10
	stateMost    = 512 << 10
	troubleShown = 10 * time.Second
	callLostFor  = 10 * time.Minute // time for a judge to come
)

// cannotRead records that a table sent something unreadable, and logs it now and then. The caller
// holds mu.
func (h *Hall) cannotRead(t *table, err error) {
	now := h.up()
	if t.unread == 0 || now-t.unread >= troubleShown || err.Error() != t.unreadWhy {
		h.o.Log.Warn("hall: what a table says cannot be read", "table", t.name, "err", err)
	}
	t.unread, t.unreadWhy = now, err.Error()
}

// resendEvery is the least time between two requests to send a record again.
const resendEvery = 10 * time.Second

// askAgain asks a table to send again what it believes that the hall has, but the hall does not
// have, for example after a change of disks. The caller holds mu.
func (h *Hall) askAgain(t *table) {
	now, is := time.Now(), t.health.Record
	from := t.chain.whole + 1
	switch {
	case is.Sent > t.chain.whole:
	case is.Sent > 0 && is.Sent == is.Number && !slices.Contains(t.chain.hashes(is.Number), is.Hash):
		from = 1 // the hall has another record of the same length
	default:
		return
	}
	if now.Sub(t.chain.arrived) < settled || now.Sub(t.resent) < resendEvery {
		return
	}
	t.resent = now
	if body, err := json.Marshal(event.Resend{From: from}); err == nil {
		h.o.Log.Warn("hall: rulings of a table are missing here: it is asked for them again", "table", t.name, "from", from)
		_ = h.conn.Publish(event.SubjectsOf(h.event, t.name).Ask(event.AskResend), body) // if it is lost, it is repeated
	}
}

// saw receives a table's whole state, unless it is too old to be shown.
func (h *Hall) saw(name string, m *nats.Msg) {
	read, err := event.ClockOf(m)
	body := bytes.TrimSpace(m.Data)
	switch {
	case err != nil:
	case len(body) > stateMost:
		err = fmt.Errorf("expected at most %d bytes of state, got %d", stateMost, len(body))
	case !json.Valid(body) || bytes.ContainsAny(body, "\r\n"): // a line break would end the event that carries it
		err = errors.New("expected a state as one line of JSON")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.table(name)
	if err != nil {
		h.cannotRead(t, err)
		return
	}
	age, ok := t.clock.age(read.Session, read.UpMS, h.up())
	if !ok || stale(age) || read.Session == t.shown.Session && read.UpMS < t.shown.UpMS {
		h.figures.staleStates.Add(1)
		return
	}
	h.figures.states.Add(1)
	t.shown = read
	t.views.Publish(&view{json: body, read: read})
}

// fresh reports whether a state may still be shown.
func (h *Hall) fresh(t *table, v *view) bool {
	if v == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	age, ok := t.clock.age(v.read.Session, v.read.UpMS, h.up())
	return ok && !stale(age)
}

// tableClock returns the present time of a table's own clock.
func (h *Hall) tableClock(name string) (unixMS int64, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t, known := h.tables[name]
	if !known {
		return 0, false
	}
	newest := t.clock.newest
	for _, r := range []event.Clock{t.read, t.shown} { // the last reading counts: someone may have set the clock
		if r.Session == newest.Session && r.UpMS > newest.UpMS {
			newest = r
		}
	}
	return t.clock.table(newest, h.up())
}

// watchEvery is the interval between AskWatch requests, shorter than event.Lease.
const watchEvery = 4 * time.Second

// watch makes a table send its whole state until stop is called.
func (h *Hall) watch(name string) (t *table, stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t = h.table(name)
	t.watchers++
	h.askWatch(name)
	return t, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		t.watchers--
	}
}

func (h *Hall) askWatch(name string) {
	_ = h.conn.Publish(event.SubjectsOf(h.event, name).Ask(event.AskWatch), nil) // if it is lost, it is repeated
}

// renewWatches repeats AskWatch for the watched tables until ctx is cancelled.
func (h *Hall) renewWatches(ctx context.Context) {
	every(ctx, watchEvery, func() {
		h.mu.Lock()
		for name, t := range h.tables {
			if t.watchers > 0 {
				h.askWatch(name)
			}
		}
		h.mu.Unlock()
	})
}

// measureClocks measures the clocks of the connected tables until ctx is cancelled.
func (h *Hall) measureClocks(ctx context.Context) {
	every(ctx, clockHurry/4, func() {
		now := h.up()
		h.mu.Lock()
		for name, t := range h.tables {
			pause := clockEvery
			if t.clock.hurry(now) {
				pause = clockHurry
			}
			if t.came > 0 && now-t.came < 2*trustClock && now-t.asked >= pause {
				t.asked = now
				go h.measureClock(ctx, name)
			}
		}
		h.mu.Unlock()
	})
}

// measureClock measures a table's clock once.
func (h *Hall) measureClock(ctx context.Context, name string) {
	ctx, stop := context.WithTimeout(ctx, slowAnswer)
	defer stop()
	asked := h.up()
	answer, err := h.conn.RequestWithContext(ctx, event.SubjectsOf(h.event, name).Ask(event.AskClock), nil)
	came := h.up()
	var read event.Clock
	if err != nil || json.Unmarshal(answer.Data, &read) != nil || read.Check() != nil {
		return // the next measurement follows
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.table(name).clock.measured(read, asked, came)
}
