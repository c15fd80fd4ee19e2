package locate

import (
	"errors"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
)

// againReach is how far from its last place a ship is searched again: as far as from a click.
const againReach = 12 * geom.Millimeter

// Again searches a picture for ships that were found by their cards before, near their last places
// and with any heading, and adds those that it finds to located. It skips ships whose look is
// unknown. It fails if the picture has not the calibration's size.
func (l *Locator) Again(f vision.Frame, ships []engine.Ship, located *vision.Located) error {
	if l.looks == nil {
		return nil
	}
	for _, was := range ships {
		known := slices.ContainsFunc(l.looks.Looks().Looks, func(k *look.Look) bool { return k.Name == was.Look })
		read := slices.ContainsFunc(located.Scene.Ships, func(s engine.Ship) bool { return s.ID == was.ID })
		if !known || read {
			continue
		}
		h := look.Hint{Base: was.Base, Pose: was.Pose, Reach: againReach, Turn: math.Pi, Ship: was.ID, Look: was.Look}
		ship, view, ok, err := l.ByLook(f, h, was)
		if turned := (*look.TurnedError)(nil); err != nil && !errors.As(err, &turned) {
			return err
		}
		if ok {
			located.Scene.Ships, located.Ships = append(located.Scene.Ships, ship), append(located.Ships, view)
		}
	}
	return nil
}
