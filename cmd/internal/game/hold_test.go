package game

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
)

// newHoldBench is a table with four ships that was seen in one picture.
func newHoldBench(t *testing.T) *gameBench {
	b := newGameBench(t, func(b *gameBench, _ *Options) {
		b.ships = append(b.ships, gameShip("A2", 500, 300), gameShip("B2", 500, 487))
	})
	b.picture(0)
	return b
}

func TestWhatIsHeldHasANumberOfItsOwn(t *testing.T) {
	h := newHoldBench(t)
	require.Nil(t, h.hub.Newest().Hold, "live")
	h.freeze(true)
	first := h.hub.Newest().Hold
	require.NotNil(t, first)
	assert.NotZero(t, first.Number)
	assert.Equal(t, h.hub.Newest().Register.Hash, first.Register.Hash)
	assert.Equal(t, first.Register.Hash, first.Table.Hash, "the camera that it was seen through")

	h.picture(time.Second)
	assert.Equal(t, first, h.hub.Newest().Hold, "a new picture changes nothing that is held")

	h.game.AskJudgeFor("player 2")
	assert.Equal(t, first.Number, h.hub.Newest().Hold.Number, "asking holds nothing new where something is held")
	assert.Equal(t, "player 2", h.hub.Newest().Hold.AskedBy)

	h.game.SetEdition(engine.Rules1e)
	second := h.hub.Newest().Hold
	assert.Greater(t, second.Number, first.Number, "under other rules it is another question")
	assert.Equal(t, "player 2", second.AskedBy)

	h.freeze(false)
	require.Nil(t, h.hub.Newest().Hold)
	h.game.AskJudge()
	assert.Greater(t, h.hub.Newest().Hold.Number, second.Number)
	assert.Equal(t, "the table", h.hub.Newest().Hold.AskedBy)
}

// A ship that is destroyed, or put back, while a picture is held changes no answer of it: players would see another one than the judge,
// whose ruling is recorded.
func TestAHeldAnswerIsOfTheGameAsItStood(t *testing.T) {
	for _, then := range []string{"on the table", "destroyed"} {
		h := newHoldBench(t)
		h.game.Choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
		game := func(status string) *live.Play {
			return &live.Play{Ships: []live.PlayShip{{ID: "A1", Status: "on the table"}, {ID: "B1", Status: status}}}
		}
		h.game.SetPlay(game(then), nil)
		before := h.hub.Newest()
		h.freeze(true)
		h.game.SetPlay(game(map[string]string{"destroyed": "on the table", "on the table": "destroyed"}[then]), nil)
		now := h.hub.Newest()
		judged := now.Hold.State(now.Choice)
		assert.Equal(t, before.Headline(), now.Headline())
		assert.Equal(t, judged.Headline(), now.Headline())
		assert.Equal(t, before.Panel.NoAttack, now.Panel.NoAttack)
		assert.Equal(t, before.Meaning(), now.Meaning())
		h.freeze(false)
		live := h.hub.Newest()
		assert.NotEqual(t, before.Headline(), live.Headline(), "released, it is as the game stands now")
	}
}

// While the table gives no answers nothing can be held for a judge: no note says that one was called, because no judge hears of it.
func TestAJudgeIsNotSaidToBeCalledWhereNothingIsHeld(t *testing.T) {
	h := newHoldBench(t)
	h.now = h.now.Add(time.Minute)
	err := h.game.AskJudgeFor("player 2")
	assert.EqualError(t, err, "Nothing can be held now: old picture.")
	assert.ErrorIs(t, err, live.ErrOvertaken)
	state := h.hub.Newest()
	assert.Nil(t, state.Hold)
	require.NotEmpty(t, state.Notes)
	assert.Equal(t, "Nothing can be held now: old picture.", state.Notes[0].Text)
	for _, n := range state.Notes {
		assert.NotContains(t, n.Text, "A judge was called")
	}
}

// One press too many destroys nothing: what was let go is kept for an hour.
func TestWhatIsLetGoCanBeHeldAgainForAnHour(t *testing.T) {
	h := newHoldBench(t)
	h.game.AskJudgeFor("player 2")
	was := h.hub.Newest()
	require.True(t, was.Hold.AwaitsJudge(was.Ruling))

	refused := h.game.Hold(live.HoldRequest{By: "a player"})
	require.ErrorContains(t, refused, "A judge was called by player 2 at ")
	require.NoError(t, h.game.Hold(live.HoldRequest{Held: was.Hold.Number, By: "Ada"}))
	v := h.hub.Newest()
	assert.Nil(t, v.Hold)
	assert.Contains(t, v.Notes[0].Text, "What was held for a judge was released by Ada.")
	require.Len(t, v.Released, 1)
	assert.Equal(t, live.Released{Number: was.Hold.Number, At: was.Hold.At, AskedBy: "player 2", From: "A1", To: "B1", ReleasedAt: v.At,
		By: "Ada"}, v.Released[0])

	h.ships[1] = gameShip("B1", 300, 700)
	h.picture(200 * time.Millisecond)
	h.wait(59 * time.Minute)
	require.NoError(t, h.game.Hold(live.HoldRequest{Hold: true, Held: was.Hold.Number, Judge: true}))
	v = h.hub.Newest()
	assert.Equal(t, was.Hold, v.Hold, "the picture, the ships and the answers of then")
	assert.Equal(t, was.Panel.DistanceMM, v.Panel.DistanceMM)
	assert.Empty(t, v.Released)

	h.freeze(false)
	h.wait(61 * time.Minute)
	assert.Empty(t, h.hub.Newest().Released)
	assert.ErrorIs(t, h.game.Hold(live.HoldRequest{Hold: true, Held: was.Hold.Number, Judge: true}), live.ErrNotKept)
}

// Freezing and letting go again and again does not push out what a judge was called for.
func TestWhatAJudgeWasCalledForIsKeptBeforeAnythingElse(t *testing.T) {
	h := newHoldBench(t)
	h.game.AskJudgeFor("player 2")
	number := h.hub.Newest().Hold.Number
	require.NoError(t, h.game.Hold(live.HoldRequest{Held: number, By: "a player"}))
	for range 3 * releasedMost {
		h.freeze(true)
		h.freeze(false)
	}
	kept := h.hub.Newest().Released
	require.LessOrEqual(t, len(kept), 1+releasedMost)
	assert.Equal(t, number, kept[len(kept)-1].Number)
	// Another hold takes its place; it is kept in turn.
	h.game.AskJudgeFor("player 1")
	other := h.hub.Newest().Hold.Number
	require.NoError(t, h.game.Hold(live.HoldRequest{Hold: true, Held: number, Judge: true}))
	assert.Equal(t, number, h.hub.Newest().Hold.Number)
	assert.Equal(t, other, h.hub.Newest().Released[0].Number)
}

// Whoever calls a judge and lets go, again and again, does not destroy what was held first.
func TestPlayersCannotPushOutWhatAJudgeWasCalledFor(t *testing.T) {
	h := newHoldBench(t)
	var numbers []uint64
	for range awaitedMost {
		h.game.AskJudgeFor("player 2")
		numbers = append(numbers, h.hub.Newest().Hold.Number)
		require.NoError(t, h.game.Hold(live.HoldRequest{Held: numbers[len(numbers)-1], By: "x"}))
		h.picture(time.Second)
	}
	h.game.AskJudgeFor("player 2")
	fifth := h.hub.Newest().Hold.Number
	var problem *live.Refusal
	for range 3 {
		require.ErrorAs(t, h.game.Hold(live.HoldRequest{Held: fifth, By: "x"}), &problem)
		assert.ErrorIs(t, problem, live.ErrOvertaken)
		assert.Contains(t, problem.Text, "4 held pictures that a judge was to see were released within the hour")
	}
	v := h.hub.Newest()
	require.NotNil(t, v.Hold, "it stays held")
	require.Len(t, v.Released, awaitedMost)
	assert.Equal(t, numbers[0], v.Released[awaitedMost-1].Number, "the first is still kept")

	// The judge holds the first again in place of the fifth, and lets it go: then there is room.
	require.NoError(t, h.game.Hold(live.HoldRequest{Hold: true, Held: numbers[0], Judge: true, By: "Jo"}))
	require.NoError(t, h.game.Hold(live.HoldRequest{Judge: true, By: "Jo"}))
	v = h.hub.Newest()
	require.Len(t, v.Released, awaitedMost+1, "what the judge let go can be held again too")
	for n := range 2 * awaitedMost { // nor does a judge push out more than the oldest, and not in silence
		h.game.AskJudgeFor("player 2")
		again := h.hub.Newest().Released[1].Number
		require.NoError(t, h.game.Hold(live.HoldRequest{Hold: true, Held: again, Judge: true, By: "Jo"}), n)
		require.LessOrEqual(t, len(h.hub.Newest().Released), awaitedMost+releasedMost)
		require.NoError(t, h.game.Hold(live.HoldRequest{Judge: true, By: "Jo"}))
	}
	h.wait(time.Hour)
	h.picture(200 * time.Millisecond)
	h.game.AskJudgeFor("player 2")
	require.NoError(t, h.game.Hold(live.HoldRequest{Held: h.hub.Newest().Hold.Number, By: "x"}), "an hour later there is room")
}

// Who asked first stands first, and no one takes the place of another.
func TestAllWhoAskedForAJudgeAreRemembered(t *testing.T) {
	h := newHoldBench(t)
	notes := func() (out []string) {
		for _, n := range h.hub.Newest().Notes {
			out = append(out, n.Text)
		}
		return out
	}
	h.game.AskJudgeFor("Ada")
	assert.Contains(t, notes(), "The answers are held: they are those of this picture until the judge releases them.")
	assert.Contains(t, notes(), "A judge was called by Ada: A1 to B1.")
	h.game.AskJudgeFor("Ben")
	h.game.AskJudgeFor("Ada")
	h.game.AskJudge()
	assert.Equal(t, "Ada, Ben", h.hub.Newest().Hold.AskedBy)
	assert.Contains(t, notes(), "A judge was called by Ben: A1 to B1.")
	for i := range 3 * askersMost {
		h.game.AskJudgeFor(fmt.Sprintf("player number %d of the long table", i))
	}
	asked := h.hub.Newest().Hold.AskedBy
	assert.True(t, strings.HasPrefix(asked, "Ada, Ben, player number 0"), asked)
	assert.Contains(t, asked, " more")
	assert.LessOrEqual(t, len(asked), 80, "it fits in a ruling's asked_by")
}

// TestNothingIsHeldUntilTheRestart: neither a new picture, nor one that was released, nor one in
// which ships were marked; when no restart comes, all can be held again.
func TestNothingIsHeldUntilTheRestart(t *testing.T) {
	h := newHoldBench(t)
	restart := live.HoldRequest{Restart: true}
	require.NoError(t, h.game.AskJudgeFor("player 2"))
	number := h.hub.Newest().Hold.Number
	require.ErrorIs(t, h.game.Hold(restart), live.ErrHeld)
	require.NotNil(t, h.hub.Newest().Hold)
	require.NoError(t, h.game.Hold(live.HoldRequest{Held: number, By: "player 1"}))
	require.ErrorContains(t, h.game.Hold(restart), "a judge can hold it again until "+h.now.Add(releasedFor).Local().Format("15:04"))
	again := live.HoldRequest{Hold: true, Held: number, Judge: true}
	require.NoError(t, h.game.Hold(again), "no restart is near")
	require.NoError(t, h.game.Hold(live.HoldRequest{Judge: true, By: "x"}))
	require.NoError(t, h.game.Hold(restart))
	for name, try := range map[string]func() error{
		"asked":   func() error { return h.game.AskJudgeFor("player 2") },
		"held":    func() error { return h.game.Hold(live.HoldRequest{Hold: true}) },
		"again":   func() error { return h.game.Hold(again) },
		"by hand": func() error { _, err := h.game.HoldMarked(live.Held{}, live.Choice{}); return err },
	} {
		assert.ErrorIs(t, try(), live.ErrRestarting, name)
		assert.Nil(t, h.hub.Newest().Hold, name)
	}
	h.now = h.now.Add(live.RestartWithin)
	require.NoError(t, h.game.Hold(again))
	assert.Equal(t, number, h.hub.Newest().Hold.Number)

	require.NoError(t, h.game.Hold(live.HoldRequest{Held: number, By: "player 1"}))
	require.Error(t, h.game.Hold(restart))
	h.now = h.now.Add(releasedFor)
	require.NoError(t, h.game.Hold(restart), "an hour later nothing is kept")
}
