package live

import "sightline/engine"

// Told returns what the agreement lets be told of the measurement, all of it to a judge,
// or says as a *Refusal why that is nothing.
func (v *State) Told(judge bool) (engine.Result, error) {
	if judge {
		return v.Result, nil
	}
	result, ok := v.Policy.Apply(&v.Located.Scene, v.Result)
	switch {
	case ok:
		return result, nil
	case v.Policy.Measuring == MeasuringJudge:
		return result, &Refusal{ErrForbidden, "Only the judge measures at this table."}
	}
	return result, &Refusal{ErrForbidden, "The players agreed to measure only when the rules allow it: " + v.unmeasured() + "."}
}

// unmeasured says why what is declared measures nothing, as the state says it of a pair.
func (v *State) unmeasured() string {
	w := v.Policy.Window
	if w == nil {
		return "nothing is declared that would"
	}
	if w.moves() {
		return w.Text() + " is declared: a movement measures no ranges"
	}
	scene := v.Standing()
	if w.Doing == DoBlast {
		return w.Text() + ", and no ship is seen standing still"
	}
	if ShipOf(&scene, w.Ship) == nil {
		if k, known := v.Track(w.Ship); known && !k.State.Stands() {
			return w.Text() + ", and " + TrackText(&k, v.Located.Captured)
		}
		return w.Text() + ", and " + w.Ship + " is not seen"
	}
	if v.Choice.From == w.Ship && v.Choice.To != "" && v.Pair == nil && v.Reason != "" {
		return w.Text() + ": " + v.Reason
	}
	return w.Text() + ", and no ship that it measures to is seen standing still"
}
