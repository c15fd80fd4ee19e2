package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const pair = `{"version":1,"rules":"2.5","ships":[
 {"id":"A1","base":"small","x_mm":0,"y_mm":0,"heading_deg":0},{"id":"B1","base":"small","x_mm":0,"y_mm":140,"heading_deg":0}]}`

func TestDrawWritesAPictureToAFileOrToStandardOutput(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "scene.json")
	require.NoError(t, os.WriteFile(scene, []byte(pair), 0o600))
	file := filepath.Join(t.TempDir(), "x.svg")

	var said, shown bytes.Buffer
	c := drawCmd{Scene: scene, Out: file, From: "A1", To: "B1", Arcs: []string{"front"}, Sigmas: 3, Index: 1}
	require.NoError(t, c.draw(nil, &said))
	assert.Equal(t, "wrote "+file+"\n", said.String())

	c.Scene, c.Out = "-", "-"
	require.NoError(t, c.draw(strings.NewReader(pair), &shown))
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(written), shown.String())
	assert.Contains(t, shown.String(), "range 1, 100.00 ± 0.00 mm")
}

func TestDrawPicksASceneOfAList(t *testing.T) {
	second := strings.ReplaceAll(pair, `"B1"`, `"C7"`)
	list := `{"version":1,"scenes":[` + pair + "," + second + `]}`
	var out bytes.Buffer
	c := drawCmd{Scene: "-", Out: "-", Sigmas: 3, Index: 2}
	require.NoError(t, c.draw(strings.NewReader(list), &out))
	assert.Contains(t, out.String(), "C7")
	c.Index = 3
	assert.ErrorContains(t, c.draw(strings.NewReader(list), &out), "--index: expected 1 to 2, got 3")
}

func TestDrawSaysInOneLineWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	scene := filepath.Join(dir, "scene.json")
	require.NoError(t, os.WriteFile(scene, []byte(pair), 0o600))
	torn := filepath.Join(dir, "torn.json")
	require.NoError(t, os.WriteFile(torn, []byte(`{"version":1,`), 0o600))
	out := filepath.Join(dir, "x.svg")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{filepath.Join(dir, "none.json"), "-o", out}, 2, "none.json"},
		{[]string{torn, "-o", out}, 2, "torn.json"},
		{[]string{scene}, 2, "--output"},
		{[]string{scene, "-o", out, "--from", "Z9"}, 1, `"Z9"`},
		{[]string{scene, "-o", out, "--from", "A1", "--to", "Z9"}, 1, `"Z9"`},
		{[]string{scene, "-o", out, "--to", "B1"}, 2, "--from"},
		{[]string{scene, "-o", out, "--from", "A1", "--arcs", "sideways"}, 2, "sideways"},
		{[]string{scene, "-o", out, "--arcs", "front"}, 2, "--from"},
		{[]string{scene, "-o", out, "--maneuver", "straight 1"}, 2, "--ship"},
		{[]string{scene, "-o", out, "--ship", "A1"}, 2, "--maneuver"},
		{[]string{scene, "-o", out, "--ship", "A1", "--maneuver", "straight 1", "--drop", "straight 1"}, 2, "one of"},
		{[]string{scene, "-o", out, "--ship", "A1", "--maneuver", "sideways 1"}, 2, "sideways"},
		{[]string{scene, "-o", out, "--ship", "A1", "--action", "dance"}, 2, "dance"},
		{[]string{scene, "-o", out, "--ship", "A1", "--drop", "straight 9"}, 2, "--drop"},
		{[]string{scene, "-o", out, "--ship", "Z9", "--maneuver", "straight 1"}, 1, `"Z9"`},
		{[]string{scene, "-o", out, "--rules", "3.0"}, 2, "1e, 2.0 or 2.5"},
		{[]string{scene, "-o", out, "--sigmas", "0"}, 2, "--sigmas"},
		{[]string{scene, "-o", filepath.Join(dir, "no", "x.svg")}, 2, "x.svg"},
	} {
		code, stdout, stderr := called(t, append([]string{"draw"}, c.args...)...)
		assert.Equal(t, c.code, code, "%v", c.args)
		assert.Empty(t, stdout, "%v", c.args)
		assert.Contains(t, stderr, c.want, "%v", c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "%v: %q", c.args, stderr)
		assert.NoFileExists(t, out)
	}
}
