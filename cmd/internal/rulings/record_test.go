package rulings_test

import (
	"bytes"
	"image"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulings"
)

// goodRecords are records as a log writes them.
func goodRecords(t testing.TB) [][]byte {
	l, _ := newLog(t, 1)
	_, err := l.Append(ctx, overruled(t, 1), rulings.Files{})
	require.NoError(t, err)
	r := overruled(t, 2)
	r.Pair, r.Unanswered, r.Captured, r.Ruled = nil, "B1 is moving", time.Time{}, map[string]string{"range": "2", "in_arc": "yes"}
	_, err = l.Append(ctx, r, rulings.Files{})
	require.NoError(t, err)
	all, err := l.Entries(ctx, 1, 10)
	require.NoError(t, err)
	var out [][]byte
	for i := range all {
		out = append(out, all[i].Canonical())
	}
	return out
}

func TestTheCanonicalFormIsTheOneOfTheDocumentation(t *testing.T) {
	raw := string(goodRecords(t)[2])
	at := -1
	for _, key := range []string{
		"version", "number", "at", "program", "source", "edition", "profile", "sigmas", "from", "to", "arc", "question", "asked_by", "answer",
		"decision",
		"title", "ruled", "ruling", "reason", "judge", "scene", "verdict", "unanswered", "files", "previous",
	} {
		i := strings.Index(raw, `"`+key+`":`)
		assert.Greater(t, i, at, "%s in its place", key)
		at = i
	}
	assert.NotContains(t, raw, "\n")
	assert.Contains(t, raw, `"ruled":{"in_arc":"yes","range":"2"}`, "keys in the order of their bytes")
	assert.Contains(t, raw, "A1 <in arc> & ", "nothing is escaped that JSON does not ask for")
}

func TestOnlyTheCanonicalFormIsARecord(t *testing.T) {
	good := string(goodRecords(t)[0])
	_, err := rulings.ParseRecord([]byte(good))
	require.NoError(t, err)
	for name, bad := range map[string]string{
		"nothing": "", "no JSON": "{", "null": "null", "a list": "[]", "two": good + good, "a line's end": good + "\n",
		"a space":        strings.Replace(good, ",", ", ", 1),
		"an escape":      strings.Replace(good, "Zoë", `Zo\u00eb`, 1),
		"another case":   strings.Replace(good, `"judge"`, `"JUDGE"`, 1),
		"an unknown key": strings.Replace(good, `"judge"`, `"x":1,"judge"`, 1),
		"a key twice":    strings.Replace(good, `"judge"`, `"judge":"x","judge"`, 1),
		"another order":  strings.Replace(strings.Replace(good, `"from":"A1",`, "", 1), `"to":"B1",`, `"to":"B1","from":"A1",`, 1),
		"a time zone":    strings.Replace(good, `456789Z"`, `456789+00:00"`, 1),
		"not UTF-8":      strings.Replace(good, "Zoë", "Zo\xeb", 1),
		"a file outside": strings.Replace(good, `"sha256":"`, `"sha256":"../`, 1),
		"another number": strings.Replace(good, `"number":1`, `"number":0`, 1),
		"a role unknown": strings.Replace(good, `"role":"frame"`, `"role":"film"`, 1),
	} {
		require.NotEqual(t, good, bad, name)
		_, err := rulings.ParseRecord([]byte(bad))
		assert.Error(t, err, name)
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, raw := range goodRecords(f) {
		f.Add(raw)
		for i := 0; i < len(raw); i += 37 {
			f.Add(flipped(raw, i))
		}
		f.Add(raw[:len(raw)/2])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := rulings.ParseRecord(raw)
		if err != nil {
			return
		}
		again, err := rulings.Canonical(&r)
		if err != nil || !bytes.Equal(raw, again) {
			t.Fatalf("Canonical(ParseRecord(%q)) = %q, %v: two texts of one record", raw, again, err)
		}
		for _, file := range r.Files { // what was read never leads out of the log's folder
			if p := file.Path(); !strings.HasPrefix(p, "files/") || strings.Contains(p, "..") || strings.Count(p, "/") != 2 {
				t.Fatalf("a file's path is %q", p)
			}
		}
	})
}

// BenchmarkAppend records a ruling with a picture of 1080p in grey and colour. The
// budget is half a second: a judge presses a button and sees the number of the entry.
func BenchmarkAppend(b *testing.B) {
	g := image.NewGray(image.Rect(0, 0, 1920, 1080))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range g.Pix { // a camera's picture: slow shapes and a little noise
		g.Pix[i] = uint8(90 + (i%1920)/24 + (i/1920)/36 + int(rng.NormFloat64()*2))
	}
	l, _ := newLog(b, 0)
	r := ruling(b, 0)
	f := files(0)
	for b.Loop() {
		for range 1000 { // another picture each time
			g.Pix[rng.IntN(len(g.Pix))]++
		}
		f.Frame, f.Color = g, g
		if _, err := l.Append(ctx, r, f); err != nil {
			b.Fatal(err)
		}
	}
}
