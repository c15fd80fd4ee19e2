package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/locate"
	"sightline/vision/ship"
	"sightline/vision/token"
)

// markedShip is a ship whose front edge a person marked in the picture.
type markedShip struct {
	id     string
	player int
	ship.Mark
}

// readMarked parses --mark. A ship may not be given by --at too.
func readMarked(all []string, placed []live.PlacedShip) (out []markedShip, err error) {
	const want = "expected SHIP,BASE,X1,Y1,X2,Y2 or SHIP,BASE,X1,Y1,X2,Y2,SIGMA, such as A1,small,812,440.5,853,441"
	for _, text := range all {
		part := strings.Split(text, ",")
		if len(part) != 6 && len(part) != 7 {
			return nil, fmt.Errorf("--mark %q: %s", text, want)
		}
		m := markedShip{id: strings.TrimSpace(part[0])}
		code, err := token.CodeOfID(m.id)
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

// markSigmaMost, in px, is the largest accepted sigma of a visible corner.
const markSigmaMost = 20

// markAll adds the marked ships to the located ones.
func (p *picture) markAll(l *locate.Locator, marked []markedShip) {
	for _, m := range marked {
		s, err := l.Mark(m.Mark)
		if err != nil {
			p.miss("--mark of %s: %w", m.id, err)
			continue
		}
		if !onMat(l, s.Pose) {
			p.miss("--mark of %s: its base would stand at (%.0f, %.0f), off the mat", m.id, s.Pose.X, s.Pose.Y)
			continue
		}
		if p.read(m.id, live.PlacedShip{Base: m.Base, Pose: s.Pose}, "--mark") {
			continue
		}
		if other := pipeline.ShipAt(p.Scene.Ships, m.id, m.Base, s.Pose); other != "" {
			p.miss("%s stands where --mark puts %s: it is not located", other, m.id)
			continue
		}
		view := l.MarkView(m.id, m.Base, s)
		fmt.Fprintf(p.warn, "%s: --mark of %s: its nose points %s in the picture, and its base is centred at (%.0f, %.0f); if it points the "+
			"other way, swap the corners: left and right are the ship's own\n", p.name, m.id, noseOf(view.Outline), s.Pose.X, s.Pose.Y)
		p.Scene.Ships = append(p.Scene.Ships, ship.MarkShip(m.id, m.player, m.Base, s))
		p.Located.Ships = append(p.Located.Ships, view)
	}
}

// noseOf returns the direction, in the picture, in which a base with these corners points; they are
// front left, front right, rear right and rear left.
func noseOf(corners [4]geom.Pixel) string {
	x := corners[0].X + corners[1].X - corners[2].X - corners[3].X
	y := corners[0].Y + corners[1].Y - corners[2].Y - corners[3].Y
	ways := [...]string{"up", "up and right", "right", "down and right", "down", "down and left", "left", "up and left"}
	eighth := int(math.Round(math.Atan2(x, -y) / (math.Pi / 4)))
	return ways[(eighth+8)%8]
}
