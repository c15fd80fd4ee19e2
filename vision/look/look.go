// Package look finds ships by their cards: a base out of the publisher's box carries nothing of ours, but its card
// was shown to the camera once, without the miniature. That picture, in the frame of the base's plastic, is a
// [Look]. A [Finder] lays looks over a picture of the table: which way a base points and exactly where it stands,
// and which look it has. A miniature hides up to two thirds of a card.
package look

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// Look is a card's picture in the frame of the base's plastic, so that how the card lies in its frame is part of it.
// It is not changed once it is learnt or read.
type Look struct {
	Name  string      // of its files: letters, digits, dashes and underscores
	Ships []string    // the ships that carry a card of this look; the look was learnt from the first one's
	Base  engine.Base // small, medium or large
	Pilot string      // what a person calls it; may be empty
	Known Known       // how well its base's pose was known as it was learnt
	Z     geom.Length // of the card's top over the mat
	Color bool        // else the three channels are the same
	Views int         // pictures of it that were put together
	Scale float64     // px/mm of these pictures, the mean

	side   int       // cells along a side
	cells  []float32 // side*side cells of three channels (blue, green, red), 0…255; the front's row first, left first
	weight []float32 // of each cell, 0…1; 0: says nothing
	number face      // on its ID tokens, as it was shown

	once sync.Once
	fit  *fitted // what the search needs of it
}

const (
	cellMM   = 0.5 // mm, a look's cell
	rimMM    = 2.5 // mm from the base's edge to the outermost cells' middles: the plastic's frame and what it shades
	towerMM  = 7.2 // mm from the middle: the tower that holds the peg, which stands out of the card
	channels = 3

	// CardTop is how high a card's top lies over the mat in the publisher's bases.
	CardTop = 3.6 * geom.Millimeter
	// CardTopSigma is how well that is known: no base was measured, the frame's top lies at 4.0 mm.
	CardTopSigma = 0.3 * geom.Millimeter
)

// bases are those that cards of a known size lie in.
var bases = []engine.Base{engine.Small, engine.Medium, engine.Large}

// sideOf is how many cells a look of a base has along a side, an odd number.
func sideOf(b engine.Base) int {
	w, _ := b.Size()
	return 2*int(math.Round((float64(w)/2-rimMM)/cellMM)) + 1
}

// half is half the side, in mm, between the middles of the outermost cells.
func (l *Look) half() float64 { return float64(l.side-1) / 2 * cellMM }

// place is where a cell lies in the plastic's frame, in mm: u to the right, v forward.
func (l *Look) place(k int) (u, v float64) {
	h := l.half()
	return float64(k%l.side)*cellMM - h, h - float64(k/l.side)*cellMM
}

// Own reports whether the look was learnt from a ship's own card, not from another copy of it.
func (l *Look) Own(id string) bool { return len(l.Ships) > 0 && l.Ships[0] == id }

// Carries reports whether a ship carries a card of this look.
func (l *Look) Carries(id string) bool { return slices.Contains(l.Ships, id) }

// nameMost is how many characters a look's name and its pilot's may have.
const nameMost = 40

// CheckName says what is wrong with the name of a look, which its files have as well.
func CheckName(name string) error {
	ok := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if name == "" || len(name) > nameMost || strings.ContainsFunc(name, func(r rune) bool { return !ok(r) }) {
		return fmt.Errorf("name: expected 1 to %d letters, digits, dashes and underscores, got %.60q", nameMost, name)
	}
	return nil
}

// check says what is wrong with what a look says of itself; the error names the key.
func (l *Look) check() error {
	if err := CheckName(l.Name); err != nil {
		return err
	}
	if len(l.Ships) == 0 || len(l.Ships) > 20 {
		return fmt.Errorf("ships: expected 1 to 20, got %d", len(l.Ships))
	}
	for i, id := range l.Ships {
		if _, err := token.CodeOfID(id); err != nil {
			return fmt.Errorf("ships: %w", err)
		}
		if slices.Contains(l.Ships[:i], id) {
			return fmt.Errorf("ships: %q stands twice", id)
		}
	}
	switch {
	case !slices.Contains(bases, l.Base):
		return fmt.Errorf("base: expected small, medium or large, got %v", l.Base)
	case utf8.RuneCountInString(l.Pilot) > nameMost,
		strings.ContainsFunc(l.Pilot, func(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }):
		return fmt.Errorf("pilot: expected at most %d characters that can be seen, got %.60q", nameMost, l.Pilot)
	case !(l.Known.Place > 0 && l.Known.Place <= 1):
		return fmt.Errorf("jig_mm: expected more than 0 and up to 1, got %v", float64(l.Known.Place))
	case !(l.Known.Turn > 0 && l.Known.Turn <= geom.Degree):
		return fmt.Errorf("jig_deg: expected more than 0 and up to 1, got %v", l.Known.Turn.Degrees())
	case !(l.Z >= 1 && l.Z <= 6):
		return fmt.Errorf("z_mm: expected 1 to 6, got %v", float64(l.Z))
	case l.Views < 1 || l.Views > viewsMost:
		return fmt.Errorf("views: expected 1 to %d, got %d", viewsMost, l.Views)
	case !(l.Scale >= 0.2 && l.Scale <= 50):
		return fmt.Errorf("px_per_mm: expected 0.2 to 50, got %v", l.Scale)
	}
	return nil
}

// viewsMost is how many views a look is learnt from at most.
const viewsMost = 16

// Library holds the looks of the ships that may stand on the table, in the order of their names.
type Library struct{ Looks []*Look }

// Of returns the look that was learnt from a ship's own card, or else one that says that the ship carries it; nil: none.
func (b *Library) Of(id string) *Look {
	var out *Look
	for _, l := range b.Looks {
		if l.Own(id) {
			return l
		}
		if out == nil && l.Carries(id) {
			out = l
		}
	}
	return out
}
