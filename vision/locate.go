package vision

import (
	"time"

	"sightline/calibration"
)

// LocatorOptions control a Locator; the zero value is the default.
type LocatorOptions struct {
	Uncertainty calibration.Uncertainty // zero: calibration.DefaultUncertainty

	// Catalogue and EmptyMat, both or neither, make the locator look for obstacles too.
	Catalogue *Catalogue
	EmptyMat  *EmptyMat

	// Beside makes the search for obstacles, which takes longer than a picture lasts, go on
	// beside Locate, which says until it ends that obstacles are not seen.
	Beside bool

	// Searches are those of all cameras over this table, for searches beside; nil: there is
	// one camera. Further says that this is not the main one, which goes first.
	Searches *Searches
	Further  bool
}

// Locator finds ships and obstacles in frames of one calibrated camera. It belongs to one
// goroutine.
type Locator struct {
	*ShipLocator
	obstacles *obstacleWatch // nil: nobody looks for obstacles
}

// NewLocator returns a locator for the calibrated table.
func NewLocator(t calibration.Table, o LocatorOptions) (*Locator, error) {
	ships, err := NewShipLocator(t, o.Uncertainty)
	if err != nil {
		return nil, err
	}
	l := &Locator{ShipLocator: ships}
	if o.Catalogue != nil && o.EmptyMat != nil {
		f, err := NewObstacleFinder(t, o.Catalogue, o.EmptyMat, o.Uncertainty)
		if err != nil {
			return nil, err
		}
		l.obstacles = newObstacleWatch(f, o.Beside, o.Searches, o.Further)
	}
	return l, nil
}

// Locate finds the ships and the obstacles in a frame. The scene's poses carry their
// covariance, systematic part included. It fails when the frame is not of the size that the
// lens was calibrated for.
func (l *Locator) Locate(f Frame) (Located, error) {
	began := time.Now()
	out, err := l.ShipLocator.Locate(f)
	if err != nil || l.obstacles == nil {
		return out, err
	}
	l.obstacles.addTo(f, &out)
	out.Elapsed = time.Since(began)
	return out, nil
}
