package draw_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/draw"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/tablecheck"
)

// drawnArea is what a drawing's markup shows of an area: a rectangle, and about outlines what a
// stroke of some width covers.
type drawnArea struct {
	rectangle      []geom.Point
	beyond, within []stroke
}

type stroke struct {
	outline []geom.Point
	width   float64
}

// readAreas reads the areas out of a drawing, as a browser would draw them.
func readAreas(t *testing.T, svg []byte) (all []drawnArea) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(string(svg)))
	masks := map[string][]stroke{}
	mask := ""
	legal := 0
	var top float64
	attr := func(e xml.StartElement, name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if e, ok := tok.(xml.EndElement); ok && e.Name.Local == "mask" {
			mask = ""
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch {
		case e.Name.Local == "svg":
			var width float64
			_, _ = fmt.Sscanf(attr(e, "viewBox"), "0 0 %g %g", &width, &top) // of the mat alone
		case e.Name.Local == "path" && attr(e, "class") == "mat":
			for _, p := range points(t, attr(e, "d")) {
				top = max(top, p.Y) // the near edge, where the table's y is 0
			}
		case e.Name.Local == "mask":
			mask = attr(e, "id")
			masks[mask] = nil
		case e.Name.Local == "path" && mask != "" && attr(e, "class") == "zone":
			var width float64
			_, err := fmt.Sscanf(attr(e, "style"), "stroke-width:%g;", &width)
			require.NoError(t, err)
			masks[mask] = append(masks[mask], stroke{points(t, attr(e, "d")), width})
		case e.Name.Local == "g" && attr(e, "class") == "legal":
			all = append(all, drawnArea{beyond: masks[strings.Trim(attr(e, "mask"), "url(#)")]})
			legal = len(all)
		case e.Name.Local == "path" && len(all) == legal && legal > 0 && all[legal-1].rectangle == nil:
			all[legal-1].rectangle = points(t, attr(e, "d"))
		}
	}
	for i := range all {
		for k := 0; masks[fmt.Sprintf("within%d-%d", i, k)] != nil; k++ {
			all[i].within = append(all[i].within, masks[fmt.Sprintf("within%d-%d", i, k)]...)
		}
	}
	flip := func(ps []geom.Point) {
		for i := range ps {
			ps[i].Y = top - ps[i].Y
		}
	}
	for i := range all {
		flip(all[i].rectangle)
		for _, z := range append(all[i].beyond, all[i].within...) {
			flip(z.outline)
		}
	}
	return all
}

// points reads the corners of a closed polygon's path data.
func points(t *testing.T, d string) (out []geom.Point) {
	t.Helper()
	for _, part := range strings.FieldsFunc(d, func(r rune) bool { return strings.ContainsRune("MLZ", r) }) {
		xy := strings.Fields(part)
		require.Len(t, xy, 2, d)
		x, err := strconv.ParseFloat(xy[0], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(xy[1], 64)
		require.NoError(t, err)
		out = append(out, geom.Point{X: x, Y: y})
	}
	return out
}

// far is how far a point is from a filled polygon, the slow way: from many points of its sides.
func (s stroke) far(p geom.Point) float64 {
	inside := false
	least := math.Inf(1)
	for i, a := range s.outline {
		b := s.outline[(i+1)%len(s.outline)]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < a.X+(p.Y-a.Y)/(b.Y-a.Y)*(b.X-a.X) {
			inside = !inside
		}
		for k := range 400 {
			f := float64(k) / 400
			least = min(least, math.Hypot(a.X+f*(b.X-a.X)-p.X, a.Y+f*(b.Y-a.Y)-p.Y))
		}
	}
	if inside {
		return 0
	}
	return least
}

// shows reports whether a point is drawn as one where something may lie, and how near it is to
// where that changes.
func (a *drawnArea) shows(p geom.Point) (legal bool, margin float64) {
	lo, hi := a.rectangle[0], a.rectangle[2]
	margin = min(p.X-min(lo.X, hi.X), max(lo.X, hi.X)-p.X, p.Y-min(lo.Y, hi.Y), max(lo.Y, hi.Y)-p.Y)
	for _, z := range a.beyond {
		margin = min(margin, z.far(p)-z.width/2)
	}
	for _, z := range a.within {
		margin = min(margin, z.width/2-z.far(p))
	}
	return margin > 0, math.Abs(margin)
}

// TestTheDrawnAreasAreWhereThingsAreLegal puts a speck at many places and compares what the
// rules say of it there, by package engine, with what the drawing shows, by the slow way above.
func TestTheDrawnAreasAreWhereThingsAreLegal(t *testing.T) {
	speck := []geom.Point{{X: 0.001}, {X: -0.001, Y: 0.001}, {X: -0.001, Y: -0.001}}
	mid := geom.Point{X: 457.2, Y: 457.2}
	check := map[tablecheck.Placing]func(*engine.Scene, engine.Options) ([]engine.Check, error){
		tablecheck.PlaceObstacles: func(s *engine.Scene, o engine.Options) ([]engine.Check, error) {
			all, err := engine.CheckObstacles(s, o)
			return all, err
		},
		tablecheck.PlaceMarkers: engine.CheckHyperspaceMarkers,
	}
	rng := rand.New(rand.NewPCG(5, 8))
	for what, ask := range check {
		for range 20 {
			s := engine.Scene{Rules: engine.Rules20, MatWidth: 914.4, MatHeight: 914.4}
			for i := range 3 {
				s.Obstacles = append(s.Obstacles, engine.Obstacle{ID: fmt.Sprintf("rock%d", i), Kind: "asteroid",
					Pose: geom.Pose{Point: geom.Point{X: 200 + 500*rng.Float64(), Y: 200 + 500*rng.Float64()},
						Heading: geom.Angle(6 * rng.Float64())},
					Outline: []geom.Point{{X: -40, Y: -20}, {X: 35, Y: -25}, {X: 10, Y: 5}, {X: 30, Y: 40}, {X: -20, Y: 30}}})
			}
			if what == tablecheck.PlaceMarkers {
				at := geom.Point{X: 200 + 500*rng.Float64(), Y: 300}
				s.Markers = []engine.Token{{ID: "h1", Kind: "hyperspace_marker", Pose: geom.Pose{Point: at}}}
			}
			drawn := drawnOf(t, &s, what)
			require.Len(t, drawn, 1)
			for range 40 {
				p := geom.Point{X: 914.4 * rng.Float64(), Y: 914.4 * rng.Float64()}
				with := s
				if what == tablecheck.PlaceObstacles {
					with.Obstacles = append(with.Obstacles[:3:3], engine.Obstacle{ID: "new", Pose: geom.Pose{Point: p}, Outline: speck})
				} else {
					with.Markers = append(with.Markers[:1:1], engine.Token{ID: "new", Kind: "hyperspace_marker", Pose: geom.Pose{Point: p},
						Outline: speck})
				}
				all, err := ask(&with, engine.Options{})
				require.NoError(t, err)
				agrees(t, &drawn[0], p, all, "new")
			}
		}
	}

	for range 20 { // the fourth satellite, with three on the table
		s := engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4}
		for i, at := range []geom.Point{mid, {X: 250, Y: 300}, {X: 680, Y: 600}} {
			s.Markers = append(s.Markers, engine.Token{ID: fmt.Sprintf("sat%d", i+1), Kind: "satellite", Pose: geom.Pose{Point: at,
				Heading: geom.Angle(6 * rng.Float64())}})
		}
		drawn := drawnOf(t, &s, tablecheck.PlaceFeatures)
		require.Len(t, drawn, 2)
		require.Len(t, drawn[0].within, 2)
		for range 40 {
			p := mid.Add(geom.Point{X: 700 * (rng.Float64() - 0.5), Y: 700 * (rng.Float64() - 0.5)})
			with := s
			with.Markers = append(with.Markers[:3:3], engine.Token{ID: "new", Kind: "satellite", Pose: geom.Pose{Point: p}, Outline: speck},
				engine.Token{ID: "x", Kind: "satellite", Pose: geom.Pose{Point: geom.Point{X: 20, Y: 20}}, Outline: speck})
			all, err := engine.CheckFeatures(&with, engine.AssaultAtTheSatelliteArray, engine.Options{})
			require.NoError(t, err)
			legal := true
			for _, c := range all {
				about := c.ID == "new" && c.Against != "x" || c.Against == "new" && c.ID != "x"
				legal = legal && (!about || c.Legal == engine.Yes)
			}
			one, m1 := drawn[0].shows(p)
			two, m2 := drawn[1].shows(p)
			if min(m1, m2) > 0.5 {
				assert.Equal(t, legal, one || two, "%v", p)
			}
		}
	}
}

// A ship that stands in the drawn strip, with all its corners, is deployed legally.
func TestTheDrawnStripIsWhereShipsAreDeployed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	s := engine.Scene{Rules: engine.Rules20, MatWidth: 914.4, MatHeight: 914.4}
	drawn := drawnOf(t, &s, tablecheck.PlaceShips)
	require.Len(t, drawn, 2)
	for range 400 {
		player := 1 + rng.IntN(2)
		p := geom.Pose{Point: geom.Point{X: 914.4 * rng.Float64(), Y: 150*rng.Float64() - 20}, Heading: geom.Angle(6 * rng.Float64())}
		if player == 2 {
			p.Y = 914.4 - p.Y
		}
		with := s
		with.Ships = []engine.Ship{{ID: "A1", Player: player, Base: engine.Small, Pose: p}}
		all, err := engine.CheckDeployment(&with, engine.Options{})
		require.NoError(t, err)
		legal := true
		for _, c := range all {
			legal = legal && c.Legal == engine.Yes
		}
		shown, near := true, math.Inf(1)
		for _, q := range []geom.Point{{X: 20, Y: 20}, {X: -20, Y: 20}, {X: 20, Y: -20}, {X: -20, Y: -20}} {
			in, margin := drawn[player-1].shows(p.Transform(q))
			shown, near = shown && in, min(near, margin)
		}
		if near > 0.02 {
			assert.Equal(t, legal, shown, "%+v", with.Ships[0])
		}
	}
}

// What the camera may be wrong by is left out of the area.
func TestADrawnAreaIsSurelyLegal(t *testing.T) {
	s := engine.Scene{Rules: engine.Rules25, MatWidth: 914.4, MatHeight: 914.4, Obstacles: []engine.Obstacle{{ID: "rock1", Sigma: 0.5,
		Pose: geom.Pose{Point: geom.Point{X: 457, Y: 457}}, Outline: []geom.Point{{X: 20}, {X: -20, Y: 20}, {X: -20, Y: -20}}}}}
	drawn := drawnOf(t, &s, tablecheck.PlaceObstacles)
	assert.InDelta(t, 2*(100+3*0.5), drawn[0].beyond[0].width, 0.01)
	_, err := tablecheck.Areas(&s, tablecheck.PlaceMarkers, engine.Options{})
	assert.ErrorContains(t, err, "no markers are placed in 2.5")
	_, err = tablecheck.Areas(&s, tablecheck.PlaceFeatures, engine.Options{})
	assert.ErrorIs(t, err, tablecheck.ErrNoFeatures)
	s.MatWidth = 0
	_, err = tablecheck.Areas(&s, tablecheck.PlaceShips, engine.Options{})
	assert.ErrorIs(t, err, tablecheck.ErrNoMat)
	s.MatWidth, s.MatHeight = 300, 300 // nothing is beyond range 2 of all its edges
	assert.Empty(t, drawnOf(t, &s, tablecheck.PlaceObstacles))
}

func drawnOf(t *testing.T, s *engine.Scene, what tablecheck.Placing) []drawnArea {
	t.Helper()
	areas, err := tablecheck.Areas(s, what, engine.Options{})
	require.NoError(t, err)
	svg, err := draw.SVG(s, draw.Options{Areas: areas})
	require.NoError(t, err)
	over, err := draw.AreasOver(s, areas)
	require.NoError(t, err)
	all, alone := readAreas(t, svg), readAreas(t, over)
	require.Len(t, alone, len(all))
	for i := range all {
		same(t, all[i].rectangle, alone[i].rectangle)
		require.Len(t, alone[i].beyond, len(all[i].beyond))
		require.Len(t, alone[i].within, len(all[i].within))
		for k, z := range append(all[i].beyond, all[i].within...) {
			other := append(alone[i].beyond, alone[i].within...)[k]
			assert.Equal(t, z.width, other.width)
			same(t, z.outline, other.outline)
		}
	}
	return all
}

// same compares outlines that were written to the hundredth.
func same(t *testing.T, a, b []geom.Point) {
	t.Helper()
	require.Len(t, b, len(a))
	for i := range a {
		assert.Less(t, a[i].Distance(b[i]).Millimeters(), 0.02)
	}
}

// agrees compares what the rules say of a thing with what is drawn where it lies.
func agrees(t *testing.T, a *drawnArea, p geom.Point, all []engine.Check, id string) {
	t.Helper()
	legal := true
	for _, c := range all {
		legal = legal && (c.ID != id && c.Against != id || c.Legal == engine.Yes)
	}
	if shown, margin := a.shows(p); margin > 0.5 { // the slow way is as fine as that
		assert.Equal(t, legal, shown, "%v is %.1f mm from the area's edge", p, margin)
	}
}
