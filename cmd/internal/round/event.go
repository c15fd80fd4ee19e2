package round

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events. Those in undoable may be taken back.
const (
	Started  Kind = "started"  // Start
	Advanced Kind = "advanced" // the next phase or round begins, after Phase of Round
	Acted    Kind = "acted"    // Ship has moved, or attacked, in Phase
	Moved    Kind = "moved"    // the camera saw Flown
	Rolled   Kind = "rolled"   // Player is the first player of this round
	Changed  Kind = "changed"  // Ship's status is Status
	Halved   Kind = "halved"   // Ship is at half its health
	Tied     Kind = "tied"     // Ship, whose pilot is Text, and With exchange their pilots
	Renamed  Kind = "renamed"  // what the camera took for Ship is With, and vice versa
	Towed    Kind = "towed"    // Ship tows the supply cache With
	Scored   Kind = "scored"   // Player earns Points of the scenario, because of Text
	Ended    Kind = "ended"    // the game is over, because of Text; Player wins
	Undone   Kind = "undone"   // event Undo is taken back
	Noted    Kind = "noted"    // the present table: Scene
	Asked    Kind = "asked"    // a measurement and its answer: Text
	Ruled    Kind = "ruled"    // a judge ruled, by number
	Said     Kind = "said"     // Text

	Scrambled  Kind = "scrambled"  // the marker of Ship's player, or of Player, lies on the satellite With
	Jettisoned Kind = "jettisoned" // Ship jettisons its supply cache
)

var undoable = []Kind{Advanced, Acted, Moved, Rolled, Changed, Halved, Tied, Towed, Scrambled, Jettisoned, Scored, Ended}

// ByCamera is By of the events that the camera made.
const ByCamera = "camera"

// Event is an event of a game.
type Event struct {
	Number int64     `json:"number"` // in its game, from 1
	At     time.Time `json:"at"`
	Kind   Kind      `json:"kind"`
	By     string    `json:"by,omitempty"` // camera, or who tapped

	Round  int             `json:"round,omitempty"`
	Phase  Phase           `json:"phase,omitempty"`
	Ship   string          `json:"ship,omitempty"`
	With   string          `json:"with,omitempty"`
	Player int             `json:"player,omitempty"`
	Points int             `json:"points,omitempty"`
	Status Status          `json:"status,omitempty"`
	Undo   int64           `json:"undo,omitempty"`
	Ruling int64           `json:"ruling,omitempty"`
	Text   string          `json:"text,omitempty"`
	Start  *Start          `json:"start,omitempty"`
	Flown  *Flown          `json:"flown,omitempty"`
	Scene  json.RawMessage `json:"scene,omitempty"`
}

// ErrEvent is in the errors of events that do not fit the game.
var ErrEvent = errors.New("this does not fit the game as it stands")

// misfit is an ErrEvent that says what does not fit.
type misfit string

func (m misfit) Error() string { return string(m) }

// Is reports whether the target is ErrEvent.
func (m misfit) Is(target error) bool { return target == ErrEvent }

func wrong(format string, a ...any) error { return misfit(fmt.Sprintf(format, a...)) }

// Fold returns the state after events; the first starts the game.
func Fold(events []Event) (*Game, error) {
	if len(events) == 0 || events[0].Kind != Started || events[0].Start == nil {
		return nil, wrong("a game begins with its start")
	}
	gone := TakenBack(events)
	g, err := begin(events[0].Start)
	if err != nil {
		return nil, err
	}
	for i := range events {
		e := &events[i]
		if e.Number != int64(i)+1 {
			return nil, wrong("event %d stands in place %d", e.Number, i+1)
		}
		g.Numbers = e.Number
		switch {
		case i == 0:
		case gone[e.Number]:
			if e.By == ByCamera && e.Kind == Advanced {
				g.held = true
			}
			if p := g.Piece(e.Ship); e.Kind == Moved && e.Flown != nil && p != nil { // an undo does not move the ship on the table
				p.stands = &e.Flown.To
			}
		default:
			if err := g.apply(e); err != nil {
				return nil, fmt.Errorf("event %d: %w", e.Number, err)
			}
		}
	}
	return g, nil
}

// begin returns the state at the start.
func begin(s *Start) (*Game, error) {
	rules, err := engine.ParseRules(s.Edition)
	if err != nil {
		return nil, fmt.Errorf("edition: %w", err)
	}
	if !slices.Contains(scenarios, s.Scenario) {
		return nil, wrong("scenario %q: expected one of assault, chance, salvage and scramble", s.Scenario)
	}
	if s.Scenario != NoScenario && rules != engine.Rules25 {
		return nil, wrong("scenarios are of 2.5")
	}
	if s.First < 0 || s.First > 2 || s.Points < 0 {
		return nil, wrong("first player %d and %d points: expected player 1 or 2, and no fewer than 0 points", s.First, s.Points)
	}
	g := &Game{Start: *s, Rules: rules, Round: 1, Phase: Planning, First: s.First}
	for _, ship := range s.Ships {
		if ship.ID == "" || g.Piece(ship.ID) != nil || ship.Player < 1 || ship.Player > 2 {
			return nil, wrong("ship %q of player %d: expected an id of its own, and player 1 or 2", ship.ID, ship.Player)
		}
		g.Ships = append(g.Ships, Piece{Ship: ship, Status: OnTable})
	}
	if len(g.Ships) == 0 {
		return nil, wrong("a game has ships")
	}
	return g, nil
}

// Append returns the events with e, which must fit, and the state after it. It does not change
// the caller's slice.
func Append(events []Event, e Event) ([]Event, *Game, error) {
	e.Number = int64(len(events)) + 1
	if e.Kind == Undone {
		if n := Undoable(events); n == 0 || e.Undo != n {
			return events, nil, wrong("event %d cannot be taken back now: the last that can is %d", e.Undo, n)
		}
	}
	out := append(slices.Clip(events), e)
	g, err := Fold(out)
	if err != nil {
		var why misfit
		if errors.As(err, &why) {
			err = why
		}
		return events, nil, err
	}
	return out, g, nil
}

// Undoable returns the number of the event that an undo takes back; 0 for none.
func Undoable(events []Event) int64 {
	gone := map[int64]bool{}
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		switch {
		case e.Kind == Undone:
			gone[e.Undo] = true
		case slices.Contains(undoable, e.Kind) && !gone[e.Number]:
			return e.Number
		}
	}
	return 0
}

// apply applies an event to the state.
func (g *Game) apply(e *Event) error {
	if g.Ended && slices.Contains(undoable, e.Kind) {
		return wrong("the game is over")
	}
	switch e.Kind {
	case Undone, Asked, Ruled, Said:
	case Noted:
		g.Scene = e.Scene
	case Advanced:
		if e.Round != g.Round || e.Phase != g.Phase {
			return wrong("round %d %s is over: it is round %d %s", e.Round, e.Phase, g.Round, g.Phase)
		}
		g.advance()
	case Rolled:
		if e.Player != 1 && e.Player != 2 {
			return wrong("first player %d: expected 1 or 2", e.Player)
		}
		g.First = e.Player
	case Scored:
		if e.Player != 1 && e.Player != 2 {
			return wrong("points for player %d: expected 1 or 2", e.Player)
		}
		return g.score(e)
	case Ended:
		if e.Player < 0 || e.Player > 2 {
			return wrong("player %d wins: expected 1, 2, or 0 for neither", e.Player)
		}
		g.Ended, g.Why, g.Winner = true, sentence.Printable(e.Text, '\uFFFD'), e.Player
	case Towed, Scrambled:
		return g.take(e)
	case Renamed:
		return g.rename(e.Ship, e.With)
	case Acted, Moved, Changed, Halved, Tied, Jettisoned:
		return g.applyShip(e)
	default:
		return wrong("event %q is not known", e.Kind)
	}
	return nil
}

// score adds points to a player's, those of a round's scenario only once although two people may
// tap.
func (g *Game) score(e *Event) error {
	done := [2]int{e.Round, e.Player}
	switch {
	case e.Round < 0 || e.Round > g.Round:
		return wrong("points of round %d: expected a round from 1 to %d", e.Round, g.Round)
	case slices.Contains(g.Scored, done):
		return wrong("the points of %s for round %d are counted already", g.player(e.Player), e.Round)
	case e.Round != 0:
		g.Scored = append(g.Scored, done)
	}
	g.bonus[e.Player-1] += e.Points
	return nil
}

// applyShip applies an event of a ship to the state.
func (g *Game) applyShip(e *Event) error {
	p := g.Piece(e.Ship)
	if p == nil {
		return wrong("%q is no ship of this game", e.Ship)
	}
	switch e.Kind {
	case Acted:
		if e.Round != g.Round || e.Phase != g.Phase {
			return wrong("round %d %s is over: it is round %d %s", e.Round, e.Phase, g.Round, g.Phase)
		}
		if p.Acted {
			return wrong("%s has acted in this phase", p.Name())
		}
		p.Acted = true
		if g.Phase == Activation {
			p.tapped = !p.Moved
			p.Moved, g.acting = true, p.ID
			g.mayTouchAll(p)
		}
	case Moved:
		if e.Flown == nil {
			return wrong("nothing is said of what %s has flown", p.Name())
		}
		g.moved(p, e.Flown)
	case Changed:
		if !slices.Contains(statuses, e.Status) {
			return wrong("status %q: expected one of %v", e.Status, statuses)
		}
		g.changed(p, e.Status)
	case Jettisoned:
		if g.Cargo(p.ID) == "" {
			return wrong("%s tows nothing", p.Name())
		}
		g.letGo(p)
	case Halved:
		p.Half = true
	case Tied:
		if e.Text != "" && e.Text != p.Pilot {
			return wrong("%s no longer belongs to %s: someone else changed it", e.Text, p.ID)
		}
		return g.tie(p, g.Piece(e.With))
	}
	g.updateInitiative()
	return nil
}

// changed gives a ship another status. A ship destroyed at the present initiative still attacks in its turn (G236). One
// that is said to be destroyed again is removed.
func (g *Game) changed(p *Piece, status Status) {
	now := status == Destroyed && p.Status != Destroyed && g.Phase.attacks()
	p.dying = now && !p.Acted && initiativeOf(p) == g.current
	p.stays = now && len(g.Active()) > 0
	p.away = p.away && status == OnTable || status == Reserve || status == Docked
	if p.Status = status; status != OnTable {
		g.Touch, g.MayTouch = without(g.Touch, p.ID), without(g.MayTouch, p.ID)
		g.letGo(p)
	}
}

// tie exchanges the pilots of two ships; the ids stay with the bases.
func (g *Game) tie(p, q *Piece) error {
	if q == nil || p == q || p.Player != q.Player {
		return wrong("two ships of one player exchange their pilots")
	}
	p.Ship, q.Ship = q.Ship, p.Ship
	p.ID, q.ID = q.ID, p.ID
	g.updateInitiative()
	return nil
}

// rename exchanges what the camera saw of two ships: a person had named their bases wrongly. If one is not in this game, what was
// seen of the other is forgotten.
func (g *Game) rename(a, b string) error {
	p, q := g.Piece(a), g.Piece(b)
	if p == q {
		return wrong("%q and %q: expected two ships, and one of them of this game", a, b)
	}
	for _, one := range []**Piece{&p, &q} {
		if *one == nil {
			*one = &Piece{}
		}
	}
	p.Track, q.Track = q.Track, p.Track
	if g.Phase == Activation { // in other phases ships act by taps, which name them
		p.Acted, q.Acted = q.Acted, p.Acted
	}
	other := map[string]string{a: b, b: a}
	g.acting = cmp.Or(other[g.acting], g.acting)
	for _, pairs := range []*[][2]string{&g.Touch, &g.MayTouch} {
		*pairs = slices.Clone(*pairs)
		for i, pair := range *pairs {
			(*pairs)[i] = [2]string{cmp.Or(other[pair[0]], pair[0]), cmp.Or(other[pair[1]], pair[1])}
		}
	}
	g.updateInitiative()
	return nil
}

// moved applies a move.
func (g *Game) moved(p *Piece, f *Flown) {
	to := f.To
	p.Pose, p.stands, g.Touch, g.MayTouch = &to, &to, f.Touch, f.MayTouch
	if f.Sort == Nudge {
		return
	}
	p.away = false
	if f.Sort == Placed {
		p.From, g.Last = nil, p.Name()+": "+f.Short()
		return
	}
	from := f.From
	p.From = &from
	p.Last, g.Last = f.Short(), p.Name()+": "+f.Short()
	if f.Sort == Maneuver && (!p.Moved || p.tapped) {
		p.Speeds, p.stressed = f.speeds(), p.mayBeStressed(f)
	}
	p.tapped = false
	if g.Phase == Activation && f.Sort != Action {
		p.Moved, p.Acted, g.acting = true, true, p.ID
	}
}

// Automatic returns the event by which the camera advances the round when every ship has moved.
// ok is false when they have not, or when a person took it back.
func (g *Game) Automatic() (e Event, ok bool) {
	if g.Ended || g.held || g.Phase != Activation || !g.All() {
		return e, false
	}
	return Event{Kind: Advanced, By: ByCamera, Round: g.Round, Phase: g.Phase}, true
}
