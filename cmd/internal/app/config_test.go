package app_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/squads"
	"sightline/engine"
	"sightline/engine/geom"
)

func parse(text string) (app.Config, error) { return app.ParseConfig(strings.NewReader(text)) }

func TestBadConfigNamesTheKeyAndItsLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":                            {"[camera]\n\nsorce = \"sim:\"\n", `line 3, column 1: unknown key "camera.sorce"`},
		"unknown table":                          {"[cammera]\nsource = \"sim:\"\n", `line 1, column 2: unknown key "cammera"`},
		"a number where text is due":             {"[camera]\nsource = 3\n", `line 2, column 1: camera.source: expected text in quotes, got a whole number`},
		"text where a number is due":             {"[rules]\nsigmas = \"three\"\n", `line 2, column 1: rules.sigmas: expected a number, got text in quotes`},
		"text where a list is due":               {"[web]\n names = \"table.lan\"\n", `line 2, column 2: web.names: expected a list, got text in quotes`},
		"text where yes or no is due":            {"[panel]\nenabled = \"no\"\n", `line 2, column 1: panel.enabled: expected true or false, got text in quotes`},
		"a table where a number is due":          {"[rules]\nsigmas = {a = 1}\n", `line 2, column 1: rules.sigmas: expected a number, got a table of keys`},
		"numbers where text is due":              {"[web]\nnames = [1]\n", `line 2, column 1: web.names: expected text in quotes, got a whole number`},
		"a fraction where a whole number is due": {"[camera]\nwidth = 1.5\n", `line 2, column 1: camera.width: expected a whole number, got a number`},
		"a list where tables are due":            {"cameras = [1]\n", `line 1, column 1: cameras: expected a table of keys, got a whole number`},
		"a number where a table is due":          {"camera = 7\n", `line 1, column 1: camera: expected a table of keys, got a whole number`},
		"of two cameras the second":              {"[[cameras]]\nname = \"a\"\n[[cameras]]\nname = 2\n", `line 4, column 1: cameras.name: expected text in quotes, got a whole number`},
		"a table's name without its end": {"[web]\nlisten = \"localhost:80\"\n[camera\nsource = \"sim:\"\n",
			`line 3, column 8: expected '.' or ']' to end table name`},
		"text without its end": {"[web]\nlisten = \"localhost:80\n\n", `line 2, column 23: web.listen: strings cannot contain newlines`},
		"a catalogue without a mat": {"[table]\ncatalogue = \"o.json\"\n",
			`line 2, column 1: table.catalogue: expected table.empty_mat with it`},
		"a mat that is a catalogue": {"[table]\ncatalogue = \"a/o.json\"\nempty_mat = \"./a/o.json\"\n",
			`line 3, column 1: table.empty_mat: expected another file than table.catalogue`},
		"a mat without a catalogue": {"[table]\nempty_mat = \"m.png\"\n", `line 2, column 1: table.empty_mat: expected table.catalogue with it`},
		"not TOML":                  {"[camera]\nsource = sim:\n", `line 2, column 10: camera.source:`},
		"edition of another game": {"[rules]\nedition = \"3.0\"\n",
			`line 2, column 1: rules.edition: expected "1e", "2.0" or "2.5", got "3.0"`},
		"unknown profile": {"[rules]\nprofile = \"round\"\n",
			`line 2, column 1: rules.profile: expected "nominal" or "measured", got "round"`},
		"no sigma at all":            {"[rules]\n\n\nsigmas = 0\n", `line 4, column 1: rules.sigmas: expected more than 0`},
		"not a number":               {"[rules]\nsigmas = nan\n", `line 2, column 1: rules.sigmas: expected more than 0`},
		"mat in metres":              {"[table]\nwidth_mm = 0.9144\n", `line 2, column 1: table.width_mm: expected 100 to 10000 mm, got 0.9144`},
		"markers laid to nothing":    {"[table]\nmarker_sigma_mm = 0\n", `line 2, column 1: table.marker_sigma_mm: expected more than 0`},
		"height of nothing":          {"[table]\nheight_mm = -1.0\n", `line 2, column 1: table.height_mm`},
		"negative picture":           {"[camera]\nwidth = -1\n", `line 2, column 1: camera.width: expected 0 to 20000 px`},
		"source of nothing":          {"[[cameras]]\nname = \"far\"\nsource = \"\"\n", `cameras.source: expected a source`},
		"address without a port":     {"[web]\nlisten = \"localhost\"\n", `line 2, column 1: web.listen: expected host:port`},
		"a printer that shrinks all": {"[print]\nscale_x = 0.94\n", `line 2, column 1: print.scale_x: expected 0.975 to 1.025`},
		"a bar instead of a scale":   {"[print]\nscale_y = 99.5\n", `line 2, column 1: print.scale_y: expected 0.975 to 1.025`},
		"reading by invitation":      {"[web]\nread = \"closed\"\n", `line 2, column 1: web.read: expected "open" or "paired", got "closed"`},
		"a name with its scheme": {"[web]\nnames = [\"table.lan\", \"http://table\"]\n",
			`line 2, column 1: web.names: expected host names without scheme and port, such as "table.lan", got "http://table"`},
		"every name at once": {"[web]\nnames = [\"*.lan\"]\n", `line 2, column 1: web.names: expected host names`},
		"a certificate without key": {"[web]\ntls_certificate = \"c.pem\"\n",
			`line 2, column 1: web.tls_certificate: expected web.tls_key with it`},
		"a key without certificate": {"[web]\ntls_key = \"k.pem\"\n", `line 2, column 1: web.tls_key: expected web.tls_certificate with it`},
		"port by name":              {"[web]\nlisten = \"localhost:web\"\n", `line 2, column 1: web.listen: expected host:port`},
		"two markers are too few": {"[[table.markers]]\nid = 1\n[[table.markers]]\nid = 2\n",
			`line 1, column 9: table.markers: markers: at least 3 are needed, got 2`},
		"unknown key of a marker": {"[[table.markers]]\nid = 1\nx = 3\n", `line 3, column 1: unknown key "table.markers.x"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.text)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			assert.NotContains(t, err.Error(), "\n", "one line")
		})
	}
}

func TestDefaults(t *testing.T) {
	c := app.DefaultConfig()
	assert.Empty(t, c.Camera.Source, "the page asks for a camera")
	assert.Empty(t, c.Camera.Named)
	assert.Equal(t, engine.Rules25, c.Rules.Edition)
	assert.Equal(t, 3.0, c.Rules.Sigmas)
	assert.Equal(t, "localhost:8080", c.Web.Listen)
	assert.Equal(t, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), c.Table.Layout)
	assert.True(t, c.Panel.Enabled)
}

// samples returns the toml blocks of docs/configuration.md.
func samples(t *testing.T) []string {
	doc, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	var out []string
	for _, m := range regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(string(doc), -1) {
		out = append(out, m[1])
	}
	require.Len(t, out, 4, "toml blocks in docs/configuration.md")
	return out
}

func TestDocumentedDefaultsAreTheProgramsDefaults(t *testing.T) {
	c, err := parse(samples(t)[0])
	require.NoError(t, err)
	assert.Equal(t, app.DefaultConfig(), c)
}

func TestEveryKeyIsDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, text := range samples(t) {
		var tree map[string]any
		meta, err := toml.Decode(text, &tree)
		require.NoError(t, err)
		for _, k := range meta.Keys() {
			documented[k.String()] = true
		}
	}
	for _, key := range app.ConfigKeys() {
		assert.True(t, documented[key], "docs/configuration.md says nothing of %s", key)
	}
}

func TestShipsOfOnesOwn(t *testing.T) {
	c, err := parse(samples(t)[3])
	require.NoError(t, err)
	require.Len(t, c.Squads.Ships, 1)
	data, err := squads.Builtin().With(c.Squads.Ships)
	require.NoError(t, err)
	squad, err := squads.Parse([]byte(`{"faction":"rebelalliance","pilots":[{"id":"wedgeantilles"}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"1BB", "2FB", "4KR"}, data.Check(squad).Ships[0].Dial)
	assert.Len(t, squads.Builtin().Check(squad).Ships[0].Dial, 17, "the data stay as they are")
	for what, o := range map[string]squads.Override{
		"expected a ship of the data": {ID: "nosuchship"}, "dial": {ID: "t65xwing", Dial: []string{"fast"}},
		"arcs": {ID: "t65xwing", Arcs: []string{"up"}}, "size": {ID: "t65xwing", Base: "tiny"},
	} {
		_, err := squads.Builtin().With([]squads.Override{o})
		assert.ErrorContains(t, err, what)
	}
}

func TestFurtherCameras(t *testing.T) {
	c, err := parse(samples(t)[1])
	require.NoError(t, err)
	left := app.FurtherCamera{Camera: app.Camera{Source: "/dev/video2", Lens: "left-lens.json", Width: 1920, Height: 1080, FPS: 30},
		Name: "left"}
	assert.Equal(t, []app.FurtherCamera{left}, c.Cameras)
	assert.Equal(t, app.DefaultConfig().Camera, c.Camera)
	c, err = parse("[[cameras]]\nsource = \"a\"\n[[cameras]]\nsource = \"b\"\n")
	require.NoError(t, err)
	assert.Equal(t, "camera 3", c.Cameras[1].Name)
	c, err = parse("[table]\ncatalogue = \"c\"\nempty_mat = \"m\"\n[[cameras]]\nsource = \"a\"\nempty_mat = \"mat.png\"\n")
	require.NoError(t, err)
	assert.Equal(t, "mat.png", c.Cameras[0].EmptyMat)
	for text, want := range map[string]string{
		"[[cameras]]\nlens = \"a\"\n":                                                     "cameras.source",
		"[[cameras]]\nsource = \"a\"\nwidth = -1\n":                                       "cameras.width",
		"[[cameras]]\nsource = \"a\"\nempty_mat = \"mat.png\"\n":                          "cameras.empty_mat",
		"[[cameras]]\nsource = \"a\"\nfocus = 1\n":                                        "cameras.focus",
		"[[cameras]]\nsource = \"a\"\n[[cameras]]\nsource = \"b\"\nname = \"camera 2\"\n": "cameras.name",
	} {
		_, err := parse(text)
		assert.ErrorContains(t, err, want)
	}
}

func TestMarkersThatLieElsewhere(t *testing.T) {
	c, err := parse(samples(t)[2])
	require.NoError(t, err)
	require.Len(t, c.Table.Layout.Markers, 3)
	m := c.Table.Layout.Markers[0]
	assert.Equal(t, calibration.Marker{ID: 0, Center: geom.Point{X: -28, Y: 40}, Size: 40 * geom.Millimeter, Z: 0.2 * geom.Millimeter}, m)
}

func TestANamedFileMustExist(t *testing.T) {
	_, err := app.LoadConfig(filepath.Join(t.TempDir(), "none.toml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Contains(t, err.Error(), "none.toml")
}

func TestNoFileMeansDefaults(t *testing.T) {
	t.Chdir(t.TempDir())
	c, err := app.LoadConfig("")
	require.NoError(t, err)
	assert.Equal(t, app.DefaultConfig(), c)
}

func TestTheFileIsNamedInTheErrorAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sightline.toml")
	text := []byte("[web]\nlissen = \"x\"\n")
	require.NoError(t, os.WriteFile(path, text, 0o644))
	_, err := app.LoadConfig(path)
	require.ErrorContains(t, err, path+": line 2, column 1: unknown key")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text, after)
}

func TestADirectoryIsNoConfig(t *testing.T) {
	_, err := app.LoadConfig(t.TempDir())
	require.Error(t, err)
}

func TestTheCommandLineGoesBeforeTheFile(t *testing.T) {
	c, err := parse("[camera]\nsource = \"/dev/video0\"\nlens = \"a.json\"\n")
	require.NoError(t, err)
	c, err = c.With(app.Overrides{Source: "sim:", Rules: "1e", Listen: "localhost:0"})
	require.NoError(t, err)
	assert.Equal(t, "sim:", c.Camera.Source)
	assert.Equal(t, "--source", c.Camera.Named)
	assert.Equal(t, "a.json", c.Camera.Lens)
	assert.Equal(t, engine.Rules1e, c.Rules.Edition)
	assert.Equal(t, "localhost:0", c.Web.Listen)
	_, err = c.With(app.Overrides{Rules: "4"})
	require.ErrorContains(t, err, "--rules")
	_, err = c.With(app.Overrides{Listen: "8080"})
	require.ErrorContains(t, err, "--listen")
}

func FuzzParseConfig(f *testing.F) {
	f.Add("[camera]\nsource = \"sim:\"")
	f.Add("[[table.markers]]\nid = 1")
	f.Fuzz(func(t *testing.T, text string) { _, _ = parse(text) })
}
