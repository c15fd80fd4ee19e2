package ship

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// readAs is what a perfect picture of one token shows of another that is laid over it: the state of
// every cell, and of the corners. at is the other's centre in the token's frame, turn its quarter
// turns. seen says which places of the token are in view.
func readAs(print, as token.Token, at geom.Point, turn int, seen func(geom.Point) bool) *rimFit {
	f := &rimFit{token: as, sigma: 0.7, scale: 1}
	in := geom.Pose{Point: at, Heading: geom.Angle(turn) * 90 * geom.Degree}
	white := func(p geom.Point) (white, visible bool) {
		q := in.Transform(p)
		w, _ := print.RimWhite(q)
		return w, seen(q)
	}
	for s := token.Front; s <= token.LeftSide; s++ {
		h, _ := as.HalfAlong(s)
		w := float64(token.CellWidth(as.Base, s))
		n, good := token.Cells(as.Base, s), 0
		for i := range n {
			const points = 10
			same, key := 0, 0
			for k := range points {
				a := -h + float64(token.Corner) + (float64(i)+(float64(k)+0.5)/points)*w
				cell, ok := white(as.Place(s, a, 2.3))
				line, ok2 := white(as.Place(s, a, 0.5))
				if !ok || !ok2 {
					same, key = -100, -100
				}
				if cell == as.Cell(s, i) {
					same++
				}
				if line {
					key++
				}
			}
			// A mean squared residual of 0.06 is a cell with 6 % of its area wrong.
			switch {
			case same >= points-1:
				f.cells[s][i] = cellAgrees
				f.shown[s][i] = shows{0.95, true}
				good++
			case same >= 0 && same <= 1:
				f.cells[s][i] = cellDiffers
				f.shown[s][i] = shows{-0.95, true}
			}
			if key == points {
				f.keys[s]++
			}
		}
		f.shares[s] = float64(good) / float64(n)
		f.misfit[s] = 1 - f.shares[s]
		// A corner turns where the token has one.
		c := as.Place(s, h, 0)
		own := print.Corners()
		for _, o := range own {
			if o.Sub(in.Transform(c)).Norm() < 0.5 && seen(o) {
				f.corner[s] = true
			}
		}
	}
	return f
}

// No base is believed where another of the same ship lies, whatever it shares with it: a corner, a
// side, or twelve cells of a long one, and whatever a miniature hides.
func TestNoBaseIsAcceptedWhereAnotherLies(t *testing.T) {
	everything := func(geom.Point) bool { return true }
	for code := range token.ShipCode(token.Ships) {
		if testing.Short() && code%36 != 4 {
			continue
		}
		for _, lies := range token.Bases {
			for _, taken := range token.Bases {
				if lies == taken {
					continue
				}
				print, as := token.Token{Code: code, Base: lies}, token.Token{Code: code, Base: taken}
				for _, at := range sharedPlaces(print, as) {
					for _, seen := range []func(geom.Point) bool{everything, func(p geom.Point) bool { return p.Y > 0 },
						func(p geom.Point) bool { return p.Y < 0 }, func(p geom.Point) bool { return p.X > 0 }, func(p geom.Point) bool { return p.X < 0 },
						func(p geom.Point) bool { return p.X+p.Y > 0 }, func(p geom.Point) bool { return p.X < p.Y }} {
						f := readAs(print, as, at, 0, seen)
						_, agreed, ok := f.identity()
						assert.False(t, ok, "%s %v at (%.1f, %.1f) of a %v base: %d cells agree, corners %v", code.ID(), taken, at.X, at.Y, lies, agreed,
							f.corner)
					}
				}
			}
		}
	}
}

// sharedPlaces are the centres at which a token shares an edge with another, every whole word along it.
func sharedPlaces(print, as token.Token) (out []geom.Point) {
	px, py := print.Half()
	ax, ay := as.Half()
	for _, x := range []float64{ax - px, px - ax} {
		for _, y := range []float64{ay - py, py - ay} {
			out = append(out, geom.Point{X: x, Y: y})
		}
		w := float64(token.WordBits) * float64(token.CellWidth(print.Base, token.RightSide))
		for y := w; y < 2*math.Max(py, ay); y += w {
			out = append(out, geom.Point{X: x, Y: py - ay - y}, geom.Point{X: x, Y: ay - py + y})
		}
	}
	return out
}

// A huge ship is not believed where it would stand whole words further along.
func TestAHugeShipIsNotAcceptedShiftedByWords(t *testing.T) {
	for code := range token.ShipCode(token.Ships) {
		if testing.Short() && code%9 != 4 {
			continue
		}
		for _, base := range []engine.Base{engine.Huge195, engine.Huge225} {
			k := token.Token{Code: code, Base: base}
			w := float64(token.WordBits) * float64(token.CellWidth(base, token.RightSide))
			for _, words := range []float64{-5, -4, -3, -2, -1, 1, 2, 3, 4, 5} {
				for _, half := range []float64{0, 1, -1} {
					f := readAs(k, k, geom.Point{Y: words * w}, 0, func(p geom.Point) bool { return p.Y*half >= 0 })
					_, _, ok := f.identity()
					assert.False(t, ok, "%s %v %g words along", code.ID(), base, words)
				}
			}
		}
	}
}

// Every ship is believed in full view, from one whole side, and from half of its outline.
func TestEveryShipIsAcceptedByItsVisibleCells(t *testing.T) {
	views := map[string]func(p geom.Point) bool{
		"all":        func(geom.Point) bool { return true },
		"front half": func(p geom.Point) bool { return p.Y > -2 },
		"right half": func(p geom.Point) bool { return p.X > -2 },
	}
	for code := range token.ShipCode(token.Ships) {
		for _, base := range token.Bases {
			k := token.Token{Code: code, Base: base}
			for name, seen := range views {
				f := readAs(k, k, geom.Point{}, 0, seen)
				_, _, ok := f.identity()
				assert.True(t, ok, "%s %v: %s", code.ID(), base, name)
			}
			for s := token.Front; s <= token.RightSide; s++ {
				_, out := k.HalfAlong(s)
				f := readAs(k, k, geom.Point{}, 0, func(p geom.Point) bool {
					return s == token.Front && p.Y > out-5 || s == token.RightSide && p.X > out-5
				})
				_, _, ok := f.identity()
				assert.True(t, ok, "%s %v: %v side alone", code.ID(), base, s)
			}
		}
	}
}

// Large and huge bases share a front of 80 mm. Whatever words two of them carry, the one laid over the
// other lacks three cells and more of what a side that is read must show.
func TestFrontsOf80MillimetresAreNotTakenForEachOther(t *testing.T) {
	const points = 10
	bases := []engine.Base{engine.Large, engine.Huge195, engine.Huge225}
	var strong []uint16
	for _, w := range token.AllWords {
		if !token.WeakWord(w) && (!testing.Short() || len(strong) < 40) {
			strong = append(strong, w)
		}
	}
	for _, print := range bases {
		for _, as := range bases {
			if print == as {
				continue
			}
			n, w := token.Cells(as, token.Front), float64(token.CellWidth(as, token.Front))
			for _, shift := range []float64{-0.5, 0, 0.5} {
				// Which cell of the print lies at each point of each cell, -1 for the dark corners.
				at := make([][points]int, n)
				for i := range at {
					for k := range points {
						a := float64(token.Corner) + (float64(i)+(float64(k)+0.5)/points)*w + shift
						at[i][k] = int(math.Floor((a - float64(token.Corner)) / float64(token.CellWidth(print, token.Front))))
						if at[i][k] >= token.Cells(print, token.Front) || at[i][k] < 0 {
							at[i][k] = -1
						}
					}
				}
				most := 0
				for _, lies := range strong {
					for _, taken := range strong {
						agree := 0
						for i := range at {
							same := 0
							for _, c := range at[i] {
								if (c >= 0 && lies>>(c%token.WordBits)&1 == 1) == (taken>>(i%token.WordBits)&1 == 1) {
									same++
								}
							}
							if same >= points-1 {
								agree++
							}
						}
						most = max(most, agree)
					}
				}
				assert.LessOrEqual(t, most, n-n/12-3, "a %v front taken for a %v one, %.1f mm along", print, as, shift)
			}
		}
	}
}

func Example_cells() {
	for _, b := range token.Bases {
		fmt.Println(b, token.Cells(b, token.Front), token.Cells(b, token.RightSide))
	}
	// Output:
	// small 12 12
	// medium 18 18
	// large 24 24
	// huge-195 26 69
	// huge-225 27 76
}
