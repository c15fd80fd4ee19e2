// Package event joins a table to the hall of an event. The table's client sends the table's state
// at most twice a second, sends the entries of the judges' record, and answers the hall's requests.
// The record itself is the outbox: nothing else is queued.
//
// Package hall reads the same types. The messages are CloudEvents 1.0 in binary mode over NATS: the
// attributes are headers, and the body is the table's own JSON, byte for byte.
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

// Subjects are the subjects of one table: "sl.v1.EVENT.TABLE.…".
type Subjects struct{ prefix string }

// SubjectsOf returns the subjects of a table; "*" stands for all tables.
func SubjectsOf(event, table string) Subjects { return Subjects{"sl.v1." + event + "." + table + "."} }

// All is the subject of everything that the table may publish.
func (s Subjects) All() string { return s.prefix + ">" }

// Health is the subject of the table's health.
func (s Subjects) Health() string { return s.prefix + "health" }

// State is the subject of the table's whole state, which it sends while someone watches.
func (s Subjects) State() string { return s.prefix + "state" }

// Ruling is the subject of one entry of the record. Each entry has its own, so a broker stores it
// once, however often it is sent.
func (s Subjects) Ruling(number int64, hash string) string {
	return fmt.Sprintf("%sruling.%d.%s", s.prefix, number, hash)
}

// Rulings is the subject of all entries.
func (s Subjects) Rulings() string { return s.prefix + "ruling.>" }

// Picture is the subject of a picture, by its SHA-256.
func (s Subjects) Picture(sha256 string) string { return s.prefix + "picture." + sha256 }

// Pictures is the subject of all pictures.
func (s Subjects) Pictures() string { return s.prefix + "picture.*" }

// Ask is the subject of the hall's requests to the table; what ">" means all of them.
func (s Subjects) Ask(what string) string { return s.prefix + "ask." + what }

// Inbox is the prefix of the subjects on which a table receives answers.
func Inbox(event, table string) string { return "_INBOX_" + event + "_" + table }

// Stream is the name of the stream of an event's rulings and pictures.
func Stream(event string) string { return "SL_" + event }

// The hall's requests.
const (
	AskClock  = "clock"  // the table's time: Clock
	AskWatch  = "watch"  // send the whole state, for Lease
	AskResend = "resend" // send the record again, from a number: Resend
	AskHTTP   = "http"   // one of the table's own addresses
)

// Lease is how long the table sends its whole state after AskWatch.
const Lease = 10 * time.Second

// The largest sizes of one message, in bytes: a record with its scene, a picture, an answer.
const (
	PayloadMost = 4 << 20
	PictureMost = PayloadMost - 64<<10
)

// Headers of messages in addition to the CloudEvents attributes. Up and Session are the table's
// steady clock, which cannot be set: from it the hall computes a message's age.
const (
	headerUp      = "Sightline-Up"      // ms since the session began
	headerSession = "Sightline-Session" // of the table's program
	headerAt      = "Sightline-At"      // the table's clock, unix ms

	HeaderMethod = "Sightline-Method" // of AskHTTP
	HeaderPath   = "Sightline-Path"
	HeaderRole   = "Sightline-Role"
	HeaderName   = "Sightline-Name"
	HeaderUntil  = "Sightline-Until"  // the table's steady clock at which the hall stops waiting: "SESSION MS"
	HeaderStatus = "Sightline-Status" // of its answer
)

// Resend asks for the record again, from the entry with this number.
type Resend struct {
	From int64 `json:"from"`
}

// Until formats a HeaderUntil.
func Until(session string, upMS int64) string { return session + " " + strconv.FormatInt(upMS, 10) }

// Clock is one reading of a table's clocks.
type Clock struct {
	Session string `json:"session"`    // of the program: a new one starts at 0
	UpMS    int64  `json:"up_ms"`      // steady: it is never set
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

// clockMost is the largest accepted reading, in ms: sums of a few readings fit in 64 bits, and in
// nanoseconds in a time.Duration.
const clockMost = 1 << 42 // 139 years

const sessionMost = 64 // bytes of a session's name

// Check returns an error for an impossible reading.
func (c Clock) Check() error {
	if c.UpMS < 0 || c.UpMS > clockMost || c.AtMS < -clockMost || c.AtMS > clockMost {
		return fmt.Errorf("event: no clock says up %d ms and unix %d ms", c.UpMS, c.AtMS)
	}
	return nil
}

// Health is a summary of a table's state.
type Health struct {
	Version string     `json:"version"` // of its program
	Code    live.Code  `json:"code"`
	Title   string     `json:"title"` // "No camera"
	FPS     float64    `json:"frames_per_second"`
	Ships   int        `json:"ships"`
	From    string     `json:"from"` // the chosen pair
	To      string     `json:"to"`
	Answer  string     `json:"answer"` // of the pair, as far as the agreement allows it: "Range 2"; "": none
	Held    bool       `json:"held"`   // the answer is that of a held picture, not live
	Call    *Call      `json:"call"`   // the picture held for a judge; null: none
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

// Record is the length of a table's record, and how much of it the hall has.
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

// Game is the game at the table.
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

// textMost is the largest number of characters of a text in a health, which has about a kilobyte.
const textMost = 120

func cut(text string) string {
	if r := []rune(text); len(r) > textMost {
		return string(r[:textMost-1]) + "…"
	}
	return text
}

// HealthOf returns the health of a state. up converts a time to the table's steady clock.
func HealthOf(s *live.State, up func(time.Time) int64) Health {
	h := Health{
		Code: s.Health.Code, Title: cut(s.Health.Title), FPS: math.Round(s.Figures.FPS), Ships: len(s.Located.Scene.Ships),
		From: s.Choice.From, To: s.Choice.To, Held: s.Hold != nil, Trouble: cut(s.RulingsTrouble), Match: s.Match,
	}
	if s.Pair != nil && s.Health.Code == live.OK {
		h.Answer = cut(live.RangeTitle(*s.AnsweredRange()))
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

// numberMost is the largest number in a health: JavaScript represents it exactly.
const numberMost = 1 << 53

// Clean checks a health received from a table, and cleans its texts to fit in a line next to other
// tables'. They become printable, since some characters change the order of what follows, and no
// longer than a table sends them. It fails for a health that no table sends.
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
		*t = lineOf(*t)
	}
	return nil
}

// lineOf cleans a table's text to fit in a line of a page.
func lineOf(text string) string { return cut(sentence.Printable(text, '\uFFFD')) }
