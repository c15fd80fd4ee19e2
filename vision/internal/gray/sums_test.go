package gray

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBoxSumsAreSumsOverSquares(t *testing.T) {
	for _, size := range [...][3]int{{23, 17, 4}, {23, 17, 0}, {5, 3, 4}, {9, 9, 4}, {8, 20, 4}, {1, 1, 1}} {
		testBoxSums(t, size[0], size[1], size[2])
	}
}

func testBoxSums(t *testing.T, w, h, r int) {
	random := rand.New(rand.NewPCG(1, 2))
	v := make([]float32, w*h)
	for k := range v {
		v[k] = float32(random.NormFloat64())
	}
	got := BoxSums(v, w, h, r)
	for y := range h {
		for x := range w {
			var want float64
			for j := max(y-r, 0); j <= min(y+r, h-1); j++ {
				for i := max(x-r, 0); i <= min(x+r, w-1); i++ {
					want += float64(v[j*w+i])
				}
			}
			require.InDelta(t, want, got[y*w+x], 1e-4, "at (%d, %d)", x, y)
		}
	}
	SumBoxes(v, v, w, h, r)
	require.Equal(t, got, v, "in the place of what is summed")
}

func TestBinomialSmoothsAlongRowsAndColumns(t *testing.T) {
	for _, size := range [...][2]int{{7, 6}, {5, 2}, {5, 1}, {1, 4}, {1, 1}} {
		w, h := size[0], size[1]
		random := rand.New(rand.NewPCG(3, 4))
		v := make([]float32, w*h)
		for k := range v {
			v[k] = float32(random.NormFloat64())
		}
		along := append([]float32(nil), v...)
		for k := 1; k+1 < w*h; k++ {
			along[k] = (v[k-1] + 2*v[k] + v[k+1]) / 4
		}
		want := append([]float32(nil), v...) // the first and the last row stay
		for k := w; k+w < w*h; k++ {
			want[k] = (along[k-w] + 2*along[k] + along[k+w]) / 4
		}
		Binomial(v, w)
		require.Equal(t, want, v, "%d × %d", w, h)
	}
}
