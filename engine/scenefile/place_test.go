package scenefile_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/engine/scenefile"
)

// TestErrorsNameLineAndColumn: an editor's "go to line" finds what is wrong.
func TestErrorsNameLineAndColumn(t *testing.T) {
	const ship = `{"id":"A1","base":"small","x_mm":100,"y_mm":100,"heading_deg":0}`
	for _, c := range []struct{ doc, want string }{
		{"{\"version\":1,\n \"rules\":\"2.5\",\n \"foo\":1}", "line 3, column 8: foo: unknown key"},
		{"{\"version\":1,\n \"rules\":\"3\"}", "line 2, column 10: rules: "},
		{"{\"version\":1,\"rules\":\"2.5\",\n\"ships\":[" + ship +
			",\n  {\"id\":\"B1\",\"base\":\"tiny\",\"x_mm\":1,\"y_mm\":1,\"heading_deg\":0}]}",
			"line 3, column 3: ships[1] (B1): base: expected small"},
		{"{\"version\":1,\"rules\":\"2.5\",\n\"ships\":[" + ship + ",\n  {\"id\":\"Ä1\",\"base\":\"small\",\"x_mm\":\"1\"}]}",
			`line 3, column 36: ships[1] (Ä1): x_mm: expected a number, got "1"`},
		{"{\"scenes\":[\n{\"version\":1,\"rules\":\"2.5\",\n \"rules\":\"2.5\"}]}", "line 3, column 8: scenes[0].rules: appears twice"},
		{"{\"version\":1,\n \"ships\":[}", "line 2, column 11: "},
		{"{\"version\":1,\n", "line 1, column 14: the document ends too early"},
		{"{\"version\":1,\"rules\":\"2.5\",\"ships\":[" + ship + "," + ship + "]}", "ships"},
	} {
		_, _, err := scenefile.Parse([]byte(c.doc))
		if assert.Error(t, err, c.doc) {
			assert.Contains(t, err.Error(), c.want, c.doc)
		}
	}
}
