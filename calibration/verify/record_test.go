package verify_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
)

func aRecord() verify.Record {
	return verify.Record{
		At: time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC), Outcome: verify.Pass, WorstError: 0.21, WorstNormalised: 1.3,
		Places: 5, Covered: 0.9, Calibration: "abc",
	}
}

func TestAVerificationIsKeptBesideTheTable(t *testing.T) {
	table := filepath.Join(t.TempDir(), "table.json")
	_, ok, err := verify.LoadRecord(table)
	require.NoError(t, err)
	assert.False(t, ok, "never verified")
	require.NoError(t, verify.SaveRecord(table, aRecord()))
	got, ok, err := verify.LoadRecord(table)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, aRecord(), got)
	assert.NoFileExists(t, table, "the calibration itself is not touched")

	bad := aRecord()
	bad.Outcome = "splendid"
	assert.ErrorContains(t, verify.SaveRecord(table, bad), "outcome")
	got, _, err = verify.LoadRecord(table)
	require.NoError(t, err)
	assert.Equal(t, aRecord(), got, "what was there stays")
}

func TestABrokenVerificationFileIsOneClearLine(t *testing.T) {
	table := filepath.Join(t.TempDir(), "table.json")
	for content, want := range map[string]string{
		"":                           "empty",
		"{":                          "it ends in the middle",
		"[]":                         "expected an object",
		`{"version":2}`:              "version",
		`{"version":1}`:              "at: missing",
		`{"version":1,"colour":"x"}`: "colour",
		`{"version":1,"at":"2026-11-21T10:00:00Z","outcome":"good"}`:                                   "expected pass, fail or undecided",
		`{"version":1,"at":"2026-11-21T10:00:00Z","outcome":"pass","worst_error_mm":-1}`:               "worst_error_mm",
		`{"version":1,"at":"2026-11-21T10:00:00Z","outcome":"pass","places":0}`:                        "places",
		`{"version":1,"at":"2026-11-21T10:00:00Z","outcome":"pass","places":3,"covered":0.5}`:          "hash",
		`{"version":1,"at":"yesterday","outcome":"pass","places":3,"covered":0.5,"calibration":"abc"}`: "yesterday",
	} {
		require.NoError(t, os.WriteFile(verify.RecordPath(table), []byte(content), 0o600))
		_, _, err := verify.LoadRecord(table)
		assert.ErrorContains(t, err, want, "%s", content)
		assert.ErrorContains(t, err, "table.json.verify.json")
	}
}

func TestAVerificationHoldsForTheCalibrationThatItWasMadeWith(t *testing.T) {
	rig := newCheckRig(t, rand.New(rand.NewPCG(1, 1)))
	file := rig.table
	file.Hash = "abc"
	r := aRecord()
	assert.Empty(t, r.Stale(&file, &file))
	a := r.Answer(&file, &file)
	assert.True(t, a.Holds)
	assert.Empty(t, a.Why)
	assert.Equal(t, "pass", a.Outcome)

	other := file
	other.Hash = "def"
	assert.Contains(t, r.Stale(&other, &other), "another calibration file")
	assert.False(t, r.Answer(&other, &other).Holds)

	// Registered again: a hair's breadth off is the same calibration, 3 mm is not.
	anew := file
	anew.Extrinsics = anew.Extrinsics.Perturbed(calibration.Vec3{}, calibration.Vec3{0.02, 0, 0})
	assert.Empty(t, r.Stale(&file, &anew))
	anew.Extrinsics = file.Extrinsics.Perturbed(calibration.Vec3{}, calibration.Vec3{3, 0, 0})
	assert.Contains(t, r.Stale(&file, &anew), "registered again since, 3.0 mm off")
}

func TestAnAnswerCarriesItsVerification(t *testing.T) {
	rig := newCheckRig(t, rand.New(rand.NewPCG(1, 1)))
	file := rig.table
	file.Hash = "abc"
	doc, err := verify.AddTo([]byte(`{"version":1}`+"\n"), aRecord().Answer(&file, &file))
	require.NoError(t, err)
	assert.JSONEq(t, `{"version":1,"verified":{"at":"2026-11-21T10:30:00Z","outcome":"pass","worst_error_mm":0.21,"worst_sigmas":1.3,
		"places":5,"covered":0.9,"holds":true,"why":""}}`, string(doc))
	doc, err = verify.AddTo([]byte(`{"version":1}`), nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"version":1,"verified":null}`, string(doc))
	for _, bad := range []string{"", "{}", "[1]", "null"} {
		_, err := verify.AddTo([]byte(bad), nil)
		assert.Error(t, err, "%q", bad)
	}
	assert.Equal(t, "this calibration was never verified", (*verify.AnswerJSON)(nil).String())
	other := file
	other.Hash = "def"
	assert.Contains(t, aRecord().Answer(&other, &other).String(), "pass, largest error 0.21 mm (1.3 of its sigma) at 5 places; it no "+
		"longer holds")
}

func FuzzLoadVerifyRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"at":"2026-11-21T10:00:00Z","outcome":"pass","worst_error_mm":0.2,"worst_sigmas":1,
		"places":3,"covered":0.5,"calibration":"abc"}`))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		table := filepath.Join(t.TempDir(), "t")
		require.NoError(t, os.WriteFile(verify.RecordPath(table), raw, 0o600))
		r, ok, err := verify.LoadRecord(table)
		if err != nil {
			return
		}
		require.True(t, ok)
		require.NoError(t, verify.SaveRecord(table, r), "what was read can be written")
	})
}
