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
	"sightline/engine/geom"
	"sightline/vision"
)

// readPlaced reads what --at says of ships whose codes cannot be read.
func readPlaced(all []string) (out []live.PlacedShip, err error) {
	for _, text := range all {
		part := strings.Split(text, ",")
		if len(part) != 4 && len(part) != 5 {
			return nil, fmt.Errorf("--at %q: expected SHIP,BASE,X,Y or SHIP,BASE,X,Y,HEADING, such as A1,small,420,310,90", text)
		}
		var number [3]*float64
		for i, p := range part[2:] {
			v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
			if err != nil {
				return nil, fmt.Errorf("--at %q: expected a number, got %q", text, p)
			}
			number[i] = &v
		}
		s, err := live.ReadPlacedShip(strings.TrimSpace(part[0]), strings.TrimSpace(part[1]), number[0], number[1], number[2])
		if err != nil {
			return nil, fmt.Errorf("--at %q: %w", text, err)
		}
		if slices.ContainsFunc(out, func(o live.PlacedShip) bool { return o.ID == s.ID }) {
			return nil, fmt.Errorf("--at %q: %s is placed twice", text, s.ID)
		}
		out = append(out, s)
	}
	return out, nil
}

// locatePlaced finds the bases of ships that a person placed by their edges, and says
// why it did not find the first one that it did not: then what else was located still stands.
func locatePlaced(l *vision.Locator, f vision.Frame, placed []live.PlacedShip, got *vision.Located, warn io.Writer) (missed, err error) {
	miss := func(format string, args ...any) {
		why := fmt.Errorf(format, args...)
		if missed == nil { // told as the command ends
			missed = unanswered{why}
			return
		}
		fmt.Fprintln(warn, why)
	}
	for _, p := range placed {
		if i := slices.IndexFunc(got.Scene.Ships, func(s engine.Ship) bool { return s.ID == p.ID }); i >= 0 {
			if why := contradicted(&got.Scene.Ships[i], p); why != "" {
				miss("%s: the code of %s is read %s: --at is left out", f.Name, p.ID, why)
				continue
			}
			fmt.Fprintf(warn, "%s: the code of %s is read; --at is not needed\n", f.Name, p.ID)
			continue
		}
		if mat := l.Table().Layout; !(p.Pose.X >= 0 && p.Pose.X <= float64(mat.Width) && p.Pose.Y >= 0 && p.Pose.Y <= float64(mat.Height)) {
			return nil, fmt.Errorf("--at: (%.0f, %.0f) of %s is off the mat: expected a place on its %.0f × %.0f mm", p.Pose.X, p.Pose.Y, p.ID, float64(mat.Width), float64(mat.Height))
		}
		hint := vision.EdgeHint{Base: p.Base, Pose: p.Pose, Reach: 12 * geom.Millimeter, Turn: 20 * geom.Degree}
		if !p.Headed {
			hint.Turn = vision.AnyTurn(p.Base)
		}
		s, ok, err := l.Edges(f, hint)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.Name, p.ID, err)
		}
		if u, found := got.Obstacles.Unnamed(p.Base, hint.Pose, hint.Reach, hint.Turn); !ok && found {
			s, ok = u.Sight, true
			s.Pose, s.Covariance = u.Pose, u.Covariance
		}
		if !ok {
			miss("%s: no %v base shows its edges within 12 mm of (%.0f, %.0f): %s is not located", f.Name, p.Base, p.Pose.X, p.Pose.Y, p.ID)
			continue
		}
		if other := standsOn(got, p.Base, s.Pose); other != "" {
			miss("%s: %s stands where --at puts %s: it is not located", f.Name, other, p.ID)
			continue
		}
		if !s.Ours {
			fmt.Fprintf(warn, "%s: the card of %s is not known to be one of ours: its edges tell its place to %.1f mm\n", f.Name, p.ID,
				math.Sqrt(max(s.Covariance[0], s.Covariance[4])))
		}
		got.Scene.Ships = append(got.Scene.Ships, vision.EdgeShip(p.ID, p.Player, p.Base, s, !p.Headed))
		got.Ships = append(got.Ships, l.EdgeView(p.ID, p.Base, s))
	}
	return missed, nil
}

// contradicted says in what a ship whose code is read is not what a person says of it; "": in
// nothing but a place that is less than a base's length away.
func contradicted(s *engine.Ship, p live.PlacedShip) string {
	_, length := s.Base.Size()
	away := s.Pose.Distance(p.Pose.Point)
	var size, place string
	if s.Base != p.Base {
		size = fmt.Sprintf("on a %v base, not a %v one", s.Base, p.Base)
	}
	if away > length {
		place = fmt.Sprintf("at (%.0f, %.0f), %.0f mm from there", s.Pose.X, s.Pose.Y, away.Millimeters())
	}
	if size != "" && place != "" {
		return size + ", and " + place
	}
	return size + place
}

// standsOn returns which ship stands where another is to be placed; "": none.
func standsOn(got *vision.Located, base engine.Base, at geom.Pose) string {
	for _, o := range got.Scene.Ships {
		if vision.BasesOverlap(o.Base, o.Pose, base, at, 2*geom.Millimeter) {
			return o.ID
		}
	}
	return ""
}
