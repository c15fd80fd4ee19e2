//go:build opencv

package sheet

import (
	"fmt"
	"image"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/jig"
	"sightline/vision/opencv"
)

// The loop is closed here: a sheet becomes a PDF, another program turns that into a
// picture at 600 dpi, the detectors that look through the camera find what is on it,
// and lengths are compared in mm of the paper that comes out of the printer.

// reduced is a grey picture, each pixel the mean of n×n of the page's, and
// its inverse: where on the paper one of its pixels lies, in mm.
func reduced(pic picture, n int) (*image.Gray, func(geom.Pixel) geom.Point) {
	b := pic.Bounds()
	out := image.NewGray(image.Rect(0, 0, b.Dx()/n, b.Dy()/n))
	page, isGrey := pic.Image.(*image.Gray)
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			sum := 0
			for j := range n {
				for i := range n {
					if isGrey {
						sum += int(page.Pix[(y*n+j)*page.Stride+x*n+i])
					} else {
						sum += int(pic.grey(x*n+i, y*n+j))
					}
				}
			}
			out.Pix[y*out.Stride+x] = byte((sum + n*n/2) / (n * n))
		}
	}
	return out, func(p geom.Pixel) geom.Point {
		x, y := pic.paper((p.X+0.5)*float64(n), (p.Y+0.5)*float64(n))
		return geom.Point{X: x, Y: y}
	}
}

// printedPDF is a page as its printer puts it on paper.
func printedPDF(t *testing.T, page Page) picture {
	t.Helper()
	return picturesOfPDF(t, []Page{page})[0].through(page)
}

// foundTags returns the corners of the markers on a page, in mm of the paper.
func foundTags(t *testing.T, pic picture) map[int][4]geom.Point {
	t.Helper()
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	require.NoError(t, err)
	defer d.Close()
	grey, paper := reduced(pic, 3)
	found, err := d.DetectMarkers(grey)
	require.NoError(t, err)
	out := map[int][4]geom.Point{}
	for _, m := range found {
		require.NotContains(t, out, m.ID, "marker %d twice", m.ID)
		assert.Zero(t, m.Hamming, "marker %d", m.ID)
		var c [4]geom.Point
		for k, p := range m.Corners {
			c[k] = paper(p)
		}
		out[m.ID] = c
	}
	return out
}

// assertTogether compares found corners with designed ones after the shift that fits
// best: where on the sheet things stand does not matter, how they stand to each other does.
func assertTogether(t *testing.T, want, got []geom.Point) {
	t.Helper()
	require.Len(t, got, len(want))
	var shift geom.Point
	for i := range want {
		shift = shift.Add(got[i].Sub(want[i]).Mul(1 / float64(len(want))))
	}
	worst := 0.0
	for i := range want {
		worst = max(worst, got[i].Sub(want[i]).Sub(shift).Norm())
	}
	t.Logf("%d points within %.4f mm", len(want), worst)
	assert.Less(t, worst, tolerance, "mm")
}

// assertMarkers compares the markers on a page with their design, y down.
func assertMarkers(t *testing.T, pic picture, designed map[int][4]geom.Point) {
	t.Helper()
	found := foundTags(t, pic)
	var want, got []geom.Point
	for id, w := range designed {
		g, ok := found[id]
		if assert.True(t, ok, "marker %d is found", id) {
			want, got = append(want, w[:]...), append(got, g[:]...)
		}
	}
	assert.Len(t, found, len(designed), "markers on the sheet")
	if len(got) == len(want) && len(want) > 0 {
		assertTogether(t, want, got)
	}
}

func closedLoop(t *testing.T, test func(t *testing.T, printer PrinterScale)) {
	if testing.Short() {
		t.Skip("rasterises whole sheets")
	}
	needPoppler(t, "pdftoppm")
	for _, printer := range compensated {
		t.Run(fmt.Sprint(printer), func(t *testing.T) { test(t, printer) })
	}
}

func TestMatMarkersComeOutTrue(t *testing.T) {
	closedLoop(t, func(t *testing.T, printer PrinterScale) {
		layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
		pages, err := MatMarkers(paperFor(t, "a4", printer), layout)
		require.NoError(t, err)
		want := map[int][4]geom.Point{}
		for i, m := range layout.Markers { // three cards a row, 62 mm apart
			x, y := 62*float64(i%3), 62*float64(i/3)
			want[m.ID] = [4]geom.Point{{X: x, Y: y}, {X: x + 40, Y: y}, {X: x + 40, Y: y + 40}, {X: x, Y: y + 40}}
		}
		assertMarkers(t, printedPDF(t, pages[0]), want)
	})
}

func TestTheCheckCardComesOutTrue(t *testing.T) {
	closedLoop(t, func(t *testing.T, printer PrinterScale) {
		for _, name := range []string{"a4", "letter"} {
			card := verify.DefaultCard()
			page, err := CheckCard(paperFor(t, name, printer), card)
			require.NoError(t, err)
			pic := printedPDF(t, page)
			assertRules(t, pic, page)
			want := map[int][4]geom.Point{}
			for i, s := range card.Strips {
				for _, m := range s.Tags {
					var c [4]geom.Point
					for k, p := range m.Corners() {
						c[k] = geom.Point{X: p.X + 90*float64(i), Y: -p.Y} // the page's y runs down
					}
					want[m.ID] = c
				}
			}
			assertMarkers(t, pic, want)
			// The long bar of the first strip: 21 mm right of and 4 mm left of its markers.
			x := 18 + 3 + 42.0
			e := pic.edges(geom.Point{X: x, Y: 17}, geom.Point{X: x, Y: 14 + 3 + 239})
			require.Len(t, e, 2)
			assert.InDelta(t, 220, e[1]-e[0], tolerance, "%s: the strip's bar", name)
		}
	})
}

func TestTheJigSheetComesOutTrue(t *testing.T) {
	closedLoop(t, func(t *testing.T, printer PrinterScale) {
		pages, err := Jig(paperFor(t, "a4", printer))
		require.NoError(t, err)
		pic := printedPDF(t, pages[0])
		assertRules(t, pic, pages[0])
		want := map[int][4]geom.Point{}
		for _, m := range jig.Tags() {
			var c [4]geom.Point
			for k, p := range m.Corners() {
				c[k] = geom.Point{X: p.X, Y: -p.Y} // the page's y runs down
			}
			want[m.ID] = c
		}
		assertMarkers(t, pic, want)
	})
}

func TestTheChArUcoBoardComesOutTrue(t *testing.T) {
	closedLoop(t, func(t *testing.T, printer PrinterScale) {
		b, err := calibration.ParseBoard("charuco:9x6:25mm:18mm")
		require.NoError(t, err)
		page, err := LensBoard(paperFor(t, "a4", printer), b)
		require.NoError(t, err)
		pic := printedPDF(t, page)
		assertRules(t, pic, page)
		want := map[int][4]geom.Point{}
		for _, m := range b.Markers() {
			want[m.ID] = m.Corners
		}
		assertMarkers(t, pic, want)
		// The squares between the markers: edges along a row of them.
		e := pic.edges(geom.Point{X: 20, Y: 14 + 1.5 + 1.5}, geom.Point{X: 292, Y: 14 + 1.5 + 1.5})
		require.Len(t, e, 10, "five black squares over the markers' upper edge")
		for i := range e {
			assert.InDelta(t, e[0]+25*float64(i), e[i], tolerance)
		}
	})
}

func TestTheChessboardComesOutTrue(t *testing.T) {
	closedLoop(t, func(t *testing.T, printer PrinterScale) {
		b := board(9, 6, 25*geom.Millimeter)
		page, err := LensBoard(paperFor(t, "letter", printer), b)
		require.NoError(t, err)
		grey, paper := reduced(printedPDF(t, page), 6)
		corners, ok, err := opencv.FindChessboard(vision.Frame{Gray: grey}, b.Cols, b.Rows)
		require.NoError(t, err)
		require.True(t, ok)
		var got []geom.Point
		for _, c := range corners {
			got = append(got, paper(c))
		}
		want := b.Points()
		if got[0].X > got[len(got)-1].X { // OpenCV may begin at the other end
			for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
				got[i], got[j] = got[j], got[i]
			}
		}
		assertTogether(t, want, got)
	})
}
