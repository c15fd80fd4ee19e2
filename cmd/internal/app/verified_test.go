package app

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
)

// The last verification of a table file goes with what is registered from it.
func TestTheVerificationOfTheFileGoesWithItsRegistration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "table.json")
	table := calibration.Table{Hash: "abc"}
	w := NewWatcher(WatcherOptions{Table: &table, TableFile: file, Log: slog.New(slog.DiscardHandler)})
	assert.Nil(t, w.verified(&table), "nobody verified it")
	record := verify.Record{At: time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC), Outcome: verify.Pass, WorstError: 0.2, WorstNormalised: 1, Places: 5, Covered: 0.9, Calibration: "abc"}
	require.NoError(t, verify.SaveRecord(file, record))
	require.NotNil(t, w.verified(&table))
	assert.True(t, w.verified(&table).Holds)
	table.Hash = "def"
	assert.False(t, w.verified(&table).Holds, "it was made with another file")
	require.NoError(t, os.WriteFile(verify.RecordPath(file), []byte("{"), 0o600))
	assert.Nil(t, w.verified(&table), "a broken record is no verification")
	assert.Nil(t, NewWatcher(WatcherOptions{}).verified(&table), "registered from the markers alone")
}
