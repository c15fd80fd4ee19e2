package rulings_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/geom"
)

var ctx = context.Background()

func TestARulingIsReadBackAsItWasRecorded(t *testing.T) {
	l, dir := newLog(t, 0)
	want := overruled(t, 0)
	f := files(0)
	put, err := l.Append(ctx, want, f)
	require.NoError(t, err)
	got, err := l.Entry(ctx, 1)
	require.NoError(t, err)
	assert.Equal(t, put, got)
	assert.Empty(t, got.Damage)
	assert.True(t, got.At.Equal(want.At))
	assert.Equal(t, []string{want.Question, want.AskedBy, want.Answer, want.Text, want.Reason, want.Judge, "2.5", "nominal", "front", "A1",
		"B1"},
		[]string{got.Question, got.AskedBy, got.Answer, got.Text, got.Reason, got.Judge, got.Edition, got.Profile, got.Arc, got.From, got.To})
	scene, err := got.SceneOf()
	require.NoError(t, err)
	assert.InDelta(t, float64(want.Scene.Ships[0].Pose.Heading), float64(scene.Ships[0].Pose.Heading), 1e-12)

	sum := sha256.Sum256(got.Canonical())
	assert.Equal(t, hex.EncodeToString(sum[:]), got.Hash, "the hash is that of the canonical bytes, and of nothing else")
	assert.Equal(t, rulings.Genesis, got.Previous)

	frame, ok := got.File(rulings.RoleFrame)
	require.True(t, ok)
	raw, err := l.File(ctx, frame)
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	assert.Equal(t, f.Frame, picture, "the picture is kept without loss")
	onDisk, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(frame.Path())))
	require.NoError(t, err)
	assert.Equal(t, raw, onDisk)
	calibration, _ := got.File(rulings.RoleCalibration)
	raw, err = l.File(ctx, calibration)
	require.NoError(t, err)
	assert.Equal(t, f.Calibration, raw)
}

func TestEachEntryHoldsTheHashOfTheOneBefore(t *testing.T) {
	l, _ := newLog(t, 5)
	all, err := l.Entries(ctx, 1, 100)
	require.NoError(t, err)
	require.Len(t, all, 5)
	before := rulings.Genesis
	for i, e := range all {
		assert.EqualValues(t, i+1, e.Number)
		assert.Equal(t, before, e.Previous)
		before = e.Hash
	}
	head, err := l.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, rulings.Head{Number: 5, Hash: before}, head)
	last, err := l.Last(ctx, 2)
	require.NoError(t, err)
	assert.Equal(t, []int64{5, 4}, []int64{last[0].Number, last[1].Number}, "the newest first")
	some, err := l.Entries(ctx, 2, 2)
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3}, []int64{some[0].Number, some[1].Number})
	_, err = l.Entry(ctx, 6)
	assert.ErrorIs(t, err, rulings.ErrNoEntry)
	assert.ErrorContains(t, err, "1 to 5")
}

func TestTheFolderIsMadeAtTheFirstRuling(t *testing.T) {
	l, dir := newLog(t, 0)
	all, err := l.Entries(ctx, 1, 10)
	require.NoError(t, err)
	assert.Empty(t, all)
	assert.NoDirExists(t, dir)
	_, err = rulings.Open(dir, rulings.Options{ReadOnly: true})
	assert.ErrorIs(t, err, fs.ErrNotExist, "there is nothing to look at")
	_, err = l.Append(ctx, ruling(t, 0), files(0))
	require.NoError(t, err)
	assert.DirExists(t, dir)
}

func TestTheLogGoesOnAfterItWasClosed(t *testing.T) {
	l, dir := newLog(t, 2)
	require.NoError(t, l.Close())
	_, err := l.Append(ctx, ruling(t, 2), files(2))
	assert.ErrorContains(t, err, "closed")
	again, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer again.Close()
	e, err := again.Append(ctx, ruling(t, 2), files(2))
	require.NoError(t, err)
	assert.EqualValues(t, 3, e.Number)
}

func TestOnlyOneProgramWritesALog(t *testing.T) {
	l, dir := newLog(t, 1)
	_, err := rulings.Open(dir, rulings.Options{Key: key})
	assert.ErrorIs(t, err, rulings.ErrInUse)
	look, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err, "others may look")
	defer look.Close()
	_, err = l.Append(ctx, ruling(t, 1), files(1))
	require.NoError(t, err)
	all, err := look.Entries(ctx, 1, 10)
	require.NoError(t, err)
	assert.Len(t, all, 2, "and see what is new")
	_, err = look.Append(ctx, ruling(t, 2), files(2))
	assert.ErrorContains(t, err, "read only")

	// Two that begin at once: both found nothing, one makes the log.
	dir += "2"
	a, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer a.Close()
	b, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer b.Close()
	_, err = a.Append(ctx, ruling(t, 0), files(0))
	require.NoError(t, err)
	_, err = b.Append(ctx, ruling(t, 1), files(1))
	assert.ErrorIs(t, err, rulings.ErrInUse)
	require.NoError(t, a.Close())
	e, err := b.Append(ctx, ruling(t, 1), files(1))
	require.NoError(t, err, "it goes on when the other has ended")
	assert.EqualValues(t, 2, e.Number)
}

func TestARulingThatSaysTooLittleIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *rulings.Ruling, f *rulings.Files)
		want   string
	}{
		"without a time": {func(r *rulings.Ruling, _ *rulings.Files) { r.At = time.Time{} }, "at: expected the time"},
		"overruled without a reason": {func(r *rulings.Ruling, _ *rulings.Files) { r.Decision, r.Reason = rulings.Overruled, " " },
			"reason:"},
		"without words":    {func(r *rulings.Ruling, _ *rulings.Files) { r.Text = "" }, "ruling:"},
		"with half a pair": {func(r *rulings.Ruling, _ *rulings.Files) { r.To = "" }, "from, to:"},
		"with another pair's verdict": {func(r *rulings.Ruling, _ *rulings.Files) { r.From, r.To = r.To, r.From },
			"verdict: expected that of B1 to A1"},
		"with neither verdict nor why": {func(r *rulings.Ruling, _ *rulings.Files) { r.Pair = nil }, "verdict: expected one"},
		"as measured, nothing measured": {func(r *rulings.Ruling, _ *rulings.Files) { r.Pair, r.Unanswered = nil, "A1 is moving" },
			"decision: nothing was measured"},
		"with another scene's verdict": {func(r *rulings.Ruling, _ *rulings.Files) { r.Scene.Ships[0].Pose.X += 0.01 },
			"not what the scene gives"},
		"with sigmas that were not used": {func(r *rulings.Ruling, _ *rulings.Files) { r.Sigmas = -1 }, "sigmas:"},
		"with a decision of its own":     {func(r *rulings.Ruling, _ *rulings.Files) { r.Decision = "perhaps" }, "decision:"},
		"with control characters":        {func(r *rulings.Ruling, _ *rulings.Files) { r.Judge = "Z\x1b[2J" }, "judge:"},
		"with text turned round":         {func(r *rulings.Ruling, _ *rulings.Files) { r.Text = "abc \u202e 2" }, "ruling:"},
		"with an isolate":                {func(r *rulings.Ruling, _ *rulings.Files) { r.Question = "abc \u2067 2" }, "question:"},
		"with a hidden name":             {func(r *rulings.Ruling, _ *rulings.Files) { r.AskedBy = "\u200bJo" }, "asked by:"},
		"with broken UTF-8":              {func(r *rulings.Ruling, _ *rulings.Files) { r.Text = "\xff" }, "UTF-8"},
		"with a book": {func(r *rulings.Ruling, _ *rulings.Files) { r.Text = strings.Repeat("word ", 2000) },
			"at most 4000 bytes"},
		"a picture without calibration":     {func(_ *rulings.Ruling, f *rulings.Files) { f.Calibration = nil }, "calibration:"},
		"a picture in place of a catalogue": {func(_ *rulings.Ruling, f *rulings.Files) { f.Catalogue = []byte("\x89PNG") }, "catalogue:"},
		"an impossible scene":               {func(r *rulings.Ruling, _ *rulings.Files) { r.Scene.Ships[0].Base = engine.BaseUnknown }, "scene:"},
	} {
		t.Run(name, func(t *testing.T) {
			l, dir := newLog(t, 0)
			r, f := ruling(t, 0), files(0)
			c.change(&r, &f)
			_, err := l.Append(ctx, r, f)
			require.ErrorIs(t, err, rulings.ErrRuling)
			assert.ErrorContains(t, err, c.want)
			assert.NoDirExists(t, dir, "nothing is made of it")
		})
	}
}

func TestAJudgeMayRuleWhereTheCameraHasNoAnswer(t *testing.T) {
	l, _ := newLog(t, 0)
	r := overruled(t, 0)
	r.Pair, r.Unanswered, r.Scene.Ships = nil, "B1 has not been seen for 3 s", r.Scene.Ships[:1]
	e, err := l.Append(ctx, r, rulings.Files{})
	require.NoError(t, err)
	assert.Equal(t, "null", string(e.Verdict))
	assert.Equal(t, "B1 has not been seen for 3 s", e.Unanswered)
	assert.Empty(t, e.Files)
}

func TestAContextThatEndedRecordsNothing(t *testing.T) {
	l, _ := newLog(t, 1)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err := l.Append(gone, ruling(t, 1), files(1))
	require.ErrorIs(t, err, context.Canceled)
	head, err := l.Head(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 1, head.Number)
}

func TestSeveralJudgesAtOnce(t *testing.T) {
	l, _ := newLog(t, 0)
	const judges, each = 4, 5
	errs := make(chan error)
	for j := range judges {
		go func() {
			var err error
			for i := range each {
				_, e := l.Append(ctx, ruling(t, j*each+i), files(j*each+i))
				_, e2 := l.Last(ctx, 3)
				err = errors.Join(err, e, e2)
			}
			errs <- err
		}()
	}
	for range judges {
		require.NoError(t, <-errs)
	}
	head, err := l.Head(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, judges*each, head.Number)
}

func TestHeadingsOfAllKindsAreMeasuredAgainAlike(t *testing.T) {
	l, _ := newLog(t, 0)
	for n := range 60 {
		r := ruling(t, n)
		r.Scene.Ships[0].Pose.Heading = geom.Angle(float64(n)*0.5 - 12)
		p, err := engine.MeasurePair(&r.Scene, "A1", "B1", engine.Options{Sigmas: r.Sigmas})
		require.NoError(t, err)
		r.Pair = &p
		_, err = l.Append(ctx, r, rulings.Files{})
		require.NoError(t, err, "heading %v", r.Scene.Ships[0].Pose.Heading)
	}
}

func TestTheDatabaseIsSetToOutlastAPowerCut(t *testing.T) {
	l, dir := newLog(t, 1)
	for name, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "application_id": "1397311308", "user_version": "4", "recursive_triggers": "1",
		"trusted_schema": "0",
	} {
		got, err := l.Pragma(name)
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
	require.NoError(t, l.Close())
	again, err := rulings.Open(dir, rulings.Options{Key: key})
	require.NoError(t, err)
	defer again.Close()
	got, err := again.Pragma("synchronous")
	require.NoError(t, err)
	assert.Equal(t, "2", got, "FULL, for every program that opens it to write")
}
