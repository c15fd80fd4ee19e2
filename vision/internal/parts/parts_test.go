package parts

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/vision/internal/gray"
)

func TestGroupsHoldEveryPartAndEveryPair(t *testing.T) {
	assert.Equal(t, [][]int{{0}, {1}}, Groups(2, nil))
	assert.Equal(t, [][]int{{0, 1, 2}, {2, 3}, {4}}, Groups(5, [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}}))
	assert.Equal(t, [][]int{{0, 1}, {1, 2}}, Groups(3, [][2]int{{0, 1}, {1, 2}}), "the first and the last are too far apart")
}

func TestPairsAreSmallAndNearAndHideWhatLiesBetween(t *testing.T) {
	const w, h = 120, 30
	mask := make([]bool, w*h)
	for j := 10; j < 20; j++ {
		for i := range 10 {
			mask[j*w+10+i], mask[j*w+50+i] = true, true
		}
	}
	blobs := gray.Blobs(mask, w, h, 1, 0)
	f := Finder{Width: w, Less: 101, Far: 60, Hidden: 0.25, Hides: func(k int) bool { return k%w > 40 }}
	assert.Len(t, f.Pairs(blobs), 1)
	for name, change := range map[string]func(*Finder){
		"whole things":      func(f *Finder) { f.Less = 100 },
		"too far apart":     func(f *Finder) { f.Far = 45 },
		"too much is shown": func(f *Finder) { f.Hidden = 0.5 },
	} {
		other := f
		change(&other)
		assert.Empty(t, other.Pairs(blobs), name)
	}
}
