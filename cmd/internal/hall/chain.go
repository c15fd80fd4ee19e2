package hall

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/event"
	"sightline/cmd/internal/rulings"
	"sightline/cmd/internal/sentence"
)

// Ruling is an entry of a table's record in the hall's list.
type Ruling struct {
	Table    string    `json:"table"`
	Also     []string  `json:"also"` // other tables with the same entry
	Number   int64     `json:"number"`
	Hash     string    `json:"hash"`
	At       time.Time `json:"at"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Title    string    `json:"title"`
	Text     string    `json:"text"`
	Question string    `json:"question"`
	AskedBy  string    `json:"asked_by"`
	Reason   string    `json:"reason"`
	Judge    string    `json:"judge"`
	Decision string    `json:"decision"`
	Picture  string    `json:"picture"` // its SHA-256; "": none
	Problem  string    `json:"problem"` // why it cannot be trusted; "": its hash matches its content

	previous string
}

// readRuling parses an entry stored under a number and a hash.
func readRuling(table string, number int64, hash string, raw []byte) *Ruling {
	r := &Ruling{Table: table, Number: number, Hash: hash}
	sum := sha256.Sum256(raw)
	if hex.EncodeToString(sum[:]) != hash {
		r.Problem = "its content does not match its hash"
		return r
	}
	e, err := rulings.ParseRecord(raw)
	if err != nil {
		r.Problem = err.Error()
		return r
	}
	if e.Number != number {
		r.Problem = fmt.Sprintf("it says that it is number %d", e.Number)
		return r
	}
	r.At, r.From, r.To, r.Title, r.Text, r.Question, r.AskedBy = e.At, e.From, e.To, e.Title, e.Text, e.Question, e.AskedBy
	r.Reason, r.Judge, r.Decision, r.previous = e.Reason, e.Judge, string(e.Decision), e.Previous
	for _, text := range []*string{&r.From, &r.To, &r.Title, &r.Text, &r.Question, &r.AskedBy, &r.Reason, &r.Judge} {
		*text = sentence.Printable(strings.ReplaceAll(*text, "\n", " "), '\uFFFD') // for the list: the record stays as it is
	}
	for _, role := range []rulings.Role{rulings.RoleColor, rulings.RoleFrame} {
		if f, ok := e.File(role); ok && r.Picture == "" {
			r.Picture = f.SHA256
		}
	}
	return r
}

// has reports whether every word occurs in the ruling.
func (r *Ruling) has(words []string) bool {
	text := strings.ToLower(strings.Join([]string{"table " + r.Table, r.From, r.To, r.Title, r.Text, r.Question, r.AskedBy, r.Reason, r.Judge,
		r.Decision}, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// chain is the hall's copy of a table's record.
type chain struct {
	entries map[int64][]*Ruling // by number; several under one number contradict each other
	whole   int64               // entries 1 to whole are complete
	head    int64
	arrived time.Time // when the newest entry came
}

// add adds an entry, and reports whether it is new.
func (c *chain) add(r *Ruling, now time.Time) (added bool) {
	if slices.ContainsFunc(c.entries[r.Number], func(k *Ruling) bool { return k.Hash == r.Hash }) {
		return false
	}
	if c.entries == nil {
		c.entries = map[int64][]*Ruling{}
	}
	c.entries[r.Number] = append(c.entries[r.Number], r)
	c.head, c.arrived = max(c.head, r.Number), now
	for c.entries[c.whole+1] != nil {
		c.whole++
	}
	return true
}

func (c *chain) count() (n int) {
	for _, k := range c.entries {
		n += len(k)
	}
	return n
}

// hashes returns the hashes of the entries with a number.
func (c *chain) hashes(n int64) (out []string) {
	if n == 0 {
		return []string{rulings.Genesis}
	}
	for _, k := range c.entries[n] {
		out = append(out, k.Hash)
	}
	return out
}

// problems describes what is wrong with the chain itself.
func (c *chain) problems() (out []string) {
	for _, n := range slices.Sorted(maps.Keys(c.entries)) {
		all := c.entries[n]
		if len(all) > 1 {
			out = append(out, fmt.Sprintf("There are %d different rulings with number %d: the table's record was rewritten, or begun again.",
				len(all), n))
		}
		for _, k := range all {
			switch before := c.hashes(n - 1); {
			case k.Problem != "":
				out = append(out, fmt.Sprintf("Ruling %d cannot be trusted: %s.", n, k.Problem))
			case before != nil && !slices.Contains(before, k.previous):
				out = append(out, fmt.Sprintf("Ruling %d does not follow the ruling %d that the hall has.", n, n-1))
			}
		}
	}
	return out
}

// settled is how long after a new entry a table's report about its record is ignored: an earlier
// report may arrive later than the entry.
const settled = 3 * time.Second

// against describes how a table's report about its record, received at heard, contradicts the
// chain.
func (c *chain) against(r event.Record, heard time.Time) []string {
	switch {
	case r.Error != "":
		return []string{"The table's record cannot be read: " + r.Error}
	case heard.Sub(c.arrived) < settled:
	case r.Number == 0 && c.head > 0:
		return []string{fmt.Sprintf("The table's record is empty, but the hall has it up to ruling %d: it was removed, or begun again. "+
			"The hall keeps what it has.", c.head)}
	case r.Number < c.head && !c.leads(r.Number, r.Hash):
		return []string{fmt.Sprintf("The table's record, which ends at ruling %d, differs from the one that the hall has "+
			"up to ruling %d: it was begun again, or rewritten. The hall keeps what it has.", r.Number, c.head)}
	case r.Number < c.head:
		return []string{fmt.Sprintf("The table's record ends at ruling %d, but the hall has it up to %d: %s cut off at its end. "+
			"The hall keeps what it has.", r.Number, c.head, entries(c.head-r.Number))}
	case r.Number == c.head && r.Number > 0 && !slices.Contains(c.hashes(r.Number), r.Hash):
		return []string{fmt.Sprintf("The table's ruling %d differs from the one that the hall has: "+
			"the end of its record was replaced.", r.Number)}
	}
	return nil
}

// leads reports whether the hall's chain leads from an entry to its head.
func (c *chain) leads(number int64, hash string) bool {
	follow := c.hashes(c.head)
	for n := c.head; n > number; n-- {
		var before []string
		for _, k := range c.entries[n] {
			if slices.Contains(follow, k.Hash) {
				before = append(before, k.previous)
			}
		}
		follow = before
	}
	return slices.Contains(follow, hash)
}

func entries(n int64) string {
	if n == 1 {
		return "one entry was"
	}
	return fmt.Sprintf("%d entries were", n)
}
