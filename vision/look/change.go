package look

import (
	"encoding/hex"
	"hash/fnv"
	"image"
	"image/color"
	"slices"
)

// Renamed returns a look that other ships carry and that has another pilot's name. It is the first ship's own: its name is
// that ship's.
func (l *Look) Renamed(ships []string, pilot string) (*Look, error) {
	out := newLook(l)
	out.cells, out.weight = l.cells, l.weight
	out.Ships, out.Pilot = slices.Clone(ships), pilot
	if len(ships) > 0 {
		out.Name = ships[0]
	}
	return out, out.check()
}

// Turned returns the look of a card whose front is elsewhere than was said as it was shown: by so many quarter turns clockwise
// in its picture.
func (l *Look) Turned(quarters int) *Look {
	out := newLook(l)
	out.cells, out.weight = l.cells, l.weight
	n := l.side
	for range (quarters%4 + 4) % 4 {
		cells, weight := make([]float32, len(out.cells)), make([]float32, len(out.weight))
		for k := range weight { // the front's row first: what was left is the front's row now
			from := (n-1-k%n)*n + k/n
			weight[k] = out.weight[from]
			copy(cells[channels*k:channels*(k+1)], out.cells[channels*from:channels*(from+1)])
		}
		out.cells, out.weight = cells, weight
	}
	return out
}

// Picture is the card with its front upwards, a pixel for each cell of half a millimetre.
func (l *Look) Picture() *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, l.side, l.side))
	for k := range l.weight {
		c := l.cells[channels*k:]
		out.SetNRGBA(k%l.side, k/l.side, color.NRGBA{level(c[2]), level(c[1]), level(c[0]), 255})
	}
	return out
}

// Version tells the look's picture from another one of the same name.
func (l *Look) Version() string {
	h := fnv.New32a()
	raw := make([]byte, len(l.cells))
	for i, v := range l.cells {
		raw[i] = level(v)
	}
	_, _ = h.Write(raw)
	return hex.EncodeToString(h.Sum(nil))
}

// LoadOne reads one look of a folder.
func LoadOne(dir, name string) (*Look, error) { return read(dir, name) }
