package live

import (
	"strings"

	"sightline/engine"
	"sightline/hardware"
)

// PanelState returns what lamps and display show of a state.
func PanelState(s *State) hardware.State {
	panel := hardware.State{
		From: s.Choice.From, To: s.Choice.To, Reason: s.Reason, Withheld: s.Withheld, Edition: s.Located.Scene.Rules.String(),
		Range: engine.NoView, InArc: engine.NoView, Obstructed: engine.NoView, Contact: engine.NoView,
		Frozen: s.Held || restsOn(s) != "", Blind: s.Health.Code != OK && s.Health.Code != "" && !s.Held, Pointers: pointers(s),
	}
	if s.Play != nil {
		panel.Turn = s.Play.Turn
	}
	if !panel.Chosen() {
		panel.From, panel.To = "", ""
		return panel
	}
	if s.Pair == nil {
		return panel
	}
	r := s.AnsweredRange()
	panel.Range, panel.Band, panel.Possible = r.Outcome, r.Band, r.Possible
	panel.DistanceMM, panel.SigmaMM, panel.MarginMM = r.Distance.Millimeters(), r.Sigma.Millimeters(), r.Margin.Millimeters()
	panel.Contact = s.Pair.Contact
	if no := s.Restricted("attack"); no != nil {
		panel.NoAttack, panel.NoAttackOpen = no.Text, !no.certain()
	}
	a, ok := s.ArcOf()
	if !ok {
		return panel
	}
	panel.Arc, panel.InArc, panel.ArcMarginMM = s.Choice.Arc.String(), a.InArc, a.Margin.Millimeters()
	if s.ObstaclesWatched && a.Attack != nil {
		panel.ObstructedBy = strings.Join(a.Attack.Obstruction.By, " ")
		panel.Obstructed, panel.AttackerChooses = obstructed(a.Attack.Obstruction.Verdict)
	}
	return panel
}

// pointers returns where the chosen ships stand, the attacker first.
func pointers(s *State) (out []hardware.Pointer) {
	for _, id := range []string{s.Choice.From, s.Choice.To} {
		for _, ship := range s.Located.Scene.Ships {
			if ship.ID == id && s.Pair != nil {
				out = append(out, hardware.Pointer{XMM: ship.Pose.X, YMM: ship.Pose.Y, Target: id == s.Choice.To})
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
