package pipeline

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// A ship whose code is seen twice is missing, and everyone is told why, once.
func TestACodeSeenTwiceIsReported(t *testing.T) {
	b := newBench(t, func(b *bench, _ *benchParts) {
		b.ships = []engine.Ship{ship("B1", 300, 487), ship("A2", 100, 100)}
		b.twins = []vision.DuplicateID{{ID: "A1", At: []geom.Point{{X: 300, Y: 300}, {X: 650, Y: 300}}}}
	})
	b.game.Choose(live.Choice{From: "A1", To: "B1"})
	told := func() (n int) {
		for _, note := range b.hub.Newest().Notes {
			if strings.HasPrefix(note.Text, "A1 is seen twice: at (300, 300) and (650, 300) mm, and neither counts") {
				n++
			}
		}
		return n
	}
	b.picture(time.Millisecond)
	v := b.hub.Newest()
	assert.Nil(t, v.Pair)
	assert.Equal(t, "A1 is seen twice", v.Reason)
	assert.Equal(t, 1, told())

	b.now = b.now.Add(time.Second)
	b.picture(time.Millisecond)
	assert.Equal(t, 1, told(), "it is one trouble")

	b.twins = nil
	b.now = b.now.Add(duplicateAgain)
	b.picture(time.Millisecond)
	assert.Equal(t, "A1 is not seen", b.hub.Newest().Reason)
	b.twins = []vision.DuplicateID{{ID: "A1", At: []geom.Point{{X: 300, Y: 300}, {X: 650, Y: 300}}}}
	b.now = b.now.Add(time.Second)
	b.picture(time.Millisecond)
	assert.Equal(t, 2, told(), "and this is another")
}

// A token that stays above the mat is missing, and everyone is told why, once; a hand that carries a ship is no news.
func TestATokenAboveTheMatIsReported(t *testing.T) {
	b := newBench(t, func(b *bench, _ *benchParts) {
		b.ships = []engine.Ship{ship("B1", 300, 487)}
		b.raised = []vision.RaisedToken{{ID: "A1", At: geom.Point{X: 300, Y: 300}, Larger: 0.016, Sigma: 0.001, Up: 20}}
	})
	b.game.Choose(live.Choice{From: "A1", To: "B1"})
	told := func() (n int) {
		for _, note := range b.hub.Newest().Notes {
			if strings.HasPrefix(note.Text, "A1 at (300, 300) mm does not count: its print looks 1.6 % larger") {
				n++
			}
		}
		return n
	}
	v := b.quiet(10)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "A1 is held up, or printed too large", v.Reason)
	assert.Zero(t, told())
	b.quiet(20)
	assert.Equal(t, 1, told())
	b.quiet(30)
	assert.Equal(t, 1, told(), "it is one trouble")
	b.raised = nil
	b.quiet(20)
	assert.Equal(t, "A1 is not seen", b.hub.Newest().Reason)
}

// A spare token that lies on the mat is no ship, and a sheet that was printed too small is told: each once.
func TestSpareAndUndersizedTokensAreReported(t *testing.T) {
	b := newBench(t, func(b *bench, _ *benchParts) {
		b.ships = []engine.Ship{ship("B1", 300, 487)}
		b.spare = []vision.SpareToken{{ID: "A1", At: geom.Point{X: 300, Y: 300}}}
		b.small = []vision.SmallToken{{ID: "B1", Smaller: 0.03, Sigma: 0.001}}
	})
	b.game.Choose(live.Choice{From: "A1", To: "B1"})
	told := func(text string) (n int) {
		for _, note := range b.hub.Newest().Notes {
			if strings.HasPrefix(note.Text, text) {
				n++
			}
		}
		return n
	}
	v := b.quiet(10)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "A1 lies on the mat without a base", v.Reason)
	assert.Zero(t, told("A1 at"))
	b.quiet(50)
	assert.Equal(t, 1, told("A1 at (300, 300) mm does not count: its token lies flat on the mat, without a base."))
	assert.Equal(t, 1, told("Tokens printed at 97.0 % of their size: B1."))
}
