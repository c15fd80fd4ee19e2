package live

import (
	"slices"
	"strings"

	"sightline/engine"
)

// Restriction is an act that the rules forbid, or may forbid, where the ships stand.
type Restriction struct {
	Outcome engine.Outcome // Yes: it is forbidden; Indeterminate, NoView: perhaps
	Text    string         // "no attack: at range 0 of an asteroid, rock1 (2.5 G178)"
	Because []string       // ids of the objects and ships that are the reason
	Rules   []string       // "2.5 G178"
}

// sure reports whether the rules forbid the act for certain.
func (r *Restriction) sure() bool { return r.Outcome == engine.Yes }

// NewRestriction words what speaks against an act; nil: nothing does. What is only perhaps
// so is left out where something is sure.
func NewRestriction(all []engine.ShipRestriction) *Restriction {
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

// Restricted says what keeps the chosen attacker from an act against the chosen target, as
// far as it may be told; nil: nothing.
func (s *State) Restricted(act string) *Restriction {
	if s.Pair == nil {
		return nil
	}
	return s.RestrictedFrom(act, s.Choice.From, s.Choice.To)
}

// RestrictedFrom is Restricted for a pair of ships, also where it may not be told.
func (s *State) RestrictedFrom(act, from, to string) *Restriction {
	return NewRestriction(s.Policy.Forbidden(&s.Located.Scene, &s.Result, act, from, to))
}
