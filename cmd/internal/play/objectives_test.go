package play_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/round"
	"sightline/engine"
	"sightline/engine/geom"
)

// scenario starts a game of 2.5 with markers of a kind on the table, and plays to the Activation
// phase of round 2.
func (b *bench) scenario(c round.Scenario, kind string, at ...geom.Point) {
	b.t.Helper()
	for i, p := range at {
		b.scene.Markers = append(b.scene.Markers, engine.Token{ID: fmt.Sprintf("m%d", i+1), Kind: kind, Pose: geom.Pose{Point: p}, Sigma: 0.2})
	}
	b.scene.Rules = engine.Rules25
	b.look()
	r := play.StartRequest{Edition: "2.5", Scenario: c}
	r.Players[0].Name, r.Players[0].Squad = "Ada", reds
	r.Players[1].Name, r.Players[1].Squad = "Ben", blacks
	require.NoError(b.t, b.table.Start(r))
	b.look()
	for b.game()["round"] != 2.0 || b.game()["phase"] != "Activation" {
		require.Equal(b.t, http.StatusNoContent, b.tap().Code)
	}
}

// offer is what is proposed; its tap is posted as the page does.
type offer struct {
	Text, Outcome, Button string
	Tap                   map[string]any
}

func (b *bench) offers() (out []offer) {
	b.t.Helper()
	raw, err := json.Marshal(b.game()["offers"])
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(raw, &out))
	return out
}

func (b *bench) take(o offer) *int {
	b.t.Helper()
	raw, err := json.Marshal(map[string]any{"kind": o.Tap["kind"], "ship": o.Tap["ship"], "with": o.Tap["with"], "text": o.Tap["text"]})
	require.NoError(b.t, err)
	code := b.ask("POST", "/api/game/do", string(raw)).Code
	return &code
}

func five() []geom.Point {
	return []geom.Point{{X: 457, Y: 457}, {X: 300, Y: 560}, {X: 300, Y: 100}, {X: 800, Y: 457}, {X: 800, Y: 200}}
}

// TestSalvageIsProposedFromWhatIsMeasured is a round of Salvage Mission: A1 flies to a supply
// cache, tows it, is destroyed and lets it go (G228, G230).
func TestSalvageIsProposedFromWhatIsMeasured(t *testing.T) {
	b := newBench(t)
	b.scenario(round.Salvage, "supply_cache", five()...)
	assert.Empty(t, b.offers(), "nobody has moved")
	require.NoError(t, b.table.Do(round.Event{Kind: round.Acted, Ship: "A1", Round: 2, Phase: round.Activation}))
	assert.Empty(t, b.offers(), "no cache is near")

	b.scene.Ships[0].Pose.Point = geom.Point{X: 300, Y: 480}
	b.look()
	offers := b.offers()
	require.Len(t, offers, 1)
	assert.Equal(t, "yes", offers[0].Outcome)
	assert.Equal(t, "A1 (Wedge Antilles) may tow m2: it is at range 0–1 (42.0 mm)", offers[0].Text)
	assert.Equal(t, "A1 tows m2", offers[0].Button)

	kept := b.scene.Markers
	b.scene.Markers = append(append([]engine.Token{}, kept[:1]...), kept[2:]...) // put on the ship's card before the tap
	b.look()
	offers = b.offers()
	require.Len(t, offers, 1)
	assert.Equal(t, "A1 (Wedge Antilles) may tow m2: it is at range 0–1 (42.0 mm). It is no longer on the table", offers[0].Text)
	require.Equal(t, http.StatusNoContent, *b.take(offers[0]))
	assert.Empty(t, b.offers(), "a ship tows one")
	assert.Equal(t, http.StatusConflict, *b.take(offers[0]), "two people tapped")
	row := b.game()["objectives"].([]any)[1].(map[string]any)
	assert.Equal(t, map[string]any{"id": "m2", "ship": "A1", "player": 1.0, "text": "towed by A1 (Wedge Antilles)"}, row)

	b.scene.Markers = kept // it lies there again
	b.look()
	offers = b.offers()
	require.Len(t, offers, 1)
	assert.Equal(t, "A1 jettisons it", offers[0].Button)
	require.NoError(t, b.table.Do(round.Event{Kind: round.Changed, Ship: "A1", Status: round.Destroyed}))
	assert.Empty(t, b.offers())
	says := b.game()["says"].([]any)[0].(map[string]any)
	assert.Equal(t, "A1 (Wedge Antilles): destroyed; m2 is jettisoned", says["text"])

	var card struct {
		Lines []struct{ Rule, Outcome, Text string }
	}
	w := b.ask("GET", "/api/game/check/scenario", "")
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &card))
	require.NotEmpty(t, card.Lines, w.Body)
	assert.Equal(t, "G229 G230", card.Lines[0].Rule)
	assert.Equal(t, "m2 is legal by 42.0 mm: at range 1 of the ship (42.0 mm from A1)", card.Lines[0].Text)
}

// A ship that is too close to call is proposed with both outcomes, and under an agreement that
// measures nothing, nothing is proposed.
func TestAnActionTooCloseToCallIsProposedWithBothOutcomes(t *testing.T) {
	b := newBench(t)
	b.scenario(round.Scramble, "satellite", geom.Point{X: 457, Y: 457}, geom.Point{X: 300, Y: 560}, geom.Point{X: 800, Y: 300})
	b.scene.Ships[0].Pose.Point = geom.Point{X: 300, Y: 560 - 18.05 - 20 - 99.9}
	require.NoError(t, b.table.Do(round.Event{Kind: round.Acted, Ship: "A1", Round: 2, Phase: round.Activation}))
	b.look()
	offers := b.offers()
	require.Len(t, offers, 1)
	assert.Equal(t, "too_close", offers[0].Outcome)
	assert.Equal(t, "Too close to call whether A1 (Wedge Antilles) may scramble m2 (99.9 ± 0.3 mm, range 1 ends at 100): if not, the "+
		"action fails", offers[0].Text)
	b.policy.Measuring = live.MeasuringJudge
	b.look()
	assert.Empty(t, b.offers())
	b.policy.Measuring = live.MeasuringEdition
	b.look()
	require.Len(t, b.offers(), 1, "the edition opens it for the ship that has just moved")
	require.Equal(t, http.StatusNoContent, *b.take(b.offers()[0]))
	assert.Equal(t, "marker of Ada", b.game()["objectives"].([]any)[1].(map[string]any)["text"])
	assert.Empty(t, b.offers())

	for b.game()["phase"] != "End" {
		require.Equal(t, http.StatusNoContent, b.tap().Code)
	}
	claims := b.game()["claims"].([]any)
	assert.Equal(t, "1 satellites with the player's marker", claims[0].(map[string]any)["why"])
	assert.Equal(t, 0.0, claims[1].(map[string]any)["points"])
}

// Where the markers are not seen, people say who has what, and the points follow.
func TestObjectivesThatAreNotSeenAreSaidByHand(t *testing.T) {
	b := newBench(t)
	b.scenario(round.Salvage, "supply_cache")
	assert.Len(t, b.game()["objectives"], 5)
	assert.Equal(t, http.StatusNoContent, b.ask("POST", "/api/game/do", `{"kind":"towed","ship":"B1","with":"supply cache 3"}`).Code)
	assert.Equal(t, http.StatusConflict, b.ask("POST", "/api/game/do", `{"kind":"towed","ship":"B1","with":"supply cache 4"}`).Code)
	for b.game()["phase"] != "End" {
		require.Equal(t, http.StatusNoContent, b.tap().Code)
	}
	claims := b.game()["claims"].([]any)
	assert.Equal(t, []any{0.0, 1.0}, []any{claims[0].(map[string]any)["points"], claims[1].(map[string]any)["points"]})
}
