package live

import "sightline/engine"

// Told returns what the agreement lets be told of the measurement, all of it to a judge,
// or says as a *Refusal why that is nothing.
func (s *State) Told(judge bool) (engine.Result, error) {
	if judge {
		return s.Result, nil
	}
	result, ok := s.Policy.Apply(&s.Located.Scene, s.Result)
	switch {
	case ok:
		return result, nil
	case s.Policy.Measuring == MeasuringJudge:
		return result, &Refusal{ErrForbidden, "Only the judge measures at this table."}
	}
	return result, &Refusal{ErrForbidden, "The players agreed to measure only when the rules allow it: " + s.unmeasured() + "."}
}

// unmeasured says why what is declared measures nothing, as the state says it of a pair.
func (s *State) unmeasured() string {
	w := s.Policy.Window
	if w == nil {
		return "nothing is declared that would"
	}
	if w.moves() {
		return w.Text() + " is declared: a movement measures no ranges"
	}
	scene := s.Standing()
	if w.Doing == DoBlast {
		return w.Text() + ", and no ship is seen standing still"
	}
	if ShipOf(&scene, w.Ship) == nil {
		if k, known := s.Track(w.Ship); known && !k.State.Stands() {
			return w.Text() + ", and " + TrackText(&k, s.Located.Captured)
		}
		return w.Text() + ", and " + w.Ship + " is not seen"
	}
	if s.Choice.From == w.Ship && s.Choice.To != "" && s.Pair == nil && s.Reason != "" {
		return w.Text() + ": " + s.Reason
	}
	return w.Text() + ", and no ship that it measures to is seen standing still"
}
