package obstacle

import (
	"encoding/binary"
	"image"

	"sightline/vision/internal/gray"
)

// The coarse searches try every outline at every heading at thousands of places, nearly all of which are wrong. What an
// outline costs at eight places of a row is added up at once, in lanes of words, and rounded down: where that is too much
// already, the place is looked at no further.

// laneUnits are the parts of a mm in which lanes count: the most that a border costs makes a byte.
const laneUnits = 63

// laneCosts is nearCost in laneUnits, rounded down.
var laneCosts = func() (t [256]uint8) {
	for k, v := range nearCost {
		t[k] = uint8(v * laneUnits)
	}
	return t
}()

// lanes hold what cells cost so that those of the places of a row, which are step cells apart, are neighbours.
type lanes struct {
	box    image.Rectangle // cells of the mat, and beyond it
	margin int             // of box about the blob, cells
	step   int
	stride int // of a row
	plane  int // of all rows whose cells begin at the same place of a step
	costs  []uint8
	chunks []laneChunk
}

// laneChunk is eight places of a row.
type laneChunk struct {
	x, y  int   // cell of the mat of the first one
	at    int   // by how much its costs lie behind those of the blob's first place
	tried uint8 // of the places, a bit each
}

// set takes fields of distances in the focus, for outlines of a radius, in mm, at the places in a blob where something lies.
// Cells outside of the focus cost as much as any.
func (l *lanes) set(s *focus, near []uint8, b gray.Blob, step int, radius float64) {
	l.margin, l.step = int(radius)+2, step
	l.box = b.Box.Inset(-l.margin)
	l.stride = (l.box.Dx()+step-1)/step + 8 // a row's last chunk may reach over its end
	l.plane = l.stride * l.box.Dy()
	fields := len(near) / len(s.near)
	l.costs = grown(l.costs, fields*step*l.plane+8)
	for k := range l.costs {
		l.costs[k] = laneCosts[distances.Far]
	}
	in := l.box.Intersect(s.box)
	for field := range fields {
		for y := in.Min.Y; y < in.Max.Y; y++ {
			from := field*len(s.near) + (y-s.box.Min.Y)*s.box.Dx() - s.box.Min.X
			for x := in.Min.X; x < in.Max.X; x++ {
				l.costs[l.index(field, image.Pt(x, y).Sub(l.box.Min))] = laneCosts[near[from+x]]
			}
		}
	}
	l.chunks = l.chunks[:0]
	for y := b.Box.Min.Y; y < b.Box.Max.Y; y += step {
		for x := b.Box.Min.X; x < b.Box.Max.X; x += 8 * step {
			c := laneChunk{x: x, y: y, at: (y-b.Box.Min.Y)*l.stride + (x-b.Box.Min.X)/step}
			for i := range 8 {
				if at := x + i*step; at < b.Box.Max.X && s.isSolid(at, y) {
					c.tried |= 1 << i
				}
			}
			if c.tried != 0 {
				l.chunks = append(l.chunks, c)
			}
		}
	}
}

// index returns where costs has a cell of the box.
func (l *lanes) index(field int, p image.Point) int {
	return (field*l.step+p.X%l.step)*l.plane + p.Y*l.stride + p.X/l.step
}

// offsets returns where costs has the points of an outline that lies at the blob's first place, and their fields, if there is more
// than one.
func (l *lanes) offsets(cells []image.Point, fields []int) []int {
	out := make([]int, 0, len(cells))
	for i, p := range cells {
		field := 0
		if fields != nil {
			field = fields[i]
		}
		out = append(out, l.index(field, p.Add(image.Pt(l.margin, l.margin))))
	}
	return out
}

// laneLimit returns the mean cost of so many points, in mm, as below takes it.
func laneLimit(mean float64, points int) uint64 {
	return min(uint64(mean*float64(points)*laneUnits)+1, 0x7fff) * 0x0001_0001_0001_0001
}

// below returns those of a chunk's places at which the points may cost no more than a limit.
func (l *lanes) below(offsets []int, c *laneChunk, limit uint64) uint8 {
	const even, high = 0x00ff_00ff_00ff_00ff, 0x8000_8000_8000_8000
	var a, b uint64 // the sums of places 0, 2, 4 and 6, and of the others
	limit |= high
	costs := l.costs[c.at:]
	for k, o := range offsets {
		v := binary.LittleEndian.Uint64(costs[o : o+8])
		a, b = a+v&even, b+v>>8&even
		if k&7 == 7 && ((limit-a)|(limit-b))&high == 0 {
			return 0
		}
	}
	return (laneBits(limit-a) | laneBits(limit-b)<<1) & c.tried
}

// laneBits returns the highest bit of each lane, as those of places 0, 2, 4 and 6.
func laneBits(v uint64) uint8 {
	v = v >> 15 & 0x0001_0001_0001_0001
	return uint8(v|v>>14|v>>28|v>>42) & 0x55
}
