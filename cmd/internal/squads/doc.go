// Package squads provides data of ships and pilots, and reads squads in the XWS format of
// 2.0 and of the first edition.
//
// The data of ships (names, base, dial, arcs, actions, initiative) are a generated table in
// data/, which is built into the program; [Notice] is its licence. [Load] replaces it by a
// user's own newer copy of xwing-data2. It has no ability texts.
package squads

import "sightline/engine"

// Edition is an edition of squads: XWS has one form for the first edition and one for the
// second, which covers 2.0 and 2.5.
type Edition int

// The editions.
const (
	First Edition = iota + 1
	Second
)

// String returns "first" or "second".
func (e Edition) String() string {
	if e == First {
		return "first"
	}
	return "second"
}

// Ship describes a ship of a faction.
type Ship struct {
	ID      string // of XWS: "t65xwing"
	Name    string // "T-65 X-wing"
	Faction string // of XWS: "rebelalliance"; "" in the first edition, whose pilots have one
	Base    engine.Base
	Dial    []string // "1BB": speed, bearing, colour; none where the data have none
	Arcs    []string // that it attacks in, as package engine names them
	Actions []string // "barrel roll"; a red one ends with a star
	Pilots  []Pilot
}

// Pilot describes a pilot.
type Pilot struct {
	ID         string // of XWS: "wedgeantilles"
	Name       string // "Wedge Antilles"
	Faction    string // of XWS
	Initiative *int   // pilot skill in the first edition; nil where the card has none
}

// Table describes the ships of an edition.
type Table struct {
	Edition Edition
	Source  string // where the facts come from
	Ships   []Ship
}

// ship returns the ships with an id, one for each faction that flies it.
func (t *Table) ship(id string) (found []*Ship) {
	for i := range t.Ships {
		if t.Ships[i].ID == id {
			found = append(found, &t.Ships[i])
		}
	}
	return found
}

// entry is a pilot and the ship that it flies.
type entry struct {
	ship  *Ship
	pilot *Pilot
}

// pilots returns the pilots with an id. The second edition has one; in the first, the same
// pilot may fly several ships, and for several factions.
func (t *Table) pilots(id string) (found []entry) {
	for i := range t.Ships {
		for j := range t.Ships[i].Pilots {
			if t.Ships[i].Pilots[j].ID == id {
				found = append(found, entry{&t.Ships[i], &t.Ships[i].Pilots[j]})
			}
		}
	}
	return found
}
