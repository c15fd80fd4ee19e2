// Package play runs the game on the table: it starts a game from two squads, turns taps and
// what the camera sees into events, stores them in the record, and publishes the state. The
// rules of a game are in package round.
package play

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/squads"
	"sightline/engine"
	"sightline/engine/scenefile"
	"sightline/vision"
	"sightline/vision/token"
)

// Options are the parts of a Table.
type Options struct {
	Hub        *live.Hub
	Record     func() (*rulings.Log, error)         // where games are stored; errors are sentences for users
	Show       func(*live.Play, []live.Declaration) // publishes the game and the declarations that its round opens
	SetEdition func(engine.Rules)                   // sets the table's edition; may be nil
	Data       squads.Data
	Squads     [2]string // XWS of the configuration, for a start without squads; "" for none
	Now        func() time.Time
	Log        *slog.Logger
}

// Table is the game on the table. Its methods are safe for concurrent use.
type Table struct {
	o      Options
	judges func(*http.Request) bool // whether a request is a judge's

	mu     sync.Mutex // guards the fields below
	events []round.Event
	game   *round.Game // nil when no game is played
	id     int64       // in the record
	watch  *round.Watch
	asked  question  // the last recorded one
	ruled  uint64    // the last recorded ruling
	looked bool      // a state was evaluated since the program started: later rulings are of this game, whatever the clock says
	news   []string  // problems, the newest first
	again  time.Time // no state is evaluated before: the record could not be written
	owed   bool      // the table must be recorded as soon as it is seen

	lay map[string]engine.Token // last seen places of the objectives
}

// question is a measurement that a user chose, in one phase.
type question struct {
	round    int
	phase    round.Phase
	from, to string
	arc      engine.Arc
}

// New returns a table without a game.
func New(o Options) *Table {
	if o.Data == (squads.Data{}) {
		o.Data = squads.Builtin()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Table{o: o, watch: round.NewWatch(nil), judges: func(*http.Request) bool { return false }}
}

// SetJudges sets the function that reports whether a request is a judge's. Call it before the
// first request.
func (t *Table) SetJudges(is func(*http.Request) bool) { t.judges = is }

// Judges reports whether a request is a judge's.
func (t *Table) Judges(r *http.Request) bool { return t.judges(r) }

// String names the task.
func (t *Table) String() string { return "game" }

// resumeAgain is the interval for reading a record that could not be read: a previous
// instance of the program holds it until it has ended.
const resumeAgain = 2 * time.Second

// Run resumes the last game of the record, and follows the table until ctx is cancelled.
func (t *Table) Run(ctx context.Context) error {
	states, stop := t.o.Hub.Listen()
	defer stop()
	ticks := time.NewTicker(resumeAgain)
	defer ticks.Stop()
	why := t.resume(ctx, "")
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
			if why != "" {
				why = t.resume(ctx, why)
			}
		case s := <-states:
			t.See(&s)
		}
	}
}

// resume continues a game that was not over when the program stopped. It returns why it could
// not, or "", and logs that unless it is the previous reason.
func (t *Table) resume(ctx context.Context, was string) (why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.game != nil { // started in the meantime
		return ""
	}
	id, events, g, err := t.last(ctx)
	if err != nil {
		if why = err.Error(); why != was {
			t.o.Log.Warn("the last game is not taken up", "err", err)
		}
		return why
	}
	if g == nil || g.Ended {
		return ""
	}
	t.events, t.game, t.id, t.watch = events, g, id, round.NewWatch(g)
	if _, scene, noted, err := Scene(events); err == nil && noted { // ships that have not moved yet, and the objectives
		t.watch.Stood(slices.DeleteFunc(slices.Clone(scene.Ships), func(s engine.Ship) bool { return token.Unidentified(s.ID) }))
		t.rememberObjectives(&live.State{Located: vision.Located{Scene: scene}})
	}
	for i := range events {
		if events[i].Kind == round.Ruled {
			t.ruled = uint64(events[i].Ruling)
		}
	}
	if t.o.SetEdition != nil {
		t.o.SetEdition(g.Rules) // the configuration may name another edition than the game's
	}
	t.o.Log.Info("the game goes on", "game", t.id, "turn", g.Turn())
	t.show()
	return ""
}

// last reads the newest game of the record; nil when there is none.
func (t *Table) last(ctx context.Context) (id int64, events []round.Event, g *round.Game, err error) {
	log, err := t.o.Record()
	if err != nil {
		return 0, nil, nil, err
	}
	games, err := log.Games(ctx)
	if err != nil || len(games) == 0 {
		return 0, nil, nil, err
	}
	if events, err = Load(ctx, log, games[0]); err == nil {
		g, err = round.Fold(events)
	}
	return games[0], events, g, err
}

// Load reads a game's events from the record.
func Load(ctx context.Context, log *rulings.Log, id int64) ([]round.Event, error) {
	kept, err := log.Game(ctx, id)
	if err != nil {
		return nil, err
	}
	events := make([]round.Event, len(kept))
	for i := range kept {
		if err := json.Unmarshal(kept[i].Event, &events[i]); err != nil {
			return nil, fmt.Errorf("event %d of game %d: %w", i+1, id, err)
		}
	}
	return events, nil
}

// Rename corrects two bases that a person had named wrongly: what was taken for was is is, and vice versa.
func (t *Table) Rename(was, is string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watch.Rename(was, is)
	if t.game == nil || t.game.Ended || t.game.Piece(was) == nil && t.game.Piece(is) == nil {
		return
	}
	e := round.Event{Kind: round.Renamed, By: "the page", Round: t.game.Round, Phase: t.game.Phase, Ship: was, With: is}
	if err := t.add(e); err != nil {
		t.o.Log.Warn("a name that was corrected is not in the game", "was", was, "is", is, "err", err)
		t.news = append([]string{err.Error()}, t.news[:min(len(t.news), 3)]...)
	}
}

// errNoGame is returned when no game is played.
var errNoGame = &live.Refusal{Kind: live.ErrOvertaken, Text: "No game is being played: start one."}

// add records and applies events, all or none. The caller holds mu.
func (t *Table) add(events ...round.Event) error {
	now, g := t.events, t.game
	for _, e := range events {
		var err error
		if e.At.IsZero() {
			e.At = t.o.Now()
		}
		if now, g, err = round.Append(now, e); err != nil {
			return &live.Refusal{Kind: live.ErrOvertaken, Text: sentence.Of(err)}
		}
	}
	if err := t.store(now); err != nil {
		return &live.Refusal{Kind: live.ErrUnwritten, Text: "Nothing was changed: the game cannot be recorded: " + sentence.Of(err)}
	}
	t.events, t.game = now, g
	t.show()
	return nil
}

// store writes the new events to the record. When the record was moved away, it writes the
// whole game to the new one. The caller holds mu.
func (t *Table) store(all []round.Event) error {
	log, err := t.o.Record()
	if err != nil {
		return err
	}
	from := len(t.events)
	for {
		var raw []json.RawMessage
		for i := range all[from:] {
			text, err := json.Marshal(&all[from+i])
			if err != nil {
				return err
			}
			raw = append(raw, text)
		}
		id := t.id
		if from == 0 {
			id = 0
		}
		kept, err := log.AppendGame(context.Background(), id, raw)
		if errors.Is(err, rulings.ErrNoGame) && from > 0 {
			from = 0
			continue
		}
		if err == nil {
			t.id = kept[0].Game
		}
		return err
	}
}

// Do applies an event that a person tapped.
func (t *Table) Do(e round.Event) error { return t.doIn(0, e) }

// doIn does so in the game that the person saw; 0: in any.
func (t *Table) doIn(game int64, e round.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.game == nil:
		return errNoGame
	case game != 0 && game != t.id:
		return &live.Refusal{Kind: live.ErrOvertaken, Text: "Another game was started meanwhile: nothing was changed in it."}
	}
	before := t.game.Phase
	if cargo := t.game.Cargo(e.Ship); e.Kind == round.Changed && e.Status != round.OnTable && cargo != "" && e.Text == "" {
		e.Text = cargo + " is jettisoned"
	}
	if err := t.add(e); err != nil {
		return err
	}
	if t.game.Phase != before || e.Kind == round.Ended {
		t.note()
	}
	return nil
}

// note records the present table, or the next one seen. The caller holds mu.
func (t *Table) note() {
	s := t.o.Hub.Newest()
	if t.owed = s.Health.Code != live.OK || s.Held; t.owed {
		return
	}
	scene := s.Standing()
	raw, err := scenefile.Marshal(scene)
	if err == nil {
		err = t.add(round.Event{Kind: round.Noted, By: round.ByCamera, Round: t.game.Round, Phase: t.game.Phase, Scene: raw})
	}
	if err != nil {
		t.o.Log.Warn("the table is not noted", "err", err)
	}
}

// againAfter is the pause after the record could not be written.
const againAfter = time.Second

// See evaluates a state of the table: which ships moved, what was measured, what was ruled.
func (t *Table) See(s *live.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.game == nil || t.game.Ended || s.At.Before(t.again) {
		return
	}
	was, asked, ruled := t.watch.Clone(), t.asked, t.ruled
	if t.owed && s.Health.Code == live.OK {
		t.note()
	}
	if s.Health.Code == live.OK {
		t.rememberObjectives(s)
	}
	events := t.moves(s)
	before := t.game.Phase
	if s.Ruling != nil && s.Ruling.Number != t.ruled {
		if t.ruled = s.Ruling.Number; t.looked || s.Ruling.At.After(t.events[0].At) {
			events = append(events, round.Event{Kind: round.Ruled, Round: t.game.Round, Phase: t.game.Phase, Ruling: int64(t.ruled),
				Text: s.Ruling.Text})
		}
	}
	events = append(events, t.measurements(s)...)
	looked := t.looked
	t.looked = true
	if len(events) == 0 {
		return
	}
	if err := t.add(events...); err != nil {
		if errors.Is(err, live.ErrUnwritten) { // the ships still stand there, and are judged again
			t.watch, t.asked, t.ruled, t.looked, t.again = was, asked, ruled, looked, s.At.Add(againAfter)
		}
		if text := err.Error(); len(t.news) == 0 || t.news[0] != text {
			t.o.Log.Warn("what the camera saw is not in the game", "err", err)
			t.news = append([]string{text}, t.news[:min(len(t.news), 3)]...)
		}
		return
	}
	if t.game.Phase != before {
		t.note()
	}
}

// moves returns the events of ships that moved. The caller holds mu.
func (t *Table) moves(s *live.State) []round.Event {
	if s.Health.Code != live.OK || s.Held {
		return nil
	}
	return t.watch.Events(t.game, round.Sight{At: s.At, Scene: s.Standing(), Still: func(id string) bool {
		k, known := s.Track(id)
		return (!known || k.State == vision.Still) && !token.Unidentified(id) // another base may have its number later
	}})
}

// measurements returns the measurement that a user chose, once in each phase. A state from
// before this game began has none. The caller holds mu.
func (t *Table) measurements(s *live.State) []round.Event {
	if s.Pair == nil || s.Health.Code != live.OK || !s.Chosen || s.Play == nil || s.Play.ID != t.id {
		return nil
	}
	q := question{t.game.Round, t.game.Phase, s.Choice.From, s.Choice.To, s.Choice.Arc}
	if q == t.asked {
		return nil
	}
	t.asked = q
	w := s.Text()
	text := w.Live
	if w.Meaning.Text != "" {
		text += " " + w.Meaning.Text
	}
	return []round.Event{{Kind: round.Asked, Round: q.round, Phase: q.phase, Ship: q.from, With: q.to, Text: text}}
}

// show publishes the game. The caller holds mu.
func (t *Table) show() {
	if t.o.Show == nil {
		return
	}
	if t.game == nil {
		t.o.Show(nil, nil)
		return
	}
	t.o.Show(t.play(), t.declarations())
}

// play returns the published form of the game. The caller holds mu.
func (t *Table) play() *live.Play {
	p := playOf(t.id, t.game)
	ghosts := t.watch.Ghosts()
	for _, id := range slices.Sorted(maps.Keys(ghosts)) {
		f := ghosts[id]
		p.Ghosts = append(p.Ghosts, live.Ghost{ID: id, XMM: f.From.X, YMM: f.From.Y, HeadingDeg: f.From.HeadingDeg, Text: f.Text})
	}
	return p
}

// playOf returns the published form of a game, without ghosts.
func playOf(id int64, g *round.Game) *live.Play {
	p := &live.Play{ID: id, Round: g.Round, Phase: string(g.Phase), Planning: g.Phase == round.Planning && !g.Ended, Turn: g.Turn(),
		Active: append([]string{}, g.Active()...), Score: g.Score(), Ships: []live.PlayShip{}, Last: g.Last, Ghosts: []live.Ghost{}}
	if g.Rules == engine.Rules25 {
		p.Rounds = round.LastRound
	}
	if g.Ended {
		p.Over = cmp.Or(g.Why, "ended by the players")
	}
	if g.Rules == engine.Rules1e && !g.Ended {
		p.Touch = &live.Touch{Touching: g.Touch, May: g.MayTouch}
		for i := range g.Ships {
			p.Touch.Ships = append(p.Touch.Ships, g.Ships[i].ID)
		}
	}
	for i := range g.Players {
		p.Players[i] = g.Players[i].Name
	}
	for i := range g.Ships {
		s := &g.Ships[i]
		p.Ships = append(p.Ships, live.PlayShip{ID: s.ID, Player: s.Player, Pilot: s.Pilot, Ship: s.Ship.Ship, Initiative: s.Initiative,
			Status: string(s.Status), Acted: s.Acted, Arcs: append([]string{}, s.Arcs...), Last: s.Last,
			Stays: g.Stays(s)})
	}
	if g.Rules == engine.Rules1e && !g.Ended {
		p.Printed = live.NewPrinted(p.Ships)
	}
	return p
}

// declarations returns what the edition lets players measure now: the attacks of the ships
// whose turn it is (G81, G85, G86), and in 2.0 and 2.5 the lock of the ship that has just
// moved (G87). In the first edition a lock's target is declared first (G83). The caller
// holds mu.
func (t *Table) declarations() (out []live.Declaration) {
	g := t.game
	if g.Ended {
		return nil
	}
	switch g.Phase {
	case round.Combat, round.Engagement:
		for _, id := range g.Active() {
			out = append(out, live.Declaration{Doing: live.DoAttack, Ship: id})
		}
	case round.Activation:
		id := g.Acting()
		if id == "" || g.Rules == engine.Rules1e {
			return nil
		}
		out = append(out, live.Declaration{Doing: live.DoLock, Ship: id})
		if !g.MayTake() {
			return out
		}
		switch g.Scenario {
		case round.Salvage:
			out = append(out, live.Declaration{Doing: live.DoTow, Ship: id})
		case round.Scramble:
			out = append(out, live.Declaration{Doing: live.DoScramble, Ship: id})
		}
	}
	return out
}
