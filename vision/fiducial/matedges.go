package fiducial

import (
	"fmt"
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// MatEdges is what a picture shows of a mat's four edges near where a calibration puts them.
type MatEdges struct {
	Seen int         // edges that stand out from what lies round the mat
	Off  geom.Length // by how far one of those lies from its place, at its ends and in its middle: the most
}

const (
	// edgeReach, in mm, is how far from its place an edge is looked for.
	edgeReach = 30
	// edgeStep, in mm, is that of the places across an edge at which the picture is read.
	edgeStep = 1.0
	// edgePlaces are the places along an edge, edgeEnds mm from the corners, which are rounded.
	edgePlaces = 60
	edgeEnds   = 40.0
	// edgeBow, in mm, is how far a straight edge may bend: four corners leave open how the lens does.
	edgeBow = 3
	// edgeShare is the least share of the places that show the edge, less those that show one the other way round, edgeRival
	// the most that another line may have of that, edgeApart mm away, and edgeSame what one has that may be the edge as well.
	edgeShare = 0.5
	edgeRival = 0.8
	edgeSame  = 0.95
	edgeApart = 5.0
	// All four edges confirm a camera's place when they lie within edgesOff: mats are cut to 1.5 mm, and a person points at
	// their corners to a pixel. edgesElsewhere are enough to say that one does not.
	edgesElsewhere = 3
	edgesOff       = 3 * geom.Millimeter
)

// EdgesLeave is the standard deviation, along each axis, of the place of a camera that the mat's edges confirm: of 144 cameras
// that were moved by 7 mm or more, or turned so that a corner seemed to move by 8 mm or more, none was confirmed.
const EdgesLeave = 2 * geom.Millimeter

// Confirm returns nil when the edges show that the camera stands where the calibration has it, to a few millimetres, and else
// why they do not.
func (e MatEdges) Confirm() error {
	switch {
	case e.Seen < 4 && !e.Elsewhere():
		return fmt.Errorf("of the mat's four edges %d can be seen, and all are needed", e.Seen)
	case e.Elsewhere():
		return fmt.Errorf("an edge of the mat lies %.0f mm from where the calibration puts it", e.Off.Millimeters())
	}
	return nil
}

// Elsewhere reports whether enough edges are seen, and not all where the calibration puts them.
func (e MatEdges) Elsewhere() bool { return e.Seen >= edgesElsewhere && e.Off > edgesOff }

// FindMatEdges looks for the edges of a table's mat. An edge is the strongest line of one polarity within edgeReach of its place;
// where another line is nearly as strong, it is not seen.
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

// edgeSteep is how steep the picture is across an edge, -1 … 1, at each place along and across it.
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
	found := edgeLine{off: math.Inf(1)} // of those that are as good as the best, the nearest
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

// edgeLine is a line that an edge may be.
type edgeLine struct {
	score  float64 // the share of its places that show it
	off    float64 // of its ends and its middle, from their places, mm: the most
	middle float64 // where its middle lies, mm
}

// along returns the mean steepness along a line that begins and ends so many steps across, and bows between.
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

// steepness reads the picture across an edge: the light inside less the light outside, over what is usual there. ok is false
// where less than half of the edge lies in the picture.
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
