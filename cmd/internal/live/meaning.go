package live

import (
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// Weapon is what a ship attacks with.
type Weapon struct {
	Special  bool // a secondary weapon of the first edition, a special one of 2.0 and 2.5
	From, To int  // the ranges on its card (G69, G70)
	NoBonus  bool // its card has the missile symbol: the range changes no dice
}

// Primary returns a primary weapon: range 1 to 3, in 2.5 from 0.
func Primary(r engine.Rules) Weapon {
	if r == engine.Rules25 {
		return Weapon{From: 0, To: 3}
	}
	return Weapon{From: 1, To: 3}
}

// bonus reports whether range 1 and range 3 change the dice (G67, G68); in the first edition
// they do so for primary weapons only.
func (w Weapon) bonus(r engine.Rules) bool { return !w.NoBonus && (!w.Special || r != engine.Rules1e) }

// Meaning is what an answer means for an attack or a lock.
type Meaning struct {
	Outcome engine.Outcome // whether it can attack
	Text    string         // "A1 (Wedge Antilles) can attack B1 at range 1: one more attack die."
}

// Meaning returns what the answer means for an attack with the primary weapon, or for a
// declared lock. Its text is empty without an answer, and where arcs are not measured and no
// lock is declared.
func (s *State) Meaning() Meaning {
	switch {
	case s.Pair == nil:
		return Meaning{Outcome: engine.NoView}
	case s.rangeOnly() && s.Policy.locks(s.Choice.From):
		return s.lockMeaning()
	case s.rangeOnly():
		return Meaning{Outcome: engine.NoView}
	}
	return s.MeaningOf(s.Pair, s.Choice.Arc, Primary(s.Located.Scene.Rules))
}

// lockMeaning returns what the range means for the declared lock (G77, G78). In the first
// edition the target is declared too, and a lock in range must be acquired (G84).
func (s *State) lockMeaning() Meaning {
	from, to, first := s.Play.Named(s.Choice.From), s.Choice.To, s.Located.Scene.Rules == engine.Rules1e
	if no := s.Restricted("lock"); no != nil && no.certain() {
		return Meaning{engine.No, "No lock: " + strings.TrimPrefix(no.Text, "no lock: ") + "."}
	}
	least := 0
	if first {
		least = 1
	}
	m := Meaning{Outcome: s.Pair.At(least, 3)}
	where := "is " + sentence.Lower(RangeTitle(s.Pair.Range))
	switch {
	case m.Outcome == engine.NoView:
		m.Text = fmt.Sprintf("Not known: the camera does not see enough of %s and %s.", s.Choice.From, to)
	case m.Outcome == engine.Yes && first:
		m.Text = fmt.Sprintf("%s must acquire the lock on %s, which is in range (1e G84).", from, to)
	case m.Outcome == engine.Yes:
		m.Text = fmt.Sprintf("%s can lock %s.", from, to)
	case m.Outcome == engine.No && first:
		m.Text = fmt.Sprintf("No lock: %s %s. Another target or another action may be declared.", to, where)
	case m.Outcome == engine.No:
		m.Text = fmt.Sprintf("No lock: %s %s.", to, where)
	case first:
		m.Text = fmt.Sprintf("Whether %s is in range is too close to call: in range, %s must acquire the lock (1e G84); beyond it, another "+
			"target or another action may be declared.", to, from)
	default:
		m.Text = fmt.Sprintf("Whether %s can lock %s is too close to call.", from, to)
	}
	if no := s.Restricted("lock"); no != nil && m.Outcome == engine.Yes {
		m.Outcome, m.Text = engine.Indeterminate, strings.TrimSuffix(m.Text, ".")+"; "+no.Text+"."
	}
	return m
}

// MeaningOf returns what a pair's verdict means for an attack with a weapon in an arc. The
// caller must have checked that the agreement permits the answer.
func (s *State) MeaningOf(p *engine.PairVerdict, arc engine.Arc, w Weapon) Meaning {
	m := shot{s: s, p: p, w: w, rules: s.Located.Scene.Rules, arc: arcName(arc)}
	for _, id := range []string{p.From, p.To} {
		if why := s.game().OutOfPlay(id); why != "" {
			return m.noShot("%s", why)
		}
	}
	own := s.game().Ship(p.From)
	known := own != nil && len(own.Arcs) > 0 && !w.Special
	switch {
	case known && m.rules == engine.Rules1e && arc == engine.ArcFront && own.attacksIn("primary_turret"): // G7, G8
		arc = engine.ArcPrimaryTurret
	case known && m.rules != engine.Rules1e && arc == engine.ArcBullseye && !own.attacksIn("bullseye"):
		return m.bullseye(own)
	case known && !s.game().HasArc(p.From, arc.String()):
		return m.noShot("by the ship data %s has no primary weapon in the %s arc", p.From, m.arc)
	case known && m.rules != engine.Rules1e && turretSector(arc) && !own.attacksIn(arc.String()):
		m.turned = true
	}
	if m.a = p.Arc(arc); m.a == nil {
		return m.unmeasured(arc)
	}
	if no, ok := m.ruledOut(); ok {
		return no
	}
	return m.possible()
}

// unmeasured is the meaning of an arc that has no verdict.
func (m *shot) unmeasured(arc engine.Arc) Meaning {
	switch arc {
	case engine.ArcTurret, engine.ArcDoubleTurret, engine.ArcMobile:
		return Meaning{engine.NoView, fmt.Sprintf("Not known: no table shows where the turret of %s points. Choose the arc that it points to.",
			m.p.From)}
	}
	return Meaning{engine.NoView, fmt.Sprintf("Not known: the %s arc of %s was not measured.", m.arc, m.p.From)}
}

// bullseye is the meaning of the bullseye arc of a ship whose primary weapon fires in the
// front arc: the attack is measured in the front arc.
func (m *shot) bullseye(own *PlayShip) Meaning {
	front := engine.ArcFront
	if !own.attacksIn("front") {
		front = engine.ArcFullFront
	}
	where := "in"
	switch v := m.p.Arc(engine.ArcBullseye); {
	case !own.attacksIn(front.String()):
		return m.noShot("by the ship data %s has no primary weapon in the bullseye arc", m.p.From)
	case v == nil:
		return m.unmeasured(engine.ArcBullseye)
	case v.InArc == engine.No:
		where = "outside"
	case v.InArc == engine.Indeterminate:
		where = "perhaps in"
	case v.InArc == engine.NoView:
		return Meaning{engine.NoView, fmt.Sprintf("Not known: the camera does not see enough of %s and %s.", m.p.From, m.p.To)}
	}
	out := m.s.MeaningOf(m.p, front, m.w)
	out.Text = fmt.Sprintf("%s is %s the bullseye arc. In the %s arc: %s", m.p.To, where, arcName(front), out.Text)
	return out
}

// shot is one question about an attack.
type shot struct {
	s        *State
	p        *engine.PairVerdict
	a        *engine.ArcVerdict
	w        Weapon
	rules    engine.Rules
	arc      string
	bands    []int // ranges at which it can attack
	mayBeOut bool  // the target may also be at another range

	turned bool // if its turret points to the arc
}

func (m *shot) noShot(format string, a ...any) Meaning {
	return Meaning{engine.No, "No shot: " + fmt.Sprintf(format, a...) + "."}
}

// ruledOut returns why there is surely no attack, or that nothing is seen; ok is false when an
// attack is possible.
func (m *shot) ruledOut() (Meaning, bool) {
	scene := &m.s.Located.Scene
	from, to := scene.Ship(m.p.From), scene.Ship(m.p.To)
	auxiliary := m.a.Arc == engine.ArcRearAux || m.a.Arc == engine.ArcFullFront180
	switch {
	case from != nil && to != nil && !enemies(from, to):
		return m.noShot("%s is a friendly ship", m.p.To), true
	case m.w.Special && m.rules == engine.Rules1e && auxiliary: // G48, G49
		return m.noShot("secondary weapons do not fire in the %s arc", m.arc), true
	case m.a.InArc == engine.No:
		return m.noShot("%s is outside the %s arc", m.p.To, m.arc), true
	}
	all := m.attackBands()
	if len(all) == 0 || m.a.InArc == engine.NoView {
		return Meaning{engine.NoView, fmt.Sprintf("Not known: the camera does not see enough of %s and %s.", m.p.From, m.p.To)}, true
	}
	for _, b := range all {
		if b >= m.w.From && b <= m.w.To || m.huge() && b <= hugeReach {
			m.bands = append(m.bands, b)
		} else {
			m.mayBeOut = true
		}
	}
	if len(m.bands) == 0 {
		return m.outOfRange(all), true
	}
	if no := m.s.RestrictedFrom("attack", m.p.From, m.p.To); no != nil && no.certain() {
		return m.noShot("%s", strings.TrimPrefix(no.Text, "no attack: ")), true
	}
	return Meaning{}, false
}

// hugeReach is the last band of the range ruler for huge ships.
const hugeReach = 5

// huge reports whether a huge ship attacks with its primary weapon, whose ranges are on its
// card.
func (m *shot) huge() bool {
	from := m.s.Located.Scene.Ship(m.p.From)
	return from != nil && !m.w.Special && (from.Base == engine.Huge195 || from.Base == engine.Huge225)
}

// attackBands returns the possible ranges in the arc; none: it was not measured.
func (m *shot) attackBands() []int {
	switch at := m.a.Attack; {
	case at == nil:
		return nil
	case at.Outcome == engine.Yes:
		return []int{at.Band}
	case at.Outcome == engine.Indeterminate:
		return at.Possible
	}
	return nil
}

func (m *shot) outOfRange(bands []int) Meaning {
	names := "at range " + strings.Join(bandNames(bands), " or ")
	if slices.Min(bands) > 3 {
		names = "beyond range 3"
	}
	if m.huge() {
		return m.noShot("%s is beyond range %d", m.p.To, hugeReach)
	}
	if m.w.From > 1 || m.w.To < 3 {
		return m.noShot("%s is %s, and the weapon's ranges are %s", m.p.To, names, rangesText(m.w.From, m.w.To))
	}
	return m.noShot("%s is %s", m.p.To, strings.Replace(names, "at range contact", "at range 0", 1))
}

func rangesText(from, to int) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d–%d", from, to)
}

// possible is the meaning of an attack that is, or may be, possible: at which range and with
// which dice.
func (m *shot) possible() Meaning {
	verb, out := "can attack", engine.Yes
	var doubts []string
	if m.a.InArc == engine.Indeterminate {
		doubts = append(doubts, fmt.Sprintf("whether %s is in the %s arc is too close to call", m.p.To, m.arc))
	}
	if m.mayBeOut {
		doubts = append(doubts, "whether it is in range is too close to call")
	}
	if no := m.s.RestrictedFrom("attack", m.p.From, m.p.To); no != nil {
		doubts = append(doubts, no.Text)
	}
	if m.huge() {
		doubts = append(doubts, "the card of a huge ship says at which ranges it attacks, and which dice the range changes")
	}
	if len(doubts) > 0 {
		verb, out = "can perhaps attack", engine.Indeterminate
	}
	text := fmt.Sprintf("%s %s %s at range %s", m.s.Play.Named(m.p.From), verb, m.p.To, bandsText(m.bands))
	if m.turned {
		text += fmt.Sprintf(", if its turret points to the %s arc", m.arc)
	}
	if d := append(m.dice(), m.defence()...); len(d) > 0 {
		text += ": " + strings.Join(d, ", ")
	}
	for _, d := range doubts {
		text += "; " + d
	}
	return Meaning{out, sentence.Upper(text) + "."}
}

func bandsText(bands []int) string {
	var out []string
	for _, b := range bands {
		out = append(out, fmt.Sprint(b))
	}
	return strings.Join(out, " or ")
}

// at names a range where several are possible: " at range 3"; else "".
func (m *shot) at(band int) string {
	if len(m.bands) == 1 {
		return ""
	}
	return fmt.Sprintf(" at range %d", band)
}

// dice says how the range changes the attack dice (G67, G68, G71).
func (m *shot) dice() (out []string) {
	for _, b := range m.bands {
		switch {
		case b == 1 && m.w.bonus(m.rules) && !m.huge():
			out = append(out, "one more attack die"+m.at(b))
		case b == 0 && m.rules == engine.Rules25 && !m.w.Special:
			out = append(out, "no attack dice can be added"+m.at(b))
		}
	}
	return out
}

// defence says how range and obstruction change the defence dice (G67, G68, G72).
func (m *shot) defence() (out []string) {
	far := slices.Contains(m.bands, 3) && m.w.bonus(m.rules) && !m.huge()
	word, obstacles := "", ""
	if o := &m.a.Attack.Obstruction; m.s.ObstaclesWatched && !m.s.Located.Scene.ObstaclesUnseen {
		word, obstacles = o.Verdict, ObstructionText(o)
	} else {
		obstacles = m.s.UnwatchedText()
	}
	switch {
	case word == "must" && far && len(m.bands) == 1:
		out = append(out, "two more defence dice ("+obstacles+")")
	case word == "must":
		out = append(out, "one more defence die ("+obstacles+")")
		if far {
			out = append(out, "another"+m.at(3))
		}
	case far:
		out = append(out, "one more defence die"+m.at(3))
	}
	switch r := &m.p.Range; {
	case m.rules != engine.Rules25:
	case r.Outcome == engine.Yes && r.Band == 0:
		out = append(out, "defence dice are not reduced at range 0")
	case r.Outcome == engine.Indeterminate && slices.Contains(r.Possible, 0):
		out = append(out, "defence dice are not reduced if it is at range 0")
	}
	if word == "may" || word == "too_close" || word == "no_view" || word == "" {
		out = append(out, obstacles)
	}
	return out
}
