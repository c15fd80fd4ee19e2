package move

import (
	"math"

	"sightline/engine/geom"
)

// path is the way of a move: a template laid to the base, and what happens at the
// template's end.
type path struct {
	line    centreLine
	frame   geom.Pose  // the template's start on the table, along the way travelled
	reverse bool       // the base follows backward
	l       float64    // the base's length
	flip    geom.Angle // turned about its centre at the end
	slide   float64    // to the right on the end of the template
}

// newPath lays a template to the moving ship's front edge, or its rear one
// (G122, G140).
func (m *mover) newPath(t Template, reverse bool) path {
	c := path{line: t.line(&m.profile), reverse: reverse, l: m.l}
	p := m.ship.Pose
	c.frame = geom.Pose{Point: p.Transform(geom.Point{Y: m.l / 2}), Heading: p.Heading}
	if reverse {
		c.frame = geom.Pose{Point: p.Transform(geom.Point{Y: -m.l / 2}), Heading: p.Heading + math.Pi}
	}
	m.result.Template = templateOutline(c.line, c.frame)
	return c
}

// pose returns the base's pose on the table when its following mark is at s.
func (c *path) pose(s float64) geom.Pose {
	p := c.line.pose(s, c.l)
	h := c.frame.Heading + p.Heading
	if c.reverse {
		h -= math.Pi
	}
	return geom.Pose{Point: c.frame.Transform(p.Point), Heading: h.Normalized()}
}

// full returns the pose at the end of the whole maneuver (G123, G128, G130).
func (c *path) full() geom.Pose {
	p := c.pose(c.line.length)
	p.Point = p.Transform(geom.Point{X: c.slide})
	p.Heading = (p.Heading + c.flip).Normalized()
	return p
}

// swept returns the template's area up to the base at s.
func (c *path) swept(s float64) sweptArea { return newSweptArea(c.line, c.frame, s, c.l) }

// stop is a place where a move may end.
type stop struct {
	pose geom.Pose
	at   float64 // of the following mark
}
