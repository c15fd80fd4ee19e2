package look

import (
	"slices"

	"sightline/vision"
	"sightline/vision/dots"
)

// Naming says which ship a base is by the dots on it.
type Naming struct {
	Read  dots.Reading
	Ship  string // the only one of those that it may be which has these dots; "": they do not say
	Other bool   // dots are read, and no ship that it may be has them
}

// byDots reads the dots of bases that were found in a picture, which may tell ships with the same card apart. A name that two of
// them would get neither gets. One dot alone may be print of a card that was never shown: it names none whose card agrees so little that it
// would get no name by its card.
func (f *Finder) byDots(frame vision.Frame, sights []Sight) {
	reader, ok := dots.NewReader(f.table, frame)
	if !ok {
		return
	}
	named := map[string]int{}
	for i := range sights {
		s := &sights[i]
		may := s.Ships()
		r := reader.Read(s.Look.Base, s.Pose, s.Look.Z)
		s.Dots.Read = r
		if (r[0] != dots.None && r[1] != dots.None) || s.Evidence >= nameLeast {
			s.Dots.Ship, _ = r.Resolve(may)
		}
		s.Dots.Other = r != dots.Reading{} && !slices.ContainsFunc(may, r.Allows)
		named[s.Dots.Ship]++
	}
	for i := range sights {
		if named[sights[i].Dots.Ship] > 1 {
			sights[i].Dots.Ship = ""
		}
	}
}
