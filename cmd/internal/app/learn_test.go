package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

var quiet = slog.New(slog.DiscardHandler)

// teaching is a learner before the simulated table, in a folder of its own.
type teaching struct {
	*Learner
	t      *testing.T
	source *tablesim.Source
	dir    string
	told   atomic.Int32
	view   live.State
}

// Next gives the source's pictures, one more each time.
func (s *teaching) Next(ctx context.Context, _ uint64) (vision.Frame, error) {
	f, err := s.source.Next(ctx)
	if err == nil {
		s.view.Frame = f
		s.hub.Publish(s.view)
	}
	return f, err
}

func (s *teaching) Status() capture.FeedStatus { return capture.FeedStatus{} }

func newTeaching(t *testing.T) *teaching {
	source, err := tablesim.Open(tablesim.Options{Width: 1280, Height: 720, Paper: time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, source.Close()) })
	s := &teaching{t: t, source: source, dir: t.TempDir()}
	table := calibration.Table{Camera: source.Camera(), Layout: source.Layout()}
	file, hash, err := table.Sealed()
	require.NoError(t, err)
	s.view = live.State{Health: live.Health{Code: live.OK}, Register: live.Register{File: file, Hash: hash}}
	hub := live.NewHub(s.view)
	s.Learner = newLearner(s, hub, s.files(), func() { s.told.Add(1) }, time.Now, quiet)
	return s
}

func (s *teaching) table() Table {
	return Table{Catalogue: filepath.Join(s.dir, "sub", "obstacles.json"), EmptyMat: filepath.Join(s.dir, "sub", "mat.png")}
}

func (s *teaching) files() *learnt {
	k, err := newLearnt(s.table(), "table.empty_mat", quiet)
	require.NoError(s.t, err)
	return k
}

// Learn does what is wanted, and then what Run does.
func (s *teaching) Learn(in live.LearnIntent) error {
	err := s.Learner.Learn(in)
	s.compareIfStale()
	return err
}

// do does what takes long, as Run would.
func (s *teaching) do(in live.LearnIntent) live.LearnState {
	s.t.Helper()
	require.NoError(s.t, s.Learn(in))
	task, ok := s.begin()
	require.True(s.t, ok)
	s.end(s.work(s.t.Context(), task))
	return s.Learning()
}

func TestAMatAndTokensAreLearntAndUsedAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("three times ten pictures and two traces")
	}
	s := newTeaching(t)
	got := s.do(live.LearnIntent{Do: live.LearnMat})
	require.Empty(t, got.Problem)
	assert.Contains(t, got.Done, "from 10 pictures")
	require.NotEmpty(t, got.Mat.Version)
	assert.EqualValues(t, 1, s.told.Load(), "the pipeline begins anew with it")
	assert.Nil(t, s.known.options().Catalogue, "a mat alone finds nothing")

	s.source.ShowPaper(tablesim.PaperTokens)
	got = s.do(live.LearnIntent{Do: live.LearnTrace, Top: 2})
	require.Empty(t, got.Problem)
	require.NotNil(t, got.Trace)
	require.Equal(t, 4, got.Trace.Good())
	_, there := s.Traced()
	assert.True(t, there)

	save := live.LearnIntent{Do: live.LearnSave, Trace: got.Trace.Number}
	for i, o := range tablesim.PaperOutlines() {
		save.Tokens = append(save.Tokens, live.LearnName{Number: i + 1, Name: o.ID, Kind: o.Kind})
	}
	require.NoError(t, s.Learn(save))
	assert.Len(t, s.known.options().Catalogue.Entries, 4)
	c, err := catalogue.Load(s.table().Catalogue)
	require.NoError(t, err)
	for i, o := range tablesim.PaperOutlines() {
		assert.InEpsilon(t, geom.Polygon(o.Outline).Area(), geom.Polygon(c.Entries[i].Outline).Area(), 0.03, o.ID)
	}
	for i, o := range tablesim.PaperOutlines() { // what is saved is not offered as something new
		k := s.Learning().Trace.Tokens[i]
		assert.Equal(t, o.ID, k.Saved)
		assert.Equal(t, []string{o.ID}, k.Alike)
	}
	assert.Empty(t, got.Trace.Tokens[0].Saved, "what somebody reads is not changed")
	assert.Empty(t, s.Learning().Twins)
	twice := live.LearnIntent{Do: live.LearnSave, Trace: got.Trace.Number, Version: s.Learning().Catalogue.Version,
		Tokens: []live.LearnName{{Number: 1, Name: "again", Kind: "asteroid"}}}
	require.NoError(t, s.Learn(twice))
	assert.Equal(t, map[string][]string{"again": {"rock1"}, "rock1": {"again"}}, s.Learning().Twins, "neither can be recognised")
	require.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnDelete, Version: s.Learning().Catalogue.Version, Name: "again"}))
	assert.Empty(t, s.Learning().Twins)
	again := s.files().options() // as after a new start
	require.NotNil(t, again.Catalogue)
	assert.Len(t, again.Catalogue.Entries, 4)

	// Traced again, a token is known for what it is, and replaced only when that is said.
	got = s.do(live.LearnIntent{Do: live.LearnTrace, Top: 2})
	assert.Equal(t, []string{"rock1"}, got.Trace.Tokens[0].Alike)
	save = live.LearnIntent{Do: live.LearnSave, Trace: got.Trace.Number, Version: got.Catalogue.Version,
		Tokens: []live.LearnName{{Number: 1, Name: "rock1", Kind: "gas"}}}
	require.ErrorIs(t, s.Learn(save), live.ErrLearnConflict)
	save.Tokens[0].Replace = true
	require.NoError(t, s.Learn(save))
	assert.Equal(t, "gas", s.Learning().Entries[0].Kind)
	assert.Len(t, s.Learning().Entries, 4)
}

func TestNothingIsLearntWhileSomethingIsInTheWay(t *testing.T) {
	s := newTeaching(t)
	for name, c := range map[string]struct {
		change func(*live.State)
		says   string
	}{
		"no calibration": {func(v *live.State) { v.Health = live.Health{Code: live.NoCalibration, Title: "No calibration"} }, "No calibration"},
		"a ship":         {func(v *live.State) { v.Located.Scene.Ships = []engine.Ship{{ID: "A1"}} }, "Ship A1 stands on the mat"},
		"two ships": {func(v *live.State) { v.Located.Scene.Ships = []engine.Ship{{ID: "A1"}, {ID: "B2"}} },
			"The ships A1, B2 stand on the mat"},
		"a held picture": {func(v *live.State) { v.Held = true }, "The picture is held"},
		"a hand":         {func(v *live.State) { v.Register.Watch.Missing = []int{2, 3} }, "Something covers the markers 2, 3"},
		"glare":          {func(v *live.State) { v.Light.Glare, v.Light.Where = 0.2, "left" }, "20 % of the mat is white with glare (left)"},
	} {
		v := s.view
		c.change(&v)
		s.hub.Publish(v)
		err := s.Learn(live.LearnIntent{Do: live.LearnMat})
		require.ErrorIs(t, err, live.ErrLearnConflict, name)
		assert.ErrorContains(t, err, c.says, name)
	}
	s.hub.Publish(s.view)
	s.source.ShowPaper(tablesim.PaperTokens)
	assert.Contains(t, s.do(live.LearnIntent{Do: live.LearnMat}).Problem, "A sheet of white paper lies on the mat")
	s.source.ShowPaper(tablesim.PaperEmpty)
	assert.Contains(t, s.do(live.LearnIntent{Do: live.LearnTrace, Top: 2}).Problem, "No dark-edged token on white paper is seen")
	assert.NoFileExists(t, s.table().EmptyMat)
	assert.Zero(t, s.told.Load())
}

// A rock that is learnt as a part of the mat is never seen again, and each line across it is called clear.
func TestTheMatIsNotLearntWithWhatIsRecognisedOnIt(t *testing.T) {
	s := newTeaching(t)
	rock := vision.ObstacleView{ID: "rock1"}
	for _, c := range []struct {
		sight vision.ObstacleSight
		says  string
	}{
		{vision.ObstacleSight{Views: []vision.ObstacleView{rock}}, "rock1 is recognised on the mat: take it away."},
		{vision.ObstacleSight{Views: []vision.ObstacleView{rock, {ID: "bomb1"}}, Unseen: vision.UnseenLight},
			"rock1, bomb1 are recognised on the mat: take them away."},
		{vision.ObstacleSight{Unknown: make([]vision.UnknownObject, 1)}, "Something unknown lies on the mat: look at the picture."},
	} {
		v := s.view
		v.Located.Obstacles = &c.sight
		s.hub.Publish(v)
		assert.Equal(t, []string{c.says}, s.Learning().Lying)
		err := s.Learn(live.LearnIntent{Do: live.LearnMat})
		require.ErrorIs(t, err, live.ErrLearnConflict)
		assert.ErrorContains(t, err, c.says)
		_, begun := s.begin()
		assert.False(t, begun)
	}
	require.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnMat, Bare: true}), "the mat may have been learnt with something on it")
	_, begun := s.begin()
	assert.True(t, begun)
}

// The mat learnt before does not know it: there is none, or the light is another.
func TestTheMatIsNotLearntWithAnObstacleThatOnlyItsOutlineTells(t *testing.T) {
	if testing.Short() {
		t.Skip("three times ten pictures")
	}
	s := newTeaching(t)
	c := &catalogue.Catalogue{}
	for _, o := range tablesim.PaperOutlines() {
		e, err := catalogue.NewEntry(o.ID, o.Kind, o.Outline)
		require.NoError(t, err)
		c.Entries = append(c.Entries, e)
	}
	doc, err := json.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(s.table().Catalogue), 0o755))
	require.NoError(t, os.WriteFile(s.table().Catalogue, doc, 0o644))
	s.known.renew()
	s.source.ShowPaper(tablesim.PaperGame)
	got := s.do(live.LearnIntent{Do: live.LearnMat})
	assert.Contains(t, got.Problem, "recognised on the mat: take")
	require.Len(t, got.Lying, 1, "the page asks whether they really lie there")
	assert.True(t, strings.EqualFold(got.Problem, got.Lying[0]), got.Lying[0])
	assert.NoFileExists(t, s.table().EmptyMat)
	got = s.do(live.LearnIntent{Do: live.LearnMat, Bare: true})
	assert.Empty(t, got.Problem, "somebody says that nothing lies there")
	assert.Empty(t, got.Lying)
	s.source.ShowPaper(tablesim.PaperEmpty)
	got = s.do(live.LearnIntent{Do: live.LearnMat, Version: got.Mat.Version})
	assert.Empty(t, got.Problem)
}

func TestSomethingThatMovesWhileThePicturesAreTakenIsNotAveragedIn(t *testing.T) {
	s := newTeaching(t)
	require.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnMat}))
	task, _ := s.begin()
	n := 0
	_, err := s.gather(t.Context(), func(calibration.Table) error { return nil }, func(vision.Frame) error {
		if n++; n == 3 {
			s.source.ShowPaper(tablesim.PaperTokens)
		}
		return nil
	})
	s.end("", err)
	assert.Equal(t, live.LearnMat, task.do)
	assert.Contains(t, s.Learning().Problem, "Something moved in the picture")
	assert.False(t, s.Learning().Ended.IsZero(), "when it ended is told: a page that comes later does not show why it failed")
}

func TestACatalogueIsNotChangedUnderAHeldPicture(t *testing.T) {
	s := newTeaching(t)
	c, err := catalogue.Parse(strings.NewReader(string(rocks("a", "b"))))
	require.NoError(t, err)
	require.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnImport, Catalogue: c}))
	saw := s.Learning().Catalogue.Version
	v := s.view
	v.Held = true
	s.hub.Publish(v)
	for _, in := range []live.LearnIntent{
		{Do: live.LearnDelete, Name: "a"}, {Do: live.LearnChange, Name: "a", To: "c"}, {Do: live.LearnSave, Trace: 1},
		{Do: live.LearnImport, Catalogue: c, Whole: true},
	} {
		in.Version = saw
		err := s.Learn(in)
		require.ErrorIs(t, err, live.ErrLearnConflict, in.Do)
		assert.ErrorContains(t, err, "The picture is held", in.Do)
	}
	assert.Equal(t, saw, s.Learning().Catalogue.Version, "a ruling on the held picture stores this catalogue")
	s.hub.Publish(s.view)
	assert.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnDelete, Version: saw, Name: "a"}))
}

// rocks is a catalogue's file with these names.
func rocks(names ...string) []byte {
	c := &catalogue.Catalogue{}
	for _, n := range names {
		c.Entries = append(c.Entries, catalogue.Entry{Name: n, Kind: "asteroid", Sigma: 0.2, Top: 2, Outline: []geom.Point{{X: -20, Y: -20},
			{X: 20, Y: -20}, {X: 0, Y: 40}}})
	}
	doc, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return doc
}

func TestNobodyOverwritesWhatAnotherHasChanged(t *testing.T) {
	s := newTeaching(t)
	parse := func(names ...string) *catalogue.Catalogue {
		c, err := catalogue.Parse(strings.NewReader(string(rocks(names...))))
		require.NoError(t, err)
		return c
	}
	require.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnImport, Catalogue: parse("a", "b")}))
	saw := s.Learning().Catalogue.Version

	// Many at once who saw the same: one of them changes the file, the others are refused.
	var done, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			switch err := s.Learn(live.LearnIntent{Do: live.LearnChange, Version: saw, Name: "a", To: fmt.Sprint("mine", i)}); {
			case err == nil:
				done.Add(1)
			case assert.ErrorIs(t, err, live.ErrLearnConflict):
				refused.Add(1)
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, 1, done.Load())
	assert.EqualValues(t, 7, refused.Load())

	// Someone learns by the command meanwhile.
	saw = s.Learning().Catalogue.Version
	require.NoError(t, os.WriteFile(s.table().Catalogue, rocks("c", "d", "e"), 0o644))
	assert.ErrorContains(t, s.Learn(live.LearnIntent{Do: live.LearnDelete, Version: saw, Name: "b"}), "someone has changed the catalogue")
	now := s.Learning()
	require.Len(t, now.Entries, 3)
	saw = now.Catalogue.Version
	for in, says := range map[*live.LearnIntent]string{
		{Do: live.LearnDelete, Name: "x"}:                                     `has no "x"`,
		{Do: live.LearnChange, Name: "x", To: "y"}:                            `has no "x"`,
		{Do: live.LearnChange, Name: "c", To: "d"}:                            `already has "d"`,
		{Do: live.LearnChange, Name: "c", To: "A1"}:                           `"A1" is a ship's name`,
		{Do: live.LearnChange, Name: "c", Kind: "moon"}:                       "kind: expected asteroid",
		{Do: live.LearnImport, Catalogue: parse("f", "d")}:                    "already has d",
		{Do: live.LearnSave, Trace: 1, Tokens: []live.LearnName{{Name: "z"}}}: "traced again",
		{Do: "sing"}: `no "sing"`,
	} {
		in.Version = saw
		assert.ErrorContains(t, s.Learn(*in), says)
	}
	require.Len(t, s.Learning().Entries, 3, "nothing of a refused change stands in the file")
	require.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnImport, Version: saw, Catalogue: parse("f", "d"), Replace: true}))
	require.Len(t, s.Learning().Entries, 4)
	kept, err := os.ReadFile(s.table().Catalogue + ".bak")
	require.NoError(t, err)
	assert.Equal(t, string(rocks("c", "d", "e")), string(kept), "what it held before is kept")
}

func TestADamagedFileIsToldAndNotBuiltUpon(t *testing.T) {
	s := newTeaching(t)
	table := s.table()
	require.NoError(t, os.MkdirAll(filepath.Dir(table.Catalogue), 0o755))
	require.NoError(t, os.WriteFile(table.Catalogue, rocks("a"), 0o644))
	require.True(t, s.known.renew())
	require.False(t, s.known.renew(), "it has not changed")
	require.NoError(t, os.WriteFile(table.Catalogue, []byte(`{"version":1,"outlines":[{"name":`), 0o644))
	require.True(t, s.known.renew())
	now := s.Learning()
	assert.Contains(t, now.Catalogue.Problem, "not a catalogue")
	assert.Len(t, now.Entries, 1, "what was read before stays in use")
	err := s.Learn(live.LearnIntent{Do: live.LearnDelete, Version: now.Catalogue.Version, Name: "a"})
	assert.ErrorContains(t, err, "the catalogue's file is damaged")

	// At a start: what someone named is an error, what the page left there is reported.
	_, err = newLearnt(table, "table.empty_mat", quiet)
	assert.ErrorContains(t, err, "table.catalogue: "+table.Catalogue+": not a catalogue")
	table.Adopted = true
	k, err := newLearnt(table, "table.empty_mat", quiet)
	require.NoError(t, err)
	assert.Nil(t, k.options().Catalogue)
	assert.NotEmpty(t, k.catalogue.problem)

	// A file in its place puts it right, and the damaged one is kept.
	c, err := catalogue.Parse(strings.NewReader(string(rocks("n"))))
	require.NoError(t, err)
	for _, replace := range []bool{false, true} {
		err = s.Learn(live.LearnIntent{Do: live.LearnImport, Version: now.Catalogue.Version, Catalogue: c, Replace: replace})
		assert.ErrorContains(t, err, "the catalogue's file is damaged", "entries are not added to what cannot be read")
	}
	assert.NoFileExists(t, table.Catalogue+".bak")
	err = s.Learn(live.LearnIntent{Do: live.LearnImport, Version: now.Catalogue.Version, Catalogue: &catalogue.Catalogue{}, Whole: true})
	assert.ErrorContains(t, err, "contains no outline")
	require.NoError(t, s.Learn(live.LearnIntent{Do: live.LearnImport, Version: now.Catalogue.Version, Catalogue: c, Whole: true}))
	assert.Empty(t, s.Learning().Catalogue.Problem)
	assert.FileExists(t, table.Catalogue+".bak")
}

func TestWhatIsInTheWayIsToldAsItIsNow(t *testing.T) {
	s := newTeaching(t)
	assert.Empty(t, s.Learning().Blockers)
	v := s.view
	v.Located.Scene.Ships = []engine.Ship{{ID: "A1"}}
	s.hub.Publish(v)
	s.asked = s.asked.Add(-time.Hour)
	assert.Equal(t, []string{"Ship A1 stands on the mat."}, s.Learning().Blockers, "somebody looks after a long while")
}

func TestAFolderThatCannotBeWrittenIsToldBeforeAnyPicture(t *testing.T) {
	s := newTeaching(t)
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "sub"), nil, 0o644)) // where the folder is to be
	require.ErrorIs(t, s.Learn(live.LearnIntent{Do: live.LearnMat}), live.ErrLearnFile)
	_, began := s.begin()
	assert.False(t, began)
	dir := t.TempDir()
	require.NoError(t, canReplace(filepath.Join(dir, "x", "mat.png")))
	left, err := os.ReadDir(filepath.Join(dir, "x"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestAFileThatCannotBeWrittenLosesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mat.png")
	require.NoError(t, replaceFile(path, []byte("one")))
	assert.NoFileExists(t, path+".bak", "there was nothing to keep")
	require.NoError(t, replaceFile(path, []byte("two")))
	require.NoError(t, replaceFile(path, []byte("three")))
	kept, err := os.ReadFile(path + ".bak")
	require.NoError(t, err)
	assert.Equal(t, "two", string(kept))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "nothing else is left lying about")

	assert.ErrorContains(t, replaceFile(filepath.Join(path, "under-a-file"), []byte("x")), "the folder cannot be made")
	assert.ErrorContains(t, replaceFile(dir, []byte("x")), "expected a file")
	if _, err := os.Stat("/dev/full"); err == nil { // a disk that is full
		require.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, "full")))
		assert.Error(t, replaceFile(filepath.Join(dir, "full"), []byte("x")))
	}
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "three", string(now))
}

func TestWhereTheFilesAreKept(t *testing.T) {
	named := Config{Table: Table{Catalogue: "o.json", EmptyMat: "m.png"}}
	assert.Equal(t, named, withObstacleFiles(named))
	real := withObstacleFiles(Config{Camera: Camera{Source: "/dev/video0"}})
	assert.Equal(t, Table{Catalogue: filepath.FromSlash(DefaultCataloguePath), EmptyMat: filepath.FromSlash(DefaultMatPath), Adopted: true},
		real.Table)
	sim := withObstacleFiles(Config{Camera: Camera{Source: "sim:paper"}})
	assert.NotEqual(t, real.Table, sim.Table, "a simulated mat never takes the place of a real one's")
}

// A mat of another size than the table stops no answers about ships.
func TestAMatOfAnotherSizeIsNotWatchedAndStopsNothing(t *testing.T) {
	s := newTeaching(t)
	small := calibration.Table{Camera: s.source.Camera(), Layout: calibration.DefaultLayout(500, 500)}
	learner := obstacle.NewBackgroundLearner(small)
	f, err := s.source.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, learner.Add(f))
	mat, err := learner.Background()
	require.NoError(t, err)
	require.NoError(t, s.known.saveMat(mat))
	require.NoError(t, os.WriteFile(s.table().Catalogue, rocks("a"), 0o644))
	s.known.renew()
	l, err := s.known.locator(calibration.Table{Camera: s.source.Camera(), Layout: s.source.Layout()}, locate.Options{})
	require.NoError(t, err)
	got, err := l.Locate(f)
	require.NoError(t, err)
	assert.Nil(t, got.Obstacles)
	assert.Contains(t, s.Learning().Unusable, "learn it again")
}

// The largest catalogue that is taken: as many outlines, all alike, as there may be, with all
// the points that they may have together.
func TestTheLargestCatalogueIsAnsweredInTime(t *testing.T) {
	s := newTeaching(t)
	list := func(entries, points int) string {
		var outlines []string
		for i := range entries {
			var at []string
			for k := range points {
				sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(points))
				at = append(at, fmt.Sprintf("[%.3f,%.3f]", 30*(1+0.1*sin)*cos, 30*(1+0.1*cos)*sin))
			}
			outlines = append(outlines, fmt.Sprintf(`{"name":"rock-%d","kind":"asteroid","outline_mm":[%s]}`, i, strings.Join(at, ",")))
		}
		return `{"version":1,"outlines":[` + strings.Join(outlines, ",") + `]}`
	}
	for _, size := range []struct{ entries, points int }{{200, 100}, {40, 500}, {10, 2000}} {
		began := time.Now()
		c, err := catalogue.Parse(strings.NewReader(list(size.entries, size.points)))
		require.NoError(t, err)
		now := s.Learning()
		require.NoError(t, s.Learner.Learn(live.LearnIntent{Do: live.LearnImport, Version: now.Catalogue.Version, Catalogue: c, Whole: true}))
		assert.Len(t, s.Learning().Entries, size.entries)
		took := time.Since(began)
		t.Logf("%d outlines of %d points: %v", size.entries, size.points, took)
		assert.Less(t, took, time.Minute, "answers have ten seconds, and this takes half of one on a quiet machine")
	}
	for size, want := range map[[2]int]string{
		{201, 10}: "outlines: expected at most 200, got 201", {11, 1900}: "expected at most 20000 points in all outlines together, got 20900",
		{1, 2001}: "expected 3 to 2000 points, got 2001",
	} {
		_, err := catalogue.Parse(strings.NewReader(list(size[0], size[1])))
		require.ErrorContains(t, err, want)
	}
	_, err := catalogue.Parse(strings.NewReader(list(500, 300)))
	require.ErrorContains(t, err, "expected at most 2 MB", "it was taken, and never answered")
}
