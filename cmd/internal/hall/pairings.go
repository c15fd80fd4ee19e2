package hall

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regular"
	"sightline/cmd/internal/event"
)

// Pairing says who plays at a table.
type Pairing struct {
	Table   string    `json:"table"`
	Round   string    `json:"round"` // "Round 3"
	Players [2]string `json:"players"`
}

const (
	pairingsFile = "pairings.json"
	// PairingsMost is how long a file of pairings is at most, in bytes: a List Fortress
	// tournament of 200 players with their squads is about 1 MB.
	PairingsMost = 4 << 20
	nameMost     = 32 // characters, as of a match's names
	roundMost    = 24
)

// ParsePairings reads a file of pairings: CSV with a heading that names the columns table,
// player1 and player2, and perhaps round; JSON as the hall writes them, {"pairings": [{"table":
// "7", "round": "Round 3", "players": ["Ada", "Ben"]}]}; or a tournament as List Fortress
// exports it; the last Swiss round is taken.
func ParsePairings(raw []byte) (list []Pairing, err error) {
	if len(raw) > PairingsMost {
		return nil, fmt.Errorf("pairings: expected at most %d bytes, got %d", PairingsMost, len(raw))
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(raw) {
		return nil, errors.New("pairings: expected text in UTF-8")
	}
	if text := bytes.TrimSpace(raw); len(text) > 0 && text[0] == '{' {
		list, err = pairingsJSON(text)
	} else {
		list, err = pairingsCSV(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("pairings: %w", err)
	}
	return list, checkPairings(list)
}

// checkPairings checks what every pairing must hold.
func checkPairings(list []Pairing) error {
	if len(list) == 0 {
		return errors.New("pairings: there are none in it")
	}
	at := map[string]int{}
	for i, p := range list {
		where := fmt.Sprintf("pairings: pairing %d", i+1)
		if err := event.CheckName(where+": table", p.Table); err != nil {
			return err
		}
		if before := at[p.Table]; before > 0 {
			return fmt.Errorf("%s: table %s has pairing %d already", where, p.Table, before)
		}
		at[p.Table] = i + 1
		for _, text := range []struct {
			what, is string
			most     int
		}{{"round", p.Round, roundMost}, {"player 1", p.Players[0], nameMost}, {"player 2", p.Players[1], nameMost}} {
			if utf8.RuneCountInString(text.is) > text.most || strings.ContainsFunc(text.is, func(r rune) bool { return !unicode.IsPrint(r) }) {
				return fmt.Errorf("%s: %s: expected at most %d printable characters, got %q", where, text.what, text.most, text.is)
			}
		}
		if p.Players[0] == "" {
			return fmt.Errorf("%s: player 1 has no name", where)
		}
	}
	return nil
}

// pairingsCSV reads columns by their headings; commas, semicolons or tabs part them.
func pairingsCSV(raw []byte) (list []Pairing, err error) {
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	r := csv.NewReader(bytes.NewReader(raw))
	for _, comma := range []rune{';', '\t'} {
		if bytes.ContainsRune(first, comma) {
			r.Comma = comma
		}
	}
	r.TrimLeadingSpace = true
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("expected a heading such as table,player1,player2: %w", err)
	}
	column := map[string]int{}
	for i, name := range head {
		column[strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name))] = i + 1
	}
	for _, need := range []string{"table", "player1", "player2"} {
		if column[need] == 0 {
			return nil, fmt.Errorf("line 1: expected the columns table, player1 and player2, and perhaps round; there is no %s", need)
		}
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		get := func(name string) string {
			if i := column[name]; i > 0 && i <= len(row) {
				return strings.TrimSpace(row[i-1])
			}
			return ""
		}
		list = append(list, Pairing{Table: get("table"), Round: roundName(get("round")), Players: [2]string{get("player1"), get("player2")}})
	}
}

// roundName makes of a bare number a round's name.
func roundName(text string) string {
	if _, err := strconv.Atoi(text); err == nil {
		return "Round " + text
	}
	return text
}

// pairingsJSON reads the hall's own form or List Fortress's.
func pairingsJSON(raw []byte) ([]Pairing, error) {
	var in struct {
		Pairings     []Pairing        `json:"pairings"`
		Participants []fortressPlayer `json:"participants"`
		Rounds       []fortressRound  `json:"rounds"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("it is neither the hall's nor List Fortress's JSON: %w", err)
	}
	if in.Participants != nil {
		return fortress(in.Participants, in.Rounds)
	}
	return in.Pairings, nil
}

// What a tournament of List Fortress holds (GET /api/v1/tournaments/ID).
type (
	fortressPlayer struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	fortressRound struct {
		Number  int             `json:"round_number"`
		Type    int             `json:"roundtype_id"`
		Matches []fortressMatch `json:"matches"`
	}
	fortressMatch struct {
		Player1 int64  `json:"player1_id"`
		Player2 *int64 `json:"player2_id"` // null: a bye
	}
)

// fortress makes pairings of the last round of the first kind, Swiss. List Fortress knows no tables: they are numbered
// from 1 in the order of the matches, without the byes.
func fortress(players []fortressPlayer, rounds []fortressRound) (list []Pairing, err error) {
	if len(rounds) == 0 {
		return nil, errors.New("the List Fortress tournament has no rounds")
	}
	names := map[int64]string{}
	for _, p := range players {
		names[p.ID] = short(p.Name)
	}
	last := rounds[0]
	for _, r := range rounds {
		if cmp.Or(cmp.Compare(last.Type, r.Type), cmp.Compare(r.Number, last.Number)) > 0 {
			last = r
		}
	}
	for _, m := range last.Matches {
		if m.Player2 == nil {
			continue
		}
		p := Pairing{Table: strconv.Itoa(len(list) + 1), Round: fmt.Sprintf("Round %d", last.Number)}
		for i, id := range []int64{m.Player1, *m.Player2} {
			name, known := names[id]
			if !known {
				return nil, fmt.Errorf("round %d names participant %d, who is not among the participants", last.Number, id)
			}
			p.Players[i] = name
		}
		list = append(list, p)
	}
	return list, nil
}

// short cuts a name to what a stream's line holds.
func short(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.TrimSpace(name))
	if r := []rune(name); len(r) > nameMost {
		return string(r[:nameMost-1]) + "…"
	}
	return name
}

// pairingsJSONOut is the hall's own form.
type pairingsJSONOut struct {
	Pairings []Pairing `json:"pairings"`
}

// readPairings reads the pairings of a state folder; none where there is no file.
func readPairings(dir string) ([]Pairing, error) {
	raw, err := regular.Read(filepath.Join(dir, pairingsFile), PairingsMost)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("hall: %w", err)
	}
	list, err := ParsePairings(raw)
	if err != nil {
		return nil, fmt.Errorf("hall: %s: %w", pairingsFile, err)
	}
	return list, nil
}

// keepPairings makes pairings the present ones.
func (h *Hall) keepPairings(list []Pairing) error {
	raw, err := json.Marshal(pairingsJSONOut{list})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := atomicfile.Write(filepath.Join(h.o.Dir, pairingsFile), append(raw, '\n'), 0o600); err != nil {
		return err
	}
	h.pairs = list
	return nil
}
