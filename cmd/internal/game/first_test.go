package game

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/capture"
)

// While no person has chosen, the ship that moved last is the attacker: everything that it
// could be measured to is what people ask about next.
func TestTheShipThatMovedLastIsAskedAbout(t *testing.T) {
	b := newGameBench(t, func(b *gameBench, _ *Options) {
		b.ships = []engine.Ship{gameShip("A1", 300, 300), gameShip("B1", 300, 700), gameShip("B3", 300, 420)}
	})
	b.picture(time.Millisecond)
	pair := func() [2]string { c := b.hub.Newest().Choice; return [2]string{c.From, c.To} }
	assert.Equal(t, [2]string{"A1", "B3"}, pair(), "player 1's first ship and the enemy nearest to it")
	is := func(state vision.TrackState) {
		b.game.Update(func(s *Seen) {
			s.Tracks = nil
			for _, ship := range b.ships {
				k := vision.Track{Ship: ship, State: vision.Still}
				if ship.ID == "B1" {
					k.State = state
				}
				s.Tracks = append(s.Tracks, k)
			}
		})
	}
	is(vision.Moving)
	assert.Equal(t, [2]string{"A1", "B3"}, pair(), "not before it rests")
	is(vision.Still)
	assert.Equal(t, [2]string{"B1", "A1"}, pair())
	b.game.Choose(live.Choice{From: "B3", To: "A1", Arc: engine.ArcFront})
	is(vision.Moving)
	is(vision.Still)
	assert.Equal(t, [2]string{"B3", "A1"}, pair(), "what a person chose stays")
}

// While no picture is seen, what is said tells a camera that is silent from a computer that is
// too slow for what its camera gives.
func TestAnOldPictureSaysWhetherTheCameraOrTheComputerIsSlow(t *testing.T) {
	status := capture.FeedStatus{State: capture.FeedLive}
	b := newGameBench(t, func(_ *gameBench, o *Options) { o.Camera = func() capture.FeedStatus { return status } })
	assert.Equal(t, "Waiting for the first picture of the camera.", b.wait(time.Millisecond).Health.Detail, "no camera is chosen yet")
	status.Source = "/dev/video0"
	assert.Equal(t, "Waiting for the first picture of /dev/video0.", b.wait(time.Millisecond).Health.Detail)

	b.picture(time.Millisecond)
	status.LastFrame = b.now
	h := b.wait(2 * StaleAfter).Health
	assert.Equal(t, live.Stale, h.Code)
	assert.Equal(t, "Answers come back with the next picture.", h.Advice)
	status.LastFrame = b.now.Add(-StaleAfter / 2)
	h = b.wait(0).Health
	assert.Equal(t, live.Stale, h.Code)
	assert.Contains(t, h.Advice, "this computer does not keep up")
}

// While the machine slept, the clock that counts seconds stood still: the last picture is as old as the sleep was long.
func TestAPictureFromBeforeTheMachineSleptIsOld(t *testing.T) {
	b := newGameBench(t, func(b *gameBench, _ *Options) { b.now = time.Now() })
	require.Equal(t, live.OK, b.picture(0).Health.Code)
	*(*uint64)(unsafe.Pointer(&b.now)) += 3600 << 30 // the seconds of a time.Time with a monotonic reading
	v := b.wait(0)
	assert.Equal(t, live.Stale, v.Health.Code)
	assert.Equal(t, "The last picture is 3600 s old.", v.Health.Detail)
}
