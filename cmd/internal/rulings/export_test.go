package rulings_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
	"sightline/engine"
	"sightline/engine/geom"
)

// exported is the document of an entry.
func exported(t testing.TB, l *rulings.Log, n int64) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, l.ExportHTML(ctx, &b, n))
	return b.String()
}

// embedded finds the data that a program reads.
var embedded = regexp.MustCompile(`(?s)<script type="application/json" id="ruling">(.*?)</script>`)

func TestAnExportedRulingNeedsNothingElse(t *testing.T) {
	l, _ := newLog(t, 0)
	r, f := simulatedRuling(t)
	r.Decision, r.Title, r.Reason = rulings.Overruled, "Range 3, not obstructed",
		"The asteroid had been moved before the picture; both players agree."
	r.Text = "B1 is at range 3 in the front arc of A1. The attack is not obstructed."
	_, err := l.Append(ctx, r, f)
	require.NoError(t, err)
	page := exported(t, l, 1)
	if out := os.Getenv("RULING_HTML"); out != "" { // for people who want to look at it
		require.NoError(t, os.WriteFile(out, []byte(page), 0o644))
	}
	for _, attribute := range regexp.MustCompile(`(?:href|src)="([^"]{0,5})`).FindAllStringSubmatch(page, -1) {
		assert.True(t, attribute[1] == "data:" || attribute[1][0] == '#', attribute[0])
	}
	assert.NotContains(t, page, "http://www.w3.org/1999") // nothing to fetch but names
	assert.NotContains(t, page, "ZgotmplZ", "a value that the template would not take")
	for _, want := range []string{
		"Range 3, not obstructed", "The asteroid had been moved", "Ruled by the judge", "by <bdi>Zoë Example</bdi>", "data:image/jpeg;base64,",
		"data:image/svg&#43;xml;base64,",
		"G16", "G59", "G4", "G37", "through one or more obstacles", "± ", " σ", `id="marks"`, `class="mk casing`, "sightline replay 1",
		"edition 2.5",
	} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "This record was changed")

	// The numbers are there as data, and the hash is that of the record in the page.
	m := embedded.FindStringSubmatch(page)
	require.NotNil(t, m)
	var data struct{ SHA256, Record string }
	require.NoError(t, json.Unmarshal([]byte(m[1]), &data))
	sum := sha256.Sum256([]byte(data.Record))
	assert.Equal(t, data.SHA256, hex.EncodeToString(sum[:]))
	record, err := rulings.ParseRecord([]byte(data.Record))
	require.NoError(t, err)
	assert.Equal(t, r.Text, record.Text)
	pre := regexp.MustCompile(`(?s)<pre id="record">(.*?)</pre>`).FindStringSubmatch(page)
	require.NotNil(t, pre)
	assert.Equal(t, data.Record, html.UnescapeString(pre[1]))
}

func TestWhatPeopleWroteIsTextInTheDocument(t *testing.T) {
	l, _ := newLog(t, 0)
	r := overruled(t, 0)
	const evil = `</script><script>alert(1)</script><img src="http://example.org/x" onerror=alert(1)>`
	r.Question, r.Text, r.Reason, r.Judge, r.AskedBy, r.Title, r.Answer, r.Source = evil, evil, evil, evil, evil, evil, evil, evil
	_, err := l.Append(ctx, r, files(0))
	require.NoError(t, err)
	page := exported(t, l, 1)
	assert.NotContains(t, page, "<script>")
	assert.NotContains(t, page, "<img src=\"http")
	assert.Equal(t, 1, strings.Count(page, "</script>"))
}

func TestADocumentSaysWhenItsRecordWasChanged(t *testing.T) {
	l, dir := newLog(t, 2)
	e, err := l.Entry(ctx, 2)
	require.NoError(t, err)
	color, _ := e.File(rulings.RoleColor)
	path := filepath.Join(dir, filepath.FromSlash(color.Path()))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, flipped(raw, len(raw)-20), 0o644))
	page := exported(t, l, 2)
	assert.Contains(t, page, "This record was changed")
	assert.NotContains(t, page, "data:image/jpeg", "a picture that was changed is not shown")
	require.NoError(t, l.Close())
	tamper(t, dir, "UPDATE entries SET record = "+rewrite("Range 2", "Range 1")+" WHERE number = 2",
		"UPDATE entries SET hash = replace(hash, substr(hash,1,4), 'beef') WHERE number = 1")
	l, err = rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err)
	defer l.Close()
	page = exported(t, l, 2)
	assert.Contains(t, page, "its hash does not fit its content")
	assert.Contains(t, page, "does not follow the entry before it")
	assert.ErrorIs(t, l.ExportHTML(ctx, &bytes.Buffer{}, 3), rulings.ErrNoEntry)
}

func TestARulingIsTitledByWhatHolds(t *testing.T) {
	l, _ := newLog(t, 0)
	r := overruled(t, 0)
	r.Answer, r.Text = "Range 2, obstructed", "Range 2, not obstructed"
	e, err := l.Append(ctx, r, files(0))
	require.NoError(t, err)
	assert.Equal(t, "Range 2, not obstructed", e.Title, "not by what was measured")
	page := exported(t, l, 1)
	assert.Contains(t, page, "<h1>Range 2, not obstructed</h1>")
	assert.NotContains(t, page, `<p class="text">`, "said once")
	r.Text = strings.Repeat("a long text ", 20)
	e, err = l.Append(ctx, r, files(1))
	require.NoError(t, err)
	assert.Empty(t, e.Title)
	assert.Contains(t, exported(t, l, 2), "<h1>Ruling 2</h1>")
}

func TestADocumentOfARulingWithoutPictureOrVerdict(t *testing.T) {
	l, _ := newLog(t, 0)
	r := overruled(t, 0)
	r.Pair, r.Unanswered, r.Arc, r.Scene.Ships = nil, "B1 is moving", 0, r.Scene.Ships[:1]
	_, err := l.Append(ctx, r, rulings.Files{})
	require.NoError(t, err)
	page := exported(t, l, 1)
	assert.Contains(t, page, "no answer: B1 is moving")
	assert.Contains(t, page, "The ruling was made without a picture.")
}

// A photograph does not say when it was taken, and no ruling on one does.
func TestADocumentOfAPhotographNamesNoTime(t *testing.T) {
	l, _ := newLog(t, 0)
	r := overruled(t, 0)
	r.Captured, r.Source = time.Time{}, "photograph dispute.jpg"
	_, err := l.Append(ctx, r, files(1))
	require.NoError(t, err)
	assert.Contains(t, exported(t, l, 1), "<dt>Picture</dt><dd>taken at an unknown time, photograph dispute.jpg</dd>")
}

func TestTheWholeLogAsAZipIsALog(t *testing.T) {
	l, _ := newLog(t, 3)
	_, err := l.Append(ctx, overruled(t, 3), files(3))
	require.NoError(t, err)
	head, err := l.Head(ctx)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, l.ExportZip(ctx, &b))
	if out := os.Getenv("RULINGS_ZIP"); out != "" {
		require.NoError(t, os.WriteFile(out, b.Bytes(), 0o644))
	}
	dir := unzip(t, b.Bytes())
	for _, name := range []string{"index.html", "README.txt", "rulings.db", "rulings/ruling-0001.html", "rulings/ruling-0004.html"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	for _, name := range []string{"index.html", "README.txt"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Contains(t, string(raw), head.Hash)
	}
	again, err := rulings.Open(dir, rulings.Options{ReadOnly: true})
	require.NoError(t, err)
	defer again.Close()
	r, err := again.Verify(ctx, head)
	require.NoError(t, err)
	assert.True(t, r.OK(), "%v", r.Findings)
	assert.EqualValues(t, 4, r.Entries)

	none, _ := newLog(t, 0)
	assert.ErrorIs(t, none.ExportZip(ctx, &bytes.Buffer{}), rulings.ErrNoEntry)
}

func TestAZipOfADamagedLogSaysWhatIsMissing(t *testing.T) {
	l, dir := newLog(t, 2)
	e, err := l.Entry(ctx, 2)
	require.NoError(t, err)
	frame, _ := e.File(rulings.RoleFrame)
	require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(frame.Path()))))
	calibration, _ := e.File(rulings.RoleCalibration)
	require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(calibration.Path())), []byte("{}"), 0o644))
	var b bytes.Buffer
	require.NoError(t, l.ExportZip(ctx, &b))
	raw, err := os.ReadFile(filepath.Join(unzip(t, b.Bytes()), "README.txt"))
	require.NoError(t, err)
	assert.Contains(t, string(raw), frame.Path())
	assert.Contains(t, string(raw), calibration.Path()+" is not as it was recorded")
}

func unzip(t testing.TB, raw []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, z))
	return dir
}

func TestWhatWasNotLookedAtHasNoMarginInTheDocument(t *testing.T) {
	row := regexp.MustCompile(`(?s)<td>Obstructed, front arc</td><td>(.*?)</td><td class="n">(.*?)</td><td class="n">(.*?)</td>`)
	unknown := func(s *engine.Scene) {
		s.Obstacles = nil
		s.Unknown = []geom.Polygon{{{X: 390, Y: 290}, {X: 440, Y: 290}, {X: 440, Y: 330}, {X: 390, Y: 330}}}
	}
	for name, c := range map[string]struct {
		change       func(*engine.Scene)
		answer, none string
	}{
		"nobody looked":        {func(s *engine.Scene) { s.Obstacles, s.ObstaclesUnseen = nil, true }, "obstacles are not watched", "–"},
		"something lies there": {unknown, "no view of what lies on the line", "–"},
		"nothing lies there":   {func(s *engine.Scene) { s.Obstacles = nil }, "no", "–"},
		"a rock lies beside":   {func(*engine.Scene) {}, "no", ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newLog(t, 0)
			r := ruling(t, 0)
			c.change(&r.Scene)
			p, err := engine.MeasurePair(&r.Scene, "A1", "B1", engine.Options{Sigmas: 3})
			require.NoError(t, err)
			r.Pair = &p
			_, err = l.Append(ctx, r, files(0))
			require.NoError(t, err)
			m := row.FindStringSubmatch(exported(t, l, 1))
			require.NotNil(t, m)
			assert.Equal(t, c.answer, html.UnescapeString(m[1]))
			if c.none != "" {
				assert.Equal(t, c.none, m[3])
			} else {
				assert.Regexp(t, `^\d+\.\d\d mm$`, m[3])
			}
		})
	}
}
