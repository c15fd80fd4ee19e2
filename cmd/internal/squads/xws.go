package squads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sightline/cmd/internal/sentence"
)

// MaxFile is the largest accepted size of a squad file in bytes: a hundred times a large squad.
const MaxFile = 2 << 20

// maxPilots is the largest number of pilots: the number of ships that a scene may have.
const maxPilots = 200

// maxPoints is the largest accepted cost of a ship: five times the largest game's points.
const maxPoints = 2000

// Squad is a squad as in its file: ids that are not looked up yet.
type Squad struct {
	Edition     Edition
	Version     string // of XWS; "" if not stated
	Faction     string
	Name        string // the player's name for it; "" for none
	Description string
	Obstacles   []string
	Pilots      []SquadPilot
}

// SquadPilot is one entry of a squad.
type SquadPilot struct {
	ID       string
	Ship     string              // "" if not stated
	Upgrades map[string][]string // ids by slot
	Points   int                 // upgrades included, as stated; 0 if not
}

// Parse parses a squad in the XWS format of 2.0 or the first edition. Keys of the format must have
// their type of value and must not be repeated. Parse ignores all other keys, such as vendors', and
// points that are not a number, since the format calls them a hint.
func Parse(data []byte) (*Squad, error) {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if len(data) > MaxFile {
		return nil, fmt.Errorf("expected at most %d MB", MaxFile>>20)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("expected text in UTF-8")
	}
	if s := strings.TrimSpace(string(data[:min(len(data), 64)])); strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return nil, fmt.Errorf("expected the squad itself, got an address: export it in the squad builder as XWS")
	}
	if err := wellFormed(data); err != nil {
		return nil, err
	}
	o, err := readObject("", data)
	if err != nil {
		return nil, err
	}
	if o.keys["container"] != nil && o.keys["pilots"] == nil {
		return nil, fmt.Errorf("container: the file holds several squads (XWC); expected one squad (XWS)")
	}
	s := &Squad{}
	if s.Faction, err = o.id("faction"); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		key  string
		into *string
	}{{"version", &s.Version}, {"name", &s.Name}, {"description", &s.Description}} {
		if *t.into, err = o.text(t.key); err != nil {
			return nil, err
		}
	}
	s.Name = sentence.Printable(s.Name, '\uFFFD') // else a name that reverses what follows would make a line read as another
	if s.Obstacles, err = o.ids("obstacles"); err != nil {
		return nil, err
	}
	entries, err := o.list("pilots")
	if err != nil {
		return nil, err
	}
	switch {
	case o.keys["pilots"] == nil:
		return nil, fmt.Errorf("pilots: is missing")
	case len(entries) == 0:
		return nil, fmt.Errorf("pilots: expected at least one")
	case len(entries) > maxPilots:
		return nil, fmt.Errorf("pilots: expected at most %d, got %d", maxPilots, len(entries))
	}
	return s, s.readPilots(entries)
}

// readPilots parses the pilots and determines their edition: pilots of the second edition have an
// id, and often a name too; those of the first have only a name.
func (s *Squad) readPilots(entries []json.RawMessage) error {
	major, err := s.major()
	if err != nil {
		return err
	}
	all := make([]object, len(entries))
	s.Edition = First
	for i, raw := range entries {
		if all[i], err = readObject(fmt.Sprintf("pilots[%d]", i), raw); err != nil {
			return err
		}
		if all[i].keys["id"] != nil {
			s.Edition = Second
		}
	}
	key := "id"
	switch {
	case major >= 2:
		s.Edition = Second
	case s.Edition == First:
		key = "name"
	}
	for _, o := range all {
		if o.keys["id"] == nil && o.keys["name"] == nil {
			return fmt.Errorf("%s: expected an id, or in the first edition a name", o.at)
		}
		p, err := readPilot(o, key)
		if err != nil {
			return err
		}
		s.Pilots = append(s.Pilots, p)
	}
	return nil
}

// major returns the first number of the version; -1 if there is none, or if it is a date, as some
// builders write.
func (s *Squad) major() (int, error) {
	if s.Version == "" || strings.Count(s.Version, "/") == 2 {
		return -1, nil
	}
	first, _, _ := strings.Cut(s.Version, ".")
	n, err := strconv.Atoi(first)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("version: expected one like 2.0.0, got %q", short(s.Version))
	}
	return n, nil
}

func readPilot(o object, key string) (SquadPilot, error) {
	var p SquadPilot
	var err error
	if p.ID, err = o.id(key); err != nil {
		return p, err
	}
	if o.keys["ship"] != nil && !isNull(o.keys["ship"]) {
		if p.Ship, err = o.id("ship"); err != nil {
			return p, err
		}
	}
	var points float64                        // a hint: ignored if it is not a number
	hint := bytes.Trim(o.keys["points"], `"`) // some builders write it as a text
	if json.Unmarshal(hint, &points) == nil && points > 0 && points <= maxPoints {
		p.Points = int(points)
	}
	raw := o.keys["upgrades"]
	if raw == nil || isNull(raw) || isKind(raw, '[') && len(bytes.Trim(raw, "[] \t\r\n")) == 0 {
		return p, nil // an empty list is what some builders write for none
	}
	slots, err := readObject(o.path("upgrades"), raw)
	if err != nil {
		return p, err
	}
	p.Upgrades = map[string][]string{}
	for slot := range slots.keys {
		ids, err := slots.ids(slot)
		if err != nil {
			return p, err
		}
		p.Upgrades[slot] = ids
	}
	return p, nil
}
