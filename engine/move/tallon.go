package move

import (
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// slideStep is how far the hashmark of a base moves between the places left,
// middle and right of a template's end: to its corner (G132, G151).
const slideStep = templateHalf

// tallon executes a Tallon roll: a turn, and the base set on the template's end
// by its side, turned a further 90° the same way (G130). If none of the places that
// the player may choose is free, the ship does not turn these 90° (G133, G136).
func (m *mover) tallon(a Maneuver) {
	c := m.newPath(a.template(), false)
	c.flip = geom.Angle(c.line.side) * math.Pi / 2
	turned := func(x float64) geom.Pose {
		d := c
		d.slide = x
		return d.full()
	}
	m.result.Full = turned(0)
	half := float64(slideStep)
	if m.scene.Rules == engine.Rules1e { // the template's end stays within the base's side (G131)
		half = math.Max(0, m.l/2-float64(templateHalf))
	}
	places := map[Slide]float64{SlideLeft: -half, SlideMiddle: 0, SlideRight: half}
	if a.Slide != SlideUnchosen {
		c.slide = places[a.Slide]
		m.result.Full = turned(c.slide)
		if !m.mustAvoid(m.result.Full, &roll{turnedAt: turned, half: half}) {
			m.finish(&c, stop{c.full(), c.line.length}, m.overlapsAt(m.result.Full, true))
			return
		}
		c.slide, m.result.Full = 0, turned(0)
	}
	r := &roll{turnedAt: turned}
	area := c.swept(c.line.length)
	best := engine.No
	if m.scene.Rules == engine.Rules1e {
		r.half = half
		best = m.slides(r)
	} else {
		for s := SlideLeft; s <= SlideRight; s++ {
			best = best.Or(m.option(slideNames[s], turned(places[s]), &area, false))
		}
	}
	if best != engine.No {
		m.result.Chosen, m.result.FullyExecuted, m.result.InFull = true, best == engine.Yes, best
		if best == engine.Indeterminate {
			m.doubt("whether any place is free")
		}
		m.end(&c, []stop{{m.result.Full, c.line.length}}, settled{}, false, engine.No)
		return
	}
	// No place is free: the overlap at the middle one is what the ship meets.
	m.finish(&c, stop{c.full(), c.line.length}, m.overlapsAt(m.result.Full, true))
	m.result.FullyExecuted, m.result.InFull = false, engine.No
}

// mustAvoid reports whether another ship is or may be in the way of a Tallon roll's chosen place while another place
// is or may be free. In the first edition the ship then has to avoid the overlap: the player chooses again (G133).
func (m *mover) mustAvoid(place geom.Pose, r *roll) bool {
	if m.scene.Rules != engine.Rules1e {
		return false
	}
	hit := m.overlapsAt(place, false)
	if hit == engine.No {
		return false
	}
	_, best := m.slide(r)
	return best == engine.Yes || best == engine.Indeterminate && hit == engine.Yes
}
