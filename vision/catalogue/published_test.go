package catalogue_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision/catalogue"
)

const triangle = `[[0,0],[60,0],[0,60]]`

func TestAPublishedListOfOutlinesIsACatalogue(t *testing.T) {
	one := `"kind":"debris","outline_mm":` + triangle + `,"area_mm2":1800`
	for name, text := range map[string]string{
		"an object with a list": `{"note":"measure your own","obstacles":[{"id":"a",` + one + `}]}`,
		"a list":                `[{"id":"a",` + one + `}]`,
		"a list by name":        ` [{"name":"a",` + one + `}] `,
		"a dictionary":          `{"note":"measure your own","a":{` + one + `}}`,
	} {
		c, err := catalogue.Parse(bytes.NewReader([]byte(text)))
		require.NoError(t, err, name)
		require.Len(t, c.Entries, 1, name)
		e := c.Entries[0]
		assert.Equal(t, "a", e.Name, name)
		assert.Equal(t, "debris", e.Kind, name)
		assert.InDelta(t, 1800, signedArea(e.Outline), 1e-9, name)
		assert.InDelta(t, 0.31, float64(e.Sigma), 0.01, "%s: 1 %% of its scale beside what a camera's outline has", name)
		// What is saved is a catalogue of our own.
		doc, err := json.Marshal(c)
		require.NoError(t, err)
		again, err := catalogue.Parse(bytes.NewReader(doc))
		require.NoError(t, err)
		assert.InDelta(t, float64(e.Sigma), float64(again.Entries[0].Sigma), 1e-9)
	}
}

func TestABadPublishedListNamesTheEntryAndTheKey(t *testing.T) {
	for text, want := range map[string]string{
		`[`:                    "not a list of outlines",
		`[] []`:                "not JSON: invalid character '[' after top-level value",
		`{"obstacles":"many"}`: "not a list of outlines",
		`[{"id":"a","kind":"moon","outline_mm":` + triangle + `}]`: `obstacles[0] ("a"): kind: expected asteroid`,
		`[{"kind":"gas","outline_mm":` + triangle + `}]`:           "name: expected a name",
		`{"a":{"kind":"gas","outline_mm":[[0,0]]}}`:                `outlines[0] ("a"): outline_mm: expected 3 to 2000 points`,
		`{"a":{"kind":7,"outline_mm":` + triangle + `}}`:           `"a": `,
		`[]`:               "this list has no outline",
		`{"obstacles":[]}`: "this list has no outline",
		`[7]`:              "expected an object, got number",
		`[{"id":"A1","kind":"gas","outline_mm":` + triangle + `}]`:                                            `"A1" is a ship's name`,
		`{"a":{"kind":"gas","outline_mm":` + triangle + `},"a":{"kind":"gas","outline_mm":` + triangle + `}}`: `the key "a" appears twice`,
		`[{"id":"a","kind":"gas","outline_mm":[[0],[20,0],[0,20]]}]`:                                          "a point: expected [x, y]",
		`{"rocks":{}}`: "not a catalogue",
		`{}`:           "version: expected 1",
	} {
		_, err := catalogue.Parse(bytes.NewReader([]byte(text)))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestTheSharedListIsRead(t *testing.T) {
	data, err := os.ReadFile("../../../shared/obstacles/outlines.json")
	if err != nil {
		t.Skipf("the shared list of outlines is not here: %v", err)
	}
	c, err := catalogue.Parse(bytes.NewReader(data))
	require.NoError(t, err)
	assert.Len(t, c.Entries, 20)
}

func FuzzPublishedList(f *testing.F) {
	f.Add([]byte(`{"obstacles":[{"id":"a","kind":"gas","outline_mm":` + triangle + `}]}`))
	f.Add([]byte(`[{"id":"a","kind":"gas","outline_mm":` + triangle + `}]`))
	f.Add([]byte(`{"a":{"kind":"gas","outline_mm":` + triangle + `}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := catalogue.Parse(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, e := range c.Entries {
			require.NotEmpty(t, e.Name)
			require.Greater(t, signedArea(e.Outline), 0.0)
		}
	})
}
