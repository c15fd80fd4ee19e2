package vision

import (
	"errors"

	"sightline/calibration"
)

// LocatorOptions control a Locator; the zero value is the default.
type LocatorOptions struct {
	Uncertainty calibration.Uncertainty // zero: calibration.DefaultUncertainty
}

// Locator finds ships in frames of one calibrated camera. It belongs to one goroutine.
type Locator struct{}

// NewLocator returns a locator for the calibrated table.
func NewLocator(t calibration.Table, o LocatorOptions) (*Locator, error) {
	return nil, errors.New("vision: locator: under construction")
}

// Locate finds the ships in a frame.
func (l *Locator) Locate(f Frame) (Located, error) {
	return Located{}, errors.New("vision: locate: under construction")
}
