package sheet

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// svgFile is what the tests read of an SVG.
type svgFile struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	Width   string   `xml:"width,attr"`
	Height  string   `xml:"height,attr"`
	ViewBox string   `xml:"viewBox,attr"`
	Title   string   `xml:"title"`
	Paths   []struct {
		Fill  string `xml:"fill,attr"`
		Label string `xml:"aria-label,attr"`
		D     string `xml:"d,attr"`
	} `xml:"path"`
}

func readSVG(t *testing.T, p Page) svgFile {
	var b bytes.Buffer
	require.NoError(t, WriteSVG(&b, p))
	var f svgFile
	require.NoError(t, xml.Unmarshal(b.Bytes(), &f))
	return f
}

// ink returns the fill of the last path over a point, as a viewer paints it: by
// the winding number of the path's own text.
func (f svgFile) ink(t *testing.T, p geom.Point) string {
	ink := "#ffffff"
	for _, path := range f.Paths {
		wind := 0
		for _, ring := range strings.Split(strings.TrimSuffix(path.D, "Z"), "Z") {
			var pts []geom.Point
			for _, step := range strings.FieldsFunc(ring, func(r rune) bool { return r == 'M' || r == 'L' }) {
				x, y, ok := strings.Cut(step, " ")
				require.True(t, ok, "path step %q", step)
				fx, err := strconv.ParseFloat(x, 64)
				require.NoError(t, err)
				fy, err := strconv.ParseFloat(y, 64)
				require.NoError(t, err)
				pts = append(pts, geom.Point{X: fx, Y: fy})
			}
			for i, b := range pts {
				a := pts[(i+len(pts)-1)%len(pts)]
				if (a.Y <= p.Y) != (b.Y <= p.Y) && a.X+(p.Y-a.Y)/(b.Y-a.Y)*(b.X-a.X) > p.X {
					wind += 1 - 2*b2i(b.Y > a.Y)
				}
			}
		}
		if wind != 0 {
			ink = path.Fill
		}
	}
	return ink
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestSVGIsInMillimetresAndShowsTheToken(t *testing.T) {
	for _, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		tok := tokenOf(t, "B5", base)
		f := readSVG(t, Single(tok, PrinterScale{}))
		hx, hy := tok.Half()
		width, height := strconv.FormatFloat(2*hx, 'g', -1, 64), strconv.FormatFloat(2*hy, 'g', -1, 64)
		assert.Equal(t, width+"mm", f.Width)
		assert.Equal(t, height+"mm", f.Height)
		assert.Equal(t, "0 0 "+width+" "+height, f.ViewBox)
		for s := range 4 {
			h, out, cell := hx, hy, float64(token.CellWidth(base, token.Side(s)))
			if s%2 == 1 {
				h, out = hy, hx
			}
			turn := geom.Pose{Heading: geom.Angle(s) * 90 * geom.Degree}
			for i := range token.Cells(base, token.Side(s)) {
				q := turn.Transform(geom.Point{X: -h + float64(token.Corner) + (float64(i)+0.5)*cell, Y: out - 2.35})
				want, _ := tok.At(q)
				require.Equal(t, hex(want), f.ink(t, geom.Point{X: hx + q.X, Y: hy - q.Y}), "%v: side %d, cell %d", base, s, i)
			}
		}
	}
}

func hex(c color.RGBA) string {
	return "#" + strings.ToLower(strconv.FormatInt(int64(c.R)<<16|int64(c.G)<<8|int64(c.B)|1<<24, 16)[1:])
}

func TestSVGSheetIsAsLargeAsThePaperAndSaysHowToPrintIt(t *testing.T) {
	chess, err := LensBoard(paperNamed(t, "a4"), board(9, 6, 25))
	require.NoError(t, err)
	f := readSVG(t, chess)
	assert.Equal(t, []string{"297mm", "210mm", "0 0 297 210"}, []string{f.Width, f.Height, f.ViewBox})
	var labels []string
	for _, p := range f.Paths {
		labels = append(labels, p.Label)
	}
	assert.Contains(t, labels, "print at 100 %, not fit to page")
	// The rule across, by its two ends.
	assert.Equal(t, "#000000", f.ink(t, geom.Point{X: 18.01, Y: 200}))
	assert.Equal(t, "#ffffff", f.ink(t, geom.Point{X: 17.99, Y: 200}))
	assert.Equal(t, "#000000", f.ink(t, geom.Point{X: 117.99, Y: 200}))
	assert.Equal(t, "#ffffff", f.ink(t, geom.Point{X: 118.01, Y: 200}))
}

func TestPDFAsksForNoScalingAndIsTheSameEveryTime(t *testing.T) {
	pages := []Page{Single(tokenOf(t, "A1", engine.Small), PrinterScale{})}
	var a, b bytes.Buffer
	require.NoError(t, WritePDF(&a, pages))
	require.NoError(t, WritePDF(&b, pages))
	assert.Contains(t, a.String(), "/ViewerPreferences << /PrintScaling /None >>")
	assert.True(t, bytes.Equal(a.Bytes(), b.Bytes()))
}

func TestSeveralPagesOfAPictureAreNumbered(t *testing.T) {
	dir := t.TempDir()
	page := Single(tokenOf(t, "A1", engine.Small), PrinterScale{})
	for _, c := range []struct {
		format Format
		file   string
		pages  int
		want   string
	}{
		{SVG, "a.svg", 1, "a.svg"},
		{SVG, "b.svg", 2, "b-1.svg b-2.svg"},
		{PNG, "c.d.png", 2, "c.d-1.png c.d-2.png"},
		{PNG, "e", 2, "e-1 e-2"},
		{PDF, "f.pdf", 2, "f.pdf"},
	} {
		names, err := WriteFiles(filepath.Join(dir, c.file), c.format, 72, []Page{page, page}[:c.pages])
		require.NoError(t, err)
		for i, n := range names {
			info, err := os.Stat(n)
			require.NoError(t, err)
			assert.Positive(t, info.Size())
			names[i] = filepath.Base(n)
		}
		assert.Equal(t, c.want, strings.Join(names, " "))
	}
}

func TestAFileThatCannotBeFinishedIsRemoved(t *testing.T) {
	name := filepath.Join(t.TempDir(), "half.svg")
	err := Create(name, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return errors.New("disk full")
	})
	assert.ErrorContains(t, err, "disk full")
	assert.NoFileExists(t, name)
}

func TestFormatsFollowTheEndingOrAgreeWithIt(t *testing.T) {
	for _, c := range []struct{ asked, file, want, err string }{
		{"", "a.pdf", "pdf", ""},
		{"", "A.PNG", "png", ""},
		{"svg", "a.svg", "svg", ""},
		{"pdf", "sheet", "pdf", ""},
		{"pdf", "sheet.v2", "pdf", ""},
		{"", "sheet", "", "expected a format"},
		{"png", "a.pdf", "", "expected a name ending in .png"},
		{"gif", "a.gif", "", "expected pdf, png or svg"},
	} {
		got, err := FormatOf(c.asked, c.file)
		assert.Equal(t, Format(c.want), got, "FormatOf(%q, %q)", c.asked, c.file)
		if c.err == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, c.err, "FormatOf(%q, %q)", c.asked, c.file)
		}
	}
}

func TestAFileThatCannotBeFinishedLeavesTheOldOne(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "sheet.pdf")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o600))
	full := errors.New("no space left")
	require.ErrorIs(t, Create(name, func(w io.Writer) error { _, _ = w.Write([]byte("half")); return full }), full)
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "old", string(raw))
	require.NoError(t, Create(name, func(w io.Writer) error { _, err := w.Write([]byte("new")); return err }))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left beside it")
}
