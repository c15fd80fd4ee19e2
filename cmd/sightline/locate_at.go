package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/look"
)

// readPlaced parses --at: ships whose codes cannot be read, and about where they stand.
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

// placeAll finds the bases of ships that a person placed, by their edges.
func (p *picture) placeAll(l *locate.Locator, f vision.Frame, placed []live.PlacedShip) error {
	search := pipeline.EdgeSearch{Locator: l, Frame: f, Located: &p.Located}
	shows := "its edges"
	if p.looks != nil {
		shows = "its card or its edges"
	}
	for _, s := range placed {
		if p.read(s.ID, s, "--at") {
			continue
		}
		if !onMat(l, s.Pose) {
			mat := l.Table().Layout
			return fmt.Errorf("--at: (%.0f, %.0f) of %s is off the mat: expected a place on its %.0f × %.0f mm", s.Pose.X, s.Pose.Y, s.ID,
				float64(mat.Width), float64(mat.Height))
		}
		sight, err := search.Place(s, nil)
		var occupied *pipeline.OccupiedError
		var card *look.OtherCardError
		var turned *look.TurnedError
		switch {
		case errors.As(err, &card), errors.As(err, &turned):
			p.miss("%s is not located: %v", s.ID, err)
		case errors.Is(err, pipeline.ErrNoEdges):
			p.miss("no %v base shows %s within %.0f mm of (%.0f, %.0f): %s is not located; where its miniature hides them, --mark says "+
				"where its front edge is", s.Base, shows, float64(pipeline.PlacedReach), s.Pose.X, s.Pose.Y, s.ID)
		case errors.As(err, &occupied):
			p.miss("%s stands where --at puts %s: it is not located", occupied.By, s.ID)
		case err != nil:
			return fmt.Errorf("%s: %s: %w", f.Name, s.ID, err)
		case !sight.Ours:
			fmt.Fprintf(p.warn, "%s: the card of %s is not known to be one of ours: its edges tell its place to %.1f mm\n", f.Name, s.ID,
				math.Sqrt(max(sight.Covariance[0], sight.Covariance[4])))
		}
	}
	return nil
}

// read reports whether the code of a placed ship was read, which is more certain, and warns that
// the placement was ignored.
func (p *picture) read(id string, said live.PlacedShip, by string) bool {
	i := slices.IndexFunc(p.Scene.Ships, func(s engine.Ship) bool { return s.ID == id })
	if i < 0 {
		return false
	}
	if why := contradicted(&p.Scene.Ships[i], said); why != "" {
		p.miss("the code of %s is read %s: %s is left out", id, why, by)
	} else {
		fmt.Fprintf(p.warn, "%s: the code of %s is read; %s is not needed\n", p.name, id, by)
	}
	return true
}

// onMat reports whether a place is on the mat.
func onMat(l *locate.Locator, at geom.Pose) bool {
	mat := l.Table().Layout
	return at.X >= 0 && at.X <= float64(mat.Width) && at.Y >= 0 && at.Y <= float64(mat.Height)
}

// contradicted says how a ship whose code was read differs from what a person stated; "" if it does
// not, or only by less than a base's length.
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
