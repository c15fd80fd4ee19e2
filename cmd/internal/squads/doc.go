// Package squads knows which ships and pilots there are and reads squads in the XWS
// format, that of 2.0 and of the first edition.
//
// The facts about ships (names, base, dial, arcs, actions, initiative) are a generated
// table in data/, which ships with the program; [Notice] is its licence. A user's own
// newer copy of xwing-data2 takes its place ([Load]). There are no ability texts in it.
package squads

import "sightline/engine"

// Edition is an edition as squads tell them apart: XWS has one form for the first edition
// and one for the second, in which 2.0 and 2.5 are alike.
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

// Ship is what is known of one ship of one faction.
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

// Pilot is what is known of one pilot.
type Pilot struct {
	ID         string // of XWS: "wedgeantilles"
	Name       string // "Wedge Antilles"
	Faction    string // of XWS
	Initiative *int   // pilot skill in the first edition; nil where the card has none
}

// Table is what is known of the ships of one edition.
type Table struct {
	Edition Edition
	Source  string // where the facts come from
	Ships   []Ship
}

// ship returns the ships of an id: one per faction that flies it.
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

// pilots returns the pilots of an id. The second edition has one of each; in the first
// the same pilot flies several ships, and for several factions.
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
