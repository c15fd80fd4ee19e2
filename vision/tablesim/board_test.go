package tablesim

import (
	"image"
	"image/png"
	"math"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
)

func board(t testing.TB, spec string) calibration.Board {
	t.Helper()
	b, err := calibration.ParseBoard(spec)
	require.NoError(t, err)
	return b
}

// saddle finds a chessboard's corner near a place by the meaning of the word: the
// point about which the picture is symmetric under a half turn. It shares nothing with
// the renderer: it looks at grey values only.
func saddle(g *image.Gray, at geom.Pixel, reach float64) geom.Pixel {
	value := func(x, y float64) float64 {
		i, j := int(math.Floor(x)), int(math.Floor(y))
		u, v := x-float64(i), y-float64(j)
		p := func(a, b int) float64 { return float64(g.GrayAt(i+a, j+b).Y) }
		return (1-u)*(1-v)*p(0, 0) + u*(1-v)*p(1, 0) + (1-u)*v*p(0, 1) + u*v*p(1, 1)
	}
	cost := func(c geom.Pixel) (sum float64) {
		for dy := -reach; dy <= reach; dy += 0.5 {
			for dx := 0.25; dx <= reach; dx += 0.5 {
				d := value(c.X+dx, c.Y+dy) - value(c.X-dx, c.Y-dy)
				sum += d * d
			}
		}
		return sum
	}
	best := at
	for step := 0.5; step > 0.005; step /= 2 {
		for moved := true; moved; {
			moved = false
			for _, d := range []geom.Pixel{{X: step}, {X: -step}, {Y: step}, {Y: -step}} {
				if n := best.Add(d); cost(n) < cost(best) {
					best, moved = n, true
				}
			}
		}
	}
	return best
}

func TestAHeldBoardAppearsWhereTheLensPutsIt(t *testing.T) {
	for _, spec := range []string{"chessboard:9x6:25mm", "charuco:9x6:25mm:15mm"} {
		for _, g := range []Grip{
			{U: 0.5, V: 0.5, Share: 0.4},
			{U: 0.25, V: 0.3, Share: 0.3, TiltX: -25 * geom.Degree, TiltY: 20 * geom.Degree, Roll: 5 * geom.Degree},
			{U: 0.78, V: 0.72, Share: 0.3, TiltX: 20 * geom.Degree, TiltY: -30 * geom.Degree, Roll: 170 * geom.Degree},
		} {
			table := scriptTable(Options{Width: 960, Height: 540, Seed: 3})
			held, err := g.Hold(table.Camera.Intrinsics, board(t, spec))
			require.NoError(t, err)
			table.Board = &held
			f, truth, err := table.Render()
			require.NoError(t, err)
			require.Len(t, truth.Board.Corners, 54)
			var sum geom.Pixel
			for i, c := range truth.Board.Corners {
				// The calibration's own camera model is the independent witness.
				o := held.Board.Points()[i]
				q := held.Pose.Camera(calibration.Vec3{o.X, o.Y, 0})
				want := table.Camera.Intrinsics.Project(q[0]/q[2], q[1]/q[2])
				assert.Less(t, want.Sub(c).Norm(), 1e-9)
				d := saddle(f.Gray, c, 3).Sub(c)
				assert.Less(t, d.Norm(), 0.3, "%s corner %d", spec, i)
				sum = sum.Add(d)
			}
			assert.Less(t, sum.Norm()/54, 0.02, "%s %+v: the corners' mean error in px", spec, g)
			if dir := os.Getenv("BOARD_PNG"); dir != "" {
				w, err := os.Create(dir + "/" + spec[:5] + ".png")
				require.NoError(t, err)
				require.NoError(t, png.Encode(w, f.Color))
				require.NoError(t, w.Close())
			}
		}
	}
}

func TestTheBackOfABoardIsBlank(t *testing.T) {
	table := scriptTable(Options{Width: 480, Height: 270, Seed: 3})
	held, err := Grip{U: 0.5, V: 0.5, Share: 0.4, TiltY: 180 * geom.Degree}.Hold(table.Camera.Intrinsics, board(t, "9x6:25mm"))
	require.NoError(t, err)
	table.Board = &held
	f, _, err := table.Render()
	require.NoError(t, err)
	lo, hi := 255, 0
	for y := 120; y < 150; y++ {
		for x := 200; x < 280; x++ {
			v := int(f.Gray.GrayAt(x, y).Y)
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	assert.Less(t, hi-lo, 60, "grey from %d to %d: a print would go from black to white", lo, hi)
}

func TestAHeldBoardHidesWhatIsUnderIt(t *testing.T) {
	table := scriptTable(Options{Width: 480, Height: 270, Seed: 3})
	_, before, err := table.Render()
	require.NoError(t, err)
	held, err := Grip{U: 0.5, V: 0.5, Share: 0.6}.Hold(table.Camera.Intrinsics, board(t, "9x6:25mm"))
	require.NoError(t, err)
	table.Board = &held
	_, after, err := table.Render()
	require.NoError(t, err)
	hidden := 0
	for i := range before.Ships {
		if before.Ships[i].Visible > 0.5 && after.Ships[i].Visible == 0 {
			hidden++
		}
	}
	assert.GreaterOrEqual(t, hidden, 3)
}

func TestInvalidHeldBoards(t *testing.T) {
	lens := DefaultCamera(960, 540).Intrinsics
	_, err := Grip{U: 0.5, V: 0.5}.Hold(lens, board(t, "9x6:25mm"))
	assert.ErrorContains(t, err, "share of the picture: expected more than 0")

	table := scriptTable(Options{Width: 64, Height: 36})
	held, err := Grip{U: 0.5, V: 0.5, Share: 0.5}.Hold(table.Camera.Intrinsics, board(t, "9x6:25mm"))
	require.NoError(t, err)
	held.Pose.T[2] = 0
	table.Board = &held
	_, _, err = table.Render()
	assert.ErrorContains(t, err, "expected all of it at least 30 mm before the camera")
	held.Board.Cols = 1
	_, _, err = table.Render()
	assert.ErrorContains(t, err, "inner corners 1x6")
}

// The scripted hands must do what they are there for: hold still at every stop, with
// the whole board in the picture, and lay it away at the end.
func TestTheScriptedHandsHoldTheBoardWhollyInThePicture(t *testing.T) {
	b := board(t, "9x6:25mm")
	lens, err := newLens(DefaultCamera(1920, 1080))
	require.NoError(t, err)
	in := DefaultCamera(1920, 1080).Intrinsics
	for i := range BoardStops() {
		start := time.Duration(i) * (boardRest + boardMove)
		first, ok := gripAt(start)
		require.True(t, ok)
		last, _ := gripAt(start + boardRest)
		assert.Equal(t, first, last, "stop %d: the board is not still", i)
		held, err := first.Hold(in, b)
		require.NoError(t, err)
		for _, c := range (witness{lens: lens}).boardTruth(held).Corners {
			assert.True(t, c.X > 20 && c.Y > 20 && c.X < 1900 && c.Y < 1060, "stop %d: a corner is at %.0f", i, c)
		}
		moving, _ := gripAt(start + boardRest + boardMove/2)
		if i < len(BoardStops())-1 {
			assert.NotEqual(t, first, moving)
		}
	}
	_, ok := gripAt(BoardLength - time.Second)
	assert.False(t, ok)
	again, _ := gripAt(BoardLength)
	assert.Equal(t, BoardStops()[0], again)
}

func TestTheSourceHoldsABoardByScriptAndByHand(t *testing.T) {
	o, err := ParseSpec("sim:320x180,fps=5,board=charuco:5x4:30mm:20mm")
	require.NoError(t, err)
	require.NotNil(t, o.Board)
	c := &clock{}
	co := c.options(5)
	co.Width, co.Height, co.Board = 320, 180, o.Board
	s := open(t, co)
	first, err := s.TruthAt(1)
	require.NoError(t, err)
	require.NotNil(t, first.Board)
	assert.Len(t, first.Board.Corners, 20)
	a, err := s.Next(t.Context())
	require.NoError(t, err)

	s.Hold(nil)
	b, err := s.Next(t.Context())
	require.NoError(t, err)
	assert.Greater(t, meanDifference(a.Gray, b.Gray), 5.0, "the board went")
	truth, err := s.TruthAt(2)
	require.NoError(t, err)
	assert.Nil(t, truth.Board)

	held, err := Grip{U: 0.3, V: 0.6, Share: 0.3}.Hold(s.Lens(), *o.Board)
	require.NoError(t, err)
	s.Hold(&held)
	d, err := s.Next(t.Context())
	require.NoError(t, err)
	assert.Greater(t, meanDifference(b.Gray, d.Gray), 3.0, "it is back, elsewhere")

	_, err = ParseSpec("sim:board=chessboard:9x6")
	assert.ErrorContains(t, err, `board "chessboard:9x6": expected chessboard:COLSxROWS:SQUARE`)
}

func meanDifference(a, b *image.Gray) float64 {
	sum := 0.0
	for i := range a.Pix {
		sum += math.Abs(float64(a.Pix[i]) - float64(b.Pix[i]))
	}
	return sum / float64(len(a.Pix))
}

// A board in the air redraws about a third of the picture; it must not make the
// simulated camera slower than its five frames a second at 720p.
func BenchmarkNextWithABoard(b *testing.B) {
	spec := board(b, "9x6:25mm")
	s, err := Open(Options{Width: 1280, Height: 720, Board: &spec})
	require.NoError(b, err)
	defer s.Close()
	for b.Loop() {
		if _, err := s.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
