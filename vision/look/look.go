// Package look finds ships by their cards. The base of a stock ship carries nothing of ours, but its card
// was shown to the camera once, without the miniature. That picture, in the frame of the plastic base, is a [Look].
// A [Finder] matches looks to a picture of the table and returns the pose of each base and the look that it has. A
// miniature hides up to two thirds of a card.
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

// Look is a card's picture in the frame of the plastic base. The position of the card in that frame is part of it.
// A look does not change once it is learnt or read.
type Look struct {
	Name  string      // of its files: letters, digits, dashes and underscores
	Ships []string    // the ships that carry this card; the look was learnt from the first one's
	Base  engine.Base // small, medium or large
	Pilot string      // a person's name for it; may be empty
	Known Known       // how well the pose of its base was known when it was learnt
	Z     geom.Length // of the card's top over the mat
	Color bool        // false: the three channels are the same
	Views int         // pictures that were combined
	Scale float64     // their mean px/mm

	side   int         // cells along a side
	cells  []float32   // side*side cells of three channels (blue, green, red), 0…255; the front's row first, left first
	weight []float32   // of each cell, 0…1; 0: not used
	shaded []bool      // cells that differ between the views because of a shadow, while it is learnt
	shots  [][]float32 // the views in the look's light, while it is learnt
	number face        // on its ID tokens, if it was seen

	once     sync.Once
	fit      *fitted  // what the search needs; made once by grids
	softened sync.Map // the grids that gridsOf made, by the steps of softerStep; negative: of 0.5 mm cells
}

const (
	cellMM   = 0.5 // mm, a look's cell
	rimMM    = 2.5 // mm from the base's edge to the centres of the outermost cells: the plastic frame and its shadow
	towerMM  = 7.2 // mm from the centre: the tower that holds the peg and rises above the card
	channels = 3

	// CardTop is the height of a card's top over the mat in the publisher's bases.
	CardTop = 3.6 * geom.Millimeter
	// CardTopSigma is its standard deviation. No base was measured; the frame's top is at 4.0 mm.
	CardTopSigma = 0.3 * geom.Millimeter
)

// bases are the sizes for which looks exist.
var bases = []engine.Base{engine.Small, engine.Medium, engine.Large}

// sideOf returns the number of cells along a side of a look, which is odd.
func sideOf(b engine.Base) int {
	w, _ := b.Size()
	return 2*int(math.Round((float64(w)/2-rimMM)/cellMM)) + 1
}

// half returns half the distance between the centres of the outermost cells, in mm.
func (l *Look) half() float64 { return float64(l.side-1) / 2 * cellMM }

// place returns the position of a cell in the base's frame, in mm: u to the right, v forward.
func (l *Look) place(k int) (u, v float64) {
	h := l.half()
	return float64(k%l.side)*cellMM - h, h - float64(k/l.side)*cellMM
}

// fewViews reports whether a look has so few views that their shadows and reflections are part of it. They tell copies of one card apart,
// at random: of 666 pairs of looks of one card with a view each, one was told 37 times.
func (l *Look) fewViews() bool { return l.Views < 3 }

// Own reports whether the look was learnt from this ship's own card, not from a copy.
func (l *Look) Own(id string) bool { return len(l.Ships) > 0 && l.Ships[0] == id }

// Carries reports whether a ship carries a card of this look.
func (l *Look) Carries(id string) bool { return slices.Contains(l.Ships, id) }

// nameMost is the longest name of a look or a pilot, in characters.
const nameMost = 40

// CheckName returns an error if a look cannot have this name. Its files have the same name.
func CheckName(name string) error {
	ok := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if name == "" || len(name) > nameMost || strings.ContainsFunc(name, func(r rune) bool { return !ok(r) }) {
		return fmt.Errorf("name: expected 1 to %d letters, digits, dashes and underscores, got %.60q", nameMost, name)
	}
	return nil
}

// check validates the fields of a look. The error names the key of the file.
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
			return fmt.Errorf("ships: %q appears twice", id)
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

// viewsMost is the largest number of views of a look.
const viewsMost = 16

// Library holds the looks of the ships that may stand on the table, in the order of their names.
type Library struct {
	Looks   []*Look
	Damaged []Damage // those that cannot be read
	Hidden  []Hidden // those that another one replaces
}

// Hidden is a description that counts for nothing: a look that was renamed replaces it.
type Hidden struct{ Name, By string }

// Damage is a look that cannot be read.
type Damage struct {
	Name string
	Base engine.Base // the zero value: not known
	Err  error       // names the file
}

// misses reports whether a look of a base size cannot be read: a card of that size may be its.
func (b *Library) misses(base engine.Base) bool {
	return slices.ContainsFunc(b.Damaged, func(d Damage) bool { return d.Base == base || !slices.Contains(bases, d.Base) })
}

// Of returns the look that was learnt from a ship's own card, or else the first look that the ship carries. Nil: there is none.
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
