package fusion

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/vision"
)

// bareBut is a sight of the whole mat with what the function says at each cell.
func bareBut(of func(x, y float64) vision.Cell) *vision.Coverage {
	b := &vision.Coverage{Width: 914, Height: 914, Cells: make([]vision.Cell, 914*914)}
	for k := range b.Cells {
		b.Cells[k] = of(float64(k%914)+0.5, float64(k/914)+0.5)
	}
	return b
}

// onSquare says a thing of squareAt's square and that the rest is bare.
func onSquare(at float64, what vision.Cell) *vision.Coverage {
	return bareBut(func(x, y float64) vision.Cell {
		if x > at-20 && x < at+20 && y > 480 && y < 520 {
			return what
		}
		return vision.CellBare
	})
}

// seeing adds to a view where it shows the empty mat.
func seeing(l vision.Located, b *vision.Coverage) vision.Located {
	l.Obstacles.Coverage = b
	return l
}

func past(l vision.Located) vision.Located {
	l.Obstacles.Past = true
	return l
}

func TestACameraThatSeesTheEmptyMatContradicts(t *testing.T) {
	rock := func() vision.Located {
		return seeing(watching([]vision.ObstacleView{rockAt("rock", 300)}), onSquare(300, vision.CellCovered))
	}
	halfHidden := bareBut(func(x, _ float64) vision.Cell {
		if x < 305 {
			return vision.CellUnseen
		}
		return vision.CellBare
	})
	// The print is as dark as the mat but for its rim.
	darkPrint := bareBut(func(x, y float64) vision.Cell {
		switch in := x > 284 && x < 316 && y > 484 && y < 516; {
		case in:
			return vision.CellBare
		case x > 280 && x < 320 && y > 480 && y < 520:
			return vision.CellCovered
		}
		return vision.CellBare
	})
	rimInGlare := bareBut(func(x, y float64) vision.Cell {
		if x > 280 && x < 320 && y > 480 && y < 520 && !(x > 284 && x < 316 && y > 484 && y < 516) {
			return vision.CellUnseen
		}
		return vision.CellBare
	})
	for _, c := range []struct {
		name   string
		a, b   vision.Located
		ids    int
		things int
		why    string
	}{
		{"the other sees nothing there", rock(), seeing(watching(nil), onSquare(300, vision.CellBare)), 0, 1,
			"sees the empty mat where camera 1 sees it"},
		{"the other sees something there", rock(), seeing(watching(nil), onSquare(300, vision.CellCovered)), 1, 0, ""},
		{"glare hides the place from the other", rock(), seeing(watching(nil), onSquare(300, vision.CellUnseen)), 1, 0, ""},
		{"most of the place is hidden from the other", rock(), seeing(watching(nil), halfHidden), 1, 0, ""},
		{"where the other sees nothing is not known", rock(), watching(nil), 1, 0, ""},
		{"a dark print whose rim is in the other's glare", seeing(watching([]vision.ObstacleView{rockAt("rock", 300)}), darkPrint),
			seeing(watching(nil), rimInGlare), 1, 0, ""},
		{"a thing that the other sees the mat at", seeing(watching(nil, vision.UnknownObject{Outline: squareAt(300), Area: 1600}),
			onSquare(300, vision.CellCovered)), seeing(watching(nil), onSquare(300, vision.CellBare)), 0, 1, ""},
		{"what the other saw once", rock(), past(seeing(watching(nil), onSquare(300, vision.CellBare))), 1, 0, ""},
	} {
		for _, swapped := range []bool{false, true} {
			o, views := Options{Names: []string{"camera 1", "camera 2"}}, []vision.Located{c.a, c.b}
			if swapped {
				o.Names, views = []string{"camera 2", "camera 1"}, []vision.Located{c.b, c.a}
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

func TestPastObstaclesAreUnknown(t *testing.T) {
	saw := func() vision.Located {
		return past(seeing(watching([]vision.ObstacleView{rockAt("rock", 300)}, vision.UnknownObject{Outline: squareAt(600), Area: 1600}),
			onSquare(300, vision.CellCovered)))
	}
	rock := rockAt("rock", 300.1)
	rock.Cov[0] = 0.09 // less sure than what was seen before
	for _, c := range []struct {
		name        string
		now         vision.Located
		ids, things int
	}{
		{"nobody else knows of it", watching(nil), 0, 2},
		{"the other sees it too", watching([]vision.ObstacleView{rock}), 1, 1},
		{"the other sees the empty mat", seeing(watching(nil), onSquare(300, vision.CellBare)), 0, 0},
		{"something hides it from the other", seeing(watching(nil), onSquare(300, vision.CellUnseen)), 0, 1},
		{"another lies there now", watching([]vision.ObstacleView{rockAt("other", 300)}), 0, 3},
	} {
		got := fuse(t, Options{}, c.now, saw())
		require.False(t, got.Scene.ObstaclesUnseen, c.name)
		assert.Len(t, got.Scene.Obstacles, c.ids, c.name)
		assert.Len(t, got.Scene.Unknown, c.things, c.name)
		if c.ids > 0 {
			assert.Equal(t, rock.Pose, got.Scene.Obstacles[0].Pose, "the sight of now counts")
		}
	}
	alone := fuse(t, Options{}, vision.Located{Captured: fuseAt}, saw())
	assert.True(t, alone.Scene.ObstaclesUnseen, "nobody looks now")
	assert.Equal(t, vision.UnseenLooking, alone.Obstacles.Unseen)
}

func TestAnUnknownObjectLargerThanAnObstacleIsMore(t *testing.T) {
	wide := []geom.Point{{X: 280, Y: 480}, {X: 334, Y: 495}, {X: 334, Y: 505}, {X: 280, Y: 520}} // 14 mm beyond, of much the same area
	got := fuse(t, Options{}, watching([]vision.ObstacleView{rockAt("rock", 300)}), watching(nil, vision.UnknownObject{Outline: wide,
		Area: 1700}))
	assert.Len(t, got.Scene.Obstacles, 1)
	assert.Len(t, got.Scene.Unknown, 1)

	corner := []geom.Point{{X: 302, Y: 502}, {X: 322, Y: 502}, {X: 322, Y: 522}, {X: 302, Y: 522}} // the rest of it was recognised as nothing
	got = fuse(t, Options{}, watching([]vision.ObstacleView{rockAt("rock", 300)}), watching(nil, vision.UnknownObject{Outline: corner,
		Area: 400}))
	assert.Len(t, got.Scene.Obstacles, 1)
	assert.Empty(t, got.Scene.Unknown)
}

func TestAsThings(t *testing.T) {
	s := watching([]vision.ObstacleView{rockAt("rock", 300)}, vision.UnknownObject{Outline: squareAt(600), Area: 1600}).Obstacles
	got := s.AsUnknown()
	assert.Empty(t, got.Views)
	require.Len(t, got.Unknown, 2)
	assert.InDelta(t, 1600, got.Unknown[1].Area, 1e-9)
	assert.Len(t, s.Views, 1, "the sight itself stays")
}
