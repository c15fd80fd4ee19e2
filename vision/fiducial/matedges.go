package fiducial

import (
	"fmt"
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// MatEdges describes a mat's four edges in a picture, near their places by a calibration.
type MatEdges struct {
	Seen int         // number of edges that contrast with the mat's surroundings
	Off  geom.Length // largest distance of one of these from its place, at its ends and its middle
}

const (
	// edgeReach, in mm, is how far from its place an edge is searched.
	edgeReach = 30
	// edgeStep, in mm, is the spacing of the samples across an edge.
	edgeStep = 1.0
	// edgePlaces is the number of places along an edge; they begin edgeEnds mm from the corners, which
	// are rounded.
	edgePlaces = 60
	edgeEnds   = 40.0
	// edgeBow, in mm, is how far a straight edge may appear bent: four corners do not fix the lens's
	// distortion.
	edgeBow = 3
	// edgeShare is the least share of the places that show the edge, less those that show one of the
	// opposite polarity. edgeRival is the largest share of that which another line, edgeApart mm away,
	// may have; edgeSame is the share from which a line may be the edge too.
	edgeShare = 0.5
	edgeRival = 0.8
	edgeSame  = 0.95
	edgeApart = 5.0
	// All four edges confirm a camera's place if they lie within edgesOff: mats are cut to 1.5 mm, and
	// a person points at their corners to a pixel. edgesElsewhere edges are enough to contradict it.
	edgesElsewhere = 3
	edgesOff       = 3 * geom.Millimeter
)

// EdgesLeave is the standard deviation, along each axis, of the position of a camera that the mat's
// edges confirm. Of 144 cameras that were moved by 7 mm or more, or turned so that a corner seemed
// to move by 8 mm or more, none was confirmed.
const EdgesLeave = 2 * geom.Millimeter

// Confirm returns nil if the edges show that the camera stands where the calibration puts it, to a
// few millimetres; otherwise the error says why they do not.
func (e MatEdges) Confirm() error {
	switch {
	case e.Seen < 4 && !e.Elsewhere():
		return fmt.Errorf("of the mat's four edges %d can be seen, and all are needed", e.Seen)
	case e.Elsewhere():
		return fmt.Errorf("an edge of the mat lies %.0f mm from where the calibration puts it", e.Off.Millimeters())
	}
	return nil
}

// Elsewhere reports whether enough edges are visible but not all are in their places.
func (e MatEdges) Elsewhere() bool { return e.Seen >= edgesElsewhere && e.Off > edgesOff }

// FindMatEdges searches for the edges of a table's mat. An edge is the strongest line of one
// polarity within edgeReach of its place. If another line is nearly as strong, the edge does not
// count as seen.
func FindMatEdges(g *image.Gray, t *calibration.Table) (out MatEdges) {
	corners := t.Layout.Corners()
	for i, from := range corners {
		off, ok := matEdge(g, t, from, corners[(i+1)%4])
		if ok {
			out.Seen++
			out.Off = max(out.Off, off)
		}
	}
	return out
}

const edgeSteps = 2*edgeReach/edgeStep + 1

// edgeSteep is the steepness of the picture across an edge, -1 … 1, at each place along and across
// it.
type edgeSteep [edgePlaces][int(edgeSteps)]float64

// matEdge returns how far from its place the edge between two corners lies.
func matEdge(g *image.Gray, t *calibration.Table, from, to geom.Point) (off geom.Length, ok bool) {
	steep, ok := steepness(g, t, from, to)
	if !ok {
		return 0, false
	}
	const last = int(edgeSteps) - 1
	var best, rival float64
	lines := make([]edgeLine, 0, (last/2+1)*(last/2+1)*(2*edgeBow+1))
	for a := 0; a <= last; a += 2 { // finer than what is asked
		for b := 0; b <= last; b += 2 {
			for bow := -edgeBow; bow <= edgeBow; bow++ {
				begin, end, bend := edgeStep*float64(a-last/2), edgeStep*float64(b-last/2), float64(bow)
				l := edgeLine{middle: (begin+end)/2 + bend, score: math.Abs(steep.along(float64(a), float64(b), bend/edgeStep))}
				l.off = max(math.Abs(begin), math.Abs(end), math.Abs(l.middle))
				best = max(best, l.score)
				lines = append(lines, l)
			}
		}
	}
	found := edgeLine{off: math.Inf(1)} // the nearest of those as good as the best
	for _, l := range lines {
		if l.score >= edgeSame*best && l.off < found.off {
			found = l
		}
	}
	for _, l := range lines {
		if math.Abs(l.middle-found.middle) > edgeApart {
			rival = max(rival, l.score)
		}
	}
	return geom.Length(found.off), best >= edgeShare && rival < edgeRival*best
}

// edgeLine is a line that may be an edge.
type edgeLine struct {
	score  float64 // the share of its places that show it
	off    float64 // largest distance of its ends and its middle from their places, mm
	middle float64 // where its middle lies, mm
}

// along returns the mean steepness along a line with the given steps across at its ends, and a bow
// between them.
func (s *edgeSteep) along(begin, end, bow float64) (sum float64) {
	for i := range s {
		u := (float64(i) + 0.5) / edgePlaces
		k := int(math.Round(begin*(1-u) + end*u + 4*bow*u*(1-u)))
		if k >= 0 && k < len(s[i]) {
			sum += s[i][k]
		}
	}
	return sum / edgePlaces
}

// steepness reads the picture across an edge: the light inside less the light outside, divided by
// the usual difference there. It reports false if less than half of the edge lies in the picture.
func steepness(g *image.Gray, t *calibration.Table, from, to geom.Point) (s *edgeSteep, ok bool) {
	const wide = 2 // steps that are averaged on each side
	length := float64(from.Distance(to))
	dir := to.Sub(from).Mul(1 / length)
	inside := geom.Point{X: -dir.Y, Y: dir.X} // the corners go round counter-clockwise
	s = &edgeSteep{}
	var sizes []float64
	missing := 0
	for i := range s {
		var light [int(edgeSteps) + 2*wide]float64
		in := true
		p := from.Add(dir.Mul(edgeEnds + (length-2*edgeEnds)*(float64(i)+0.5)/edgePlaces))
		for k := range light {
			px, ok1 := t.PixelOf(p.Add(inside.Mul(float64(k-wide)*edgeStep-edgeReach)), 0)
			v, ok2 := levelAt(g, px)
			light[k], in = v, in && ok1 && ok2
		}
		if !in {
			missing++
			continue
		}
		for k := range s[i] {
			for d := 1; d <= wide; d++ {
				s[i][k] += (light[k+wide+d] - light[k+wide-d]) / wide
			}
			sizes = append(sizes, math.Abs(s[i][k]))
		}
	}
	if 2*missing > len(s) {
		return s, false
	}
	usual := 2 + 3*gray.Quantile(sizes, 0.5)
	for i := range s {
		for k := range s[i] {
			s[i][k] = max(-1, min(s[i][k]/usual, 1))
		}
	}
	return s, true
}
