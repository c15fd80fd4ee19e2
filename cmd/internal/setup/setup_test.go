package setup_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/calibration/verify"
	"sightline/cmd/internal/setup"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

const (
	wide = 960
	high = 540
	spec = "chessboard:9x6:25mm"
)

// bench is a machine with a known camera before it and a clock of its own.
type bench struct {
	t       *testing.T
	m       *setup.Machine
	camera  calibration.Camera
	layout  calibration.Layout
	now     time.Time
	shake   uint64
	pending setup.Work
}

func newBench(t *testing.T, change ...func(*setup.Options)) *bench {
	t.Helper()
	o := setup.Options{
		Layout:   calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		LensPath: "lens.json", TablePath: "table.json",
	}
	for _, c := range change {
		c(&o)
	}
	return &bench{t: t, m: setup.New(o), camera: tablesim.DefaultCamera(wide, high), layout: o.Layout, now: time.Unix(1700000000, 0)}
}

func (b *bench) do(in setup.Intent) {
	b.t.Helper()
	w, err := b.m.Do(in)
	require.NoError(b.t, err, "%+v", in)
	if w != nil {
		b.pending = w
	}
}

// refuses checks that an intent is refused as out of order, in a sentence.
func (b *bench) refuses(in setup.Intent, want string) {
	b.t.Helper()
	before := b.m.State()
	_, err := b.m.Do(in)
	require.ErrorIs(b.t, err, setup.ErrOrder, "%+v", in)
	assert.Contains(b.t, err.Error(), want)
	assert.Equal(b.t, before, b.m.State(), "a refusal changes nothing")
}

// noise is a small fixed wobble of a corner, px.
func (b *bench) noise() geom.Pixel {
	b.shake = b.shake*6364136223846793005 + 1442695040888963407
	u := float64(b.shake>>40)/(1<<24) - 0.5
	b.shake = b.shake*6364136223846793005 + 1442695040888963407
	v := float64(b.shake>>40)/(1<<24) - 0.5
	return geom.Pixel{X: 0.1 * u, Y: 0.1 * v}
}

// show shows the machine one picture, 100 ms after the last one.
func (b *bench) show(s setup.Sighting) {
	b.t.Helper()
	b.now = b.now.Add(100 * time.Millisecond)
	s.At, s.Width, s.Height = b.now, wide, high
	if w := b.m.Offer(s); w != nil {
		b.pending = w
	}
}

// boardAt is what a picture of the board in this grip shows.
func (b *bench) boardAt(g tablesim.Grip) setup.Sighting {
	b.t.Helper()
	board, err := calibration.ParseBoard(spec)
	require.NoError(b.t, err)
	held, err := g.Hold(b.camera.Intrinsics, board)
	require.NoError(b.t, err)
	var s setup.Sighting
	for _, p := range board.Points() {
		q := held.Pose.Camera(calibration.Vec3{p.X, p.Y, 0})
		s.Board.Pixels = append(s.Board.Pixels, b.camera.Intrinsics.Project(q[0]/q[2], q[1]/q[2]).Add(b.noise()))
	}
	return s
}

// hold holds the board in a grip for a second.
func (b *bench) hold(g tablesim.Grip) {
	b.t.Helper()
	for range 10 {
		if b.m.Wants() != setup.Board {
			return
		}
		b.show(b.boardAt(g))
	}
}

// markers is what a picture of the mat shows, without some of its markers.
func (b *bench) markers(without ...int) setup.Sighting {
	var s setup.Sighting
next:
	for _, m := range b.layout.Markers {
		for _, id := range without {
			if id == m.ID {
				continue next
			}
		}
		k := calibration.MarkerSighting{ID: m.ID}
		for i, c := range m.Corners() {
			px, _ := b.camera.PixelOf(c, m.Z)
			k.Corners[i] = px.Add(b.noise())
		}
		s.Markers = append(s.Markers, k)
	}
	return s
}

// solution is a lens as a solver would give it.
func (b *bench) solution() lens.Solution {
	intrinsics := b.camera.Intrinsics
	intrinsics.Covariance = make([]float64, 81)
	for i, v := range []float64{0.1, 0.1, 0.2, 0.2, 1e-6, 1e-6, 1e-9, 1e-9, 1e-6} {
		intrinsics.Covariance[10*i] = v
	}
	intrinsics.RMS, intrinsics.Views = 0.05, 14
	return lens.Solution{Lens: intrinsics, Dropped: []calibration.Rejection{{Name: "view 3", Reason: "it does not fit"}}}
}

// stops are ways to hold the board.
func stops() []tablesim.Grip { return tablesim.BoardStops() }

// solvedLens brings the machine to a lens that was worked out and not saved.
func (b *bench) solvedLens() {
	b.t.Helper()
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	for n := range 60 {
		if b.m.Wants() == setup.Board {
			b.hold(tablesim.Obey(b.m.State().Lens.Guide.Advice, n))
		}
	}
	s := b.m.State()
	require.IsType(b.t, setup.SolveLens{}, b.pending, "the guide has not had enough: %s", s.Lens.Guide.Advice)
	require.Equal(b.t, setup.Solving, s.Lens.Phase)
	b.m.Solved(b.pending.(setup.SolveLens), b.solution(), nil)
	require.Equal(b.t, setup.Ready, b.m.State().Lens.Phase)
}

func TestTheWholeWay(t *testing.T) {
	b := newBench(t)
	s := b.m.State()
	assert.False(t, s.Busy())
	assert.Equal(t, setup.Nothing, b.m.Wants())

	b.do(setup.Intent{Do: setup.Start})
	s = b.m.State()
	assert.True(t, s.Active)
	assert.False(t, s.Busy(), "printing needs no camera: the answers go on")
	b.do(setup.Intent{Do: setup.Bars, BarX: 100.1, BarY: 99.8})
	s = b.m.State()
	assert.Equal(t, setup.Saved, s.Print.Phase)

	b.solvedLens()
	s = b.m.State()
	assert.True(t, s.Busy())
	assert.GreaterOrEqual(t, len(s.Lens.Views), 10)
	assert.Equal(t, "the first view", s.Lens.Views[0].Added)
	assert.Equal(t, "view 3", s.Lens.Result.Dropped[0].Name)
	assert.Positive(t, s.Lens.Result.Mat)
	b.do(setup.Intent{Do: setup.Save})
	save, ok := b.pending.(setup.SaveLens)
	require.True(t, ok)
	assert.Equal(t, "lens.json", save.Path)
	assert.Equal(t, b.camera.Fx, save.Lens.Fx)
	b.m.Saved(save, nil)
	s = b.m.State()
	assert.Equal(t, setup.Saved, s.Lens.Phase)
	assert.Equal(t, "lens.json", s.Lens.SavedAs)

	b.do(setup.Intent{Do: setup.Go, Step: setup.Table})
	for range 20 {
		b.show(b.markers())
	}
	s = b.m.State()
	require.Equal(t, setup.Ready, s.Table.Phase, s.Table.Problem)
	assert.Len(t, s.Table.Table.Used, 8)
	assert.Empty(t, s.Table.Advice)
	for _, m := range s.Table.Markers {
		assert.True(t, m.Seen && m.Used && m.Known, "marker %d", m.ID)
		assert.Less(t, m.Off.Millimeters(), 0.2)
	}
	off := s.Table.Table.Center()
	want := b.camera.Center()
	assert.InDelta(t, want[2], off[2], 1, "the camera's height")
	b.do(setup.Intent{Do: setup.Save})
	table, ok := b.pending.(setup.SaveTable)
	require.True(t, ok)
	assert.Equal(t, "table.json", table.Path)
	b.m.Saved(table, nil)
	s = b.m.State()
	assert.Equal(t, setup.Saved, s.Table.Phase)

	b.do(setup.Intent{Do: setup.Go, Step: setup.Verify})
	b.do(setup.Intent{Do: setup.Finish})
	s = b.m.State()
	assert.False(t, s.Active)
	assert.Equal(t, setup.Nothing, b.m.Wants())
}

// foundTable brings the machine to a table that was found and not saved.
func (b *bench) foundTable() setup.State {
	b.t.Helper()
	b.solvedLens()
	b.do(setup.Intent{Do: setup.Go, Step: setup.Table})
	for range 20 {
		b.show(b.markers())
	}
	s := b.m.State()
	require.Equal(b.t, setup.Ready, s.Table.Phase, s.Table.Problem)
	return s
}

func TestMeasuredDistancesSetTheScale(t *testing.T) {
	b := newBench(t)
	before := b.foundTable().Table
	require.Len(t, before.Long, 2)
	var given []calibration.ScaleDistance
	const longer = 1.0004
	for _, pair := range before.Long {
		var ends [2]geom.Point
		for _, m := range b.layout.Markers {
			for i, id := range pair {
				if m.ID == id {
					ends[i] = m.Center
				}
			}
		}
		d := ends[0].Sub(ends[1]).Norm()
		assert.Greater(t, d, 900.0, "markers %v: the mat's side", pair)
		given = append(given, calibration.ScaleDistance{From: pair[0], To: pair[1], Length: geom.Length(longer * d), Sigma: 0.1})
	}
	b.do(setup.Intent{Do: setup.Rule, Distances: given})
	after := b.m.State().Table
	assert.Equal(t, setup.Ready, after.Phase)
	assert.InDelta(t, longer, float64(after.Table.Layout.Width/before.Table.Layout.Width), 1e-4)
	assert.Less(t, after.Table.ScaleSigma, before.Table.ScaleSigma)
	assert.Less(t, after.MiddleSigma, before.MiddleSigma)
	assert.Regexp(t, `^Your distances change every length by \+0\.0[34]\d %\. The scale is now known to 0\.0\d\d %, before to 0\.0\d\d %\.$`, after.Scale)
	assert.Equal(t, calibration.Layout(b.layout).Width, before.Table.Layout.Width, "a state that was given out stays as it was")

	b.do(setup.Intent{Do: setup.Save})
	saved := b.pending.(setup.SaveTable)
	assert.Len(t, saved.Table.Distances, 2)
	b.m.Saved(saved, nil)
	b.do(setup.Intent{Do: setup.Rule, Distances: given[:1]}) // after the save: there is something new to save
	assert.Equal(t, setup.Ready, b.m.State().Table.Phase)
	assert.Empty(t, b.m.State().Table.SavedAs)
	b.do(setup.Intent{Do: setup.Rule})
	alone := b.m.State().Table
	assert.Equal(t, before.Table.Layout.Width, alone.Table.Layout.Width, "without distances the markers' own scale is back")
	assert.Empty(t, alone.Scale)
	assert.Empty(t, alone.Table.Distances)
}

func TestDistancesThatCannotBeAreRefused(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.refuses(setup.Intent{Do: setup.Rule}, "wait for it")
	b.foundTable()
	for want, d := range map[string]calibration.ScaleDistance{
		"you measured 850.0 mm": {From: 0, To: 7, Length: 850, Sigma: 0.3},
		"marker 99: is not one": {From: 0, To: 99, Length: 850, Sigma: 0.3},
		"to itself":             {From: 3, To: 3, Length: 850, Sigma: 0.3},
		"expected a length":     {From: 0, To: 7, Length: geom.Length(math.NaN()), Sigma: 0.3},
	} {
		before := b.m.State()
		_, err := b.m.Do(setup.Intent{Do: setup.Rule, Distances: []calibration.ScaleDistance{d}})
		require.Error(t, err, want)
		assert.NotErrorIs(t, err, setup.ErrOrder)
		assert.Contains(t, err.Error(), want)
		assert.Equal(t, before, b.m.State())
	}
	b.do(setup.Intent{Do: setup.Quick})
	b.refuses(setup.Intent{Do: setup.Rule}, "wait for it")
	for range 20 {
		b.show(b.markers())
	}
	require.Equal(t, setup.Ready, b.m.State().Table.Phase)
	assert.Empty(t, b.m.State().Table.Long)
	b.refuses(setup.Intent{Do: setup.Rule}, "needs a lens from a board")

	old := newBench(t, func(o *setup.Options) {
		known := tablesim.DefaultCamera(wide, high)
		o.Lens = func() (calibration.Intrinsics, bool) { return known.Intrinsics, true }
		o.Saved = func() (calibration.Table, bool) { return calibration.Table{Camera: known, Layout: o.Layout}, true }
	})
	old.do(setup.Intent{Do: setup.Start})
	old.do(setup.Intent{Do: setup.Go, Step: setup.Verify})
	old.do(setup.Intent{Do: setup.Go, Step: setup.Table})
	old.refuses(setup.Intent{Do: setup.Rule}, "was found before")
}

func TestWhatComesAtTheWrongTimeIsRefusedInASentence(t *testing.T) {
	b := newBench(t)
	for _, do := range []setup.Action{setup.Go, setup.Save, setup.Capture, setup.Bars, setup.Solve} {
		b.refuses(setup.Intent{Do: do, Step: setup.Lens, Board: spec}, "No calibration is running")
	}
	_, err := b.m.Do(setup.Intent{Do: "dance"})
	require.ErrorContains(t, err, `There is no action "dance"`)
	require.NotErrorIs(t, err, setup.ErrOrder, "it makes no sense at any time")
	b.do(setup.Intent{Do: setup.Start})
	b.refuses(setup.Intent{Do: setup.Go, Step: setup.Table}, "do the lens first")
	b.refuses(setup.Intent{Do: setup.Go, Step: setup.Verify}, "do the table first")
	b.refuses(setup.Intent{Do: setup.Save}, "nothing to save")
	b.refuses(setup.Intent{Do: setup.Capture, Board: spec}, "step of the lens first")
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.refuses(setup.Intent{Do: setup.Save}, "no new lens to save")
	b.refuses(setup.Intent{Do: setup.Solve}, "No views are being taken")
	b.refuses(setup.Intent{Do: setup.More}, "no lens that more views could improve")
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	b.refuses(setup.Intent{Do: setup.Solve}, "0 views are too few")

	for want, in := range map[string]setup.Intent{
		`no action "fly"`:                    {Do: "fly"},
		`no step "moon"`:                     {Do: setup.Go, Step: "moon"},
		"expected chessboard:":               {Do: setup.Capture, Board: "checkers"},
		"expected two numbers from 3 to 100": {Do: setup.Capture, Board: "1x1:25mm"},
		"print at 100 %":                     {Do: setup.Bars, BarX: 97, BarY: 96.9},
		"cannot come out 100.0 × 0.0 mm":     {Do: setup.Bars, BarX: 100},
		"cannot come out NaN":                {Do: setup.Bars, BarX: geom.Length(nan)},
	} {
		_, err := b.m.Do(in)
		require.Error(t, err, "%+v", in)
		assert.NotErrorIs(t, err, setup.ErrOrder)
		assert.Contains(t, err.Error(), want)
	}
}

var nan = math.NaN()

func TestBarsSetTheScaleOfTheSheets(t *testing.T) {
	b := newBench(t, func(o *setup.Options) { o.ScaleX = 0.995 })
	b.do(setup.Intent{Do: setup.Start})
	p := b.m.State().Print
	assert.Equal(t, 0.995, p.ScaleX)
	assert.Equal(t, 1.0, p.ScaleY)
	b.do(setup.Intent{Do: setup.Bars, BarX: 100.2, BarY: 98.6})
	p = b.m.State().Print
	assert.Equal(t, setup.Waiting, p.Phase)
	assert.InDelta(t, 0.995*1.002, p.ScaleX, 1e-12)
	assert.InDelta(t, 0.986, p.ScaleY, 1e-12)
	assert.Contains(t, p.Verdict, "98.60 mm along")
	_, err := b.m.Do(setup.Intent{Do: setup.Bars, BarX: 100, BarY: 98})
	assert.ErrorContains(t, err, "a larger error than a printer makes")
	b.do(setup.Intent{Do: setup.Bars, BarX: 99.9, BarY: 100.3})
	p = b.m.State().Print
	assert.Equal(t, setup.Saved, p.Phase)
	assert.InDelta(t, 0.986, p.ScaleY, 1e-12, "good sheets are left as they are")
}

// TestAButtonThatIsTappedTwiceIsTappedOnce: the second tap of an impatient finger, or of another
// browser, is neither refused nor does it anything more.
func TestAButtonThatIsTappedTwiceIsTappedOnce(t *testing.T) {
	b := newBench(t)
	twice := func(in setup.Intent) {
		t.Helper()
		b.do(in)
		before := b.m.State()
		work := b.pending
		b.do(in)
		assert.Equal(t, before, b.m.State(), "%+v", in)
		assert.Equal(t, work, b.pending, "%+v", in)
	}
	twice(setup.Intent{Do: setup.Start})
	twice(setup.Intent{Do: setup.Bars, BarX: 99, BarY: 98.9, ScaleX: 1, ScaleY: 1})
	assert.InDelta(t, 0.99, b.m.State().Print.ScaleX, 1e-12, "the sheet that was measured was drawn before")
	twice(setup.Intent{Do: setup.Bars, BarX: 101, BarY: 100, ScaleX: 0.99, ScaleY: 0.989})
	assert.InDelta(t, 0.99*1.01, b.m.State().Print.ScaleX, 1e-12)
	_, err := b.m.Do(setup.Intent{Do: setup.Bars, BarX: 101, BarY: 100, ScaleX: 2, ScaleY: 1})
	require.ErrorContains(t, err, "No sheet is drawn for such a printer")

	b.solvedLens()
	b.do(setup.Intent{Do: setup.Solve}) // it is solved
	twice(setup.Intent{Do: setup.Save})
	b.m.Saved(b.pending, nil)
	twice(setup.Intent{Do: setup.Save})
	twice(setup.Intent{Do: setup.More})

	twice(setup.Intent{Do: setup.Quick})
	for range 12 {
		b.show(b.markers())
	}
	twice(setup.Intent{Do: setup.More})
	for range 12 {
		b.show(b.markers())
	}
	twice(setup.Intent{Do: setup.Save})
	b.m.Saved(b.pending, nil)
	twice(setup.Intent{Do: setup.Save})
	twice(setup.Intent{Do: setup.Finish})
	twice(setup.Intent{Do: setup.Cancel})
}

// A user who never tilts the board gets advice, and no calibration.
func TestABoardThatIsNeverTiltedGivesNoLens(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	for _, v := range []float64{0.2, 0.5, 0.8} {
		for _, u := range []float64{0.18, 0.4, 0.6, 0.82} {
			b.hold(tablesim.Grip{U: u, V: v, Share: 0.28})
		}
	}
	s := b.m.State()
	require.GreaterOrEqual(t, len(s.Lens.Views), lens.MinViews)
	assert.False(t, s.Lens.Guide.Enough)
	assert.Equal(t, setup.Looking, s.Lens.Phase)
	assert.Contains(t, s.Lens.Guide.Advice, "tilt the board")
	assert.Nil(t, b.pending)

	// Whoever asks all the same hears it from the solver, and continues where they were.
	b.do(setup.Intent{Do: setup.Solve})
	w := b.pending.(setup.SolveLens)
	_, err := lens.Solve(w.Board, w.Views[:3], w.Width, w.Height)
	require.Error(t, err)
	b.m.Solved(w, lens.Solution{}, errLens())
	s = b.m.State()
	assert.Equal(t, setup.Looking, s.Lens.Phase)
	assert.Contains(t, s.Lens.Problem, "all nearly parallel")
	assert.Nil(t, s.Lens.Result)
	b.refuses(setup.Intent{Do: setup.Save}, "no new lens")
	assert.Equal(t, setup.Board, b.m.Wants())
}

func errLens() error {
	return errors.Join(lens.ErrViews, errors.New("the boards are all nearly parallel"))
}

func TestABoardThatIsNotSeenIsDoubtedAfterAWhile(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	b.show(setup.Sighting{})
	assert.NotContains(t, b.m.State().Lens.Now, "Is it this board?")
	for range 90 {
		b.show(setup.Sighting{})
	}
	assert.Contains(t, b.m.State().Lens.Now, "No board with 9 × 6 inner corners is seen. Is it this board?")
	b.hold(stops()[0])
	assert.NotContains(t, b.m.State().Lens.Now, "Is it this board?")
}

func TestRefusedPicturesAreCountedWithTheirReason(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	for range 12 {
		s := b.boardAt(stops()[0])
		s.Board.EdgeWidth, s.Board.Contrast = 30, 120
		b.show(s)
	}
	r := b.m.State().Lens.Refused
	require.Len(t, r, 1)
	assert.Greater(t, r[0].Times, 3)
	assert.Contains(t, r[0].Reason, "blurred")
	assert.Empty(t, b.m.State().Lens.Views)
}

func TestALateSolutionOfACaptureThatWasGivenUpIsDropped(t *testing.T) {
	b := newBench(t)
	b.solvedLens()
	b.do(setup.Intent{Do: setup.More})
	b.do(setup.Intent{Do: setup.Solve})
	late := b.pending.(setup.SolveLens)
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	b.m.Solved(late, b.solution(), nil)
	s := b.m.State()
	assert.Equal(t, setup.Looking, s.Lens.Phase)
	assert.Nil(t, s.Lens.Result)
}

// A tap for a step that another device has left does nothing to the present one: "Look again" of the table is no "Start over" of the lens.
func TestATapForAnotherStepDoesNothing(t *testing.T) {
	b := newBench(t)
	b.solvedLens()
	for _, do := range []setup.Action{setup.Again, setup.Save, setup.More} {
		b.refuses(setup.Intent{Do: do, Step: setup.Table}, "Another device went to another step")
	}
	require.Equal(t, setup.Ready, b.m.State().Lens.Phase)
	b.do(setup.Intent{Do: setup.Save, Step: setup.Lens})
	require.IsType(t, setup.SaveLens{}, b.pending)
}

func TestStepsAreLeftAndTakenUpAgain(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	b.hold(stops()[0])
	b.hold(stops()[1])
	b.do(setup.Intent{Do: setup.Go, Step: setup.Print})
	assert.Equal(t, setup.Nothing, b.m.Wants())
	b.do(setup.Intent{Do: setup.Start}) // a second browser joins
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	assert.Len(t, b.m.State().Lens.Views, 2, "the views are still there")
	assert.Equal(t, setup.Board, b.m.Wants())

	b.do(setup.Intent{Do: setup.Again})
	assert.Empty(t, b.m.State().Lens.Views)
	assert.Equal(t, setup.Waiting, b.m.State().Lens.Phase)
	b.do(setup.Intent{Do: setup.Cancel})
	b.do(setup.Intent{Do: setup.Start})
	assert.Equal(t, setup.Print, b.m.State().Step)
}

func TestALostCameraLosesNothingElse(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	b.hold(stops()[0])
	b.m.CameraLost("/dev/video0: no such device")
	s := b.m.State()
	assert.Equal(t, "/dev/video0: no such device", s.Camera.Lost)
	assert.Empty(t, s.Lens.Corners)
	assert.Len(t, s.Lens.Views, 1)
	b.hold(stops()[1])
	s = b.m.State()
	assert.Empty(t, s.Camera.Lost)
	assert.Len(t, s.Lens.Views, 2)
}

func TestPicturesOfAnotherSizeBeginTheCaptureAnew(t *testing.T) {
	b := newBench(t)
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.Capture, Board: spec})
	b.hold(stops()[0])
	require.Len(t, b.m.State().Lens.Views, 1)
	b.m.Offer(setup.Sighting{At: b.now.Add(time.Second), Width: 1280, Height: 720})
	s := b.m.State()
	assert.Empty(t, s.Lens.Views)
	assert.Equal(t, spec, s.Lens.Board)
	assert.Contains(t, s.Lens.Problem, "size changed")
	assert.Equal(t, setup.Looking, s.Lens.Phase)
}

func TestASaveThatFailsCanBeTriedAgain(t *testing.T) {
	b := newBench(t)
	b.solvedLens()
	b.do(setup.Intent{Do: setup.Save})
	b.m.Saved(b.pending, errors.New("lens.json: no space left on device"))
	s := b.m.State()
	assert.Equal(t, setup.Ready, s.Lens.Phase)
	assert.Contains(t, s.Lens.Problem, "no space left on device")
	b.do(setup.Intent{Do: setup.Save})
	b.m.Saved(b.pending, nil)
	s = b.m.State()
	assert.Equal(t, setup.Saved, s.Lens.Phase)
	assert.Empty(t, s.Lens.Problem)
}

// tableStep brings a machine that knows a lens to the step of the table.
func tableStep(t *testing.T) *bench {
	b := newBench(t, func(o *setup.Options) {
		o.Lens = func() (calibration.Intrinsics, bool) { return tablesim.DefaultCamera(wide, high).Intrinsics, true }
	})
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Table})
	return b
}

func TestTheTableSaysThatThePictureIsMirrored(t *testing.T) {
	b := tableStep(t)
	seen := b.markers(0, 1, 2, 3, 4, 5, 6, 7)
	seen.Mirrored = true
	b.show(seen)
	s := b.m.State()
	assert.Contains(t, s.Table.Advice, "Switch mirroring off")
	assert.NotContains(t, s.Table.Advice, "covered")
	assert.Nil(t, s.Table.Table)
}

func TestTheTableNamesWhatIsMissingAndWhatLiesOff(t *testing.T) {
	b := tableStep(t)
	b.show(b.markers(0, 1, 2, 3, 4, 5, 6))
	s := b.m.State()
	assert.Contains(t, s.Table.Problem, "at least 3 are needed")
	assert.Contains(t, s.Table.Advice, "Not seen: markers 0, 1, 2, 3, 4, 5, 6.")
	assert.Nil(t, s.Table.Table)

	for range 12 {
		seen := b.markers(2)
		for i := range seen.Markers {
			if seen.Markers[i].ID != 5 {
				continue
			}
			for k := range seen.Markers[i].Corners { // bumped by about 20 mm
				seen.Markers[i].Corners[k].X += 12
			}
		}
		b.show(seen)
	}
	s = b.m.State()
	require.Equal(t, setup.Ready, s.Table.Phase, s.Table.Problem)
	assert.Contains(t, s.Table.Advice, "Not seen: marker 2.")
	assert.Contains(t, s.Table.Advice, "marker 5")
	assert.NotContains(t, s.Table.Table.Used, 5)
	for _, m := range s.Table.Markers {
		if m.ID == 5 {
			assert.False(t, m.Used)
			assert.Greater(t, m.Off.Millimeters(), 10.0)
		}
	}
}

func TestAMovingCameraGivesNoTable(t *testing.T) {
	for _, by := range []float64{1, 0.3} { // px with every picture: pushed, and sinking
		b := tableStep(t)
		for i := range 40 {
			s := b.markers()
			for k := range s.Markers {
				for c := range s.Markers[k].Corners {
					s.Markers[k].Corners[c].X += by * float64(i)
				}
			}
			b.show(s)
			require.Equal(t, setup.Looking, b.m.State().Table.Phase)
			assert.LessOrEqual(t, b.m.State().Table.Frames, 2)
		}
	}
}

// A camera that is pushed between the result and Save leaves a table that nothing will confirm.
func TestACameraThatIsPushedBeforeTheTableIsSavedIsSaid(t *testing.T) {
	b := tableStep(t)
	for range 12 {
		b.show(b.markers())
	}
	require.Equal(t, setup.Ready, b.m.State().Table.Phase)
	require.Empty(t, b.m.State().Table.Problem)
	b.camera.T[0] += 2
	b.show(b.markers())
	assert.Regexp(t, `The camera no longer stands where the table has it, by [1-3]\.\d mm: do the table again\.`, b.m.State().Table.Problem)
	b.show(b.markers(0, 1, 2, 3, 4, 5, 6)) // a hand over most of them says nothing
	b.camera.T[0] -= 2
	b.show(b.markers())
	assert.Empty(t, b.m.State().Table.Problem)
}

func TestACardThatIsDraggedSlowlyIsNotMeasured(t *testing.T) {
	b := verifyStep(t)
	b.do(setup.Intent{Do: setup.Measure, Card: measured})
	for i := range 40 {
		b.show(b.cardAt(300+0.8*float64(i), 300, 0, 1))
		require.Empty(t, b.m.State().Verify.Places)
	}
}

func TestANewLensMakesTheTableOld(t *testing.T) {
	b := newBench(t)
	b.solvedLens()
	b.do(setup.Intent{Do: setup.Go, Step: setup.Table})
	for range 12 {
		b.show(b.markers())
	}
	require.Equal(t, setup.Ready, b.m.State().Table.Phase)
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.do(setup.Intent{Do: setup.More})
	b.do(setup.Intent{Do: setup.Solve})
	b.m.Solved(b.pending.(setup.SolveLens), b.solution(), nil)
	assert.Equal(t, setup.Waiting, b.m.State().Table.Phase)
	b.refuses(setup.Intent{Do: setup.Go, Step: setup.Verify}, "do the table first")
}

// cardAt is what a picture of the check card lying there shows; scale is that of its
// print.
func (b *bench) cardAt(x, y, deg, scale float64) setup.Sighting {
	var s setup.Sighting
	at := geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(deg) * geom.Degree}
	for _, l := range tablesim.LayCard(verify.DefaultCard(), at, [2]geom.Length{0.2, 4.2}) {
		middle := geom.Point{X: float64(l.Strip.Width) / 2, Y: float64(l.Strip.Height) / 2}
		for _, tag := range l.Strip.Tags {
			k := calibration.MarkerSighting{ID: tag.ID}
			for i, c := range tag.Corners() {
				px, _ := b.camera.PixelOf(l.Pose.Transform(c.Sub(middle).Mul(scale)), l.Z)
				k.Corners[i] = px.Add(b.noise())
			}
			s.Markers = append(s.Markers, k)
		}
	}
	return s
}

// verifyStep brings a machine to the step of verification with a saved table.
func verifyStep(t *testing.T) *bench {
	b := tableStep(t)
	for range 12 {
		b.show(b.markers())
	}
	b.do(setup.Intent{Do: setup.Save})
	table := b.pending.(setup.SaveTable)
	table.Table.Hash = "sha256:1234"
	b.m.Saved(table, nil)
	b.do(setup.Intent{Do: setup.Go, Step: setup.Verify})
	return b
}

var measured = setup.CardMeasures{Bar: 220, Thickness: 0.2, BaseTop: 4}

// layAround lays the card at five places, for a second each.
func (b *bench) layAround(scale float64) {
	for _, p := range [][3]float64{{170, 170, 0}, {740, 180, 60}, {730, 730, 90}, {180, 720, 150}, {450, 460, 20}} {
		for range 10 {
			b.show(b.cardAt(p[0], p[1], p[2], scale))
		}
	}
}

func TestTheCheckCardIsMeasuredHereAndThere(t *testing.T) {
	b := verifyStep(t)
	b.refuses(setup.Intent{Do: setup.Save}, "nothing to save")
	b.do(setup.Intent{Do: setup.Measure, Card: measured})
	assert.Equal(t, setup.Card, b.m.Wants())
	b.show(b.markers())
	assert.Contains(t, b.m.State().Verify.Now, "Lay the check card")
	b.show(b.cardAt(300, 300, 0, 1))
	b.show(b.cardAt(340, 300, 0, 1)) // it is still being pushed
	assert.Contains(t, b.m.State().Verify.Now, "picture 1 of 5")
	assert.Empty(t, b.m.State().Verify.Places)

	b.layAround(1)
	v := b.m.State().Verify
	require.Len(t, v.Places, 5, v.Problem)
	for i, p := range v.Places {
		assert.Equal(t, 6, p.Distances, "place %d", i)
		assert.Less(t, p.WorstError.Millimeters(), 0.4)
	}
	require.NotNil(t, v.Result)
	assert.Equal(t, verify.Pass, v.Result.Outcome, v.Result.Reasons)
	assert.Contains(t, v.Now, "That is enough")

	b.do(setup.Intent{Do: setup.Save})
	w := b.pending.(setup.SaveVerification)
	assert.Equal(t, "table.json", w.TablePath)
	assert.Equal(t, "sha256:1234", w.Record.Calibration)
	assert.Equal(t, 5, w.Record.Places)
	b.m.Saved(w, nil)
	assert.Equal(t, setup.Saved, b.m.State().Verify.Phase)
	assert.Equal(t, "table.json.verify.json", b.m.State().Verify.SavedAs)
}

// Who leaves after the table and comes back, or starts the program again, continues with the verification.
func TestATableThatWasSavedBeforeIsVerified(t *testing.T) {
	before := verifyStep(t)
	saved := *before.m.State().Table.Table
	saved.Hash = "sha256:1234"
	b := newBench(t, func(o *setup.Options) {
		o.Saved = func() (calibration.Table, bool) { return saved, true }
		o.Lens = func() (calibration.Intrinsics, bool) { return saved.Intrinsics, true }
	})
	b.do(setup.Intent{Do: setup.Start})
	b.do(setup.Intent{Do: setup.Go, Step: setup.Verify})
	assert.Equal(t, setup.Saved, b.m.State().Table.Phase)
	assert.Equal(t, "table.json", b.m.State().Table.SavedAs)
	b.do(setup.Intent{Do: setup.Measure, Card: measured})
	b.layAround(1)
	require.NotNil(t, b.m.State().Verify.Result, b.m.State().Verify.Problem)
	b.do(setup.Intent{Do: setup.Save})
	assert.Equal(t, "sha256:1234", b.pending.(setup.SaveVerification).Record.Calibration)

	// A lens that was solved since makes the saved table old.
	b.do(setup.Intent{Do: setup.Cancel})
	b.do(setup.Intent{Do: setup.Start})
	b.solvedLens()
	b.refuses(setup.Intent{Do: setup.Go, Step: setup.Verify}, "do the table first")
}

// A table that the camera has left is not verified: the card would speak of no answer.
func TestACameraThatStandsElsewhereIsNotVerified(t *testing.T) {
	b := verifyStep(t)
	b.do(setup.Intent{Do: setup.Measure, Card: measured})
	withMat := func(x float64) setup.Sighting {
		s := b.cardAt(x, 300, 0, 1)
		s.Markers = append(s.Markers, b.markers().Markers...)
		return s
	}
	for range 6 {
		b.show(withMat(300))
	}
	require.Len(t, b.m.State().Verify.Places, 1, b.m.State().Verify.Problem)
	b.camera.T[0] += 2
	for range 6 {
		b.show(withMat(500))
	}
	assert.Len(t, b.m.State().Verify.Places, 1)
	assert.Regexp(t, `The camera no longer stands where the table has it, by [1-3]\.\d mm: do the table again\.`, b.m.State().Verify.Problem)
	b.camera.T[0] -= 2
	for range 6 {
		b.show(withMat(700))
	}
	assert.Len(t, b.m.State().Verify.Places, 2)
	assert.Empty(t, b.m.State().Verify.Problem)
}

func TestACardPrintedTooLargeIsNoPass(t *testing.T) {
	b := verifyStep(t)
	b.do(setup.Intent{Do: setup.Measure, Card: measured})
	b.layAround(1.006)
	v := b.m.State().Verify
	require.NotNil(t, v.Result)
	assert.Equal(t, verify.Fail, v.Result.Outcome)
	assert.NotEmpty(t, v.Result.Reasons)
}

func TestACardThatCannotBeIsRefused(t *testing.T) {
	b := verifyStep(t)
	for c, want := range map[setup.CardMeasures]string{
		{Bar: 210, Thickness: 0.2, BaseTop: 4}: "print at 100 %",
		{Bar: 220, Thickness: -1, BaseTop: 4}:  "expected 0 to 20 mm, got -1",
		{Bar: 220, Thickness: 1, BaseTop: 400}: "expected 0 to 50 mm, got 400",
	} {
		_, err := b.m.Do(setup.Intent{Do: setup.Measure, Card: c})
		assert.ErrorContains(t, err, want)
	}
	b.do(setup.Intent{Do: setup.Go, Step: setup.Lens})
	b.refuses(setup.Intent{Do: setup.Measure, Card: measured}, "step of verification")
}

func TestAVerificationBelongsToASavedTable(t *testing.T) {
	b := tableStep(t)
	for range 12 {
		b.show(b.markers())
	}
	b.do(setup.Intent{Do: setup.Go, Step: setup.Verify})
	b.do(setup.Intent{Do: setup.Measure, Card: measured})
	b.layAround(1)
	require.NotEmpty(t, b.m.State().Verify.Places)
	b.refuses(setup.Intent{Do: setup.Save}, "Save the table first")
}
