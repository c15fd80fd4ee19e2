package game

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
)

// policyBench is a table with answers for A1 to B1, under an agreement.
func policyBench(t *testing.T, m live.Measuring, judges bool) *gameBench {
	b := newGameBench(t, func(_ *gameBench, o *Options) { o.Rules.Measuring, o.Judges = m, judges })
	for range 20 {
		b.picture(100 * time.Millisecond)
	}
	return b
}

func TestADeclarationOpensMeasuringForAMinute(t *testing.T) {
	b := policyBench(t, live.MeasuringEdition, false)
	v := b.hub.Newest()
	require.Equal(t, live.OK, v.Health.Code)
	assert.Nil(t, v.Pair)
	assert.True(t, v.Withheld)
	assert.Equal(t, "no one has declared what to measure for", v.Reason)
	assert.NotEmpty(t, v.Result.Pairs, "the program knows, and says nothing")

	b.game.Declare(&live.Declaration{Doing: live.DoAttack, Ship: "A1"})
	v = b.hub.Newest()
	require.NotNil(t, v.Pair)
	assert.Equal(t, "Declared: A1 attacks.", v.Notes[0].Text, "everybody reads it")

	v = b.picture(windowFor - time.Second)
	assert.NotNil(t, v.Pair)
	v = b.picture(2 * time.Second)
	assert.Nil(t, v.Pair, "it closes by itself")
	assert.Contains(t, v.Notes[0].Text, "declare again")

	b.game.Declare(&live.Declaration{Doing: live.DoAttack, Ship: "B1"})
	v = b.hub.Newest()
	assert.Equal(t, live.Choice{From: "B1", To: "A1", Arc: engine.ArcFront}, v.Choice, "what is declared is what is asked about")
	assert.NotNil(t, v.Pair)
	b.game.Declare(nil)
	assert.Nil(t, b.hub.Newest().Pair, "done")

	b.game.Declare(&live.Declaration{Doing: live.DoAttack, Ship: "A1"})
	b.game.SetEdition(engine.Rules1e)
	assert.Nil(t, b.hub.Newest().Policy.Window, "under other rules it is declared anew")
}

func TestPlayersChangeTheAgreementTogether(t *testing.T) {
	b := policyBench(t, live.MeasuringFree, false)
	require.NotNil(t, b.hub.Newest().Pair)

	b.game.Agree(live.MeasuringEdition, false)
	v := b.hub.Newest()
	assert.Equal(t, live.MeasuringFree, v.Policy.Measuring)
	require.NotNil(t, v.Policy.Proposal)
	b.game.Agree("", false)
	v = b.picture(objectFor + time.Second)
	assert.Equal(t, live.MeasuringFree, v.Policy.Measuring, "somebody objected")

	b.game.Agree(live.MeasuringEdition, false)
	until := b.hub.Newest().Policy.Proposal.Until
	b.picture(time.Second)
	b.game.Agree(live.MeasuringEdition, false)
	assert.Equal(t, until, b.hub.Newest().Policy.Proposal.Until, "proposing again takes nobody's time to object")
	v = b.picture(objectFor)
	assert.Equal(t, live.MeasuringEdition, v.Policy.Measuring, "nobody objected")
	assert.Nil(t, v.Policy.Proposal)
	assert.Nil(t, v.Pair)
}

func TestAJudgesWordHoldsAtOnceAndPlayersHaveNone(t *testing.T) {
	b := policyBench(t, live.MeasuringFree, true)
	b.game.Agree(live.MeasuringEdition, false)
	assert.Nil(t, b.hub.Newest().Policy.Proposal)
	assert.Equal(t, live.MeasuringFree, b.hub.Newest().Policy.Measuring)
	b.game.Agree(live.MeasuringJudge, true)
	v := b.hub.Newest()
	assert.Equal(t, live.MeasuringJudge, v.Policy.Measuring)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "only the judge measures at this table", v.Reason)
	b.game.Declare(&live.Declaration{Doing: live.DoAttack, Ship: "A1"})
	assert.Nil(t, b.hub.Newest().Policy.Window)
}
