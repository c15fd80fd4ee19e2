package live

import (
	"slices"
	"strings"

	"sightline/engine"
)

// Restriction is an act that the rules forbid, or may forbid, where the ships stand.
type Restriction struct {
	Outcome engine.Outcome // Yes: forbidden; Indeterminate, NoView: perhaps
	Text    string         // "no attack: at range 0 of an asteroid, rock1 (2.5 G178)"
	Because []string       // ids of the objects and ships that cause it
	Rules   []string       // "2.5 G178"
}

// certain reports whether the rules surely forbid the act.
func (r *Restriction) certain() bool { return r.Outcome == engine.Yes }

// newRestriction joins the restrictions on an act; nil: there are none. Where one is certain,
// those that are not are left out.
func newRestriction(all []engine.ShipRestriction) *Restriction {
	if len(all) == 0 {
		return nil
	}
	j := &Restriction{Outcome: all[0].Outcome, Because: []string{}, Rules: []string{}}
	var texts []string
	for i := range all {
		if all[i].Outcome != all[0].Outcome {
			break
		}
		if text := all[i].Words(); !slices.Contains(texts, text) {
			texts, j.Because, j.Rules = append(texts, text), append(j.Because, all[i].Because), append(j.Rules, all[i].Rule)
		}
	}
	j.Text = strings.Join(texts, "; ")
	return j
}

// Restricted returns what forbids the chosen attacker an act against the chosen target, if the
// agreement permits showing it; nil: nothing.
func (s *State) Restricted(act string) *Restriction {
	if s.Pair == nil {
		return nil
	}
	return s.RestrictedFrom(act, s.Choice.From, s.Choice.To)
}

// RestrictedFrom is like Restricted, for any pair of ships. A ship that is out of play forbids every act, though its base may still
// stand on the table; that is no measurement.
func (s *State) RestrictedFrom(act, from, to string) *Restriction {
	for _, id := range []string{from, to} {
		if why := s.game().OutOfPlay(id); why != "" {
			text := "no attack: " + why
			if act == "lock" {
				text = "no lock: " + why
			}
			return &Restriction{Outcome: engine.Yes, Text: text, Because: []string{id}, Rules: []string{}}
		}
	}
	return newRestriction(s.Policy.Restrictions(&s.Located.Scene, &s.Result, act, from, to))
}
