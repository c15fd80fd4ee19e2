package look

import (
	"math"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look/internal/rim"
	"sightline/vision/token"
)

// A card of which less agrees has a miniature on it, or something else. Of 141 views of ships on ten tables (1801 to 1862) four have this
// share, 0.82 at most; of 95 of cards without a base the least is 0.80.
const bareSeen = 0.75

// Where the rim of a base is compared with the mat (rim.Odds).
const (
	rimMiddle  = 0.7 // mm inwards from the base's edge
	rimSpread  = 0.2 // mm to either side of it that are sampled
	rimOutside = 4.0 // mm outwards: the mat
	rimBeside  = 1.0 // mm to either side of that
	rimEnds    = 4.0 // mm at both ends of a side that are left out
)

// bare notes whether a sight's card may lie on the mat without a base. It returns an error if it does.
func (f *Finder) bare(frame vision.Frame, s *Sight) *TurnedError {
	if s.Seen < bareSeen {
		return nil
	}
	w, _ := s.Look.Base.Size()
	half := float64(w) / 2
	reach := half*math.Sqrt2 + rimOutside + rimBeside + 2
	top, ok := newScan(&f.table, frame, s.Pose.Point, token.BaseTop, reach)
	if !ok || frame.Color == nil || !s.Look.Color {
		return nil
	}
	mat, ok := newScan(&f.table, frame, s.Pose.Point, 0, reach)
	if !ok {
		return nil
	}
	var odds rim.Odds
	gain := f.gainOf(frame, s)
	guides, scale := f.guideSides(frame, s.Look.Base, s.Pose)
	for side, g := range guides {
		on, seen := top.along(s.Pose, half, half-rimMiddle, rimSpread, side)
		out, shown := mat.along(s.Pose, half, half+rimOutside, rimBeside, side)
		if seen && shown {
			odds.Side(on, out, gain)
		} else {
			odds.Hidden()
		}
		if side%2 == 0 && g != nil {
			odds.Guides(g.guides(s.Look.Base, scale))
		}
	}
	s.Bare = odds.Doubtful()
	if !odds.Bare() {
		return nil
	}
	return &TurnedError{Card: s.Look.Name, Ships: s.Ships(), At: s.Pose.Point, Bare: true}
}

// gainOf returns how much brighter the picture is than the look.
func (f *Finder) gainOf(frame vision.Frame, s *Sight) (gain float64) {
	sc, ok := newScan(&f.table, frame, s.Pose.Point, s.Look.Z, s.Look.half()*math.Sqrt2+4)
	if !ok {
		return 1
	}
	fit := newFitting(sc, s.Look, &s.Look.grids().kind, s.Pose)
	defer fit.release()
	if !fit.light() {
		return 1
	}
	for c := range channels {
		gain += fit.photo[ofGain+c] / channels
	}
	return gain
}

// beside samples the picture some mm along a side of a base and outwards from its middle; false: it is not in the picture.
func (s *scan) beside(at geom.Pose, side int, along, out float64) ([channels]float32, bool) {
	for range side {
		along, out = out, -along
	}
	sin, cos := math.Sincos(float64(at.Heading))
	var p sample
	x, y := s.view.pixel(along*cos+out*sin, -along*sin+out*cos)
	ok := s.sharp.valueAt(x, y, &p)
	return p.v, ok
}

// along samples a line along a side of a base, some mm from its middle, and as many spread to either side; false: not in the picture.
func (s *scan) along(at geom.Pose, half, out, spread float64, side int) (all [][channels]float64, ok bool) {
	for u := rimEnds - half; u <= half-rimEnds; u++ {
		var sum [channels]float64
		for _, o := range [3]float64{-spread, 0, spread} {
			v, ok := s.beside(at, side, u, out+o)
			if !ok {
				return nil, false
			}
			for c := range channels {
				sum[c] += float64(v[c]) / 3
			}
		}
		all = append(all, sum)
	}
	return all, true
}

// slip returns by how much a card is turned in its base; 0: not noticeably. It may be the card's heading that counts, or the base's.
func (f *Finder) slip(frame vision.Frame, s *Sight) geom.Angle {
	w, _ := s.Look.Base.Size()
	half := float64(w) / 2
	sc, ok := newScan(&f.table, frame, s.Pose.Point, token.BaseTop, half*math.Sqrt2+rim.Reach(half)+2)
	if !ok {
		return 0
	}
	sides := make([]rim.Across, 4)
	for i := range sides {
		sides[i], ok = rim.NewAcross(half, i%2 == 0, func(along, out float64) ([channels]float32, bool) {
			return sc.beside(s.Pose, i, along, half+out)
		})
		if !ok {
			return 0
		}
	}
	return geom.Angle(rim.Turn(sides))
}
