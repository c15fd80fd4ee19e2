package tablesim

import (
	"context"
	"io/fs"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/verify"
	"sightline/engine"
	"sightline/engine/geom"
)

func open(t *testing.T, o Options) *Source {
	t.Helper()
	s, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestSpecs(t *testing.T) {
	for spec, want := range map[string]Options{
		"sim:":                       {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause},
		"sim:1280x720":               {Width: 1280, Height: 720, FPS: 5, Pause: DefaultPause},
		"sim:3840x2160,seed=7":       {Width: 3840, Height: 2160, FPS: 5, Pause: DefaultPause, Seed: 7},
		"sim:seed=7,fps=0.5,640x480": {Width: 640, Height: 480, FPS: 0.5, Pause: DefaultPause, Seed: 7},
		"sim:card=1":                 {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause, Card: true},
		"sim:jig":                    {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause, Jig: DefaultJigTime},
		"sim:jig=2":                  {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause, Jig: 2 * time.Second},
		"sim:huge=2":                 {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause, Huge: 2},
		"sim:mat=wood":               {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause, Mat: MatWood},
		"sim:fps=0":                  {Width: 1920, Height: 1080, Pause: DefaultPause},
		"sim:pause=4":                {Width: 1920, Height: 1080, FPS: 5, Pause: 4 * time.Second},
		"sim:still=1,learnt=0":       {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause, Still: true, Unlearnt: true},
		"sim:tilt=35:0":              {Width: 1920, Height: 1080, FPS: 5, Pause: DefaultPause, Tilt: &[2]geom.Angle{35 * geom.Degree, 0}},
	} {
		got, err := ParseSpec(spec)
		require.NoError(t, err, spec)
		again, err := ParseSpec((&Source{o: got}).String())
		require.NoError(t, err, "its name names it")
		assert.Equal(t, got, again, spec)
		got.rest = ""
		assert.Equal(t, want, got, spec)
	}
	for spec, want := range map[string]string{
		"/dev/video0":     "expected sim:",
		"sim:4":           "expected WIDTHxHEIGHT",
		"sim:axb":         "expected WIDTHxHEIGHT",
		"sim:seed=-1":     "seed: expected a whole number",
		"sim:fps=x":       "fps: expected a number",
		"sim:fps=-1":      "fps: expected 0",
		"sim:fps=NaN":     "fps: expected 0",
		"sim:card=yes":    "card: expected 1 or 0",
		"sim:pause=0":     "pause: expected 1 to 3600 seconds",
		"sim:still=yes":   "still: expected 1 or 0",
		"sim:learnt=":     "learnt: expected 1 or 0",
		"sim:1x1":         "size: expected 16x16",
		"sim:99999x99999": "size: expected",
		"sim:colour=red": "expected WIDTHxHEIGHT, seed=N, fps=F, board=BOARD, card=1, paper=SECONDS, jig=SECONDS, nudge=SECONDS:DEGREES, " +
			"tilt=X:Y, huge=N, pause=SECONDS, still=1, learnt=0, projector=FILE, mat=NAME, camera=NAME, gain=F, quality=N or tone=F",
		"sim:mat=felt":  "mat: expected one of stars, plain, dots, ice, white, wood, sand",
		"sim:huge=0":    "huge: expected 1 to 4 ships",
		"sim:huge=5":    "huge: expected 1 to 4 ships",
		"sim:huge=two":  "huge: expected 1 to 4 ships",
		"sim:tilt=35":   "tilt: expected two numbers",
		"sim:tilt=89:0": "tilt: no place from there shows the whole mat",
	} {
		_, err := ParseSpec(spec)
		assert.ErrorContains(t, err, want, spec)
	}
}

// With huge ships nothing moves: whoever tries them out wants to look at them.
func TestHugeShipsStandInPlaceOfTheGame(t *testing.T) {
	var c clock
	o := c.options(5)
	o.Width, o.Height, o.Huge = 640, 360, 2
	s, err := Open(o)
	require.NoError(t, err)
	defer s.Close()
	first, err := s.TruthAt(1)
	require.NoError(t, err)
	later, err := s.TruthAt(1000)
	require.NoError(t, err)
	assert.Equal(t, first.Scene.Ships, later.Scene.Ships)
	huge := map[engine.Base]int{}
	for _, ship := range first.Scene.Ships {
		huge[ship.Base]++
	}
	assert.Equal(t, 1, huge[engine.Huge195])
	assert.Equal(t, 1, huge[engine.Huge225])
	assert.Greater(t, len(first.Scene.Ships), 4, "and others to measure to")
}

// clock is a clock that sleeps at once.
type clock struct {
	now   time.Time
	slept time.Duration
}

func (c *clock) options(fps float64) Options {
	return Options{
		Width: 160, Height: 90, FPS: fps, Now: func() time.Time { return c.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.now, c.slept = c.now.Add(d), c.slept+d
			return ctx.Err()
		},
	}
}

func TestTheSourceKeepsItsFrameRate(t *testing.T) {
	c := &clock{now: time.Unix(1000, 0)}
	s := open(t, c.options(4))
	for i := range 9 {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, uint64(i+1), f.Seq)
		assert.Equal(t, time.Unix(1000, 0).Add(time.Duration(i)*250*time.Millisecond), f.Captured)
	}
	// Behind by a second, it continues at once and does not hurry after.
	c.now, c.slept = c.now.Add(time.Second), 0
	_, err := s.Next(t.Context())
	require.NoError(t, err)
	assert.Zero(t, c.slept)
	_, err = s.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 250*time.Millisecond, c.slept)
}

func TestFramesShowTheirTruthAndTheGameLoops(t *testing.T) {
	s := open(t, Options{Width: 160, Height: 90})
	other := open(t, Options{Width: 160, Height: 90})
	n := uint64(scriptLength.Seconds()*DefaultFPS + 0.5)
	first, err := s.TruthAt(1)
	require.NoError(t, err)
	again, err := s.TruthAt(1 + n)
	require.NoError(t, err)
	assert.Equal(t, first, again)
	half, err := s.TruthAt(1 + n/2)
	require.NoError(t, err)
	assert.NotEqual(t, first.Ships, half.Ships)
	for range 30 {
		f, err := s.Next(t.Context())
		require.NoError(t, err)
		g, err := other.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, f.Gray.Pix, g.Gray.Pix, "the same options give the same game")
		truth, err := s.TruthAt(f.Seq)
		require.NoError(t, err)
		assert.Equal(t, s.table.Scene, truth.Scene)
	}
	_, err = s.TruthAt(0)
	assert.ErrorContains(t, err, "count from 1")
	assert.Equal(t, s.Camera().Intrinsics, s.Lens())
	assert.Len(t, s.Layout().Markers, 8)
}

func TestTheGameIsLegalAtRest(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	moved, hands := map[string]bool{}, 0
	start, _ := scriptAt(0)
	for ms := 0; ms < int(scriptLength.Milliseconds()); ms += 250 {
		s, h := scriptAt(time.Duration(ms) * time.Millisecond)
		hands += len(h)
		if len(h) == 0 {
			checkLegal(t, s, time.Duration(ms)*time.Millisecond)
		}
		for i := range s.Ships {
			if s.Ships[i].Pose != start.Ships[i].Pose {
				moved[s.Ships[i].ID] = true
			}
		}
	}
	assert.Len(t, moved, 5)
	assert.Greater(t, hands, 100)
	end, _ := scriptAt(scriptLength - time.Millisecond)
	for i := range end.Ships {
		assert.InDelta(t, 0, float64(end.Ships[i].Pose.Distance(start.Ships[i].Pose.Point)), 1e-9, end.Ships[i].ID)
		assert.InDelta(t, 0, float64((end.Ships[i].Pose.Heading - start.Ships[i].Pose.Heading).Signed()), 1e-9)
	}
	assert.InDelta(t, 90, scriptLength.Seconds(), 15, "a minute and a half")
}

// gap is the distance between two ships' bases by dense sampling, guides left out.
func gap(a, b engine.Ship) float64 {
	edge := func(s engine.Ship) (pts [][2]float64) {
		w, _ := s.Base.Size()
		h := float64(w) / 2
		f := frameOf(s.Pose)
		for i := range 801 {
			e := -h + 2*h*float64(i)/800
			for _, q := range [4][2]float64{{e, h}, {e, -h}, {h, e}, {-h, e}} {
				x, y := f.table(q[0], q[1])
				pts = append(pts, [2]float64{x, y})
			}
		}
		return pts
	}
	best := math.Inf(1)
	other := edge(b)
	for _, p := range edge(a) {
		for _, q := range other {
			best = min(best, math.Hypot(p[0]-q[0], p[1]-q[1]))
		}
	}
	return best
}

func TestTheGameBeginsWithTheInterestingPairs(t *testing.T) {
	s, _ := scriptAt(0)
	ship := map[string]engine.Ship{}
	for _, q := range s.Ships {
		ship[q.ID] = q
	}
	assert.InDelta(t, 150, gap(ship["A1"], ship["B1"]), 10, "A1–B1 is a clear range 2")
	assert.Less(t, gap(ship["A2"], ship["B2"]), 90.0, "A2–B2 is range 1")
	assert.InDelta(t, 0, ship["A2"].Pose.Inverse(ship["B2"].Pose.Point).X, 1, "B2 is in A2's bullseye")
	assert.InDelta(t, 100, gap(ship["A3"], ship["B3"]), 0.3, "A3–B3 is too close to call")
	assert.InDelta(t, 0, gap(ship["A4"], ship["B4"]), 0.06, "A4 and B4 touch")
	p, q := ship["A5"].Pose.Point, ship["B5"].Pose.Point
	rock := s.Obstacles[0].Pose
	near := math.Abs(q.Sub(p).Cross(rock.Sub(p))) / q.Sub(p).Norm()
	assert.Less(t, near, 20.0, "a rock lies between A5 and B5")
}

func TestTheSourceHeedsItsContextAndClose(t *testing.T) {
	s := open(t, Options{Width: 160, Height: 90, FPS: 0.001})
	_, err := s.Next(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = s.Next(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	time.AfterFunc(20*time.Millisecond, func() { _ = s.Close() })
	_, err = s.Next(t.Context())
	assert.ErrorIs(t, err, fs.ErrClosed)
	_, err = s.Next(t.Context())
	assert.ErrorIs(t, err, fs.ErrClosed)
	require.NoError(t, s.Close(), "twice")
	assert.Equal(t, "sim:160x90,seed=0", s.String())
	o, err := ParseSpec("sim:seed=2,still=1,160x90,tilt=-35:0,mat=wood,camera=webcam,gain=1.5")
	require.NoError(t, err)
	assert.Equal(t, "sim:160x90,seed=2,mat=wood,still=1,tilt=-35:0,camera=webcam,gain=1.5", open(t, o).String(), "no option is left out")
}

func TestTruthMayBeAskedWhileFramesAreMade(t *testing.T) {
	s := open(t, Options{Width: 160, Height: 90, Workers: 2})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range uint64(20) {
			_, err := s.TruthAt(i + 1)
			assert.NoError(t, err)
		}
	}()
	for range 30 {
		_, err := s.Next(t.Context())
		require.NoError(t, err)
	}
	<-done
}

func TestTheGameContinuesAfterTheCheckCard(t *testing.T) {
	c := &clock{}
	o := c.options(5)
	o.Width, o.Height = 320, 180
	s := open(t, o)
	before, err := s.Next(t.Context())
	require.NoError(t, err)
	card := LayCard(verify.DefaultCard(), pose(450, 450, 20), [2]geom.Length{0.2, 4.2})
	s.Lay(card...)
	laid, err := s.Next(t.Context())
	require.NoError(t, err)
	assert.Greater(t, meanDifference(before.Gray, laid.Gray), 3.0)
	truth, err := s.TruthAt(2)
	require.NoError(t, err)
	assert.Empty(t, truth.Ships, "the ships are put away")
	s.Lay()
	_, err = s.Next(t.Context())
	require.NoError(t, err)
	truth, err = s.TruthAt(3)
	require.NoError(t, err)
	assert.Len(t, truth.Ships, 10)
}

// The card lies still at each of its places long enough to be seen there, away from the
// ships, and is taken up between them.
func TestTheCheckCardGoesFromPlaceToPlace(t *testing.T) {
	c := &clock{now: time.Unix(1000, 0)}
	o := c.options(5)
	o.Card = true
	s := open(t, o)
	stay, gone := int(CardStay.Seconds()*5), int(CardGone.Seconds()*5)
	seq := uint64(0)
	for i := range 2 * len(CardPlaces) {
		for k := range stay + gone {
			seq++
			table := *s.table
			s.layCard(&table, seq)
			assert.Empty(t, table.Scene.Ships)
			if k >= stay {
				assert.Empty(t, table.Strips, "frame %d: it is being moved", seq)
				continue
			}
			require.Equal(t, LayCard(verify.DefaultCard(), CardPlaces[i%len(CardPlaces)], CardHeights), table.Strips)
		}
	}
	s.Lay()
	table := *s.table
	s.layCard(&table, 1)
	assert.Empty(t, table.Strips, "what Lay says counts more than the script")
	layout := s.Layout()
	for _, at := range CardPlaces { // every strip lies wholly on the mat
		for _, strip := range LayCard(verify.DefaultCard(), at, CardHeights) {
			for _, x := range [2]float64{-0.5, 0.5} {
				for _, y := range [2]float64{-0.5, 0.5} {
					p := strip.Pose.Transform(geom.Point{X: x * float64(strip.Strip.Width), Y: y * float64(strip.Strip.Height)})
					assert.True(t, p.X > 0 && p.Y > 0 && p.X < float64(layout.Width) && p.Y < float64(layout.Height), "%v", p)
				}
			}
		}
	}
}

// scriptLength is the length of the scripted game, which repeats.
var scriptLength = time.Duration(len(scriptManeuvers)) * (beatStill + beatHand)

// scriptAt returns the scene and the hands at a time of the full game.
func scriptAt(t time.Duration) (engine.Scene, []Hand) { return fullGame.at(t, beatStill) }
