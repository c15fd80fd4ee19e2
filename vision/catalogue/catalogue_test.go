package catalogue_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/vision/catalogue"
)

const rockFile = `{"version":1,"outlines":[{"name":"rock","kind":"asteroid","outline_mm":[[10,10],[50,10],[60,40],[20,50]]}]}`

func TestACatalogueIsReadIntoItsNormalForm(t *testing.T) {
	c, err := catalogue.Parse(strings.NewReader(rockFile))
	require.NoError(t, err)
	e := c.Entry("rock")
	require.NotNil(t, e)
	assert.Equal(t, "asteroid", e.Kind)
	assert.Equal(t, geom.Length(catalogue.TokenTop), e.Top)
	assert.Equal(t, geom.Length(catalogue.OutlineSigma), e.Sigma)
	var middle geom.Point
	for _, p := range e.Outline {
		middle = middle.Add(p)
	}
	assert.Less(t, middle.Norm(), 10.0, "about its centroid")

	clockwise := strings.Replace(rockFile, "[[10,10],[50,10],[60,40],[20,50]]", "[[20,50],[60,40],[50,10],[10,10]]", 1)
	d, err := catalogue.Parse(strings.NewReader(clockwise))
	require.NoError(t, err)
	for _, p := range d.Entry("rock").Outline {
		assert.Less(t, geom.Polygon(e.Outline).BoundaryDistance(p), 1e-9, "either way round")
	}
	assert.Positive(t, signedArea(d.Entry("rock").Outline))
}

func TestTheOtherFaceIsTheMirrorImage(t *testing.T) {
	c, err := catalogue.Parse(strings.NewReader(rockFile))
	require.NoError(t, err)
	e := c.Entry("rock")
	front, back := geom.Polygon(e.Face(false)), geom.Polygon(e.Face(true))
	assert.InDelta(t, front.Area(), back.Area(), 1e-9)
	assert.Positive(t, signedArea(back), "counter-clockwise")
	for i, p := range front {
		assert.Contains(t, back, geom.Point{X: -p.X, Y: p.Y}, "point %d", i)
	}
}

func signedArea(p []geom.Point) (a float64) {
	for i := range p {
		q := p[(i+1)%len(p)]
		a += p[i].X*q.Y - p[i].Y*q.X
	}
	return a / 2
}

func named(name string) string { return strings.Replace(rockFile, `"rock"`, `"`+name+`"`, 1) }

func TestNamesThatOnlyLookLikeShips(t *testing.T) {
	for _, name := range []string{"A19", "A0", "A01", "a1", "C3", "A1-rock", "rock?", "Felsen Süd"} {
		c, err := catalogue.Parse(strings.NewReader(named(name)))
		require.NoError(t, err, name)
		assert.NotNil(t, c.Entry(name))
	}
}

func TestAClosedOutlineIsTheSame(t *testing.T) {
	outline := []geom.Point{{X: 0, Y: 0}, {X: 40, Y: 0}, {X: 0, Y: 40}}
	open, err := catalogue.NewEntry("a", "gas", outline)
	require.NoError(t, err)
	closed, err := catalogue.NewEntry("a", "gas", append(outline, outline[0]))
	require.NoError(t, err)
	assert.Len(t, closed.Outline, 3)
	assert.Equal(t, open, closed)
}

func TestABadCatalogueNamesTheEntryAndTheKey(t *testing.T) {
	outline := `[[0,0],[40,0],[0,40]]`
	for name, c := range map[string]struct{ text, want string }{
		"not JSON":        {`rocks`, "not a catalogue"},
		"another version": {`{"version":2}`, "version: expected 1, got 2"},
		"an unknown key":  {`{"version":1,"rocks":[]}`, `unknown key "rocks"`},
		"something more":  {rockFile + rockFile, "something follows"},
		"no name": {`{"version":1,"outlines":[{"kind":"gas","outline_mm":` + outline + `}]}`,
			"outlines[0] (\"\"): name: expected a name"},
		"a kind of its own": {`{"version":1,"outlines":[{"name":"a","kind":"moon","outline_mm":` + outline + `}]}`,
			`kind: expected asteroid, debris or gas, a device's such as bomb, mine or cargo, or a marker's such as satellite, got "moon"`},
		"one name twice": {`{"version":1,"outlines":[{"name":"a","kind":"gas","outline_mm":` + outline +
			`},{"name":"a","kind":"gas","outline_mm":` + outline + `}]}`, `outlines[1]: name: "a" appears twice`},
		"two points": {`{"version":1,"outlines":[{"name":"a","kind":"gas","outline_mm":[[0,0],[1,1]]}]}`,
			"outline_mm: expected 3 to 2000 points, got 2"},
		"an outline in miles": {`{"version":1,"outlines":[{"name":"a","kind":"gas","outline_mm":[[0,0],[1e9,0],[0,4]]}]}`,
			"point 1: expected millimetres"},
		"a bow tie": {`{"version":1,"outlines":[{"name":"a","kind":"gas","outline_mm":[[0,0],[40,40],[40,0],[0,40]]}]}`,
			"does not cross itself"},
		"a crumb": {`{"version":1,"outlines":[{"name":"a","kind":"gas","outline_mm":[[0,0],[1,0],[0,1]]}]}`,
			"expected an area of 50 to 40000 mm²"},
		"a negative sigma": {`{"version":1,"outlines":[{"name":"a","kind":"gas","sigma_mm":-1,"outline_mm":` + outline + `}]}`,
			"sigma_mm: expected 0 to 50"},
		"a ship's name":      {named("B18"), `name: "B18" is a ship's name`},
		"an unread base's":   {named("?1"), `name: "?1" is a ship's name`},
		"blanks":             {named("   "), "name: expected a name, got none"},
		"a blank at the end": {named("rock "), "name: expected no blank"},
		"a sign without ink": {named(`a\u0000b`), "signs that can be seen"},
		"an endless name":    {named(strings.Repeat("x", 3000)), "expected at most 40 characters, got 3000"},
		"a point without y":  {strings.Replace(rockFile, "[10,10]", "[10]", 1), "a point: expected [x, y] in mm, got [10]"},
		"a point with z":     {strings.Replace(rockFile, "[10,10]", "[10,10,0]", 1), "a point: expected [x, y] in mm, got [10,10,0]"},
		"a y of null":        {strings.Replace(rockFile, "[10,10]", "[10,null]", 1), "a point: expected [x, y]"},
		"a name of 7":        {strings.Replace(rockFile, `"rock"`, "7", 1), "outlines.name: expected a text, got number"},
		"a key twice":        {strings.Replace(rockFile, `"kind"`, `"name":"b","kind"`, 1), `the key "name" appears twice`},
		"nothing":            {"", "not a catalogue: it is empty"},
		"half of it":         {rockFile[:40], "it ends in the middle"},
		"a tower": {`{"version":1,"outlines":[{"name":"a","kind":"gas","top_mm":300,"outline_mm":` + outline + `}]}`,
			"top_mm: expected 0 to 50"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := catalogue.Parse(strings.NewReader(c.text))
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func FuzzCatalogue(f *testing.F) {
	f.Add([]byte(rockFile))
	f.Add([]byte(`{"version":1,"outlines":[]}`))
	f.Add([]byte(`{"version":1,"outlines":[{"name":"a","kind":"gas","outline_mm":[[0,0],[1e308,0],[0,-1e308]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := catalogue.Parse(bytes.NewReader(data))
		if err != nil {
			return
		}
		doc, err := json.Marshal(c)
		require.NoError(t, err)
		again, err := catalogue.Parse(bytes.NewReader(doc))
		if err != nil { // what is rounded to a micrometre may cross itself
			require.Contains(t, err.Error(), "outline_mm")
			return
		}
		require.Len(t, again.Entries, len(c.Entries))
		for i := range c.Entries {
			require.Equal(t, c.Entries[i].Name, again.Entries[i].Name)
			require.InDelta(t, signedArea(c.Entries[i].Outline), signedArea(again.Entries[i].Outline), 1)
		}
	})
}
