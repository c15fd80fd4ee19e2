package look

import (
	"math"
	"testing"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// benchBase is a picture of a base whose card is half hidden, with its look.
func benchBase(b *testing.B, base engine.Base) (*Finder, vision.Frame, geom.Pose) {
	a := drawnArt(4)
	shown := drawing{table: tableAt(1.02), noise: 1, bases: quarters(base, a)}
	l, err := Learn(Card{Name: "A1", Ships: []string{"A1"}, Base: base}, shown.views(3))
	if err != nil {
		b.Fatal(err)
	}
	at := pose(130, 130, 77)
	d := drawing{table: tableAt(1.02), noise: 1, matted: true, bases: []drawnBase{{base: base, art: a, pose: at, guides: 2}}}
	w, _ := base.Size()
	d.hides = discOver(geom.Point{X: 130 + float64(w)/8, Y: 130}, 0.36*float64(w), 0.05)
	return NewFinder(d.table, &Library{Looks: []*Look{l}}, calibration.Uncertainty{}), d.draw(1), at
}

// What it costs to follow a ship by its card, and to find its heading where no one knows it.
func BenchmarkNear(b *testing.B) {
	for _, base := range bases {
		f, frame, at := benchBase(b, base)
		for _, h := range []struct {
			name string
			Hint
		}{
			{"followed", Hint{Base: base, Pose: at, Reach: 3, Turn: 8 * geom.Degree, Ship: "A1"}},
			{"heading unknown", Hint{Base: base, Pose: at, Reach: 12, Turn: math.Pi, Ship: "A1"}},
		} {
			b.Run(base.String()+", "+h.name, func(b *testing.B) {
				for b.Loop() {
					if _, ok, err := f.Near(frame, h.Hint); !ok || err != nil {
						b.Fatal("not found: ", err)
					}
				}
			})
		}
	}
}
