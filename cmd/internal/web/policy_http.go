package web

import (
	"net/http"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// policyRoutes adds the addresses of the agreement on measuring.
func (s *Server) policyRoutes(mux *router) {
	mux.Handle("POST /api/try", s.Allow(access.Player, s.preview))
	mux.Handle("POST /api/policy", s.Allow(access.Player, s.agree))
	mux.Handle("POST /api/declare", s.Allow(access.Player, s.declare))
}

// agree changes the agreement, proposes another one or objects to a proposal:
// {"measuring":"edition"}, {"object":true}.
func (s *Server) agree(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Measuring string `json:"measuring"`
		Object    bool   `json:"object"`
	}
	if !readBody(w, r, &in, `{"measuring":"edition"}`) {
		return
	}
	judge := s.judges(r)
	if p := s.o.Hub.Newest().Policy; p.JudgesOnly && !judge {
		http.Error(w, "Only a judge changes what may be measured at this table.", http.StatusForbidden)
		return
	}
	if in.Object {
		s.o.Agree("", judge)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	m, err := live.ParseMeasuring(in.Measuring)
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	s.o.Agree(m, judge)
	w.WriteHeader(http.StatusNoContent)
}

// declare opens a window for measuring, or closes the open one:
// {"doing":"attack","ship":"A1"}, {"doing":"maneuver","ship":"A1","move":"bank left 1"},
// {"doing":"done"}.
func (s *Server) declare(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Doing  string `json:"doing"`
		Ship   string `json:"ship"`
		Target string `json:"target"`
		Move   string `json:"move"`

		Ability string `json:"ability"`
	}
	if !readBody(w, r, &in, `{"doing":"attack","ship":"A1"}`) {
		return
	}
	if in.Doing == "done" {
		s.o.Declare(nil)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	state := s.o.Hub.Newest()
	d, err := state.CheckDeclaration(live.Declaration{Doing: live.Doing(in.Doing), Ship: in.Ship, Target: in.Target, Move: in.Move,
		Ability: in.Ability})
	if err != nil {
		Refuse(w, err)
		return
	}
	s.o.Declare(&d)
	w.WriteHeader(http.StatusNoContent)
}

// IsJudge reports whether a request comes from a judge. No agreement binds judges.
func (s *Server) IsJudge(r *http.Request) bool { return s.judges(r) }

func (s *Server) judges(r *http.Request) bool { return s.guard.Session(r).Role >= access.Judge }
