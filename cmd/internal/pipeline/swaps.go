package pipeline

import (
	"slices"

	"sightline/vision"
)

// swaps detects that hands exchanged ships that look alike while they were out of sight together. If all of them stand exactly where
// they stood, no one exchanged them. If one stands a little aside, each may be another: a hand that exchanges two ships sets one down
// within 0.5 mm and 0.5° one time in ten.
type swaps struct {
	together map[string][]string // by ship seen again exactly where it stood: those still out of sight
	aside    map[string]int      // in how many pictures a doubtful ship was found aside
	open     []string            // ships that got their names back but may be another
}

// asidePictures is in how many pictures a ship must be found aside: the edge of a hand over it also shifts it.
const asidePictures = 3

// isSame reports whether a base found where a ship was last seen is that ship. others are the ships that it may be, out of sight too.
// stays: it stands where it stood; put: within half that tolerance, which is required once it was found aside.
func (s *swaps) isSame(id string, others []string, stays, put bool) bool {
	if s.together == nil {
		s.together, s.aside = map[string][]string{}, map[string]int{}
	}
	var with []string // ships seen again exactly where they stood
	for k, list := range s.together {
		if slices.Contains(list, id) {
			with = append(with, k)
		}
	}
	switch {
	case put || stays && s.aside[id] < asidePictures:
		delete(s.aside, id)
		if len(others) > 0 {
			s.together[id] = others
		}
		return true
	case len(others) == 0 && len(with) == 0:
		return true
	}
	if s.aside[id]++; s.aside[id] >= asidePictures {
		s.open = append(s.open, with...)
	}
	return false
}

// update removes ships that are seen again.
func (s *swaps) update(tracks []vision.Track) {
	still := func(id string) bool {
		return slices.ContainsFunc(tracks, func(k vision.Track) bool { return k.Ship.ID == id && k.State == vision.Still })
	}
	for id, list := range s.together {
		list = slices.DeleteFunc(list, still)
		followed := slices.ContainsFunc(tracks, func(k vision.Track) bool { return k.Ship.ID == id })
		if s.together[id] = list; len(list) == 0 || !followed {
			delete(s.together, id)
		}
	}
}

// undecided reports whether a ship is still out of sight while another that vanished with it was seen again.
func (s *swaps) undecided(id string) bool {
	for _, list := range s.together {
		if slices.Contains(list, id) {
			return true
		}
	}
	return false
}

// forget drops what is undecided about a ship, because a person named it.
func (s *swaps) forget(id string) {
	delete(s.together, id)
	delete(s.aside, id)
	for k, list := range s.together {
		s.together[k] = slices.DeleteFunc(list, func(o string) bool { return o == id })
	}
	s.open = slices.DeleteFunc(s.open, func(o string) bool { return o == id })
}

// takeOpen returns and clears the ships that got their names back but may be another.
func (s *swaps) takeOpen() []string {
	open := s.open
	s.open = nil
	return open
}
