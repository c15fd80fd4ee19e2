package pipeline

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sightline/vision"
)

// The whole way from picture to answer keeps no memory of the pictures: what is in use
// after all of them is what was in use after a tenth. SIGHTLINE_MEMORY=100000 takes so
// many; a hand moves a ship in every sixty.
func TestMemoryStaysFlat(t *testing.T) {
	pictures, _ := strconv.Atoi(os.Getenv("SIGHTLINE_MEMORY"))
	if pictures == 0 {
		if testing.Short() {
			t.Skip("it takes many pictures")
		}
		pictures = 300
	}
	w := newFaultyTable(t, 688, 640, 3, true)
	var reel []vision.Frame
	for range 60 {
		f, err := w.source.Next(t.Context())
		require.NoError(t, err)
		reel = append(reel, f)
	}
	use := func() (heap uint64, routines int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse, runtime.NumGoroutine()
	}
	var early uint64
	var routines int
	answers := 0
	for n := range pictures {
		w.tick()
		f := reel[n%len(reel)]
		f.Seq, f.Captured = uint64(n+1), w.bench.now
		w.pipeline.Update(f)
		if w.hub.Newest().Pair != nil {
			answers++
		}
		if n+1 == max(pictures/10, 2*len(reel)) {
			early, routines = use()
		}
	}
	late, after := use()
	runtime.KeepAlive(w)
	runtime.KeepAlive(reel)
	const mb = 1 << 20
	t.Logf("%d pictures, %d with an answer for the chosen pair: heap in use %.1f MB after a tenth, %.1f MB after all; %d and %d goroutines; "+
		"clock of the game %v",
		pictures, answers, float64(early)/mb, float64(late)/mb, routines, after, time.Duration(pictures)*time.Second/faultFPS)
	require.Greater(t, answers, pictures/4)
	require.LessOrEqual(t, late, early+early/10+mb)
	require.LessOrEqual(t, after, routines+3, "one that ends late is none that is kept")
}
