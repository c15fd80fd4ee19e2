package jig

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/look"
)

// Session shows one ship's card to the camera in four quarter turns.
type Session struct {
	card  look.Card
	first *look.Look // learnt from the first view
	views [Turns]*look.View
}

// Report is the result of a picture.
type Report struct {
	Place Place
	Seen  bool  // the sheet is in view
	Turn  int   // of the view that was taken, or of the base as it lies; -1: unknown
	Err   error // why no view was taken, for people; nil: one was taken
}

// NewSession begins to show a card. Its error names what is wrong with the card.
func NewSession(c look.Card) (*Session, error) {
	if !slices.ContainsFunc(bands[:], func(b band) bool { return b.base == c.Base }) {
		return nil, fmt.Errorf("base: expected small, medium or large, got %v", c.Base)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &Session{card: c}, nil
}

// Card returns the card that is shown.
func (s *Session) Card() look.Card { return s.card }

// Taken returns which quarter turns were taken.
func (s *Session) Taken() (out [Turns]bool) {
	for i, v := range s.views {
		out[i] = v != nil
	}
	return out
}

// Next returns the quarter turn that is needed next, or Turns if all were taken.
func (s *Session) Next() int {
	i := slices.Index(s.views[:], nil)
	if i < 0 {
		return Turns
	}
	return i
}

// Add takes a view from a picture of a sheet at rest, if its turn was not taken yet. The first view is turn 0, with the front
// to the arrow. The turns of the others are recognised from the card.
func (s *Session) Add(t calibration.Table, f vision.Frame, seen []calibration.MarkerSighting) Report {
	r := Report{Turn: -1}
	if r.Place, r.Err = Find(&t, seen); r.Err != nil {
		r.Seen = !errors.Is(r.Err, ErrUnseen)
		return r
	}
	r.Seen = true
	at := r.Place.Base(s.card.Base, 0)
	stands, err := (&sheetView{&t, f.Gray, r.Place}).stands()
	switch {
	case err != nil:
		r.Err = err
	case stands != s.card.Base:
		r.Err = fmt.Errorf("a %v base stands in the corner, not a %v one", stands, s.card.Base)
	case blur(f.Gray, seen) > blurMost:
		r.Err = errBlurred
	case parallax(&t, at.Point) < parallaxMin:
		r.Err = ErrUnderCamera
	default:
		r.Turn, r.Err = s.take(look.View{Table: t, Frame: f, Pose: at})
	}
	return r
}

// Why a view is not taken, for people.
var (
	ErrUnderCamera = errors.New("the sheet lies right under the camera, where a miniature that was left on looks the same in all four " +
		"turns: lay it nearer to the mat's edge")
	ErrOther = errors.New("this picture differs from the first: is a miniature on the base, is it another ship's card, or is something in " +
		"front of it?")
	ErrTurn = errors.New("this turn was taken: turn the base by a quarter, to the right, and push it into the corner")
)

// take takes a view of a base that lies as in turn 0, but for its heading.
func (s *Session) take(v look.View) (turn int, err error) {
	if s.first == nil {
		if s.first, err = look.Learn(s.card, []look.View{v}); err != nil {
			return -1, err
		}
		s.views[0] = &v
		return 0, nil
	}
	turn, ok := s.first.Quarter(v)
	switch {
	case !ok:
		return -1, ErrOther
	case s.views[turn] != nil:
		return turn, ErrTurn
	}
	v.Pose.Heading = (v.Pose.Heading + poseOf(s.card.Base, turn).Heading).Normalized()
	s.views[turn] = &v
	return turn, nil
}

// Learn makes the look after all four turns were taken. If they make none, it returns the reason and the session begins again.
func (s *Session) Learn() (*look.Look, error) {
	if n := s.Next(); n < Turns {
		return nil, fmt.Errorf("the quarter turns are not complete: none shows the base turned by %d°", 90*n)
	}
	views := make([]look.View, Turns)
	for i, v := range s.views {
		views[i] = *v
	}
	c := s.card
	c.Known = look.Known{Place: Sigma, Turn: TurnSigma}
	l, err := look.Learn(c, views)
	if err != nil {
		s.first, s.views = nil, [Turns]*look.View{}
	}
	return l, err
}

// Rests reports whether two pictures show the same on the sheet, apart from noise. Call it for each picture before Add.
func Rests(t *calibration.Table, p Place, before, now vision.Frame) bool {
	if before.Gray == nil || before.Gray.Rect != now.Gray.Rect {
		return false
	}
	a, b := sheetView{t, before.Gray, p}, sheetView{t, now.Gray, p}
	moved, n := 0, 0
	for y := -8.0; y <= 88; y += sampleStep {
		for x := -8.0; x <= 88; x += sampleStep {
			va, okA := a.level(x, y)
			vb, okB := b.level(x, y)
			if !okA || !okB {
				continue
			}
			n++
			if math.Abs(float64(va)-float64(vb)) > restLevels {
				moved++
			}
		}
	}
	return n > 0 && float64(moved) < restShare*float64(n)
}

const (
	restLevels = 16   // grey levels by which a pixel at rest may change
	restShare  = 0.01 // share of the places that may change by more
)
