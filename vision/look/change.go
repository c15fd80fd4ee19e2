package look

import (
	"encoding/hex"
	"hash/fnv"
	"image"
	"image/color"
	"slices"
)

// Renamed returns a copy of the look for other ships and with another pilot's name. It becomes the first ship's own look and
// gets that ship's id as its name.
func (l *Look) Renamed(ships []string, pilot string) (*Look, error) {
	out := newLook(l)
	out.cells, out.weight = l.cells, l.weight
	out.Ships, out.Pilot = slices.Clone(ships), pilot
	if len(ships) > 0 {
		out.Name = ships[0]
	}
	return out, out.check()
}

// Turned returns the look turned by a number of quarter turns, for a card whose front was elsewhere than stated: it is that many
// quarter turns clockwise in the look's picture.
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

// Picture returns the card with its front up, one pixel for each cell of half a millimetre.
func (l *Look) Picture() *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, l.side, l.side))
	for k := range l.weight {
		c := l.cells[channels*k:]
		out.SetNRGBA(k%l.side, k/l.side, color.NRGBA{level(c[2]), level(c[1]), level(c[0]), 255})
	}
	return out
}

// Version returns a text that changes with the look's picture.
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
func LoadOne(dir, name string) (*Look, error) {
	r := read(dir, name)
	return r.look, r.err
}
