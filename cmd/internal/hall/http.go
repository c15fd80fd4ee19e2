package hall

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"syscall"
	"time"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/openapi"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
)

//go:embed static
var static embed.FS

//go:embed openapi
var openAPIFiles embed.FS

// openAPI is the OpenAPI document of the hall.
var openAPI = openapi.Document(append(web.PairAPI(), openapi.Part{Files: openAPIFiles, Glob: "openapi/*.json"})...)

const (
	writeWithin = 10 * time.Second // an event, a page or a picture
	bodyMost    = 64 << 10         // bytes of a request that is passed to a table
	askMost     = 4 << 10          // bytes of a small request
)

// listen listens at the pages' address.
func listen(address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("--listen: expected host:port such as :8090, got %q", address)
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--listen: %s is in use by another program; choose another", address)
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}

// ownAddress returns an address at which others reach a listener. If it listens on all addresses,
// that is the machine's first one.
func ownAddress(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	host := net.IPv4(127, 0, 0, 1)
	all, _ := net.InterfaceAddrs() // on an error, the address is localhost
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			host = n.IP
			break
		}
	}
	return (&net.TCPAddr{IP: host, Port: tcp.Port}).String()
}

// serve serves the listener until ctx is cancelled.
func (h *Hall) serve(ctx context.Context, l net.Listener) error {
	err := h.guard.Serve(ctx, l, &http.Server{Handler: h.handler(), ReadTimeout: 20 * time.Second, WriteTimeout: writeWithin + tunnelWithin})
	if err != nil {
		return fmt.Errorf("hall: %w", err)
	}
	return nil
}

// handler returns the handler for all addresses of the hall.
func (h *Hall) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range h.routes() {
		answer := r.Handler
		if r.Streams {
			answer = h.guard.Streaming(answer)
		}
		if r.Body == 0 {
			r.Body = bodyMost
		}
		mux.Handle(r.Pattern, h.guard.Allow(r.Role, func(w http.ResponseWriter, q *http.Request) {
			q.Body = http.MaxBytesReader(w, q.Body, r.Body)
			answer(w, q)
		}))
	}
	asked := http.NewCrossOriginProtection().Handler(mux)
	return access.Noted(web.Secured(h.guard.OwnHosts(h.guard.Limited(asked))))
}

// routes returns the hall's addresses.
func (h *Hall) routes() []web.Route {
	return append(web.PairRoutes(h.guard, h.o.Access), []web.Route{
		{Pattern: "GET /{$}", Role: access.Nobody, Handler: page("hall.html")},
		{Pattern: "GET /director", Role: access.Nobody, Handler: h.director},
		{Pattern: "GET /pair", Role: access.Nobody, Handler: page("hall.html")},
		{Pattern: "GET /hall/{file}", Role: access.Nobody, Handler: own},
		{Pattern: "GET /{file...}", Role: access.Nobody, Handler: shared},
		{Pattern: "GET /overlay/{widget}", Role: access.Nobody, Handler: h.overlay},
		{Pattern: "GET /livez", Role: access.Nobody, Handler: h.livez},
		{Pattern: "GET /healthz", Role: access.Nobody, Handler: h.healthz},
		{Pattern: "GET /api/openapi.json", Role: access.Nobody, Handler: openapi.Handler(openAPI)},
		{Pattern: "GET /metrics", Role: access.Reader, Handler: h.metrics},
		{Pattern: "GET /api/hall", Role: access.Reader, Handler: web.Compressed(http.HandlerFunc(h.now))},
		{Pattern: "GET /api/program", Role: access.Reader, Handler: h.getProgram},
		{Pattern: "PUT /api/program", Role: access.Player, Handler: h.putProgram},
		{Pattern: "GET /api/search", Role: access.Player, Handler: web.Compressed(http.HandlerFunc(h.search))},
		{Pattern: "GET /api/rulings/{table}/{number}/{hash}", Role: access.Player, Handler: h.ruling},
		{Pattern: "GET /api/pictures/{table}/{sha256}", Role: access.Player, Handler: h.picture},
		{Pattern: "GET /api/pairings", Role: access.Reader, Handler: h.getPairings},
		{Pattern: "PUT /api/pairings", Role: access.Judge, Handler: h.putPairings, Body: PairingsMost},
		{Pattern: "POST /api/pairings/send", Role: access.Judge, Handler: h.sendPairings},
		{Pattern: "GET /t/{table}/api/events", Role: access.Reader, Handler: h.events, Streams: true},
		{Pattern: "GET /t/{table}/overlay/clock", Role: access.Reader, Handler: h.overlayClock},
		{Pattern: "GET /t/{table}/{path...}", Role: access.Player, Handler: h.tunnel},
		{Pattern: "POST /t/{table}/{path...}", Role: access.Player, Handler: h.tunnel},
		{Pattern: "PATCH /t/{table}/{path...}", Role: access.Player, Handler: h.tunnel},
	}...)
}

// page serves a page of the hall itself in the browser's language. A table's pages come in that
// language from the table.
func page(name string) http.HandlerFunc {
	return web.Translated(web.Static(static, "static/"+name)).ServeHTTP
}

func own(w http.ResponseWriter, r *http.Request) {
	web.Static(static, "static/"+r.PathValue("file"))(w, r)
}

// shared serves the files that the tables' pages use: the overlay's modules, and those of every
// page.
func shared(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	switch path.Ext(name) {
	case ".js", ".css", ".svg", ".json":
		http.ServeFileFS(w, r, web.Files(), name)
	default:
		http.NotFound(w, r)
	}
}

// director serves the page that chooses the table on air.
func (h *Hall) director(w http.ResponseWriter, r *http.Request) {
	web.AllowFrames(w)
	page("director.html")(w, r)
}

// overlay serves the table's own overlay page, for one table or the one on air.
func (h *Hall) overlay(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("table") == "" {
		http.Error(w, "table is missing: /overlay/all?table=7 shows table 7, /overlay/all?table=program the one that /director puts on air.",
			http.StatusBadRequest)
		return
	}
	web.OverlayPage(w, r)
}

func (h *Hall) livez(w http.ResponseWriter, _ *http.Request) {
	web.WriteJSON(w, http.StatusOK, map[string]string{"status": "alive"})
}

// healthz returns 200 while the broker answers and stores what it receives.
func (h *Hall) healthz(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(r.Context(), 2*time.Second)
	defer stop()
	if _, err := h.stream.Info(ctx); err != nil {
		web.WriteJSON(w, http.StatusServiceUnavailable, map[string]any{"status": "broker", "detail": sentence.Of(err)})
		return
	}
	if h.broker != nil {
		if err := h.broker.trouble(); err != nil {
			web.WriteJSON(w, http.StatusServiceUnavailable, map[string]any{"status": "broker", "detail": sentence.Of(err)})
			return
		}
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"status": "ok", "event": h.event})
}

func (h *Hall) getProgram(w http.ResponseWriter, _ *http.Request) {
	name, _ := h.onProgram()
	web.WriteJSON(w, http.StatusOK, programJSON{name})
}

// putProgram puts a table on air: {"table":"7"}; "" takes every table off.
func (h *Hall) putProgram(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Table *string `json:"table"`
	}
	if !web.ReadBody(w, r, &in, askMost, `{"table":"7"}`) {
		return
	}
	if in.Table == nil {
		http.Error(w, `table is missing: {"table":"7"} puts table 7 on air, {"table":""} none.`, http.StatusBadRequest)
		return
	}
	if *in.Table != "" {
		if err := event.CheckName("table", *in.Table); err != nil {
			http.Error(w, sentence.Of(err), http.StatusBadRequest)
			return
		}
		if !h.knows(*in.Table) {
			http.Error(w, "The hall knows no table of that name.", http.StatusNotFound)
			return
		}
	}
	if err := h.setProgram(*in.Table); err != nil {
		http.Error(w, sentence.Of(err), http.StatusInsufficientStorage)
		return
	}
	web.WriteJSON(w, http.StatusOK, programJSON{*in.Table})
}

// eventPing is the interval between pings on an idle stream.
const eventPing = 5 * time.Second

// events streams a table's states while they are fresh, or those of the table on air. It announces
// a new table before that table's first state.
func (h *Hall) events(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("table")
	if name != "program" && !h.knows(name) {
		http.Error(w, "The hall knows no table of that name.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	s := &stream{w: w, control: http.NewResponseController(w)}
	if s.send("retry: 1000\n\n") != nil {
		return
	}
	if name != "program" {
		h.showTable(r.Context(), s, name, nil)
		return
	}
	for r.Context().Err() == nil {
		on, changed := h.onProgram()
		data, _ := json.Marshal(on) // never fails for a string
		if s.send("event: table\ndata: "+string(data)+"\n\n") != nil || !h.showTable(r.Context(), s, on, changed) {
			return
		}
	}
}

// stream is a client of events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s *stream) send(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}

// showTable streams one table until another one goes on air, which it reports, or the client
// disconnects. For "" it streams nothing.
func (h *Hall) showTable(ctx context.Context, s *stream, name string, changed <-chan struct{}) (again bool) {
	var views <-chan *view
	var t *table
	if name != "" {
		watched, stop := h.watch(name)
		defer stop()
		t = watched
		heard, end := t.views.Listen()
		defer end()
		views = heard
	}
	ping := time.NewTicker(eventPing)
	defer ping.Stop()
	for {
		text := ": ping\n\n"
		select {
		case <-ctx.Done():
			return false
		case <-changed:
			return true
		case <-ping.C:
		case v := <-views:
			if !h.fresh(t, v) {
				continue
			}
			text = "event: state\ndata: " + string(v.json) + "\n\n"
		}
		if s.send(text) != nil {
			return false
		}
	}
}

// overlayClock sends the time of a table, or of the one on air. It returns 503 while the time is
// unknown.
func (h *Hall) overlayClock(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("table")
	if name == "program" {
		name, _ = h.onProgram()
	}
	now, ok := h.tableClock(name)
	if !ok {
		http.Error(w, "The table's clock is not known.", http.StatusServiceUnavailable)
		return
	}
	web.WriteJSON(w, http.StatusOK, map[string]any{"now_unix_ms": now, "table": name})
}
