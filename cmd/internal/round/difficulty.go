package round

import (
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/move"
)

// This file is about which maneuver a ship may fly: the colours of its dial, and SLAM.

// stressed is what a stressed ship of the first edition flies that revealed a red maneuver
// (G143).
var stressed = move.Maneuver{Bearing: move.Straight, Speed: 2}

// dial returns the maneuvers on a ship's dial; nil: they are not known.
func (p *Piece) dial() []move.Maneuver {
	all, err := flown.ParseDial(strings.Join(p.Dial, ","))
	if err != nil {
		return nil
	}
	return all
}

// colour returns the letter of a maneuver's colour on the ship's dial, B G W R or P; "" where
// it is not on it, or the dial does not say.
func (p *Piece) colour(move string) string {
	for _, entry := range p.Dial {
		m, err := flown.ParseDial(entry)
		if err == nil && len(m) == 1 && m[0].String() == move && len(entry) == 3 {
			return entry[2:]
		}
	}
	return ""
}

// strained reports whether a ship may be stressed after a maneuver: a red one stresses it, a
// green or blue one takes a stress off. What cannot be told says nothing.
func (p *Piece) strained(f *Flown) bool {
	if f.Outcome != engine.Yes.String() {
		return false
	}
	switch p.colour(f.Move) {
	case "R":
		return true
	case "W", "P":
		return p.strain
	}
	return false
}

// speeds lists the speeds that what was flown may have; none: nothing fits.
func (f *Flown) speeds() (all []int) {
	if f.Outcome == engine.No.String() {
		return nil
	}
	for _, name := range append([]string{f.Move}, f.Others...) {
		m, err := move.ParseManeuver(name)
		if err != nil {
			return nil // perhaps an action: then its maneuver was not seen
		}
		if !slices.Contains(all, m.Speed) {
			all = append(all, m.Speed)
		}
	}
	return all
}

// difficulty says that a maneuver is not on the ship's dial, and what a stressed ship may not
// fly. Whether a ship is stressed no table shows.
func (j *judging) difficulty() {
	p, first := j.piece, j.g.Rules == engine.Rules1e
	if j.f.Outcome != engine.Yes.String() {
		return
	}
	m, err := move.ParseManeuver(j.f.Move)
	if dial := p.dial(); err == nil && dial != nil && !slices.Contains(dial, m) {
		if first && m == stressed {
			j.say("straight 2 is not on its dial; a stressed ship that revealed a red maneuver flies it (1e G143)")
			return
		}
		j.say("%s is not on its dial", j.f.Move)
		return
	}
	if p.colour(j.f.Move) != "R" || !p.strain {
		return
	}
	if first {
		j.say("%s is red, and so was its maneuver before: a ship that is still stressed flies straight 2 (1e G143)", j.f.Move)
		return
	}
	j.say("%s is red, and so was its maneuver before: a ship that is still stressed may not execute it", j.f.Move)
}

// slams reports whether the ship may fly a further maneuver by its SLAM action now.
func (j *judging) slams() bool {
	return j.piece != nil && j.g.Phase == Activation && j.piece.Moved && j.piece.has("slam")
}

// slam returns the maneuvers of its dial that a ship may fly by SLAM: of the speed of its
// maneuver of this round (G144), which a further one does not change (G145).
func (p *Piece) slam() []move.Maneuver {
	all := p.dial()
	if all == nil {
		all = flown.Every().Maneuvers
	}
	if len(p.Speeds) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(m move.Maneuver) bool { return !slices.Contains(p.Speeds, m.Speed) })
}

// slammed says whether a further maneuver has the speed that SLAM asks for.
func (j *judging) slammed() {
	rule := j.g.Rules.String() + " G144"
	if j.g.Rules == engine.Rules1e {
		rule = "1e G145"
	}
	want, is := j.piece.Speeds, j.f.speeds()
	match := func(n int) bool { return slices.Contains(want, n) }
	switch {
	case len(want) == 0:
		j.say("SLAM: which speed its maneuver had is not known (%s)", rule)
	case len(is) == 0 || !slices.ContainsFunc(is, match):
		j.say("SLAM flies the speed of its maneuver of this round, %s (%s)", numbersText(want), rule)
	case len(want) > 1 || slices.ContainsFunc(is, func(n int) bool { return !match(n) }):
		j.say("SLAM: too close to call whether it has the speed of its maneuver, %s (%s)", numbersText(want), rule)
	default:
		j.say("SLAM, at the speed of its maneuver (%s)", rule)
	}
}
