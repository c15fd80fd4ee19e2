package web

import (
	"net/http"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// policyRoutes adds the addresses of the agreement on measuring.
func (s *Server) policyRoutes(mux *router) {
	mux.Handle("POST /api/try", s.allow(Player, s.try))
	mux.Handle("POST /api/policy", s.allow(Player, s.agree))
	mux.Handle("POST /api/declare", s.allow(Player, s.declare))
}

// agree changes the agreement, proposes another or objects to what is proposed:
// {"measuring":"edition"}, {"object":true}.
func (s *Server) agree(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Measuring string `json:"measuring"`
		Object    bool   `json:"object"`
	}
	if problem := readJSON(http.MaxBytesReader(w, r.Body, bodyMost), &in, `{"measuring":"edition"}`); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
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
	}
	if problem := readJSON(http.MaxBytesReader(w, r.Body, bodyMost), &in, `{"doing":"attack","ship":"A1"}`); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	if in.Doing == "done" {
		s.o.Declare(nil)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	v := s.o.Hub.Newest()
	d := live.Declaration{Doing: live.Doing(in.Doing), Ship: in.Ship, Target: in.Target, Move: in.Move}
	checked, err := d.Check(v.Located.Scene.Rules)
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	for _, id := range []string{checked.Ship, checked.Target} {
		group, _ := live.ObjectOf(&v.Located.Scene, id)
		if id != "" && live.ShipOf(&v.Located.Scene, id) == nil && (checked.Doing != live.DoBlast || group != live.GroupDevice) {
			http.Error(w, sentence.Upper(sentence.Shorten(id))+" is not on the table.", http.StatusConflict)
			return
		}
	}
	if v.Policy.Measuring != live.MeasuringEdition {
		http.Error(w, "Nothing needs to be declared here: measuring is "+string(v.Policy.Measuring)+".", http.StatusConflict)
		return
	}
	s.o.Declare(&checked)
	w.WriteHeader(http.StatusNoContent)
}

// judges reports whether a request comes from a judge, who is bound by no agreement.
func (s *Server) judges(r *http.Request) bool { return s.session(r).Role >= Judge }

// allowed returns of a view's result what the agreement lets a request have; ok is
// false, with a sentence, when that is nothing.
func (s *Server) allowed(r *http.Request, v *live.State) (result engine.Result, ok bool, why string) {
	if s.judges(r) {
		return v.Result, true, ""
	}
	result, ok = v.Policy.Apply(&v.Located.Scene, v.Result)
	switch {
	case ok:
		return result, true, ""
	case v.Policy.Measuring == live.MeasuringJudge:
		return result, false, "Only the judge measures at this table."
	}
	return result, false, "The players agreed to measure only when the rules allow it: " + v.Unmeasured() + "."
}
