package squads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sightline/engine"
)

// This file converts the file form of the data into ships and back.

// arcOf translates the data's names of arcs to package engine's.
var arcOf = map[string]string{
	"Front Arc": "front", "Rear Arc": "rear", "Left Arc": "left", "Right Arc": "right",
	"Full Front Arc": "full_front", "Full Rear Arc": "full_rear", "Bullseye Arc": "bullseye",
	"Single Turret Arc": "turret", "Double Turret Arc": "double_turret",
	"Front": "front", "Turret": "primary_turret", "Auxiliary Rear": "rear_aux", "Auxiliary 180": "full_front_180",
	"Mobile": "mobile", "Bullseye": "bullseye",
}

// longHuge are the huge ships whose base is the longer one of two pieces. No source names the
// Trident's; its initiative and its class are those of the others.
var longHuge = []string{"cr90corelliancorvette", "raiderclasscorvette", "tridentclassassaultship",
	"cr90corvettefore", "cr90corvetteaft", "raiderclasscorvettefore", "raiderclasscorvetteaft"}

func baseOf(id, size string) (engine.Base, error) {
	size = strings.ToLower(size)
	if size == "huge" {
		size = engine.Huge195.String()
		if slices.Contains(longHuge, id) {
			size = engine.Huge225.String()
		}
	}
	return engine.ParseBase(size)
}

// canonical returns a name in the form of XWS ids: lower-case letters and digits only.
func canonical(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// ship checks and converts a ship.
func (f *shipFacts) ship(e Edition) (Ship, error) {
	bad := func(key string, err error) (Ship, error) {
		return Ship{}, fmt.Errorf("ship %q: %s: %w", f.XWS, key, err)
	}
	if f.XWS == "" || f.Name == "" {
		return bad("xws, name", fmt.Errorf("expected an id and a name"))
	}
	s := Ship{ID: f.XWS, Name: f.Name}
	if e == Second {
		s.Faction = canonical(strings.Join(f.Faction, ""))
	}
	var err error
	if s.Base, err = baseOf(f.XWS, f.Size); err != nil {
		return bad("size", err)
	}
	for _, m := range f.Dial {
		if !dialEntry(m) {
			return bad("dial", fmt.Errorf("expected speed, bearing and colour like 1BB, got %q", m))
		}
		s.Dial = append(s.Dial, m)
	}
	for _, a := range append(f.Arcs, f.Stats...) {
		name := arcOf[a]
		if name == "" {
			name = a
		}
		if _, err := engine.ParseArc(name); err != nil {
			return bad("arcs", err)
		}
		s.Arcs = append(s.Arcs, name)
	}
	for _, a := range f.Actions {
		s.Actions = append(s.Actions, strings.ToLower(a))
	}
	for _, p := range f.Pilots {
		pilot, err := p.pilot()
		if err != nil {
			return bad("pilots", err)
		}
		if e == Second {
			pilot.Faction = s.Faction
		}
		s.Pilots = append(s.Pilots, pilot)
	}
	return s, nil
}

func (p *pilotFacts) pilot() (Pilot, error) {
	if p.XWS == "" || p.Name == "" {
		return Pilot{}, fmt.Errorf("expected an id and a name, got %q and %q", p.XWS, p.Name)
	}
	out := Pilot{ID: p.XWS, Name: p.Name, Faction: canonical(p.Faction), Initiative: p.Initiative}
	if n, ok := p.Skill.(float64); ok {
		skill := int(n)
		out.Initiative = &skill
	}
	return out, nil
}

// dialEntry reports whether a dial's entry is a speed, a letter for the bearing and one for
// the colour.
func dialEntry(s string) bool {
	return len(s) == 3 && s[0] >= '0' && s[0] <= '5' && strings.IndexByte("FBNTYKLPERSADO", s[1]) >= 0 &&
		strings.IndexByte("BWRPG", s[2]) >= 0
}

// parseFacts reads a table in its file form. The source data of the first edition have a
// skill in place of an initiative.
func parseFacts(data []byte) (*Table, error) {
	var f factsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	t := &Table{Source: f.Source, Edition: Second}
	if f.Edition == First.String() || f.Edition == "" && bytes.Contains(data, []byte(`"skill"`)) {
		t.Edition = First
	}
	for i := range f.Ships {
		s, err := f.Ships[i].ship(t.Edition)
		if err != nil {
			return nil, err
		}
		t.Ships = append(t.Ships, s)
	}
	return t, t.check()
}

// check reports a table without ships, or with the same ship of a faction twice.
func (t *Table) check() error {
	if len(t.Ships) == 0 {
		return fmt.Errorf("expected ships, got none")
	}
	seen := map[string]bool{}
	for _, s := range t.Ships {
		if key := s.ID + " " + s.Faction; seen[key] {
			return fmt.Errorf("ship %q of %s is listed twice", s.ID, s.Faction)
		} else {
			seen[key] = true
		}
	}
	return nil
}

// Write returns a table's file form, sorted, one ship on a line: the same data give the same
// bytes.
func (t *Table) Write() ([]byte, error) {
	ships := slices.Clone(t.Ships)
	slices.SortFunc(ships, func(a, b Ship) int { return strings.Compare(a.Faction+" "+a.ID, b.Faction+" "+b.ID) })
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	source, err := json.Marshal(t.Source)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&out, "{\"edition\":%q,\"source\":%s,\"ships\":[\n", t.Edition, source)
	for i, s := range ships {
		if i > 0 {
			out.Truncate(out.Len() - 1)
			out.WriteString(",\n")
		}
		if err := e.Encode(s.facts(t.Edition)); err != nil {
			return nil, err
		}
	}
	out.WriteString("]}\n")
	return out.Bytes(), nil
}

func (s *Ship) facts(e Edition) shipFacts {
	f := shipFacts{XWS: s.ID, Name: s.Name, Size: s.Base.String(), Dial: s.Dial, Arcs: s.Arcs, Actions: s.Actions, Pilots: []pilotFacts{}}
	if e == Second {
		f.Faction = names{s.Faction}
	}
	for _, p := range s.Pilots {
		w := pilotFacts{XWS: p.ID, Name: p.Name, Initiative: p.Initiative}
		if e == First {
			w.Faction = p.Faction
		}
		f.Pilots = append(f.Pilots, w)
	}
	slices.SortFunc(f.Pilots, func(a, b pilotFacts) int { return strings.Compare(a.XWS+" "+a.Faction, b.XWS+" "+b.Faction) })
	return f
}

// parseCloneShip reads a ship's file from xwing-data2.
func parseCloneShip(data []byte) (Ship, error) {
	var f shipFacts
	if err := json.Unmarshal(data, &f); err != nil {
		return Ship{}, err
	}
	return f.ship(Second)
}
