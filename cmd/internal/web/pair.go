package web

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/openapi"
	"sightline/cmd/internal/sentence"
	"sightline/hardware"
)

// router is a ServeMux that knows its patterns. It accepts only handlers with a required role.
type router struct {
	mux    *http.ServeMux
	routes []route
}

// route is one address and its required role.
type route struct {
	Pattern string // "GET /api/state"
	Role    access.Role
}

// Route is an address that another package serves. It has the same protection as the server's own
// addresses: hosts, roles, limits, and requests from other sites.
type Route struct {
	Pattern string // of net/http's ServeMux: "GET /api/round"
	Role    access.Role
	Handler http.HandlerFunc
	Streams bool  // the response lasts as long as the client listens
	Body    int64 // maximum size of a request; 0: the default. Only for patterns without a wildcard
}

// Static serves one of a package's embedded files, a page with its head.
func Static(files fs.FS, name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, pages{files}, name) }
}

// PageRoutes returns the addresses of a page, /NAME, and of its script and its style sheet, all in the
// folder static.
func PageRoutes(files fs.FS, name string) []Route {
	file := func(ext string) http.HandlerFunc { return Static(files, "static/"+name+ext) }
	return []Route{
		{Pattern: "GET /" + name, Role: access.Nobody, Handler: file(".html")},
		{Pattern: "GET /" + name + ".js", Role: access.Nobody, Handler: file(".js")},
		{Pattern: "GET /" + name + ".css", Role: access.Nobody, Handler: file(".css")},
	}
}

// FolderRoutes returns the addresses of a page, /NAME, and of the files in the folder static, below it.
func FolderRoutes(files fs.FS, name string) []Route {
	return []Route{
		{Pattern: "GET /" + name, Role: access.Nobody, Handler: Static(files, "static/"+name+".html")},
		{Pattern: "GET /" + name + "/{file}", Role: access.Nobody, Handler: func(w http.ResponseWriter, r *http.Request) {
			Static(files, "static/"+path.Base(r.PathValue("file")))(w, r)
		}},
	}
}

// Handle adds a route.
func (t *router) Handle(pattern string, h *access.Guarded) {
	t.mux.Handle(pattern, h)
	t.routes = append(t.routes, route{pattern, h.Needs()})
}

// meJSON tells the page the client's role.
type meJSON struct {
	Role      string `json:"role"`
	Name      string `json:"name"`
	Here      bool   `json:"here"`
	Paired    bool   `json:"paired"`
	ExpiresMS int64  `json:"expires_unix_ms"` // of the pairing; 0: none
	Judges    bool   `json:"judges"`          // there is a judge's secret
	Open      bool   `json:"reading_open"`    // reading needs no pairing
}

// me sends the client's role and rights.
func (s *Server) me(w http.ResponseWriter, r *http.Request) {
	WriteJSON(w, http.StatusOK, s.meOf(s.guard.Session(r)))
}

func (s *Server) meOf(who access.Session) meJSON {
	j := meJSON{
		Role: who.Role.String(), Name: who.Name, Here: who.Here, Paired: who.Paired(),
		Judges: s.o.Access.JudgeSecret != "", Open: !s.o.Access.PairToRead,
	}
	if who.Paired() {
		j.ExpiresMS = who.Expires.UnixMilli()
	}
	return j
}

// accessRoutes adds the addresses of pairing.
func (s *Server) accessRoutes(mux *router) {
	page := Static(static, "static/pair.html")
	mux.Handle("GET /pair", s.Allow(access.Nobody, page))
	mux.Handle("GET /pair/{code}", s.Allow(access.Nobody, page))
	mux.Handle("GET /PAIR/{code}", s.Allow(access.Nobody, page)) // as in the display's QR code
	mux.Handle("GET /api/openapi.json", s.Allow(access.Nobody, openapi.Handler(openAPI)))
	mux.Handle("GET /api/me", s.Allow(access.Nobody, s.me))
	mux.Handle("GET /api/pair", s.Allow(access.Player, s.pairingCode))
	mux.Handle("POST /api/pair", s.Allow(access.Nobody, s.Pair))
	mux.Handle("POST /api/unpair", s.Allow(access.Nobody, s.Unpair))
}

// PairRoutes returns the addresses of pairing, for another server with its own guard.
func PairRoutes(g *access.Guard, o access.Options) []Route {
	s := &Server{o: Options{Access: o}, guard: g}
	return []Route{
		{Pattern: "GET /api/me", Role: access.Nobody, Handler: s.me},
		{Pattern: "POST /api/pair", Role: access.Nobody, Handler: s.Pair},
		{Pattern: "POST /api/unpair", Role: access.Nobody, Handler: s.Unpair},
	}
}

// withoutCode removes the pairing code from the panel's state. The code is for people at the box,
// and a reader of the page need not be there.
func withoutCode(p hardware.State) hardware.State {
	p.Screen.Code = ""
	return p
}

// pairJSON is a pairing request.
type pairJSON struct {
	Code   string `json:"code"`
	Secret string `json:"judge_secret"`
	Name   string `json:"name"`
}

// The largest sizes of typed texts.
const (
	nameMost   = 32  // characters
	secretMost = 256 // bytes
)

// readPairing reads a pairing request; problem is a sentence for people.
func readPairing(body io.Reader) (in pairJSON, problem string) {
	if problem = readJSON(body, &in, `{"code":"K4MWQX","name":"Anna"}`); problem != "" {
		return pairJSON{}, problem
	}
	in.Name, in.Secret = strings.TrimSpace(in.Name), strings.TrimSpace(in.Secret)
	switch {
	case utf8.RuneCountInString(in.Name) > nameMost || strings.ContainsFunc(in.Name, sentence.Unprintable):
		return pairJSON{}, fmt.Sprintf("A name has at most %d characters, all of them printable.", nameMost)
	case (in.Code == "") == (in.Secret == ""):
		return pairJSON{}, "Type the table's code, or the judge's secret."
	case len(in.Secret) > secretMost:
		return pairJSON{}, fmt.Sprintf("A judge's secret has at most %d bytes.", secretMost)
	}
	return in, ""
}

// Pair makes the client a player if it knows the code, or a judge if it knows the secret.
func (s *Server) Pair(w http.ResponseWriter, r *http.Request) {
	in, problem := readPairing(http.MaxBytesReader(w, r.Body, bodyMost))
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	if who, ok := s.guard.Pair(w, r, in.Code, in.Secret, in.Name); ok {
		WriteJSON(w, http.StatusOK, s.meOf(who))
	}
}

// Unpair ends the client's pairing.
func (s *Server) Unpair(w http.ResponseWriter, r *http.Request) {
	if !readNothing(w, r) {
		return
	}
	s.guard.Unpair(w, r)
	w.WriteHeader(http.StatusNoContent)
}

// codeJSON is the pairing code.
type codeJSON struct {
	Code      string   `json:"code"`
	ExpiresMS int64    `json:"expires_unix_ms"`
	Address   string   `json:"address"` // of the page for a phone; "": only this machine reaches the page
	QR        []string `json:"qr"`      // QR code of the address with the code, '#' for black; empty: no phone reaches the page
}

// pairingCode sends the code to the machine itself, which may have no display, and to judges. A
// paired phone cannot pair others.
func (s *Server) pairingCode(w http.ResponseWriter, r *http.Request) {
	if who := s.guard.Session(r); !who.Here && who.Role < access.Judge {
		w.Header().Set("Sightline-Needs", access.Judge.String())
		http.Error(w, "Only the table's own computer and judges see the code here.", http.StatusForbidden)
		return
	}
	code, until := s.guard.Code()
	told := codeJSON{Code: code, ExpiresMS: until.UnixMilli(), QR: []string{}}
	if s.o.Access.Address != nil {
		told.Address = s.o.Access.Address()
	}
	if told.Address != "" {
		told.QR = append(told.QR, hardware.QR(told.Address+"pair/"+code)...)
	}
	WriteJSON(w, http.StatusOK, told)
}
