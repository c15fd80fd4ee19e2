package round

import (
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/move"
)

// This file decides which maneuvers a ship may fly: the colours of its dial, and SLAM.

// stressed is the maneuver that a stressed ship of the first edition executes after
// revealing a red one (G143).
var stressed = move.Maneuver{Bearing: move.Straight, Speed: 2}

// dial returns the maneuvers on a ship's dial; nil when unknown.
func (p *Piece) dial() []move.Maneuver {
	all, err := flown.ParseDial(strings.Join(p.Dial, ","))
	if err != nil {
		return nil
	}
	return all
}

// colour returns the letter of a maneuver's colour on the ship's dial: B, G, W, R or P; "" when
// the maneuver is not on it or its colour is unknown.
func (p *Piece) colour(move string) string {
	for _, entry := range p.Dial {
		m, err := flown.ParseDial(entry)
		if err == nil && len(m) == 1 && m[0].String() == move && len(entry) == 3 {
			return entry[2:]
		}
	}
	return ""
}

// mayBeStressed reports whether a ship may be stressed after a maneuver: a red one adds stress, a
// green or blue one removes it. An undecided maneuver does not count.
func (p *Piece) mayBeStressed(f *Flown) bool {
	if f.Outcome != engine.Yes.String() {
		return false
	}
	switch p.colour(f.Move) {
	case "R":
		return true
	case "W", "P":
		return p.stressed
	}
	return false
}

// speeds returns the possible speeds of the maneuver; none when nothing fits.
func (f *Flown) speeds() (all []int) {
	if f.Outcome == engine.No.String() {
		return nil
	}
	for _, name := range append([]string{f.Move}, f.Others...) {
		m, err := move.ParseManeuver(name)
		if err != nil {
			return nil // perhaps an action, and the maneuver was not seen
		}
		if !slices.Contains(all, m.Speed) {
			all = append(all, m.Speed)
		}
	}
	return all
}

// difficulty remarks on a maneuver that is not on the ship's dial or that a stressed ship may not
// execute. The table does not show whether a ship is stressed.
func (j *judgement) difficulty() {
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
	if p.colour(j.f.Move) != "R" || !p.stressed {
		return
	}
	if first {
		j.say("%s is red, and so was its maneuver before: a ship that is still stressed flies straight 2 (1e G143)", j.f.Move)
		return
	}
	j.say("%s is red, and so was its maneuver before: a ship that is still stressed may not execute it", j.f.Move)
}

// maySLAM reports whether the ship may execute a further maneuver by its SLAM action now.
func (j *judgement) maySLAM() bool {
	return j.piece != nil && j.g.Phase == Activation && j.piece.Moved && j.piece.has("slam")
}

// slamManeuvers returns the maneuvers of its dial that a ship may execute by SLAM: of the speed of
// its maneuver of this round (G144), which a further one does not change (G145).
func (p *Piece) slamManeuvers() []move.Maneuver {
	all := p.dial()
	if all == nil {
		all = flown.Every().Maneuvers
	}
	if len(p.Speeds) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(m move.Maneuver) bool { return !slices.Contains(p.Speeds, m.Speed) })
}

// checkSLAM remarks on whether a further maneuver has the speed that SLAM requires.
func (j *judgement) checkSLAM() {
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
