package live

// Unmeasured says why what is declared measures nothing, as the state says it of a pair.
func (v *State) Unmeasured() string {
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
