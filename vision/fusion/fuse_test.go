package fusion

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/cov"
	"sightline/vision/token"
)

var fuseAt = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// randomCov is a covariance of a few tenths of a millimetre and of a degree, any way round.
func randomCov(rng *rand.Rand, sigma float64) (c geom.Cov3) {
	var l geom.Cov3
	for i := range 3 {
		for j := range i + 1 {
			l[3*i+j] = sigma * rng.NormFloat64()
		}
		l[3*i+i] += sigma
	}
	l[6], l[7], l[8] = l[6]*0.01, l[7]*0.01, l[8]*0.01
	return sandwich(l, geom.Cov3{1, 0, 0, 0, 1, 0, 0, 0, 1})
}

// cameraView is what one camera says of ships whose true poses are given: its own errors
// on top of those that all share.
func cameraView(rng *rand.Rand, truth map[string]geom.Pose, shared geom.Cov3) vision.Located {
	l := vision.Located{Captured: fuseAt, Scene: engine.Scene{MatWidth: 914.4, MatHeight: 914.4, ObstaclesUnseen: true}}
	for _, id := range slices.Sorted(maps.Keys(truth)) { // the same noise each time
		p := truth[id]
		code, _ := token.CodeOfID(id)
		fit, lens := randomCov(rng, 0.05), randomCov(rng, 0.15)
		s := engine.Ship{ID: id, Player: code.Player(), Base: engine.Small, Pose: p, Covariance: sum3(sum3(fit, lens), shared), Seen: "token",
			Visible: rng.Float64()}
		s.Pose.X += 0.05 * rng.NormFloat64()
		s.Pose.Y += 0.05 * rng.NormFloat64()
		l.Scene.Ships = append(l.Scene.Ships, s)
		l.Ships = append(l.Ships, vision.ShipView{ID: id, Fit: fit, Shared: shared, Sides: []token.Side{token.Side(rng.IntN(4))}})
	}
	return l
}

func fuse(t *testing.T, o Options, views ...vision.Located) vision.Located {
	t.Helper()
	got, err := Fuse(views, o)
	require.NoError(t, err)
	return got
}

func squared(x float64) float64 { return x * x }

// atLeast reports whether a is no smaller than b whatever direction one looks in.
func atLeast(a, b geom.Cov3) bool {
	for i := range a {
		a[i] -= b[i]
	}
	a[0], a[4], a[8] = a[0]+1e-6, a[4]+1e-6, a[8]+1e-9
	_, ok := cov.Inverse(a)
	return ok
}

func TestFusedPosesAreSurerButNotThanWhatAllShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 200 {
		shared := randomCov(rng, 0.2)
		truth := map[string]geom.Pose{"A1": {Point: geom.Point{X: 300, Y: 400}, Heading: geom.Angle(6 * rng.Float64())}}
		a, b, c := cameraView(rng, truth, shared), cameraView(rng, truth, shared), cameraView(rng, truth, shared)
		two, three := fuse(t, Options{}, a, b), fuse(t, Options{}, a, b, c)
		require.Len(t, two.Scene.Ships, 1, "%v", two.Fusion)
		got := two.Scene.Ships[0].Covariance
		assert.LessOrEqual(t, det3(got), min(det3(a.Scene.Ships[0].Covariance), det3(b.Scene.Ships[0].Covariance)))
		assert.True(t, atLeast(got, shared), "smaller than what both cameras share")
		assert.True(t, atLeast(three.Scene.Ships[0].Covariance, shared), "smaller than what three cameras share")
		assert.LessOrEqual(t, det3(three.Scene.Ships[0].Covariance), det3(c.Scene.Ships[0].Covariance))
		view := two.Ships[0]
		assert.True(t, atLeast(got, sum3(view.Shared, view.Fit)), "its parts are more than the whole")
		assert.True(t, atLeast(view.Shared, geom.Cov3{}) && atLeast(view.Fit, geom.Cov3{}))
	}
}

func TestEqualCamerasHalveOnlyWhatIsTheirOwn(t *testing.T) {
	shared := geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-6}
	own := geom.Cov3{0.02, 0, 0, 0, 0.02, 0, 0, 0, 1e-6}
	ship := engine.Ship{ID: "A1", Player: 1, Pose: geom.Pose{Point: geom.Point{X: 100, Y: 100}}, Covariance: sum3(own, shared)}
	v := vision.Located{Scene: engine.Scene{Ships: []engine.Ship{ship}}, Ships: []vision.ShipView{{ID: "A1", Shared: shared}}}
	got := fuse(t, Options{}, v, v).Scene.Ships[0].Covariance
	assert.InDelta(t, 0.04+0.01, got[0], 2e-4)

	// Where no one says what is shared, all but the fit may be.
	v.Ships = []vision.ShipView{{ID: "A1"}}
	got = fuse(t, Options{}, v, v).Scene.Ships[0].Covariance
	assert.InDelta(t, 0.06, got[0], 2e-4, "nothing was learnt from the second")
}

// A slow independent method: many tables, with errors as the covariances say, the
// shared ones the same in both pictures, or of opposite sign, or unrelated.
func TestTheFusedSigmaHoldsHoweverAlikeTheSharedErrorsAre(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for name, alike := range map[string]float64{"the same": 1, "opposite": -1, "unrelated": 0} {
		var sum, n float64
		for range 1500 {
			shared := [2][2]float64{{0.3, 0.05}, {0.05, 0.3}} // sigmas along x, y of either camera
			own := [2][2]float64{{0.1, 0.2}, {0.2, 0.1}}
			z := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
			var views []vision.Located
			for k := range 2 {
				p := geom.Pose{Point: geom.Point{X: 100, Y: 100}}
				var s, c geom.Cov3
				e := [2]float64{}
				for axis := range 2 {
					common := z[axis]
					if k == 1 {
						common = alike*z[axis] + (1-math.Abs(alike))*rng.NormFloat64()
					}
					e[axis] = shared[k][axis]*common + own[k][axis]*rng.NormFloat64()
					s[4*axis] = squared(shared[k][axis])
					c[4*axis] = s[4*axis] + squared(own[k][axis])
				}
				p.X, p.Y = p.X+e[0], p.Y+e[1]
				s[8], c[8] = 1e-6, 2e-6
				views = append(views, vision.Located{
					Scene: engine.Scene{Ships: []engine.Ship{{ID: "A1", Pose: p, Covariance: c}}}, Ships: []vision.ShipView{{ID: "A1", Shared: s}},
				})
			}
			got := fuse(t, Options{}, views...).Scene.Ships
			if len(got) == 0 {
				continue
			}
			sum += squared(got[0].Pose.X-100)/got[0].Covariance[0] + squared(got[0].Pose.Y-100)/got[0].Covariance[4]
			n += 2
		}
		t.Logf("%s: normalised error %.2f", name, math.Sqrt(sum/n))
		assert.Greater(t, n, 2950.0, name)
		assert.Less(t, math.Sqrt(sum/n), 1.05, name)
	}
}

func TestTheOrderOfTheViewsDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	truth := map[string]geom.Pose{}
	for i, id := range []string{"A1", "A2", "A10", "B3"} {
		truth[id] = geom.Pose{Point: geom.Point{X: 100 + 150*float64(i), Y: 300}, Heading: geom.Angle(i)}
	}
	shared := randomCov(rng, 0.2)
	views := []vision.Located{cameraView(rng, truth, shared), cameraView(rng, truth, shared), cameraView(rng, truth, shared)}
	views[1].Scene.Ships, views[1].Ships = views[1].Scene.Ships[1:], views[1].Ships[1:]
	views[2].Captured = fuseAt.Add(-100 * time.Millisecond)
	names := []string{"left", "middle", "right"}
	want := fuse(t, Options{Names: names}, views...)
	assert.Len(t, want.Scene.Ships, 4)
	assert.True(t, slices.IsSortedFunc(want.Scene.Ships, func(a, b engine.Ship) int { return vision.CompareIDs(a.ID, b.ID) }))
	for _, order := range [][3]int{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		var v []vision.Located
		var n []string
		for _, i := range order {
			v, n = append(v, views[i]), append(n, names[i])
		}
		assert.Equal(t, want, fuse(t, Options{Names: n}, v...))
	}
}

func TestOneViewAloneIsUnchanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	v := cameraView(rng, map[string]geom.Pose{"A1": {Point: geom.Point{X: 100, Y: 100}}}, randomCov(rng, 0.2))
	assert.Equal(t, v, fuse(t, Options{}, v))
}

func TestAShipThatOneCameraReadsIsTakenFromIt(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	shared := randomCov(rng, 0.2)
	a := cameraView(rng, map[string]geom.Pose{"A1": {Point: geom.Point{X: 100, Y: 100}}}, shared)
	b := cameraView(rng, map[string]geom.Pose{"B1": {Point: geom.Point{X: 300, Y: 100}}}, shared)
	got := fuse(t, Options{}, a, b)
	assert.Equal(t, []engine.Ship{a.Scene.Ships[0], b.Scene.Ships[0]}, got.Scene.Ships)
	assert.Equal(t, []vision.ShipView{a.Ships[0], b.Ships[0]}, got.Ships)
	assert.Empty(t, got.Fusion.Notes())
}

func TestWhatWasSeenOfAShipAddsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	truth, shared := map[string]geom.Pose{"A1": {Point: geom.Point{X: 100, Y: 100}}}, randomCov(rng, 0.2)
	a, b := cameraView(rng, truth, shared), cameraView(rng, truth, shared)
	a.Scene.Ships[0].Visible, b.Scene.Ships[0].Visible, b.Scene.Ships[0].Seen = 0.4, 0.9, "both"
	a.Ships[0].Sides, b.Ships[0].Sides = []token.Side{token.RightSide, token.Front}, []token.Side{token.Front}
	got := fuse(t, Options{}, a, b)
	assert.Equal(t, 0.9, got.Scene.Ships[0].Visible)
	assert.Equal(t, "both", got.Scene.Ships[0].Seen)
	assert.Equal(t, []token.Side{token.Front, token.RightSide}, got.Ships[0].Sides)
}

func TestAHeadingButForQuarterTurnsIsNotFused(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 5))
	truth, shared := map[string]geom.Pose{"A1": {Point: geom.Point{X: 100, Y: 100}}}, randomCov(rng, 0.2)
	a, b := cameraView(rng, truth, shared), cameraView(rng, truth, shared)
	b.Scene.Ships[0].Quarters, b.Scene.Ships[0].Seen = true, "edges"
	b.Scene.Ships[0].Pose.Heading += 90 * geom.Degree
	got := fuse(t, Options{}, a, b)
	assert.Equal(t, a.Scene.Ships, got.Scene.Ships, "the one that reads its code knows")
	a.Scene.Ships[0].Quarters = true
	got = fuse(t, Options{}, a, b)
	require.Len(t, got.Scene.Ships, 1)
	assert.True(t, got.Scene.Ships[0].Quarters)
	assert.Contains(t, []engine.Ship{a.Scene.Ships[0], b.Scene.Ships[0]}, got.Scene.Ships[0])
}

func TestDisagreementIsReportedAndNotAveraged(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 5))
	truth, shared := map[string]geom.Pose{"A1": {Point: geom.Point{X: 100, Y: 100}}, "B1": {Point: geom.Point{X: 500, Y: 100}}},
		geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 4e-6}
	for _, c := range []struct {
		name   string
		change func(s *engine.Ship)
		why    string
	}{
		{"3 mm", func(s *engine.Ship) { s.Pose.X += 3 }, "left and right see it "},
		{"5°", func(s *engine.Ship) { s.Pose.Heading += 5 * geom.Degree }, "5.0° apart"},
		{"base", func(s *engine.Ship) { s.Base = engine.Large }, "do not see it on the same base"},
	} {
		a, b := cameraView(rng, truth, shared), cameraView(rng, truth, shared)
		for i := range b.Scene.Ships {
			if b.Scene.Ships[i].ID == "A1" {
				c.change(&b.Scene.Ships[i])
			}
		}
		got := fuse(t, Options{Names: []string{"left", "right"}}, a, b)
		require.Len(t, got.Scene.Ships, 1, c.name)
		assert.Equal(t, "B1", got.Scene.Ships[0].ID, c.name)
		require.Len(t, got.Fusion.Conflicts, 1, c.name)
		assert.Contains(t, got.Fusion.Notes()[0], "A1: ", c.name)
		if c.name == "3 mm" {
			assert.InDelta(t, 3.0, got.Fusion.Conflicts[0].By.Millimeters(), 0.3)
		}
		assert.Contains(t, got.Fusion.Notes()[0], c.why, c.name)
	}
}

func TestTwoShipsInOnePlaceAreDropped(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 5))
	shared := randomCov(rng, 0.2)
	a := cameraView(rng, map[string]geom.Pose{"A1": {Point: geom.Point{X: 100, Y: 100}}}, shared)
	b := cameraView(rng, map[string]geom.Pose{"A2": {Point: geom.Point{X: 101, Y: 100}}}, shared)
	got := fuse(t, Options{}, a, b)
	assert.Empty(t, got.Scene.Ships)
	assert.Equal(t, []string{"A1 and A2: camera 1 and camera 2 see their bases in one place"}, got.Fusion.Notes())
}

func TestOldAndDoubtfulViewsAreLeftOutAndNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 5))
	truth, shared := map[string]geom.Pose{"A1": {Point: geom.Point{X: 100, Y: 100}}}, randomCov(rng, 0.2)
	a, b := cameraView(rng, truth, shared), cameraView(rng, truth, shared)
	b.Captured = fuseAt.Add(-301 * time.Millisecond)
	got := fuse(t, Options{}, a, b)
	assert.Equal(t, a.Scene.Ships, got.Scene.Ships)
	assert.Equal(t, []string{"camera 2 is left out: its picture is older than the newest by 301ms"}, got.Fusion.Notes())
	assert.Equal(t, []string{"camera 1"}, got.Fusion.Used)

	b.Captured = fuseAt.Add(-300 * time.Millisecond)
	got = fuse(t, Options{}, a, b)
	assert.Empty(t, got.Fusion.LeftOut)
	assert.Equal(t, b.Captured, got.Captured, "it is no newer than what it rests on")
	b.Captured = time.Time{}
	assert.Empty(t, fuse(t, Options{Apart: -1}, a, b).Fusion.LeftOut)

	b.Captured, b.Doubtful = fuseAt, true
	got = fuse(t, Options{}, a, b)
	assert.Equal(t, "camera 2", got.Fusion.LeftOut[0].Name)
	assert.False(t, got.Doubtful)
	a.Doubtful = true
	got = fuse(t, Options{}, a, b)
	assert.Empty(t, got.Fusion.LeftOut)
	assert.True(t, got.Doubtful)
}

func TestViewsThatCannotBeFused(t *testing.T) {
	_, err := Fuse(nil, Options{})
	assert.ErrorContains(t, err, "expected a camera's view or more")
	_, err = Fuse([]vision.Located{{Scene: engine.Scene{MatWidth: 914}}, {Scene: engine.Scene{MatWidth: 420}}}, Options{})
	assert.ErrorContains(t, err, "expected views of one mat")
	bad := vision.Located{Scene: engine.Scene{Ships: []engine.Ship{{ID: "A1", Pose: geom.Pose{Point: geom.Point{X: math.NaN()}}},
		{ID: "A2", Covariance: geom.Cov3{math.Inf(1)}}}}}
	got := fuse(t, Options{}, bad, vision.Located{})
	assert.Empty(t, got.Scene.Ships)
	exact := vision.Located{Scene: engine.Scene{Ships: []engine.Ship{{ID: "A1"}}}}
	assert.Len(t, fuse(t, Options{}, exact, exact).Scene.Ships, 1)
}

// rockAt is a sight of an entry at a place, a square of 40 mm.
func rockAt(name string, x float64) vision.ObstacleView {
	v := vision.ObstacleView{ID: name, Entry: &catalogue.Entry{Name: name, Kind: "asteroid"}, Pose: geom.Pose{Point: geom.Point{X: x, Y: 500}},
		Cov: geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5}}
	v.Outline = squareAt(x)
	return v
}

// bentAt is a sight of an L, whose middle lies next to it.
func bentAt(x float64) vision.ObstacleView {
	v := rockAt("bent", x)
	v.Outline = []geom.Point{{X: x - 20, Y: 480}, {X: x + 20, Y: 480}, {X: x + 20, Y: 490}, {X: x - 10, Y: 490}, {X: x - 10, Y: 520},
		{X: x - 20, Y: 520}}
	return v
}

func bombAt(x float64) vision.ObstacleView {
	v := rockAt("a-bomb", x)
	v.Entry.Kind = "bomb"
	return v
}

func squareAt(x float64) []geom.Point {
	return []geom.Point{{X: x - 20, Y: 480}, {X: x + 20, Y: 480}, {X: x + 20, Y: 520}, {X: x - 20, Y: 520}}
}

func watching(views []vision.ObstacleView, things ...vision.UnknownObject) vision.Located {
	return vision.Located{Captured: fuseAt, Obstacles: &vision.ObstacleSight{Captured: fuseAt, Views: views, Unknown: things}}
}

func TestObstaclesOfSeveralCameras(t *testing.T) {
	none := vision.Located{Captured: fuseAt, Scene: engine.Scene{ObstaclesUnseen: true}}
	blind := vision.Located{Captured: fuseAt, Scene: engine.Scene{ObstaclesUnseen: true},
		Obstacles: &vision.ObstacleSight{Unseen: vision.UnseenHidden}}
	thing := vision.UnknownObject{Outline: squareAt(300), Area: 1600}
	large := vision.UnknownObject{Outline: squareAt(300), Area: 4000}
	near := rockAt("rock-a", 300.2)
	flipped := rockAt("rock-a", 300)
	flipped.Flipped = true
	for _, c := range []struct {
		name    string
		a, b    vision.Located
		ids     []string
		things  int
		devices int
		unseen  bool
		differs bool
	}{
		{name: "nobody looks", a: none, b: none, unseen: true},
		{name: "none sees", a: none, b: blind, unseen: true},
		{name: "one sees", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}), b: blind, ids: []string{"rock-a"}},
		{name: "both see it", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}), b: watching([]vision.ObstacleView{near}),
			ids: []string{"rock-a"}},
		{name: "both see one that is bent", a: watching([]vision.ObstacleView{bentAt(300)}), b: watching([]vision.ObstacleView{bentAt(300.1)}),
			ids: []string{"bent"}},
		{name: "each sees one", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}),
			b: watching([]vision.ObstacleView{rockAt("rock-b", 400)}), ids: []string{"rock-a", "rock-b"}},
		{name: "two of a kind", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}),
			b: watching([]vision.ObstacleView{rockAt("rock-a", 400)}), ids: []string{"rock-a", "rock-a-2"}},
		{name: "other entries in one place", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}),
			b: watching([]vision.ObstacleView{rockAt("rock-b", 300)}), things: 2, differs: true},
		{name: "other faces", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}), b: watching([]vision.ObstacleView{flipped}), things: 2,
			differs: true},
		{name: "3 mm apart", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}), b: watching([]vision.ObstacleView{rockAt("rock-a", 303)}),
			things: 2, differs: true},
		{name: "unknown to one", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}), b: watching(nil, thing), ids: []string{"rock-a"}},
		{name: "unknown to one and larger", a: watching([]vision.ObstacleView{rockAt("rock-a", 300)}), b: watching(nil, large),
			ids: []string{"rock-a"}, things: 1},
		{name: "a bomb", a: watching([]vision.ObstacleView{bombAt(500), rockAt("rock-a", 300)}),
			b: watching([]vision.ObstacleView{rockAt("rock-a", 300)}), ids: []string{"rock-a"}, devices: 1},
		{name: "unknown to both", a: watching(nil, thing), b: watching(nil), things: 1},
	} {
		for _, views := range [][]vision.Located{{c.a, c.b}, {c.b, c.a}} {
			got := fuse(t, Options{}, views...)
			var ids []string
			for _, o := range got.Scene.Obstacles {
				ids = append(ids, o.ID)
			}
			assert.Equal(t, c.ids, ids, c.name)
			assert.Len(t, got.Scene.Unknown, c.things, c.name)
			assert.Len(t, got.Scene.Devices, c.devices, c.name)
			assert.Equal(t, c.unseen, got.Scene.ObstaclesUnseen, c.name)
			assert.Equal(t, c.differs, len(got.Fusion.Conflicts) > 0, c.name)
		}
	}
}

func TestAreasBlindToAllCamerasStayBlind(t *testing.T) {
	blindAt := func(x float64) vision.Located {
		l := watching(nil)
		l.Obstacles.Blind = []engine.BlindArea{{Outline: geom.Polygon{{X: x, Y: 0}, {X: x + 20, Y: 0}, {X: x + 20, Y: 8}, {X: x, Y: 8}},
			Why: vision.BlindGlare}}
		return l
	}
	for name, c := range map[string]struct {
		views []vision.Located
		want  []engine.BlindArea
	}{
		"one camera":   {[]vision.Located{blindAt(100)}, blindAt(100).Obstacles.Blind},
		"another sees": {[]vision.Located{blindAt(100), watching(nil)}, nil},
		"apart":        {[]vision.Located{blindAt(100), blindAt(200)}, nil},
		"both, a part": {[]vision.Located{blindAt(100), blindAt(112)},
			[]engine.BlindArea{{Outline: geom.Polygon{{X: 112, Y: 0}, {X: 120, Y: 0}, {X: 120, Y: 8}, {X: 112, Y: 8}}, Why: vision.BlindGlare}}},
		"one of the past": {[]vision.Located{blindAt(100), {Captured: fuseAt, Scene: engine.Scene{ObstaclesUnseen: true},
			Obstacles: &vision.ObstacleSight{Past: true}}}, blindAt(100).Obstacles.Blind},
	} {
		got := Obstacles(c.views, nil, Options{})
		assert.Equal(t, c.want, got.Scene.Blind, name)
	}
}

func TestAThingThatAnotherCameraReadsAsAShipIsThatShip(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 5))
	reads := cameraView(rng, map[string]geom.Pose{"A1": {Point: geom.Point{X: 300, Y: 500}}}, randomCov(rng, 0.2))
	reads.Scene.MatWidth, reads.Scene.MatHeight = 0, 0
	got := fuse(t, Options{}, reads, watching(nil, vision.UnknownObject{Outline: squareAt(300), Area: 1600}))
	assert.Empty(t, got.Scene.Unknown)
	got = fuse(t, Options{}, reads, watching(nil, vision.UnknownObject{Outline: squareAt(400), Area: 1600}))
	assert.Len(t, got.Scene.Unknown, 1)
}

// Two cameras and twelve ships: far below a thousandth of a search.
func BenchmarkFuse(b *testing.B) {
	rng := rand.New(rand.NewPCG(11, 5))
	truth := map[string]geom.Pose{}
	for i := range 12 {
		truth[token.ShipCode(i).ID()] = geom.Pose{Point: geom.Point{X: 60 + 70*float64(i), Y: 100}}
	}
	shared := randomCov(rng, 0.2)
	views := []vision.Located{cameraView(rng, truth, shared), cameraView(rng, truth, shared)}
	for b.Loop() {
		if _, err := Fuse(views, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
