package cmd_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "sightline"

// mayImport is the whole of the allowed directions inside the module; "..." stands
// for a folder and all below it, and the longest key that fits a package counts. A
// package that is in none of the keys is an error. Tests keep to the same directions,
// but for testsMayImport.
var mayImport = map[string][]string{
	"cmd/internal/kept": {"calibration/strictjson", "engine/geom"},
	"cmd/internal/naming": {"cmd/internal/kept", "engine", "engine/alike", "engine/flown", "engine/geom", "engine/move",
		"vision", "vision/token"},
	"cmd/internal/pipeline": {"cmd/internal/game", "cmd/internal/kept", "cmd/internal/live", "cmd/internal/naming", "cmd/internal/sentence",
		"vision", "vision/capture", "vision/catalogue",
		"vision/exposure", "vision/fiducial", "vision/fusion", "vision/look", "vision/token", "vision/track", "calibration",
		"calibration/quick", "calibration/verify", "calibration/watch", "engine", "engine/geom", "engine/move"},
	"cmd/internal/game": {"cmd/internal/kept",
		"cmd/internal/live", "cmd/internal/sentence", "hardware", "vision", "vision/capture", "vision/token",
		"calibration", "calibration/atomicfile", "calibration/regularfile", "calibration/strictjson", "engine", "engine/geom"},
	"cmd/internal/director": {"cmd/internal/access", "cmd/internal/live", "cmd/internal/sentence", "cmd/internal/web"},
	"cmd/internal/event": {"cmd/internal/access", "cmd/internal/live", "cmd/internal/sentence", "calibration/atomicfile",
		"calibration/regularfile"},
	"cmd/internal/hall": {"cmd/internal/access", "cmd/internal/event", "cmd/internal/live", "cmd/internal/metrics", "cmd/internal/openapi",
		"cmd/internal/rulings", "cmd/internal/sentence", "cmd/internal/web", "calibration/atomicfile", "calibration/regularfile", "hardware"},
	"cmd/internal/status": {"cmd/internal/access", "cmd/internal/live", "cmd/internal/web"},
	"cmd/internal/projector": {"cmd/internal/access", "cmd/internal/live", "cmd/internal/sentence", "cmd/internal/web", "vision",
		"vision/capture", "calibration", "calibration/linalg", "calibration/strictjson", "engine", "engine/geom"},
	"cmd/internal/texts":    {},
	"cmd/internal/access":   {"cmd/internal/kept"},
	"cmd/internal/sentence": {},
	"cmd/internal/live": {"cmd/internal/sentence", "cmd/internal/setup", "hardware", "vision", "vision/catalogue", "vision/exposure",
		"vision/obstacle/trace", "vision/token", "calibration", "calibration/verify", "engine", "engine/geom", "engine/move"},
	"cmd/internal/openapi":     {},
	"cmd/internal/openapitest": {},
	"cmd/internal/web": {"cmd/internal/access", "cmd/internal/live", "cmd/internal/metrics", "cmd/internal/openapi", "cmd/internal/sentence",
		"cmd/internal/texts",
		"cmd/internal/setup", "cmd/internal/draw",
		"cmd/internal/sheet", "cmd/internal/rulebook", "hardware", "vision", "vision/catalogue", "vision/exposure", "vision/token",
		"calibration", "calibration/lens", "calibration/strictjson", "calibration/verify", "engine", "engine/geom", "engine/move",
		"engine/scenefile"},
	"cmd/sightline": {"cmd/...", "hardware/...", "vision/...", "calibration/...", "engine/...", "firmware-config"},
	"cmd/internal/calibrate": {"cmd/internal/app", "cmd/internal/coverage", "cmd/internal/draw", "cmd/internal/looks", "cmd/internal/pictures",
		"cmd/internal/sheet", "cmd/internal/terminal", "calibration", "calibration/lens", "calibration/quick", "calibration/verify",
		"engine/geom", "vision", "vision/exposure", "vision/fiducial", "vision/look", "vision/opencv", "vision/token"},
	"cmd/internal/pictures": {"cmd/internal/terminal", "calibration", "calibration/lens", "vision", "vision/capture", "vision/exposure",
		"vision/opencv", "vision/tablesim"},
	"cmd/internal/terminal":    {"cmd/internal/sentence"},
	"cmd/internal/browsertest": {},
	"cmd/internal/racetest":    {},
	"cmd/internal/commandtest": {"cmd/internal/terminal", "calibration", "calibration/lens", "engine", "vision/tablesim"},
	"cmd/internal/app":         {"cmd/...", "hardware/...", "vision/...", "calibration/...", "engine/...", "firmware-config"},
	"cmd":                      {},
	"cmd/internal/accuracy":    {},
	"cmd/internal/rulings": {"calibration", "calibration/atomicfile", "calibration/regularfile", "calibration/verify", "cmd/internal/draw",
		"cmd/internal/kept",
		"cmd/internal/rulebook", "cmd/internal/sentence", "engine", "engine/geom", "engine/scenefile", "vision", "vision/catalogue",
		"vision/locate", "vision/look", "vision/obstacle", "vision/token"},
	"cmd/internal/round": {"cmd/internal/sentence", "engine", "engine/alike", "engine/flown", "engine/geom", "engine/move"},
	"cmd/internal/play": {"cmd/internal/access", "cmd/internal/draw", "cmd/internal/live", "cmd/internal/round", "cmd/internal/rulings",
		"cmd/internal/sentence", "cmd/internal/squads", "cmd/internal/web", "engine", "engine/flown", "engine/move", "engine/scenefile",
		"engine/tablecheck",
		"vision", "vision/token"},
	"cmd/internal/squads":           {"cmd/internal/sentence", "calibration/regularfile", "engine"},
	"cmd/internal/squads/shiptable": {"cmd/internal/squads"},
	"cmd/internal/metrics":          {},
	"cmd/internal/doctor": {"cmd/internal/metrics", "calibration", "calibration/lens", "calibration/regularfile", "calibration/verify",
		"hardware", "vision", "vision/capture",
		"vision/exposure", "vision/fiducial"},
	"cmd/internal/setup": {"calibration", "calibration/lens", "calibration/quick", "calibration/verify", "cmd/internal/sheet", "engine/geom",
		"vision/token"},
	"cmd/internal/sheet": {"calibration", "calibration/atomicfile", "calibration/regularfile", "calibration/verify", "engine", "engine/geom",
		"vision/dots", "vision/jig",
		"vision/token"},
	"cmd/internal/first": {"calibration", "calibration/strictjson", "calibration/verify", "cmd/internal/access",
		"cmd/internal/sentence", "cmd/internal/setup", "cmd/internal/sheet", "cmd/internal/web", "engine/geom", "vision", "vision/capture",
		"vision/token"},
	"cmd/internal/draw":     {"calibration", "cmd/internal/texts", "engine", "engine/geom", "engine/move", "engine/tablecheck"},
	"cmd/internal/coverage": {"calibration/lens"},
	"cmd/internal/looks":    {"calibration", "engine", "engine/geom", "vision", "vision/jig", "vision/look", "vision/token"},
	"cmd/internal/rulebook": {},
	"cmd/internal/enrol": {"cmd/internal/access", "cmd/internal/live", "cmd/internal/sentence", "cmd/internal/web", "calibration", "engine",
		"vision", "vision/jig", "vision/look"},
	"hardware":              {"engine"},
	"hardware/hardwaretest": {"hardware"},
	"vision/token":          {"engine", "engine/geom"},
	"vision/catalogue":      {"vision/token", "engine", "engine/geom", "calibration/regularfile", "calibration/strictjson"},
	"vision":                {"vision/token", "vision/catalogue", "engine", "engine/geom", "calibration"},
	"vision/internal/gray":  {"vision/token", "calibration", "engine/geom"},
	"vision/internal/cov":   {"engine/geom"},
	"vision/internal/rest":  {"vision/internal/gray", "calibration", "engine/geom"},
	"vision/internal/parts": {"vision", "vision/internal/gray", "engine/geom"},
	"vision/internal/shift": {"vision", "vision/internal/gray", "engine/geom"},
	"vision/internal/under": {"vision", "vision/internal/gray", "engine/geom"},
	"vision/exposure":       {"vision", "vision/internal/gray", "calibration", "engine/geom"},
	"vision/capture":        {"vision", "vision/exposure", "calibration/regularfile", "calibration/strictjson"},
	"vision/fiducial":       {"vision", "vision/internal/gray", "calibration", "engine/geom"},
	"vision/ship": {"vision", "vision/token", "vision/internal/gray", "calibration", "calibration/linalg",
		"engine", "engine/geom"},
	"vision/obstacle": {"vision", "vision/token", "vision/catalogue", "vision/exposure", "vision/ship", "vision/internal/ghost",
		"vision/internal/gray",
		"vision/internal/parts", "vision/internal/shift", "vision/internal/under", "vision/internal/rest", "calibration",
		"calibration/linalg", "calibration/regularfile", "engine", "engine/geom"},
	"vision/obstacle/trace": {"vision", "vision/catalogue", "vision/internal/gray", "calibration", "engine/geom"},
	"vision/look": {"vision", "vision/token", "vision/dots", "calibration", "calibration/linalg", "calibration/atomicfile",
		"calibration/regularfile", "calibration/strictjson", "engine", "engine/geom",
		"vision/look/internal/rim", "vision/look/internal/signs"},
	"vision/look/internal/rim":   {"vision/internal/gray"},
	"vision/look/internal/signs": {"calibration", "engine", "engine/geom"},

	"vision/dots":           {"vision", "calibration", "engine", "engine/geom"},
	"vision/jig":            {"vision", "vision/look", "calibration", "engine", "engine/geom"},
	"vision/internal/ghost": {"vision", "engine/geom"},
	"vision/imprint": {"vision", "vision/catalogue", "vision/internal/gray", "vision/locate", "vision/obstacle",
		"calibration", "engine/geom"},
	"vision/locate": {"vision", "vision/catalogue", "vision/look", "vision/ship", "vision/obstacle",
		"calibration", "engine", "engine/geom"},
	"vision/track": {"vision", "vision/token", "vision/internal/gray", "vision/internal/cov",
		"calibration", "calibration/linalg", "engine", "engine/geom"},
	"vision/fusion": {"vision", "vision/token", "vision/catalogue", "vision/internal/cov",
		"calibration", "engine", "engine/geom"},
	"vision/internal/visiontest": {"vision", "vision/token", "vision/internal/gray", "calibration", "engine", "engine/geom"},
	"vision/renderedtest":        {"calibration"},
	"vision/opencv": {"vision", "vision/capture", "vision/fiducial", "vision/internal/gray", "calibration", "engine/geom",
		"calibration/regularfile"},
	"vision/tablesim": {"vision", "vision/jig", "vision/token", "vision/capture", "calibration", "calibration/regularfile",
		"calibration/verify", "engine", "engine/geom", "engine/move"},
	"calibration/lens": {"calibration", "calibration/linalg", "calibration/internal/document",
		"calibration/strictjson", "engine/geom"},
	"calibration/quick": {"calibration", "calibration/linalg", "engine/geom"},
	"calibration/verify": {"calibration", "calibration/linalg", "calibration/internal/document",
		"calibration/strictjson", "engine/geom"},
	"calibration/watch": {"calibration", "calibration/linalg", "engine/geom"},
	"calibration": {"calibration/linalg", "calibration/internal/document",
		"calibration/strictjson", "engine/geom"},
	"calibration/atomicfile":           {},
	"calibration/atomicfile/faultdisk": {"calibration/atomicfile"},
	"calibration/linalg":               {},
	"calibration/internal/document":    {"calibration/regularfile", "calibration/atomicfile"},
	"calibration/regularfile":          {},
	"calibration/strictjson":           {"calibration/atomicfile", "calibration/regularfile"},
	"engine":                           {"engine/geom", "engine/internal/pieces", "engine/internal/uncertain"},
	"engine/internal/enginetest":       {"engine", "engine/geom"},
	"engine/internal/pieces":           {"engine/geom"},
	"engine/internal/uncertain":        {"engine/geom"},
	"engine/move":                      {"engine", "engine/geom", "engine/internal/pieces", "engine/internal/uncertain"},
	"engine/scenefile":                 {"engine", "engine/geom", "engine/move"},
	"engine/geom":                      {},
	"firmware-config":                  {},

	"cmd/internal/outline": {"cmd/internal/access", "cmd/internal/kept", "cmd/internal/live", "cmd/internal/sentence", "cmd/internal/web",
		"vision", "vision/catalogue", "vision/fiducial", "vision/token", "calibration", "calibration/linalg", "calibration/quick",
		"calibration/strictjson", "engine", "engine/geom"},

	"engine/alike":      {"engine", "engine/flown", "engine/geom"},
	"engine/flown":      {"engine", "engine/geom", "engine/move"},
	"engine/tablecheck": {"engine", "engine/geom", "engine/internal/pieces"},
}

// testsMayImport says what tests may import in addition: those of the page run the
// whole program behind it, those of OpenCV and of the simulator calibrate lenses,
// those of the simulated table try what looks at it, and tables are written as scene
// files.
var testsMayImport = map[string][]string{
	"cmd/internal/accuracy": {"calibration", "calibration/lens", "calibration/quick", "calibration/watch", "engine", "engine/geom",
		"engine/move", "engine/scenefile", "vision", "vision/catalogue", "vision/dots", "vision/exposure", "vision/fiducial", "vision/fusion",
		"vision/imprint", "vision/locate", "vision/look", "vision/obstacle", "vision/opencv", "vision/renderedtest", "vision/ship",
		"vision/tablesim", "vision/token", "vision/track"},
	"cmd/internal/calibrate": {"cmd/internal/commandtest", "engine", "vision/tablesim"},
	"cmd/internal/hall":      {"cmd/internal/director", "cmd/internal/openapitest", "calibration", "engine", "engine/geom", "vision"},
	"cmd/internal/doctor":    {"engine/geom", "vision/tablesim"},
	"cmd/internal/rulebook":  {"engine"},
	"cmd/internal/rulings":   {"calibration/atomicfile/faultdisk", "vision/tablesim"},
	"cmd/internal/outline":   {"cmd/internal/app", "hardware/hardwaretest", "vision/opencv", "vision/renderedtest", "vision/tablesim"},
	"cmd/internal/setup":     {"vision/tablesim"},
	"cmd/internal/sheet":     {"engine", "vision", "vision/opencv"},
	"cmd/internal/squads":    {"engine/flown"},
	"cmd/internal/game":      {"engine/geom"},
	"hardware":               {"hardware/hardwaretest"},
	"calibration/atomicfile": {"calibration/atomicfile/faultdisk"},
	"engine":                 {"engine/internal/enginetest", "engine/move", "engine/scenefile"},
	"engine/move":            {"engine/internal/enginetest", "engine/scenefile"},
	"engine/alike":           {"engine/move"},
	"vision":                 {"engine/move", "engine/scenefile", "vision/internal/visiontest"},
	"calibration":            {"calibration/atomicfile", "calibration/atomicfile/faultdisk", "calibration/quick"},
	"cmd/internal/play":      {"cmd/internal/app", "engine/flown", "engine/geom", "vision/tablesim", "vision/locate", "calibration"},
	"cmd/internal/projector": {"cmd/internal/app", "calibration/lens", "hardware/hardwaretest", "vision/catalogue", "vision/locate",
		"vision/obstacle", "vision/opencv", "vision/tablesim"},
	"cmd/internal/enrol": {"calibration", "cmd/internal/app", "engine/geom", "hardware/hardwaretest", "vision/opencv", "vision/tablesim"},
	"cmd/internal/web": {"cmd/internal/app", "cmd/internal/director", "cmd/internal/enrol", "cmd/internal/event", "cmd/internal/first",
		"cmd/internal/hall", "cmd/internal/openapitest", "cmd/internal/outline", "cmd/internal/play", "cmd/internal/round",
		"cmd/internal/projector",
		"cmd/internal/rulings", "cmd/internal/status", "hardware/hardwaretest", "vision/capture", "vision/opencv",
		"vision/tablesim", "vision/obstacle/trace"},
	"vision/opencv": {"calibration/lens", "engine", "vision/internal/visiontest", "vision/look", "vision/renderedtest"},
	"vision/tablesim": {"calibration/lens", "calibration/linalg", "engine/scenefile", "vision/catalogue",
		"vision/exposure", "vision/fiducial", "vision/locate", "vision/obstacle", "vision/obstacle/trace", "vision/ship", "vision/track"},
	"cmd/internal/naming":   {"calibration/strictjson"},
	"cmd/internal/pipeline": {"calibration/strictjson", "hardware", "vision/locate", "vision/obstacle", "vision/opencv", "vision/tablesim"},
	"vision/ship":           {"vision/internal/visiontest"},
	"vision/look":           {"calibration/atomicfile/faultdisk", "vision/internal/visiontest"},
	"vision/jig":            {"vision/internal/visiontest", "vision/tablesim"},
	"vision/dots":           {"vision/internal/visiontest"},
	"vision/obstacle":       {"vision/internal/visiontest", "vision/tablesim"},
	"vision/imprint":        {"vision/tablesim"},
	"vision/internal/shift": {"vision/catalogue"},
	"vision/track":          {"vision/internal/visiontest", "vision/ship"},
}

// outside says which packages may import what does not come with Go, by the beginning
// of the import path. "C" is cgo. Each line is a dependency that somebody reviews.
var outside = map[string][]string{
	"C":                          {"vision/opencv"},
	"gocv.io/x/gocv":             {"vision/opencv"},
	"periph.io/x":                {"hardware"},
	"github.com/warthog618":      {"hardware"}, // GPIO lines; x/sys: the clock that dates their edges
	"gonum.org/v1/gonum":         {"calibration", "calibration/linalg", "calibration/quick", "calibration/verify", "cmd/internal/accuracy"},
	"golang.org/x/sys":           {"hardware", "cmd/internal/hall"}, // the hall: a clock that runs while the machine sleeps
	"rsc.io/qr":                  {"hardware"},
	"golang.org/x/image":         {"hardware", "cmd/internal/sheet"},
	"golang.org/x/sync":          {"cmd/internal/app"},
	"golang.org/x/time":          {"cmd/internal/access"},
	"golang.org/x/net":           {"cmd/internal/texts"}, // reading HTML
	"golang.org/x/text":          {"cmd/internal/texts"}, // which language a browser wants
	"go.yaml.in/yaml/v3":         {"calibration", "calibration/lens", "calibration/internal/document"},
	"github.com/BurntSushi/toml": {"cmd/internal/app", "firmware-config"},
	"github.com/alecthomas/kong": {"cmd/sightline", "cmd/internal/terminal", "cmd/internal/commandtest"},
	"modernc.org/sqlite":         {"cmd/internal/rulings"},
	"codeberg.org/go-pdf/fpdf":   {"cmd/internal/sheet"},

	"github.com/nats-io/nats.go":        {"cmd/internal/event", "cmd/internal/hall"},
	"github.com/nats-io/nkeys":          {"cmd/internal/event", "cmd/internal/hall"},
	"github.com/nats-io/nats-server/v2": {"cmd/internal/hall"}, // the broker of an event

	"github.com/stretchr/testify": {"cmd/internal/openapitest", "engine/internal/enginetest"},

	"github.com/chromedp/chromedp": {"cmd/internal/browsertest"},
	"github.com/chromedp/cdproto":  {"cmd/internal/browsertest"},

	"github.com/klauspost/compress": {"cmd/internal/web"}, // gzip of scripts and styles

	"github.com/jotaen/kong-completion": {"cmd/sightline", "cmd/internal/terminal"}, // what completes lines in shells
}

// outsideTests says the same for tests, in addition.
var outsideTests = map[string][]string{
	"github.com/stretchr/testify":   {"cmd/...", "hardware/...", "vision/...", "calibration/...", "engine/...", "firmware-config"},
	"github.com/makiuchi-d/gozxing": {"hardware", "cmd/sightline"}, // an independent reader of QR codes
	"github.com/chromedp/chromedp":  {"cmd/..."},
	"github.com/chromedp/cdproto":   {"cmd/..."},
	"github.com/tdewolff/parse/v2":  {"cmd/internal/web"}, // the texts of scripts
}

// notForEngine is what the engine's answers must not depend on: files, network, logs,
// randomness. (time is allowed for the type; a scene has a capture time.)
var notForEngine = []string{"os/...", "io/fs", "net/...", "log/...", "math/rand/...", "syscall"}

// notForLive is what the state of the table does not know: how it is carried, and files.
var notForLive = []string{"net/...", "os/...", "io/fs"}

// source is one Go file of the tree, whatever its build tags.
type source struct {
	path string // from the repository's root, with slashes
	file *ast.File
	fset *token.FileSet
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) test() bool   { return strings.HasSuffix(s.path, "_test.go") }
func (s source) name() string { return s.file.Name.Name }

// sources parses every Go file of the repository.
func sources(t *testing.T) []source {
	t.Helper()
	const root = ".."
	var all []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "out") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil && p != root {
				return fs.SkipDir // a module of its own, which the product does not import
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, p, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{filepath.ToSlash(rel), f, fset})
		return nil
	})
	if err != nil {
		t.Fatalf("walk the repository: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil || len(all) < 20 {
		t.Fatalf("found %d Go files from %s (go.mod: %v): this is not the repository", len(all), root, err)
	}
	return all
}

// matches reports whether a folder or import path is the pattern, or lies below it when
// the pattern ends in "/...".
func matches(pattern, p string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return p == below || strings.HasPrefix(p, below+"/")
	}
	return p == pattern
}

func matchesAny(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, p) })
}

// place returns the key of mayImport that a folder comes under, the longest that fits;
// "" when there is none.
func place(dir string) (key string) {
	for from := range mayImport {
		if matches(from, dir) && len(from) > len(key) {
			key = from
		}
	}
	return key
}

// allowed says why a file in dir may not import p, or nothing.
func allowed(dir string, test bool, p string) (problem string) {
	if own, ok := strings.CutPrefix(p, module+"/"); ok {
		if test && own == dir { // a black-box test
			return ""
		}
		from := place(dir)
		if from == "" || matchesAny(mayImport[from], own) ||
			test && (matchesAny(testsMayImport[from], own) || own == "cmd/internal/browsertest" || own == "cmd/internal/racetest") {
			return "" // a folder without a place is reported itself
		}
		return fmt.Sprintf("%s may import %v and nothing else of this module", from, mayImport[from])
	}
	first, _, _ := strings.Cut(p, "/")
	if p != "C" && !strings.Contains(first, ".") {
		if matches("engine/...", dir) && !test && dir != "engine/internal/enginetest" && matchesAny(notForEngine, p) {
			return "the engine's answers must depend on the scene alone"
		}
		if dir == "cmd/internal/live" && !test && matchesAny(notForLive, p) {
			return "the state of the table is plain values"
		}
		return ""
	}
	tables := []map[string][]string{outside}
	if test {
		tables = append(tables, outsideTests)
	}
	problem = "this dependency is not in the list at the top of cmd/layering_test.go"
	for _, table := range tables {
		for prefix, who := range table {
			if matches(prefix+"/...", p) {
				if matchesAny(who, dir) {
					return ""
				}
				problem = fmt.Sprintf("only %v may import %s", who, prefix)
			}
		}
	}
	return problem
}

func TestImportsKeepToTheAllowedDirections(t *testing.T) {
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if problem := allowed(s.dir(), s.test(), p); problem != "" {
				t.Errorf("%s:%d imports %q: %s", s.path, s.fset.Position(spec.Pos()).Line, p, problem)
			}
		}
	}
}

func TestEveryPackageHasItsPlaceInTheMap(t *testing.T) {
	empty := []string{"utils", "util", "common", "types", "models", "pkg", "helpers", "misc"}
	for _, s := range sources(t) {
		dir := s.dir()
		if dir == "." {
			t.Errorf("%s: no Go files at the root", s.path)
			continue
		}
		if place(dir) == "" {
			t.Errorf("%s: package %s is not in the package map (mayImport)", s.path, dir)
		}
		if slices.Contains(empty, strings.TrimSuffix(s.name(), "_test")) || slices.Contains(empty, path.Base(dir)) {
			t.Errorf("%s: package %s: a package is named for what it owns", s.path, s.name())
		}
	}
}

func TestEveryPackageHasExactlyOnePackageComment(t *testing.T) {
	docs := map[string][]string{} // by folder: the files with a package comment
	names := map[string]string{}
	for _, s := range sources(t) {
		if s.test() {
			if s.file.Doc.Text() != "" {
				t.Errorf("%s: the package comment belongs to the package, not to a test", s.path)
			}
			continue
		}
		names[s.dir()] = s.name()
		text := s.file.Doc.Text()
		if text == "" {
			continue
		}
		docs[s.dir()] = append(docs[s.dir()], s.path)
		want := "Package " + s.name() + " "
		if s.name() == "main" {
			want = "Command " + path.Base(s.dir()) + " "
		}
		if !strings.HasPrefix(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s: the package comment begins %q, want %q", s.path, firstLine(text), want+"…")
		}
	}
	for dir, name := range names {
		switch found := docs[dir]; {
		case len(found) == 0:
			t.Errorf("%s: package %s has no package comment", dir, name)
		case len(found) > 1:
			t.Errorf("%s: package %s has %d package comments: %s", dir, name, len(found), strings.Join(found, ", "))
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// TestTheRulesRefuseWhatTheyShould keeps the rules themselves from going soft.
func TestTheRulesRefuseWhatTheyShould(t *testing.T) {
	for _, c := range []struct {
		dir  string
		test bool
		p    string
		ok   bool
	}{
		{"engine", false, "sightline/engine/geom", true},
		{"engine/geom", false, "sightline/engine", false},
		{"engine", false, "sightline/calibration", false},
		{"engine", false, "sightline/engine/flown", false},
		{"engine", false, "sightline/engine/move", false},
		{"engine/move", false, "sightline/engine", true},
		{"engine/internal/uncertain", false, "sightline/engine", false},
		{"engine/flown", false, "sightline/engine", true},
		{"engine/flown", false, "sightline/engine/tablecheck", false},
		{"engine", false, "os", false},
		{"engine", true, "os", true},
		{"engine", false, "log/slog", false},
		{"engine/geom", false, "math/rand/v2", false},
		{"engine/geom", false, "math", true},
		{"calibration", false, "sightline/vision", false},
		{"calibration", false, "sightline/calibration/lens", false},
		{"calibration/lens", false, "sightline/calibration", true},
		{"calibration/lens", false, "sightline/calibration/verify", false},
		{"calibration/watch", false, "sightline/calibration/verify", false},
		{"calibration", true, "sightline/calibration", true},
		{"vision", false, "sightline/vision/opencv", false},
		{"vision", false, "sightline/vision/ship", false},
		{"vision/ship", false, "sightline/vision/obstacle", false},
		{"vision/obstacle", false, "sightline/vision/capture", false},
		{"vision/track", false, "sightline/vision/ship", false},
		{"vision/track", true, "sightline/vision/ship", true},
		{"vision", true, "sightline/vision/opencv", false},
		{"vision", false, "gocv.io/x/gocv", false},
		{"vision/opencv", false, "gocv.io/x/gocv", true},
		{"vision/opencv", false, "C", true},
		{"vision/opencv", false, "sightline/vision/tablesim", false},
		{"vision/tablesim", false, "sightline/vision/opencv", false},
		{"hardware", false, "sightline/vision", false},
		{"hardware", false, "periph.io/x/conn/v3/gpio", true},
		{"cmd/sightline", false, "periph.io/x/conn/v3/gpio", false},
		{"cmd/sightline", false, "C", false},
		{"cmd/sightline", false, "sightline/hardware", true},
		{"cmd/internal/live", false, "sightline/engine", true},
		{"cmd/internal/live", false, "sightline/cmd/internal/web", false},
		{"cmd/internal/live", true, "sightline/cmd/internal/web", false},
		{"cmd/internal/live", false, "sightline/cmd/internal/app", false},
		{"cmd/internal/live", false, "net/http", false},
		{"cmd/internal/live", false, "os", false},
		{"cmd/internal/game", false, "sightline/cmd/internal/live", true},
		{"cmd/internal/game", false, "sightline/cmd/internal/pipeline", false},
		{"cmd/internal/pipeline", false, "sightline/cmd/internal/game", true},
		{"cmd/internal/pipeline", false, "sightline/cmd/internal/app", false},
		{"cmd/internal/pipeline", false, "sightline/vision/opencv", false},
		{"cmd/internal/pipeline", true, "sightline/vision/tablesim", true},
		{"cmd/internal/web", false, "sightline/cmd/internal/live", true},
		{"cmd/internal/web", false, "sightline/cmd/internal/app", false},
		{"cmd/internal/web", true, "sightline/cmd/internal/app", true},
		{"cmd/internal/web", false, "net/http", true},
		{"cmd/internal/app", false, "sightline/firmware-config", true},
		{"hardware", false, "sightline/firmware-config", false},
		{"firmware-config", false, "sightline/hardware", false},
		{"engine", false, "github.com/stretchr/testify/assert", false},
		{"engine", true, "github.com/stretchr/testify/assert", true},
		{"cmd/sightline", false, "example.org/new/thing", false},
	} {
		if problem := allowed(c.dir, c.test, c.p); (problem == "") != c.ok {
			t.Errorf("allowed(%q, test %v, %q) = %q, want allowed %v", c.dir, c.test, c.p, problem, c.ok)
		}
	}
}
