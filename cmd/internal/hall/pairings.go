package hall

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/event"
	"sightline/cmd/internal/sentence"
)

// Pairing names the players at a table.
type Pairing struct {
	Table   string    `json:"table"`
	Round   string    `json:"round"` // "Round 3"
	Players [2]string `json:"players"`
}

const (
	pairingsFile = "pairings.json"
	// PairingsMost is the largest size of a file of pairings, in bytes: a List Fortress tournament
	// of 200 players with their squads is about 1 MB.
	PairingsMost = 4 << 20
	pairingsMany = 1000 // largest number of pairings in a file
	nameMost     = 32   // characters, like a match's names
	roundMost    = 24
)

// ParsePairings reads a file of pairings. It accepts CSV with the columns table, player1, player2
// and optionally round; JSON as the hall writes it, {"pairings": [{"table": "7", "round": "Round
// 3", "players": ["Ada", "Ben"]}]}, or only that list; and a tournament as List Fortress returns
// it, or as other programs export it for List Fortress.
func ParsePairings(raw []byte) (list []Pairing, err error) {
	if len(raw) > PairingsMost {
		return nil, fmt.Errorf("pairings: expected at most %d bytes, got %d", PairingsMost, len(raw))
	}
	raw = bytes.TrimPrefix(fromUTF16(raw), []byte("\xef\xbb\xbf"))
	if !utf8.Valid(raw) {
		return nil, errors.New("pairings: expected text in UTF-8: save a spreadsheet as \"CSV UTF-8\"")
	}
	switch text := bytes.TrimSpace(raw); {
	case len(text) == 0:
		err = errors.New("the file is empty")
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		list, err = pairingsJSON(text)
	case bytes.HasPrefix(text, []byte("<")):
		err = errors.New("this is a web page: copy its table into a spreadsheet and save that as CSV")
	default:
		list, err = pairingsCSV(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("pairings: %w", err)
	}
	return list, checkPairings(list)
}

// fromUTF16 converts Excel's "Unicode Text", which its first character identifies. It returns other
// texts unchanged.
func fromUTF16(raw []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return raw
	}
	var units []uint16
	for i := 2; i+1 < len(raw); i += 2 {
		units = append(units, order.Uint16(raw[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// checkPairings cleans the texts for a line of a page, and checks that no pairing lacks anything.
func checkPairings(list []Pairing) error {
	if len(list) == 0 {
		return errors.New("pairings: the file has none")
	}
	if len(list) > pairingsMany {
		return fmt.Errorf("pairings: expected at most %d, got %d", pairingsMany, len(list))
	}
	at := map[string]int{}
	for i := range list {
		p := &list[i]
		p.Round = short(p.Round, roundMost)
		for side := range p.Players {
			p.Players[side] = short(p.Players[side], nameMost)
		}
		where := fmt.Sprintf("pairings: pairing %d", i+1)
		if err := event.CheckName(where+": table", sentence.Shorten(p.Table)); err != nil {
			return err
		}
		if before := at[p.Table]; before > 0 {
			return fmt.Errorf("%s: table %s has pairing %d already", where, p.Table, before)
		}
		at[p.Table] = i + 1
		if p.Players[0] == "" {
			return fmt.Errorf("%s: player 1 has no name", where)
		}
	}
	return nil
}

// pairingsCSV reads columns by their headings, separated by commas, semicolons or tabs.
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
		if strings.TrimSpace(strings.Join(row, "")) == "" {
			continue // spreadsheets leave such lines below a table
		}
		list = append(list, Pairing{Table: get("table"), Round: roundName(get("round")), Players: [2]string{get("player1"), get("player2")}})
	}
}

// roundName turns a bare number into a round's name.
func roundName(text string) string {
	if _, err := strconv.Atoi(text); err == nil {
		return "Round " + text
	}
	return text
}

// pairingsJSON reads the hall's own form, or a tournament of List Fortress.
func pairingsJSON(raw []byte) ([]Pairing, error) {
	var in struct {
		Pairings []Pairing `json:"pairings"`
		tournament
		Nested *tournament `json:"tournament"` // as TableTop.TO writes it
	}
	var err error
	if raw[0] == '[' {
		err = json.Unmarshal(raw, &in.Pairings)
	} else {
		err = json.Unmarshal(raw, &in)
	}
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return nil, fmt.Errorf("the hall cannot read this form: %s is a JSON %s", cmp.Or(wrong.Field, "an entry of the list"),
			wrong.Value)
	case err != nil:
		return nil, fmt.Errorf("the hall cannot read this form: %w", err)
	}
	t := &in.tournament
	if in.Nested != nil {
		t = in.Nested
	}
	switch {
	case in.Pairings != nil:
		return in.Pairings, nil
	case t.Participants != nil:
		return t.pairings(t.byID)
	case t.Players != nil:
		return t.pairings(t.byName())
	}
	return nil, fmt.Errorf(`expected "pairings", or a tournament with "participants" or "players" and "rounds"; found %s`, keys(raw))
}

// keys lists the keys of a JSON object.
func keys(raw []byte) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		return "nothing"
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, strconv.Quote(short(key, nameMost)))
	}
	if len(out) > keysNamed {
		out = append(out[:keysNamed], "…")
	}
	return strings.Join(out, ", ")
}

const keysNamed = 6

// tournament is a tournament of List Fortress. List Fortress returns it (GET
// /api/v1/tournaments/ID) with participants, to whom matches refer by number. It accepts it from
// programs that run tournaments (Rollbetter, TableTop.TO, Cryodex) with players, to whom matches
// refer by name or by the program's own id; a player needs only one of the two.
type tournament struct {
	Participants []struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	} `json:"participants"`
	Players []player `json:"players"` // nil: the file has another form
	Rounds  []struct {
		Number  int     `json:"round_number"`
		Type    int     `json:"roundtype_id"` // 1: Swiss
		Taken   number  `json:"round-number"`
		Kind    string  `json:"round-type"` // "swiss", "elimination"
		Matches []match `json:"matches"`
	} `json:"rounds"`
}

type player struct {
	ID   label  `json:"id"`
	Name string `json:"name"`
}

type match struct {
	ID1    int64  `json:"player1_id"`
	ID2    *int64 `json:"player2_id"` // null: a bye
	Name1  string `json:"player1"`
	Name2  string `json:"player2"`    // "": a bye, unless there is an id
	Own1   label  `json:"player1-id"` // the program's id of the player
	Own2   label  `json:"player2-id"`
	Result string `json:"result"`
}

// label is an id, which some programs write as a text and others as a number.
type label string

// UnmarshalJSON implements json.Unmarshaler.
func (l *label) UnmarshalJSON(raw []byte) error {
	var text string
	var n json.Number
	if json.Unmarshal(raw, &text) == nil {
		*l = label(strings.TrimSpace(text))
		return nil
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return fmt.Errorf("expected an id as text or number, got %s", short(string(raw), nameMost))
	}
	*l = label(n)
	return nil
}

// number is a whole number, which some programs write as a text.
type number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	var l label
	if err := l.UnmarshalJSON(raw); err != nil || l == "" {
		return err
	}
	i, err := strconv.Atoi(string(l))
	if err != nil {
		return fmt.Errorf("expected a number, got %s", short(string(raw), nameMost))
	}
	*n = number(i)
	return nil
}

// pairings returns the pairings of the last Swiss round, or of the last round if none is Swiss. A
// tournament has no table numbers, so tables are numbered from 1 in the order of the matches,
// without byes.
func (t *tournament) pairings(players func(match) (names [2]string, bye bool, err error)) (list []Pairing, err error) {
	if len(t.Rounds) == 0 {
		return nil, errors.New("the tournament has no rounds")
	}
	last, number, kind := -1, 0, 0
	for i, r := range t.Rounds {
		n, k := cmp.Or(r.Number, int(r.Taken)), r.Type
		if k == 0 && r.Kind != "" && !strings.EqualFold(r.Kind, "swiss") {
			k = math.MaxInt
		}
		if last < 0 || cmp.Or(cmp.Compare(kind, k), cmp.Compare(n, number)) > 0 {
			last, number, kind = i, n, k
		}
	}
	for i, m := range t.Rounds[last].Matches {
		names, bye, err := players(m)
		if err != nil {
			return nil, fmt.Errorf("round %d, match %d: %w", number, i+1, err)
		}
		if !bye && !strings.EqualFold(m.Result, "bye") {
			list = append(list, Pairing{Table: strconv.Itoa(len(list) + 1), Round: fmt.Sprintf("Round %d", number), Players: names})
		}
	}
	return list, nil
}

// byID finds the players of a match among the participants.
func (t *tournament) byID(m match) (names [2]string, bye bool, err error) {
	if m.ID2 == nil {
		return names, true, nil
	}
	for i, id := range []int64{m.ID1, *m.ID2} {
		known := false
		for _, p := range t.Participants {
			if p.ID == id {
				names[i], known = short(p.Name, nameMost), true
			}
		}
		if !known {
			return names, false, fmt.Errorf("participant %d is not among the participants", id)
		}
	}
	return names, false, nil
}

// byName returns a function that finds a match's players by name, or by id in the list of players.
// A player without a name is called by the id.
func (t *tournament) byName() func(match) (names [2]string, bye bool, err error) {
	known := map[label]string{}
	for _, p := range t.Players {
		if p.ID != "" {
			known[p.ID] = strings.TrimSpace(p.Name)
		}
	}
	return func(m match) (names [2]string, bye bool, err error) {
		for i, is := range []player{{m.Own1, m.Name1}, {m.Own2, m.Name2}} {
			names[i] = short(cmp.Or(strings.TrimSpace(is.Name), known[is.ID], string(is.ID)), nameMost)
		}
		return names, names[1] == "" || strings.EqualFold(names[1], "bye"), nil
	}
}

// short shortens a text to fit a stream's line, and removes unprintable characters.
func short(text string, most int) string {
	text = strings.TrimSpace(sentence.Printable(text, ' '))
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// pairingsJSONOut is the hall's own form of pairings.
type pairingsJSONOut struct {
	Pairings []Pairing `json:"pairings"`
}

// readPairings reads the pairings in a state folder. Without a file there are none.
func readPairings(dir string) ([]Pairing, error) {
	raw, err := regularfile.Read(filepath.Join(dir, pairingsFile), PairingsMost)
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

// keepPairings stores pairings and makes them the present ones.
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
