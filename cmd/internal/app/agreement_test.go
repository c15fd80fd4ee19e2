package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/web"
)

// A program that is started anew in the middle of a game measures no more than the players
// agreed on. The next day, and where the configuration was changed, that counts.
func TestAnAgreementOutlivesTheProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), agreementFile)
	first := newBench(t, func(_ *bench, o *WatcherOptions) { o.Rules.Measuring, o.AgreementFile = web.MeasuringFree, path })
	kept, err := loadAgreement(path, web.MeasuringFree, first.now)
	require.NoError(t, err)
	assert.Equal(t, web.MeasuringFree, kept, "nothing was agreed on yet")

	first.watcher.Agree(web.MeasuringEdition, true)
	kept, err = loadAgreement(path, web.MeasuringFree, first.now.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, web.MeasuringEdition, kept)

	again := newBench(t, func(_ *bench, o *WatcherOptions) { o.Rules.Measuring, o.AgreementFile = web.MeasuringFree, path })
	again.watcher.takeUp(kept)
	v := again.hub.Newest()
	assert.Equal(t, web.MeasuringEdition, v.Policy.Measuring)
	assert.Nil(t, v.Policy.Window, "what was declared was about one moment")
	assert.Contains(t, v.Notes[0].Text, "As agreed before the program was started anew: measuring is allowed when the rules open it.")

	for rule, c := range map[string]struct {
		configured web.Measuring
		after      time.Duration
		want       web.Measuring
	}{
		"the next day":                          {web.MeasuringFree, agreementFor + time.Second, web.MeasuringFree},
		"another configuration":                 {web.MeasuringJudge, time.Minute, web.MeasuringJudge},
		"a clock that was not set at the start": {web.MeasuringFree, -time.Hour, web.MeasuringEdition},
	} {
		got, err := loadAgreement(path, c.configured, first.now.Add(c.after))
		require.NoError(t, err, rule)
		assert.Equal(t, c.want, got, rule)
	}
	for _, bad := range []string{"", "{", `{"measuring":"everything","instead_of":"free","at":"2026-01-02T15:04:05Z"}`, `{"measured":"free"}`} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		got, err := loadAgreement(path, web.MeasuringJudge, first.now)
		assert.ErrorContains(t, err, path, "%q", bad)
		assert.Equal(t, web.MeasuringJudge, got)
	}
}

func TestAnAgreementThatCannotBeKeptIsTold(t *testing.T) {
	b := newBench(t, func(_ *bench, o *WatcherOptions) {
		o.Rules.Measuring, o.AgreementFile = web.MeasuringFree, filepath.Join(t.TempDir(), "nowhere", agreementFile)
	})
	b.watcher.Agree(web.MeasuringJudge, true)
	v := b.hub.Newest()
	assert.Equal(t, web.MeasuringJudge, v.Policy.Measuring, "it holds all the same")
	assert.Contains(t, v.Notes[0].Text, "if the program is started anew, everybody may measure at any time")
}
