package token

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
)

func TestTheRectanglesAndThePointsAreOnePicture(t *testing.T) {
	// White lists rectangles for a printer, At answers for single points: the two
	// are written apart and must agree everywhere on the rim.
	rng := rand.New(rand.NewPCG(1, 2))
	for _, base := range Bases {
		for _, code := range []ShipCode{0, 13, 17, 35} {
			tok, err := NewToken(code, base)
			require.NoError(t, err)
			hx, hy := tok.Half()
			white := tok.White()
			for range 20000 {
				p := geom.Point{X: (2*rng.Float64() - 1) * hx, Y: (2*rng.Float64() - 1) * hy}
				if min(hx-abs(p.X), hy-abs(p.Y)) > float64(RimDeep) {
					continue
				}
				want := InkDark
				for _, r := range white {
					if p.X >= r.MinX && p.X <= r.MaxX && p.Y >= r.MinY && p.Y <= r.MaxY {
						want = InkWhite
					}
				}
				got, ok := tok.At(p)
				require.True(t, ok)
				require.Equal(t, want, got, "%s on a %v base at %v", code.ID(), base, p)
			}
		}
	}
}

func abs(x float64) float64 { return max(x, -x) }

func TestTwelveCellsOfALongSideAreItsWord(t *testing.T) {
	for _, base := range Bases[1:] {
		tok, err := NewToken(5, base)
		require.NoError(t, err)
		for side := Front; side <= LeftSide; side++ {
			for from := 0; from+WordBits <= Cells(base, side); from++ {
				var word uint16
				for i := from; i < from+WordBits; i++ {
					if tok.Cell(side, i) {
						word |= 1 << (i % WordBits)
					}
				}
				assert.Equal(t, tok.Code.Word(side), word)
			}
		}
	}
}

func TestCellsFillTheSideBetweenTheCorners(t *testing.T) {
	for _, base := range Bases {
		w, l := base.Size()
		for side, length := range [4]geom.Length{w, l, w, l} {
			s := Side(side)
			assert.Equal(t, length, SideLength(base, s))
			assert.InDelta(t, float64(length-2*Corner), float64(CellWidth(base, s))*float64(Cells(base, s)), 1e-9)
			assert.InDelta(t, 2.8, float64(CellWidth(base, s)), 0.21, "%v: cells that 1080p can read", base)
			assert.LessOrEqual(t, Cells(base, s), MaxCells)
		}
	}
}

// The prints of small, medium and large tokens lie on people's tables: their cells stay as many as they are.
func TestThePrintedBasesKeepTheirCells(t *testing.T) {
	for base, n := range map[engine.Base]int{engine.Small: 12, engine.Medium: 18, engine.Large: 24} {
		for s := Front; s <= LeftSide; s++ {
			assert.Equal(t, n, Cells(base, s), "%v", base)
		}
	}
}

func TestTokensAreMadeForEveryBase(t *testing.T) {
	for _, base := range Bases {
		_, err := NewToken(0, base)
		assert.NoError(t, err)
	}
	for _, base := range []engine.Base{engine.BaseUnknown, -1, engine.Huge225 + 1} {
		_, err := NewToken(0, base)
		assert.ErrorContains(t, err, "huge-195 and huge-225")
	}
	_, err := NewToken(36, engine.Small)
	assert.ErrorContains(t, err, "0…35")
	_, err = NewToken(-1, engine.Small)
	assert.Error(t, err)
}

func TestOutsideTheTokenThereIsNoInk(t *testing.T) {
	tok, _ := NewToken(0, engine.Small)
	for _, p := range []geom.Point{{X: 20.01}, {Y: -20.01}, {X: -30, Y: 30}} {
		_, ok := tok.At(p)
		assert.False(t, ok, "%v", p)
	}
}

func TestFewShipsHavePlainSides(t *testing.T) {
	for c := range ShipCode(Ships) {
		plain := 0
		for s := Front; s <= LeftSide; s++ {
			if WeakWord(c.Word(s)) {
				plain++
				assert.Equal(t, LeftSide, s)
			}
		}
		assert.LessOrEqual(t, plain, 1, "plain sides of %s", c.ID())
		if int(c)%(Ships/2) < 12 {
			assert.Zero(t, plain, "%s", c.ID())
		}
	}
}
