package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// Rulings is the judges' record.
type Rulings interface {
	// Rule records a ruling on the held picture and makes it the last one. An error that people can
	// mend is a *Refusal.
	Rule(live.RuleRequest) (live.Ruling, error)
	// List returns at most limit rulings, newest first, with numbers below before (0: all).
	List(before uint64, limit int) ([]live.Ruling, error)
	// Entry returns an entry as the log stores it, in JSON.
	Entry(number uint64) ([]byte, error)
	// Picture returns an entry's picture for people, and its media type.
	Picture(number uint64) (data []byte, mediaType string, err error)
	// Export writes an entry as one self-contained HTML file.
	Export(w io.Writer, number uint64) error
	// ExportAll writes the whole log as a zip.
	ExportAll(w io.Writer) error
}

// Sizes that keep one client from harming the others. All texts together are far smaller than an
// entry of the log may be.
const (
	ruleBodyMost = 16 << 10
	textMost     = 2000 // characters of a reason or a question
	listMost     = 200
)

// ruleRoutes adds the addresses of the judges' record.
func (s *Server) ruleRoutes(mux *router) {
	mux.Handle("GET /judge", s.Allow(access.Nobody, Static(static, "static/judge.html")))
	mux.Handle("GET /remote", s.Allow(access.Nobody, Static(static, "static/remote.html")))
	mux.Handle("GET /api/held", s.Allow(access.Judge, s.held))
	mux.Handle("GET /api/held.png", s.Allow(access.Judge, s.heldPicture))
	if s.o.Freeze == nil || s.o.AskJudge == nil {
		return
	}
	mux.Handle("POST /api/freeze", s.Allow(access.Player, s.hold))
	mux.Handle("POST /api/ask-judge", s.Allow(access.Player, s.askJudge))
	if s.o.Rulings == nil {
		return
	}
	mux.Handle("POST /api/rulings", s.Allow(access.Judge, access.KeepsConnection(s.rule)))
	mux.Handle("GET /api/rulings", s.Allow(access.Player, s.rulings))
	mux.Handle("GET /api/rulings/{n}", s.Allow(access.Player, s.rulingEntry))
	mux.Handle("GET /api/rulings/{n}/picture", s.Allow(access.Player, s.rulingPicture))
	mux.Handle("GET /api/rulings/{n}/export.html", s.Allow(access.Player, s.rulingExport))
	mux.Handle("GET /api/rulings.zip", s.Allow(access.Judge, access.KeepsConnection(s.rulingsZip)))
}

// askJudge holds the picture and calls a judge: {"by":"player 2"}.
func (s *Server) askJudge(w http.ResponseWriter, r *http.Request) {
	var in struct {
		By *string `json:"by"`
	}
	if !readBody(w, r, &in, `{"by":"player 2"}`) {
		return
	}
	if in.By == nil {
		http.Error(w, "by is missing: who calls a judge; \"\" is the name that this device was paired with.", http.StatusBadRequest)
		return
	}
	if problem := checkText("by", *in.By, live.NameMost); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	who := strings.TrimSpace(*in.By)
	if who == "" {
		who = s.guard.Session(r).Name
	}
	if err := s.o.AskJudge(who); err != nil {
		ruleError(w, err)
		return
	}
	s.answerHeld(w, true)
}

// answerHeld sends the held picture, or why holding failed.
func (s *Server) answerHeld(w http.ResponseWriter, wanted bool) {
	state := s.o.Hub.Newest()
	if wanted && state.Hold == nil {
		http.Error(w, "Nothing can be held now: "+sentence.Lower(state.Health.Title)+".", http.StatusConflict)
		return
	}
	WriteJSON(w, http.StatusOK, map[string]any{"held": heldOf(state.Hold, state.Ruling)})
}

// ruleJSON is a ruling as the page sends it.
type ruleJSON struct {
	Held     uint64 `json:"held"`
	After    uint64 `json:"after"`
	From     string `json:"from"`
	To       string `json:"to"`
	Arc      string `json:"arc"`
	Decision string `json:"decision"` // as_measured, decided, overruled
	Ruled    struct {
		Range      string `json:"range"`
		InArc      string `json:"in_arc"`
		Obstructed string `json:"obstructed"`
		MayAttack  string `json:"may_attack"`
	} `json:"ruled"`
	Reason   string `json:"reason"`
	Question string `json:"question"`
	AskedBy  string `json:"asked_by"`
	Judge    string `json:"judge"`
}

// readRule reads a ruling; problem is a sentence for people.
func readRule(body io.Reader) (out live.RuleRequest, problem string) {
	var in ruleJSON
	if problem = readJSON(body, &in, `{"held":1,"from":"A1","to":"B1","arc":"front","decision":"as_measured"}`); problem != "" {
		return out, problem
	}
	arc, err := live.ParseArc(in.Arc)
	switch {
	case in.Held == 0:
		return out, "held is missing: the number of what was held when it was judged."
	case err != nil:
		return out, err.Error()
	case !slices.Contains([]live.Decision{live.AsMeasured, live.Decided, live.Overruled}, live.Decision(in.Decision)):
		return out, fmt.Sprintf("The decision must be as_measured, decided or overruled, got %.40q.", in.Decision)
	}
	for _, t := range []struct {
		name, text string
		most       int
	}{{"reason", in.Reason, textMost}, {"question", in.Question, textMost}, {"asked_by", in.AskedBy, live.NameMost},
		{"judge", in.Judge, live.NameMost}, {"from", in.From, live.NameMost}, {"to", in.To, live.NameMost}} {
		if problem := checkText(t.name, t.text, t.most); problem != "" {
			return out, problem
		}
	}
	return live.RuleRequest{
		Held: in.Held, After: in.After, Choice: live.Choice{From: in.From, To: in.To, Arc: arc}, Decision: live.Decision(in.Decision),
		Ruled: live.Ruled(in.Ruled), Reason: strings.TrimSpace(in.Reason), Question: strings.TrimSpace(in.Question),
		AskedBy: strings.TrimSpace(in.AskedBy), Judge: strings.TrimSpace(in.Judge),
	}, ""
}

// checkText returns why the record must not store a text, as a sentence; "" if it may.
func checkText(name, text string, most int) string {
	switch {
	case !utf8.ValidString(text):
		return fmt.Sprintf("%s is not UTF-8.", name)
	case utf8.RuneCountInString(text) > most:
		return fmt.Sprintf("%s has %d characters; at most %d fit.", name, utf8.RuneCountInString(text), most)
	case strings.ContainsFunc(text, sentence.Invisible):
		return fmt.Sprintf("%s must not contain control or invisible characters: they can make a text read differently from what it is.",
			name)
	}
	return ""
}

// rule records a ruling on the held picture.
func (s *Server) rule(w http.ResponseWriter, r *http.Request) {
	request, problem := readRule(http.MaxBytesReader(w, r.Body, ruleBodyMost))
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	if request.Judge == "" {
		request.Judge = s.guard.Session(r).Name
	}
	ruling, err := s.o.Rulings.Rule(request)
	if err != nil {
		ruleError(w, err)
		return
	}
	w.Header().Set("Location", fmt.Sprintf("/api/rulings/%d", ruling.Number))
	WriteJSON(w, http.StatusCreated, rulingOf(&ruling))
}

// ruleError sends an error of the record.
func ruleError(w http.ResponseWriter, err error) {
	var refusal *live.Refusal
	switch {
	case errors.As(err, &refusal):
		Refuse(w, refusal)
	case errors.Is(err, live.ErrNoRuling):
		http.Error(w, "There is no such ruling.", http.StatusNotFound)
	default:
		http.Error(w, "The record of rulings cannot be used: "+err.Error()+".", http.StatusInternalServerError)
	}
}

// rulings lists the rulings, newest first.
func (s *Server) rulings(w http.ResponseWriter, r *http.Request) {
	before, limit := uint64(0), listMost
	for _, q := range []struct {
		name string
		set  func(uint64)
	}{{"before", func(n uint64) { before = n }}, {"limit", func(n uint64) { limit = int(min(n, listMost)) }}} {
		text := r.URL.Query().Get(q.name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 53)
		if err != nil || n == 0 {
			http.Error(w, fmt.Sprintf("%s must be a whole number from 1, got %.40q.", q.name, text), http.StatusBadRequest)
			return
		}
		q.set(n)
	}
	list, err := s.o.Rulings.List(before, limit)
	if err != nil {
		ruleError(w, err)
		return
	}
	out := []*rulingJSON{}
	for i := range list {
		out = append(out, rulingOf(&list[i]))
	}
	WriteJSON(w, http.StatusOK, map[string]any{"version": 1, "rulings": out})
}

// entryNumber parses the number in the address. It reports false after answering that there is no
// such entry.
func entryNumber(w http.ResponseWriter, r *http.Request) (uint64, bool) {
	n, err := strconv.ParseUint(r.PathValue("n"), 10, 53)
	if err != nil || n == 0 {
		http.Error(w, "A ruling has a whole number from 1.", http.StatusNotFound)
		return 0, false
	}
	return n, true
}

func (s *Server) rulingEntry(w http.ResponseWriter, r *http.Request) {
	n, ok := entryNumber(w, r)
	if !ok {
		return
	}
	data, err := s.o.Rulings.Entry(n)
	if err != nil {
		ruleError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(data)
}

func (s *Server) rulingPicture(w http.ResponseWriter, r *http.Request) {
	n, ok := entryNumber(w, r)
	if !ok {
		return
	}
	data, mediaType, err := s.o.Rulings.Picture(n)
	if err != nil {
		ruleError(w, err)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(data)
}

// rulingExport sends an entry as a file to save. It is never displayed as a page of this server:
// its content came from people.
func (s *Server) rulingExport(w http.ResponseWriter, r *http.Request) {
	n, ok := entryNumber(w, r)
	if !ok {
		return
	}
	begun := &lateHeader{w: w, start: func() {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="ruling-%d.html"`, n))
	}}
	if err := s.o.Rulings.Export(begun, n); err != nil && !begun.started {
		ruleError(w, err)
	} else if err != nil {
		panic(http.ErrAbortHandler) // the client must not keep half a file as a whole one
	}
}

func (s *Server) rulingsZip(w http.ResponseWriter, _ *http.Request) {
	begun := &lateHeader{w: w, start: func() {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", `attachment; filename="rulings.zip"`)
	}}
	if err := s.o.Rulings.ExportAll(begun); err != nil && !begun.started {
		ruleError(w, err)
	} else if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// lateHeader sets the headers with the first byte, so that an earlier error can still be reported.
type lateHeader struct {
	w       io.Writer
	start   func()
	started bool
}

// Write implements io.Writer.
func (l *lateHeader) Write(p []byte) (int, error) {
	if !l.started {
		l.start()
		l.started = true
	}
	return l.w.Write(p)
}
