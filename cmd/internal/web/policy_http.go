package web

import (
	"net/http"

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
	m, err := ParseMeasuring(in.Measuring)
	if err != nil {
		http.Error(w, upperFirst(err.Error())+".", http.StatusBadRequest)
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
	d := Declaration{Doing: Doing(in.Doing), Ship: in.Ship, Target: in.Target, Move: in.Move}
	checked, err := d.Check(v.Located.Scene.Rules)
	if err != nil {
		http.Error(w, upperFirst(err.Error())+".", http.StatusBadRequest)
		return
	}
	for _, id := range []string{checked.Ship, checked.Target} {
		group, _ := objectOf(&v.Located.Scene, id)
		if id != "" && shipOf(&v.Located.Scene, id) == nil && (checked.Doing != DoBlast || group != groupDevice) {
			http.Error(w, upperFirst(shorten(id))+" is not on the table.", http.StatusConflict)
			return
		}
	}
	if v.Policy.Measuring != MeasuringEdition {
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
func (s *Server) allowed(r *http.Request, v *View) (result engine.Result, ok bool, why string) {
	if s.judges(r) {
		return v.Result, true, ""
	}
	result, ok = v.Policy.Apply(&v.Located.Scene, v.Result)
	switch {
	case ok:
		return result, true, ""
	case v.Policy.Measuring == MeasuringJudge:
		return result, false, "Only the judge measures at this table."
	}
	return result, false, "The players agreed to measure only when the rules allow it: " + v.unmeasured() + "."
}

// unmeasured says why what is declared measures nothing, as the state says it of a pair.
func (v *View) unmeasured() string {
	w := v.Policy.Window
	if w == nil {
		return "nothing is declared that would"
	}
	if w.moves() {
		return w.Words() + " is declared: a movement measures no ranges"
	}
	scene := v.standing()
	if w.Doing == DoBlast {
		return w.Words() + ", and no ship is seen standing still"
	}
	if shipOf(&scene, w.Ship) == nil {
		if k, known := v.track(w.Ship); known && !k.State.Stands() {
			return w.Words() + ", and " + TrackWords(&k, v.Located.Captured)
		}
		return w.Words() + ", and " + w.Ship + " is not seen"
	}
	if v.Choice.From == w.Ship && v.Choice.To != "" && v.Pair == nil && v.Reason != "" {
		return w.Words() + ": " + v.Reason
	}
	return w.Words() + ", and no ship that it measures to is seen standing still"
}
