//go:build opencv

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/commandtest"
)

// fileLines hold for every argument that names a file a command line in which FIFO stands in its
// place; TABLE, LENS, PICTURE, SCENE, MAT and RULINGS are what they say, OUT is not there yet.
var fileLines = map[string][]string{
	"run --config":      {"run --config FIFO"},
	"run --source":      {"run --listen localhost:0 --source FIFO"},
	"run --lens":        {"run --listen localhost:0 --lens FIFO"},
	"run --calibration": {"run --listen localhost:0 --calibration FIFO"},

	"measure <scene>": {"measure FIFO"},
	"move <scene>":    {"move FIFO --ship A1 --maneuver straight.1"},
	"flown <before>":  {"flown FIFO SCENE --ship A1"},
	"flown <after>":   {"flown SCENE FIFO --ship A1"},
	"check <scene>":   {"check FIFO --setup"},
	"check --draw":    nil, // an .svg of a scene with a mat; sheet.Create writes it as it does draw's
	"draw <scene>":    {"draw FIFO -o OUT"},
	"draw --output":   {"draw SCENE -o FIFO"},

	"locate --calibration": {"locate --calibration FIFO PICTURE", "locate --fuse --calibration TABLE --calibration FIFO PICTURE PICTURE"},
	"locate <image>": {"locate --calibration TABLE FIFO", "locate --calibration TABLE FIFO.png",
		"locate --calibration TABLE PICTURE FIFO"},
	"locate --catalogue": {"locate --calibration TABLE --catalogue FIFO --empty-mat MAT PICTURE"},
	"locate --looks":     {"locate --calibration TABLE --looks FIFO PICTURE"},
	"locate --empty-mat": {"locate --calibration TABLE --catalogue CATALOGUE --empty-mat FIFO PICTURE"},

	"calibrate lens <image>": {"calibrate lens --board chessboard:9x6:25mm -o OUT.json FIFO"},
	"calibrate lens --source": {"calibrate lens --board chessboard:9x6:25mm -o OUT.json --source FIFO",
		"calibrate lens --board chessboard:9x6:25mm -o OUT.json --source FIFO.png"},
	"calibrate lens --output": {"calibrate lens --board chessboard:9x6:25mm -o FIFO PICTURE"},

	"calibrate table <image>":    {"calibrate table --lens LENS -o OUT FIFO"},
	"calibrate table --source":   {"calibrate table --lens LENS -o OUT --source FIFO", "calibrate table --lens LENS -o OUT --source FIFO.png"},
	"calibrate table --lens":     {"calibrate table --lens FIFO -o OUT PICTURE"},
	"calibrate table --output":   {"calibrate table --lens LENS -o FIFO PICTURE"},
	"calibrate table --config":   {"calibrate table --lens LENS -o OUT --config FIFO PICTURE"},
	"calibrate table --flatness": {"calibrate table --lens LENS -o OUT --flatness FIFO --card-length 220 PICTURE"},

	"calibrate quick <image>":       {"calibrate quick -o OUT.json FIFO"},
	"calibrate quick --source":      {"calibrate quick -o OUT.json --source FIFO"},
	"calibrate quick --output":      {"calibrate quick -o FIFO PICTURE"},
	"calibrate quick --lens-output": {"calibrate quick -o OUT.json --lens-output FIFO PICTURE"},
	"calibrate quick --config":      {"calibrate quick -o OUT.json --config FIFO PICTURE"},

	"calibrate budget --looks":       {"calibrate budget --calibration TABLE --looks FIFO"},
	"calibrate budget --calibration": {"calibrate budget --calibration FIFO"},
	"calibrate budget --output":      {"calibrate budget --calibration TABLE -o FIFO"},

	"calibrate verify <image>":       {"calibrate verify --calibration TABLE FIFO"},
	"calibrate verify --source":      {"calibrate verify --calibration TABLE --source FIFO"},
	"calibrate verify --calibration": {"calibrate verify --calibration FIFO PICTURE"},

	"obstacles learn-mat <image>":       {"obstacles learn-mat --calibration TABLE -o OUT FIFO"},
	"obstacles learn-mat --source":      {"obstacles learn-mat --calibration TABLE -o OUT --source FIFO"},
	"obstacles learn-mat --calibration": {"obstacles learn-mat --calibration FIFO -o OUT PICTURE"},
	"obstacles learn-mat --catalogue":   {"obstacles learn-mat --calibration TABLE --catalogue FIFO -o OUT PICTURE"},
	"obstacles learn-mat --output":      {"obstacles learn-mat --calibration TABLE -o FIFO PICTURE"},
	"obstacles learn <image>":           {"obstacles learn --calibration TABLE --name rock1 --kind asteroid -o OUT FIFO"},
	"obstacles learn --source":          {"obstacles learn --calibration TABLE --name rock1 --kind asteroid -o OUT --source FIFO"},
	"obstacles learn --calibration":     {"obstacles learn --calibration FIFO --name rock1 --kind asteroid -o OUT PICTURE"},
	"obstacles learn --output":          {"obstacles learn --calibration TABLE --name rock1 --kind asteroid -o FIFO PICTURE"},

	"looks learn --calibration": {"looks learn --calibration FIFO --at A1,small,100,100,0 -o OUT PICTURE"},
	"looks learn <image>":       {"looks learn --calibration TABLE --at A1,small,100,100,0 -o OUT FIFO"},
	"looks learn --source":      {"looks learn --calibration TABLE --jig A1,small -o OUT --source FIFO"},
	"looks learn --output":      nil, // a card that is not there is told first
	"looks list <dir>":          {"looks list FIFO"},

	"record --source":      {"record --source FIFO -o OUT"},
	"record --calibration": {"record --source sim: --calibration FIFO -o OUT"},
	"record --output":      {"record --source sim: -o FIFO"},

	"game list --rulings":   {"game list --rulings FIFO", "game list --rulings RULINGS"},
	"game list --config":    {"game list --config FIFO"},
	"game export --rulings": {"game export --rulings FIFO", "game export --rulings RULINGS"},
	"game export --config":  {"game export --config FIFO"},
	"game export --output":  nil, // needs a game; sheet.Create writes it as it does print's

	"hall run --state":          {"hall run --listen localhost:0 --tables localhost:0 --state FIFO"},
	"hall invite --state":       {"hall invite 7 --url tls://hall:4222 --state FIFO"},
	"hall invite --output":      {"hall invite 7 --url tls://hall:4222 --state OUT -o FIFO"},
	"hall invite --png":         {"hall invite 7 --url tls://hall:4222 --state OUT --png FIFO"},
	"hall revoke --state":       {"hall revoke 7 --state FIFO"},
	"hall tables --state":       {"hall tables --state FIFO"},
	"hall judge-secret --state": {"hall judge-secret --state FIFO"},

	"squads check <squad>": {"squads check FIFO"},
	"squads check --data":  {"squads check SQUAD --data FIFO"},

	"print all --output":         {"print all -o FIFO"},
	"print all --config":         {"print all --config FIFO -o OUT.pdf"},
	"print tokens --output":      {"print tokens --format pdf -o FIFO", "print tokens --format svg --single -o FIFO"},
	"print tokens --config":      {"print tokens --config FIFO -o OUT.pdf"},
	"print mat-markers --output": {"print mat-markers --format pdf -o FIFO"},
	"print mat-markers --config": {"print mat-markers --config FIFO -o OUT.pdf"},
	"print chessboard --output":  {"print chessboard --format pdf -o FIFO"},
	"print chessboard --config":  {"print chessboard --config FIFO -o OUT.pdf"},
	"print charuco --output":     {"print charuco --format pdf -o FIFO"},
	"print charuco --config":     {"print charuco --config FIFO -o OUT.pdf"},
	"print check-card --output":  {"print check-card --format pdf -o FIFO"},
	"print check-card --config":  {"print check-card --config FIFO -o OUT.pdf"},
	"print ids --output":         {"print ids --format pdf -o FIFO"},
	"print ids --config":         {"print ids --config FIFO -o OUT.pdf"},
	"print jig --output":         {"print jig --format pdf -o FIFO"},
	"print jig --config":         {"print jig --config FIFO -o OUT.pdf"},

	"doctor check --config":  {"doctor check --yes --config FIFO"},
	"doctor check --source":  nil, // a finding, and exit 1
	"doctor dark --config":   {"doctor dark --config FIFO"},
	"doctor held --config":   {"doctor held --config FIFO"},
	"setup-board --root":     nil, // a root folder, for tests
	"doctor wiring --board":  {"doctor wiring --board FIFO"},
	"doctor wiring --output": {"doctor wiring -o FIFO"},

	"judge-secret --config":    {"judge-secret --config FIFO"},
	"replay --rulings":         {"replay 1 --rulings FIFO", "replay 1 --rulings RULINGS"},
	"replay --config":          {"replay 1 --config FIFO"},
	"rulings list --rulings":   {"rulings list --rulings FIFO", "rulings list --rulings RULINGS"},
	"rulings list --config":    {"rulings list --config FIFO"},
	"rulings verify --rulings": {"rulings verify --rulings FIFO", "rulings verify --rulings RULINGS"},
	"rulings verify --config":  {"rulings verify --config FIFO"},
	"rulings export --rulings": {"rulings export --rulings FIFO -o OUT", "rulings export --rulings RULINGS -o OUT"},
	"rulings export --config":  {"rulings export --config FIFO -o OUT"},
	"rulings export --output":  nil, // needs a log; sheet.Create writes it as it does print's
}

// noFiles are the names of the arguments that name none.
var noFiles = []string{
	"help", "average", "mark", "listen", "rules", "from", "to", "arc", "arcs", "sigmas", "json", "ship", "maneuver", "action", "drop", "index",
	"at", "fuse", "unmoved",
	"board", "mat",
	"marker-sigma", "distance", "force-distance", "mat-flatness", "card-length", "card-thickness", "base-top", "limit", "places", "study",
	"tolerance",
	"name", "kind", "top", "alike", "format", "dpi", "paper", "printer-scale-x", "printer-scale-y", "ships", "single", "only", "yes", "entry",
	"head", "height", "frames", "key", "dial", "slop-mm", "slop-deg", "setup", "scenario", "game", "form",
	"tables", "url", "broker", "sha256", "read", "names", "for", "table", "area", "jig",
	"bare", "corners", "quick", "model", "strip", "print", "every", "count", "note", "code", "shell", "restart",
}

func TestEveryFileArgumentIsTested(t *testing.T) {
	parser, err := kong.New(&cli{})
	require.NoError(t, err)
	seen := map[string]bool{}
	check := func(key, name string) {
		seen[key] = true
		_, known := fileLines[key]
		assert.True(t, known != slices.Contains(noFiles, name) || key == "doctor wiring --board",
			"%s: does it name a file? fileLines or noFiles should say so", key)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		path := strings.TrimPrefix(leaf.Path(), "sightline ")
		for _, f := range leaf.Flags {
			check(path+" --"+f.Name, f.Name)
		}
		for _, p := range leaf.Positional {
			check(path+" <"+p.Name+">", p.Name)
		}
	}
	for key := range fileLines {
		assert.True(t, seen[key], "there is no %s any more", key)
	}
}

// within calls a command line, and fails when it does not end in time.
func within(t *testing.T, most time.Duration, args ...string) (code int, stderr string) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		code, _, stderr = called(t, args...)
	}()
	select {
	case <-done:
	case <-time.After(most):
		t.Fatalf("%v hangs", args)
	}
	return code, stderr
}

// files are what stands in fileLines.
func files(t *testing.T) *strings.Replacer {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	picture, lens, _ := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	code, _, stderr := called(t, "calibrate", "table", "--lens", lens, "-o", at("table.json"), picture)
	require.Zero(t, code, stderr)
	code, _, stderr = called(t, "obstacles", "learn-mat", "--calibration", at("table.json"), "-o", at("mat.png"), picture)
	require.Zero(t, code, stderr)
	require.NoError(t, os.WriteFile(at("catalogue.json"), []byte(`{"version":1,"outlines":[]}`), 0o600))
	require.NoError(t, os.WriteFile(at("scene.json"), []byte(`{"version":1,"rules":"2.5","ships":[{"id":"A1","player":1,"base":"small",`+
		`"x_mm":100,"y_mm":100,"heading_deg":0}]}`), 0o600))
	require.NoError(t, os.WriteFile(at("squad.xws"), []byte(`{"faction":"scum","pilots":[{"id":"bobafett"}]}`), 0o600))
	require.NoError(t, os.MkdirAll(at("rulings"), 0o700))
	for _, fifo := range []string{"fifo", "fifo.png", "rulings/rulings.db"} {
		require.NoError(t, syscall.Mkfifo(at(fifo), 0o600))
	}
	return strings.NewReplacer("FIFO", at("fifo"), "TABLE", at("table.json"), "LENS", lens, "PICTURE", picture, "SCENE", at("scene.json"),
		"SQUAD", at("squad.xws"),
		"CATALOGUE", at("catalogue.json"),
		"MAT", at("mat.png"), "RULINGS", at("rulings"), "OUT", at("out"))
}

func TestANamedPipeIsRefusedAtOnce(t *testing.T) {
	replace := files(t)
	for key, lines := range fileLines {
		for _, line := range lines {
			t.Run(key+": "+line, func(t *testing.T) {
				var args []string
				for _, word := range strings.Fields(line) {
					args = append(args, strings.ReplaceAll(replace.Replace(word), "straight.1", "straight 1"))
				}
				code, stderr := within(t, 2*time.Minute, args...)
				assert.Equal(t, 2, code, stderr)
				want := "fifo"
				if strings.Contains(line, "RULINGS") {
					want = "rulings"
				}
				assert.Contains(t, commandtest.LastLine(stderr), want)
				if command, _, _ := strings.Cut(strings.ReplaceAll(key, " <", " --"), " --"); command != "run" && command != "hall run" {
					named := "sightline: " + strings.Replace(command, "doctor check", "doctor", 1) + ": "
					assert.True(t, strings.HasPrefix(commandtest.LastLine(stderr), named), "the error names its command: %s", stderr)
				}
			})
		}
	}
}

func TestANamedPipeInTheConfigurationIsRefusedAtOnce(t *testing.T) {
	replace := files(t)
	config := filepath.Join(t.TempDir(), "sightline.toml")
	for key, text := range map[string]string{
		"camera.source":         "[camera]\nsource = \"FIFO\"",
		"camera.lens":           "[camera]\nlens = \"FIFO\"",
		"cameras.source":        "[[cameras]]\nsource = \"FIFO\"",
		"cameras.lens":          "[[cameras]]\nsource = \"sim:\"\nlens = \"FIFO\"",
		"cameras.calibration":   "[[cameras]]\nsource = \"sim:\"\ncalibration = \"FIFO\"",
		"cameras.empty_mat":     "[table]\ncatalogue = \"CATALOGUE\"\nempty_mat = \"MAT\"\n[[cameras]]\nsource = \"sim:\"\nempty_mat = \"FIFO\"",
		"table.calibration":     "[table]\ncalibration = \"FIFO\"",
		"table.catalogue":       "[table]\ncatalogue = \"FIFO\"\nempty_mat = \"MAT\"",
		"table.empty_mat":       "[table]\ncatalogue = \"CATALOGUE\"\nempty_mat = \"FIFO\"",
		"web.judge_secret_file": "[web]\njudge_secret_file = \"FIFO\"",
		"web.tls_certificate":   "[web]\ntls_certificate = \"FIFO\"\ntls_key = \"LENS\"",
		"web.tls_key":           "[web]\ntls_certificate = \"LENS\"\ntls_key = \"FIFO\"",
		"panel.board":           "[panel]\nboard = \"FIFO\"",
	} {
		t.Run(key, func(t *testing.T) {
			require.NoError(t, os.WriteFile(config, []byte(replace.Replace(text)+"\n"), 0o600))
			t.Setenv("STATE_DIRECTORY", t.TempDir())
			t.Chdir(t.TempDir())
			code, stderr := within(t, 2*time.Minute, "run", "--listen", "localhost:0", "--config", config)
			assert.Equal(t, 2, code, stderr)
			assert.Contains(t, commandtest.LastLine(stderr), "fifo")
			assert.Contains(t, commandtest.LastLine(stderr), strings.Split(key, ".")[1], fmt.Sprintf("and the key: %s", stderr))
		})
	}
}
