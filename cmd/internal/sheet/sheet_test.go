package sheet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// tolerance of every length on the sheets, mm.
const tolerance = 0.05

func board(cols, rows int, square geom.Length) calibration.Board {
	return calibration.Board{Cols: cols, Rows: rows, Square: square}
}

// starter is one sheet with tokens of all sizes and both players.
func starter(t *testing.T) []token.Token {
	return []token.Token{
		tokenOf(t, "A8", engine.Large), tokenOf(t, "B18", engine.Large),
		tokenOf(t, "A7", engine.Medium), tokenOf(t, "B7", engine.Medium),
		tokenOf(t, "A1", engine.Small), tokenOf(t, "B2", engine.Small), tokenOf(t, "A10", engine.Small),
	}
}

func TestBothRulesAre100MillimetresLong(t *testing.T) {
	if testing.Short() {
		t.Skip("rasterises whole sheets in one goroutine: nothing for the race detector")
	}
	markers, err := MatMarkers(paperNamed(t, "letter"), calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	require.NoError(t, err)
	chess, err := LensBoard(paperNamed(t, "a4"), board(9, 6, 25*geom.Millimeter))
	require.NoError(t, err)
	for _, pr := range printers {
		for name, page := range map[string]Page{"markers on letter": markers[1], "chessboard on a4": chess} {
			t.Run(pr.name+", "+name, func(t *testing.T) {
				for _, printer := range compensated {
					page.Printer = printer
					assertRules(t, pr.pictures(t, []Page{page})[0].through(page), page)
				}
			})
		}
	}
}

// assertRules looks for the two rules and measures them.
func assertRules(t *testing.T, pic picture, page Page) {
	t.Helper()
	w, h := float64(page.Width), float64(page.Height)
	assert.InDelta(t, w*pic.perMM, pic.Bounds().Dx(), 1, "the picture's width")
	assert.InDelta(t, h*pic.perMM, pic.Bounds().Dy(), 1, "the picture's height")
	for _, across := range []bool{true, false} {
		best := 0.0 // the longest black stretch near the lower or the left edge
		for d := 5.0; d < 13; d += 0.25 {
			e := pic.edges(geom.Point{X: 2, Y: h - d}, geom.Point{X: w - 2, Y: h - d})
			if !across {
				e = pic.edges(geom.Point{X: d, Y: 2}, geom.Point{X: d, Y: h - 2})
			}
			for i := 0; i+1 < len(e); i += 2 {
				best = math.Max(best, e[i+1]-e[i])
			}
		}
		assert.InDelta(t, 100, best, tolerance, "rule, across: %v", across)
		t.Logf("rule, across %v: %.3f mm", across, best)
	}
}

func TestTokensOnASheetAreTheTokensThatTheCameraReads(t *testing.T) {
	if testing.Short() {
		t.Skip("rasterises whole sheets in one goroutine: nothing for the race detector")
	}
	for _, printer := range compensated {
		paper, tokens := paperFor(t, "a4", printer), starter(t)
		layout := layoutOf(t, paper, tokens)
		require.Len(t, layout, 1)
		require.Len(t, layout[0], len(tokens))
		pages := pagesOf(t, paper, tokens)
		for _, pr := range printers {
			t.Run(fmt.Sprint(pr.name, ", ", printer), func(t *testing.T) {
				pic := pr.pictures(t, pages)[0].through(pages[0])
				assertRules(t, pic, pages[0])
				for _, p := range layout[0] {
					assertToken(t, pic, p)
				}
			})
		}
	}
}

// assertToken compares a printed token with token.Token.At at the middle of
// every cell, and measures its side.
func assertToken(t *testing.T, pic picture, p placedToken) {
	t.Helper()
	id := p.token.Code.ID()
	hx, hy := p.token.Half()
	white := func(q geom.Point) bool { return pic.at(p.x+hx+q.X, p.y+hy-q.Y) > 127 }
	for s := range 4 {
		h, out, width := hx, hy, float64(token.CellWidth(p.token.Base, token.Side(s)))
		if s%2 == 1 {
			h, out = hy, hx
		}
		turn := geom.Pose{Heading: geom.Angle(s) * 90 * geom.Degree}
		for i := -1; i <= token.Cells(p.token.Base, token.Side(s)); i++ { // with the corner blocks
			along := -h + float64(token.Corner) + (float64(i)+0.5)*width
			for _, depth := range []float64{0.5, 1.4, 2.35, 3.3} {
				q := turn.Transform(geom.Point{X: along, Y: out - depth})
				want, ok := p.token.At(q)
				require.True(t, ok)
				if !assert.Equal(t, want == token.InkWhite, white(q), "%s %v: side %v, cell %d, depth %.1f", id, p.token.Base, token.Side(s), i,
					depth) {
					return
				}
			}
		}
	}
	// The dark corner blocks end a keyline's width inside the token's edges.
	depth := float64(token.Keyline) + 0.3
	across := pic.edges(geom.Point{X: p.x - 0.5, Y: p.y + depth}, geom.Point{X: p.x + 2*hx + 0.5, Y: p.y + depth})
	down := pic.edges(geom.Point{X: p.x + depth, Y: p.y - 0.5}, geom.Point{X: p.x + depth, Y: p.y + 2*hy + 0.5})
	for name, e := range map[string][]float64{"across": across, "down": down} {
		side := 2 * hx
		if name == "down" {
			side = 2 * hy
		}
		require.GreaterOrEqual(t, len(e), 2)
		got := e[len(e)-1] - e[0] + 2*float64(token.Keyline)
		assert.InDelta(t, side, got, tolerance, "%s: side %s", id, name)
	}
	// The cut marks over the token stand on its edges.
	marks := pic.edges(geom.Point{X: p.x - 0.5, Y: p.y - 1.8}, geom.Point{X: p.x + 2*hx + 0.5, Y: p.y - 1.8})
	if assert.Len(t, marks, 4, "%s: two cut marks", id) {
		assert.InDelta(t, 2*hx, (marks[2]+marks[3]-marks[0]-marks[1])/2, tolerance, "%s: between the cut marks", id)
	}
}

func TestEverySingleTokenIsTheTokenThatTheCameraReads(t *testing.T) {
	if testing.Short() {
		t.Skip("rasterises whole sheets in one goroutine: nothing for the race detector")
	}
	const dpi = 200
	for code := range token.ShipCode(token.Ships) {
		bases := token.Bases[:3]
		if code%9 == 4 { // huge ones take long
			bases = token.Bases[:]
		}
		for _, base := range bases {
			tok, err := token.NewToken(code, base)
			require.NoError(t, err)
			pic := pictureOfPNG(t, Single(tok, PrinterScale{}), dpi)
			hx, hy := tok.Half()
			n, high := int(math.Round(2*hx/25.4*dpi)), int(math.Round(2*hy/25.4*dpi))
			require.Equal(t, image.Rect(0, 0, n, high), pic.Bounds(), "%s %v", tok.Code.ID(), base)
			pic.perMM = float64(n) / (2 * hx) // the picture fills the token
			checked := 0
			for y := 0.25 - hy; y < hy; y += 0.5 {
				for x := 0.25 - hx; x < hx; x += 0.5 {
					want, sure := plainInk(tok, geom.Point{X: x, Y: y})
					if !sure || forPeople(tok, x, y) {
						continue
					}
					checked++
					if got := pic.ink(x+hx, hy-y); !alike(got, want) {
						t.Fatalf("%s %v: ink at (%.2f, %.2f) mm = %v, want %v", tok.Code.ID(), base, x, y, got, want)
					}
				}
			}
			assert.Greater(t, checked, int(4*hx*hy), "%v: points checked", base)
		}
	}
}

// alike reports whether two colours differ by no more than a rasteriser's rounding.
func alike(a, b color.RGBA) bool {
	near := func(x, y uint8) bool { return max(x, y)-min(x, y) <= 2 }
	return near(a.R, b.R) && near(a.G, b.G) && near(a.B, b.B) && a.A == b.A
}

// plainInk returns the ink at a point, and whether it is the same for 0.2 mm
// round it, so that no smoothed edge is near.
func plainInk(k token.Token, p geom.Point) (ink color.RGBA, sure bool) {
	ink, sure = k.At(p)
	for _, d := range []geom.Point{{X: 0.2}, {X: -0.2}, {Y: 0.2}, {Y: -0.2}} {
		near, ok := k.At(p.Add(d))
		sure = sure && ok && near == ink
	}
	return ink, sure
}

// forPeople reports whether a point may carry the chevron or the letters, which
// token.Token.At leaves out: within the panel, away from the rim, near the middle
// of its front or rear.
func forPeople(k token.Token, x, y float64) bool {
	panel := panelOf(k).Y
	return math.Abs(y) < panel-float64(letterGap)+0.1 && math.Abs(y) > panel/4 && math.Abs(x) < math.Abs(y)
}

func TestLettersAndChevronKeepClearOfRimAndArcLines(t *testing.T) {
	for code := range token.ShipCode(token.Ships) {
		for _, base := range token.Bases {
			tok, err := token.NewToken(code, base)
			require.NoError(t, err)
			panel := panelOf(tok)
			sin, cos := math.Sincos(float64(token.FrontArcHalfAngle(base)))
			for _, s := range append([]Shape{chevron(tok, panel)}, letters(tok, panel)...) {
				for _, ring := range s.Rings {
					for _, q := range ring {
						name := fmt.Sprintf("%s %v: (%.2f, %.2f)", tok.Code.ID(), base, q.X, q.Y)
						require.GreaterOrEqual(t, min(panel.X-math.Abs(q.X), panel.Y-math.Abs(q.Y)), 2.0, name)
						require.Greater(t, math.Abs(q.Y)*sin-math.Abs(q.X)*cos, 0.3, name+" from the arc line")
					}
				}
			}
		}
	}
}

func TestTheChevronPointsToTheFrontAndTheIDStandsAtTheRear(t *testing.T) {
	tok := tokenOf(t, "A1", engine.Small)
	lo, hi := chevron(tok, panelOf(tok)).bounds()
	assert.Positive(t, lo.Y)
	assert.InDelta(t, 0, lo.X+hi.X, 1e-9)
	words := 0
	for _, s := range letters(tok, panelOf(tok)) {
		lo, hi := s.bounds()
		assert.Negative(t, hi.Y)
		assert.Less(t, lo.Y, hi.Y)
		if s.Words != nil {
			words++
			assert.Equal(t, "A1", s.Words.Text)
			assert.Greater(t, float64(s.Words.Height), 5.0, "mm high")
		}
	}
	assert.Equal(t, 1, words)
}

func TestSheetsHoldEveryTokenOnceWithoutOverlap(t *testing.T) {
	var all []token.Token
	for code := range token.ShipCode(token.Ships) {
		k, err := token.NewToken(code, token.Bases[code%5])
		require.NoError(t, err)
		all = append(all, k)
	}
	for _, name := range []string{"a4", "letter", "a3", "tabloid"} {
		paper := paperNamed(t, name)
		area := paper.content()
		seen := map[token.ShipCode]bool{}
		for _, page := range layoutOf(t, paper, all) {
			assert.NotEmpty(t, page)
			for i, p := range page {
				hx, hy := p.token.Half()
				assert.False(t, seen[p.token.Code])
				seen[p.token.Code] = true
				assert.True(t, p.x >= area.x0 && p.y >= area.y0 && p.x+2*hx <= area.x1 && p.y+2*hy <= area.y1, "%s: %s at (%.1f, %.1f)", name,
					p.token.Code.ID(), p.x, p.y)
				for _, q := range page[:i] {
					ox, oy := q.token.Half()
					apart := p.x-q.x-2*ox >= 5 || q.x-p.x-2*hx >= 5 || p.y-q.y-2*oy >= 5 || q.y-p.y-2*hy >= 5
					assert.True(t, apart, "%s: %s and %s", name, p.token.Code.ID(), q.token.Code.ID())
				}
			}
		}
		assert.Len(t, seen, token.Ships)
	}
}

func TestMatMarkersAreTheTagsOfTheFamily(t *testing.T) {
	if testing.Short() {
		t.Skip("rasterises whole sheets in one goroutine: nothing for the race detector")
	}
	pages, err := MatMarkers(paperNamed(t, "a4"), calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	require.NoError(t, err)
	require.Len(t, pages, 2)
	for _, pr := range printers {
		t.Run(pr.name, func(t *testing.T) {
			pic := pr.pictures(t, pages[:1])[0]
			for id := range 8 {
				// The cards lie three in a row, 62 mm apart; the first black square
				// begins 8 mm within the content.
				x, y := 18+8+62*float64(id%3), 14+8+62*float64(id/3)
				assertTag(t, pic, id, x, y)
			}
		})
	}
}

func assertTag(t *testing.T, pic picture, id int, x, y float64) {
	t.Helper()
	const side, cell = 40.0, 5.0
	for r := range 8 {
		for c := range 8 {
			want, err := calibration.TagWhite(id, c, r)
			require.NoError(t, err)
			for _, d := range []geom.Point{{X: 0.1, Y: 0.1}, {X: 2.5, Y: 2.5}, {X: 4.9, Y: 4.9}} {
				got := pic.at(x+cell*float64(c)+d.X, y+cell*float64(r)+d.Y) > 127
				require.Equal(t, want, got, "marker %d: cell column %d row %d", id, c, r)
			}
		}
	}
	across := pic.edges(geom.Point{X: x - 4, Y: y + 2}, geom.Point{X: x + side + 4, Y: y + 2})
	down := pic.edges(geom.Point{X: x + 2, Y: y - 4}, geom.Point{X: x + 2, Y: y + side + 4})
	require.Len(t, across, 2, "marker %d", id)
	require.Len(t, down, 2, "marker %d", id)
	assert.InDelta(t, side, across[1]-across[0], tolerance, "marker %d: width", id)
	assert.InDelta(t, side, down[1]-down[0], tolerance, "marker %d: height", id)
	// 5 mm of pure white all round.
	for u := -4.95; u < side+4.95; u += 0.1 {
		for _, v := range []float64{0.1, 1, 2, 3, 4, 4.9} {
			for _, q := range []geom.Point{{X: u, Y: -v}, {X: u, Y: side + v}, {X: -v, Y: u}, {X: side + v, Y: u}} {
				require.GreaterOrEqual(t, pic.at(x+q.X, y+q.Y), 254.0, "marker %d: white border at (%.1f, %.1f)", id, q.X, q.Y)
			}
		}
	}
	// The cut marks over the card stand 56 mm apart.
	marks := pic.edges(geom.Point{X: x - 8.5, Y: y - 8 - 1.8}, geom.Point{X: x + side + 8.5, Y: y - 8 - 1.8})
	if assert.Len(t, marks, 4, "marker %d: cut marks", id) {
		assert.InDelta(t, 56, (marks[2]+marks[3]-marks[0]-marks[1])/2, tolerance, "marker %d: card", id)
	}
}

func TestPlacementsSayWhereTheLayoutHasTheMarkers(t *testing.T) {
	l := calibration.DefaultLayout(914.4*geom.Millimeter, 600*geom.Millimeter)
	want := []string{
		"left, near left, 12.0", "left, near left, 272.0", "left, far left, 12.0",
		"far, far left, 273.8", "far, far right, 273.8",
		"right, far right, 12.0", "right, near right, 272.0", "right, near right, 12.0",
	}
	for i, m := range l.Markers {
		p := placementOf(l, m)
		assert.Equal(t, want[i], fmt.Sprintf("%s, %s, %.1f", p.edge, p.corner, p.begins), "marker %d", m.ID)
		// Laying the card by these words gives the layout's place back.
		corner, along, away := p.axes(l)
		back := corner.Add(along.Mul(p.begins + 28)).Add(away.Mul(28))
		assert.InDelta(t, 0, float64(back.Distance(m.Center)), 1e-9, "marker %d: %v, want %v", m.ID, back, m.Center)
	}
}

func TestMatMarkersOfAnUnknownIDAreAnError(t *testing.T) {
	l := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	l.Markers[0].ID = 587
	_, err := MatMarkers(paperNamed(t, "a4"), l)
	assert.ErrorContains(t, err, "587")
}

func TestChessboardCornersAreASquareApart(t *testing.T) {
	if testing.Short() {
		t.Skip("rasterises whole sheets in one goroutine: nothing for the race detector")
	}
	page, err := LensBoard(paperNamed(t, "a4"), board(9, 6, 25*geom.Millimeter))
	require.NoError(t, err)
	for _, pr := range printers {
		t.Run(pr.name, func(t *testing.T) {
			pic := pr.pictures(t, []Page{page})[0]
			first := pic.edges(geom.Point{X: 20, Y: 100}, geom.Point{X: 294, Y: 100})
			require.NotEmpty(t, first)
			// The board's place is found, not known: 10×7 squares from the first edges.
			var x0, y0 float64
			for _, y := range []float64{40, 65} { // one of two rows of squares begins black
				e := pic.edges(geom.Point{X: 20, Y: y}, geom.Point{X: 294, Y: y})
				require.NotEmpty(t, e)
				if x0 == 0 || e[0] < x0 {
					x0 = e[0]
				}
			}
			e := pic.edges(geom.Point{X: x0 + 12.5, Y: 12}, geom.Point{X: x0 + 12.5, Y: 195})
			require.NotEmpty(t, e)
			y0 = e[0]
			for r := range 7 {
				y := y0 + 25*float64(r) + 12.5
				e := pic.edges(geom.Point{X: x0 - 5, Y: y}, geom.Point{X: x0 + 255, Y: y})
				require.Len(t, e, 10, "row %d: five black squares", r)
				for i, x := range e {
					assert.InDelta(t, x0+25*float64(i+r%2), x, tolerance/2, "row %d, edge %d", r, i)
				}
			}
			for c := range 10 {
				x := x0 + 25*float64(c) + 12.5
				e := pic.edges(geom.Point{X: x, Y: y0 - 2}, geom.Point{X: x, Y: y0 + 177})
				require.Len(t, e, 8-2*(c%2), "column %d", c)
				for i, y := range e {
					assert.InDelta(t, y0+25*float64(i+c%2), y, tolerance/2, "column %d, edge %d", c, i)
				}
			}
		})
	}
}

func TestBoardsThatDoNotFitAreRefusedWithWhatFits(t *testing.T) {
	_, err := LensBoard(paperNamed(t, "a4"), board(9, 6, 30*geom.Millimeter))
	assert.ErrorContains(t, err, "a4 landscape has 271 × 178 mm: expected squares of at most 25.4 mm")
	_, err = LensBoard(paperNamed(t, "a4"), board(9, 6, 25.4*geom.Millimeter))
	assert.NoError(t, err)
	_, err = LensBoard(paperNamed(t, "letter"), board(9, 6, 25*geom.Millimeter))
	assert.NoError(t, err)
	_, err = LensBoard(paperNamed(t, "a4"), board(9, 6, 0.5*geom.Millimeter))
	assert.ErrorContains(t, err, "squares of at least 1 mm")
	_, err = LensBoard(paperNamed(t, "a4"), board(2, 6, 10*geom.Millimeter))
	assert.ErrorContains(t, err, "expected two numbers from 3 to 100")
}

func TestPNGSaysItsResolution(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	var b bytes.Buffer
	require.NoError(t, WritePNG(&b, Single(tokenOf(t, "A1", engine.Small), PrinterScale{}), 600))
	i := bytes.Index(b.Bytes(), []byte("pHYs"))
	require.Positive(t, i)
	phys := b.Bytes()[i+4:]
	assert.Equal(t, uint32(23622), binary.BigEndian.Uint32(phys), "600 dpi in pixels per metre")
	assert.Equal(t, uint32(23622), binary.BigEndian.Uint32(phys[4:]))
	assert.Equal(t, byte(1), phys[8], "unit: metre")
	for _, dpi := range []int{0, 71, 1201, -600} {
		assert.ErrorContains(t, WritePNG(&b, Page{}, dpi), "expected 72…1200", "WritePNG at %d dpi", dpi)
	}
}

func TestAreasAreExactWhateverTheirEdges(t *testing.T) {
	// A triangle and a hole, away from the pixel grid: the sum of the darkness is
	// the area.
	page := Page{Width: 25.4, Height: 25.4}
	page.add(Shape{Fill: black, Rings: [][]geom.Point{{{X: 3.3, Y: 2.1}, {X: 22.7, Y: 7.9}, {X: 6.1, Y: 21.3}}}})
	page.frame(0.51, 0.52, 24.13, 24.74, 0.317, black)
	pic := pictureOfPNG(t, page, 100)
	dark := 0.0
	for y := range 100 {
		for x := range 100 {
			dark += 1 - pic.grey(x, y)/255
		}
	}
	a, b := geom.Point{X: 22.7 - 3.3, Y: 7.9 - 2.1}, geom.Point{X: 6.1 - 3.3, Y: 21.3 - 2.1}
	w, h := 24.13-0.51, 24.74-0.52
	want := a.Cross(b)/2 + w*h - (w-2*0.317)*(h-2*0.317)
	assert.InDelta(t, want, dark/(pic.perMM*pic.perMM), 0.003*want)
}

func TestEverySheetSaysHowToPrintIt(t *testing.T) {
	needPoppler(t, "pdftotext")
	chess, err := LensBoard(paperNamed(t, "letter"), board(9, 6, 25*geom.Millimeter))
	require.NoError(t, err)
	markers, err := MatMarkers(paperNamed(t, "a4"), calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	require.NoError(t, err)
	pages := append(append(pagesOf(t, paperNamed(t, "a4"), starter(t)), markers...), chess)
	file := filepath.Join(t.TempDir(), "all.pdf")
	_, err = WriteFiles(file, PDF, 600, pages)
	require.NoError(t, err)
	out, err := exec.Command("pdftotext", file, "-").Output()
	require.NoError(t, err)
	assert.Equal(t, len(pages), strings.Count(string(out), "print at 100 %, not fit to page"))
	assert.Equal(t, 2*len(pages), strings.Count(string(out), "measured: ____________ mm"))
	assert.Contains(t, string(out), "marker 7 · this edge away from player 1")
}

// A paper that is too short for a huge base's token says so; none is left out in silence.
func TestATokenThatNoSheetHoldsIsRefused(t *testing.T) {
	for _, c := range []struct {
		base engine.Base
		ok   bool
	}{{engine.Large, true}, {engine.Huge195, false}, {engine.Huge225, false}} {
		_, err := Tokens(paperNamed(t, "a4").Landscape(), []token.Token{tokenOf(t, "A1", engine.Small), tokenOf(t, "B2", c.base)})
		if c.ok {
			require.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, "B2: the token of a "+c.base.String()+" base is 80 × ")
		assert.ErrorContains(t, err, "a4 landscape leaves 271 × 178 mm")
	}
}

func layoutOf(t *testing.T, paper Paper, tokens []token.Token) [][]placedToken {
	t.Helper()
	layout, err := packed(paper, tokens)
	require.NoError(t, err)
	return layout
}

func pagesOf(t *testing.T, paper Paper, tokens []token.Token) []Page {
	t.Helper()
	pages, err := Tokens(paper, tokens)
	require.NoError(t, err)
	return pages
}
