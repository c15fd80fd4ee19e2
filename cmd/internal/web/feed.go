package web

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"sightline/cmd/internal/live"
)

// Phones at the table and a stream's overlays all receive the state. It is encoded and compressed
// once for all of them, and sent no more often than useful.
const (
	liveEvery   = 90 * time.Millisecond  // between two states that differ only in figures and places
	quietEvery  = 200 * time.Millisecond // the same for clients with quiet=1
	urgentEvery = 40 * time.Millisecond  // between states with urgent news
	heardEvery  = 900 * time.Millisecond // interval at which an unchanged state is sent, as a sign of life
)

// event is one state as it is sent. It never changes.
type event struct {
	seq    uint64
	json   []byte
	text   []byte // as a server-sent event
	urgent uint64 // changes with urgent news
	moved  uint64 // changes with anything visible on a stream

	once   sync.Once
	packed []byte
}

// pack returns the event as deflate blocks that refer to nothing before them and end at a byte
// boundary. After one gzip header, any selection of such events forms a valid stream, so one
// compression serves every client.
func (e *event) pack() []byte {
	e.once.Do(func() { e.packed = packed(e.text) })
	return e.packed
}

var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.DefaultCompression)
	if err != nil {
		panic("web: deflate: " + err.Error())
	}
	return w
}}

func packed(text []byte) []byte {
	var buf bytes.Buffer
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&buf)
	_, _ = w.Write(text) // a bytes.Buffer never fails
	_ = w.Flush()
	return buf.Bytes()
}

// gzipHeader starts a gzip stream without name, time and system (RFC 1952, 2.3).
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// feed sends the newest state to all listeners. Without listeners it does nothing.
type feed struct {
	hub    *live.Hub
	encode func(*live.State) stateJSON

	live, quiet live.Broadcast[*event]

	mu      sync.Mutex // guards the fields below
	newest  *event
	clients int
	stop    chan struct{} // ends the pump; nil: it is not running
}

// at returns the event of a state; it encodes each state once.
func (f *feed) at(state *live.State) (*event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest != nil && f.newest.seq == state.Seq {
		return f.newest, nil
	}
	e, err := newEvent(f.encode(state))
	if err != nil {
		return nil, err
	}
	if f.newest == nil || f.newest.seq < e.seq {
		f.newest = e
	}
	return e, nil
}

func newEvent(state stateJSON) (*event, error) {
	data, err := json.Marshal(state)
	if err != nil {
		return nil, err
	}
	e := &event{seq: state.Seq, json: data}
	text, err := stateEvent(state.Seq, json.RawMessage(data))
	if err != nil {
		return nil, err
	}
	e.text = []byte(text)
	e.urgent, e.moved, err = digests(state)
	return e, err
}

// digests returns two digests of a state: urgent without what trembles from picture to picture,
// moved with places and lengths as they are shown, to a tenth.
func digests(s stateJSON) (urgent, moved uint64, err error) {
	ships, answer, overlay := s.Ships, s.Answer, s.Overlay
	s.Seq, s.AtMS, s.Camera, s.Picture, s.Ships, s.Overlay = 0, 0, cameraJSON{}, nil, nil, nil
	s.Calibration.Watch.BlindMM = 0
	s.Panel.Display, s.Panel.Alt = "", ""
	s.Answer = urgentOf(answer)
	if r := s.Ruling; r != nil {
		without := *r
		without.AgeMS, s.Ruling = nil, &without
	}
	answers, laid := []answerJSON{answer}, []bool{overlay != nil}
	if d := s.Directed; d != nil {
		answers, laid = append(answers, d.Answer), append(laid, d.Overlay != nil)
		s.Directed = &directedJSON{Choice: d.Choice, Reach: d.Reach, Answer: urgentOf(d.Answer)}
	}
	h := fnv.New64a()
	e := json.NewEncoder(h)
	if err := e.Encode(s); err != nil {
		return 0, 0, err
	}
	urgent = h.Sum64()
	type place struct {
		ID, State string
		X, Y, Deg int64
	}
	places := []place{}
	for _, k := range ships {
		places = append(places, place{k.ID, k.State, tenths(k.XMM), tenths(k.YMM), tenths(k.HeadingDeg)})
	}
	shown := []any{places, laid}
	for _, a := range answers {
		shown = append(shown, tenths(a.DistanceMM), tenths(a.SigmaMM), tenths(a.InArc.MarginMM), a.Reason)
	}
	if err := e.Encode(shown); err != nil {
		return 0, 0, err
	}
	return urgent, h.Sum64(), nil
}

// urgentOf returns an answer without what trembles from picture to picture.
func urgentOf(a answerJSON) answerJSON {
	a.Live, a.Explain, a.RestsOn, a.LinesMM, a.Reason = "", "", "", nil, ""
	a.DistanceMM, a.SigmaMM, a.MarginMM, a.InArc.MarginMM, a.InArc.SigmaMM = 0, 0, 0, 0, 0
	if at := a.Attack; at != nil {
		a.Attack = &attackJSON{Outcome: at.Outcome, Title: at.Title, Differs: at.Differs}
	}
	return a
}

func tenths(x float64) int64 { return int64(math.Round(10 * x)) }

// pace decides which states to send, and when.
type pace struct {
	every time.Duration
	quiet bool // skip states in which nothing moved

	last    *event
	lastAt  time.Time
	pending *event
}

// wait returns how long the pending state should wait. It reports false if there is none.
func (p *pace) wait(now time.Time) (d time.Duration, ok bool) {
	switch {
	case p.pending == nil:
		return 0, false
	case p.last == nil:
		return 0, true
	case p.pending.urgent != p.last.urgent:
		return p.lastAt.Add(urgentEvery).Sub(now), true
	case p.quiet && p.pending.moved == p.last.moved:
		return p.lastAt.Add(heardEvery).Sub(now), true
	}
	return p.lastAt.Add(p.every).Sub(now), true
}

// due returns the state to send now, or how long to wait for it.
func (p *pace) due(now time.Time) (*event, time.Duration) {
	d, ok := p.wait(now)
	switch {
	case !ok:
		return nil, time.Hour
	case d > 0:
		return nil, d
	}
	p.last, p.lastAt, p.pending = p.pending, now, nil
	return p.last, time.Hour
}

// pump receives the states and sends each kind of client the ones that it should get, until
// stopped.
func (f *feed) pump(stop <-chan struct{}) {
	states, end := f.hub.Listen()
	defer end()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	kinds := []struct {
		pace pace
		out  *live.Broadcast[*event]
	}{{pace{every: liveEvery}, &f.live}, {pace{every: quietEvery, quiet: true}, &f.quiet}}
	for {
		select {
		case <-stop:
			return
		case state := <-states:
			e, err := f.at(&state)
			if err != nil { // the next state may succeed; meanwhile the clients' watchdogs report silence
				continue
			}
			for i := range kinds {
				kinds[i].pace.pending = e
			}
		case <-timer.C:
		}
		now, wait := time.Now(), time.Hour
		for i := range kinds {
			e, d := kinds[i].pace.due(now)
			if e != nil {
				kinds[i].out.Publish(e)
			}
			wait = min(wait, d)
		}
		timer.Reset(wait)
	}
}

// join adds a client, and leave removes it. The pump runs while there is one.
func (f *feed) join() (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clients++; f.clients == 1 {
		f.stop = make(chan struct{})
		go f.pump(f.stop)
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.clients--; f.clients == 0 {
			close(f.stop)
		}
	}
}

// takesGzip reports whether the client accepts gzip.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(q, " ", "") != "q=0" {
			return true
		}
	}
	return false
}

// The first event of a stream: when to reconnect.
var (
	firstPlain  = []byte("retry: 1000\n\n")
	firstPacked = append([]byte(gzipHeader), packed(firstPlain)...)
	pingPlain   = []byte(": ping\n\n")
	pingPacked  = packed(pingPlain)
)

// events streams the state: the newest at once, then each newer one as often as useful, and a
// comment now and then. With ?quiet=1, states in which nothing moved come only about once a second.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	h.Set("Vary", "Accept-Encoding")
	first, ping, form := firstPlain, pingPlain, func(e *event) []byte { return e.text }
	if takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		first, ping, form = firstPacked, pingPacked, (*event).pack
	}
	out := &s.feed.live
	if r.URL.Query().Get("quiet") == "1" {
		out = &s.feed.quiet
	}
	defer s.feed.join()()
	states, stop := out.Listen()
	defer stop()
	control := http.NewResponseController(w)
	state := s.o.Hub.Newest()
	newest, err := s.feed.at(&state)
	if err != nil || send(w, control, first) != nil || send(w, control, form(newest)) != nil {
		return
	}
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		text := ping
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		case e := <-states:
			if e == nil || e.seq <= newest.seq { // older than the client's first state
				continue
			}
			newest, text = e, form(e)
		}
		if send(w, control, text) != nil {
			return
		}
	}
}
