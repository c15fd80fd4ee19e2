package look

import (
	"slices"

	"sightline/vision"
	"sightline/vision/dots"
)

// Naming is what the dots on a base say about its ship.
type Naming struct {
	Read  dots.Reading
	Ship  string // the only possible ship that has these dots; "": undecided
	Other bool   // dots are read, and no possible ship has them
}

// byDots reads the dots of bases that were found, which may distinguish ships with the same card. If two bases would get the same name,
// neither gets it. A single dot may be print on a card or paint on a miniature: it names a ship only if two dots are read on some base of
// the picture, so that dots are in use, and if the card agrees well enough to be named.
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
