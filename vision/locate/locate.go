// Package locate finds ships and obstacles in the pictures of one calibrated camera.
package locate

import (
	"time"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/look"
	"sightline/vision/obstacle"
	"sightline/vision/ship"
)

// Options control a Locator; the zero value is the default.
type Options struct {
	Uncertainty calibration.Uncertainty // zero: calibration.DefaultUncertainty

	// Catalogue and Background, both or neither, make the locator search for obstacles too.
	Catalogue  *catalogue.Catalogue
	Background *obstacle.Background

	// Looks are the known cards of ships without our tokens; nil: none.
	Looks *look.Library

	// InBackground runs the searches for obstacles, and for ships by their cards, in the background, because
	// they take longer than a frame. Until the first search ends, Locate reports that obstacles are
	// not seen.
	InBackground bool

	// Searches limits concurrent background searches across the table's cameras; nil means a single
	// camera. Further marks a secondary camera: the main one goes first.
	Searches *obstacle.Searches
	Further  bool
}

// Locator finds ships and obstacles in frames of one calibrated camera. It belongs to one
// goroutine.
type Locator struct {
	*ship.Locator
	obstacles *obstacle.Watch // nil: obstacles are not searched for
	looks     *look.Finder    // nil: no looks are known
	watch     *look.Watch     // nil: no background search by cards
}

// New returns a locator for the calibrated table.
func New(t calibration.Table, o Options) (*Locator, error) {
	ships, err := ship.NewLocator(t, o.Uncertainty)
	if err != nil {
		return nil, err
	}
	l := &Locator{Locator: ships}
	if o.Looks != nil {
		l.looks = look.NewFinder(t, o.Looks, o.Uncertainty)
		if o.InBackground {
			l.watch = look.NewWatch(t, o.Looks, o.Uncertainty)
		}
	}
	if o.Catalogue != nil && o.Background != nil {
		f, err := obstacle.NewFinder(t, o.Catalogue, o.Background, o.Uncertainty)
		if err != nil {
			return nil, err
		}
		l.obstacles = obstacle.NewWatch(f, o.InBackground, o.Searches, o.Further)
	}
	return l, nil
}

// Recall says which obstacles lay on the mat before the locator saw pictures of it, or before pictures that showed nothing of it. A
// ship may stand on them by now.
func (l *Locator) Recall(lying []vision.ObstacleView) {
	if l.obstacles != nil {
		l.obstacles.Recall(lying)
	}
}

// Locate finds the ships and the obstacles in a frame. The scene's poses carry their
// covariance, systematic part included. It fails when the frame is not of the size that the
// lens was calibrated for.
func (l *Locator) Locate(f vision.Frame) (vision.Located, error) {
	began := time.Now()
	out, err := l.Locator.Locate(f)
	if err != nil || l.obstacles == nil {
		return out, err
	}
	l.obstacles.AddTo(f, &out)
	out.Elapsed = time.Since(began)
	return out, nil
}
