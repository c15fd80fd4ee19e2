package live

import (
	"strings"

	"sightline/engine"
	"sightline/hardware"
)

// PanelState returns what the panel shows of a state.
func PanelState(v *State) hardware.State {
	s := hardware.State{
		From: v.Choice.From, To: v.Choice.To, Reason: v.Reason, Withheld: v.Withheld, Edition: v.Located.Scene.Rules.String(),
		Range: engine.NoView, InArc: engine.NoView, Obstructed: engine.NoView, Contact: engine.NoView,
		Frozen: v.Held || restsOn(v) != "", Blind: v.Health.Code != OK && v.Health.Code != "" && !v.Held, Pointers: pointers(v),
	}
	if !s.Chosen() {
		s.From, s.To = "", ""
		return s
	}
	if v.Pair == nil {
		return s
	}
	r := v.Pair.Range
	s.Range, s.Band, s.Possible = r.Outcome, r.Band, r.Possible
	s.DistanceMM, s.SigmaMM, s.MarginMM = r.Distance.Millimeters(), r.Sigma.Millimeters(), r.Margin.Millimeters()
	s.Contact = v.Pair.Contact
	if no := v.Restricted("attack"); no != nil {
		s.NoAttack, s.NoAttackOpen = no.Text, !no.sure()
	}
	a, ok := v.ArcOf()
	if !ok {
		return s
	}
	s.Arc, s.InArc, s.ArcMarginMM = v.Choice.Arc.String(), a.InArc, a.Margin.Millimeters()
	if v.ObstaclesWatched && a.Attack != nil {
		s.ObstructedBy = strings.Join(a.Attack.Obstruction.By, " ")
		s.Obstructed, s.AttackerChooses = obstructed(a.Attack.Obstruction.Verdict)
	}
	return s
}

// pointers returns where the chosen ships stand, the attacker first.
func pointers(v *State) (out []hardware.Pointer) {
	for _, id := range []string{v.Choice.From, v.Choice.To} {
		for _, ship := range v.Located.Scene.Ships {
			if ship.ID == id && v.Pair != nil {
				out = append(out, hardware.Pointer{XMM: ship.Pose.X, YMM: ship.Pose.Y, Target: id == v.Choice.To})
			}
		}
	}
	return out
}

func obstructed(verdict string) (o engine.Outcome, attackerChooses bool) {
	switch verdict {
	case "never":
		return engine.No, false
	case "must":
		return engine.Yes, false
	case "may":
		return engine.Indeterminate, true
	case "too_close":
		return engine.Indeterminate, false
	}
	return engine.NoView, false
}
