package obstacle

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/token"
)

// arrow and hook are outlines that only one pose and face of each fits.
var (
	arrow = []geom.Point{{X: -22, Y: -6}, {X: 6, Y: -9}, {X: 5, Y: -17}, {X: 24, Y: 1}, {X: 8, Y: 12}, {X: 6, Y: 5}, {X: -20, Y: 9}}
	hook  = []geom.Point{{X: -18, Y: -14}, {X: 15, Y: -16}, {X: 19, Y: 10}, {X: 8, Y: 14}, {X: 6, Y: -3}, {X: -16, Y: -1}}
)

func regionShapes(t *testing.T) (shapes []*regionShape) {
	t.Helper()
	for name, o := range map[string][]geom.Point{"arrow": arrow, "hook": hook} {
		e, err := catalogue.NewEntry(name, "asteroid", o)
		require.NoError(t, err)
		for _, flipped := range [2]bool{false, true} {
			s := newShape(&e, flipped)
			shapes = append(shapes, newRegionShape(&s))
		}
	}
	return shapes
}

func face(t *testing.T, shapes []*regionShape, name string, flipped bool) *regionShape {
	t.Helper()
	for _, s := range shapes {
		if s.shape.entry.Name == name && s.shape.flipped == flipped {
			return s
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

// high is an eye so high that the height of a token moves nothing.
var high = calibration.Vec3{60, 60, 1e7}

// paintedMap is a map of 120 × 120 mm with an outline and its shadow.
func paintedMap(s *regionShape, pose geom.Pose, shadow geom.Point) *segmentation {
	m := &segmentation{w: 120, h: 120, state: make([]regionState, 120*120)}
	var lies geom.Polygon
	for _, p := range s.shape.outline {
		lies = append(lies, pose.Transform(p))
	}
	for y := range m.h {
		for x := range m.w {
			p := geom.Point{X: float64(x) + 0.5, Y: float64(y) + 0.5}
			switch k := y*m.w + x; {
			case lies.Contains(p):
				m.state[k] = regionBright
			case lies.Contains(p.Sub(shadow)) || lies.Contains(p.Sub(shadow.Mul(0.5))):
				m.state[k] = regionDark
			}
		}
	}
	return m
}

func wholeBlob(m *segmentation) gray.Blob {
	b := gray.Blob{Box: image.Rect(0, 0, m.w, m.h)}
	for k, s := range m.state {
		if s == regionBright || s == regionDark {
			b.Cells = append(b.Cells, int32(k))
		}
	}
	return b
}

func TestTheAreaTellsEntryFaceAndPose(t *testing.T) {
	shapes := regionShapes(t)
	for _, name := range []string{"arrow", "hook"} {
		for _, flipped := range []bool{false, true} {
			for _, shadow := range []geom.Point{{}, {X: 3, Y: -1}} {
				want := face(t, shapes, name, flipped)
				pose := geom.Pose{Point: geom.Point{X: 57.3, Y: 62.8}, Heading: 2.1}
				m := paintedMap(want, pose, shadow)
				all := m.search(shapes, wholeBlob(m), high)
				require.NotEmpty(t, all)
				best := all[0]
				assert.Same(t, want, best.shape, "%s, flipped %v, shadow %v", name, flipped, shadow)
				assert.Less(t, float64(best.pose.Distance(pose.Point)), 1.8, "mm: a shadow may pass for a part of the token")
				assert.Less(t, float64(best.pose.Heading.Distance(pose.Heading)), 0.06, "rad")
				assert.Less(t, best.cost, 0.35, "mm of wrong area")
				assert.Greater(t, best.use, 0.95)
				for _, o := range all[1:] {
					if o.shape != best.shape {
						assert.Greater(t, o.cost-best.cost, areaMargin, "%s is another", o.shape.shape.entry.Name)
					}
				}
			}
		}
	}
}

func TestAShadowIsExplainedOnlyOnItsSide(t *testing.T) {
	s := face(t, regionShapes(t), "arrow", false)
	pose := geom.Pose{Point: geom.Point{X: 60, Y: 60}, Heading: 0.4}
	shadow := geom.Point{X: 4, Y: 1.5}
	m := paintedMap(s, pose, shadow)
	var dark []geom.Point
	g := regionHypothesis{shape: s, pose: pose}
	m.castShadow(&g, high, &dark)
	assert.Greater(t, g.shadow.X*shadow.X+g.shadow.Y*shadow.Y, 0.8*g.shadow.Norm()*shadow.Norm(), "its direction")
	right := g.cost
	g.shadow = geom.Point{}
	m.judge(&g, high, nil)
	without := g.cost
	g.shadow = shadow.Mul(-1)
	m.judge(&g, high, nil)
	assert.Less(t, right, without)
	assert.Less(t, right, g.cost)
}

func TestOtherThingsAreNoToken(t *testing.T) {
	shapes := regionShapes(t)
	disc := &segmentation{w: 120, h: 120, state: make([]regionState, 120*120)}
	card := &segmentation{w: 120, h: 120, state: make([]regionState, 120*120)}
	for k := range disc.state {
		x, y := float64(k%120)-60, float64(k/120)-60
		if math.Hypot(x, y) < 17 {
			disc.state[k] = regionBright
		}
		if math.Abs(x) < 32 && math.Abs(y) < 44 {
			card.state[k] = regionBright
		}
	}
	for name, m := range map[string]*segmentation{"disc": disc, "card": card} {
		for _, g := range m.search(shapes, wholeBlob(m), high) {
			assert.False(t, g.cost < areaMost && g.wrongShare() < areaShare && g.use > areaUse, "%s: %s costs %.2f mm", name,
				g.shape.shape.entry.Name, g.cost)
		}
	}
}

// A dial whose print resembles a rock within its rim was taken for that rock in a blurred picture.
func TestAThingThatReachesBeyondAnOutlineIsNotThatEntry(t *testing.T) {
	f := &Finder{fit: outlineFit{eye: high}}
	f.areas = areaMatcher{Finder: f, shapes: regionShapes(t), found: true}
	s := face(t, f.areas.shapes, "hook", false)
	v := vision.ObstacleView{Entry: s.shape.entry, Pose: geom.Pose{Point: geom.Point{X: 60, Y: 60}, Heading: 0.4}, Misfit: 0.4}
	f.areas.regions = *paintedMap(s, v.Pose, geom.Point{X: 3, Y: -1})
	assert.False(t, f.deniedByArea(&v), "the rock")
	f.areas.regions.dial(60, 60, 23)
	assert.True(t, f.deniedByArea(&v))
	v.Misfit = 0.2
	assert.False(t, f.deniedByArea(&v), "edges that fit well decide: glare may hide what lies inside")
}

// A rock that lay in a lamp's hard shadow was denied, because all around it was dark (1616 and 1631).
func TestARockInAShadowIsDeniedOnlyIfWhatSurroundsItIsUneven(t *testing.T) {
	f := &Finder{fit: outlineFit{eye: high}}
	f.areas = areaMatcher{Finder: f, shapes: regionShapes(t), found: true}
	s := face(t, f.areas.shapes, "hook", false)
	v := vision.ObstacleView{Entry: s.shape.entry, Pose: geom.Pose{Point: geom.Point{X: 60, Y: 60}, Heading: 0.4}, Misfit: 0.4, Sure: true}
	for _, c := range []struct {
		around regionState
		sure   bool
		denied bool
	}{
		{regionMat, true, false},
		{regionShade, true, false},
		{regionShade, false, true},
		{regionDark, true, true},
	} {
		f.areas.regions = *paintedMap(s, v.Pose, geom.Point{})
		for k, state := range f.areas.regions.state {
			switch state {
			case regionMat:
				f.areas.regions.state[k] = c.around
			case regionBright: // printed dark
				f.areas.regions.state[k] = regionDark
			}
		}
		v.Sure = c.sure
		assert.Equal(t, c.denied, f.deniedByArea(&v), "%+v", c)
	}
}

func TestTheAreaDecidesAloneOnlyFarBeforeItsRivals(t *testing.T) {
	for _, c := range []struct {
		cost, margin, misfit float64
		want                 bool
	}{
		{0.20, 0.14, 0.40, true},
		{0.20, 0.12, 0.40, false},
		{0.20, 0.19, 0.56, false}, // rocks that the catalogue lacked
		{0.54, 0.21, 0.48, false},
		{0.66, 0.42, 0.55, false},
		{0.20, 0.26, 0.56, true},
		{0.47, 0.47, 0.55, true},
		{0.76, 0.51, 0.47, true},
		{0.75, 0.20, 0.40, false},
		{0.75, 0.24, 0.40, true},
	} {
		assert.Equal(t, c.want, areaDecides(c.cost, c.margin, c.misfit), "%+v", c)
	}
}

// dial paints a round thing with a rim 4 mm wide, within which it looks like the mat for 3 mm.
func (m *segmentation) dial(x, y, radius float64) {
	for k := range m.state {
		if d := math.Hypot(float64(k%m.w)+0.5-x, float64(k/m.w)+0.5-y); d < radius && (d > radius-4 || d < radius-7) {
			m.state[k] = regionBright
		}
	}
}

func TestWhatIsHiddenDoesNotTell(t *testing.T) {
	s := face(t, regionShapes(t), "hook", false)
	pose := geom.Pose{Point: geom.Point{X: 60, Y: 60}}
	m := paintedMap(s, pose, geom.Point{})
	whole := regionHypothesis{shape: s, pose: pose}
	m.judge(&whole, high, nil)
	for k := range m.state {
		if k%m.w > 62 {
			m.state[k] = regionUnknown
		}
	}
	half := regionHypothesis{shape: s, pose: pose}
	m.judge(&half, high, nil)
	assert.Equal(t, 1.0, whole.use)
	assert.InDelta(t, 0.5, half.use, 0.2)
	assert.Less(t, half.cost, whole.cost+5*max(0, 0.5-half.use)+0.1)

	var none segmentation // nothing is known of any place
	none.w, none.h = 1, 1
	none.state = []regionState{regionUnknown}
	g := regionHypothesis{shape: s, pose: pose}
	none.judge(&g, high, nil)
	assert.Zero(t, g.use)
	assert.Greater(t, g.cost, areaMost)
}

func TestAViewBetweenTwoPosesIsAsUnsureAsTheyDiffer(t *testing.T) {
	e, err := catalogue.NewEntry("hook", "asteroid", hook)
	require.NoError(t, err)
	v := vision.ObstacleView{Entry: &e, Pose: geom.Pose{Point: geom.Point{X: 10, Y: 20}, Heading: 6.2}, Outline: make([]geom.Point,
		len(e.Outline))}
	moveBetween(&v, geom.Pose{Point: geom.Point{X: 14, Y: 20}, Heading: 0.1})
	assert.InDelta(t, 12, v.Pose.X, 1e-9)
	assert.InDelta(t, 0, float64(v.Pose.Heading.Signed()), 0.02, "the short way round")
	assert.InDelta(t, areaSigma*areaSigma+4, v.Cov[0], 1e-9)
	assert.InDelta(t, areaSigma*areaSigma, v.Cov[4], 1e-9)
	for i, p := range e.Face(false) {
		assert.Equal(t, v.Pose.Transform(p), v.Outline[i])
	}
}

// In picture 253 a miniature 30 mm next to its base had been taken for a rock by its area.
func TestNothingIsDecidedByAreaWhereAMiniatureMayBe(t *testing.T) {
	f := &Finder{bases: []geom.Polygon{{{X: 80, Y: 80}, {X: 120, Y: 80}, {X: 120, Y: 120}, {X: 80, Y: 120}}}}
	assert.True(t, f.nearShip(geom.Point{X: 100, Y: 100}), "on the base")
	assert.True(t, f.nearShip(geom.Point{X: 100, Y: 150}))
	assert.True(t, f.nearShip(geom.Point{X: 100, Y: 120 + token.MiniatureReach - 1}))
	assert.False(t, f.nearShip(geom.Point{X: 100, Y: 120 + token.MiniatureReach + 1}))
	f.fit.eye = calibration.Vec3{100, -700, 1150}
	assert.True(t, f.nearShip(geom.Point{X: 100, Y: 195}), "a camera in front sees the miniature behind its base")
	assert.False(t, f.nearShip(geom.Point{X: 100, Y: 5}), "and not before it")
	assert.False(t, f.nearShip(geom.Point{X: 100, Y: 230}))
	v := vision.ObstacleView{Misfit: (suspectNearShip + suspectMisfit) / 2}
	v.Pose.Point = geom.Point{X: 100, Y: 150}
	assert.False(t, f.suspect(&v), "nor is it suspected")
	v.Pose.Point = geom.Point{X: 300, Y: 300}
	assert.True(t, f.suspect(&v))
}

// The camera stands 1000 mm above the mat's corner: what is as high as a peg's end is seen farther from there.
func TestWhatTheMatSurroundsIsNoMiniatureUnlessAPegEndsInIt(t *testing.T) {
	f := &Finder{bases: []geom.Polygon{square(500, 100, 20)}}
	f.fit.eye = calibration.Vec3{0, 0, 1000}
	for _, c := range []struct {
		name    string
		at      geom.Point
		visible float64
		want    bool
	}{
		{"beside it", geom.Point{X: 500, Y: 155}, 1, false},
		{"before it", geom.Point{X: 445, Y: 90}, 1, false},
		{"where the slant throws the miniature", geom.Point{X: 555, Y: 110}, 1, true},
		{"beside it, and something adjoins", geom.Point{X: 500, Y: 155}, 0.9, true},
		{"far from it", geom.Point{X: 700, Y: 100}, 0.9, false},
	} {
		v := vision.ObstacleView{Visible: c.visible, Outline: square(c.at.X, c.at.Y, 25)}
		v.Pose.Point = c.at
		assert.Equal(t, c.want, f.byMiniature(&v), c.name)
	}
}

// A miniature that hangs over its base's edge, half of whose outline could be a rock under the base.
func TestARockHalfUnderAShipIsBelievedOnlyIfItLayThereBefore(t *testing.T) {
	base := square(100, 100, 20)
	f := &Finder{bases: []geom.Polygon{base}, exits: [][]geom.Point{{{X: 100, Y: 124}, {X: 100, Y: 128}}}}
	for _, c := range []struct {
		name    string
		at      geom.Point
		visible float64
		sure    bool
		known   bool
		misfit  float64
		want    bool
	}{
		{"beside the base, half in view", geom.Point{X: 130, Y: 100}, 0.5, false, false, 0.2, false},
		{"the same, sure by its inside", geom.Point{X: 130, Y: 100}, 0.5, true, false, 0.2, false},
		{"sure, but one that costs so much must be in view", geom.Point{X: 130, Y: 100}, 0.6, true, false, 0.33, false},
		{"sure, and three fifths in view", geom.Point{X: 130, Y: 100}, 0.6, true, false, 0.2, true},
		{"sure, but as badly as a small rock fits the end of a large one", geom.Point{X: 130, Y: 100}, 0.72, true, false, 0.32, false},
		{"continues under a visible rim", geom.Point{X: 110, Y: 120}, 0.5, false, false, 0.29, true},
		{"the same, as badly as a small rock fits the end of a large one", geom.Point{X: 110, Y: 120}, 0.6, true, false, 0.38, false},
		{"the same, and more of it in view", geom.Point{X: 110, Y: 120}, 0.71, true, false, 0.44, true},
		{"goes on under it, as badly as another rock may fit what is seen", geom.Point{X: 110, Y: 120}, 0.5, false, false, 0.44, false},
		{"lay there before the ship came", geom.Point{X: 130, Y: 100}, 0.5, false, true, 0.2, true},
		{"beside the base, all in view", geom.Point{X: 150, Y: 100}, 1, false, false, 0.2, true},
		{"far from it, half in view", geom.Point{X: 300, Y: 100}, 0.5, false, false, 0.2, true},
		{"beside the base, as a miniature in too much light", geom.Point{X: 150, Y: 100}, 0.9, false, false, 0.44, false},
		{"so badly lit, and lay there before the ship came", geom.Point{X: 150, Y: 100}, 0.9, false, true, 0.44, true},
		{"so badly lit, far from it", geom.Point{X: 300, Y: 100}, 0.9, false, false, 0.44, true},
	} {
		v := vision.ObstacleView{Entry: &catalogue.Entry{}, Misfit: c.misfit, Visible: c.visible, Sure: c.sure, Known: c.known, Lit: 1,
			Outline: square(c.at.X, c.at.Y, 25)}
		v.Pose.Point = c.at
		assert.Equal(t, c.want, f.accepted(&v), c.name)
	}
}
