package setup

import (
	"cmp"
	"fmt"
	"math"

	"sightline/cmd/internal/sheet"
	"sightline/engine/geom"
)

// PrintState is the step of printing.
type PrintState struct {
	Phase Phase

	// ScaleX and ScaleY are the printer's scale: printed length divided by drawn length. The page's
	// sheets are drawn to compensate it.
	ScaleX, ScaleY float64

	BarX, BarY geom.Length // last measured; 0: not measured
	Verdict    string      // what they mean, in words
}

// Bar is the length of the bars on every sheet, between the outer ends.
const Bar = 100 * geom.Millimeter

// The limits of a measured bar.
const (
	// barGood is the error of a steel rule and a good printer: docs/printing.md.
	barGood = 0.3 * geom.Millimeter
	// barMost is the largest error of a printer. A larger one comes from a viewer that scaled the
	// sheet, and must not be compensated.
	barMost = sheet.ScaleRange * Bar
)

func (m *Machine) resetPrint() {
	m.state.Print = PrintState{Phase: Waiting, ScaleX: m.o.ScaleX, ScaleY: m.o.ScaleY}
	if m.o.Print != nil {
		m.state.Print = m.o.Print()
	}
}

// bars processes the measured bars of a sheet.
func (m *Machine) bars(in Intent) error {
	drawn, err := m.state.Print.Drawn(in.ScaleX, in.ScaleY)
	if err != nil {
		return err
	}
	after, err := drawn.Measured(in.BarX, in.BarY)
	if err != nil {
		return err
	}
	m.state.Print = after
	return nil
}

// Drawn returns p with the scale for which the measured sheet was drawn: x and y, or p's own where
// they are 0. So bars that are sent twice count once.
func (p PrintState) Drawn(x, y float64) (PrintState, error) {
	if x == 0 && y == 0 {
		return p, nil
	}
	if _, err := sheet.ParsePrinterScale(x, y); err != nil {
		return p, wrong("No sheet is drawn for such a printer: %v.", err)
	}
	p.ScaleX, p.ScaleY = cmp.Or(x, 1), cmp.Or(y, 1)
	return p, nil
}

// Measured returns the printer's state after the bars of a sheet, drawn for p, measured x and y. On
// an error, a sentence for people, p stays valid.
func (p PrintState) Measured(x, y geom.Length) (PrintState, error) {
	off := func(l geom.Length) geom.Length { return geom.Length(math.Abs(float64(l - Bar))) }
	if worst := max(off(x), off(y)); !(worst <= barMost+1e-9) {
		return p, wrong("A bar of 100 mm cannot come out %.1f × %.1f mm at true scale: print at 100 %% (actual size, not “fit to page”) and "+
			"measure from outer end to outer end.",
			x.Millimeters(), y.Millimeters())
	}
	sx, sy := p.ScaleX*float64(x/Bar), p.ScaleY*float64(y/Bar)
	if most := float64(barMost / Bar); math.Abs(sx-1) > most || math.Abs(sy-1) > most {
		return p, wrong("That would make this printer's scale %.3f × %.3f, a larger error than a printer makes: did you measure the "+
			"newest sheet?", sx, sy)
	}
	p.BarX, p.BarY = x, y
	if off(x) <= barGood && off(y) <= barGood {
		p.Phase, p.Verdict = Saved, "Good: the prints are as exact as a steel rule can show."
		return p, nil
	}
	p.Phase = Waiting
	p.ScaleX, p.ScaleY = sx, sy
	p.Verdict = fmt.Sprintf("This printer makes 100 mm %.2f mm across and %.2f mm along. The sheets are now drawn so that they come "+
		"out true: print them again and measure again.",
		100*p.ScaleX, 100*p.ScaleY)
	return p, nil
}
