package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
)

// markedShip is a ship whose front edge a person marked in the picture.
type markedShip struct {
	id     string
	player int
	vision.Mark
}

// readMarked reads what --mark says of ships. One may not be placed by --at too.
func readMarked(all []string, placed []live.PlacedShip) (out []markedShip, err error) {
	const want = "expected SHIP,BASE,X1,Y1,X2,Y2 or SHIP,BASE,X1,Y1,X2,Y2,SIGMA, such as A1,small,812,440.5,853,441"
	for _, text := range all {
		part := strings.Split(text, ",")
		if len(part) != 6 && len(part) != 7 {
			return nil, fmt.Errorf("--mark %q: %s", text, want)
		}
		m := markedShip{id: strings.TrimSpace(part[0])}
		code, err := vision.CodeOfID(m.id)
		if err != nil {
			return nil, fmt.Errorf("--mark %q: %w", text, err)
		}
		m.player = code.Player()
		if m.Base, err = engine.ParseBase(strings.TrimSpace(part[1])); err != nil {
			return nil, fmt.Errorf("--mark %q: %w", text, err)
		}
		for i, p := range part[2:] {
			v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("--mark %q: expected a number of pixels, got %q", text, p)
			}
			*[...]*float64{&m.Left.X, &m.Left.Y, &m.Right.X, &m.Right.Y, &m.Sigma}[i] = v
		}
		if len(part) == 7 && !(m.Sigma > 0 && m.Sigma <= markSigmaMost) {
			return nil, fmt.Errorf("--mark %q: expected a sigma of more than 0 and at most %d px, got %g", text, markSigmaMost, m.Sigma)
		}
		if slices.ContainsFunc(out, func(o markedShip) bool { return o.id == m.id }) {
			return nil, fmt.Errorf("--mark %q: %s is marked twice", text, m.id)
		}
		if slices.ContainsFunc(placed, func(o live.PlacedShip) bool { return o.ID == m.id }) {
			return nil, fmt.Errorf("--mark %q: --at says where %s stands: expected one of the two", text, m.id)
		}
		out = append(out, m)
	}
	return out, nil
}

// markSigmaMost, in px, is more than anyone is off who sees the corner.
const markSigmaMost = 20

// locateMarked puts the ships that a person marked into what was located. A code that is read in the picture is surer
// than a mark, and stands. It returns missed, what was not found before, or where that is nil why it did not place the first one.
func locateMarked(l *vision.Locator, f vision.Frame, marked []markedShip, got *vision.Located, missed error, warn io.Writer) error {
	miss := func(format string, args ...any) {
		why := fmt.Errorf(f.Name+": "+format, args...)
		if missed == nil { // told as the command ends
			missed = unanswered{why}
			return
		}
		fmt.Fprintln(warn, why)
	}
	for _, m := range marked {
		s, err := l.Mark(m.Mark)
		if err != nil {
			miss("--mark of %s: %w", m.id, err)
			continue
		}
		if mat := l.Table().Layout; !(s.Pose.X >= 0 && s.Pose.X <= float64(mat.Width) && s.Pose.Y >= 0 && s.Pose.Y <= float64(mat.Height)) {
			miss("--mark of %s: its base would stand at (%.0f, %.0f), off the mat", m.id, s.Pose.X, s.Pose.Y)
			continue
		}
		if i := slices.IndexFunc(got.Scene.Ships, func(o engine.Ship) bool { return o.ID == m.id }); i >= 0 {
			if why := contradicted(&got.Scene.Ships[i], live.PlacedShip{Base: m.Base, Pose: s.Pose}); why != "" {
				miss("the code of %s is read %s: --mark is left out", m.id, why)
				continue
			}
			fmt.Fprintf(warn, "%s: the code of %s is read; --mark is not needed\n", f.Name, m.id)
			continue
		}
		if other := standsOn(got, m.Base, s.Pose); other != "" {
			miss("%s stands where --mark puts %s: it is not located", other, m.id)
			continue
		}
		got.Scene.Ships = append(got.Scene.Ships, vision.MarkShip(m.id, m.player, m.Base, s))
		got.Ships = append(got.Ships, l.MarkView(m.id, m.Base, s))
	}
	return missed
}
