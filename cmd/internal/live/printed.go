package live

import (
	"slices"

	"sightline/engine"
	"sightline/vision"
)

// Printed holds the arcs that the tokens of a first edition game show in addition to the front
// arc (G47, G50): the camera does not read them. Nil knows none.
type Printed struct {
	Arcs map[string][]string // names of package engine, by ship
}

// printable are the arcs of the first edition that do not depend on where a turret points.
var printable = []string{engine.ArcRearAux.String(), engine.ArcFullFront180.String(), engine.ArcPrimaryTurret.String(),
	engine.ArcFront90.String(), engine.ArcFront106.String(), engine.ArcFront136.String()}

// NewPrinted returns the printed arcs of a game's ships; nil: none.
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

// Apply sets the arcs of those ships of a first edition scene that have none. It copies the
// list of ships if it changes it.
func (p *Printed) Apply(s *engine.Scene) {
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

// ApplyToTracks is like Apply, for tracked ships.
func (p *Printed) ApplyToTracks(r engine.Rules, tracks []vision.Track) []vision.Track {
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

// turretSector reports whether a turret may point into an arc. The camera does not see where a
// turret points, so players ask for the arc.
func turretSector(arc engine.Arc) bool {
	return arc == engine.ArcFront || arc == engine.ArcRear || arc == engine.ArcLeft || arc == engine.ArcRight
}

// HasArc reports whether a ship may attack in an arc. A ship whose arcs are not known may have
// any. A turret may point into each of four arcs, and the bullseye of 2.0 and 2.5 lies inside
// the front arc of every token (G63).
func (p *Play) HasArc(id, arc string) bool {
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

// attacksIn reports whether the ship data name an arc.
func (s *PlayShip) attacksIn(arc string) bool {
	return slices.Contains(s.Arcs, arc) || arc == "turret" && s.turret()
}

// turret reports whether the ship data name a turret of 2.0 and 2.5.
func (s *PlayShip) turret() bool {
	return slices.Contains(s.Arcs, "turret") || slices.Contains(s.Arcs, "double_turret")
}
