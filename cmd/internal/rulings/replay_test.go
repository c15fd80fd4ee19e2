package rulings_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
	"sightline/engine"
)

func TestTheStoredPictureGivesTheRecordedVerdict(t *testing.T) {
	l, _ := newLog(t, 0)
	r, f := simulatedRuling(t)
	_, err := l.Append(ctx, r, f)
	require.NoError(t, err)
	got, err := l.Replay(ctx, 1, "v1")
	require.NoError(t, err)
	assert.Equal(t, rulings.Exact, got.Engine.State, "%+v", got.Engine)
	assert.Equal(t, rulings.Alike, got.Picture.State, "%+v", got.Picture)
	assert.Empty(t, got.Chain)
	assert.Empty(t, got.Picture.Absent)
	assert.Len(t, got.Picture.Ships, 3)
	assert.Len(t, got.Picture.Rocks, 1)
	assert.Less(t, got.Picture.Worst(), 1e-6, "the scene is of this one picture")
	assert.True(t, got.Same())
}

func TestAShipThatWasBumpedIsToldInMillimetresAndSigmas(t *testing.T) {
	l, _ := newLog(t, 0)
	r, f := simulatedRuling(t)
	r.Scene = shifted(r.Scene, "B1", 0, -20) // as if somebody had pushed it before the picture
	p, err := engine.MeasurePair(&r.Scene, "A1", "B1", engine.Options{Sigmas: r.Sigmas})
	require.NoError(t, err)
	r.Pair = &p
	_, err = l.Append(ctx, r, f)
	require.NoError(t, err)
	got, err := l.Replay(ctx, 1, "v1")
	require.NoError(t, err)
	assert.Equal(t, rulings.Exact, got.Engine.State, "the engine is not at fault")
	assert.Equal(t, rulings.Differs, got.Picture.State, "%+v", got.Picture)
	assert.False(t, got.Same())
	assert.InDelta(t, 20, got.Picture.Distance.By, 1)
	assert.Greater(t, got.Picture.Worst(), 10.0)
	assert.Contains(t, got.Picture.Why, "sigmas from where it was recorded")
	require.NotEmpty(t, got.Picture.Answers)
	assert.Equal(t, rulings.Difference{Key: "range", Recorded: "range 2", Now: "range 3"}, got.Picture.Answers[0])
}

func TestAShipThatThePictureDoesNotShowIsNamed(t *testing.T) {
	l, _ := newLog(t, 0)
	r, f := simulatedRuling(t)
	ghost := r.Scene.Ships[0]
	ghost.ID, ghost.Pose.Y = "A4", 60
	r.Scene.Ships = append(append([]engine.Ship(nil), r.Scene.Ships...), ghost)
	p, err := engine.MeasurePair(&r.Scene, "A4", "B1", engine.Options{Sigmas: r.Sigmas})
	require.NoError(t, err)
	r.Pair, r.From = &p, "A4"
	_, err = l.Append(ctx, r, f)
	require.NoError(t, err)
	got, err := l.Replay(ctx, 1, "v1")
	require.NoError(t, err)
	assert.Equal(t, rulings.Failed, got.Picture.State)
	assert.Contains(t, got.Picture.Why, "A4 is not found in this one picture")
	assert.Equal(t, []string{"A4"}, got.Picture.Absent)
	assert.False(t, got.Same())
}

// What a person marked in a photograph no locator finds: it is taken as it was recorded, obstacles and all.
func TestShipsThatAPersonMarkedAreTakenAsRecorded(t *testing.T) {
	l, _ := newLog(t, 0)
	r, f := simulatedRuling(t)
	f.Catalogue, f.EmptyMat = nil, nil
	r.Scene.Ships = append([]engine.Ship(nil), r.Scene.Ships...)
	for i := range r.Scene.Ships {
		s := &r.Scene.Ships[i]
		s.Seen, s.Pose.Y = "mark", s.Pose.Y+1.5 // where a hand put it
	}
	p, err := engine.MeasurePair(&r.Scene, "A1", "B1", engine.Options{Sigmas: r.Sigmas})
	require.NoError(t, err)
	r.Pair = &p
	_, err = l.Append(ctx, r, f)
	require.NoError(t, err)
	got, err := l.Replay(ctx, 1, "v1")
	require.NoError(t, err)
	assert.Equal(t, rulings.Alike, got.Picture.State, "%+v", got.Picture)
	assert.Contains(t, got.Picture.Why, "B1")
	assert.Contains(t, got.Picture.Why, "marked by a person")
	assert.Empty(t, got.Picture.Absent)
	assert.True(t, got.Same())
}

func TestARulingWithoutPictureOrVerdictIsReplayedAsFarAsItGoes(t *testing.T) {
	l, _ := newLog(t, 0)
	_, err := l.Append(ctx, ruling(t, 0), rulings.Files{})
	require.NoError(t, err)
	r := overruled(t, 1)
	r.Pair, r.Unanswered = nil, "B1 is moving"
	_, err = l.Append(ctx, r, rulings.Files{})
	require.NoError(t, err)
	got, err := l.Replay(ctx, 1, "v1")
	require.NoError(t, err)
	assert.Equal(t, []rulings.State{rulings.Exact, rulings.NoPicture}, []rulings.State{got.Engine.State, got.Picture.State})
	assert.True(t, got.Same())
	got, err = l.Replay(ctx, 2, "v1")
	require.NoError(t, err)
	assert.Equal(t, []rulings.State{rulings.NothingMeasured, rulings.NoPicture}, []rulings.State{got.Engine.State, got.Picture.State})
	assert.True(t, got.Same())
	_, err = l.Replay(ctx, 3, "v1")
	assert.ErrorIs(t, err, rulings.ErrNoEntry)
}

func TestAPictureThatIsNoneIsAFailureAndNoPanic(t *testing.T) {
	l, _ := newLog(t, 0)
	_, err := l.Append(ctx, ruling(t, 0), files(0)) // noise, and a calibration that is none
	require.NoError(t, err)
	got, err := l.Replay(ctx, 1, "v1")
	require.NoError(t, err)
	assert.Equal(t, rulings.Failed, got.Picture.State)
	assert.NotEmpty(t, got.Picture.Why)
	assert.False(t, got.Same())
}

// What an earlier version did not state is no different answer; a different figure is distinguished from a different answer.
func TestAnotherFigureIsNoOtherAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		change func(pair map[string]any)
		state  rulings.State
		says   string
	}{
		"a sigma was not stated then": {func(p map[string]any) { delete(p["range"].(map[string]any), "sigma_mm") }, rulings.Rounded,
			"not stated when it was recorded: range.sigma_mm"},
		"another margin":         {func(p map[string]any) { p["range"].(map[string]any)["margin_mm"] = 77.5 }, rulings.Refigured, ""},
		"another band":           {func(p map[string]any) { p["range"].(map[string]any)["band"] = 3 }, rulings.Differs, ""},
		"a figure less":          {func(p map[string]any) { p["range"].(map[string]any)["was_mm"] = 1 }, rulings.Refigured, ""},
		"contact was not stated": {func(p map[string]any) { delete(p, "contact") }, rulings.Differs, ""},
		"an arc less":            {func(p map[string]any) { p["arcs"] = p["arcs"].([]any)[1:] }, rulings.Differs, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newLog(t, 1)
			e, err := l.Entry(ctx, 1)
			require.NoError(t, err)
			require.Equal(t, rulings.Exact, rulings.RecountOf(&e).State)
			var pair map[string]any
			require.NoError(t, json.Unmarshal(e.Verdict, &pair))
			c.change(pair)
			e.Verdict, err = json.Marshal(pair)
			require.NoError(t, err)
			got := rulings.RecountOf(&e)
			assert.Equal(t, c.state, got.State, "%+v", got)
			assert.Contains(t, got.Why, c.says)
			assert.Equal(t, c.state == rulings.Rounded, len(got.Differences) == 0)
			assert.Equal(t, c.state == rulings.Rounded, (&rulings.Replayed{Engine: got, Picture: rulings.Relook{State: rulings.NoPicture}}).Same())
		})
	}
}
