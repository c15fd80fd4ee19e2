package live

import (
	"fmt"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
)

// Choice is the chosen pair: the same for all screens and the panel.
type Choice struct {
	From, To string
	Arc      engine.Arc
}

// With returns the choice with the arguments that are not nil. An error is a *Refusal.
func (c Choice) With(from, to, arc *string) (Choice, error) {
	if from == nil && to == nil && arc == nil {
		return c, &Refusal{ErrInvalid, "Nothing is chosen: expected from, to or arc."}
	}
	for _, id := range []struct{ to, from *string }{{&c.From, from}, {&c.To, to}} {
		if id.from == nil {
			continue
		}
		if len(*id.from) > 32 || strings.ContainsFunc(*id.from, func(r rune) bool { return r < ' ' }) {
			return c, &Refusal{ErrInvalid, "A ship's name has at most 32 characters."}
		}
		if err := checkShip(*id.from); *id.from != "" && err != nil {
			return c, &Refusal{ErrInvalid, sentence.Of(err)}
		}
		*id.to = *id.from
	}
	if c.From != "" && c.From == c.To {
		return c, &Refusal{ErrInvalid, fmt.Sprintf("Attacker and target must be two ships, got %s twice.", c.From)}
	}
	if arc == nil {
		return c, nil
	}
	var err error
	c.Arc, err = ParseArc(*arc)
	return c, err
}

// ParseArc returns the arc of a name. An error is a *Refusal that lists the names.
func ParseArc(name string) (engine.Arc, error) {
	arc, err := engine.ParseArc(name)
	if err != nil {
		return arc, &Refusal{ErrInvalid, fmt.Sprintf("There is no arc %.40q; expected %s.", name, strings.Join(engine.ArcNames(), ", "))}
	}
	return arc, nil
}
