package lens_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/engine/geom"
)

// holder is somebody who holds the board before a simulated camera and does what the
// guide says: it moves there in a few frames, rests, and moves on.
type holder struct {
	lens  calibration.Intrinsics
	board calibration.Board
	rng   *rand.Rand
	noise float64
	at    time.Time
	pose  calibration.Extrinsics
	frame int
}

func newHolder(intrinsics calibration.Intrinsics, seed uint64) *holder {
	h := &holder{lens: intrinsics, board: testBoard, rng: rand.New(rand.NewPCG(seed, 1)), noise: 0.1, at: time.Unix(1e9, 0)}
	h.pose = h.hold(lens.GuideTarget{Col: -1, Row: -1})
	return h
}

// hold returns the pose that a target asks for.
func (h *holder) hold(t lens.GuideTarget) calibration.Extrinsics {
	tilt := [2]float64{0.06 * h.rng.NormFloat64(), 0.06 * h.rng.NormFloat64()} // about x, about y
	if t.Tilted {
		a := 0.55 + 0.1*h.rng.Float64()
		switch t.Tilt { // z grows with x by -tan of the turn about y
		case lens.Left:
			tilt[1] = -a
		case lens.Right:
			tilt[1] = a
		case lens.Top:
			tilt[0] = a
		case lens.Bottom:
			tilt[0] = -a
		}
	} else if t.Turn {
		tilt[0], tilt[1] = 0.5*h.rng.NormFloat64(), 0.5*h.rng.NormFloat64()
	}
	span := 0.5
	switch {
	case t.Near:
		span = 0.68
	case t.Far:
		span = 0.33
	}
	turn := 0.1 * h.rng.NormFloat64()
	if t.Turn {
		turn = math.Pi / 2
	}
	w, ht := float64(h.lens.Width), float64(h.lens.Height)
	z := h.lens.Fx * 200 / (span * w)
	z = max(z, h.lens.Fy*125/(0.75*ht))
	e := boardPose(tilt[0], tilt[1], turn, 0, 0, z)
	// Bring the corner of the board that lies furthest that way to the cell's middle,
	// and keep one square's margin to the picture's edges.
	want := geom.Pixel{X: w / 2, Y: ht / 2}
	if t.Col >= 0 {
		want = geom.Pixel{X: (float64(t.Col) + 0.5) / lens.GuideCols * w, Y: (float64(t.Row) + 0.5) / lens.GuideRows * ht}
	}
	for range 8 {
		lo, hi := h.box(e)
		anchor := func(lo, hi, want, size float64) float64 {
			from := (lo + hi) / 2
			switch {
			case want < 0.3*size:
				from = lo
			case want > 0.7*size:
				from = hi
			}
			return want - from
		}
		d := geom.Pixel{X: anchor(lo.X, hi.X, want.X, w), Y: anchor(lo.Y, hi.Y, want.Y, ht)}
		e.T[0] += d.X * e.T[2] / h.lens.Fx
		e.T[1] += d.Y * e.T[2] / h.lens.Fy
	}
	return e
}

func (h *holder) box(e calibration.Extrinsics) (lo, hi geom.Pixel) {
	lo, hi = geom.Pixel{X: math.Inf(1), Y: math.Inf(1)}, geom.Pixel{X: math.Inf(-1), Y: math.Inf(-1)}
	for _, p := range h.board.Points() {
		q := e.Camera(calibration.Vec3{p.X, p.Y, 0})
		px := h.lens.Project(q[0]/q[2], q[1]/q[2])
		lo = geom.Pixel{X: min(lo.X, px.X), Y: min(lo.Y, px.Y)}
		hi = geom.Pixel{X: max(hi.X, px.X), Y: max(hi.Y, px.Y)}
	}
	return lo, hi
}

// see is the next frame, a tenth of a second later.
func (h *holder) see(e calibration.Extrinsics) calibration.BoardSighting {
	h.frame++
	h.at = h.at.Add(100 * time.Millisecond)
	s := calibration.BoardSighting{Name: fmt.Sprintf("frame %d", h.frame), At: h.at, EdgeWidth: 2.2, Contrast: 140}
	for _, p := range h.board.Points() {
		q := e.Camera(calibration.Vec3{p.X, p.Y, 0})
		px := h.lens.Project(q[0]/q[2], q[1]/q[2])
		if !h.lens.Contains(px) {
			s.Pixels = nil
			return s
		}
		s.Pixels = append(s.Pixels, px.Add(geom.Pixel{X: h.noise * h.rng.NormFloat64(), Y: h.noise * h.rng.NormFloat64()}))
	}
	if h.frame%2 == 0 { // the detector may count from the other end
		for i, j := 0, len(s.Pixels)-1; i < j; i, j = i+1, j-1 {
			s.Pixels[i], s.Pixels[j] = s.Pixels[j], s.Pixels[i]
		}
	}
	return s
}

func newGuide(t *testing.T, intrinsics calibration.Intrinsics, o lens.GuideOptions) *lens.Guide {
	t.Helper()
	g, err := lens.NewGuide(testBoard, intrinsics.Width, intrinsics.Height, o)
	require.NoError(t, err)
	return g
}

// follow lets the holder do what the guide says until it is enough; it returns the
// number of frames.
func follow(t *testing.T, g *lens.Guide, h *holder, log bool) int {
	t.Helper()
	for h.frame < 3000 && !g.State().Enough {
		target := h.hold(g.State().Target)
		from := h.pose
		for i := range 4 { // on the way
			k := float64(i) / 4
			e := target
			for a := range 3 {
				e.T[a] = (1-k)*from.T[a] + k*target.T[a]
			}
			step := g.Offer(h.see(e))
			assert.NotEqual(t, lens.GuideTaken, step.Outcome, "a moving board was taken")
		}
		h.pose = target
		for range 6 { // resting
			if step := g.Offer(h.see(target)); step.Outcome == lens.GuideTaken && log {
				s := g.State()
				t.Logf("%3d: view %d adds %s; next: %s; sigma %+v", h.frame, s.Views, step.Added, s.Advice, s.Sigma)
			}
		}
	}
	return h.frame
}

func TestWhoeverDoesWhatTheGuideSaysGetsALens(t *testing.T) {
	wide := trueLens()
	wide.Width, wide.Height, wide.Fx, wide.Fy, wide.Cx, wide.Cy = 1920, 1080, 1300, 1302, 970, 533
	wide.Distortion = [5]float64{-0.25, 0.07, 0, 0, 0}
	tele := trueLens()
	tele.Width, tele.Height, tele.Fx, tele.Fy, tele.Cx, tele.Cy = 1920, 1440, 2900, 2890, 950, 730
	tele.Distortion = [5]float64{0.05, -0.1, 0, 0, 0}
	for name, intrinsics := range map[string]calibration.Intrinsics{"usual": trueLens(), "wide": wide, "tele": tele} {
		g := newGuide(t, intrinsics, lens.GuideOptions{})
		frames := follow(t, g, newHolder(intrinsics, 3), testing.Verbose())
		s := g.State()
		require.True(t, s.Enough, "%s: %s", name, s.Advice)
		t.Logf("%s: %d views of %d frames, sigma %+v", name, s.Views, frames, s.Sigma)
		assert.LessOrEqual(t, s.Views, 25, name)
		assert.GreaterOrEqual(t, s.Covered, 0.85, name)
		assert.Equal(t, [4]bool{true, true, true, true}, s.Tilts, name)
		assert.NoError(t, g.Check())
	}
}

// rest offers a resting board until something other than "moving" comes of it.
func rest(g *lens.Guide, h *holder, e calibration.Extrinsics, change func(*calibration.BoardSighting)) lens.GuideStep {
	var step lens.GuideStep
	for range 12 {
		s := h.see(e)
		if change != nil {
			change(&s)
		}
		if step = g.Offer(s); step.Outcome != lens.GuideMoving {
			break
		}
	}
	return step
}

func TestABoardMustRestBeforeItIsTaken(t *testing.T) {
	intrinsics := trueLens()
	h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
	e := h.pose
	for i := range 30 { // 3 px a frame, for three seconds
		e.T[0] += 1.2 * float64(1-i%2*2) * 2
		step := g.Offer(h.see(e))
		require.Equal(t, lens.GuideMoving, step.Outcome, "frame %d", i)
		assert.Equal(t, "hold the board still", step.Reason)
	}
	start := h.frame
	for g.Offer(h.see(e)).Outcome == lens.GuideMoving {
	}
	assert.Equal(t, 1, g.State().Views)
	assert.InDelta(t, 5, h.frame-start, 1, "taken after 0.4 s")

	// A source that gives one frame a second has a board at rest with the second one.
	g = newGuide(t, intrinsics, lens.GuideOptions{})
	h.at = h.at.Add(time.Second)
	require.Equal(t, lens.GuideMoving, g.Offer(h.see(e)).Outcome)
	h.at = h.at.Add(time.Second)
	require.Equal(t, lens.GuideTaken, g.Offer(h.see(e)).Outcome)
}

func TestABadSightingIsTurnedDownWithItsReason(t *testing.T) {
	intrinsics := trueLens()
	for _, c := range []struct {
		name    string
		change  func(*calibration.BoardSighting)
		outcome lens.GuideOutcome
		reason  string
	}{
		{"no board", func(s *calibration.BoardSighting) { s.Pixels = nil }, lens.GuideNotFound, "not in the picture"},
		{"no board, and the detector knows why", func(s *calibration.BoardSighting) { s.Pixels, s.Reason = nil, "it is upside down" },
			lens.GuideNotFound, "it is upside down"},
		{"out of focus", func(s *calibration.BoardSighting) { s.EdgeWidth = 9 }, lens.GuideBlurred, "9.0 px wide"},
		{"dark", func(s *calibration.BoardSighting) { s.Contrast = 12 }, lens.GuideDim, "12 grey levels"},
		{"another board", func(s *calibration.BoardSighting) { s.Pixels = s.Pixels[:50] }, lens.GuideInvalid, "50 corners, the board has 54"},
		{"indices that run backwards", func(s *calibration.BoardSighting) {
			s.Pixels, s.Indices = s.Pixels[:4], []int{3, 2, 1, 0}
		}, lens.GuideInvalid, "rising"},
		{"one row of the board", func(s *calibration.BoardSighting) {
			s.Pixels, s.Indices = s.Pixels[:5], []int{0, 1, 2, 3, 4}
			for i := range s.Pixels {
				s.Pixels[i].Y = 200
			}
		}, lens.GuideInvalid, "too little"},
		{"a corner that lies nowhere", func(s *calibration.BoardSighting) { s.Pixels[3].X = math.NaN() }, lens.GuideInvalid, "nowhere"},
	} {
		h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
		step := rest(g, h, h.pose, c.change)
		assert.Equal(t, c.outcome, step.Outcome, c.name)
		assert.Contains(t, step.Reason, c.reason, c.name)
		assert.Zero(t, g.State().Views, c.name)
	}
}

func TestTheSameViewIsTakenOnce(t *testing.T) {
	intrinsics := trueLens()
	h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
	require.Equal(t, lens.GuideTaken, rest(g, h, h.pose, nil).Outcome)
	step := rest(g, h, h.pose, nil)
	assert.Equal(t, lens.GuideNothingNew, step.Outcome)
	assert.Contains(t, step.Reason, g.State().Advice)
}

func TestABentBoardDisagrees(t *testing.T) {
	intrinsics := trueLens()
	h, g := newHolder(intrinsics, 5), newGuide(t, intrinsics, lens.GuideOptions{MaxMatSigma: 0.001})
	for g.State().Views < 9 {
		e := h.hold(g.State().Target)
		rest(g, h, e, nil)
		require.Less(t, h.frame, 1000)
	}
	step := rest(g, h, h.hold(g.State().Target), func(s *calibration.BoardSighting) {
		for i := range s.Pixels {
			d := float64(i%9) - 4
			s.Pixels[i].Y += 0.8 * d * d
		}
	})
	assert.Equal(t, lens.GuideDisagrees, step.Outcome)
	assert.Contains(t, step.Reason, "flat")
	assert.Equal(t, 9, g.State().Views)
}

func TestBoardsThatAreAllParallelAreNeverEnough(t *testing.T) {
	intrinsics := trueLens()
	h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
	for r := range 6 {
		for c := range 8 {
			rest(g, h, h.hold(lens.GuideTarget{Col: c, Row: r, Far: true}), nil)
		}
	}
	s := g.State()
	assert.Greater(t, s.Views, 5)
	assert.False(t, s.Enough)
	assert.True(t, s.Target.Tilted)
	assert.Contains(t, s.Advice, "towards the camera")
	assert.ErrorContains(t, g.Check(), "not enough views yet")
}

func TestPicturesInOneCornerAreNeverEnough(t *testing.T) {
	intrinsics := trueLens()
	h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
	for i := range 20 {
		rest(g, h, h.hold(lens.GuideTarget{Col: 0, Row: 0, Far: true, Tilted: true, Tilt: lens.Side(i % 4)}), nil)
	}
	s := g.State()
	assert.False(t, s.Enough)
	assert.Contains(t, s.Advice, "to the bottom right corner of the picture")
	assert.Equal(t, [2]int{lens.GuideCols - 1, lens.GuideRows - 1}, [2]int{s.Target.Col, s.Target.Row})
}

func TestTheNamedSideIsTheOneNearerToTheCamera(t *testing.T) {
	intrinsics := trueLens()
	for side := lens.Left; side <= lens.Bottom; side++ {
		h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
		e := h.hold(lens.GuideTarget{Col: -1, Tilted: true, Tilt: side})
		require.Equal(t, lens.GuideTaken, rest(g, h, e, nil).Outcome)
		want := [4]bool{}
		want[side] = true
		assert.Equal(t, want, g.State().Tilts, "%v", side)
		// The proof: the middle of that side of the board is less far.
		first, last := e.Camera(calibration.Vec3{0, 62.5, 0}), e.Camera(calibration.Vec3{200, 62.5, 0})
		if side == lens.Top || side == lens.Bottom {
			first, last = e.Camera(calibration.Vec3{100, 0, 0}), e.Camera(calibration.Vec3{100, 125, 0})
		}
		assert.Equal(t, side == lens.Left || side == lens.Top, first[2] < last[2], "%v", side)
	}
}

func TestTheSameSightingsGiveTheSameAnswers(t *testing.T) {
	run := func() (out []string) {
		h, g := newHolder(trueLens(), 9), newGuide(t, trueLens(), lens.GuideOptions{})
		for h.frame < 150 {
			step := g.Offer(h.see(h.pose))
			out = append(out, fmt.Sprintf("%v %s %s %s", step.Outcome, step.Reason, step.Added, g.State().Advice))
			if step.Outcome != lens.GuideMoving {
				h.pose = h.hold(g.State().Target)
			}
		}
		return out
	}
	assert.Equal(t, run(), run())
}

func TestAPartOfTheBoardIsAView(t *testing.T) {
	intrinsics := trueLens()
	h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
	step := rest(g, h, h.pose, func(s *calibration.BoardSighting) {
		if h.frame%2 == 0 { // see counts every second one from the other end
			for i, j := 0, len(s.Pixels)-1; i < j; i, j = i+1, j-1 {
				s.Pixels[i], s.Pixels[j] = s.Pixels[j], s.Pixels[i]
			}
		}
		var px []geom.Pixel
		for i, p := range s.Pixels {
			if i%9 < 4 {
				px, s.Indices = append(px, p), append(s.Indices, i)
			}
		}
		s.Pixels = px
	})
	require.Equal(t, lens.GuideTaken, step.Outcome, step.Reason)
	require.Len(t, g.Views(), 1)
	assert.Len(t, g.Views()[0].Indices, 24)
}

func TestAGuideWantsABoardAndAPicture(t *testing.T) {
	_, err := lens.NewGuide(calibration.Board{}, 640, 480, lens.GuideOptions{})
	assert.ErrorContains(t, err, "board")
	_, err = lens.NewGuide(testBoard, 0, 480, lens.GuideOptions{})
	assert.ErrorContains(t, err, "0×480")
}

func TestChosenPicturesAreAddedAtOnce(t *testing.T) {
	intrinsics := trueLens()
	h, g := newHolder(intrinsics, 1), newGuide(t, intrinsics, lens.GuideOptions{})
	assert.Equal(t, lens.GuideTaken, g.Add(h.see(h.pose)).Outcome)
	assert.Equal(t, lens.GuideTaken, g.Add(h.see(h.pose)).Outcome)
	assert.Equal(t, 2, g.State().Views)
	assert.Equal(t, lens.GuideNotFound, g.Add(calibration.BoardSighting{Name: "empty"}).Outcome)
}

// BenchmarkGuideOffer is one frame of a capture that has 15 views. Budget: 20 ms, a
// fifth of a frame at 10 frames a second.
func BenchmarkGuideOffer(b *testing.B) {
	intrinsics := trueLens()
	h := newHolder(intrinsics, 5)
	g, err := lens.NewGuide(testBoard, intrinsics.Width, intrinsics.Height, lens.GuideOptions{MaxMatSigma: 0.001})
	if err != nil {
		b.Fatal(err)
	}
	for g.State().Views < 15 {
		rest(g, h, h.hold(g.State().Target), nil)
	}
	s := h.see(h.hold(g.State().Target))
	b.ResetTimer()
	for range b.N {
		g.Offer(s)
	}
}
