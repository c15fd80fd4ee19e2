package live

import (
	"slices"

	"sightline/engine"
	"sightline/vision"
)

// Printed is which arcs the tokens of a first edition game print in addition to the front
// arc, by ship (G47, G50): the camera does not read them. nil knows none.
type Printed struct {
	Arcs map[string][]string // as package engine names them
}

// printable are the arcs of the first edition that need no direction of a turret.
var printable = []string{engine.ArcRearAux.String(), engine.ArcFullFront180.String(), engine.ArcPrimaryTurret.String(),
	engine.ArcFront90.String(), engine.ArcFront106.String(), engine.ArcFront136.String()}

// NewPrinted returns what the ships of a game print; nil: nothing that matters.
func NewPrinted(ships []PlayShip) *Printed {
	p := Printed{Arcs: map[string][]string{}}
	for i := range ships {
		for _, arc := range ships[i].Arcs {
			if slices.Contains(printable, arc) {
				p.Arcs[ships[i].ID] = append(p.Arcs[ships[i].ID], arc)
			}
		}
	}
	if len(p.Arcs) == 0 {
		return nil
	}
	return &p
}

// On puts the arcs on those ships of a first edition scene that have none. The list of
// ships is copied if it changes.
func (p *Printed) On(s *engine.Scene) {
	if p == nil || s.Rules != engine.Rules1e {
		return
	}
	copied := false
	for i := range s.Ships {
		arcs := p.Arcs[s.Ships[i].ID]
		if len(arcs) == 0 || len(s.Ships[i].Arcs) > 0 {
			continue
		}
		if !copied {
			s.Ships, copied = slices.Clone(s.Ships), true
		}
		s.Ships[i].Arcs = arcs
	}
}

// OnTracks is On for tracked ships; the list is copied where it changes.
func (p *Printed) OnTracks(r engine.Rules, tracks []vision.Track) []vision.Track {
	if p == nil || r != engine.Rules1e {
		return tracks
	}
	tracks = slices.Clone(tracks)
	for i := range tracks {
		if k := &tracks[i]; len(k.Ship.Arcs) == 0 {
			k.Ship.Arcs = p.Arcs[k.Ship.ID]
		}
	}
	return tracks
}

// turretSector reports whether a turret may point into an arc. The camera does not see where
// one points: the arc is asked for in its place.
func turretSector(arc engine.Arc) bool {
	return arc == engine.ArcFront || arc == engine.ArcRear || arc == engine.ArcLeft || arc == engine.ArcRight
}

// Has reports whether a ship may have an arc to attack in: one of a ship whose arcs are not
// known may have any. A turret may point into each of four arcs, and the bullseye of 2.0 and
// 2.5 is inside the front arc of every token (G63).
func (p *Play) Has(id, arc string) bool {
	s := p.Ship(id)
	if s == nil || len(s.Arcs) == 0 || s.attacksIn(arc) {
		return true
	}
	parsed, err := engine.ParseArc(arc)
	if parsed == engine.ArcBullseye {
		return s.attacksIn("front") || s.attacksIn("full_front")
	}
	return err == nil && turretSector(parsed) && s.turret()
}

// attacksIn reports whether the ship data name an arc, whichever way a turret points.
func (s *PlayShip) attacksIn(arc string) bool {
	return slices.Contains(s.Arcs, arc) || arc == "turret" && s.turret()
}

// turret reports whether the ship data name a turret of 2.0 and 2.5.
func (s *PlayShip) turret() bool {
	return slices.Contains(s.Arcs, "turret") || slices.Contains(s.Arcs, "double_turret")
}

// Out says why a ship is out of the game, or of the play area, though a base may still stand
// there: "A1 is destroyed"; "": it is not.
func (p *Play) Out(id string) string {
	s := p.Ship(id)
	switch {
	case s == nil || s.Status == "" || s.Status == "on the table" || s.Stays:
		return ""
	case s.Status == "reserve":
		return id + " is in reserve"
	case s.Status == "fled":
		return id + " has fled"
	}
	return id + " is " + s.Status
}
