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
// them would get neither gets. One dot alone may be print of a card, or paint of a miniature: it names a ship only where two dots are
// read on some base of the picture, so that dots are in use, and the card agrees well enough to be named by it.
func (f *Finder) byDots(frame vision.Frame, sights []Sight) {
	reader, ok := dots.NewReader(f.table, frame)
	if !ok {
		return
	}
	used := false
	for i := range sights {
		s := &sights[i]
		s.Dots.Read = reader.Read(s.Look.Base, s.Pose, s.Look.Z)
		used = used || s.Dots.Read.Both()
	}
	named := map[string]int{}
	for i := range sights {
		s := &sights[i]
		r, may := s.Dots.Read, s.Ships()
		if r.Both() || used && s.Evidence >= nameLeast {
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
