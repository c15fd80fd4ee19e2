package watch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/watch"
	"sightline/engine/geom"
)

// A watchBench shows a watch the markers of a true camera, ten pictures a second,
// with the noise of pictures: each corner's own, and a slow drift of each marker as
// changing light makes it.
type watchBench struct {
	t      *testing.T
	rng    *rand.Rand
	layout calibration.Layout
	camera calibration.Camera // the true one, now
	noise  float64            // px, per corner and axis
	drift  float64            // px, per marker and axis, over a minute
	hidden []int              // ids under hands
	shifts map[int]geom.Point // of single markers on the table, mm
	glints float64            // how often a marker is disturbed in a picture, by up to a pixel
	frame  int
	phase  map[int][4]float64
	watch  *watch.Monitor
	table  calibration.Table
}

func watchRig(rng *rand.Rand, width, height int) calibration.Camera {
	focal := float64(width) * (0.55 + 0.25*rng.Float64())
	c := calibration.Camera{Intrinsics: calibration.Intrinsics{Width: width, Height: height, Fx: focal, Fy: focal * 1.001,
		Cx: float64(width)/2 + 10*rng.NormFloat64(), Cy: float64(height)/2 + 10*rng.NormFloat64(),
		Distortion: [5]float64{-0.05 * rng.Float64()}}}
	// The mat and its markers, 1030 mm, fill nine tenths of the height.
	distance := focal * 1030 / (0.9 * float64(height))
	tilt := 15 * math.Pi / 180 * rng.Float64()
	dir := 2 * math.Pi * rng.Float64()
	down := [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}
	c.R = calibration.MulMat3(calibration.RotationFromVector(calibration.Vec3{tilt * math.Cos(dir), tilt * math.Sin(dir), 0}), down)
	middle := calibration.Vec3{457.2, 457.2, 0}
	q := c.Camera(middle)
	c.T = calibration.Vec3{-q[0], -q[1], distance - q[2]}
	return c
}

func newWatchBench(t *testing.T, seed uint64) *watchBench {
	rng := rand.New(rand.NewPCG(seed, 77))
	b := &watchBench{t: t, rng: rng, layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), noise: 0.05, drift: 0.02,
		shifts: map[int]geom.Point{}, phase: map[int][4]float64{}}
	b.camera = watchRig(rng, 1920, 1080)
	if seed%3 == 2 {
		b.camera = watchRig(rng, 3840, 2160)
	}
	for _, m := range b.layout.Markers {
		b.phase[m.ID] = [4]float64{7 * rng.Float64(), 7 * rng.Float64(), 300 + 600*rng.Float64(), 300 + 600*rng.Float64()}
	}
	b.register()
	return b
}

// register registers again from what the camera shows now.
func (b *watchBench) register() {
	var err error
	seen := b.sightings()
	b.table, err = calibration.Register(b.camera.Intrinsics, b.layout, seen)
	require.NoError(b.t, err)
	b.watch = watch.NewMonitor(b.table, seen)
}

func (b *watchBench) sightings() (out []calibration.MarkerSighting) {
	for _, m := range b.layout.Markers {
		if slices.Contains(b.hidden, m.ID) {
			continue
		}
		moved := m
		moved.Center = m.Center.Add(b.shifts[m.ID])
		ph := b.phase[m.ID]
		drift := geom.Pixel{X: b.drift * math.Sin(ph[0]+float64(b.frame)/ph[2]), Y: b.drift * math.Sin(ph[1]+float64(b.frame)/ph[3])}
		noise := b.noise
		if b.rng.Float64() < b.glints { // glare, a sleeve's edge, an insect
			noise *= 4
			drift = drift.Add(geom.Pixel{X: 2*b.rng.Float64() - 1, Y: 2*b.rng.Float64() - 1})
		}
		s := calibration.MarkerSighting{ID: m.ID}
		for i, p := range moved.Corners() {
			px, ok := b.camera.PixelOf(p, m.Z)
			require.True(b.t, ok)
			s.Corners[i] = px.Add(drift).Add(geom.Pixel{X: noise * b.rng.NormFloat64(), Y: noise * b.rng.NormFloat64()})
		}
		out = append(out, s)
	}
	return out
}

func (b *watchBench) picture() watch.Verdict {
	b.frame++
	return b.watch.Update(time.Unix(1700000000, 0).Add(time.Duration(b.frame)*100*time.Millisecond), b.sightings())
}

// pictures returns the verdict on the last of n pictures.
func (b *watchBench) pictures(n int) (v watch.Verdict) {
	for range n {
		v = b.picture()
	}
	return v
}

// turn turns the camera about its centre, in degrees, about its own axes.
func (b *watchBench) turn(x, y, z float64) {
	const deg = math.Pi / 180
	r := calibration.RotationFromVector(calibration.Vec3{x * deg, y * deg, z * deg})
	b.camera.R = calibration.MulMat3(r, b.camera.R)
	t := b.camera.T
	for i := range 3 {
		b.camera.T[i] = r[i][0]*t[0] + r[i][1]*t[1] + r[i][2]*t[2]
	}
}

// until returns after how many pictures, of at most n, a state is reached; 0: never.
func (b *watchBench) until(n int, states ...watch.State) int {
	for i := range n {
		if slices.Contains(states, b.picture().State) {
			return i + 1
		}
	}
	return 0
}

func TestTenThousandQuietPicturesGiveNoAlarm(t *testing.T) {
	pictures := 10000
	if testing.Short() {
		pictures = 500
	}
	for seed, noise := range []float64{0.004, 0.05, 0.1, 0.2} {
		b := newWatchBench(t, uint64(seed))
		b.noise = noise
		b.register()
		var most geom.Length
		for i := range pictures {
			v := b.picture()
			require.Equal(t, watch.OK, v.State, "picture %d at noise %v: %+v", i, noise, v)
			require.False(t, v.Doubt, "picture %d at noise %v: %+v", i, noise, v)
			most = max(most, v.Shift)
		}
		t.Logf("noise %.3f px: %d pictures, no alarm; a step of at most %.3f mm was suspected", noise, pictures, most.Millimeters())
	}
}

func TestSingleMarkersThatAreDisturbedGiveNoAlarm(t *testing.T) {
	pictures := 10000
	if testing.Short() {
		pictures = 2000
	}
	b := newWatchBench(t, 30)
	b.glints = 0.02
	doubts := 0
	for i := range pictures {
		v := b.picture()
		require.Contains(t, []watch.State{watch.OK, watch.Covered}, v.State, "picture %d: %+v", i, v)
		if v.Doubt {
			doubts++
		}
	}
	t.Logf("every 50th marker of %d pictures disturbed: no alarm, %d pictures that answer nothing", pictures, doubts)
	assert.Less(t, doubts, pictures/500)
}

func TestANudgeIsNoticedWithinASecond(t *testing.T) {
	rigs := 300
	if testing.Short() {
		rigs = 20
	}
	for _, degrees := range []float64{0.05, 0.02, 0.01} {
		noticed, settled, worst := 0, 0, 0
		for seed := range rigs {
			b := newWatchBench(t, 100+uint64(seed))
			require.Equal(t, watch.OK, b.pictures(15).State)
			axis := calibration.Vec3{b.rng.NormFloat64(), b.rng.NormFloat64(), b.rng.NormFloat64()}
			n := math.Sqrt(axis[0]*axis[0] + axis[1]*axis[1] + axis[2]*axis[2])
			b.turn(degrees*axis[0]/n, degrees*axis[1]/n, degrees*axis[2]/n)
			if degrees == 0.05 {
				require.True(t, b.picture().Doubt, "rig %d: the first picture answers nothing", seed)
			}
			if k := b.until(10, watch.Moved, watch.Settled); k > 0 {
				noticed++
				worst = max(worst, k)
				if b.until(10, watch.Settled) > 0 {
					settled++
				}
			}
		}
		t.Logf("%.2f°: noticed in %d of %d rigs within 10 pictures, at worst after %d; %d settled", degrees, noticed, rigs, worst, settled)
		if degrees == 0.05 {
			assert.Equal(t, rigs, noticed)
			assert.Equal(t, rigs, settled)
			assert.LessOrEqual(t, worst, 4)
		}
	}
}

func TestAKickIsNoticedAndComesToRest(t *testing.T) {
	b := newWatchBench(t, 1)
	b.pictures(15)
	for i := range 6 { // it swings
		b.turn(0.5*math.Cos(float64(i)), 0.4*math.Sin(float64(i)), 0)
		v := b.picture()
		if i > 0 {
			assert.Equal(t, watch.Moved, v.State, "picture %d", i)
		}
	}
	assert.Equal(t, 3, b.until(10, watch.Settled), "as soon as it hangs still")
	b.register()
	assert.Equal(t, watch.OK, b.pictures(50).State, "and all is well after registering again")
}

func TestACameraThatSwingsBackNeedsNoRegistration(t *testing.T) {
	b := newWatchBench(t, 2)
	b.pictures(30)
	at := b.camera
	for i := range 10 {
		b.camera = at
		b.turn(0.3*math.Sin(float64(i)), 0.2*math.Cos(2*float64(i)), 0)
		assert.NotEqual(t, watch.Settled, b.picture().State)
	}
	b.camera = at
	assert.Positive(t, b.until(4, watch.OK))
	assert.Equal(t, watch.OK, b.pictures(50).State)
}

func TestABumpedMarkerIsNamedAndAnswersGoOn(t *testing.T) {
	rigs := 200
	if testing.Short() {
		rigs = 40
	}
	for seed := range rigs {
		b := newWatchBench(t, 1000+uint64(seed))
		b.pictures(15)
		id, dir := b.rng.IntN(8), 2*math.Pi*b.rng.Float64()
		b.shifts[id] = geom.Point{X: 3 * math.Cos(dir), Y: 3 * math.Sin(dir)}
		var v watch.Verdict
		for range 10 {
			v = b.picture()
			require.Contains(t, []watch.State{watch.OK, watch.Covered}, v.State, "seed %d", seed)
		}
		require.Equal(t, []int{id}, v.Strays, "seed %d", seed)
		require.Equal(t, watch.Covered, v.State)
		require.Less(t, v.Blind, watch.MaxBlind)
		delete(b.shifts, id)
		require.Equal(t, watch.OK, b.pictures(4).State, "and forgiven when it lies well again")
	}
}

func TestAMarkerThatWasNeverInItsPlaceIsWatchedWhereItLies(t *testing.T) {
	b := newWatchBench(t, 3)
	b.shifts[4] = geom.Point{X: 5}
	b.register()
	assert.Equal(t, watch.OK, b.pictures(100).State)
	b.shifts = map[int]geom.Point{}
	v := b.pictures(4)
	assert.Equal(t, watch.Covered, v.State)
	assert.Equal(t, []int{4}, v.Strays, "even when somebody puts it where it belongs")
}

func TestAMarkerThatIsSeenLaterJoinsIn(t *testing.T) {
	b := newWatchBench(t, 4)
	b.hidden = []int{0, 6}
	b.register()
	v := b.pictures(5)
	assert.Equal(t, watch.Covered, v.State)
	assert.Equal(t, []int{0, 6}, v.Missing)
	b.hidden = nil
	v = b.pictures(5)
	assert.Equal(t, watch.OK, v.State)
	assert.Equal(t, 8, v.Seen)
}

func TestHandsOverMarkersWidenTheAnswersButDoNotStopThem(t *testing.T) {
	b := newWatchBench(t, 5)
	b.pictures(60)
	before := geom.Length(0)
	pose := geom.Pose{Point: geom.Point{X: 800, Y: 800}}
	spread := func() float64 {
		c := b.watch.Unnoticed(pose, 4, 20)
		return math.Sqrt(c[0] + c[4])
	}
	var last float64
	for _, hidden := range [][]int{{}, {7}, {7, 6}, {7, 6, 5, 4}, {7, 6, 5, 4, 1}} {
		b.hidden = hidden
		v := b.pictures(10)
		t.Logf("%d of 8 hidden: %v, blind %.3f mm, sigma at a far corner %.3f mm", len(hidden), v.State, v.Blind.Millimeters(), spread())
		require.Equal(t, len(hidden) > 0, v.State == watch.Covered, "%d hidden: %v", len(hidden), v.State)
		assert.Greater(t, v.Blind, before)
		assert.Greater(t, spread(), last)
		assert.ElementsMatch(t, hidden, v.Missing)
		before, last = v.Blind, spread()
	}
	b.hidden = nil
	b.pictures(1)
	assert.Less(t, spread(), 0.06, "and it shrinks again at once")
}

func TestWhatCannotBeSeenIsLost(t *testing.T) {
	for name, hidden := range map[string][]int{"all": {0, 1, 2, 3, 4, 5, 6, 7}, "all but one": {0, 1, 2, 3, 4, 5, 6},
		"all but two side by side": {0, 1, 2, 5, 6, 7}} {
		b := newWatchBench(t, 6)
		b.pictures(60)
		b.hidden = hidden
		assert.NotEqual(t, watch.Lost, b.pictures(6).State, "%s: a sleeve that passes", name)
		v := b.pictures(4)
		t.Logf("%s: blind %.2f mm", name, v.Blind.Millimeters())
		assert.Equal(t, watch.Lost, v.State, name)
		b.hidden = nil
		assert.Equal(t, watch.OK, b.pictures(1).State, "%s: and back at once", name)
		b.hidden = hidden
		b.pictures(10)
		b.turn(0.05, 0.05, 0)
		b.hidden = nil
		assert.Positive(t, b.until(6, watch.Settled), "%s: moved while nobody looked", name)
	}
}

func TestARefocusedLensIsToldFromANudge(t *testing.T) {
	rigs := 100
	if testing.Short() {
		rigs = 10
	}
	for _, grown := range []float64{0.001, -0.003, 0.02} {
		for seed := range rigs {
			b := newWatchBench(t, 2000+uint64(seed))
			b.pictures(15)
			lens := b.camera.Intrinsics
			b.camera.Fx, b.camera.Fy = lens.Fx*(1+grown), lens.Fy*(1+grown)
			require.LessOrEqual(t, b.until(10, watch.LensChanged), 5, "seed %d", seed)
			v := b.pictures(20)
			require.Equal(t, watch.LensChanged, v.State, "it stays until somebody settles it")
			assert.InDelta(t, grown, v.Grown, 0.0003)
			b.camera.Intrinsics = lens
			require.Equal(t, watch.OK, b.pictures(4).State, "the lens was put back")
		}
	}
	named := 0
	for seed := range rigs { // a nudge by hand is never taken for it
		b := newWatchBench(t, 3000+uint64(seed))
		b.pictures(15)
		b.turn(0.3*b.rng.NormFloat64(), 0.3*b.rng.NormFloat64(), 0.3*b.rng.NormFloat64())
		for i := range 3 {
			b.camera.T[i] += 3 * b.rng.NormFloat64()
		}
		if b.until(12, watch.LensChanged) > 0 {
			named++
		}
	}
	assert.Zero(t, named, "of %d", rigs)
}

func TestASlowSagIsInTheSigmaUntilItIsNoticed(t *testing.T) {
	b := newWatchBench(t, 7)
	b.pictures(60)
	at := b.camera
	for i := range 4000 {
		b.turn(2e-5, 0, 0) // 0.0002° a second: a camera that sinks for minutes
		v := b.picture()
		shift := b.table.Shift(&calibration.Table{Camera: b.camera, Layout: b.layout}).Millimeters()
		if v.State != watch.OK {
			t.Logf("noticed after %d pictures, at %.2f mm", i, shift)
			require.Less(t, shift, 0.5)
			require.Greater(t, shift, 0.1)
			return
		}
		if i%100 == 99 {
			wrong, widest := 0.0, 0.0
			for _, p := range []geom.Point{{}, {X: 914}, {Y: 914}, {X: 914, Y: 914}} {
				px, _ := b.camera.PixelOf(p, 0)
				then, _ := at.PixelOf(p, 0)
				s, _ := at.PointAt(px, 0)
				q, _ := at.PointAt(then, 0)
				c := b.watch.Unnoticed(geom.Pose{Point: p}, 0, 20)
				if d := float64(s.Distance(q)); d > wrong {
					wrong, widest = d, math.Sqrt(c[0]+c[4])
				}
			}
			require.Less(t, wrong, 3*widest+0.02, "after %d pictures", i)
		}
	}
	t.Fatal("never noticed")
}

func TestTheOrderOfTheMarkersDoesNotMatter(t *testing.T) {
	a, b := newWatchBench(t, 8), newWatchBench(t, 8)
	for i := range 200 {
		if i == 100 {
			a.turn(0.03, 0.02, 0.01)
			b.turn(0.03, 0.02, 0.01)
		}
		at := time.Unix(int64(i), 0)
		va := a.watch.Update(at, a.sightings())
		shuffled := b.sightings()
		rand.New(rand.NewPCG(uint64(i), 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		require.Equal(t, va, b.watch.Update(at, shuffled), "picture %d", i)
	}
}

func TestAMarkerSeenTwiceAndAForeignOneAreLeftOut(t *testing.T) {
	b := newWatchBench(t, 9)
	b.pictures(20)
	for range 20 {
		b.frame++
		seen := b.sightings()
		copyOf := seen[2]
		copyOf.Corners[0].X += 300
		seen = append(seen, copyOf, calibration.MarkerSighting{ID: 99, Corners: seen[1].Corners})
		v := b.watch.Update(time.Unix(int64(b.frame), 0), seen)
		assert.Equal(t, 7, v.Seen)
		assert.NotEqual(t, watch.Moved, v.State)
	}
}

func TestAMarkerCardLaidTheOtherWayRoundIsWatchedToo(t *testing.T) {
	b := newWatchBench(t, 10)
	turned := func() []calibration.MarkerSighting {
		seen := b.sightings()
		for i := range seen {
			if c := seen[i].Corners; seen[i].ID%2 == 0 {
				seen[i].Corners = [4]geom.Pixel{c[1], c[2], c[3], c[0]}
			}
		}
		return seen
	}
	table, err := calibration.Register(b.camera.Intrinsics, b.layout, turned())
	require.NoError(t, err)
	w := watch.NewMonitor(table, turned())
	for i := range 30 {
		require.Equal(t, watch.OK, w.Update(time.Unix(int64(i), 0), turned()).State)
	}
	b.turn(0.05, 0, 0)
	state := watch.OK
	for i := range 5 {
		state = w.Update(time.Unix(int64(30+i), 0), turned()).State
	}
	assert.Equal(t, watch.Settled, state)
}

// TestUnnoticedIsWhatAMotionDoes compares the covariance with motions drawn from it.
func TestUnnoticedIsWhatAMotionDoes(t *testing.T) {
	b := newWatchBench(t, 11)
	b.hidden = []int{5, 6, 7} // so that it is large enough to compare
	b.pictures(60)
	pose := geom.Pose{Point: geom.Point{X: 700, Y: 300}, Heading: 0.7}
	stated := b.watch.Unnoticed(pose, 4, 20)
	truth := b.camera
	layout := b.layout // as exactly laid as the watch takes the markers to stand
	_, dx, _, _ := truth.PixelJacobian(geom.Point{X: 457, Y: 457}, 0)
	_, drift := b.watch.Noise()
	layout.Placement = calibration.ExactPlacement
	layout.Placement.XY = geom.Length(drift / dx.Norm())
	var sum [3]float64
	draws := 400
	if testing.Short() {
		draws = 100
	}
	for range draws {
		// A registration from the markers in view errs as the watch does: by what
		// noise of this size moves the best camera.
		sigma, drift := b.watch.Noise()
		seen := b.sightings()
		for i := range seen {
			m := slices.IndexFunc(b.layout.Markers, func(m calibration.Marker) bool { return m.ID == seen[i].ID })
			common := geom.Pixel{X: drift * b.rng.NormFloat64(), Y: drift * b.rng.NormFloat64()}
			for k, p := range b.layout.Markers[m].Corners() {
				px, _ := truth.PixelOf(p, b.layout.Markers[m].Z)
				seen[i].Corners[k] = px.Add(common).Add(geom.Pixel{X: sigma * b.rng.NormFloat64(), Y: sigma * b.rng.NormFloat64()})
			}
		}
		other, err := calibration.Register(truth.Intrinsics, layout, seen)
		require.NoError(t, err)
		at := func(p geom.Point) geom.Point {
			px, _ := truth.PixelOf(p, 4)
			q, _ := other.PointAt(px, 4)
			return q
		}
		d := at(pose.Point).Sub(pose.Point)
		u := at(pose.Transform(geom.Point{Y: 20})).Sub(at(pose.Transform(geom.Point{Y: -20})))
		turn := float64((geom.Angle(math.Atan2(u.X, u.Y)) - pose.Heading).Signed())
		for i, v := range []float64{d.X, d.Y, turn} {
			sum[i] += v * v / float64(draws)
		}
	}
	for i, name := range []string{"x", "y", "heading"} {
		ratio := math.Sqrt(sum[i] / stated[4*i])
		t.Logf("%s: drawn %.4g, stated %.4g", name, math.Sqrt(sum[i]), math.Sqrt(stated[4*i]))
		assert.InDelta(t, 1, ratio, 0.2, name)
	}
}

func TestNothingThatIsShownMakesAWatchFail(t *testing.T) {
	for seed := range uint64(200) {
		b := newWatchBench(t, 12)
		rng := rand.New(rand.NewPCG(seed, 5))
		for i := range 40 {
			seen := b.sightings()
			for k := range seen {
				for c := range seen[k].Corners {
					switch rng.IntN(6) {
					case 0:
						seen[k].Corners[c].X = [...]float64{math.NaN(), math.Inf(1), 1e300, -1e300, 0}[rng.IntN(5)]
					case 1:
						seen[k].Corners[c] = geom.Pixel{X: 4000 * rng.NormFloat64(), Y: 4000 * rng.NormFloat64()}
					}
				}
			}
			v := b.watch.Update(time.Unix(int64(i), 0), seen)
			require.NotEmpty(t, fmt.Sprint(v))
			c := b.watch.Unnoticed(geom.Pose{Point: geom.Point{X: 300, Y: 300}}, 4, 20)
			for _, x := range c {
				require.False(t, math.IsNaN(x) || math.IsInf(x, 0), "picture %d: %v", i, c)
			}
		}
		assert.Positive(t, b.until(8, watch.OK), "and it finds its way back")
	}
}

// The watch costs next to nothing compared with finding the markers: budget 0.3 ms.
func BenchmarkMonitor(b *testing.B) {
	w := newWatchBench(&testing.T{}, 1)
	seen := w.sightings()
	for i := range b.N {
		w.watch.Update(time.Unix(int64(i), 0), seen)
	}
}

func TestHowManyMarkersAreEnough(t *testing.T) {
	for _, noise := range []float64{0.004, 0.05, 0.1} {
		b := newWatchBench(t, 13)
		b.noise = noise
		b.register()
		b.pictures(200)
		fresh := *b.watch
		enough, all := [9]int{}, [9]int{}
		for subset := range 256 {
			b.hidden = nil
			for id := range 8 {
				if subset>>id&1 == 0 {
					b.hidden = append(b.hidden, id)
				}
			}
			n := 8 - len(b.hidden)
			all[n]++
			if w := fresh; w.Update(time.Unix(1800000000, 0), b.sightings()).Blind <= watch.MaxBlind {
				enough[n]++
			}
		}
		t.Logf("noise %.3f px: enough %v of %v sets of 0…8 markers", noise, enough, all)
		assert.Equal(t, all[6:], enough[6:], "two hands may always lie over two markers")
		assert.Zero(t, enough[0])
	}
}

func TestOnePictureAloneMovesNothing(t *testing.T) {
	b := newWatchBench(t, 14)
	b.pictures(30)
	at := b.camera
	for range 20 {
		b.turn(0.1, 0.1, 0)
		v := b.picture()
		assert.True(t, v.Doubt)
		assert.Equal(t, watch.OK, v.State)
		b.camera = at
		for range 3 {
			v = b.picture()
			assert.False(t, v.Doubt)
			assert.Equal(t, watch.OK, v.State)
		}
	}
}

func TestATableThatTipsAboutAnEdgeMovedThoughMostMarkersDidNot(t *testing.T) {
	b := newWatchBench(t, 15)
	b.hidden = []int{3, 4, 7} // left: the three along the left edge, two along the right one
	b.register()
	b.pictures(30)
	// The table's right side is lifted: a turn about the left markers' line.
	turn := calibration.RotationFromVector(calibration.Vec3{0, -0.01, 0})
	pivot := calibration.Vec3{-28, 0, 0.2}
	for i := range 3 {
		b.camera.T[i] += b.camera.R[i][0]*pivot[0] + b.camera.R[i][2]*pivot[2]
	}
	b.camera.R = calibration.MulMat3(b.camera.R, turn)
	for i := range 3 {
		b.camera.T[i] -= b.camera.R[i][0]*pivot[0] + b.camera.R[i][2]*pivot[2]
	}
	v := b.picture()
	assert.Equal(t, 3, v.Seen, "they are where they were")
	assert.True(t, v.Doubt, "two that moved as one table would were not bumped one by one")
	assert.Positive(t, b.until(5, watch.Settled))
}

func TestAMotionTooSmallToRegisterForIsInTheSigma(t *testing.T) {
	b := newWatchBench(t, 16)
	b.noise, b.drift = 0.02, 0
	b.register()
	b.pictures(200)
	pose := geom.Pose{Point: geom.Point{X: 300, Y: 300}}
	before := b.watch.Unnoticed(pose, 0, 20)
	at := b.camera
	b.camera.T[0] += 0.12 // mm
	px, _ := b.camera.PixelOf(pose.Point, 0)
	wrong, _ := at.PointAt(px, 0)
	v := b.pictures(10)
	require.Equal(t, watch.OK, v.State)
	require.False(t, v.Doubt)
	after := b.watch.Unnoticed(pose, 0, 20)
	t.Logf("%.3f mm wrong, sigma was %.3f and is %.3f mm; a shift of %.3f mm is suspected",
		wrong.Distance(pose.Point).Millimeters(),
		math.Sqrt(before[0]+before[4]), math.Sqrt(after[0]+after[4]), v.Shift.Millimeters())
	assert.Greater(t, math.Sqrt(after[0]+after[4]), 0.8*float64(wrong.Distance(pose.Point)))
	assert.Less(t, math.Sqrt(before[0]+before[4]), 0.5*float64(wrong.Distance(pose.Point)))
}

func TestAPushThatAlsoTurnsTheLensIsAPush(t *testing.T) {
	for seed := range 30 {
		b := newWatchBench(t, 4000+uint64(seed))
		b.pictures(15)
		b.camera.Fx, b.camera.Fy = b.camera.Fx*1.003, b.camera.Fy*1.003
		b.turn(0.04, -0.03, 0)
		require.Positive(t, b.until(8, watch.Settled), "seed %d: the growth is not all of it", seed)
		require.Equal(t, watch.Settled, b.pictures(5).State)
	}
}

func TestMorePicturesSayBetterWhereTheMarkersWere(t *testing.T) {
	b := newWatchBench(t, 17)
	b.noise = 0.1 // what is assumed at first
	b.register()
	first := b.picture().Blind
	later := b.pictures(100).Blind
	assert.Less(t, later, 0.9*first)
}
