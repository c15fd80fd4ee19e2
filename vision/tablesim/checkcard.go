package tablesim

import (
	"fmt"
	"image/color"
	"math"
	"time"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
)

// LaidStrip is a strip of the check card on the table.
type LaidStrip struct {
	Strip verify.Strip
	Pose  geom.Pose   // of its middle; the heading is the strip's up direction
	Z     geom.Length // height of its print over the mat
	Scale float64     // printed size over the designed one; 0: 1
}

// LayCard lays the check card's two strips next to each other about a place, that for the mat at
// the left, with their prints at the given heights over the mat.
func LayCard(card verify.Card, at geom.Pose, heights [2]geom.Length) []LaidStrip {
	const apart = 52.0 // from the place to each strip's middle, mm
	var out []LaidStrip
	for i, s := range card.Strips {
		p := geom.Pose{Point: at.Transform(geom.Point{X: apart * float64(2*i-1)}), Heading: at.Heading}
		out = append(out, LaidStrip{Strip: s, Pose: p, Z: heights[i]})
	}
	return out
}

// The script of a source that lays the check card: CardStay at a place, then away for CardGone,
// then at the next.
const (
	CardStay = 3 * time.Second
	CardGone = time.Second
)

// CardPlaces are the script's places of the card: the mat's middle and its four corners, with
// different headings.
var CardPlaces = [...]geom.Pose{pose(457, 457, 0), pose(190, 200, 35), pose(720, 190, 70), pose(720, 720, 105), pose(200, 720, 140)}

// CardHeights are the heights of the prints over the mat: on paper of 0.2 mm, strip M on the mat
// itself and B on bases of 4 mm.
var CardHeights = [2]geom.Length{0.2 * geom.Millimeter, 4.2 * geom.Millimeter}

// cardAt returns the strips at a time of the script; none while they are moved.
func cardAt(t time.Duration) []LaidStrip {
	turn := t / (CardStay + CardGone)
	if t-turn*(CardStay+CardGone) >= CardStay {
		return nil
	}
	return LayCard(verify.DefaultCard(), CardPlaces[int(turn)%len(CardPlaces)], CardHeights)
}

// laidStrip is the solid: a thin sheet at its height.
type laidStrip struct {
	frame
	halfWidth, halfHeight, z float64
	tags                     []*card // in the strip's own frame, about its middle
	look                     *Look
	id                       uint64
}

func newLaidStrip(l LaidStrip, look *Look) (*laidStrip, error) {
	scale := l.Scale
	if scale == 0 {
		scale = 1
	}
	if !(scale > 0.5) || scale > 2 || !(l.Z >= 0) || l.Z > 50 {
		return nil, fmt.Errorf("tablesim: check card: expected a scale of 0.5…2 and a height of 0…50 mm, got %v and %v", scale, float64(l.Z))
	}
	s := &laidStrip{
		frame:     frameOf(l.Pose),
		halfWidth: scale * float64(l.Strip.Width) / 2, halfHeight: scale * float64(l.Strip.Height) / 2,
		z: float64(l.Z), look: look,
	}
	sum := []float64{9, s.x, s.y, s.s, s.c, s.z, scale}
	for _, m := range l.Strip.Tags {
		m.Center = m.Center.Sub(geom.Point{X: float64(l.Strip.Width) / 2, Y: float64(l.Strip.Height) / 2}).Mul(scale)
		m.Size *= geom.Length(scale)
		tag, err := newCard(m, look)
		if err != nil {
			return nil, err
		}
		s.tags = append(s.tags, tag)
		sum = append(sum, float64(m.ID), m.Center.X, m.Center.Y)
	}
	s.id = checksum(sum...)
	return s, nil
}

func (s *laidStrip) meets(r ray, h *hit) bool {
	if s.z <= h.z {
		return false
	}
	x, y := r.at(s.z)
	x, y = s.local(x, y)
	if math.Abs(x) > s.halfWidth || math.Abs(y) > s.halfHeight {
		return false
	}
	*h = hit{z: s.z, x: x, y: y, mark: 1}
	for _, tag := range s.tags {
		if u, v := tag.local(x, y); tag.black(u, v) {
			h.mark = 0
		}
	}
	return true
}

// black reports whether a point of the card's frame has black ink.
func (c *card) black(x, y float64) bool {
	if math.Abs(x) >= c.half || math.Abs(y) >= c.half {
		return false
	}
	col := min(int((x+c.half)/(2*c.half)*calibration.TagCells), calibration.TagCells-1)
	row := min(int((c.half-y)/(2*c.half)*calibration.TagCells), calibration.TagCells-1)
	return !c.white[row][col]
}

func (s *laidStrip) color(h *hit, _ ray, _ *ground) rgb {
	if h.mark == 1 {
		return printed(color.RGBA{255, 255, 255, 255})
	}
	return printed(color.RGBA{8, 8, 8, 255})
}

// light darkens the table next to a strip that stands on bases.
func (s *laidStrip) light(x, y, z float64) float64 {
	dz := s.z - z
	if dz < 0.5 {
		return 1
	}
	x, y = s.local(x-dz*s.look.Slope.X, y-dz*s.look.Slope.Y)
	w := penumbra(s.look, dz)
	d := max(math.Abs(x)-s.halfWidth, math.Abs(y)-s.halfHeight)
	return 1 - s.look.Shadow*(1-smooth(-w, w, d))
}

func (s *laidStrip) reach() []volume {
	// In pieces, so that the box around a rotated strip stays small.
	const pieces = 6
	var out []volume
	for i := range pieces {
		x, y := s.table(0, s.halfHeight*(2*(float64(i)+0.5)/pieces-1))
		out = append(out, around(x, y, math.Hypot(s.halfWidth, s.halfHeight/pieces), 0, s.z, s.look))
	}
	return out
}

func (s *laidStrip) sum() uint64 { return s.id }
