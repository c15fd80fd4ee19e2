package obstacle

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/visiontest"
)

// differences is a profile of 19 samples half a pixel apart: inside first, the token's end
// in the middle.
func differences(of func(i int) float64) *regionFit {
	r := &regionFit{}
	for i := range 19 {
		r.d, r.variance = append(r.d, of(i)), append(r.variance, 4)
	}
	return r
}

func TestAProfileTellsWhereAPrintEndsAndTheBareMatBegins(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	noise := func() float64 { return 2 * rng.NormFloat64() }
	print := func(i int) float64 { return 25 * math.Sin(1.9*float64(i)+0.5) }
	const in, out = 6, 12 // the end may lie from sample 6 to sample 12
	for _, c := range []struct {
		name     string
		of       func(i int) float64
		worst    float64
		best     float64
		bordered bool
	}{
		{"a print of any light ends in its place", func(i int) float64 {
			if i < 9 {
				return 20 + print(i)
			}
			return noise()
		}, 0.05, 0, true},
		{"its rim is as dark as the mat", func(i int) float64 {
			if i < 7 {
				return 20 + print(i)
			}
			return noise()
		}, 0.3, 0, true},
		{"it throws a shadow", func(i int) float64 {
			switch {
			case i < 9:
				return 20 + print(i)
			case i < 12:
				return -30
			}
			return noise()
		}, 0.05, 0, true},
		{"it ends too far in", func(i int) float64 {
			if i < 3 {
				return 20 + print(i)
			}
			return noise()
		}, 1, 0.5, false},
		{"it goes on outside", func(i int) float64 { return 40 + print(i)/4 }, 1, 0.9, false},
		{"nothing lies there", func(int) float64 { return noise() }, 1, 0.5, false},
		{"a shadow ends there", func(i int) float64 {
			if i < 9 {
				return -30
			}
			return noise()
		}, 0.3, 0, false},
	} {
		misfit, bordered := differences(c.of).profile(0, 19, 0, regionStep, in, out)
		assert.LessOrEqual(t, misfit, c.worst, c.name)
		assert.GreaterOrEqual(t, misfit, c.best, c.name)
		assert.Equal(t, c.bordered, bordered, c.name)
	}
}

func TestAFinerPictureSaysTheSameOfAProfile(t *testing.T) {
	misfit := func(fine int) float64 { // samples to half a millimetre
		r := &regionFit{}
		for i := range 18*fine + 1 {
			d := 0.0
			if i < 13*fine { // it extends half a millimetre too far
				d = 6
			}
			r.d, r.variance = append(r.d, d), append(r.variance, 4)
		}
		v, _ := r.profile(0, 18*fine+1, 0, regionStep/float64(fine), 6*fine, 12*fine)
		return v
	}
	assert.InDelta(t, 0.6, misfit(1), 0.1)
	assert.InDelta(t, misfit(1), misfit(2), 0.01)
}

func TestAThingThatTouchesAnOutlineDoesNotMoveTheMatsLevel(t *testing.T) {
	r := &regionFit{}
	for k := range 40 {
		v := 1.0
		switch {
		case k >= 10 && k < 13:
			v = 12 // a card
		case k == 20:
			v = math.NaN() // out of the picture
		}
		r.level = append(r.level, v)
	}
	for k := range r.level {
		assert.Equal(t, 1.0, r.levelAbout(k), "profile %d", k)
	}
}

// printOn is a picture of a grey mat with noise, and on it, at a token's height, what is
// printed at a place of the token; nil: nothing.
func printOn(t calibration.Table, lies geom.Polygon, token func(p geom.Point) float64, seed uint64) *image.Gray {
	rng := rand.New(rand.NewPCG(seed, 9))
	w, h := t.Intrinsics.Width, t.Intrinsics.Height
	g := image.NewGray(image.Rect(0, 0, w, h))
	const rays = 3
	for y := range h {
		for x := range w {
			var sum float64
			for k := range rays * rays {
				px := geom.Pixel{X: float64(x) + (float64(k%rays)+0.5)/rays - 0.5, Y: float64(y) + (float64(k/rays)+0.5)/rays - 0.5}
				v := 60.0
				if p, ok := t.PointAt(px, catalogue.TokenTop); ok && token != nil && lies.Contains(p) {
					v = token(p)
				}
				sum += v / (rays * rays)
			}
			g.Pix[y*g.Stride+x] = uint8(min(max(math.Round(sum+1.5*rng.NormFloat64()), 0), 255))
		}
	}
	return g
}

// A rock whose art is lighter and darker than the mat by turns, with a darker rim of 1.5 mm:
// its edge has no one contrast.
func TestARockIsRecognisedThoughItsEdgeLooksLikeTheMat(t *testing.T) {
	table := visiontest.Table(1.2)
	rock, err := catalogue.NewEntry("rock", "asteroid", lopsided(24))
	require.NoError(t, err)
	other, err := catalogue.NewEntry("other", "asteroid", lopsided(19))
	require.NoError(t, err)
	learner := NewBackgroundLearner(table)
	require.NoError(t, learner.Add(vision.Frame{Gray: printOn(table, nil, nil, 1)}))
	mat, err := learner.Background()
	require.NoError(t, err)
	f, err := NewFinder(table, &catalogue.Catalogue{Entries: []catalogue.Entry{rock, other}}, mat, calibration.DefaultUncertainty)
	require.NoError(t, err)

	truth := geom.Pose{Point: geom.Point{X: 104, Y: 92}, Heading: 0.8}
	var lies geom.Polygon
	for _, p := range rock.Outline {
		lies = append(lies, truth.Transform(p))
	}
	art := func(p geom.Point) float64 {
		if lies.BoundaryDistance(p) < 1.5 {
			return 50
		}
		return 70 + 25*math.Sin(p.X/2.3)*math.Cos(p.Y/1.9)
	}
	g := printOn(table, lies, art, 2)
	sight := f.search(vision.Frame{Gray: g}, nil, nil)
	require.Len(t, sight.Views, 1)
	v := sight.Views[0]
	assert.Equal(t, "rock", v.Entry.Name)
	assert.False(t, v.Flipped)
	assert.Less(t, float64(v.Pose.Distance(truth.Point)), 1.0)
	assert.Less(t, v.Region, 0.25, "the region in its place")
	assert.Greater(t, v.Lit, 0.5)

	// The same outline elsewhere, turned, or the other face.
	judge := func(outline []geom.Point, pose geom.Pose) float64 {
		f.fit.start(outline, pose)
		f.fit.judgeRegion(g, rock.Top, nil)
		return f.fit.region
	}
	at := judge(rock.Outline, truth)
	assert.Less(t, at, 0.25)
	for name, region := range map[string]float64{
		"4 mm beside":    judge(rock.Outline, geom.Pose{Point: truth.Point.Add(geom.Point{X: 4}), Heading: truth.Heading}),
		"turned":         judge(rock.Outline, geom.Pose{Point: truth.Point, Heading: truth.Heading + 0.5}),
		"the other face": judge(rock.Face(true), truth),
		"a smaller one":  judge(other.Outline, truth),
		"where none is":  judge(rock.Outline, geom.Pose{Point: geom.Point{X: 40, Y: 40}}),
	} {
		assert.Greater(t, region, at+0.15, name)
	}
	assert.Empty(t, f.search(vision.Frame{Gray: printOn(table, nil, nil, 3)}, nil, nil).Views, "an empty mat")
	// A shadow of the same outline is no rock by what lies inside: nothing in it is light.
	dark := printOn(table, lies, func(geom.Point) float64 { return 30 }, 4)
	f.fit.start(rock.Outline, truth)
	f.fit.judgeRegion(dark, rock.Top, nil)
	assert.Zero(t, f.fit.bordered)

	// Nor is it one by its segment, unless it fits better than shadows do; nor is what is light a shadow.
	match := vision.ObstacleView{Entry: v.Entry, Outline: lies, Visible: 1, Misfit: 0.5, Area: 0.9}
	f.search(vision.Frame{Gray: dark}, nil, nil)
	assert.False(t, f.accepted(&match), "a shadow")
	match.Misfit = 0.4
	assert.True(t, f.accepted(&match), "a rock that glare makes darker than the mat")
	byEdges := match
	byEdges.Area, byEdges.Misfit = 0, 0.3
	assert.False(t, f.accepted(&byEdges), "by edges alone its outer edge may be its shadow's")
	byEdges.Misfit = 0.2
	assert.True(t, f.accepted(&byEdges), "edges that fit very well")
	match.Misfit = 0.5
	printed := func(p geom.Point) float64 { return 30 + 12*math.Sin(p.X/2.3)*math.Cos(p.Y/1.9) }
	f.search(vision.Frame{Gray: printOn(table, lies, printed, 4)}, nil, nil)
	assert.True(t, f.accepted(&match), "one that is printed: a shadow is even")
	f.search(vision.Frame{Gray: g}, nil, nil)
	assert.True(t, f.accepted(&match), "a rock")
}

func TestWhatIsOutOfThePictureSaysNothingAboutARegion(t *testing.T) {
	table := visiontest.Table(1.2)
	learner := NewBackgroundLearner(table)
	require.NoError(t, learner.Add(vision.Frame{Gray: printOn(table, nil, nil, 1)}))
	mat, err := learner.Background()
	require.NoError(t, err)
	rock, err := catalogue.NewEntry("rock", "asteroid", lopsided(24))
	require.NoError(t, err)
	f, err := NewFinder(table, &catalogue.Catalogue{Entries: []catalogue.Entry{rock}}, mat, calibration.DefaultUncertainty)
	require.NoError(t, err)
	g := printOn(table, nil, nil, 2)
	f.diff.compare(g)
	f.fit.start(rock.Outline, geom.Pose{Point: geom.Point{X: -100, Y: -100}})
	f.fit.judgeRegion(g, rock.Top, nil)
	assert.Equal(t, 1.0, f.fit.region)
	assert.Zero(t, f.fit.bordered)
	f.fit.start(rock.Outline, geom.Pose{Point: geom.Point{X: 100, Y: 100}})
	f.fit.judgeRegion(g, rock.Top, func(geom.Point) bool { return true })
	assert.Equal(t, 1.0, f.fit.region, "a ship hides it all")
}

func TestASureMatchGoesBeforeOneThatFitsBetterByItsEdges(t *testing.T) {
	a := vision.ObstacleView{Misfit: 0.45, Region: 0.02, Sure: true}
	b := vision.ObstacleView{Misfit: 0.30, Region: 0.30}
	c := vision.ObstacleView{Misfit: 0.40, Region: 0.10, Sure: true}
	assert.Negative(t, compareViews(&a, &b), "sure before not sure")
	assert.Positive(t, compareViews(&b, &a))
	assert.Negative(t, compareViews(&a, &c), "of two that are sure the one that costs less")
	assert.Negative(t, compareViews(&b, &vision.ObstacleView{Misfit: 0.35}), "of two that are not the one that fits better")
	assert.Zero(t, compareViews(&a, &a))
}

func TestAMatchIsSureOnlyBeyondItsRivalsAndWithPrintThatIsNoShadow(t *testing.T) {
	f := &Finder{}
	sure := vision.ObstacleView{Misfit: 0.5, Region: 0.02, Lit: 0.8, Visible: 1, Second: "other", Margin: 0.3}
	assert.True(t, f.sureOf(&sure))
	for name, spoil := range map[string]func(v *vision.ObstacleView){
		"edges that fit nowhere":     func(v *vision.ObstacleView) { v.Misfit = 0.61 },
		"mat inside, things outside": func(v *vision.ObstacleView) { v.Region = 0.1 },
		"a shadow":                   func(v *vision.ObstacleView) { v.Lit = 0.1 },
		"mostly hidden":              func(v *vision.ObstacleView) { v.Visible = 0.4 },
		"a rival":                    func(v *vision.ObstacleView) { v.Margin = 0.2 },
	} {
		v := sure
		spoil(&v)
		assert.False(t, f.sureOf(&v), name)
	}
	clear := sure
	clear.Misfit, clear.Margin = 0.3, 0.1
	assert.True(t, f.sureOf(&clear), "the better the fit, the nearer a rival may come")
}

func TestFewerPixelsAskForAClearerChoice(t *testing.T) {
	for _, c := range []struct {
		coarse         bool
		misfit, margin float64
		want           bool
	}{
		{false, 0.20, 0.06, true},
		{true, 0.20, 0.06, false},
		{true, 0.20, 0.11, true},
		{true, 0.36, 0.19, true},
		{true, 0.41, 0.08, false},
		{false, 0.44, 0.30, true},
		{true, 0.46, 0.30, false},
	} {
		f := &Finder{coarse: c.coarse}
		v := vision.ObstacleView{Entry: &catalogue.Entry{}, Visible: 1, Lit: 1, Misfit: c.misfit, Second: "other", Margin: c.margin}
		assert.Equal(t, c.want, f.accepted(&v), "%+v", c)
	}
}

func TestTokensThatAreAlikeAreThoseThatTheSearchMayConfuse(t *testing.T) {
	assert.InDelta(t, acceptSlope*(acceptMisfit-acceptClear), catalogue.AlikeBelow, 1e-12)
}
