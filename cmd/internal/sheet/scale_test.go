package sheet

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/engine"
	"sightline/engine/geom"
)

func TestAPrinterScaleThatCannotBeIsRefused(t *testing.T) {
	for _, bad := range []float64{99.5, 0.97, 1.03, -1, math.NaN(), math.Inf(1)} {
		_, err := ParsePrinterScale(bad, 0)
		assert.ErrorContains(t, err, "scale x: expected 0.975…1.025", "%v", bad)
		_, err = ParsePrinterScale(1, bad)
		assert.ErrorContains(t, err, "scale y: expected 0.975…1.025", "%v", bad)
	}
	s, err := ParsePrinterScale(0.975, 1.025)
	require.NoError(t, err)
	assert.Equal(t, PrinterScale{0.975, 1.025}, s)
}

func TestATruePrinterGetsThePageAsItIs(t *testing.T) {
	page := Single(tokenOf(t, "A1", engine.Small), PrinterScale{X: 1})
	assert.Equal(t, page, page.drawn())
}

// Whatever the printer, nothing may be drawn beyond the page, where it is cut off. (On
// paper it comes out where it was meant, clear of the unprinted edge.)
func TestCompensatedSheetsStayOnThePaper(t *testing.T) {
	for _, name := range []string{"a4", "letter", "a3", "tabloid"} {
		for _, printer := range []PrinterScale{{0.975, 0.975}, {1.025, 1.025}, {0.975, 1.025}} {
			paper := paperFor(t, name, printer)
			charuco, err := calibration.ParseBoard("charuco:9x6:25mm:18mm")
			require.NoError(t, err)
			pages := pagesOf(t, paper, starter(t))
			markers, err := MatMarkers(paper, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
			require.NoError(t, err)
			card, err := CheckCard(paper, verify.DefaultCard())
			require.NoError(t, err)
			lens, err := LensBoard(paper, charuco)
			require.NoError(t, err)
			stop, err := Jig(paper)
			require.NoError(t, err)
			ids, err := IDs(paper, starter(t))
			require.NoError(t, err)
			for _, page := range append(append(append(append(pages, markers...), stop...), ids...), card, lens) {
				page = page.drawn()
				for _, s := range page.Shapes {
					lo, hi := s.bounds()
					in := lo.X > 0 && lo.Y > 0 && hi.X < float64(page.Width) && hi.Y < float64(page.Height)
					require.True(t, in, "%s: %v to %v of %v × %v", page.Title, lo, hi, page.Width, page.Height)
				}
			}
		}
	}
}

// The first table's set, its first sheet's words included, keeps clear of the edge that printers leave
// white: 4 mm, a little more than most need.
func TestTheFirstTablesSetKeepsClearOfThePapersEdge(t *testing.T) {
	const white = 4.0
	chess := board(9, 6, 25*geom.Millimeter)
	card := verify.DefaultCard()
	for _, name := range []string{"a4", "letter"} {
		for _, set := range []Set{{}, {Board: &chess, Card: &card}} {
			set.Layout, set.Tokens = calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), starter(t)
			pages, err := All(paperNamed(t, name), set)
			require.NoError(t, err)
			for _, page := range pages {
				for _, s := range page.Shapes {
					lo, hi := s.bounds()
					in := lo.X > white && lo.Y > white && hi.X < float64(page.Width)-white && hi.Y < float64(page.Height)-white
					require.True(t, in, "%s, %s: %v to %v of %v × %v", name, page.Title, lo, hi, page.Width, page.Height)
				}
			}
		}
	}
}

// On paper that lies on its side the printer's x runs down the page.
func TestALandscapeSheetIsStretchedTheOtherWay(t *testing.T) {
	page := Page{Width: 200, Height: 100, Printer: PrinterScale{X: 0.99, Y: 1.01}}
	page.rect(50, 25, 150, 75, black)
	lo, hi := page.drawn().Shapes[0].bounds()
	assert.InDelta(t, 100/1.01, hi.X-lo.X, 1e-9)
	assert.InDelta(t, 50/0.99, hi.Y-lo.Y, 1e-9)
	mid := lo.Lerp(hi, 0.5)
	assert.InDelta(t, 0, float64(mid.Distance(geom.Point{X: 100, Y: 50})), 1e-9, "about the middle")
}
