package sheet

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// The tests measure what a printer would put on paper: the finished file is
// turned into a picture again (PDF by poppler, another program than ours), and
// lengths are read off its pixels.

// testDPI is what the pictures are measured at: a pixel is 0.042 mm.
const testDPI = 600

// picture is a rasterised page, and what the printer that it goes to makes of it: a
// place of the paper lies that much further from the page's middle than it is drawn.
type picture struct {
	image.Image
	perMM          float64
	scaleX, scaleY float64 // 0: 1
	cx, cy         float64 // middle of the page, mm
}

// through returns the picture as the page's printer puts it on paper. The printer's x
// runs along the paper's short side.
func (p picture) through(page Page) picture {
	p.scaleX, p.scaleY = page.Printer.X, page.Printer.Y
	if page.Width > page.Height {
		p.scaleX, p.scaleY = p.scaleY, p.scaleX
	}
	p.cx, p.cy = float64(page.Width)/2, float64(page.Height)/2
	return p
}

// drawn returns where in the raster, in pixels from its corner, a place of the paper
// in mm comes from; paper undoes it.
func (p picture) drawn(x, y float64) (u, v float64) {
	sx, sy := p.scales()
	return (p.cx + (x-p.cx)/sx) * p.perMM, (p.cy + (y-p.cy)/sy) * p.perMM
}

func (p picture) paper(u, v float64) (x, y float64) {
	sx, sy := p.scales()
	return p.cx + (u/p.perMM-p.cx)*sx, p.cy + (v/p.perMM-p.cy)*sy
}

func (p picture) scales() (sx, sy float64) {
	sx, sy = p.scaleX, p.scaleY
	if sx == 0 {
		sx = 1
	}
	if sy == 0 {
		sy = 1
	}
	return sx, sy
}

// grey returns the brightness of a pixel, 0…255.
func (p picture) grey(x, y int) float64 {
	return float64(color.GrayModel.Convert(p.At(x, y)).(color.Gray).Y)
}

// at returns the brightness of the pixel at a place of the page, in mm.
func (p picture) at(x, y float64) float64 {
	u, v := p.drawn(x, y)
	return p.grey(int(math.Floor(u)), int(math.Floor(v)))
}

// ink returns the colour of the pixel at a place of the page, in mm.
func (p picture) ink(x, y float64) color.RGBA {
	u, v := p.drawn(x, y)
	return color.RGBAModel.Convert(p.At(int(math.Floor(u)), int(math.Floor(v)))).(color.RGBA)
}

// edges returns the places, in mm along the line, at which the brightness crosses
// the middle between black and white on the way from a to b. The line is either
// level or upright. Places are found between pixels by linear interpolation.
func (p picture) edges(a, b geom.Point) []float64 {
	level := a.Y == b.Y
	au, av := p.drawn(a.X, a.Y)
	bu, bv := p.drawn(b.X, b.Y)
	from, to := au, bu
	if !level {
		from, to = av, bv
	}
	value := func(i int) float64 {
		if level {
			return p.grey(i, int(math.Floor(av)))
		}
		return p.grey(int(math.Floor(au)), i)
	}
	var out []float64
	first := int(math.Floor(from))
	before := value(first)
	for i := first + 1; i <= int(math.Floor(to)); i++ {
		now := value(i)
		if (before < 127.5) != (now < 127.5) {
			share := (127.5 - before) / (now - before)
			at := float64(i-1) + 0.5 + share // pixel centres at +0.5
			x, y := p.paper(at, at)
			if !level {
				x = y
			}
			out = append(out, x)
		}
		before = now
	}
	return out
}

// printer turns pages into pictures through one of the formats.
type printer struct {
	name     string
	pictures func(t *testing.T, pages []Page) []picture
}

// printers are the ways from pages to pictures that need no browser.
var printers = []printer{{"pdf", picturesOfPDF}, {"png", picturesOfPNG}}

func picturesOfPNG(t *testing.T, pages []Page) []picture {
	var out []picture
	for _, p := range pages {
		out = append(out, pictureOfPNG(t, p, testDPI))
	}
	return out
}

func pictureOfPNG(t *testing.T, p Page, dpi int) picture {
	var b bytes.Buffer
	require.NoError(t, WritePNG(&b, p, dpi))
	img, err := png.Decode(&b)
	require.NoError(t, err)
	return picture{Image: img, perMM: float64(dpi) / 25.4}
}

func picturesOfPDF(t *testing.T, pages []Page) []picture {
	needPoppler(t, "pdftoppm")
	dir := t.TempDir()
	file := filepath.Join(dir, "sheet.pdf")
	_, err := WriteFiles(file, PDF, testDPI, pages)
	require.NoError(t, err)
	// A grey PGM is quick to write and read; all that is measured is black on white.
	out, err := exec.Command("pdftoppm", "-r", fmt.Sprint(testDPI), "-gray", file, filepath.Join(dir, "page")).CombinedOutput()
	require.NoError(t, err, "pdftoppm: %s", out)
	require.Empty(t, string(out), "pdftoppm complains of the file")
	names, err := filepath.Glob(filepath.Join(dir, "page-*.pgm"))
	require.NoError(t, err)
	require.Len(t, names, len(pages))
	var pictures []picture
	for _, n := range names {
		pictures = append(pictures, picture{Image: readPGM(t, n), perMM: testDPI / 25.4})
	}
	return pictures
}

// needPoppler skips the test where poppler-utils is not installed, unless
// REQUIRE_POPPLER=1 says that it has to be.
func needPoppler(t *testing.T, tool string) {
	if _, err := exec.LookPath(tool); err != nil {
		if os.Getenv("REQUIRE_POPPLER") == "1" {
			t.Fatalf("%s (package poppler-utils) is missing and REQUIRE_POPPLER=1", tool)
		}
		t.Skipf("%s (package poppler-utils) is not installed", tool)
	}
}

func readPGM(t *testing.T, name string) *image.Gray {
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	var w, h, most int
	_, err = fmt.Sscanf(string(data[:min(len(data), 40)]), "P5\n%d %d\n%d", &w, &h, &most)
	require.NoError(t, err)
	require.Equal(t, 255, most)
	require.Greater(t, len(data), w*h)
	return &image.Gray{Pix: data[len(data)-w*h:], Stride: w, Rect: image.Rect(0, 0, w, h)}
}

// compensated are printers that stretch what they print, as paper feeds do.
var compensated = []PrinterScale{{}, {X: 0.99, Y: 1.01}}

func paperFor(t *testing.T, name string, printer PrinterScale) Paper {
	p := paperNamed(t, name)
	p.Printer = printer
	return p
}

func paperNamed(t *testing.T, name string) Paper {
	p, err := ParsePaper(name)
	require.NoError(t, err)
	return p
}

func tokenOf(t *testing.T, id string, base engine.Base) token.Token {
	c, err := token.CodeOfID(id)
	require.NoError(t, err)
	k, err := token.NewToken(c, base)
	require.NoError(t, err)
	return k
}
