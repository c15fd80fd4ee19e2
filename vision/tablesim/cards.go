package tablesim

import (
	"fmt"
	"image/color"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
)

// ---- markers

// card is a printed mat marker on its white card.
type card struct {
	frame
	half, edge, z float64 // half sides of the black square and of the card; height
	white         [calibration.TagCells][calibration.TagCells]bool
	look          *Look
	id            uint64
}

func newCard(m calibration.Marker, look *Look) (*card, error) {
	c := &card{
		frame: frameOf(geom.Pose{Point: m.Center, Heading: m.Heading}),
		half:  float64(m.Size) / 2, edge: float64(m.Size/2 + calibration.MarkerMargin), z: float64(m.Z), look: look,
	}
	for row := range calibration.TagCells {
		for col := range calibration.TagCells {
			w, err := calibration.TagWhite(m.ID, col, row)
			if err != nil {
				return nil, fmt.Errorf("tablesim: marker %d: %w", m.ID, err)
			}
			c.white[row][col] = w
		}
	}
	c.id = checksum(4, c.x, c.y, c.s, c.c, c.half, c.z, float64(m.ID))
	return c, nil
}

func (c *card) meets(r ray, h *hit) bool {
	if c.z <= h.z {
		return false
	}
	x, y := r.at(c.z)
	x, y = c.local(x, y)
	out := max(math.Abs(x), math.Abs(y)) - c.edge
	switch {
	case out > 4:
		return false
	case out <= 0:
		*h = hit{z: c.z, x: x, y: y, mark: 1}
		if math.Abs(x) < c.half && math.Abs(y) < c.half {
			col := int((x + c.half) / (2 * c.half) * calibration.TagCells)
			row := int((c.half - y) / (2 * c.half) * calibration.TagCells)
			if !c.white[min(row, calibration.TagCells-1)][min(col, calibration.TagCells-1)] {
				h.mark = 0
			}
		}
		return true
	}
	x1, y1 := r.at(-matThick)
	x1, y1 = c.local(x1, y1)
	t, ok := (box{-c.edge, -c.edge, c.edge, c.edge}).enter(x, y, x1, y1)
	z := c.z - t*(c.z+matThick)
	if !ok || z <= h.z {
		return false
	}
	*h = hit{z: z, x: x + t*(x1-x), y: y + t*(y1-y), surface: 1}
	return true
}

func (c *card) color(h *hit, _ ray, _ *ground) rgb {
	switch {
	case h.surface == 1:
		return rgb{0.25, 0.22, 0.18}
	case h.mark == 1:
		return printed(color.RGBA{255, 255, 255, 255})
	}
	return printed(color.RGBA{8, 8, 8, 255})
}

func (c *card) light(_, _, _ float64) float64 { return 1 }

func (c *card) reach() []volume {
	return []volume{around(c.x, c.y, 1.4143*c.edge, -matThick, c.z, c.look)}
}

func (c *card) sum() uint64 { return c.id }
