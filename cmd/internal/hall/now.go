package hall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/metrics"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
)

// Tile is a table on the hall's page.
type Tile struct {
	Table    string        `json:"table"`
	Live     bool          `json:"live"`   // the fields below are current
	AgeMS    int64         `json:"age_ms"` // of the last health; -1: none yet, or its clock is unknown
	Health   *event.Health `json:"health"` // the last one; null: none since the hall started
	Round    string        `json:"round"`
	Names    [2]string     `json:"names"`
	Score    [2]int        `json:"score"`
	Rulings  int           `json:"rulings"`  // in the hall
	Waiting  int64         `json:"waiting"`  // not yet in the hall
	Problems []string      `json:"problems"` // of its record
	Expires  time.Time     `json:"expires"`  // of its invitation; zero: none is valid
}

// OpenCall is a picture at a table that waits for a judge.
type OpenCall struct {
	Table     string `json:"table"`
	Held      uint64 `json:"held"`
	Asked     string `json:"asked"`
	WaitingMS int64  `json:"waiting_ms"`
	Live      bool   `json:"live"`
	Page      string `json:"page"` // where the held picture can be seen and ruled on
}

// nowJSON is the state of the hall.
type nowJSON struct {
	Version int        `json:"version"`
	Event   string     `json:"event"`
	AtMS    int64      `json:"at_unix_ms"`
	Program string     `json:"program"`
	Tables  []Tile     `json:"tables"`
	Calls   []OpenCall `json:"calls"`   // the oldest first
	Trouble string     `json:"trouble"` // what is wrong with the hall itself; "": nothing
}

// now sends the state of all tables.
func (h *Hall) now(w http.ResponseWriter, _ *http.Request) {
	is, err := h.snapshot()
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusInternalServerError)
		return
	}
	web.WriteJSON(w, http.StatusOK, is)
}

// snapshot returns the hall's present state.
func (h *Hall) snapshot() (nowJSON, error) {
	valid, err := h.invites.Valid()
	if err != nil {
		return nowJSON{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	is := nowJSON{Version: 1, Event: h.event, AtMS: h.o.Now().UnixMilli(), Program: h.program, Tables: []Tile{}, Calls: []OpenCall{},
		Trouble: h.trouble()}
	holds := map[string]Invite{}
	for _, i := range valid {
		holds[i.Table] = i
		h.table(i.Table)
	}
	now := h.up()
	for _, name := range slices.SortedFunc(maps.Keys(h.tables), byNumber) {
		t := h.tables[name]
		tile := h.tile(t, now)
		tile.Expires = holds[name].Expires
		if why := h.invites.astray(holds[name]); why != "" && !tile.Live {
			tile.Problems = append(tile.Problems, why)
		}
		if tile.Health != nil && tile.Expires.IsZero() {
			if why := h.invites.ended(name); why != "" && h.broker == nil && tile.Live {
				tile.Problems = append(tile.Problems, "The broker lets it in, although "+why+": delete its user there.")
			} else if why != "" {
				tile.Problems = append(tile.Problems, "The hall does not let it in: "+why+". What it records waits there.")
			}
		}
		if tile.Health == nil && tile.Rulings == 0 && tile.Expires.IsZero() {
			continue
		}
		is.Tables = append(is.Tables, tile)
		if tile.Health == nil || tile.Health.Call == nil || !tile.Live && h.invites.revoked(name) {
			continue
		}
		c := tile.Health.Call
		call := OpenCall{Table: name, Held: c.Held, Asked: c.Asked, Live: tile.Live, Page: "/t/" + name + "/judge"}
		call.WaitingMS = t.read.UpMS - min(max(-waitingMost, c.UpMS), t.read.UpMS) // as of the table's last health
		if tile.AgeMS >= 0 {
			call.WaitingMS += tile.AgeMS
		} else {
			call.WaitingMS += (now - t.came).Milliseconds()
		}
		is.Calls = append(is.Calls, call)
	}
	oldest(is.Calls, func(c OpenCall) int64 { return c.WaitingMS })
	return is, nil
}

// byNumber orders tables: 2 before 10, numbers before names.
func byNumber(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), strings.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

// tile returns the tile of a table. The caller holds mu.
func (h *Hall) tile(t *table, now time.Duration) Tile {
	tile := Tile{Table: t.name, AgeMS: nobodySince, Rulings: t.chain.count(), Problems: append([]string{}, t.chain.problems()...)}
	for _, p := range h.pairs {
		if p.Table == t.name {
			tile.Round, tile.Names = p.Round, p.Players
		}
	}
	if h.broker != nil {
		tile.Problems = append(tile.Problems, h.broker.door.problems(t.name)...)
	}
	if now-t.unread < troubleShown && t.unread > 0 {
		tile.Problems = append(tile.Problems, "The table's message cannot be read: "+t.unreadWhy)
	}
	if t.came == 0 {
		return tile
	}
	health := t.health
	tile.Health = &health
	if age, ok := t.clock.age(t.read.Session, t.read.UpMS, now); ok {
		tile.AgeMS, tile.Live = age.Milliseconds(), !stale(age)
	}
	if now-t.callLost < callLostFor && t.callLost > 0 {
		tile.Problems = append(tile.Problems, "The table's program was started again while the hall knew of a call for a judge: what it held "+
			"is gone. Ask the players whether they still wait.")
	}
	tile.Waiting = max(0, health.Record.Number-t.chain.whole)
	tile.Problems = append(tile.Problems, t.shared()...)
	tile.Problems = append(tile.Problems, t.chain.against(health.Record, t.heard)...)
	if says, ok := t.clock.table(t.read, now); ok && tile.Live {
		tile.Problems = append(tile.Problems, clockOff(time.UnixMilli(says), h.o.Now())...)
	}
	if now-t.turns < troubleShown && t.turns > 0 {
		tile.Problems = append(tile.Problems, "Two programs take turns as this table: give each its own invitation.")
	}
	switch {
	case health.Game != nil:
		g := health.Game
		tile.Names, tile.Score = g.Players, g.Score
		if g.Round > 0 {
			tile.Round = fmt.Sprintf("Round %d, %s", g.Round, g.Phase)
		}
		if g.Over != "" {
			tile.Round = g.Over
		}
	case health.Match != (live.Match{}):
		m := health.Match
		tile.Round, tile.Names = m.Round, [2]string{m.Sides[0].Name, m.Sides[1].Name}
		tile.Score = [2]int{m.Sides[0].Score, m.Sides[1].Score}
	}
	return tile
}

// clockMost is how wrong a table's clock, which people set, may be before its tile warns. The times
// of rulings are shown in minutes.
const clockMost = time.Minute

// clockOff warns that a table's clock differs from the hall's.
func clockOff(table, hall time.Time) []string {
	if off := table.Sub(hall); off.Abs() <= clockMost {
		return nil
	}
	const form = "2006-01-02 15:04"
	return []string{fmt.Sprintf("The table's clock says %s, the hall's %s: one is wrong, and the times of this table's rulings may be.",
		table.Local().Format(form), hall.Local().Format(form))}
}

// shared lists the other tables whose records have rulings of this one.
func (t *table) shared() (out []string) {
	for _, other := range slices.SortedFunc(maps.Keys(t.alike), func(a, b *table) int { return byNumber(a.name, b.name) }) {
		out = append(out, fmt.Sprintf("Rulings that table %s has, too: %d. One machine was both tables, or a record was copied.", other.name,
			t.alike[other]))
	}
	return out
}

// waitingMost is how long before its program started a table may have held a picture, in ms.
const waitingMost = 1 << 40

// searchMost is the largest number of rulings, and of games, in the result of a search.
const searchMost = 200

// search finds the rulings and games in which every word of q occurs, newest first.
func (h *Hall) search(w http.ResponseWriter, r *http.Request) {
	words := strings.Fields(strings.ToLower(r.URL.Query().Get("q")))
	out := struct {
		Rulings []Ruling `json:"rulings"`
		Games   []Game   `json:"games"`
		More    bool     `json:"more"` // the result is incomplete
	}{Rulings: []Ruling{}, Games: []Game{}}
	h.mu.Lock()
	table, words := h.tableIn(words)
	for _, t := range h.tables {
		if table != nil && t != table {
			continue
		}
		for _, all := range t.chain.entries {
			for _, k := range all {
				if k.has(words) {
					out.Rulings = append(out.Rulings, *k)
				}
			}
		}
	}
	for _, g := range h.played {
		if (table == nil || g.Table == table.name) && g.has(words) {
			out.Games = append(out.Games, g)
		}
	}
	h.mu.Unlock()
	slices.SortFunc(out.Rulings, func(a, b Ruling) int {
		return cmp.Or(b.At.Compare(a.At), byNumber(a.Table, b.Table), cmp.Compare(b.Number, a.Number))
	})
	slices.SortFunc(out.Games, func(a, b Game) int {
		return cmp.Or(cmp.Compare(b.AtMS, a.AtMS), byNumber(a.Table, b.Table), cmp.Compare(b.ID, a.ID))
	})
	out.Rulings = once(out.Rulings)
	if len(out.Rulings) > searchMost {
		out.Rulings, out.More = out.Rulings[:searchMost], true
	}
	if len(out.Games) > searchMost {
		out.Games, out.More = out.Games[:searchMost], true
	}
	web.WriteJSON(w, http.StatusOK, out)
}

// tableIn returns the table named by "table 7", and the other words. A lone 7 occurs in many
// rulings of other tables. The caller holds mu.
func (h *Hall) tableIn(words []string) (t *table, rest []string) {
	for i, w := range words[:max(0, len(words)-1)] {
		for name := range h.tables {
			if w == "table" && strings.EqualFold(name, words[i+1]) {
				return h.tables[name], slices.Concat(words[:i], words[i+2:])
			}
		}
	}
	return nil, words
}

// once lists an entry that is in several tables' records only under the first one.
func once(list []Ruling) (out []Ruling) {
	at := map[string]int{}
	out = []Ruling{}
	for _, k := range list {
		i, there := at[k.Hash]
		if there {
			out[i].Also = append(out[i].Also, k.Table)
			continue
		}
		at[k.Hash] = len(out)
		k.Also = []string{}
		out = append(out, k)
	}
	return out
}

// hashes matches SHA-256 in hex.
var hashes = regexp.MustCompile(`^[0-9a-f]{64}$`)

// kept returns the stream's message with a subject, if it has the hash.
func (h *Hall) kept(ctx context.Context, subject, hash string) (*jetstream.RawStreamMsg, bool) {
	m, err := h.stream.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return nil, false
	}
	sum := sha256.Sum256(m.Data)
	return m, hex.EncodeToString(sum[:]) == hash
}

// ruling sends an entry of a table's record, byte for byte.
func (h *Hall) ruling(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	name, hash := r.PathValue("table"), r.PathValue("hash")
	if err != nil || number < 1 || event.CheckName("table", name) != nil || !hashes.MatchString(hash) {
		http.NotFound(w, r)
		return
	}
	m, ok := h.kept(r.Context(), event.SubjectsOf(h.event, name).Ruling(number, hash), hash)
	if !ok {
		http.Error(w, "The hall has no such ruling.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(m.Data)
}

// picture sends a picture of a ruling.
func (h *Hall) picture(w http.ResponseWriter, r *http.Request) {
	name, hash := r.PathValue("table"), r.PathValue("sha256")
	if event.CheckName("table", name) != nil || !hashes.MatchString(hash) {
		http.NotFound(w, r)
		return
	}
	m, ok := h.kept(r.Context(), event.SubjectsOf(h.event, name).Picture(hash), hash)
	kind := ""
	if ok {
		kind = http.DetectContentType(m.Data)
	}
	if !ok || kind != "image/jpeg" && kind != "image/png" {
		http.Error(w, "The hall has no such picture.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(m.Data)
}

func (h *Hall) getPairings(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	list := slices.Clone(h.pairs)
	h.mu.Unlock()
	if list == nil {
		list = []Pairing{}
	}
	web.WriteJSON(w, http.StatusOK, pairingsJSONOut{list})
}

// putPairings reads a file of pairings.
func (h *Hall) putPairings(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "The file is too long.", http.StatusRequestEntityTooLarge)
		return
	}
	list, err := ParsePairings(raw)
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	if err := h.keepPairings(list); err != nil {
		http.Error(w, sentence.Of(err), http.StatusInsufficientStorage)
		return
	}
	web.WriteJSON(w, http.StatusOK, pairingsJSONOut{list})
}

// sendPairings writes each pairing into its table's match line, and lists the tables that refused.
func (h *Hall) sendPairings(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	list := slices.Clone(h.pairs)
	h.mu.Unlock()
	failed := make(chan string, len(list))
	for _, p := range list {
		go func() { failed <- h.sendPairing(r.Context(), p) }()
	}
	out := struct {
		Sent   int      `json:"sent"`
		Failed []string `json:"failed"` // tables
	}{Failed: []string{}}
	for range list {
		if name := <-failed; name != "" {
			out.Failed = append(out.Failed, name)
		} else {
			out.Sent++
		}
	}
	slices.SortFunc(out.Failed, byNumber)
	web.WriteJSON(w, http.StatusOK, out)
}

// sendPairing returns the table's name if the table refused.
func (h *Hall) sendPairing(ctx context.Context, p Pairing) string {
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	type side struct {
		Name  string `json:"name"`
		Score int    `json:"score"`
	}
	body, err := json.Marshal(map[string]any{"round": p.Round, "sides": []side{{Name: p.Players[0]}, {Name: p.Players[1]}}})
	if err != nil {
		return p.Table
	}
	header := http.Header{"Content-Type": {"application/json"}}
	answer, err := h.ask(ctx, p.Table, http.MethodPatch, "/api/match", access.Session{Role: access.Player, Name: "the hall"}, header, body)
	if err != nil || answer.Header.Get(event.HeaderStatus)[:1] != "2" {
		return p.Table
	}
	return ""
}

// tableFigures are the metrics of each table; ok is false if a table has no such figure now.
var tableFigures = []struct {
	name, help string
	of         func(*Tile) (x float64, ok bool)
}{
	{"up", "1 while the table is heard.", func(t *Tile) (float64, bool) { return metrics.Bool(t.Live), true }},
	{"age_seconds", "Since the table's last sign.", func(t *Tile) (float64, bool) { return float64(t.AgeMS) / 1000, t.AgeMS >= 0 }},
	{"ok", "1 while the table gives answers.", func(t *Tile) (float64, bool) {
		return metrics.Bool(t.Live && t.Health.Code == live.OK), true
	}},
	{"frames_per_second", "Of the table's camera.", func(t *Tile) (float64, bool) {
		if !t.Live {
			return 0, false
		}
		return t.Health.FPS, true
	}},
	{"rulings", "Of the table that the hall has.", func(t *Tile) (float64, bool) { return float64(t.Rulings), true }},
	{"rulings_waiting", "Of the table that the hall does not have.", func(t *Tile) (float64, bool) { return float64(t.Waiting), true }},
	{"record_problems", "What is wrong with the table's record.", func(t *Tile) (float64, bool) { return float64(len(t.Problems)), true }},
	{"judge_asked", "1 while a call for a judge is open.", func(t *Tile) (float64, bool) {
		return metrics.Bool(t.Health != nil && t.Health.Call != nil), true
	}},
}

// metrics writes the metrics of the hall and of every table in Prometheus' text format.
func (h *Hall) metrics(w http.ResponseWriter, _ *http.Request) {
	is, err := h.snapshot()
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	metrics.Build(w, h.o.Version)
	metrics.Process(w)
	counted := func(n *atomic.Uint64) float64 { return float64(n.Load()) }
	metrics.Write(w, "sightline_hall_calls", "gauge", "Calls for a judge that are open.", float64(len(is.Calls)))
	metrics.Write(w, "sightline_hall_rulings_total", "counter", "Rulings that the hall took since it began.", counted(&h.figures.rulings))
	metrics.Write(w, "sightline_hall_states_total", "counter", "States of watched tables that were fresh.", counted(&h.figures.states))
	metrics.Write(w, "sightline_hall_stale_states_total", "counter", "States that came too late and were not shown.",
		counted(&h.figures.staleStates))
	metrics.Write(w, "sightline_hall_asks_total", "counter", "Requests that were handed on to tables.", counted(&h.figures.asks))
	for _, k := range tableFigures {
		name := "sightline_table_" + k.name
		metrics.Head(w, name, "gauge", k.help)
		for i := range is.Tables {
			if x, ok := k.of(&is.Tables[i]); ok {
				metrics.Labelled(w, name, "table", is.Tables[i].Table, x)
			}
		}
	}
}
