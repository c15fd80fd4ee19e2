package game

import (
	"bytes"
	"encoding/gob"
	"image"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// keptBench is a table whose game is kept in a folder. Its two ships have a rock between them.
func keptBench(t *testing.T, dir string, at time.Time, change func(*Options)) *gameBench {
	return newGameBench(t, func(b *gameBench, o *Options) {
		o.Dir, o.Version, b.now = dir, "1.0", at
		if change != nil {
			change(o)
		}
	})
}

// held lets a picture of a seed come in and a judge be called. The files are written.
func held(t *testing.T, b *gameBench, seed byte) *live.Held {
	b.picture(time.Second)
	gray, colour := image.NewGray(image.Rect(0, 0, 40, 30)), &vision.BGR{Pix: make([]byte, 3*40*30), Width: 40, Height: 30}
	for i := range gray.Pix {
		gray.Pix[i] = byte(i)*seed + seed
	}
	for i := range colour.Pix {
		colour.Pix[i] = byte(i) ^ seed
	}
	scene := engine.Scene{Ships: slices.Clone(b.ships), Rules: b.game.Rules().Edition, Profile: "nominal"}
	scene.Obstacles = []engine.Obstacle{{ID: "rock", Kind: "asteroid", Sigma: 0.3, Pose: geom.Pose{Point: geom.Point{X: 310, Y: 390}},
		Outline: []geom.Point{{X: -20, Y: -20}, {X: 20, Y: -20}, {X: 20, Y: 20}, {X: -20, Y: 20}}}}
	result, err := engine.Measure(&scene, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	zero, six := 0, 6
	b.game.SetPlay(&live.Play{Ships: []live.PlayShip{{ID: "A1", Initiative: &zero}, {ID: "B1", Initiative: &six}, {ID: "B2"}}}, nil)
	b.game.Update(func(s *Seen) {
		s.Frame = vision.Frame{Gray: gray, Color: colour, Seq: uint64(seed), Captured: b.now, Name: "a.png"}
		s.Located.Scene, s.Result = scene, result
	})
	b.game.Choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcBullseye})
	require.NoError(t, b.game.AskJudgeFor("Ada"))
	b.game.storeHeld()
	return b.hub.Newest().Hold
}

// sameHeld compares two held pictures, and what is worded from them.
func sameHeld(t *testing.T, want, got *live.Held) {
	t.Helper()
	require.NotNil(t, got)
	assert.Equal(t, want.Number, got.Number)
	assert.True(t, want.At.Equal(got.At))
	assert.Equal(t, want.AskedBy, got.AskedBy)
	assert.Equal(t, want.Frame.Gray, got.Frame.Gray)
	assert.Equal(t, want.Frame.Color, got.Frame.Color)
	assert.Equal(t, want.Register.File, got.Register.File)
	assert.Equal(t, want.Table, got.Table)
	assert.Equal(t, want.Play, got.Play)
	assert.Equal(t, want.Result, got.Result, "with what a file does not have")
	assert.Equal(t, want.Located.Scene, got.Located.Scene)
	c := live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}
	assert.Equal(t, want.Measured(c), got.Measured(c))
}

// A judge finds what was held after a crash as it was, and it goes with the release.
func TestWhatIsHeldOutlastsARestart(t *testing.T) {
	dir := t.TempDir()
	first := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	want := held(t, first, 3)

	next := keptBench(t, dir, first.now.Add(-time.Hour), nil) // its clock is behind
	now := next.hub.Newest()
	sameHeld(t, want, now.Hold)
	assert.True(t, now.Hold.AwaitsJudge(now.Ruling))
	assert.Equal(t, live.Choice{From: "A1", To: "B1", Arc: engine.ArcBullseye}, now.Choice)
	assert.Contains(t, now.Notes[0].Text, "is held again")
	assert.Contains(t, now.Notes[0].Text, "a judge was called by Ada")
	assert.ErrorIs(t, next.game.Hold(live.HoldRequest{}), live.ErrOvertaken, "no player lets it go unseen")
	next.picture(time.Second)
	sameHeld(t, want, next.hub.Newest().Hold)

	next.game.SetRuling(&live.Ruling{Number: 7, At: first.now, Held: want.Number, Text: "Range 2."})
	again := keptBench(t, dir, first.now.Add(-time.Hour), nil) // killed as soon as the ruling was acknowledged; its clock is behind
	_, ruling := again.game.Judged()
	require.NotNil(t, ruling)
	assert.Greater(t, ruling.Age(first.now), time.Hour, "when its time comes again, it is no news")
	assert.EqualValues(t, 7, ruling.Number)
	assert.False(t, again.hub.Newest().Hold.AwaitsJudge(ruling))

	again.freeze(false)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".held-00.pixels.tmp-1"), nil, 0o600)) // killed while it was written
	last := keptBench(t, dir, first.now.Add(-time.Hour), nil)                                 // killed as soon as it was released
	assert.Nil(t, last.hub.Newest().Hold)
	last.game.storeHeld()
	left, err := filepath.Glob(filepath.Join(dir, "*held*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// The next picture that is held has a greater number, whatever the clock says.
func TestNumbersRiseOverARestart(t *testing.T) {
	dir := t.TempDir()
	first := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	want := held(t, first, 3)
	next := keptBench(t, dir, first.now.Add(-time.Hour), nil)
	next.freeze(false)
	next.picture(0)
	next.freeze(true)
	assert.Greater(t, next.hub.Newest().Hold.Number, want.Number)
}

// What is held in place of another picture is kept in place of it, at whatever step the power fails.
func TestNoPictureIsKeptWithOtherData(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	one := held(t, b, 3)
	before := filesOf(t, dir)
	b.freeze(false)
	two := held(t, b, 5)
	after := filesOf(t, dir)
	require.NotEqual(t, before[heldFile], after[heldFile])
	for _, of := range []map[string][]byte{before, after} {
		for _, and := range []map[string][]byte{before, after} { // the description of one, with the pictures of the other, or of both, or none
			for _, more := range []map[string][]byte{nil, before, after} {
				mixed := t.TempDir()
				write := func(name string, raw []byte) {
					require.NoError(t, os.WriteFile(filepath.Join(mixed, name), raw, 0o600))
				}
				write(heldFile, of[heldFile])
				for _, m := range []map[string][]byte{and, more} {
					for name, raw := range m {
						if name != heldFile {
							write(name, raw)
						}
					}
				}
				want := one
				if &of == &after || bytes.Equal(of[heldFile], after[heldFile]) {
					want = two
				}
				got := keptBench(t, mixed, b.now, nil).hub.Newest().Hold
				if got != nil {
					sameHeld(t, want, got)
				} else {
					assert.NoFileExists(t, filepath.Join(mixed, heldFile))
				}
			}
		}
	}
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	out := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(dir, "held*"))
	require.NoError(t, err)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		out[filepath.Base(path)] = raw
	}
	require.Len(t, out, 2, "one description and one picture")
	return out
}

// What cannot be trusted is not shown to a judge: the page says that it is gone.
func TestWhatIsNotAsItWasIsNotHeldAgain(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	held(t, b, 3)
	b.game.storeSession()
	files := filesOf(t, dir)
	var picture string
	for name := range files {
		if name != heldFile {
			picture = name
		}
	}
	d, err := decodeHeld(files[heldFile], "1.0")
	require.NoError(t, err)
	d.Held.Result.Pairs[0].Range.Margin += 0.001
	other, err := encodeHeld(d, "1.0")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		file   string
		raw    []byte
		after  time.Duration
		change func(*Options)
	}{
		"another answer":        {file: heldFile, raw: other},
		"half a description":    {file: heldFile, raw: files[heldFile][:900]},
		"a changed description": {file: heldFile, raw: bytes.Replace(files[heldFile], []byte("Ada"), []byte("Eda"), 1)},
		"a changed picture":     {file: picture, raw: append([]byte{9}, files[picture][1:]...)},
		"half a picture":        {file: picture, raw: files[picture][:700]},
		"another version":       {change: func(o *Options) { o.Version = "1.1" }},
		"yesterday":             {after: 20 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, raw := range files {
				if name == c.file {
					require.NotEqual(t, raw, c.raw)
					raw = c.raw
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
			}
			raw, err := os.ReadFile(filepath.Join(filepath.Dir(b.game.file(heldFile)), sessionFile))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, sessionFile), raw, 0o600))
			now := keptBench(t, dir, b.now.Add(c.after), c.change).hub.Newest()
			assert.Nil(t, now.Hold)
			if c.after == 0 {
				assert.True(t, slices.ContainsFunc(now.Notes, func(n live.Note) bool { return strings.Contains(n.Text, "is gone: it was held") }))
			}
			left, err := filepath.Glob(filepath.Join(dir, "held*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// A disk that takes nothing is said, and nothing older is kept in place of what is held.
func TestWhatCannotBeKeptIsSaid(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	b.game.o.Dir = filepath.Join(dir, "none")
	held(t, b, 3)
	b.game.Publish()
	assert.True(t, slices.ContainsFunc(b.hub.Newest().Notes, func(n live.Note) bool { return strings.Contains(n.Text, "could not be saved") }))
	b.game.o.Dir = dir
	b.game.storeHeld()
	assert.NoFileExists(t, filepath.Join(dir, heldFile), "a full disk is not written to five times a second")
	b.now = b.now.Add(heldAgain)
	b.game.storeHeld()
	sameHeld(t, b.hub.Newest().Hold, keptBench(t, dir, b.now, nil).hub.Newest().Hold)
}

// A board starts in the past, a picture is held, its clock is set, and the power fails.
func TestAClockThatIsSetLosesNothingThatIsHeld(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1000, 0), nil)
	want := held(t, b, 3)
	for _, set := range []time.Duration{300 * 24 * time.Hour, -2 * time.Hour} {
		b.now = b.now.Add(set)
		b.game.storeHeld()
		next := keptBench(t, dir, b.now.Add(11*time.Hour), nil)
		sameHeld(t, want, next.hub.Newest().Hold)
	}
}

// A description that cannot be removed at the release is removed later: it would be held again.
func TestWhatWasReleasedIsRemovedLater(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	held(t, b, 3)
	file := filepath.Join(dir, heldFile)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Mkdir(file, 0o700)) // a folder with a file cannot be removed, whoever runs the test
	require.NoError(t, os.WriteFile(filepath.Join(file, "x"), nil, 0o600))
	b.freeze(false)
	require.NoError(t, os.RemoveAll(file))
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	b.game.storeHeld()
	assert.FileExists(t, file)
	b.now = b.now.Add(heldAgain)
	b.game.storeHeld()
	assert.NoFileExists(t, file)
}

// The configuration's edition holds for the table, and the held picture keeps that of its game.
func TestAHeldPictureKeepsItsEdition(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1700000000, 0), func(o *Options) { o.Rules.Edition = engine.Rules20 })
	want := held(t, b, 3)
	next := keptBench(t, dir, b.now, nil)
	next.game.SetEdition(engine.Rules20) // the game is taken up
	sameHeld(t, want, next.hub.Newest().Hold)
	next.freeze(false)
	assert.Equal(t, engine.Rules20, next.game.Rules().Edition)
}

// A judge may be called right after the edition was changed, before a picture was measured by it.
func TestWhatWasHeldBeforeItWasMeasuredOutlastsARestart(t *testing.T) {
	dir := t.TempDir()
	b := keptBench(t, dir, time.Unix(1700000000, 0), nil)
	held(t, b, 3)
	b.freeze(false)
	b.game.SetEdition(engine.Rules20)
	require.NoError(t, b.game.AskJudgeFor("Ada"))
	b.game.storeHeld()
	want := b.hub.Newest().Hold
	require.Equal(t, engine.Result{}, want.Result)
	next := keptBench(t, dir, b.now, nil)
	next.game.SetEdition(engine.Rules20) // the game is taken up
	sameHeld(t, want, next.hub.Newest().Hold)
}

// A file keeps what is exported. What it cannot keep is listed here, with what gives it back: the calibration's file gives the table, and
// measuring again gives the result.
func TestNothingElseOfAHeldPictureIsLost(t *testing.T) {
	lost := map[string]string{
		"engine.Ship.part":                "set within a measurement only",
		"engine.ObstructionVerdict.slack": "measureAgain",
		"engine.ObjectVerdict.obstacle":   "measureAgain",
		"calibration.Surface.weights":     "ParseTableFile",
		"calibration.Surface.known":       "ParseTableFile",
		"live.PlayShip.Initiative":        "Unskilled",
		"vision.Frame.Steps":              "the first step is 2 or more",
	}
	found := map[string]bool{}
	seen := map[reflect.Type]bool{reflect.TypeFor[time.Time](): true}
	var walk func(reflect.Type)
	walk = func(ty reflect.Type) {
		if seen[ty] {
			return
		}
		seen[ty] = true
		switch ty.Kind() {
		case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
			t.Errorf("%v cannot be kept", ty)
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(ty.Elem())
		case reflect.Map:
			walk(ty.Key())
			walk(ty.Elem())
		case reflect.Struct:
			for i := range ty.NumField() {
				f := ty.Field(i)
				if scalar := f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() != reflect.Struct; !f.IsExported() || scalar {
					found[ty.String()+"."+f.Name] = true
				}
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[heldDocument]())
	for name := range found {
		assert.Contains(t, lost, name)
	}
	assert.Len(t, found, len(lost))
	var raw bytes.Buffer
	require.NoError(t, gob.NewEncoder(&raw).Encode(heldDocument{}))
}
