package main

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// printed runs the print command and returns its exit code and what it wrote.
func printed(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return called(t, append([]string{"print"}, args...)...)
}

func TestPrintWritesEverySheetInEveryFormatAndSaysSo(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"tokens", "--format", "pdf", "-o", "t.pdf"}, []string{"t.pdf"}},
		{[]string{"tokens", "--format", "png", "--dpi", "72", "-o", "t.png"}, []string{"t-1.png", "t-2.png"}},
		{[]string{"tokens", "--ships", "A1", "-o", "one.svg"}, []string{"one.svg"}},
		{[]string{"mat-markers", "--paper", "letter", "-o", "m.pdf"}, []string{"m.pdf"}},
		{[]string{"mat-markers", "--mat", "900x600", "-o", "m.svg"}, []string{"m-1.svg", "m-2.svg"}},
		{[]string{"chessboard", "--board", "7x7:20mm", "-o", "c.svg"}, []string{"c.svg"}},
		{[]string{"chessboard", "--paper", "a3", "--board", "9x6:37mm", "-o", "c3.pdf"}, []string{"c3.pdf"}},
		{[]string{"charuco", "-o", "ch.svg"}, []string{"ch.svg"}},
		{[]string{"charuco", "--paper", "tabloid", "--board", "charuco:8x5:1.5in:1in", "-o", "ch.pdf"}, []string{"ch.pdf"}},
		{[]string{"check-card", "-o", "card.pdf"}, []string{"card.pdf"}},
		{[]string{"check-card", "--paper", "letter", "--format", "png", "--dpi", "72", "-o", "card.png"}, []string{"card.png"}},
		{[]string{"tokens", "--single", "--ships", "A1,B3:large", "--format", "svg", "-o", "labels"}, []string{"labels/A1.svg", "labels/B3.svg"}},
	} {
		args := append([]string{}, c.args...)
		args[len(args)-1] = filepath.Join(dir, args[len(args)-1])
		code, stdout, stderr := printed(t, args...)
		assert.Zero(t, code, "%v: %s", c.args, stderr)
		assert.Empty(t, stderr)
		var want strings.Builder
		for _, n := range c.want {
			name := filepath.Join(dir, n)
			assert.FileExists(t, name)
			want.WriteString("wrote " + name + "\n")
		}
		assert.Equal(t, want.String(), stdout, "%v", c.args)
	}
}

func TestPrintWritesOneSheetToStandardOutput(t *testing.T) {
	code, stdout, stderr := printed(t, "chessboard", "--format", "svg", "-o", "-")
	assert.Zero(t, code, stderr)
	assert.True(t, strings.HasPrefix(stdout, "<svg "), "%.40q", stdout)
	assert.True(t, strings.HasSuffix(stdout, "</svg>\n"))
	code, stdout, stderr = printed(t, "mat-markers", "--format", "svg", "-o", "-")
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "2 pages of svg: expected a file's name")
}

func TestPrintHonoursThePrinterScaleOfTheConfigurationAndOfTheFlags(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "print.toml")
	require.NoError(t, os.WriteFile(config, []byte("[print]\nscale_x = 0.99\nscale_y = 1.01\n"), 0o600))
	for _, sheet := range []string{"tokens", "mat-markers", "chessboard", "charuco", "check-card", "jig", "ids"} {
		for want, flags := range map[string][]string{
			"drawn for printer scale x 0.99, y 1.01":  {"--config", config},
			"drawn for printer scale x 0.995, y 1.01": {"--config", config, "--printer-scale-x", "0.995"},
			"drawn for printer scale x 1.02, y 1":     {"--printer-scale-x", "1.02", "--printer-scale-y", "1"},
		} {
			out := filepath.Join(t.TempDir(), "sheet.svg")
			args := append([]string{sheet, "-o", out}, flags...)
			if sheet == "tokens" {
				args = append(args, "--ships", "A1")
			}
			code, stdout, stderr := printed(t, args...)
			require.Zero(t, code, "%v: %s", args, stderr)
			name := strings.Fields(stdout)[1]
			svg, err := os.ReadFile(name)
			require.NoError(t, err)
			title, _, _ := strings.Cut(string(svg), "</title>")
			assert.Contains(t, title, want, "%v", args)
			assert.Contains(t, string(svg), "both bars should now measure 100.0 mm", "%v", args)
		}
	}
	code, _, stderr := printed(t, "tokens", "--single", "--ships", "B2:large", "--format", "png", "--config", config, "-o", dir)
	require.Zero(t, code, stderr)
	f, err := os.Open(filepath.Join(dir, "B2.png"))
	require.NoError(t, err)
	defer f.Close()
	c, err := png.DecodeConfig(f)
	require.NoError(t, err)
	assert.Equal(t, 1909, c.Width, "round(80 / 0.99 / 25.4 · 600): a page without margins grows with what it shows")
	assert.Equal(t, 1871, c.Height)
}

func TestPrintSingleTokenIsExactlyTheBaseInPixels(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "labels")
	code, _, stderr := printed(t, "tokens", "--single", "--ships", "A1:small,B2:large", "--format", "png", "--dpi", "600", "-o", dir)
	require.Zero(t, code, stderr)
	for name, want := range map[string]int{"A1.png": 945, "B2.png": 1890} {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		c, err := png.DecodeConfig(f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		assert.Equal(t, want, c.Width, "%s: round(side / 25.4 · 600)", name)
		assert.Equal(t, want, c.Height, name)
	}
}

func TestPrintRefusesBadInputInOneLineThatSaysWhatWasExpected(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	ok := filepath.Join(dir, "x.pdf")
	for _, c := range []struct {
		want string
		args []string
	}{
		{`--board "9x6:25": square`, []string{"chessboard", "--board", "9x6:25", "-o", ok}},
		{"expected A1…A18 or B1…B18", []string{"tokens", "--ships", "A19", "-o", ok}},
		{"expected A1…A18 or B1…B18", []string{"tokens", "--ships", "A1,C3", "-o", ok}},
		{"expected A1…A18 or B1…B18", []string{"tokens", "--ships", "A17-A20", "-o", ok}},
		{"expected rising numbers of one player", []string{"tokens", "--ships", "A8-A1", "-o", ok}},
		{"expected rising numbers of one player", []string{"tokens", "--ships", "A8-B1", "-o", ok}},
		{"expected ID, ID:BASE or FROM-TO:BASE", []string{"tokens", "--ships", "A1,,A2", "-o", ok}},
		{"expected each ship once", []string{"tokens", "--ships", "A1-A3,A2:large", "-o", ok}},
		{"expected small, medium, large, huge-195 or huge-225", []string{"tokens", "--ships", "A1:tiny", "-o", ok}},
		{"expected small, medium, large, huge-195 or huge-225", []string{"tokens", "--ships", "A1:huge", "-o", ok}},
		{"expected small, medium, large, huge-195 or huge-225", []string{"tokens", "--ships", "A1:", "-o", ok}},
		{"expected 72…1200", []string{"tokens", "--dpi", "71", "-o", ok}},
		{"expected 72…1200", []string{"chessboard", "--dpi", "1201", "-o", ok}},
		{"expected 72…1200", []string{"tokens", "--single", "--format", "png", "--dpi", "0", "-o", dir}},
		{"expected a4, letter, a3 or tabloid", []string{"mat-markers", "--paper", "a5", "-o", ok}},
		{"expected a name ending in .png", []string{"chessboard", "--format", "png", "-o", ok}},
		{"expected pdf, png or svg", []string{"chessboard", "--format", "gif", "-o", ok}},
		{"expected a format", []string{"chessboard", "-o", filepath.Join(dir, "x")}},
		{"expected --format", []string{"tokens", "--single", "-o", dir}},
		{"expected a file that can be written", []string{"chessboard", "-o", filepath.Join(dir, "none", "x.pdf")}},
		{"expected a directory that can be written", []string{"tokens", "--single", "--format", "svg", "-o", filepath.Join(blocked, "x")}},
		{"expected chessboard:COLSxROWS:SQUARE", []string{"chessboard", "--board", "9by6", "-o", ok}},
		{"expected a chessboard, or the command print charuco", []string{"chessboard", "--board", "charuco:9x6:25mm:18mm", "-o", ok}},
		{"expected a charuco, or the command print chessboard", []string{"charuco", "--board", "chessboard:9x6:25mm", "-o", ok}},
		{"expected at most 20mm in squares of 25mm", []string{"charuco", "--board", "9x6:25mm:24mm", "-o", ok}},
		{"expected squares of at most", []string{"charuco", "--paper", "letter", "--board", "9x6:30mm:20mm", "-o", ok}},
		{"--printer-scale x: expected 0.975…1.025", []string{"charuco", "--printer-scale-x", "99.5", "-o", ok}},
		{"--printer-scale y: expected 0.975…1.025", []string{"tokens", "--printer-scale-y", "0.94", "-o", ok}},
		{"--printer-scale y: expected 0.975…1.025", []string{"tokens", "--single", "--format", "svg", "--printer-scale-y", "NaN", "-o", dir}},
		{"no-such.toml", []string{"check-card", "--config", filepath.Join(dir, "no-such.toml"), "-o", ok}},
		{"expected squares of at most", []string{"chessboard", "--board", "9x6:40mm", "-o", ok}},
		{"expected WIDTHxHEIGHT", []string{"mat-markers", "--mat", "914.4", "-o", ok}},
		{"expected sides of 300…2000 mm", []string{"mat-markers", "--mat", "NaNx914.4", "-o", ok}},
		{"expected sides of 300…2000 mm", []string{"mat-markers", "--mat", "914.4x-3", "-o", ok}},
		{"300…2000 mm; 36x36 inches are 914.4x914.4", []string{"mat-markers", "--mat", "36x36", "-o", ok}},
		{"300…2000 mm; 36x36 inches are 914.4x914.4", []string{"mat-markers", "--mat", `36"x36"`, "-o", ok}},
		{"300…2000 mm; 36x36 inches are 914.4x914.4", []string{"mat-markers", "--mat", "36x36 in", "-o", ok}},
		{"--output", []string{"chessboard"}},
		{"shield-dials", []string{"shield-dials", "-o", ok}},
	} {
		code, stdout, stderr := printed(t, c.args...)
		assert.Equal(t, 2, code, "%v", c.args)
		assert.Empty(t, stdout, "%v", c.args)
		assert.Contains(t, stderr, c.want, "%v", c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "%v: one line, got %q", c.args, stderr)
		assert.NoFileExists(t, ok, "%v", c.args)
	}
}
