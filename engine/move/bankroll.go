package move

import (
	"errors"
	"fmt"
	"math"

	"sightline/engine"
	"sightline/engine/geom"
)

// This file rolls ships along a bank template, which some pilots' cards allow
// instead of a straight one (G92): the ship ends turned by 45°.
//
//	      ^ final heading
//	     /
//	   ship       the template's end lies against the ship's near side
//	     \__
//	        \ template, here to the left and bending forward
//	  .------+
//	  | start|

// ErrBankRoll is the error for a roll along a bank template by a base that is not
// small: all ships that may do so are small, and no source says how to lay the
// template against a larger base.
var ErrBankRoll = errors.New("rolls along a bank template are known of small bases only")

// bankRollPlaces are the places of the template along the ship's side for which
// the legal slides of the first edition are listed. If none has one, places
// bankRollStep apart are tried.
const (
	bankRollPlaces = 9
	bankRollStep   = 0.1 // mm
)

// bankRoll moves sideways along a bank template. In 2.0 and 2.5 the template lies
// at the hashmark of the ship's side (G150), and the hashmark of the other side
// ends at the front, the middle or the back of the template's end (G151). In the
// first edition both may slide as far as the template's ends stay within the
// ship's sides (G147), so that the ends fill an area.
func (m *mover) bankRoll(a Action) {
	b := newBankRoll(m, a)
	middle := b.roll(0)
	m.result.Full, m.result.Chosen = middle.turnedAt(0), true
	m.result.Template = b.outline(0)
	best := engine.No
	if m.scene.Rules == engine.Rules1e {
		best = m.bankSlides(&b)
	} else {
		for i, name := range [...]string{"forward", "middle", "backward"} {
			best = best.Or(m.option(name, middle.turnedAt(float64(slideStep)*float64(1-i)), middle.area, true))
		}
	}
	m.result.FullyExecuted, m.result.InFull = best == engine.Yes, best
	m.rollMeets(middle.area, m.result.Full)
}

// bankRoll is a bank template laid to the side of a ship.
type bankRoll struct {
	m    *mover
	line centreLine
	side float64 // 1: to the right
	half float64 // 1e: how far the template's ends slide from the middle of the ship's sides
}

func newBankRoll(m *mover, a Action) bankRoll {
	speed := 1
	if a.Kind == Decloak {
		speed = m.decloakSpeed()
	}
	b := bankRoll{m: m, side: 1, half: math.Max(0, m.l/2-float64(templateHalf))}
	if a.To == ToLeft {
		b.side = -1
	}
	// Seen along the template, the ship's front is to the left of one that leads to
	// the right.
	t := Template{Kind: TemplateBank, Speed: speed, Left: (a.To == ToRight) == (a.Bend == BendForward)}
	b.line = t.line(&m.profile)
	return b
}

// frame returns the template's start at the slide a along the ship's side.
func (b *bankRoll) frame(a float64) geom.Pose {
	p := b.m.ship.Pose
	return geom.Pose{Point: p.Transform(geom.Point{X: b.side * b.m.w / 2, Y: a}), Heading: p.Heading + geom.Angle(b.side*math.Pi/2)}
}

// roll returns the choice of ends with the template at the slide a.
func (b *bankRoll) roll(a float64) *roll {
	f := b.frame(a)
	area := newSweptArea(b.line, f, b.line.length, b.m.l)
	end, h := b.line.at(b.line.length)
	h += float64(f.Heading)
	sin, cos := math.Sincos(h)
	at := geom.Pose{
		Point:   f.Transform(end).Add(geom.Point{X: sin, Y: cos}.Mul(b.m.w / 2)),
		Heading: (geom.Angle(h) - geom.Angle(b.side*math.Pi/2)).Normalized(),
	}
	return &roll{reposition: true, half: b.half, area: &area, turnedAt: func(x float64) geom.Pose {
		return geom.Pose{Point: at.Transform(geom.Point{Y: x}), Heading: at.Heading}
	}}
}

// outline returns the template's outline on the table.
func (b *bankRoll) outline(a float64) []geom.Point { return templateOutline(b.line, b.frame(a)) }

// bankSlides lists the legal slides of a first-edition roll for some places of the
// template. If none of these has one, it tries places a tenth of a millimetre
// apart. If none of those has one either, there is none: with all obstructions
// smaller by half that step, what is free at some place is free at the nearest place
// tried. A gap narrower than that is too close to call.
func (m *mover) bankSlides(b *bankRoll) engine.Outcome {
	best := engine.No
	for i := range bankRollPlaces {
		best = best.Or(m.bankSlide(b, b.half*(2*float64(i)/(bankRollPlaces-1)-1)))
	}
	steps := int(math.Ceil(2 * b.half / bankRollStep))
	for i := 0; best == engine.No && i <= steps; i++ {
		a := b.half * (2*float64(i)/math.Max(1, float64(steps)) - 1)
		if _, legal := m.slide(b.roll(a)); legal != engine.No {
			best = m.bankSlide(b, a)
		}
	}
	for i := 0; best == engine.No && i <= steps; i++ {
		r := b.roll(b.half * (2*float64(i)/math.Max(1, float64(steps)) - 1))
		r.shrink = bankRollStep / 2
		if _, legal := m.slide(r); legal != engine.No {
			best = engine.Indeterminate
		}
	}
	m.slideMargin(best)
	return best
}

// bankSlide lists the slides at one place of the template.
func (m *mover) bankSlide(b *bankRoll, a float64) engine.Outcome {
	options, legal := m.slide(b.roll(a))
	for i := range options {
		options[i].Name = fmt.Sprintf("template at %+.1f mm, slide", a)
	}
	m.result.Options = append(m.result.Options, options...)
	return legal
}

// stillTemplate returns the whole slide as forbidden if a template that does not
// slide lies over an obstacle.
func (m *mover) stillTemplate(r *roll, grow float64) []blockedRun {
	var all []blockedRun
	for i := range m.things {
		t := &m.things[i]
		if !t.obstacle || m.pulled {
			continue
		}
		over := m.ofParts(t, func(g geom.Polygon) margin { return m.underThing(r.area, t, g) })
		if over.gap < grow*over.slack-r.shrink-geom.Tie {
			all = append(all, blockedRun{interval{math.Inf(-1), math.Inf(1)}, "has the template over " + t.id})
		}
	}
	return all
}
