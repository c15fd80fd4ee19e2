package app

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision/catalogue"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
	"sightline/vision/track"
)

// court is a bench with judges and their log.
type court struct {
	*desk
	judges *judges
	dir    string
}

func newCourt(t *testing.T, change func(*desk, *deskParts)) *court {
	c := &court{dir: filepath.Join(t.TempDir(), "rulings")}
	c.desk = newDesk(t, change)
	c.judges = newJudges(Config{Rulings: Rulings{Dir: c.dir}}, c.game, c.locators, c.options())
	c.judges.now = func() time.Time { return c.now }
	t.Cleanup(func() { assert.NoError(t, c.judges.Close()) })
	return c
}

// options are a program's.
func (c *court) options() Options {
	return Options{Log: slog.New(slog.DiscardHandler), Version: "v-test", StateDir: filepath.Join(filepath.Dir(c.dir), "state")}
}

// A record that is damaged is reported to monitors and to the judge before they rule; a ruling
// made all the same is refused with a sentence, and none is lost.
func TestADamagedRecordIsToldUntilARulingIsRecorded(t *testing.T) {
	c := newCourt(t, func(_ *desk, o *deskParts) { o.Judges = true })
	file := filepath.Join(c.dir, "rulings.db")
	require.NoError(t, os.MkdirAll(c.dir, 0o755))
	require.NoError(t, os.WriteFile(file, []byte("another program's"), 0o644))
	c.judges.check(t.Context())
	assert.Contains(t, c.hub.Newest().RulingsTrouble, "damaged or another program's. Run sightline rulings verify")

	c.aPicture()
	c.game.AskJudge()
	require.NotNil(t, c.hub.Newest().Hold)
	_, err := c.rule()
	var problem *live.Refusal
	require.ErrorAs(t, err, &problem)
	assert.Contains(t, problem.Text, "nothing was recorded. Run sightline rulings verify")
	assert.Contains(t, problem.Text, "What you wrote is still in the form.")
	assert.Contains(t, c.hub.Newest().RulingsTrouble, "is damaged: nothing was recorded.")
	assert.NotContains(t, c.hub.Newest().RulingsTrouble, "in the form", "others have no form")
	assert.Nil(t, c.hub.Newest().Ruling)

	require.NoError(t, os.Remove(file))
	r, err := c.rule()
	require.NoError(t, err)
	assert.EqualValues(t, 1, r.Number)
	assert.Empty(t, c.hub.Newest().RulingsTrouble)
}

func TestWhatStopsTheFirstRulingIsToldAtTheStart(t *testing.T) {
	notes := func(prepare func(dir string), judges bool) (out string) {
		c := newCourt(t, func(_ *desk, o *deskParts) { o.Judges = judges })
		prepare(c.dir)
		c.judges.check(t.Context())
		for _, n := range c.hub.Newest().Notes {
			out += n.Text
		}
		return out
	}
	foreign := func(dir string) {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "rulings.db"), []byte("another program's"), 0o644))
	}
	assert.Contains(t, notes(foreign, true), "No ruling could be recorded now: the record in ")
	assert.Contains(t, notes(func(dir string) { require.NoError(t, os.WriteFile(dir, nil, 0o644)) }, true), "cannot be used")
	assert.Contains(t, notes(foreign, false), "No ruling could be recorded now: the record in ",
		"with the secret that the program made, a judge rules too")
	assert.Empty(t, notes(func(dir string) { t.Cleanup(func() { assert.NoDirExists(t, dir) }) }, true),
		"there is none before the first ruling")
	for trouble, prepare := range map[string]func(string){"is damaged": foreign, "": func(string) {}} {
		dir := filepath.Join(t.TempDir(), "rulings")
		prepare(dir)
		setup, err := Config{Rulings: Rulings{Dir: dir}}.Setup()
		require.NoError(t, err)
		assert.Contains(t, setup.RulingsTrouble, trouble)
		assert.Equal(t, trouble == "", setup.RulingsTrouble == "")
	}
}

// simulatedCourt is a court before the simulated table, through the real locator.
func simulatedCourt(t *testing.T) (*court, func()) {
	const fps = 5
	var now time.Time
	source, err := tablesim.Open(tablesim.Options{Width: 1280, Height: 720, FPS: fps, Now: func() time.Time { return now },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = source.Close() })
	table := calibration.Table{Camera: source.Camera(), Layout: source.Layout()}
	c := newCourt(t, func(b *desk, o *deskParts) {
		o.Layout, o.File = source.Layout(), pipeline.CalibrationFile{Table: &table, Name: "truth"}
		o.Markers, o.Track = nil, fiducial.TrackMarkers
		o.Tracking = track.TrackerOptions{}
		o.NewLocator = func(t calibration.Table) (pipeline.Locator, error) { return openLocator(t, locate.Options{}) }
	})
	now = c.now
	return c, func() {
		now = now.Add(time.Second / fps)
		c.now = now
		f, err := source.Next(t.Context())
		require.NoError(t, err)
		c.pipeline.Update(f)
	}
}

// From someone calling a judge to the entry worked out again from its own picture.
func TestARulingOnTheSimulatedTableIsReplayedFromItsPicture(t *testing.T) {
	c, next := simulatedCourt(t)
	var v live.State
	for range 12 {
		next()
		if v = c.hub.Newest(); len(v.Result.Pairs) > 2 && v.Pair != nil {
			break
		}
	}
	require.NotNil(t, v.Pair, "%+v: %s", v.Health, v.Reason)
	c.game.AskJudgeFor("player 2")
	held := c.hub.Newest().Hold
	require.NotNil(t, held)
	next() // the table continues

	choice := c.hub.Newest().Choice
	ruling, err := c.judges.Rule(live.RuleRequest{
		Held: held.Number, Choice: choice, Question: "In range?", AskedBy: held.AskedBy, Judge: "Jo",
	})
	require.NoError(t, err)
	assert.Equal(t, uint64(1), ruling.Number)
	assert.Equal(t, ruling.Number, c.hub.Newest().Ruling.Number, "everybody sees it")
	assert.Equal(t, held.Measured(choice), ruling.Title)
	assert.True(t, ruling.PictureGivesSame, ruling.PictureDifference)

	log, err := c.judges.record()
	require.NoError(t, err)
	e, err := log.Entry(t.Context(), 1)
	require.NoError(t, err)
	assert.Equal(t, "player 2", e.AskedBy)
	assert.Equal(t, "v-test", e.Program)
	assert.Equal(t, ruling.Title+"; the stored picture alone: the same", e.Answer)
	scene, err := e.SceneOf()
	require.NoError(t, err)
	wire, err := scenefile.Marshal(held.Scene())
	require.NoError(t, err)
	want, _, err := scenefile.Parse(wire) // degrees and back round the last digit
	require.NoError(t, err)
	assert.Equal(t, want[0], scene, "the recorded scene is the one that was held, not the newest")
	frame, ok := e.File(rulings.RoleFrame)
	require.True(t, ok)
	raw, err := log.File(t.Context(), frame)
	require.NoError(t, err)
	picture, _, err := image.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	assert.Equal(t, held.Frame.Gray.Pix, picture.(*image.Gray).Pix, "without loss")

	replayed, err := log.Replay(t.Context(), 1, "v-test")
	require.NoError(t, err)
	assert.True(t, replayed.Same(), "%+v", replayed)
	assert.Equal(t, rulings.Exact, replayed.Engine.State)
	assert.Equal(t, rulings.Alike, replayed.Picture.State)

	// What the page lists is what was ruled, and the entry's own bytes are given out.
	list, err := c.judges.List(0, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, ruling.Title, list[0].Title)
	assert.Equal(t, ruling.Text, list[0].Text)
	assert.True(t, list[0].PictureGivesSame)
	entry, err := c.judges.Entry(1)
	require.NoError(t, err)
	assert.Equal(t, e.Canonical(), entry)
	var page bytes.Buffer
	require.NoError(t, c.judges.Export(&page, 1))
	assert.Contains(t, page.String(), ruling.Title)
}

// aPicture gives the bench pictures until its ships stand.
func (c *court) aPicture() {
	c.picture(0)
	c.picture(deskFrame)
}

func (c *court) rule(change ...func(*live.RuleRequest)) (live.Ruling, error) {
	v := c.hub.Newest()
	r := live.RuleRequest{Choice: live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront}}
	if v.Hold != nil {
		r.Held = v.Hold.Number
	}
	if v.Ruling != nil {
		r.After = v.Ruling.Number
	}
	for _, f := range change {
		f(&r)
	}
	return c.judges.Rule(r)
}

func TestARulingIsOnWhatIsHeldAndKnowsTheLastOne(t *testing.T) {
	c := newCourt(t, nil)
	c.aPicture()
	_, err := c.rule()
	require.ErrorIs(t, err, live.ErrHeldChanged, "nothing is held")
	c.freeze(true)
	old := c.hub.Newest().Hold.Number
	first, err := c.rule()
	require.NoError(t, err)
	_, err = c.rule(func(r *live.RuleRequest) { r.After = 0 })
	var problem *live.Refusal
	require.ErrorAs(t, err, &problem)
	assert.ErrorIs(t, problem, live.ErrOvertaken)
	assert.Contains(t, problem.Text, "ruling 1: A1 to B1")

	c.game.SetEdition(engine.Rules1e)
	_, err = c.rule(func(r *live.RuleRequest) { r.Held = old })
	require.ErrorIs(t, err, live.ErrHeldChanged, "other rules are another question")
	second, err := c.rule(func(r *live.RuleRequest) {
		r.Decision, r.Ruled, r.Reason = live.Overruled, live.Ruled{Range: "3"}, "Measured with the players' own ruler."
	})
	require.NoError(t, err)
	assert.Equal(t, first.Number+1, second.Number)
	list, err := c.judges.List(0, 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, second.Text, list[0].Text, "newest first")
	assert.Equal(t, live.Overruled, list[0].Decision)
	log, err := c.judges.record()
	require.NoError(t, err)
	e, err := log.Entry(t.Context(), 2)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"range": "3"}, e.Ruled)
	assert.Equal(t, second.Title, e.Title)
	assert.NotContains(t, e.Text, e.Reason, "the reason stands once")
	assert.Contains(t, list[0].Text, "against what was measured")
	list, err = c.judges.List(2, 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, uint64(1), list[0].Number)
	_, err = c.judges.Entry(3)
	require.ErrorIs(t, err, live.ErrNoRuling)
	_, _, err = c.judges.Picture(3)
	require.ErrorIs(t, err, live.ErrNoRuling)
}

func TestAFolderThatCannotBeWrittenIsSaidAndNothingIsLost(t *testing.T) {
	c := newCourt(t, nil)
	c.aPicture()
	c.freeze(true)
	require.NoError(t, os.WriteFile(c.dir, []byte("a file stands where the folder should be"), 0o600))
	_, err := c.rule()
	var problem *live.Refusal
	require.ErrorAs(t, err, &problem)
	assert.Contains(t, problem.Text, c.dir)
	assert.Contains(t, problem.Text, "nothing was recorded")
	assert.Contains(t, problem.Text, "is still in the form")
	assert.Nil(t, c.hub.Newest().Ruling)
	require.NotNil(t, c.hub.Newest().Hold, "what is held stays held")
	require.NoError(t, os.Remove(c.dir))
	_, err = c.rule()
	require.NoError(t, err, "it goes on when the folder can be written, without a new start")
}

// notes are the page's notes, in one text.
func (c *court) notes() (all string) {
	for _, n := range c.hub.Newest().Notes {
		all += n.Text + "\n"
	}
	return all
}

func TestARulingWhoseFolderIsMovedOrRemovedIsKeptAndSaid(t *testing.T) {
	c := newCourt(t, nil)
	c.aPicture()
	c.freeze(true)
	for n, upset := range []func() error{
		func() error { return os.RemoveAll(c.dir) },
		func() error { return os.Rename(c.dir, c.dir+".away") },
		func() error {
			return errors.Join(os.Remove(filepath.Join(c.dir, "rulings.db")), os.Remove(filepath.Join(c.dir, "rulings.db-wal")))
		},
	} {
		_, err := c.rule()
		require.NoError(t, err)
		assert.Equal(t, n, strings.Count(c.notes(), "A new record begins there with ruling 1."), c.notes())
		require.NoError(t, upset())
		list, err := c.judges.List(0, 10)
		require.NoError(t, err)
		assert.Empty(t, list, "what is gone is not listed")
	}
	last, err := c.rule()
	require.NoError(t, err)
	assert.EqualValues(t, 1, last.Number)
	require.NoError(t, c.judges.Close())
	for dir, want := range map[string]string{c.dir: last.EntryHash, c.dir + ".away": ""} {
		l, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
		require.NoError(t, err, dir)
		defer l.Close()
		r, err := l.Verify(t.Context())
		require.NoError(t, err)
		assert.True(t, r.OK(), "%v", r.Findings)
		assert.EqualValues(t, 1, r.Entries)
		if want != "" {
			assert.Equal(t, want, r.Head.Hash)
		}
	}
	_, err = c.rule()
	require.NoError(t, err, "nothing refuses at the next start")
}

// A key that is removed while the program runs is written again; one that was lost before the
// start, and another one in its place, are reported.
func TestAKeyThatIsRemovedIsWrittenAgainOrTold(t *testing.T) {
	c := newCourt(t, nil)
	c.aPicture()
	c.freeze(true)
	_, err := c.rule()
	require.NoError(t, err)
	path := c.judges.where.Key
	was, err := os.ReadFile(path)
	require.NoError(t, err)

	require.NoError(t, os.Remove(path))
	_, err = c.rule()
	require.NoError(t, err)
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, was, now, "the same key")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	assert.Contains(t, c.notes(), "The file of the key that signs rulings was gone. It was written again, with the same key.")

	require.NoError(t, os.WriteFile(path, newRulingsKey(), 0o600))
	_, err = c.rule()
	var problem *live.Refusal
	require.ErrorAs(t, err, &problem, "it would not be signed by the key that stands there")
	assert.Contains(t, problem.Text, "another one than this program signs with")

	assert.NotContains(t, c.notes(), "continues with another key")
	require.NoError(t, c.judges.Close())
	require.NoError(t, os.Remove(path))
	_, err = c.rule()
	require.NoError(t, err)
	assert.Contains(t, c.notes(), "continues with another key from ruling 3 on")
}

// Rulings that are there are read whatever became of the key, and reading makes none.
func TestRulingsAreReadWithoutAKey(t *testing.T) {
	c := newCourt(t, nil)
	c.aPicture()
	c.freeze(true)
	_, err := c.rule()
	require.NoError(t, err)
	path := c.judges.where.Key
	for name, spoil := range map[string]func() error{
		"damaged": func() error { return os.WriteFile(path, []byte("no key"), 0o600) },
		"open":    func() error { return os.Chmod(path, 0o644) },
		"gone":    func() error { return os.Remove(path) },
	} {
		require.NoError(t, c.judges.Close()) // the program starts again
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, spoil())
		list, err := c.judges.List(0, 10)
		require.NoError(t, err, name)
		assert.Len(t, list, 1, name)
		_, err = c.judges.Entry(1)
		require.NoError(t, err, name)
		require.NoError(t, c.judges.Export(io.Discard, 1), name)
		require.NoError(t, c.judges.ExportAll(io.Discard), name)
		if name == "gone" {
			assert.NoFileExists(t, path, "reading makes no key")
		} else {
			_, err = c.rule()
			require.ErrorContains(t, err, "cannot be signed: nothing was recorded", name)
		}
		_ = os.Remove(path)
		require.NoError(t, os.WriteFile(path, good, 0o600))
	}
	_, err = c.rule()
	require.NoError(t, err)
}

func TestWhatIsNoHindranceIsNotedAtTheStart(t *testing.T) {
	c := newCourt(t, nil)
	_, err := os.Stat("rulings")
	require.ErrorIs(t, err, os.ErrNotExist)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("rulings", 0o755))
	require.NoError(t, os.WriteFile("rulings/rulings.db", nil, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(c.dir, "files", "ab"), 0o755))
	c.judges.check(t.Context())
	here, err := filepath.Abs("rulings")
	require.NoError(t, err)
	assert.Contains(t, c.notes(), "An earlier version kept rulings in "+here+". They are kept in "+c.dir+" now.")
	assert.Contains(t, c.notes(), "In "+c.dir+" rulings.db is missing, though files of its entries are there. The next ruling begins a new "+
		"record there.")
	assert.Empty(t, c.hub.Newest().RulingsTrouble)

	require.NoError(t, os.MkdirAll(filepath.Dir(c.judges.where.Key), 0o700))
	require.NoError(t, os.WriteFile(c.judges.where.Key, nil, 0o644))
	c.judges.check(t.Context())
	assert.Contains(t, c.hub.Newest().RulingsTrouble,
		"No ruling could be recorded now: the key that signs rulings: "+c.judges.where.Key+": others may read it")
}

func TestARecordOfANewerProgramIsShownAndNotContinued(t *testing.T) {
	c := newCourt(t, nil)
	c.aPicture()
	c.game.AskJudge()
	_, err := c.rule()
	require.NoError(t, err)
	require.NoError(t, c.judges.Close())
	db, err := sql.Open("sqlite", "file:"+filepath.Join(c.dir, "rulings.db"))
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE weather (day TEXT); PRAGMA user_version = 99")
	require.NoError(t, err)
	require.NoError(t, db.Close())

	c.judges.check(t.Context())
	assert.Contains(t, c.hub.Newest().RulingsTrouble, "No ruling could be recorded now: a newer program made the record in "+c.dir+".")
	list, err := c.judges.List(0, 10)
	require.NoError(t, err)
	assert.Len(t, list, 1)
	require.NoError(t, c.judges.Export(io.Discard, 1))
	_, err = c.rule()
	require.ErrorContains(t, err, "A newer program made the record in "+c.dir+": nothing was recorded.")
	list, err = c.judges.List(0, 10)
	require.NoError(t, err)
	assert.Len(t, list, 1, "it is still shown")
}

func TestEveryTroubleOfTheRecordHasItsWords(t *testing.T) {
	c := newCourt(t, nil)
	for name, line := range map[string]struct {
		err  error
		kind error
		says string
	}{
		"full":       {fmt.Errorf("append: %w", rulings.ErrFull), live.ErrUnwritten, "no room on the disk"},
		"forbidden":  {fmt.Errorf("append: %w", os.ErrPermission), live.ErrUnwritten, "is not writable"},
		"in use":     {rulings.ErrInUse, live.ErrInUse, "Another program"},
		"damaged":    {rulings.ErrCorrupt, live.ErrDamaged, "damaged"},
		"newer":      {fmt.Errorf("append: %w: version 3", rulings.ErrNewer), live.ErrUnwritten, "A newer program made the record"},
		"the ruling": {fmt.Errorf("%w: no scene", rulings.ErrRuling), live.ErrInvalid, "no scene"},
		"moved":      {fmt.Errorf("append: %w", rulings.ErrMoved), live.ErrUnwritten, "it could not be kept. Record it again."},
		"overwritten": {fmt.Errorf("append: %w: %w", rulings.ErrOverwritten, rulings.ErrCorrupt), live.ErrDamaged,
			"Another file was copied over rulings.db"},
		"no key": {fmt.Errorf("%w: %w", errKey, os.ErrPermission), live.ErrUnwritten, "cannot be signed: nothing was recorded"},
		"else":   {errors.New("input/output error"), live.ErrUnwritten, "input/output error"},
	} {
		var problem *live.Refusal
		require.ErrorAs(t, c.judges.problem(line.err), &problem, name)
		assert.ErrorIs(t, problem, line.kind, name)
		assert.Contains(t, problem.Text, line.says, name)
	}
}

func TestAPictureThatAloneSaysSomethingElseIsNamed(t *testing.T) {
	c := newCourt(t, nil)
	c.aPicture()
	c.freeze(true)
	c.ships = []engine.Ship{shipAt("A1", 300, 300), shipAt("B1", 300, 587)} // what the one picture gives
	r, err := c.rule()
	require.NoError(t, err)
	assert.False(t, r.PictureGivesSame)
	assert.True(t, strings.HasPrefix(r.PictureDifference, "Range 3"), r.PictureDifference)
	list, err := c.judges.List(0, 1)
	require.NoError(t, err)
	assert.Equal(t, r.PictureDifference, list[0].PictureDifference)
	assert.Equal(t, r.Measured, list[0].Measured)
	c.locate = errors.New("no ships")
	r, err = c.rule()
	require.NoError(t, err, "the ruling does not depend on it")
	assert.Contains(t, r.PictureDifference, "no ships")
}

// With obstacles on the table a ruling holds what they were found with, the picture by
// itself is searched for them too, and so is the entry when it is worked out again.
func TestARulingPastARockIsReplayedFromItsPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders a table and looks for obstacles three times")
	}
	table := tablesim.RandomTable(3, 1920, 1080)
	table.Camera, table.Look = tablesim.DefaultCamera(1920, 1080), tablesim.DefaultLook()
	table.Clutter, table.Hands, table.Heights, table.Minis, table.Scene.Obstacles = nil, nil, nil, nil, nil
	rock, err := catalogue.NewEntry("rock", "asteroid", []geom.Point{{X: -30, Y: -20}, {X: 25, Y: -25}, {X: 35, Y: 5}, {X: 10, Y: 30},
		{X: -25, Y: 18}})
	require.NoError(t, err)
	ships := []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 430, Y: 250}, Heading: 6.2}},
		{ID: "B1", Player: 2, Base: engine.Medium, Pose: geom.Pose{Point: geom.Point{X: 470, Y: 520}, Heading: 3.4}},
	}
	table.Scene.Ships = nil
	camera := calibration.Table{Camera: table.Camera, Layout: table.Layout}
	learner := obstacle.NewBackgroundLearner(camera)
	empty, _, err := table.Render()
	require.NoError(t, err)
	require.NoError(t, learner.Add(empty))
	mat, err := learner.Background()
	require.NoError(t, err)
	table.Scene.Ships = ships
	table.Scene.Obstacles = []engine.Obstacle{{ID: "rock", Kind: "asteroid", Outline: rock.Outline,
		Pose: geom.Pose{Point: geom.Point{X: 452, Y: 380}, Heading: 0.7}}}
	frame, _, err := table.Render()
	require.NoError(t, err)

	var config Config
	config.Table.Catalogue, config.Table.EmptyMat = filepath.Join(t.TempDir(), "rocks.json"), filepath.Join(t.TempDir(), "mat.png")
	raw, err := (&catalogue.Catalogue{Entries: []catalogue.Entry{rock}}).MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(config.Table.Catalogue, raw, 0o600))
	var picture bytes.Buffer
	require.NoError(t, mat.WritePNG(&picture))
	require.NoError(t, os.WriteFile(config.Table.EmptyMat, picture.Bytes(), 0o600))
	looking, err := locatorOptions(config, "table.empty_mat")
	require.NoError(t, err)

	known, err := newLearnt(config.Table, "table.empty_mat", quiet)
	require.NoError(t, err)
	c := newCourt(t, func(_ *desk, o *deskParts) {
		o.Learnt = known.versions(t.TempDir())
		o.Layout, o.File = table.Layout, pipeline.CalibrationFile{Table: &camera, Name: "truth"}
		o.Markers, o.Track = nil, fiducial.TrackMarkers
		o.NewLocator = func(t calibration.Table) (pipeline.Locator, error) { return openLocator(t, looking) }
	})
	config.Rulings.Dir = c.dir
	c.judges = newJudges(config, c.game, c.locators, c.options())
	for n := range 2 {
		c.now = c.now.Add(deskFrame)
		frame.Seq, frame.Captured = uint64(n+1), c.now
		c.pipeline.Update(frame)
	}
	c.game.AskJudge()
	held := c.hub.Newest().Hold
	require.NotNil(t, held, "%+v", c.hub.Newest().Health)
	require.True(t, held.ObstaclesWatched)
	r, err := c.rule()
	require.NoError(t, err)
	assert.Contains(t, r.Title, "obstructed by rock")
	assert.True(t, r.PictureGivesSame, r.PictureDifference)
	log, err := c.judges.record()
	require.NoError(t, err)
	replayed, err := log.Replay(t.Context(), 1, "v-test")
	require.NoError(t, err)
	assert.True(t, replayed.Same(), "%+v", replayed)
	assert.Len(t, replayed.Picture.Rocks, 1)

	// Released, learnt again, and held again by a judge: the ruling stores no obstacles but those that were shown.
	first, err := log.Entry(t.Context(), 1)
	require.NoError(t, err)
	c.freeze(false)
	require.NoError(t, os.WriteFile(config.Table.Catalogue, bytes.Replace(raw, []byte(`"rock"`), []byte(`"debris9"`), 1), 0o600))
	known.renew()
	require.NoError(t, c.game.Hold(live.HoldRequest{Hold: true, Held: held.Number, Judge: true}))
	second, err := c.rule()
	require.NoError(t, err)
	assert.Equal(t, r.Title, second.Title)
	assert.Equal(t, "obstacles were learnt again since it was held", second.PictureDifference)
	require.NoError(t, os.Remove(config.Table.EmptyMat))
	third, err := c.rule()
	require.NoError(t, err, "a ruling is not lost with a file that it could do without")
	assert.Equal(t, "the obstacles by which it was measured can no longer be read", third.PictureDifference)
	for n := range int64(2) {
		e, err := log.Entry(t.Context(), n+2)
		require.NoError(t, err)
		assert.Len(t, e.Files, len(first.Files)-2)
		replayed, err := log.Replay(t.Context(), n+2, "v-test")
		require.NoError(t, err)
		assert.Equal(t, rulings.Exact, replayed.Engine.State, "%+v", replayed)
	}
}

// A ruling on what the measurement left open is kept as one, and found again as one.
func TestARulingOnWhatWasOpenIsRecordedAsDecided(t *testing.T) {
	c := newCourt(t, func(b *desk, _ *deskParts) { b.ships[1] = shipAt("B1", b.ships[0].Pose.X, b.ships[0].Pose.Y+140) })
	c.aPicture()
	c.freeze(true)
	_, err := c.rule()
	require.ErrorContains(t, err, "This ruling decides nothing")
	assert.Nil(t, c.hub.Newest().Ruling, "and nothing is announced")
	made, err := c.rule(func(r *live.RuleRequest) {
		r.Decision, r.Ruled = live.Decided, live.Ruled{Range: "2"}
	})
	require.NoError(t, err)
	log, err := c.judges.record()
	require.NoError(t, err)
	e, err := log.Entry(t.Context(), int64(made.Number))
	require.NoError(t, err)
	assert.Equal(t, rulings.Decided, e.Decision)
	assert.Contains(t, e.Answer, " or ", "what was measured stays as it was")
	assert.Contains(t, e.Reason, "Too close to measure")
	list, err := c.judges.List(0, 1)
	require.NoError(t, err)
	assert.Equal(t, live.Decided, list[0].Decision)
	assert.Equal(t, made.Text, list[0].Text)
}
