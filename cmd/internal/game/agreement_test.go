package game

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
)

// A program that is started again in the middle of a game measures no more than the players
// agreed on. The next day, and where the configuration was changed, that counts.
func TestAnAgreementOutlivesTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), agreementFile)
	first := newGameBench(t, func(_ *gameBench, o *Options) { o.Rules.Measuring, o.Dir = live.MeasuringFree, filepath.Dir(path) })
	kept, _, err := loadAgreement(path, live.MeasuringFree, first.now, nil)
	require.NoError(t, err)
	assert.Equal(t, live.MeasuringFree, kept, "nothing was agreed on yet")

	first.game.Agree(live.MeasuringEdition, true)
	kept, _, err = loadAgreement(path, live.MeasuringFree, first.now.Add(time.Minute), nil)
	require.NoError(t, err)
	require.Equal(t, live.MeasuringEdition, kept)

	again := newGameBench(t, func(_ *gameBench, o *Options) { o.Rules.Measuring, o.Dir = live.MeasuringFree, filepath.Dir(path) })
	v := again.hub.Newest()
	assert.Equal(t, live.MeasuringEdition, v.Policy.Measuring)
	assert.Nil(t, v.Policy.Window, "what was declared was about one moment")
	assert.Contains(t, v.Notes[0].Text, "As agreed before the program restarted: measuring is allowed when the rules allow it.")

	for rule, c := range map[string]struct {
		configured live.Measuring
		after      time.Duration
		want       live.Measuring
	}{
		"the next day":                          {live.MeasuringFree, agreementFor + time.Second, live.MeasuringFree},
		"another configuration":                 {live.MeasuringJudge, time.Minute, live.MeasuringJudge},
		"a clock that was not set at the start": {live.MeasuringFree, -time.Hour, live.MeasuringEdition},
	} {
		got, _, err := loadAgreement(path, c.configured, first.now.Add(c.after), nil)
		require.NoError(t, err, rule)
		assert.Equal(t, c.want, got, rule)
	}
	for _, bad := range []string{"", "{", `{"measuring":"everything","instead_of":"free","at":"2026-01-02T15:04:05Z"}`,
		`{"measured":"free"}`} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		got, _, err := loadAgreement(path, live.MeasuringJudge, first.now, nil)
		assert.ErrorContains(t, err, path, "%q", bad)
		assert.Equal(t, live.MeasuringJudge, got)
	}
}

func TestAnAgreementThatCannotBeKeptIsTold(t *testing.T) {
	b := newGameBench(t, func(_ *gameBench, o *Options) {
		o.Rules.Measuring, o.Dir = live.MeasuringFree, filepath.Join(t.TempDir(), "nowhere")
	})
	b.game.Agree(live.MeasuringJudge, true)
	v := b.hub.Newest()
	assert.Equal(t, live.MeasuringJudge, v.Policy.Measuring, "it holds all the same")
	assert.Contains(t, v.Notes[0].Text, "if the program restarts now, the one before may count again")
}

// A disk that was full for a moment: the agreement is kept as soon as there is room, and told to be lost once.
func TestAnAgreementIsKeptOnceTheDiskHasRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "full")
	b := newGameBench(t, func(_ *gameBench, o *Options) { o.Rules.Measuring, o.Dir = live.MeasuringFree, dir })
	b.game.Agree(live.MeasuringJudge, true)
	b.game.storeAgreementAgain()
	assert.Equal(t, 1, strings.Count(notesOf(b), "could not be saved"))
	require.NoError(t, os.Mkdir(dir, 0o700))
	b.game.storeAgreementAgain()
	kept, _, err := loadAgreement(filepath.Join(dir, agreementFile), live.MeasuringFree, b.now, nil)
	require.NoError(t, err)
	assert.Equal(t, live.MeasuringJudge, kept)
}
