package draw

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// Moved is a move to draw: a ship, and one of maneuver, action and drop.
type Moved struct {
	Ship     string
	Maneuver *move.Maneuver
	Action   *move.Action
	Drop     *move.Drop
}

// moveDrawn is a move with the engine's result.
type moveDrawn struct {
	Moved
	ship   *engine.Ship
	result move.Result
}

// move computes the move to draw. It returns nil if there is none.
func (d *drawing) move() (*moveDrawn, error) {
	if d.o.Move == nil {
		return nil, nil
	}
	v := &moveDrawn{Moved: *d.o.Move}
	if v.ship = d.scene.Ship(v.Ship); v.ship == nil {
		return nil, fmt.Errorf("ship %q: %w", v.Ship, ErrNotThere)
	}
	o := engine.Options{Sigmas: d.o.Sigmas}
	var err error
	switch {
	case v.Maneuver != nil:
		v.result, err = move.Execute(d.scene, v.Ship, *v.Maneuver, o)
	case v.Action != nil:
		v.result, err = move.Reposition(d.scene, v.Ship, *v.Action, o)
	case v.Drop != nil:
		v.result, err = move.LayDrop(d.scene, v.Ship, *v.Drop, o)
	default:
		err = errors.New("move: expected a maneuver, an action or a drop")
	}
	return v, err
}

// widen makes room for the end of a move.
func (d *drawing) widen(b *box, v *moveDrawn) {
	if v.Drop != nil {
		d.widenToken(b, v.dropped())
		return
	}
	w, l := d.profile.Size(v.ship.Base)
	r := math.Hypot(float64(w), float64(l)) / 2
	b.add(v.result.Full.Point, r)
	for _, o := range v.result.Options {
		b.add(o.Final.Point, r)
		if o.Range {
			b.add(o.FinalTo.Point, r)
		}
	}
	for _, p := range v.result.Template {
		b.add(p, 0)
	}
}

// under draws the part of a move below the ships: the template.
func (d *drawing) under(v *moveDrawn) {
	if len(v.result.Template) > 0 {
		d.path("template", d.polygon(v.result.Template...))
	}
	g := v.result.Template // up one side and down the other: vertex i faces vertex j
	for i, j := 0, len(g)-1; i+1 < j; i, j = i+1, j-1 {
		d.take(g[i], g[i+1], g[j], g[j-1])
	}
}

// over draws the part of a move above the ships: its end, or its possible ends.
func (d *drawing) over(v *moveDrawn) {
	r := &v.result
	switch {
	case v.Drop != nil:
		d.token("device", v.dropped())
	case r.Chosen || v.Action != nil:
		d.options(v)
	default:
		if !r.FullyExecuted {
			d.ghost("ghost", v.ship, r.Full)
		}
		d.ghost("final", v.ship, r.Final)
		w, _ := d.profile.Size(v.ship.Base)
		d.text("id", idSize(float64(w)/2, d.unit), r.Final.Point, name(v.Ship))
	}
	d.lines = append(d.lines, v.sentence()...)
}

// options draws the ends from which a player may choose, the illegal ones first, below the others.
// It draws a slide as the area that the base covers.
func (d *drawing) options(v *moveDrawn) {
	all := v.result.Options
	for _, legal := range [...]engine.Outcome{engine.No, engine.NoView, engine.Indeterminate, engine.Yes} {
		for i := range all {
			o := &all[i]
			if o.Legal != legal {
				continue
			}
			if o.Range {
				d.slide(v, o)
			} else {
				d.ghost(optionClass(o), v.ship, o.Final)
			}
		}
	}
	if len(all) < 2 || all[0].Range {
		return
	}
	for i := range all {
		o := &all[i]
		// Next to the end of the base that the other options do not cover.
		words := o.Name + ": " + legality(o.Legal)
		q := d.corners(v.ship.Base, o.Final)
		l := d.labelBox(1.8, geom.Point{}, words)
		var places []geom.Point
		front := o.Final.Transform(geom.Point{Y: q[0].Sub(q[3]).Norm() / 2})
		half := q[0].Sub(q[1]).Norm() / 2
		for _, side := range [...]float64{1, -1} {
			at := front.Add(o.Final.Right().Mul(side * half))
			off := geom.Point{X: math.Copysign(l.x1+0.6*d.unit, side*o.Final.Right().X), Y: math.Copysign(l.y1, -o.Final.Forward().Y)}
			if math.Abs(o.Final.Right().X) < 0.3 {
				off = geom.Point{X: math.Copysign(l.x1+0.3*d.unit, -o.Final.Forward().X), Y: math.Copysign(l.y1+0.6*d.unit, side*o.Final.Right().Y)}
			}
			places = append(places, at.Add(off))
		}
		d.label("choice "+optionClass(o), 1.8, words, places...)
	}
}

// slide draws the area that a base covers on a slide, and its two ends if they are legal.
func (d *drawing) slide(v *moveDrawn, o *move.Option) {
	from, to := d.corners(v.ship.Base, o.Final), d.corners(v.ship.Base, o.FinalTo)
	// The base slides along its own length: the front of the one end to the back of the other.
	d.path("sweep "+optionClass(o), d.polygon(to[0], to[1], from[2], from[3]))
	if o.Legal == engine.Yes {
		d.ghost(optionClass(o), v.ship, o.Final)
		d.ghost(optionClass(o), v.ship, o.FinalTo)
	}
}

// dropped returns the device that a drop places.
func (v *moveDrawn) dropped() *engine.Token {
	kind := v.Drop.Device
	if kind == "" {
		kind = "bomb"
	}
	return &engine.Token{ID: kind, Kind: kind, Player: v.ship.Player, Pose: v.result.Full}
}

// legality describes whether an end is legal.
func legality(o engine.Outcome) string {
	switch o {
	case engine.Yes:
		return "legal"
	case engine.No:
		return "not legal"
	}
	return words(o.String())
}

func optionClass(o *move.Option) string {
	switch o.Legal {
	case engine.No:
		return "illegal"
	case engine.Yes:
		return "option"
	}
	return "doubtful"
}

// ghost draws a base at a place where the ship would be.
func (d *drawing) ghost(class string, s *engine.Ship, at geom.Pose) {
	_, length := d.profile.Size(s.Base)
	l := float64(length) / 2
	d.turned(at, class)
	d.base(s.Base, "base")
	d.printf(`<path class="nose" d="M0 %sl%s %sh%sz"/>`+"\n", number(-l+1.5), number(0.22*l), number(0.3*l), number(-0.44*l))
	d.close()
}

// sentence describes the result of the move.
func (v *moveDrawn) sentence() []string {
	r := &v.result
	line := fmt.Sprintf("%s: %s", name(v.Ship), r.Maneuver)
	if v.Maneuver != nil && !r.Chosen {
		switch r.InFull {
		case engine.No:
			line += ", not fully executed"
		case engine.Indeterminate:
			line += ", too close to call whether fully executed"
		}
	}
	list := func(what string, ids []string) {
		if len(ids) > 0 {
			short := make([]string, len(ids))
			for i := range ids {
				short[i] = name(ids[i])
			}
			line += "; " + what + " " + strings.Join(short, ", ")
		}
	}
	list("overlaps", r.FirstOverlapped)
	list("ends touching", r.Touching)
	list("moves through", r.MovedThrough)
	for _, h := range r.Obstacles {
		line += fmt.Sprintf("; %s: template %s, base %s", name(h.ID), words(h.Template.String()), words(h.Base.String()))
	}
	if r.Flees == engine.Yes {
		line += "; flees"
	}
	lines := []string{line}
	for _, o := range r.Options {
		l := o.Name
		if o.Range {
			l += fmt.Sprintf(" %.1f to %.1f mm", float64(o.From), float64(o.To))
		}
		l += ": " + legality(o.Legal)
		if o.Why != "" {
			l += " (" + name(o.Why) + ")"
		}
		lines = append(lines, l)
	}
	return lines
}
