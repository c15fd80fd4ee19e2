package web

import (
	"net/http"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
)

type releasedJSON struct {
	Number  uint64 `json:"number"`
	AtMS    int64  `json:"at_unix_ms"`
	Asked   string `json:"asked"`
	From    string `json:"from"`
	To      string `json:"to"`
	LetGoMS int64  `json:"let_go_unix_ms"`
	By      string `json:"by"`
}

func releasedOf(all []live.Released) []releasedJSON {
	out := []releasedJSON{}
	for _, r := range all {
		out = append(out, releasedJSON{r.Number, r.At.UnixMilli(), r.AskedBy, r.From, r.To, r.ReleasedAt.UnixMilli(), r.By})
	}
	return out
}

// hold holds the picture and the answers, or releases them: {"hold":true}, {"hold":false},
// {"hold":false,"held":1700000000001}. A judge can hold a released picture again:
// {"hold":true,"held":1700000000001}.
func (s *Server) hold(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Hold    *bool  `json:"hold"`
		Held    uint64 `json:"held"`
		Restart bool   `json:"restart"`
	}
	if !readBody(w, r, &in, `{"hold":true}`) {
		return
	}
	if in.Hold == nil {
		http.Error(w, "hold is missing: true holds the picture and the answers, false releases them.", http.StatusBadRequest)
		return
	}
	if in.Restart && (*in.Hold || !s.guard.Session(r).Here) {
		http.Error(w, "Only the machine itself announces its restart, with {\"hold\":false,\"restart\":true}.", http.StatusForbidden)
		return
	}
	judge := s.judges(r)
	if *in.Hold && in.Held != 0 && !judge {
		w.Header().Set("Sightline-Needs", access.Judge.String())
		http.Error(w, "Only a judge can hold a released picture again.", http.StatusForbidden)
		return
	}
	by := "a player"
	if judge {
		by = "a judge"
	}
	if name := s.guard.Session(r).Name; name != "" {
		by = name
	}
	if err := s.o.Freeze(live.HoldRequest{Hold: *in.Hold, Held: in.Held, Judge: judge, By: by, Restart: in.Restart}); err != nil {
		ruleError(w, err)
		return
	}
	s.answerHeld(w, *in.Hold)
}
