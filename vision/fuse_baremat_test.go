package vision

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
)

// bareBut is a sight of the whole mat with what the function says at each cell.
func bareBut(of func(x, y float64) cellSight) *bareMat {
	b := &bareMat{width: 914, height: 914, cells: make([]cellSight, 914*914)}
	for k := range b.cells {
		b.cells[k] = of(float64(k%914)+0.5, float64(k/914)+0.5)
	}
	return b
}

// onSquare says a thing of squareAt's square and that the rest is bare.
func onSquare(at float64, what cellSight) *bareMat {
	return bareBut(func(x, y float64) cellSight {
		if x > at-20 && x < at+20 && y > 480 && y < 520 {
			return what
		}
		return cellBare
	})
}

// seeing adds to a view where it shows the empty mat.
func seeing(l Located, b *bareMat) Located {
	l.Obstacles.bare = b
	return l
}

func past(l Located) Located {
	l.Obstacles.Past = true
	return l
}

func TestACameraThatSeesTheEmptyMatContradicts(t *testing.T) {
	rock := func() Located {
		return seeing(watching([]ObstacleView{rockAt("rock", 300)}), onSquare(300, cellCovered))
	}
	halfHidden := bareBut(func(x, _ float64) cellSight {
		if x < 305 {
			return cellUnseen
		}
		return cellBare
	})
	// The print is as dark as the mat but for its rim.
	darkPrint := bareBut(func(x, y float64) cellSight {
		switch in := x > 284 && x < 316 && y > 484 && y < 516; {
		case in:
			return cellBare
		case x > 280 && x < 320 && y > 480 && y < 520:
			return cellCovered
		}
		return cellBare
	})
	rimInGlare := bareBut(func(x, y float64) cellSight {
		if x > 280 && x < 320 && y > 480 && y < 520 && !(x > 284 && x < 316 && y > 484 && y < 516) {
			return cellUnseen
		}
		return cellBare
	})
	for _, c := range []struct {
		name   string
		a, b   Located
		ids    int
		things int
		why    string
	}{
		{"the other sees nothing there", rock(), seeing(watching(nil), onSquare(300, cellBare)), 0, 1, "sees the empty mat where camera 1 sees it"},
		{"the other sees something there", rock(), seeing(watching(nil), onSquare(300, cellCovered)), 1, 0, ""},
		{"glare hides the place from the other", rock(), seeing(watching(nil), onSquare(300, cellUnseen)), 1, 0, ""},
		{"most of the place is hidden from the other", rock(), seeing(watching(nil), halfHidden), 1, 0, ""},
		{"where the other sees nothing is not known", rock(), watching(nil), 1, 0, ""},
		{"a dark print whose rim is in the other's glare", seeing(watching([]ObstacleView{rockAt("rock", 300)}), darkPrint), seeing(watching(nil), rimInGlare), 1, 0, ""},
		{"a thing that the other sees the mat at", seeing(watching(nil, Thing{Outline: squareAt(300), Area: 1600}), onSquare(300, cellCovered)), seeing(watching(nil), onSquare(300, cellBare)), 0, 1, ""},
		{"what the other saw once", rock(), past(seeing(watching(nil), onSquare(300, cellBare))), 1, 0, ""},
	} {
		for _, swapped := range []bool{false, true} {
			o, views := FuseOptions{Names: []string{"camera 1", "camera 2"}}, []Located{c.a, c.b}
			if swapped {
				o.Names, views = []string{"camera 2", "camera 1"}, []Located{c.b, c.a}
			}
			got := fuse(t, o, views...)
			assert.Len(t, got.Scene.Obstacles, c.ids, c.name)
			assert.Len(t, got.Scene.Unknown, c.things, c.name)
			if c.why == "" {
				assert.Empty(t, got.Fusion.Conflicts, c.name)
			} else if assert.Len(t, got.Fusion.Conflicts, 1, c.name) {
				assert.Equal(t, "rock: camera 2 "+c.why, got.Fusion.Conflicts[0].String(), c.name)
			}
		}
	}
}

func TestWhatACameraSawBeforeIsNotAnsweredAbout(t *testing.T) {
	saw := func() Located {
		return past(seeing(watching([]ObstacleView{rockAt("rock", 300)}, Thing{Outline: squareAt(600), Area: 1600}), onSquare(300, cellCovered)))
	}
	rock := rockAt("rock", 300.1)
	rock.Cov[0] = 0.09 // less sure than what was seen before
	for _, c := range []struct {
		name        string
		now         Located
		ids, things int
	}{
		{"nobody else knows of it", watching(nil), 0, 2},
		{"the other sees it too", watching([]ObstacleView{rock}), 1, 1},
		{"the other sees the empty mat", seeing(watching(nil), onSquare(300, cellBare)), 0, 0},
		{"something hides it from the other", seeing(watching(nil), onSquare(300, cellUnseen)), 0, 1},
		{"another lies there now", watching([]ObstacleView{rockAt("other", 300)}), 0, 3},
	} {
		got := fuse(t, FuseOptions{}, c.now, saw())
		require.False(t, got.Scene.ObstaclesUnseen, c.name)
		assert.Len(t, got.Scene.Obstacles, c.ids, c.name)
		assert.Len(t, got.Scene.Unknown, c.things, c.name)
		if c.ids > 0 {
			assert.Equal(t, rock.Pose, got.Scene.Obstacles[0].Pose, "the sight of now counts")
		}
	}
	alone := fuse(t, FuseOptions{}, Located{Captured: fuseAt}, saw())
	assert.True(t, alone.Scene.ObstaclesUnseen, "nobody looks now")
	assert.Equal(t, unseenLooking, alone.Obstacles.Unseen)
}

func TestAThingThatGoesBeyondAnObstacleHoldsMore(t *testing.T) {
	wide := []geom.Point{{X: 280, Y: 480}, {X: 332, Y: 495}, {X: 332, Y: 505}, {X: 280, Y: 520}} // 12 mm beyond, of much the same area
	got := fuse(t, FuseOptions{}, watching([]ObstacleView{rockAt("rock", 300)}), watching(nil, Thing{Outline: wide, Area: 1700}))
	assert.Len(t, got.Scene.Obstacles, 1)
	assert.Len(t, got.Scene.Unknown, 1)

	corner := []geom.Point{{X: 302, Y: 502}, {X: 322, Y: 502}, {X: 322, Y: 522}, {X: 302, Y: 522}} // the rest of it was recognised as nothing
	got = fuse(t, FuseOptions{}, watching([]ObstacleView{rockAt("rock", 300)}), watching(nil, Thing{Outline: corner, Area: 400}))
	assert.Len(t, got.Scene.Obstacles, 1)
	assert.Empty(t, got.Scene.Unknown)
}

func TestAsThings(t *testing.T) {
	s := watching([]ObstacleView{rockAt("rock", 300)}, Thing{Outline: squareAt(600), Area: 1600}).Obstacles
	got := s.AsThings()
	assert.Empty(t, got.Views)
	require.Len(t, got.Things, 2)
	assert.InDelta(t, 1600, got.Things[1].Area, 1e-9)
	assert.Len(t, s.Views, 1, "the sight itself stays")
}
