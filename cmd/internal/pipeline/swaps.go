package pipeline

import (
	"slices"

	"sightline/vision"
)

// swaps remembers which ships alike were out of sight together, until all of them were seen again. If all stand exactly where they
// stood, no one exchanged them. If one stands a little aside, all of them may be another one: a hand that exchanges two sets one of
// them down within 0.5 mm and 0.5° once in ten times.
type swaps struct {
	together map[string][]string // by the ship that was seen again, exactly where it stood: those that were not since
	aside    map[string]int      // in how many pictures a ship was found aside that may be another one
	open     []string            // ships that may be another one, and had their names again
}

// asidePictures is in how many pictures a ship must be found aside: the edge of a hand over it moves it as well.
const asidePictures = 3

// same reports whether a base that was found where a ship was seen last is that ship. others are those that it may be, which are out of
// sight as well; stays: it stands where it stood; put: to half of what that allows, which is asked once it was found aside.
func (s *swaps) same(id string, others []string, stays, put bool) bool {
	if s.together == nil {
		s.together, s.aside = map[string][]string{}, map[string]int{}
	}
	var with []string // that were seen again exactly where they stood
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

// seen takes what was seen of all ships.
func (s *swaps) seen(tracks []vision.Track) {
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

// undecided reports whether a ship was out of sight with another one that was seen again since, and was not seen itself.
func (s *swaps) undecided(id string) bool {
	for _, list := range s.together {
		if slices.Contains(list, id) {
			return true
		}
	}
	return false
}

// forget gives up what is open about a ship: a person said which it is.
func (s *swaps) forget(id string) {
	delete(s.together, id)
	delete(s.aside, id)
	for k, list := range s.together {
		s.together[k] = slices.DeleteFunc(list, func(o string) bool { return o == id })
	}
	s.open = slices.DeleteFunc(s.open, func(o string) bool { return o == id })
}

// take returns the ships that may be another one though they had their names again.
func (s *swaps) take() []string {
	open := s.open
	s.open = nil
	return open
}
