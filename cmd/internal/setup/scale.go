package setup

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/engine/geom"
)

// placed is a table from its markers alone, with the seen places of their centres.
type placed struct {
	table   calibration.Table
	centers map[int]geom.Pixel
}

// rule sets the scale of the new table from measured distances, which replace earlier ones.
func (m *Machine) rule(distances []calibration.ScaleDistance) error {
	t := &m.state.Table
	switch {
	case m.state.Step != Table || t.Phase != Ready && t.Phase != Saved:
		return notNow("Measured distances correct a place of the camera that was found: wait for it.")
	case t.Quick:
		return notNow("The quick way estimates the lens with the place: a measured distance needs a lens from a board.")
	case m.placed.centers == nil:
		return notNow("This place of the camera was found before: look again, then give the distances.")
	}
	table := m.placed.table
	check, err := table.MeasureScale(distances, m.placed.centers)
	if err != nil {
		return wrong("%s.", strings.TrimPrefix(err.Error(), "calibration: scale: "))
	}
	if check.Impossible() {
		d := check.Worst()
		return wrong("The markers %d and %d lie %.1f mm apart, sure to ± %.2f mm, and you measured %.1f mm. Measure again, from the middle of "+
			"one black square to the middle of the other.", d.From, d.To, d.Seen.Millimeters(), d.Expected.Millimeters(),
			d.Length.Millimeters())
	}
	t.Scale = ""
	if len(distances) > 0 {
		t.Scale = fmt.Sprintf("Your distances change every length by %+.3f %%. The scale is now known to %.3f %%, before to %.3f %%.",
			100*check.Change, 100*check.After, 100*check.Before)
	}
	if check.Contradicts() {
		t.Scale += " Distances and markers contradict each other: measure again, or lay the markers again."
	}
	m.keep(table)
	return nil
}

// keep makes a table the step's unsaved result.
func (m *Machine) keep(table calibration.Table) {
	t := &m.state.Table
	m.table, t.Table, t.Phase, t.SavedAs = &table, &table, Ready, ""
	t.MiddleSigma = middleSigma(table)
	t.Long = nil
	if !t.Quick {
		t.Long = longest(table)
	}
	m.resetVerify()
}

// longest returns the two longest distances between markers of a table that share no marker.
func longest(t calibration.Table) (out [][2]int) {
	used := slices.DeleteFunc(slices.Clone(t.Layout.Markers), func(m calibration.Marker) bool { return !slices.Contains(t.Used, m.ID) })
	for range 2 {
		var best [2]int
		far := math.Inf(-1)
		for i, a := range used {
			for _, b := range used[:i] {
				if d := a.Center.Sub(b.Center).Norm(); d > far {
					far, best = d, [2]int{b.ID, a.ID}
				}
			}
		}
		if len(used) < 2 {
			return out
		}
		out = append(out, best)
		used = slices.DeleteFunc(used, func(m calibration.Marker) bool { return m.ID == best[0] || m.ID == best[1] })
	}
	return out
}
