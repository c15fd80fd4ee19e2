// Package event joins a table to the hall of an event. The table's client reports the table's
// state at most twice a second, hands on what the judges' record holds, and answers what the hall
// asks. The record itself is the outbox: nothing is queued anywhere else.
//
// The hall reads the same types, in package hall. What goes between them are CloudEvents 1.0 in
// binary mode over NATS: the attributes are headers, and the body is the JSON that the table
// has anyway, to the byte.
package event

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// Subjects are those of one table: "sl.v1.EVENT.TABLE.…".
type Subjects struct{ prefix string }

// SubjectsOf returns the subjects of a table; "*" stands for all tables.
func SubjectsOf(event, table string) Subjects { return Subjects{"sl.v1." + event + "." + table + "."} }

// All is everything that the table may publish.
func (s Subjects) All() string { return s.prefix + ">" }

// Health is where the table says how it is.
func (s Subjects) Health() string { return s.prefix + "health" }

// State is where the table's whole state goes while someone watches.
func (s Subjects) State() string { return s.prefix + "state" }

// Ruling is the place of one entry of the record. Each has its own, so that a broker keeps each
// once, however often it is sent.
func (s Subjects) Ruling(number int64, hash string) string {
	return fmt.Sprintf("%sruling.%d.%s", s.prefix, number, hash)
}

// Rulings are the places of all entries, Pictures those of all pictures.
func (s Subjects) Rulings() string { return s.prefix + "ruling.>" }

// Picture is the place of a picture, by its SHA-256.
func (s Subjects) Picture(sha256 string) string { return s.prefix + "picture." + sha256 }

// Pictures are the places of all pictures.
func (s Subjects) Pictures() string { return s.prefix + "picture.*" }

// Ask is where the hall asks the table for something; what ">" is everything.
func (s Subjects) Ask(what string) string { return s.prefix + "ask." + what }

// Inbox is the beginning of the subjects on which a table gets answers.
func Inbox(event, table string) string { return "_INBOX_" + event + "_" + table }

// Stream is the name of the stream of an event's rulings and pictures.
func Stream(event string) string { return "SL_" + event }

// What the hall asks for.
const (
	AskClock  = "clock"  // what time the table has: Clock
	AskWatch  = "watch"  // the whole state, for Lease
	AskResend = "resend" // the record again, from a number: Resend
	AskHTTP   = "http"   // one of the table's own addresses
)

// Lease is for how long the table sends its whole state after it was asked to.
const Lease = 10 * time.Second

// The most that goes in one message, in bytes: a record with its scene, a picture, an answer.
const (
	PayloadMost = 4 << 20
	PictureMost = PayloadMost - 64<<10
)

// Headers of messages besides the CloudEvents attributes. Up and Session are the table's steady
// clock, which no one sets: by it the hall tells how old something is.
const (
	headerUp      = "Sightline-Up"      // ms since the session began
	headerSession = "Sightline-Session" // of the table's program
	headerAt      = "Sightline-At"      // the table's clock, unix ms

	HeaderMethod = "Sightline-Method" // of AskHTTP
	HeaderPath   = "Sightline-Path"
	HeaderRole   = "Sightline-Role"
	HeaderName   = "Sightline-Name"
	HeaderUntil  = "Sightline-Until"  // the table's steady clock when the hall no longer waits: "SESSION MS"
	HeaderStatus = "Sightline-Status" // of its answer
)

// Resend asks for the record again, from the entry of this number.
type Resend struct {
	From int64 `json:"from"`
}

// Until is a HeaderUntil.
func Until(session string, upMS int64) string { return session + " " + strconv.FormatInt(upMS, 10) }

// Clock is one reading of a table's clocks.
type Clock struct {
	Session string `json:"session"`    // of the program: another one begins again at 0
	UpMS    int64  `json:"up_ms"`      // steady: no one sets it
	AtMS    int64  `json:"at_unix_ms"` // the clock that people see and set
}

// ClockOf reads the clock of a message.
func ClockOf(m *nats.Msg) (Clock, error) {
	c := Clock{Session: m.Header.Get(headerSession)}
	var err error
	if c.UpMS, err = strconv.ParseInt(m.Header.Get(headerUp), 10, 64); err != nil || c.Session == "" || len(c.Session) > sessionMost {
		return c, fmt.Errorf("event: %s: expected the table's clock in its headers", m.Subject)
	}
	if c.AtMS, err = strconv.ParseInt(m.Header.Get(headerAt), 10, 64); err != nil {
		return c, fmt.Errorf("event: %s: expected unix ms in %s", m.Subject, headerAt)
	}
	return c, c.Check()
}

// clockMost is the most that a clock can say, in ms: sums of a few stay far inside 64 bits, and
// in nanoseconds inside a time.Duration.
const clockMost = 1 << 42 // 139 years

const sessionMost = 64 // bytes of a session's name

// Check says what is wrong with a reading; nil: nothing.
func (c Clock) Check() error {
	if c.UpMS < 0 || c.UpMS > clockMost || c.AtMS < -clockMost || c.AtMS > clockMost {
		return fmt.Errorf("event: no clock says up %d ms and unix %d ms", c.UpMS, c.AtMS)
	}
	return nil
}

// Health says how a table is.
type Health struct {
	Version string     `json:"version"` // of its program
	Code    live.Code  `json:"code"`
	Title   string     `json:"title"` // "No camera"
	FPS     float64    `json:"frames_per_second"`
	Ships   int        `json:"ships"`
	From    string     `json:"from"` // the chosen pair
	To      string     `json:"to"`
	Answer  string     `json:"answer"` // of it, as far as the players agreed: "Range 2"; "": there is none
	Held    bool       `json:"held"`   // the answer is a held picture's: it is not live
	Call    *Call      `json:"call"`   // what is held for a judge; null: nothing
	Record  Record     `json:"record"`
	Ruling  *Ruling    `json:"ruling"`          // the last one; null: none
	Trouble string     `json:"rulings_trouble"` // why no ruling can be recorded now
	Match   live.Match `json:"match"`
	Game    *Game      `json:"game"` // on the table; null: none
}

// Call is a picture that waits for a judge.
type Call struct {
	Held  uint64 `json:"held"`
	AtMS  int64  `json:"at_unix_ms"` // the table's clock
	UpMS  int64  `json:"up_ms"`      // the same on its steady clock
	Asked string `json:"asked"`
}

// Record is how far a table's record is, and how far it has been handed on.
type Record struct {
	Number int64  `json:"number"` // of the last entry; 0: none
	Hash   string `json:"hash"`
	Sent   int64  `json:"sent"`              // the last entry that the hall acknowledged
	Error  string `json:"problem,omitempty"` // why it cannot be read
}

// Ruling is the last ruling.
type Ruling struct {
	Number   uint64        `json:"number"`
	AtMS     int64         `json:"at_unix_ms"`
	Title    string        `json:"title"`
	Decision live.Decision `json:"decision"`
}

// Game is the game on the table.
type Game struct {
	ID      int64     `json:"id"`
	Round   int       `json:"round"`
	Rounds  int       `json:"rounds"`
	Phase   string    `json:"phase"`
	Turn    string    `json:"turn"`
	Players [2]string `json:"players"`
	Score   [2]int    `json:"score"`
	Over    string    `json:"over"`
}

// textMost is how many characters of a text go into a health: it is about a kilobyte.
const textMost = 120

func cut(text string) string {
	if r := []rune(text); len(r) > textMost {
		return string(r[:textMost-1]) + "…"
	}
	return text
}

// HealthOf sums a state up, with up the table's steady clock at a time.
func HealthOf(s *live.State, up func(time.Time) int64) Health {
	h := Health{
		Code: s.Health.Code, Title: cut(s.Health.Title), FPS: math.Round(s.Figures.FPS), Ships: len(s.Located.Scene.Ships),
		From: s.Choice.From, To: s.Choice.To, Held: s.Hold != nil, Trouble: cut(s.RulingsTrouble), Match: s.Match,
	}
	if s.Pair != nil && s.Health.Code == live.OK {
		h.Answer = cut(live.RangeTitle(s.Pair.Range))
	}
	if s.Hold.AwaitsJudge(s.Ruling) {
		h.Call = &Call{Held: s.Hold.Number, AtMS: s.Hold.At.UnixMilli(), UpMS: up(s.Hold.At), Asked: cut(s.Hold.AskedBy)}
	}
	if r := s.Ruling; r != nil {
		h.Ruling = &Ruling{Number: r.Number, AtMS: r.At.UnixMilli(), Title: cut(r.Title), Decision: r.Decision}
	}
	if p := s.Play; p != nil {
		h.Game = &Game{ID: p.ID, Round: p.Round, Rounds: p.Rounds, Phase: cut(p.Phase), Turn: cut(p.Turn), Players: p.Players, Score: p.Score,
			Over: cut(p.Over)}
	}
	return h
}

// numberMost is the largest number of a health: what a page's numbers hold exactly.
const numberMost = 1 << 53

// Clean checks a health that came from a table, and makes its texts fit for a line next to other
// tables': printable, since some characters turn the order of what follows, and no longer than a
// table sends them. The error says what no table says of itself.
func (h *Health) Clean() error {
	if h.Code == "" {
		return errors.New("event: a health without a code")
	}
	numbers := []int64{int64(h.Ships), h.Record.Number, h.Record.Sent}
	texts := []*string{&h.Version, (*string)(&h.Code), &h.Title, &h.From, &h.To, &h.Answer, &h.Record.Hash, &h.Record.Error, &h.Trouble,
		&h.Match.Title, &h.Match.Round}
	for i := range h.Match.Sides {
		m := &h.Match.Sides[i]
		numbers, texts = append(numbers, int64(m.Score), int64(m.Squad)), append(texts, &m.Name)
	}
	if c := h.Call; c != nil {
		texts = append(texts, &c.Asked)
	}
	if r := h.Ruling; r != nil {
		numbers, texts = append(numbers, int64(min(r.Number, math.MaxInt64))), append(texts, &r.Title, (*string)(&r.Decision))
	}
	if g := h.Game; g != nil {
		numbers = append(numbers, g.ID, int64(g.Round), int64(g.Rounds), int64(g.Score[0]), int64(g.Score[1]))
		texts = append(texts, &g.Phase, &g.Turn, &g.Players[0], &g.Players[1], &g.Over)
	}
	for _, n := range numbers {
		if n < 0 || n > numberMost {
			return fmt.Errorf("event: a health with the number %d", n)
		}
	}
	for _, t := range texts {
		*t = Line(*t)
	}
	return nil
}

// Line makes a text of a table fit for a line of a page.
func Line(text string) string { return cut(sentence.Printable(text, '\uFFFD')) }
