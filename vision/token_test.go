package vision

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
	for _, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		for _, code := range []ShipCode{0, 13, 17, 35} {
			tok, err := NewToken(code, base)
			require.NoError(t, err)
			h := float64(tok.Side()) / 2
			white := tok.White()
			for range 20000 {
				p := geom.Point{X: (2*rng.Float64() - 1) * h, Y: (2*rng.Float64() - 1) * h}
				if h-max(abs(p.X), abs(p.Y)) > float64(RimDeep) {
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
	for _, base := range []engine.Base{engine.Medium, engine.Large} {
		tok, err := NewToken(5, base)
		require.NoError(t, err)
		for side := Front; side <= LeftSide; side++ {
			for from := 0; from+WordBits <= Cells(base); from++ {
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
	for _, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		w, _ := base.Size()
		assert.InDelta(t, float64(w-2*Corner), float64(CellWidth(base))*float64(Cells(base)), 1e-12)
		assert.InDelta(t, 2.8, float64(CellWidth(base)), 0.21, "%v: cells that 1080p can read", base)
	}
}

func TestTokensAreMadeForThreeBases(t *testing.T) {
	_, err := NewToken(0, engine.Huge195)
	assert.ErrorContains(t, err, "small, medium and large")
	_, err = NewToken(36, engine.Small)
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
			if weakWord(c.Word(s)) {
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
