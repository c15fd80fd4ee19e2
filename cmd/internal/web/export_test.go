package web

import (
	"net/netip"
	"time"

	"golang.org/x/time/rate"

	"sightline/engine"
)

// Routes lists every address of the server and who may ask for it.
func (s *Server) Routes() []route { return s.router.routes }

// Cookie makes a pairing's cookie, as pairing does.
func (s *Server) Cookie(role Role, name string, now time.Time) string {
	_, value := s.sessions.make(role, name, now)
	return value
}

// RulesInWords are the rules that a judge is shown.
var RulesInWords = rulesInWords

// DemoTable is the table of the overlay's demo.
func DemoTable() engine.Scene { return demoTable() }

// Buckets are the token buckets of peers.
type Buckets struct{ b *buckets[netip.Addr] }

// NewBuckets returns buckets of so many a second and so many at once.
func NewBuckets(perSecond float64, burst int) Buckets {
	return Buckets{newBuckets[netip.Addr](allowance{rate.Limit(perSecond), burst})}
}

// Take takes one token of a peer's.
func (b Buckets) Take(peer netip.Addr, now time.Time) bool {
	_, _, ok := b.b.take(peer, 1, now)
	return ok
}

// Peers is how many are told apart.
func (b Buckets) Peers() int { return len(b.b.of) }

// ReadLearnIntent reads what somebody wants who teaches obstacles.
var ReadLearnIntent = readLearnIntent

// PairingCode returns the code that pairs a device now.
func (s *Server) PairingCode() string { return s.pairing.Code(s.o.Now()) }
