package web

import (
	"time"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/rulebook"
	"sightline/engine"
)

// Routes lists every address of the server and who may ask for it.
func (s *Server) Routes() []route { return s.router.routes }

// Cookie makes a pairing's cookie, as pairing does.
func (s *Server) Cookie(role access.Role, name string, now time.Time) string {
	_, value := s.guard.NewSession(role, name, now)
	return value
}

// RulesInWords are the rules that a judge is shown.
var RulesInWords = rulebook.Texts

// DemoTable is the table of the overlay's demo.
func DemoTable() engine.Scene { return demoTable() }

// ReadLearnIntent reads what someone wants who teaches obstacles.
var ReadLearnIntent = readLearnIntent

// PairingCode returns the code that pairs a device now.
func (s *Server) PairingCode() string {
	code, _ := s.guard.Code()
	return code
}
