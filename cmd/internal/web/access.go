package web

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"sightline/hardware"
)

// Role is what somebody may do. A higher one may do everything that a lower one may.
type Role int

// The roles.
const (
	Nobody Role = iota // sees the pages and may pair; nothing of the table where reading needs pairing
	Reader             // sees everything
	Player             // chooses, freezes, asks for a judge, calibrates
	Judge              // rules
)

// String returns the role as the API spells it.
func (r Role) String() string {
	switch r {
	case Reader:
		return "reader"
	case Player:
		return "player"
	case Judge:
		return "judge"
	}
	return "nobody"
}

// AccessOptions say who may do what. The zero value: reading is open, pairings are
// forgotten when the program ends, and nobody can be a judge.
type AccessOptions struct {
	// PairToRead closes the table to those who are not paired.
	PairToRead bool
	// Key signs the sessions: whoever knows it can be anybody. nil: a random one that is
	// forgotten at the end, and with it every pairing.
	Key []byte
	// JudgeSecret makes a judge of whoever knows it; "": there is none.
	JudgeSecret string
	// Names are the host names that the page answers to, as CanonicalName writes them,
	// besides addresses and localhost.
	Names []string
	// Here reports whether a peer is this very machine; nil: a loopback address is.
	Here    func(netip.Addr) bool
	Address string       // of the page for a phone; "": others do not reach it
	Log     *slog.Logger // nil: slog.Default()
}

// Session is who asks: what they may do, and as whom.
type Session struct {
	Role    Role
	Name    string    // as they said when they paired; "" for none
	Here    bool      // a program or browser on this very machine, by no way round
	Expires time.Time // of the pairing; zero: not paired
}

// Paired reports whether the session comes from a pairing.
func (s Session) Paired() bool { return !s.Expires.IsZero() }

// forwarding are the headers by which a proxy says that it asks for somebody else.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// forwarded reports whether a request came by way of a proxy, which is then the peer:
// what stands at this machine need not come from it.
func forwarded(r *http.Request) bool {
	for _, h := range forwarding {
		if r.Header[h] != nil {
			return true
		}
	}
	for h := range r.Header {
		if strings.HasPrefix(h, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// peerOf is the address at the other end of the connection, whatever the headers say;
// the zero Addr when there is none.
func peerOf(r *http.Request) netip.Addr { return addressOf(r.RemoteAddr) }

// addressOf is the address of an address and port.
func addressOf(text string) netip.Addr {
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// here reports whether a request comes from this very machine, by no way round.
func (s *Server) here(r *http.Request) bool {
	peer := peerOf(r)
	return peer.IsValid() && s.o.Access.Here(peer) && !forwarded(r)
}

// session says who asks. It never fails: what is no valid pairing is none.
func (s *Server) session(r *http.Request) Session {
	who := Session{Role: Reader, Here: s.here(r)}
	if s.o.Access.PairToRead {
		who.Role = Nobody
	}
	if who.Role == Nobody && s.sessions.maySee(r.URL.Query().Get("token"), s.o.Now()) {
		who.Role = Reader
	}
	if who.Here {
		who.Role = Player
	}
	if paired, ok := s.sessions.read(r, s.o.Now()); ok {
		who.Role, who.Name, who.Expires = max(who.Role, paired.Role), paired.Name, paired.Expires
	}
	return who
}

// guarded is a handler behind the role that it takes.
type guarded struct {
	role Role
	s    *Server
	next http.HandlerFunc
}

// allow lets a handler be asked by those who have the role, and answers the others
// with 403, a sentence and the role in the header Sightline-Needs.
func (s *Server) allow(role Role, next http.HandlerFunc) *guarded { return &guarded{role, s, next} }

// ServeHTTP implements http.Handler.
func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.role > Nobody && g.s.session(r).Role < g.role {
		w.Header().Set("Sightline-Needs", g.role.String())
		http.Error(w, refusals[g.role], http.StatusForbidden)
		return
	}
	g.next(w, r)
}

// refusals say what is missing for each role.
var refusals = [...]string{
	Reader: "This table is shown to paired devices only. Open /pair and type the code that the box's display shows under \"page address\".",
	Player: "This needs a paired device. Open /pair and type the code that the box's display shows under \"page address\".",
	Judge:  "This needs a judge. Open /pair and type the judge's secret.",
}

// router is a ServeMux that knows its patterns, and takes no handler that does not
// say who may ask it.
type router struct {
	mux    *http.ServeMux
	routes []route
}

// route is one address and who may ask for it.
type route struct {
	Pattern string // "GET /api/state"
	Role    Role
}

// Handle adds a route.
func (t *router) Handle(pattern string, h *guarded) {
	t.mux.Handle(pattern, h)
	t.routes = append(t.routes, route{pattern, h.role})
}

// meJSON is who asks, as the page is told.
type meJSON struct {
	Role      string `json:"role"`
	Name      string `json:"name"`
	Here      bool   `json:"here"`
	Paired    bool   `json:"paired"`
	ExpiresMS int64  `json:"expires_unix_ms"` // of the pairing; 0: there is none
	Judges    bool   `json:"judges"`          // there is a judge's secret
	Open      bool   `json:"reading_open"`    // reading needs no pairing
}

// me answers with who asks and what they may do.
func (s *Server) me(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, s.meOf(s.session(r)))
}

func (s *Server) meOf(who Session) meJSON {
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
	mux.Handle("GET /pair", s.allow(Nobody, s.pairPage))
	mux.Handle("GET /pair/{code}", s.allow(Nobody, s.pairPage))
	mux.Handle("GET /PAIR/{code}", s.allow(Nobody, s.pairPage)) // as the display's QR code writes it
	mux.Handle("GET /api/openapi.json", s.allow(Nobody, s.describe))
	mux.Handle("GET /api/me", s.allow(Nobody, s.me))
	mux.Handle("GET /api/pair", s.allow(Player, s.pairingCode))
	mux.Handle("POST /api/pair", s.allow(Nobody, s.Pair))
	mux.Handle("POST /api/unpair", s.allow(Nobody, s.unpair))
}

// withoutCode is the panel's state as the page may show it: who reads the page has not
// thereby seen the box, and the pairing code is for those who stand before it.
func withoutCode(p hardware.State) hardware.State {
	p.Screen.Code = ""
	return p
}
