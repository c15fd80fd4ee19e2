package obstacle

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/vision"
)

// A search in the background gives back its buffers, and answers the same as one that kept them.
func TestASearchInTheBackgroundKeepsNoBuffers(t *testing.T) {
	f, table := finderOfGrain(t)
	kept, _ := finderOfGrain(t)
	first, second := grainy(table, 1.5, 2, 11), grainy(table, 1.5, 2, 12)
	for y := 150; y < 200; y++ { // something lies in the second picture
		for x := 150; x < 200; x++ {
			second.Pix[y*second.Stride+x] = 220
		}
	}
	w := NewWatch(f, true, nil, false)
	for _, g := range []vision.Frame{{Gray: first}, {Gray: second}} {
		w.startSearch(g, nil)
		got := <-w.running
		assert.Equal(t, kept.search(g, nil, nil), got)
		for name, v := range map[string]any{"edges": f.focus.edges.near, "weights": f.test.z, "work": f.test.a, "border": f.focus.near,
			"slopes": f.diff.slope, "difference": f.diff.diff, "light": f.diff.work} {
			assert.Empty(t, v, name)
		}
	}
	require.NotNil(t, kept.diff.slope)
	square := geom.Pose{Point: geom.Point{X: 150, Y: 150}}
	again, ok := f.refine(second, hypothesis{shape: &f.shapes[0], pose: square})
	want, fits := kept.refine(second, hypothesis{shape: &kept.shapes[0], pose: square})
	again.Entry, want.Entry = nil, nil // each finder has its own
	assert.Equal(t, fits, ok)
	assert.Equal(t, want, again, "what was found is fitted again without the buffers")
}

// What a search took is given back to the system, not only to Go's heap.
func TestASearchInTheBackgroundGivesItsMemoryBack(t *testing.T) {
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapSys - m.HeapReleased
	}
	f, table := finderOfGrain(t)
	w := NewWatch(f, true, nil, false)
	debug.FreeOSMemory()
	before := held()
	litter = make([]byte, 64<<20) // as a search of a large mat leaves it
	require.Greater(t, held(), before+40<<20)
	litter = nil
	w.startSearch(vision.Frame{Gray: grainy(table, 1.5, 2, 11)}, nil)
	<-w.running
	assert.Eventually(t, func() bool { return held() < before+20<<20 }, 2*time.Minute, 10*time.Millisecond)
}

var litter []byte

// While the table rests the mean keeps no colours, and nothing once it was searched.
func TestTheMeanOfPicturesKeepsNoMoreThanItNeeds(t *testing.T) {
	f, table := finderOfGrain(t)
	w := NewWatch(f, true, nil, false)
	colored := vision.Frame{Gray: grainy(table, 1.5, 2, 11)}
	colored.Color = &vision.BGR{Pix: make([]byte, 3*len(colored.Gray.Pix)), Width: colored.Gray.Rect.Dx(), Height: colored.Gray.Rect.Dy()}
	w.accumulate(colored, false)
	w.accumulate(colored, false)
	require.Equal(t, 2, w.mean.Len())
	mean, err := w.mean.Frame()
	require.NoError(t, err)
	assert.Nil(t, mean.Color)
	w.refined = true
	w.accumulate(colored, false)
	assert.Zero(t, w.mean.Len(), "it was searched")
}
