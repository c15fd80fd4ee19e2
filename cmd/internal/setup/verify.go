package setup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
)

// VerifyState is the verification step: the check card is laid in several places.
type VerifyState struct {
	Phase Phase
	Card  CardMeasures

	Markers []Marker // markers of the card in the last picture
	Now     string   // what to do, or the result of the last picture, in words
	Places  []Place
	Wanted  int // number of places in a good verification

	Result  *verify.Result // of all places; nil: none yet
	SavedAs string
	Problem string
}

// CardMeasures are the user's measurements of the check card.
type CardMeasures struct {
	Bar       geom.Length // length of the 220 mm bars; 0: not measured, and the scale cannot be verified
	Thickness geom.Length // of a strip and its backing
	BaseTop   geom.Length // of the bases under strip B, over the mat
}

// Place is one place of the card.
type Place struct {
	Distances   int         // number of measured distances
	WorstError  geom.Length // absolute value
	WorstSigmas float64     // the same, divided by its allowed size
}

// The limits of a place.
const (
	verifyPlaces = 5   // four corners and the middle
	cardFrames   = 5   // pictures of the resting card
	cardStill    = 1.0 // px, rms: how far its markers may move from picture to picture; noise moves them by 0.1
	cardTags     = 6   // markers on the card
)

func (m *Machine) resetVerify() {
	m.laid, m.places = nil, nil
	m.state.Verify = VerifyState{
		Phase: Waiting, Wanted: verifyPlaces,
		Card: CardMeasures{Thickness: 0.2 * geom.Millimeter, BaseTop: 4 * geom.Millimeter},
	}
}

// card takes the measurements of the check card and starts to search for it.
func (m *Machine) card(c CardMeasures) error {
	if m.state.Step != Verify {
		return notNow("Go to the step of verification first.")
	}
	s := checkSetup(c)
	if err := s.Validate(); err != nil {
		return wrong("These figures of the check card cannot be right: %v.", err)
	}
	m.resetVerify()
	m.state.Verify.Card, m.state.Verify.Phase = c, Looking
	m.state.Verify.Now = layIt
	return nil
}

func checkSetup(c CardMeasures) verify.Setup {
	return verify.Setup{
		Card: verify.DefaultCard(), Thickness: c.Thickness, BaseTop: c.BaseTop,
		Bars: [2]geom.Length{c.Bar, c.Bar}, Limit: verify.DefaultLimit,
	}
}

const (
	layIt     = "Lay the check card on the mat, strip M flat on it and strip B on bases, and take your hands away."
	layMore   = "Place %d is measured. Lay the card elsewhere: each corner of the mat and its middle, turned each time."
	layEnough = "Place %d is measured. That is enough; more places tell more."
	layStill  = "Hands off: picture %d of %d."
)

// offerCard checks whether the card rests at a new place.
func (m *Machine) offerCard(s Sighting) {
	v := &m.state.Verify
	if s.Width != m.table.Width || s.Height != m.table.Height {
		v.Problem = fmt.Sprintf("The pictures are now %d×%d, the table was made for %d×%d: do the table again.", s.Width, s.Height, m.table.Width,
			m.table.Height)
		return
	}
	tags := ofCard(s.Markers)
	v.Markers = nil
	for _, k := range tags {
		v.Markers = append(v.Markers, Marker{ID: k.ID, Seen: true, Corners: k.Corners, Used: true})
	}
	mat := s.Markers
	s.Markers = tags
	switch {
	case len(tags) < 2:
		m.laid = nil
		v.Now = m.whereNext()
		return
	case len(m.laid) > 0 && movedSince(m.laid[0].Markers, tags) <= cardStill:
		if len(m.laid) < cardFrames {
			m.laid = append(m.laid, s)
		} else {
			v.Now = m.whereNext()
			return // already measured there
		}
	default:
		m.laid = []Sighting{s}
	}
	v.Now = fmt.Sprintf(layStill, len(m.laid), cardFrames)
	if len(m.laid) != cardFrames {
		return
	}
	if by, ok := m.moved(mat); ok {
		m.laid = nil
		v.Problem = movedText(by)
		return
	}
	m.measurePlace()
}

func movedText(by geom.Length) string {
	return fmt.Sprintf("The camera no longer stands where the table has it, by %.1f mm: do the table again.", by.Millimeters())
}

// moved reports whether the mat's markers show that the camera has moved since the table was made,
// and how far. The running program then registers again, and the card would verify a table that is
// no longer in use.
func (m *Machine) moved(seen []calibration.MarkerSighting) (by geom.Length, ok bool) {
	now, err := calibration.Register(m.table.Intrinsics, m.table.Layout, seen)
	if err != nil {
		return 0, false // too few are visible with the card
	}
	by = m.table.Shift(&now)
	return by, by > max(calibration.MovedLimit, 3*m.table.PlaceSigma(), 3*now.PlaceSigma())
}

// ofCard returns the markers of the check card.
func ofCard(seen []calibration.MarkerSighting) (out []calibration.MarkerSighting) {
	for _, k := range seen {
		if k.ID >= calibration.CheckCardIDs && k.ID < calibration.CheckCardIDs+cardTags {
			out = append(out, k)
		}
	}
	return out
}

// measurePlace measures the card at its place, and evaluates all places again.
func (m *Machine) measurePlace() {
	v := &m.state.Verify
	places := append(slices.Clone(m.places), verify.Sighting{
		Name: fmt.Sprintf("place %d", len(m.places)+1), Tags: meanSightings(m.laid), Frames: len(m.laid),
	})
	result, err := verify.Run(*m.table, checkSetup(v.Card), places)
	if err != nil {
		v.Problem = "This place cannot be measured: " + strings.TrimPrefix(err.Error(), "calibration: verify: ") + "."
		if errors.Is(err, verify.ErrNoCard) {
			v.Problem = "Two markers of one strip must be in plain view; lay the card again."
		}
		return
	}
	m.places, m.laidAt = places, m.laid[len(m.laid)-1].At
	v.Phase = Looking
	v.Problem, v.Result, v.SavedAs = "", &result, ""
	v.Places = placesOf(&result, len(places))
	v.Now = m.whereNext()
}

// whereNext returns where to lay the card next.
func (m *Machine) whereNext() string {
	switch n := len(m.places); {
	case n == 0:
		return layIt
	case n < verifyPlaces:
		return fmt.Sprintf(layMore, n)
	default:
		return fmt.Sprintf(layEnough, n)
	}
}

// placesOf summarises a verification by places.
func placesOf(v *verify.Result, n int) []Place {
	out := make([]Place, n)
	for _, d := range v.Deviations {
		p := &out[d.Place]
		p.Distances++
		p.WorstError = max(p.WorstError, d.Error(), -d.Error())
		p.WorstSigmas = max(p.WorstSigmas, d.Normalised, -d.Normalised)
	}
	return out
}
