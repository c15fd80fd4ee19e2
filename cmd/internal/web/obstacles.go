package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
)

// Learning teaches the program this table's obstacles. The errors of Learn are sentences for
// people; those that wrap ErrLearnConflict no longer fit the present state.
type Learning interface {
	Learning() live.LearnState
	Learn(live.LearnIntent) error
	// Traced returns the picture of the newest trace, as a state's frame and region.
	Traced() (live.State, bool)
}

// learnEvery is how often the state is sent.
const learnEvery = 500 * time.Millisecond

// learnPath is the address of the catalogue's file, the only one that accepts a large body.
const (
	learnPath     = "/api/obstacles/catalogue.json"
	catalogueMost = catalogue.MaxFile
	errorMost     = 500 // bytes of the error text
)

// obstacleRoutes adds the addresses of the page that learns obstacles.
func (s *Server) obstacleRoutes(mux *router) {
	mux.Handle("GET /obstacles", s.Allow(access.Nobody, Static(static, "static/obstacles.html")))
	mux.Handle("GET /api/obstacles", s.Allow(access.Reader, s.obstacles))
	mux.Handle("GET /api/obstacles/events", s.Allow(access.Reader, s.guard.Streaming(s.obstacleEvents)))
	mux.Handle("GET /api/obstacles/picture.jpg", s.Allow(access.Reader, s.tracedPicture))
	mux.Handle("POST /api/obstacles", s.Allow(access.Player, s.learn))
	mux.Handle("GET "+learnPath, s.Allow(access.Reader, s.catalogueFile))
	mux.Handle("PUT "+learnPath, s.Allow(access.Player, s.importCatalogue))
}

func (s *Server) learnState() learnStateJSON {
	state, l := s.o.Hub.Newest(), s.o.Learning.Learning()
	return learnStateOf(&state, &l)
}

func (s *Server) obstacles(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, s.learnState())
}

// obstacleEvents streams the state.
func (s *Server) obstacleEvents(w http.ResponseWriter, r *http.Request) {
	never := func() (<-chan struct{}, func()) { return nil, func() {} }
	again := func() (string, error) {
		j := s.learnState()
		return stateEvent(j.Seq, j)
	}
	stream(w, r, never, func(struct{}) (string, error) { return again() }, learnEvery, again)
}

func (s *Server) tracedPicture(w http.ResponseWriter, _ *http.Request) {
	state, ok := s.o.Learning.Traced()
	if !ok {
		http.Error(w, "Nothing has been traced yet.", http.StatusNotFound)
		return
	}
	data, err := s.tracedPictures.encode(&state)
	if err != nil {
		http.Error(w, "There is no picture of what was traced.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(data)
}

// learn accepts an intent: {"do":"trace","top_mm":2}. It refuses with 409 what no longer fits the
// present state, with 400 what is never possible, and with 507 what cannot be saved.
func (s *Server) learn(w http.ResponseWriter, r *http.Request) {
	in, problem := readLearnIntent(r.Body)
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	s.doLearn(w, in)
}

func (s *Server) doLearn(w http.ResponseWriter, in live.LearnIntent) {
	err := s.o.Learning.Learn(in)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	status, text := http.StatusBadRequest, err.Error()
	for _, known := range []struct {
		err    error
		status int
	}{{live.ErrLearnConflict, http.StatusConflict}, {live.ErrLearnFile, http.StatusInsufficientStorage}} {
		if errors.Is(err, known.err) {
			status, text = known.status, strings.TrimPrefix(text, known.err.Error()+": ")
		}
	}
	http.Error(w, sentence.Upper(strings.TrimSuffix(text, "."))+".", status)
}

// learnIntentJSON is an intent of the page.
type learnIntentJSON struct {
	Do      live.LearnAction `json:"do"`
	Version string           `json:"version"`
	Bare    bool             `json:"bare"`
	TopMM   *float64         `json:"top_mm"`
	Trace   uint64           `json:"trace"`
	Tokens  []learnNameJSON  `json:"tokens"`
	Name    string           `json:"name"`
	To      string           `json:"to"`
	Kind    string           `json:"kind"`
}

type learnNameJSON struct {
	Number  int    `json:"number"`
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Replace bool   `json:"replace"`
}

// learnActions are the actions of POST; a file is PUT to its own address.
var learnActions = []live.LearnAction{live.LearnMat, live.LearnTrace, live.LearnForget, live.LearnSave, live.LearnChange, live.LearnDelete}

// Limits of the height of a token's upper face over the mat, mm.
const (
	topLeast = 0.2
	topMost  = 20.0
)

// readLearnIntent reads an intent; problem is a sentence for people.
func readLearnIntent(body io.Reader) (in live.LearnIntent, problem string) {
	var raw learnIntentJSON
	if problem = readJSON(body, &raw, `{"do":"trace","top_mm":2}`); problem != "" {
		return in, problem
	}
	if !slices.Contains(learnActions, raw.Do) {
		return in, fmt.Sprintf("There is no %q; expected one of %v.", raw.Do, learnActions)
	}
	in = live.LearnIntent{Do: raw.Do, Version: raw.Version, Bare: raw.Bare, Top: catalogue.TokenTop, Trace: raw.Trace, Name: raw.Name,
		To: strings.TrimSpace(raw.To), Kind: raw.Kind}
	if raw.TopMM != nil {
		if !(*raw.TopMM >= topLeast && *raw.TopMM <= topMost) {
			return in, fmt.Sprintf("The height of the tokens' upper face over the mat: expected %v to %v mm, got %v.", topLeast, topMost, *raw.TopMM)
		}
		in.Top = geom.Length(*raw.TopMM) * geom.Millimeter
	}
	if problem := badName(in.To); in.To != "" && problem != "" {
		return in, problem
	}
	for _, t := range raw.Tokens {
		t.Name = strings.TrimSpace(t.Name)
		if problem := badName(t.Name); problem != "" {
			return in, fmt.Sprintf("Number %d: %s", t.Number, problem)
		}
		in.Tokens = append(in.Tokens, live.LearnName(t))
	}
	return in, ""
}

// badName describes what is wrong with an entry's new name, as a sentence.
func badName(name string) string {
	switch {
	case name == "":
		return "Give it a name."
	case len([]rune(name)) > catalogue.EntryNameMost:
		return fmt.Sprintf("A name has at most %d characters.", catalogue.EntryNameMost)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '\u007f' || r == '\ufffd' }):
		return "A name consists of letters, digits and other visible characters."
	}
	return ""
}

// catalogueFile sends the catalogue's file as it is.
func (s *Server) catalogueFile(w http.ResponseWriter, _ *http.Request) {
	l := s.o.Learning.Learning()
	if l.Catalogue.Problem != "" {
		http.Error(w, "The catalogue cannot be read: "+l.Catalogue.Problem+".", http.StatusConflict)
		return
	}
	if l.Catalogue.Version == "" {
		http.Error(w, "There is no catalogue yet.", http.StatusNotFound)
		return
	}
	data, err := json.Marshal(&catalogue.Catalogue{Entries: l.Entries})
	if err != nil {
		http.Error(w, "The catalogue cannot be written as JSON.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="obstacles.json"`)
	w.Header().Set("ETag", strconv.Quote(l.Catalogue.Version))
	_, _ = w.Write(append(data, '\n'))
}

// importCatalogue imports a catalogue's file: ?mode=add (refuse existing names), replace (replace
// them) or all (replace the whole catalogue). If-Match has the version that it changes.
func (s *Server) importCatalogue(w http.ResponseWriter, r *http.Request) {
	in := live.LearnIntent{Do: live.LearnImport}
	switch mode := r.URL.Query().Get("mode"); mode {
	case "", "add":
	case "replace":
		in.Replace = true
	case "all":
		in.Whole = true
	default:
		http.Error(w, fmt.Sprintf("There is no mode %q; expected add, replace or all.", mode), http.StatusBadRequest)
		return
	}
	in.Version = strings.Trim(r.Header.Get("If-Match"), `"`)
	content, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		http.Error(w, fmt.Sprintf("The file is too large: a catalogue has at most %d MB.", catalogueMost>>20), http.StatusRequestEntityTooLarge)
		return
	}
	if err == nil {
		in.Catalogue, err = catalogue.Parse(bytes.NewReader(content))
	}
	if err != nil {
		why := strings.TrimSuffix(err.Error(), ".")
		if len(why) > errorMost { // it quotes the file
			why = strings.ToValidUTF8(why[:errorMost], "") + "…"
		}
		http.Error(w, "The file was refused: "+why+".", http.StatusBadRequest)
		return
	}
	s.doLearn(w, in)
}
