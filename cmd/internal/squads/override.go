package squads

import (
	"fmt"
	"slices"
)

// Override replaces facts about a ship; empty fields keep them.
type Override struct {
	ID      string // the XWS id, in any faction and edition
	Base    string
	Dial    []string
	Arcs    []string
	Actions []string
}

// With returns a copy of the data with overrides.
func (d Data) With(all []Override) (Data, error) {
	for _, o := range all {
		found := false
		for _, t := range []**Table{&d.First, &d.Second} {
			next, ok, err := (*t).with(&o)
			if err != nil {
				return d, err
			}
			*t, found = next, found || ok
		}
		if !found {
			return d, fmt.Errorf("id: expected a ship of the data, such as t65xwing, got %q", short(o.ID))
		}
	}
	return d, nil
}

// with returns a copy of a table with an override. It reports false if the table does not have the
// ship.
func (t *Table) with(o *Override) (next *Table, ok bool, err error) {
	copied := *t
	copied.Ships = slices.Clone(t.Ships)
	for i := range copied.Ships {
		if copied.Ships[i].ID != o.ID {
			continue
		}
		ok = true
		if err := copied.Ships[i].say(o); err != nil {
			return t, true, fmt.Errorf("%s: %w", o.ID, err)
		}
	}
	if !ok {
		return t, false, nil
	}
	return &copied, true, nil
}

// say applies an override.
func (s *Ship) say(o *Override) error {
	facts := shipFacts{XWS: s.ID, Name: s.Name, Size: s.Base.String(), Dial: s.Dial, Arcs: s.Arcs, Actions: s.Actions}
	if o.Base != "" {
		facts.Size = o.Base
	}
	if len(o.Dial) > 0 {
		facts.Dial = o.Dial
	}
	if len(o.Arcs) > 0 {
		facts.Arcs = o.Arcs
	}
	if len(o.Actions) > 0 {
		facts.Actions = o.Actions
	}
	next, err := facts.ship(Second)
	if err != nil {
		return err
	}
	s.Base, s.Dial, s.Arcs, s.Actions = next.Base, next.Dial, next.Arcs, next.Actions
	return nil
}
