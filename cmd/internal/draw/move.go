package draw

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
)

// Moved is a move to show: a ship and one of the three.
type Moved struct {
	Ship     string
	Maneuver *engine.Maneuver
	Action   *engine.Action
	Drop     *engine.Drop
}

// moveDrawn is a move with what the engine says of it.
type moveDrawn struct {
	Moved
	ship   *engine.Ship
	result engine.MoveResult
}

// move asks the engine about the move that is to be drawn; nil when there is none.
func (d *drawing) move() (*moveDrawn, error) {
	if d.o.Move == nil {
		return nil, nil
	}
	v := &moveDrawn{Moved: *d.o.Move}
	if v.ship = d.find(v.Ship); v.ship == nil {
		return nil, fmt.Errorf("ship %q: %w", v.Ship, ErrNotThere)
	}
	o := engine.Options{Sigmas: d.o.Sigmas}
	var err error
	switch {
	case v.Maneuver != nil:
		v.result, err = engine.Move(d.scene, v.Ship, *v.Maneuver, o)
	case v.Action != nil:
		v.result, err = engine.Reposition(d.scene, v.Ship, *v.Action, o)
	case v.Drop != nil:
		v.result, err = engine.LayDrop(d.scene, v.Ship, *v.Drop, o)
	default:
		err = errors.New("move: expected a maneuver, an action or a drop")
	}
	return v, err
}

// widen makes room for where a move ends.
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

// under draws what of a move lies below the ships: the template.
func (d *drawing) under(v *moveDrawn) {
	if len(v.result.Template) > 0 {
		d.path("template", d.polygon(v.result.Template...))
	}
}

// over draws what of a move lies on the ships: where it ends, or may end.
func (d *drawing) over(v *moveDrawn) {
	r := &v.result
	switch {
	case v.Drop != nil:
		d.token("device", v.dropped())
	case r.Chosen || v.Action != nil:
		for _, o := range r.Options {
			d.ghost(optionClass(o), v.ship, o.Final)
			if o.Range {
				d.ghost(optionClass(o), v.ship, o.FinalTo)
			}
		}
	default:
		if !r.FullyExecuted {
			d.ghost("ghost", v.ship, r.Full)
		}
		d.ghost("final", v.ship, r.Final)
	}
	d.lines = append(d.lines, v.sentence()...)
}

// dropped returns the device that a drop lays.
func (v *moveDrawn) dropped() *engine.Token {
	kind := v.Drop.Device
	if kind == "" {
		kind = "bomb"
	}
	return &engine.Token{ID: kind, Kind: kind, Player: v.ship.Player, Pose: v.result.Full}
}

func optionClass(o engine.MoveOption) string {
	if o.Legal == engine.No {
		return "illegal"
	}
	return "option"
}

// ghost draws a base where a ship is not, but would be.
func (d *drawing) ghost(class string, s *engine.Ship, at geom.Pose) {
	_, length := d.profile.Size(s.Base)
	l := float64(length) / 2
	d.turned(at, class)
	d.base(s.Base, "base")
	d.printf(`<path class="nose" d="M0 %sl%s %sh%sz"/>`+"\n", number(-l+1.5), number(0.22*l), number(0.3*l), number(-0.44*l))
	d.close()
}

// sentence says in words what the move comes to.
func (v *moveDrawn) sentence() []string {
	r := &v.result
	line := fmt.Sprintf("%s: %s", name(v.Ship), r.Maneuver)
	if v.Maneuver != nil && !r.Chosen && !r.FullyExecuted {
		line += ", not fully executed"
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
		l := fmt.Sprintf("%s: %s", o.Name, words(o.Legal.String()))
		if o.Why != "" {
			l += " (" + name(o.Why) + ")"
		}
		lines = append(lines, l)
	}
	return lines
}
