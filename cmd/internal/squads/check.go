package squads

import (
	"fmt"
	"slices"
	"strings"
)

// Report lists what the data say about a squad's ships, in its JSON form.
type Report struct {
	Version int        `json:"version"`
	Edition string     `json:"edition"` // first or second
	Faction string     `json:"faction"`
	Name    string     `json:"name,omitempty"`
	Ships   []ShipLine `json:"ships"`
	Unknown []string   `json:"unknown"` // ids that are not in the data
	Notes   []string   `json:"notes"`   // inconsistencies

	Strangers []SquadPilot `json:"-"` // pilots not in the data, nor their ships
}

// ShipLine describes a ship of a squad. Without a known pilot it has no initiative.
type ShipLine struct {
	ID         string              `json:"id"`
	Pilot      string              `json:"pilot"` // the name, or the id if it is unknown
	Ship       string              `json:"ship"`
	ShipID     string              `json:"ship_id"`
	Base       string              `json:"base"`
	Initiative *int                `json:"initiative,omitempty"` // pilot skill in the first edition
	Dial       []string            `json:"dial"`
	Arcs       []string            `json:"arcs"`
	Actions    []string            `json:"actions"`
	Upgrades   map[string][]string `json:"upgrades,omitempty"`
	Points     int                 `json:"points,omitempty"` // as the squad says
}

// factions are the factions of the second edition, with their names in the XWS of the first.
var factions = map[string][]string{
	"rebelalliance": {"rebel", "rebels", "resistance"}, "galacticempire": {"imperial", "imperials", "empire", "firstorder"},
	"scumandvillainy": {"scum"}, "resistance": nil, "firstorder": nil, "galacticrepublic": nil, "separatistalliance": nil,
}

// factionOf returns the faction with an id; "" if unknown.
func factionOf(id string) string {
	id = canonical(id)
	if _, ok := factions[id]; ok {
		return id
	}
	for name, other := range factions {
		if slices.Contains(other, id) {
			return name
		}
	}
	return ""
}

// fliesFor reports whether a pilot of a faction may be in a squad of another: in the first
// edition the Resistance fights with the Rebel Alliance, and the First Order with the Empire.
func fliesFor(e Edition, pilot, squad string) bool {
	return pilot == squad || e == First && (slices.Contains(factions[squad], pilot) || slices.Contains(factions[pilot], squad))
}

// Check looks up the ships of a squad and reports what is not in the data.
func (d Data) Check(s *Squad) Report {
	t := d.Second
	if s.Edition == First {
		t = d.First
	}
	r := Report{Version: 1, Edition: s.Edition.String(), Faction: factionOf(s.Faction), Name: s.Name, Ships: []ShipLine{},
		Unknown: []string{}, Notes: []string{}}
	if r.Faction == "" {
		r.Faction = s.Faction
		r.missing(s.Faction)
	}
	for i := range s.Pilots {
		p := &s.Pilots[i]
		found := t.pilots(p.ID)
		if len(found) == 0 {
			r.missing(p.ID)
			r.shipOnly(t, p)
			continue
		}
		r.add(p, r.choose(s, p, found))
	}
	return r
}

func (r *Report) missing(id string) {
	if !slices.Contains(r.Unknown, id) {
		r.Unknown = append(r.Unknown, id)
	}
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// choose returns the entry of a pilot that best fits the squad, and notes inconsistencies.
func (r *Report) choose(s *Squad, p *SquadPilot, found []entry) entry {
	fit := func(e entry) (n int) {
		if p.Ship == e.ship.ID {
			n += 2
		}
		if fliesFor(s.Edition, e.pilot.Faction, r.Faction) {
			n++
		}
		return n
	}
	best := slices.MaxFunc(found, func(a, b entry) int { return fit(a) - fit(b) })
	if !fliesFor(s.Edition, best.pilot.Faction, r.Faction) && factionOf(s.Faction) != "" {
		r.note("%s flies for %s, the squad is of %s", p.ID, best.pilot.Faction, r.Faction)
	}
	switch {
	case p.Ship == "" && len(found) > 1:
		var ids []string
		for _, e := range found {
			ids = append(ids, e.ship.ID)
		}
		r.note("%s flies several ships (%s) and the squad does not say which", p.ID, strings.Join(ids, ", "))
	case p.Ship != "" && p.Ship != best.ship.ID:
		r.note("%s flies %s, the squad says %s", p.ID, best.ship.ID, p.Ship)
	}
	return best
}

// shipOnly adds the ship of an unknown pilot.
func (r *Report) shipOnly(t *Table, p *SquadPilot) {
	ships := t.ship(p.Ship)
	if p.Ship == "" || len(ships) == 0 {
		if p.Ship != "" {
			r.missing(p.Ship)
		}
		r.Strangers = append(r.Strangers, *p)
		return
	}
	i := max(0, slices.IndexFunc(ships, func(s *Ship) bool { return s.Faction == r.Faction }))
	r.add(p, entry{ships[i], &Pilot{ID: p.ID, Name: p.ID}})
}

func (r *Report) add(p *SquadPilot, e entry) {
	r.Ships = append(r.Ships, ShipLine{
		ID: p.ID, Pilot: e.pilot.Name, Ship: e.ship.Name, ShipID: e.ship.ID, Base: e.ship.Base.String(), Initiative: e.pilot.Initiative,
		Dial: listed(e.ship.Dial), Arcs: listed(e.ship.Arcs), Actions: listed(e.ship.Actions), Upgrades: p.Upgrades,
		Points: p.Points,
	})
	if len(e.ship.Dial) == 0 {
		r.note("the data have no dial of %s", e.ship.ID)
	}
}

// listed returns a list that is encoded as [] when empty.
func listed(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
