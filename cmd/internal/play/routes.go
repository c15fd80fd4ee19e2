package play

import (
	"embed"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
)

//go:embed static
var static embed.FS

// Routes returns the routes of the game.
func (t *Table) Routes() []web.Route {
	return append(web.FolderRoutes(static, "game"), []web.Route{
		{Pattern: "GET /replay", Role: access.Nobody, Handler: web.Static(static, "static/replay.html")},
		{Pattern: "GET /api/game", Role: access.Reader, Handler: t.get},
		{Pattern: "POST /api/game/start", Role: access.Player, Handler: t.postStart},
		{Pattern: "POST /api/game/do", Role: access.Player, Handler: t.postDo},
		{Pattern: "GET /api/game/check/{what}", Role: access.Reader, Handler: t.card},
		{Pattern: "GET /api/game/setup.svg", Role: access.Reader, Handler: t.areas},
		{Pattern: "GET /api/game/shots", Role: access.Reader, Handler: t.shots},
		{Pattern: "GET /api/games/{id}", Role: access.Player, Handler: t.getEvents},
		{Pattern: "GET /api/games/{id}/at", Role: access.Player, Handler: t.getAt},
		{Pattern: "GET /api/games/{id}/export/{form}", Role: access.Player, Handler: t.getExport},
	}...)
}

func (t *Table) get(w http.ResponseWriter, r *http.Request) {
	web.WriteJSON(w, http.StatusOK, t.state(r.Context()))
}

// squadMost is the largest request with two squads: the server's own limit, and three times two
// squads of the most ships that fit on a mat, with all their upgrades.
const squadMost = 64 << 10

func (t *Table) postStart(w http.ResponseWriter, r *http.Request) {
	var in StartRequest
	if r.ContentLength > squadMost {
		http.Error(w, fmt.Sprintf("The two squads are too large: %d kB together, and at most %d kB are taken. A squad of a builder has 1 to "+
			"10 kB; leave out what is no squad.", (r.ContentLength+1023)>>10, squadMost>>10), http.StatusRequestEntityTooLarge)
		return
	}
	if !web.ReadBody(w, r, &in, squadMost, `{"edition":"2.5","players":[{"name":"Ada","squad":"…"},{"name":"Ben","squad":"…"}]}`) {
		return
	}
	if err := t.Start(in); err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// tapped are the kinds of events that people make on the page.
var tapped = []round.Kind{round.Advanced, round.Acted, round.Rolled, round.Changed, round.Halved, round.Tied, round.Scored, round.Ended,
	round.Undone, round.Said, round.Towed, round.Scrambled, round.Jettisoned}

func (t *Table) postDo(w http.ResponseWriter, r *http.Request) {
	var in struct {
		round.Event
		Game int64 `json:"game"` // that the requester saw; 0: any
	}
	if !web.ReadBody(w, r, &in, 4<<10, `{"kind":"acted","ship":"B2","round":1,"phase":"Activation"}`) {
		return
	}
	e := in.Event
	switch {
	case !slices.Contains(tapped, e.Kind) || e.Start != nil || e.Flown != nil || e.Scene != nil:
		http.Error(w, fmt.Sprintf("Expected one of the kinds %v.", tapped), http.StatusBadRequest)
		return
	case len(e.Text) > 500 || e.Points < -100 || e.Points > 500:
		http.Error(w, "Expected at most 500 bytes of text, and -100 to 500 points.", http.StatusBadRequest)
		return
	case strings.ContainsFunc(e.Text+e.Ship+e.With, sentence.Unprintable):
		http.Error(w, "A note must be one line without control or invisible characters: they can make it read differently from what it is.",
			http.StatusBadRequest)
		return
	}
	e.At, e.By = time.Time{}, "the page"
	if err := t.doIn(in.Game, e); err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// refuse writes an error with the status of its kind.
func refuse(w http.ResponseWriter, err error) {
	if errors.Is(err, rulings.ErrNoGame) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	web.Refuse(w, err)
}

// eventsOf returns the events of the game that a request names.
func (t *Table) eventsOf(w http.ResponseWriter, r *http.Request) (id int64, events []round.Event, ok bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		http.Error(w, "A game is named by its number.", http.StatusNotFound)
		return 0, nil, false
	}
	t.mu.Lock()
	own, current := t.events, t.id == id && t.game != nil
	t.mu.Unlock()
	if current {
		return id, own, true
	}
	log, err := t.o.Record()
	if err == nil {
		events, err = Load(r.Context(), log, id)
	}
	if err != nil {
		refuse(w, err)
		return id, nil, false
	}
	return id, events, true
}

func (t *Table) getEvents(w http.ResponseWriter, r *http.Request) {
	if id, events, ok := t.eventsOf(w, r); ok {
		web.WriteJSON(w, http.StatusOK, map[string]any{"version": 1, "id": id, "events": events})
	}
}

func (t *Table) getAt(w http.ResponseWriter, r *http.Request) {
	id, events, ok := t.eventsOf(w, r)
	if !ok {
		return
	}
	n, err := strconv.Atoi(r.URL.Query().Get("event"))
	if err != nil || n < 1 || n > len(events) {
		http.Error(w, fmt.Sprintf("This game has the events 1 to %d.", len(events)), http.StatusNotFound)
		return
	}
	out, err := at(events[:n], r.URL.Query().Get("from"), r.URL.Query().Get("to"), r.URL.Query().Get("arc"), t.agreed(r, id))
	if err != nil {
		refuse(w, err)
		return
	}
	web.WriteJSON(w, http.StatusOK, out)
}

// agreed returns the agreement that binds who asks about a game: the players of the one that
// is played, whose ships mostly stand where they stood. It binds no judge, and no one after the game.
func (t *Table) agreed(r *http.Request, id int64) live.Policy {
	t.mu.Lock()
	played := t.game != nil && t.id == id && !t.game.Ended
	t.mu.Unlock()
	if !played || t.judges(r) {
		return live.Policy{}
	}
	return t.o.Hub.Newest().Policy
}

func (t *Table) getExport(w http.ResponseWriter, r *http.Request) {
	id, events, ok := t.eventsOf(w, r)
	if !ok {
		return
	}
	form := r.PathValue("form")
	data, kind, err := Export(id, events, form)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	// The page has inline styles and no script.
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'")
	if form != "html" {
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="game-%d.%s"`, id, form))
	}
	_, _ = w.Write(data)
}
