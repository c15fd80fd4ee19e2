package pipeline

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
	f := verifiedFile{CalibrationFile: CalibrationFile{Table: &table, Path: file}, log: slog.New(slog.DiscardHandler)}
	verified := func() *verify.AnswerJSON {
		f.load(time.Now())
		return f.answer(&table)
	}
	assert.Nil(t, verified(), "nobody verified it")
	record := verify.Record{
		At: time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC), Outcome: verify.Pass, WorstError: 0.2, WorstNormalised: 1, Places: 5,
		Covered: 0.9, Calibration: "abc",
	}
	require.NoError(t, verify.SaveRecord(file, record))
	require.NotNil(t, verified())
	assert.True(t, verified().Holds)
	table.Hash = "def"
	assert.False(t, verified().Holds, "it was made with another file")
	require.NoError(t, os.WriteFile(verify.RecordPath(file), []byte("{"), 0o600))
	assert.Nil(t, verified(), "a broken record is no verification")
	f = verifiedFile{}
	assert.Nil(t, verified(), "registered from the markers alone")
}
