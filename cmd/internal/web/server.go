// Package web is the page and its data over HTTP: what the camera sees, the table from above, the
// answer for the chosen pair and the panel, live over server-sent events.
//
// Everything in one response is from one state of the table. Only this package makes the JSON of
// that state, with the unit in each key. The pages are plain ES modules and style sheets, embedded,
// and load only from this server.
package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"image/png"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzhttp"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/setup"
	"sightline/cmd/internal/texts"
	"sightline/engine/scenefile"
	"sightline/hardware"
)

//go:embed static
var static embed.FS

// Options are the dependencies of the server.
type Options struct {
	Hub *live.Hub
	// Choose sets the chosen pair for everyone.
	Choose func(live.Choice)
	// SetMatch sets and stores the match; nil: no match. Its errors tell people why it cannot be
	// stored.
	SetMatch func(live.Match) error
	// Agree changes the agreement on measuring or proposes a change; "" objects to the proposal.
	// Declare opens a window for measuring; nil closes it.
	Agree   func(to live.Measuring, judge bool)
	Declare func(*live.Declaration)
	// PlaceShip searches for a ship's base at the place that a person gave; nil: not possible. Its
	// errors are sentences for people.
	PlaceShip func(live.PlacedShip) error
	// Calibration and Calibrate are the guided calibration; nil: none. The errors of Calibrate are
	// sentences for people.
	Calibration *live.CalibrationHub
	Calibrate   func(setup.Intent) error
	Layout      calibration.Layout // of the mat, for the printed sheets
	Learning    Learning           // of this table's obstacles; nil: not possible
	Now         func() time.Time   // nil: time.Now
	Access      access.Options
	TLS         *tls.Config // nil: without TLS
	// Freeze holds or releases the picture and the answers, and AskJudge calls a judge; nil: not
	// possible. Freeze refuses with a *Refusal. Rulings is the judges' record; nil: none.
	Freeze   func(live.HoldRequest) error
	AskJudge func(who string) error
	Rulings  Rulings
	Routes   []Route           // served by other packages
	Metrics  []func(io.Writer) // written by other packages at the end of /metrics
}

// Times and sizes that keep one client from harming the others.
const (
	pingEvery   = 15 * time.Second
	writeWithin = 10 * time.Second // for each write of a response
	bodyMost    = 4 << 10          // of a request: a choice of three short words
)

// Server serves the page and its data. It is an http.Handler.
type Server struct {
	o        Options
	pictures pictures
	handler  http.Handler
	router   *router
	guard    *access.Guard
	requests [6]atomic.Uint64 // count by the first digit of the status
	asking   atomic.Bool      // Answers is running

	calibrationPictures pictures
	tracedPictures      pictures
	feed                feed
	tables              tables
	videos              videos
}

// NewServer returns the page's server.
func NewServer(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{o: o, pictures: pictures{now: o.Now}, calibrationPictures: pictures{now: o.Now}, tracedPictures: pictures{now: o.Now}}
	if s.o.Access.Log == nil {
		s.o.Access.Log = slog.Default()
	}
	s.guard = access.NewGuard(s.o.Access, o.Now)
	s.feed.hub, s.feed.encode = o.Hub, s.stateJSON
	s.handler = s.routes()
	return s
}

// routes returns the handler for all addresses.
func (s *Server) routes() http.Handler {
	files := Files()
	mux := &router{mux: http.NewServeMux()}
	s.router = mux
	mux.Handle("GET /", s.Allow(access.Nobody, Compressed(http.FileServerFS(files))))
	mux.Handle("GET /healthz", s.Allow(access.Nobody, s.healthz))
	mux.Handle("GET /livez", s.Allow(access.Nobody, s.livez))
	mux.Handle("GET /metrics", s.Allow(access.Reader, s.metrics))
	mux.Handle("GET /api/state", s.Allow(access.Reader, s.state))
	mux.Handle("GET /api/events", s.Allow(access.Reader, s.guard.Streaming(s.events)))
	mux.Handle("GET /api/scene", s.Allow(access.Reader, s.scene))
	mux.Handle("GET /api/measure", s.Allow(access.Reader, s.measure))
	mux.Handle("GET /api/table.json", s.Allow(access.Reader, s.tableFile))
	mux.Handle("GET /api/picture.jpg", s.Allow(access.Reader, s.picture))
	mux.Handle("GET /api/display.png", s.Allow(access.Reader, s.display))
	mux.Handle("PATCH /api/choice", s.Allow(access.Player, s.choose))
	s.overlayRoutes(mux)
	s.accessRoutes(mux)
	s.policyRoutes(mux)
	s.ruleRoutes(mux)
	s.shipsRoutes(mux)
	if s.o.Calibration != nil {
		s.calibrationRoutes(mux)
	}
	if s.o.Learning != nil {
		s.obstacleRoutes(mux)
	}
	longer := map[string]int64{http.MethodPut + " " + learnPath: catalogueMost}
	for _, r := range s.o.Routes {
		if r.Body > 0 {
			longer[r.Pattern] = r.Body
		}
		answer := r.Handler
		if r.Streams {
			answer = s.guard.Streaming(answer)
		}
		mux.Handle(r.Pattern, s.Allow(r.Role, answer))
	}
	// Only this page may change anything: browsers send where a request comes from, and other sites
	// are refused.
	asked := http.NewCrossOriginProtection().Handler(Translated(mux.mux))
	return access.Noted(Secured(s.counted(s.guard.OwnHosts(s.guard.Limited(shortened(longer, asked))))))
}

// Files are the modules, style sheets and pages.
func Files() fs.FS {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic("web: the embedded pages: " + err.Error())
	}
	return pages{files}
}

var languages = sync.OnceValue(func() *texts.Languages {
	l, err := texts.Load(Files())
	if err != nil {
		panic("web: the embedded texts: " + err.Error())
	}
	return l
})

// Translated translates a handler's pages into the browser's language.
func Translated(next http.Handler) http.Handler { return languages().Translated(next) }

// Allow returns a handler for clients with the role.
func (s *Server) Allow(role access.Role, next http.HandlerFunc) *access.Guarded {
	return s.guard.Allow(role, next)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := patient{w, http.NewResponseController(w)}
	defer p.allow() // for buffered output
	s.handler.ServeHTTP(p, r)
}

// patient gives a client writeWithin to receive each write, however long the response took to make.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

// allow restarts the client's time. A writer without deadlines needs none.
func (p patient) allow() { _ = p.control.SetWriteDeadline(time.Now().Add(writeWithin)) }

// Unwrap returns the wrapped writer for http.ResponseController.
func (p patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (p patient) WriteHeader(status int) {
	p.allow()
	p.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (p patient) Write(data []byte) (int, error) {
	p.allow()
	return p.ResponseWriter.Write(data)
}

// Answers asks the server for its health without a connection. It returns an error if there is no
// answer before ctx ends: the server hangs, which many clients alone cannot cause. It runs once at
// a time.
func (s *Server) Answers(ctx context.Context) error {
	if !s.asking.CompareAndSwap(false, true) {
		return errors.New("web: an earlier question is not answered yet")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/healthz", nil)
	if err != nil {
		return fmt.Errorf("web: %w", err)
	}
	r.RemoteAddr = "127.0.0.1:0"
	answered := make(chan error, 1)
	go func() {
		defer s.asking.Store(false)
		defer func() {
			if p := recover(); p != nil { // as net/http does for its clients
				answered <- fmt.Errorf("web: panic: %v", p)
			}
			close(answered)
		}()
		s.ServeHTTP(discarded{}, r)
	}()
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return fmt.Errorf("web: no answer: %w", ctx.Err())
	}
}

// discarded is a response that is not read.
type discarded struct{}

// Header implements http.ResponseWriter.
func (discarded) Header() http.Header { return http.Header{} }

// WriteHeader implements http.ResponseWriter.
func (discarded) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (discarded) Write(p []byte) (int, error) { return len(p), nil }

// Secured sets the security headers of every response: nothing from other servers, no inline
// script, no framing by other sites.
func Secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if !utf8.ValidString(r.URL.Path) { // a file server reports an internal error for such a name
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Compressed sends a handler's scripts, styles, JSON and drawings as gzip to clients that accept
// it. HTML stays plain, because package texts reads and translates it.
func Compressed(next http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false),
		gzhttp.ContentTypes([]string{"text/javascript", "text/css", "application/json", "image/svg+xml"}))
	if err != nil {
		panic(err) // only for invalid options
	}
	return wrap(next)
}

// Serve serves the listener until ctx is cancelled, then closes all connections. It returns nil
// after a clean stop.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if err := s.guard.Serve(ctx, l, &http.Server{Handler: s, ReadTimeout: 10 * time.Second, TLSConfig: s.o.TLS}); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}

// healthz is for monitors: 200 while there are answers, otherwise 503 with the reason. "rulings"
// says why rulings cannot be recorded, "" if they can; answers do not depend on it, and a restart
// would not help. "held" reports a held picture, which a restart may lose.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	status := http.StatusOK
	if state.Health.Code != live.OK {
		status = http.StatusServiceUnavailable
	}
	WriteJSON(w, status, map[string]any{"status": state.Health.Code, "detail": state.Health.Detail, "views": state.Seq,
		"rulings": state.RulingsTrouble, "held": state.Hold != nil})
}

// livez serves liveness probes: any response means that the program does not hang.
func (s *Server) livez(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

func (s *Server) state(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	e, err := s.feed.at(&state)
	if err != nil {
		http.Error(w, "The state cannot be written as JSON.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(append(e.json[:len(e.json):len(e.json)], '\n'))
}

// stateJSON is stateOf with the address of the display's picture, which changes with the picture.
func (s *Server) stateJSON(state *live.State) stateJSON {
	j := stateOf(state)
	table := s.tables.of(&state.Register)
	j.Overlay = overlayOf(state, table)
	if j.Directed != nil {
		asked := state.WithChoice(state.Direction.Choice(state.Choice))
		j.Directed.Overlay = overlayOf(&asked, table)
	}
	hash := fnv.New32a()
	_, _ = hash.Write(hardware.Draw(withoutCode(state.Panel)).Pix)
	j.Panel.Display = fmt.Sprintf("/api/display.png?v=%08x", hash.Sum32())
	return j
}

// stream sends a client an event for each value of listen, and for again at regular intervals,
// until the client disconnects or is too slow.
func stream[T any](w http.ResponseWriter, r *http.Request, listen func() (<-chan T, func()), event func(T) (string, error),
	every time.Duration, again func() (string, error)) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	control := http.NewResponseController(w)
	values, stop := listen()
	defer stop()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	if send(w, control, firstPlain) != nil {
		return
	}
	for {
		var text string
		var err error
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
			text, err = again()
		case v := <-values:
			text, err = event(v)
		}
		if err != nil || send(w, control, []byte(text)) != nil {
			return
		}
	}
}

// stateEvent returns a state as an event with its number. The id also has the time of the state, in
// ms, by which a page recognises events that waited on a slow network.
func stateEvent(seq uint64, state any) (string, error) {
	data, err := json.Marshal(state)
	return fmt.Sprintf("event: state\nid: %d-%d\ndata: %s\n\n", seq, time.Now().UnixMilli(), data), err
}

// send writes one event and flushes it.
func send(w io.Writer, control *http.ResponseController, text []byte) error {
	if _, err := w.Write(text); err != nil {
		return err
	}
	return control.Flush()
}

// scene sends the scene as JSON, as sightline locate prints it.
func (s *Server) scene(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	s.sendNow(w, &state, func() ([]byte, error) { return scenefile.Marshal(state.Standing()) })
}

// measure sends the result as JSON, as sightline measure prints it, reduced to what
// the agreement on measuring permits.
func (s *Server) measure(w http.ResponseWriter, r *http.Request) {
	state := s.o.Hub.Newest()
	result, err := state.VisibleResult(s.judges(r))
	if err != nil {
		Refuse(w, err)
		return
	}
	from, to := r.FormValue("from"), r.FormValue("to")
	asked := result.Between(from, to)
	if from+to != "" && len(asked.Pairs)+len(asked.Objects) == 0 && state.Health.Code == live.OK {
		which := ""
		if from != "" {
			which = fmt.Sprintf(" from %.40q", from)
		}
		if to != "" {
			which += fmt.Sprintf(" to %.40q", to)
		}
		http.Error(w, "nothing is measured"+which+": expected ids of /api/scene", http.StatusNotFound)
		return
	}
	s.sendNow(w, &state, func() ([]byte, error) { return scenefile.MarshalResult(asked) })
}

// sendNow sends a JSON document about the present table, or why there is none: an old scene is
// never sent as the present one.
func (s *Server) sendNow(w http.ResponseWriter, state *live.State, marshal func() ([]byte, error)) {
	if state.Health.Code != live.OK {
		http.Error(w, state.Health.Line(), http.StatusServiceUnavailable)
		return
	}
	register := state.MeasuredWith()
	data, err := marshal()
	if err == nil {
		data, err = verify.AddTo(data, register.Verified)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Sightline-Calibration", register.Hash)
	if register.Integrity != "" {
		w.Header().Set("Sightline-Calibration-Integrity", register.Integrity)
	}
	sayHeld(w, state)
	if unseen := state.Unseen(); len(unseen) > 0 {
		w.Header().Set("Sightline-Not-Seen", strings.Join(unseen, ", "))
	}
	_, _ = w.Write(append(data, '\n'))
}

// sayHeld says in a header since when the answer is that of a held picture.
func sayHeld(w http.ResponseWriter, state *live.State) {
	if state.Hold != nil {
		w.Header().Set("Sightline-Held", state.Hold.At.UTC().Format(time.RFC3339))
	}
}

// tableFile sends the calibration in use, as calibrate table would write it. A judge keeps it with
// the answers that name its hash.
func (s *Server) tableFile(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	register := state.MeasuredWith()
	if len(register.File) == 0 {
		http.Error(w, "There is no calibration yet.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(register.File)
}

func (s *Server) picture(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	data, err := s.pictures.encode(&state)
	if err != nil {
		http.Error(w, "There is no picture yet.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(data)
}

func (s *Server) display(w http.ResponseWriter, _ *http.Request) {
	state := s.o.Hub.Newest()
	var buf bytes.Buffer
	if err := png.Encode(&buf, hardware.Draw(withoutCode(state.Panel))); err != nil {
		http.Error(w, "The display's picture cannot be encoded.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	_, _ = w.Write(buf.Bytes())
}

// choose changes the chosen pair: {"from":"A1","to":"B1","arc":"front"}. Missing parts stay.
func (s *Server) choose(w http.ResponseWriter, r *http.Request) {
	var in struct {
		From *string `json:"from"`
		To   *string `json:"to"`
		Arc  *string `json:"arc"`
	}
	if !readBody(w, r, &in, `{"from":"A1","to":"B1","arc":"front"}`) {
		return
	}
	choice, err := s.o.Hub.Newest().Choice.With(in.From, in.To, in.Arc)
	if err != nil {
		Refuse(w, err)
		return
	}
	s.o.Choose(choice)
	w.WriteHeader(http.StatusNoContent)
}

// WriteJSON sends a JSON document.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "The answer cannot be written as JSON.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}
