package under

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/geom"
	"sightline/vision"
)

// square returns the corners of a square, counter-clockwise.
func square(x, y, side float64) geom.Polygon {
	return geom.Polygon{{X: x, Y: y}, {X: x + side, Y: y}, {X: x + side, Y: y + side}, {X: x, Y: y + side}}
}

// matWith returns a mat with bases on it and something on every cell of some rectangles.
func matWith(bases []geom.Polygon, lies ...geom.Polygon) *Mat {
	m := &Mat{Width: 200, Height: 200, Bases: bases, Own: func(int) float32 { return 1 }}
	m.Lies, m.Covered, m.Seen = make([]bool, 200*200), make([]bool, 200*200), make([]bool, 200*200)
	for k := range m.Lies {
		p := m.middle(k)
		for _, b := range bases {
			m.Covered[k] = m.Covered[k] || b.Contains(p) || b.BoundaryDistance(p) < 3
		}
		m.Seen[k] = !m.Covered[k]
		for _, l := range lies {
			m.Lies[k] = m.Lies[k] || m.Seen[k] && l.Contains(p)
		}
	}
	return m
}

// rightRim returns the cells of the right side of a base, those in hidden not seen.
func rightRim(base geom.Polygon, hidden ...int) (r Rim) {
	const cells, width = 15, 40.0 / 15
	for i := range cells {
		c := vision.RimCell{At: base[1].Add(geom.Point{Y: (float64(i) + 0.5) * width}), Out: geom.Point{X: 1}, Width: width, White: i%2 == 0}
		c.Seen, c.Line = true, true
		for _, h := range hidden {
			c.Seen = c.Seen && h != i
		}
		r = append(r, c)
	}
	return r
}

// What adjoins a rim is surely no miniature only if next to nothing of the rim is hidden there.
func TestWhatHidesSomeOfTheRimIsNotSurelyOnTheMat(t *testing.T) {
	base := square(50, 80, 40)
	m := matWith([]geom.Polygon{base}, square(90, 85, 30))
	assert.Len(t, m.Adjoining([]Rim{rightRim(base)}), 1)
	assert.Len(t, m.Adjoining([]Rim{rightRim(base, 6)}), 1, "one cell was misread")
	assert.Empty(t, m.Adjoining([]Rim{rightRim(base, 5, 6, 7)}), "a panel passes over it")
	beside := rightRim(base)
	for i := 3; i < 12; i++ {
		beside[i].Line = false
	}
	assert.Empty(t, m.Adjoining([]Rim{beside}), "a panel hides no more than the white line")
}

// A rock under two ships that nearly touch is mentioned in the gap between them, all of which counts as the ships'.
func TestARockInTheGapBetweenTwoShipsIsMentioned(t *testing.T) {
	left, right := square(50, 60, 40), square(94, 60, 40)
	rock := square(-25, -25, 50)
	m := matWith([]geom.Polygon{left, right}, square(67, 60, 50)) // of which 10 mm are seen beyond both
	rim := func(base geom.Polygon) (r Rim) {
		for i := range 15 { // the upper side
			r = append(r, vision.RimCell{At: base[3].Add(geom.Point{X: (float64(i) + 0.5) * 40 / 15}), Out: geom.Point{Y: 1}, Width: 40.0 / 15,
				White: i%2 == 0, Seen: true, Line: true})
		}
		return r
	}
	gap := geom.Point{X: 92.5, Y: 95}
	found := false
	posts := []Post{{Rim: rim(left)}, {Rim: rim(right)}}
	for _, cells := range m.Groups(posts, nil, make([]bool, len(m.Lies)), []*Outline{NewOutline(rock)}, 40, 10) {
		for _, k := range cells {
			found = found || m.middle(int(k)).Distance(gap) < 1
		}
	}
	assert.True(t, found)
}

// anywhere is the reach of a miniature that may hide all of the mat.
func anywhere(geom.Point) bool { return true }

// A fighter's panel that hides the rim of its own base hangs behind the visible rim of the next one.
func TestWhatAnotherMiniatureMayHideIsExplained(t *testing.T) {
	own, next := square(50, 80, 40), square(130, 80, 40)
	panel := square(90, 88, 24) // 21 mm of it beyond what counts as the own ship
	m := matWith([]geom.Polygon{own, next}, panel)
	noticed := make([]bool, len(m.Lies))
	copy(noticed, m.Lies)
	hidden, visible := rightRim(own), rightRim(next)
	for i := range hidden {
		hidden[i].Line = false
	}
	for i := range visible { // the left one
		visible[i].At.X, visible[i].Out.X = 130, -1
	}
	none := make([]bool, len(noticed))
	near := func(at geom.Point) bool { return at.X < 120 }
	posts := []Post{
		{Rim: hidden, Pegs: []geom.Point{{X: 70, Y: 100}}, May: near},
		{Rim: visible, Pegs: []geom.Point{{X: 150, Y: 100}}, May: anywhere},
	}
	assert.Empty(t, m.Unexplained(posts, noticed, none))
	posts[0].May = func(geom.Point) bool { return false }
	assert.NotEmpty(t, m.Unexplained(posts, noticed, none), "beyond its reach")
}

// A miniature that reaches over its own rim to the next base is no rock under that one; what is apart from the miniature may be.
func TestWhatReachesOverFromTheNextBaseIsNoRock(t *testing.T) {
	own, next := square(50, 80, 40), square(120, 80, 40)
	hidden, visible := rightRim(own), rightRim(next)
	for i := range hidden {
		hidden[i].Line = false
	}
	for i := range visible { // the left one
		visible[i].At.X, visible[i].Out.X = 120, -1
	}
	rock := []*Outline{NewOutline(square(-13, -13, 26))}
	for name, c := range map[string]struct {
		lies []geom.Polygon
		may  func(geom.Point) bool
		rock bool
	}{
		"all of one piece":        {[]geom.Polygon{square(91, 86, 28)}, anywhere, false},
		"a small gap":             {[]geom.Polygon{square(75, 86, 28), square(106, 86, 28)}, anywhere, false},
		"apart":                   {[]geom.Polygon{square(70, 86, 28), square(108, 86, 28)}, anywhere, true},
		"nothing at its own base": {[]geom.Polygon{square(104, 86, 28)}, anywhere, true},
		"beyond its reach":        {[]geom.Polygon{square(91, 86, 28)}, func(at geom.Point) bool { return at.X < 105 }, true},
	} {
		m := matWith([]geom.Polygon{own, next}, c.lies...)
		none := make([]bool, len(m.Lies))
		posts := []Post{
			{Rim: hidden, Pegs: []geom.Point{{X: 70, Y: 100}}, May: c.may},
			{Rim: visible, Pegs: []geom.Point{{X: 140, Y: 100}}, May: c.may},
		}
		m.Explain(posts, none, none)
		assert.Equal(t, c.rock, len(m.Groups(posts, nil, none, rock, 40, 10)) > 0, name)
	}
}

// What lies next to a base is the miniature's only where that hides the rim, as seen from the end of its peg.
func TestWhatLiesBehindAVisibleRimIsNotTheMiniatures(t *testing.T) {
	base := square(50, 80, 40)
	dark := square(90, 88, 24) // 21 mm of it beyond what counts as the ship's
	m := matWith([]geom.Polygon{base}, dark)
	noticed := make([]bool, len(m.Lies))
	copy(noticed, m.Lies)
	clear(m.Lies) // darker than the mat, as a shadow is
	pegs := []geom.Point{{X: 70, Y: 100}, {X: 72, Y: 100}}
	visible, hidden := rightRim(base), rightRim(base)
	for i := range hidden {
		hidden[i].Line = i < 2 || i > 12
	}
	none := make([]bool, len(noticed))
	for name, rim := range map[string]Rim{"visible": visible, "hidden": hidden} {
		parts := m.Unexplained([]Post{{Rim: rim, Pegs: pegs, May: anywhere}}, noticed, none)
		if name == "hidden" {
			assert.Empty(t, parts)
			continue
		}
		if assert.Len(t, parts, 1) {
			assert.InDelta(t, 21*24, len(parts[0]), 60)
		}
		copy(m.Lies, noticed)
		found := 0
		for _, cells := range m.Groups([]Post{{Rim: rim}}, parts, none, []*Outline{NewOutline(square(-13, -13, 26))}, 40, 10) {
			found += len(cells)
		}
		assert.Greater(t, found, 300)
	}
}

// A miniature beyond its base in which an obstacle finds room in many places may hold one; one that only just has room does not.
func TestWhatPassesForAMiniatureMayHoldAnObstacle(t *testing.T) {
	base := square(40, 40, 40)
	rock := []*Outline{NewOutline(square(-10, -10, 20))}
	for _, c := range []struct {
		deep  float64 // mm beyond the base
		holds bool
	}{{11, false}, {45, true}} {
		m := matWith([]geom.Polygon{base}, geom.Polygon{{X: 80, Y: 40}, {X: 80 + c.deep, Y: 40}, {X: 80 + c.deep, Y: 80}, {X: 80, Y: 80}})
		miniature := make([]bool, len(m.Lies))
		copy(miniature, m.Lies)
		found := 0
		for _, cells := range m.Groups(nil, nil, miniature, rock, 40, 10) {
			found += len(cells)
		}
		assert.Equal(t, c.holds, found > 300, "%v mm: %d cells", c.deep, found)
		assert.Empty(t, m.Groups(nil, nil, make([]bool, len(m.Lies)), rock, 40, 10), "%v mm of something else", c.deep)
	}
}

// Where an obstacle finds room with a third of it in view, only what is seen beyond the base is in doubt, and lines next to it are not. The
// more outlines the catalogue has that find none, the less it is expected.
func TestWhatPassesForALargeMiniatureIsInDoubt(t *testing.T) {
	base := square(40, 40, 40)
	for _, c := range []struct {
		deep   float64 // mm beyond the base
		larger int     // outlines that find no room
		doubt  bool
	}{{13, 0, false}, {19, 0, true}, {16, 3, true}, {16, 7, false}} {
		outlines := []*Outline{NewOutline(square(-18, -18, 36))}
		for range c.larger {
			outlines = append(outlines, NewOutline(square(-40, -40, 80)))
		}
		m := matWith([]geom.Polygon{base}, geom.Polygon{{X: 80, Y: 40}, {X: 80 + c.deep, Y: 40}, {X: 80 + c.deep, Y: 80}, {X: 80, Y: 80}})
		miniature := make([]bool, len(m.Lies))
		copy(miniature, m.Lies)
		found := 0
		for _, cells := range m.Groups(nil, nil, miniature, outlines, 40, 10) {
			for _, k := range cells {
				p := m.middle(int(k))
				assert.True(t, p.X > 83 && p.X < 80+c.deep-1, "%v", p)
				found++
			}
		}
		assert.Equal(t, c.doubt, found > 300, "%+v: %d cells", c, found)
	}
}

// A miniature begins over its base: what passes for it beyond a gap is another thing.
func TestWhatNoMiniatureLeadsToIsLoose(t *testing.T) {
	base, rimless := square(50, 80, 40), square(150, 80, 40)
	hidden := rightRim(base)
	for i := range hidden {
		hidden[i].Line = false
	}
	middle, strip := geom.Point{X: 70, Y: 100}, geom.Polygon{{X: 50, Y: 120}, {X: 90, Y: 120}, {X: 90, Y: 125}, {X: 50, Y: 125}}
	for name, c := range map[string]struct {
		bases []geom.Polygon
		lies  []geom.Polygon
		peg   geom.Point
		loose bool
	}{
		"of one piece":                    {[]geom.Polygon{base}, []geom.Polygon{square(80, 86, 28)}, middle, false},
		"beyond a gap":                    {[]geom.Polygon{base}, []geom.Polygon{square(108, 86, 28)}, middle, true},
		"a speck":                         {[]geom.Polygon{base}, []geom.Polygon{square(108, 86, 6)}, middle, false},
		"next to the base":                {[]geom.Polygon{base}, []geom.Polygon{strip}, middle, false},
		"a ship without a rim next to it": {[]geom.Polygon{base, rimless}, []geom.Polygon{square(108, 86, 28)}, middle, false},
		"at the end of a peg that leans":  {[]geom.Polygon{base}, []geom.Polygon{square(108, 86, 28)}, geom.Point{X: 112, Y: 100}, false},
	} {
		m := matWith(c.bases, c.lies...)
		none := make([]bool, len(m.Lies))
		posts := []Post{{Rim: hidden, Pegs: []geom.Point{c.peg}, May: anywhere}}
		m.Explain(posts, none, none)
		parts := m.Loose(posts, m.Lies, none)
		if assert.Equal(t, c.loose, len(parts) > 0, name) && c.loose {
			assert.InDelta(t, 28*28, len(parts[0]), 60, name)
		}
	}
}

// A rock in a hard shadow is as dark as that in places: its piece next to the base, which a miniature may explain, is the rock's too.
func TestPiecesAcrossAShadowAreOneThing(t *testing.T) {
	base := square(50, 80, 40)
	hidden := rightRim(base)
	for i := range hidden {
		hidden[i].Line = false
	}
	posts := []Post{{Rim: hidden, Pegs: []geom.Point{{X: 70, Y: 100}}, May: anywhere}}
	m := matWith([]geom.Polygon{base}, square(83, 93, 14), square(105, 86, 28)) // 8 mm apart
	none, dark := make([]bool, len(m.Lies)), make([]bool, len(m.Lies))
	for k := range dark {
		p := m.middle(k)
		dark[k] = !m.Lies[k] && square(97, 80, 40).Contains(p)
	}
	m.Explain(posts, none, none)
	near := func(dark []bool) (n int) {
		for _, part := range m.Loose(posts, m.Lies, dark) {
			for _, k := range part {
				if m.middle(int(k)).X < 97 {
					n++
				}
			}
		}
		return n
	}
	assert.InDelta(t, 4*14, near(dark), 10)
	assert.Zero(t, near(none), "bare mat lies between")
}

// A line from a base's corner does not pass between what two sides show of one rock.
func TestTwoPiecesAtACornerAreJoined(t *testing.T) {
	base := square(50, 50, 40)
	m := matWith([]geom.Polygon{base})
	cells := make([]bool, len(m.Lies))
	for k := range cells { // next to the right and to the upper side, and nothing beyond the corner
		p := m.middle(k)
		cells[k] = p.X > 93 && p.X < 97 && p.Y > 80 && p.Y < 89 || p.Y > 93 && p.Y < 97 && p.X > 80 && p.X < 89
	}
	corner := geom.Point{X: 93, Y: 93}
	crossed := func() (n int) {
		for _, group := range m.grouped(cells) {
			var all geom.Polygon
			for _, k := range group {
				all = append(all, m.middle(int(k)))
			}
			if hull := all.Hull(nil); geom.Gap(hull, geom.Polygon{corner}) < 1 {
				n++
			}
		}
		return n
	}
	assert.Positive(t, crossed())
	for k := range cells {
		cells[k] = cells[k] && m.middle(k).X > 93
	}
	assert.Zero(t, crossed(), "a piece next to one side alone")
}

// A rock next to one side of a base is found whatever the miniature hides round the corner.
func TestARockNextToAMiniatureRoundTheCornerIsFound(t *testing.T) {
	base := square(50, 80, 40)
	m := matWith([]geom.Polygon{base}, square(90, 100, 24), square(60, 120, 30)) // the rock at the right, the miniature above
	r := rightRim(base)
	for i := range 15 { // the upper side, from the right
		r = append(r, vision.RimCell{At: base[2].Sub(geom.Point{X: (float64(i) + 0.5) * 40 / 15}), Out: geom.Point{Y: 1}, Width: 40.0 / 15,
			White: i%2 == 0, Seen: i == 0})
	}
	found := 0
	for _, cells := range m.Groups([]Post{{Rim: r}}, nil, make([]bool, len(m.Lies)), []*Outline{NewOutline(square(-16, -16, 32))}, 40, 10) {
		for _, k := range cells {
			if p := m.middle(int(k)); p.X > 95 && p.Y > 100 && p.Y < 120 {
				found++
			}
		}
	}
	assert.Greater(t, found, 200)
}
