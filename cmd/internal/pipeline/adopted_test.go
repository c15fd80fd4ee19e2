package pipeline

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/live"
	"sightline/vision"
)

func TestNoAnswersWhileTheCameraIsCalibratedAndTheNewCalibrationAfterIt(t *testing.T) {
	busy := false
	var adopted Adopted
	b := newBench(t, func(_ *bench, o *benchParts) { o.Busy, o.Adopted = func() bool { return busy }, &adopted })
	require.NotNil(t, b.picture(0).Pair)
	busy = true
	v := b.picture(frameTime)
	assert.Equal(t, live.Calibrating, v.Health.Code)
	assert.Nil(t, v.Pair)
	assert.Equal(t, "calibrating", v.Reason)

	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	found, err := b.DetectMarkers(nil)
	require.NoError(t, err)
	table, err := calibration.Register(b.camera.Intrinsics, layout, vision.Sightings(found))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "table.json")
	require.NoError(t, calibration.SaveTable(path, &table))
	require.NoError(t, verify.SaveRecord(path, verify.Result{Outcome: verify.Pass, Places: 5}.Record(time.Unix(1700000000, 0), table.Hash)))
	adopted.SetTable(&table, path)
	busy = false
	for range 3 {
		v = b.picture(frameTime)
	}
	assert.Equal(t, live.OK, v.Health.Code, "%+v", v.Health)
	assert.Equal(t, "table.json", v.Register.From)
	require.NotNil(t, v.Register.Verified, "its verification goes with the answers")
	assert.True(t, v.Register.Verified.Holds)
	require.NotNil(t, v.Pair)

	// Someone verifies it while the program runs, and it fails.
	require.NoError(t, verify.SaveRecord(path, verify.Result{Outcome: verify.Fail, Places: 5}.Record(time.Unix(1700000100, 0), table.Hash)))
	v = b.picture(2 * verificationEvery)
	require.NotNil(t, v.Register.Verified)
	assert.Equal(t, "fail", v.Register.Verified.Outcome)
	require.NoError(t, os.Remove(verify.RecordPath(path)))
	assert.Nil(t, b.picture(2*verificationEvery).Register.Verified, "nobody verified it, as far as can be seen")
}

// A guided calibration saves the lens and then the table, and pictures wait meanwhile.
func TestALensAndATableThatWereSavedTogetherAreBothTaken(t *testing.T) {
	table := calibration.Table{Camera: overhead(0)}
	lens := func(a *Adopted) { a.SetLens(table.Intrinsics, "/x/lens.json") }
	file := func(a *Adopted) { a.SetTable(&table, "/x/table.json") }
	for name, save := range map[string][]func(*Adopted){"lens first": {lens, file}, "table first": {file, lens}} {
		var a Adopted
		for _, s := range save {
			s(&a)
		}
		file, lensName, ok := a.take()
		require.True(t, ok, name)
		assert.Equal(t, CalibrationFile{Table: &table, Name: "table.json", Path: "/x/table.json"}, file, name)
		assert.Equal(t, "lens.json", lensName, name)
		_, _, ok = a.take()
		assert.False(t, ok, name)
	}
}
