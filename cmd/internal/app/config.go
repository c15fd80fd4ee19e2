// Package app is the running program: the strict configuration, the construction of every part, and
// the one place that starts and stops them. All wiring is here; it also gives most parts their
// clock.
package app

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"sightline/calibration"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/game"
	"sightline/engine"
	firmwareconfig "sightline/firmware-config"
	"sightline/vision/capture"
)

// defaultConfigPath is the configuration file if none is named. It may be absent.
const defaultConfigPath = "sightline.toml"

// Config is the typed configuration. docs/configuration.md describes every key of sightline.toml.
type Config struct {
	Camera Camera
	Table  Table
	Rules  game.Rules
	Web    Web
	Panel  Panel
	Print  Print

	Rulings Rulings
	Squads  Squads
	Event   Event
	Cameras []FurtherCamera // in addition to Camera
}

// Camera is the source of the pictures.
type Camera struct {
	Source        string  // as --source: "sim:", "/dev/video0", …; "": the page asks for one
	Named         string  // who named it: "--source", "camera.source"; "": the page, or no one
	Lens          string  // lens file; "": none, or the source's own
	Width, Height int     // requested of the device, px; 0: its own choice
	FPS           float64 // requested of the device; 0: its own choice

	Settings capture.Settings // exposure and the like; zero: left as they are
}

// Table is the layout of the table and the rules.
type Table struct {
	Calibration string // table file; "": the program finds the pose from the markers
	Record      string // file for each registration in use; "": none
	Catalogue   string // obstacles that may lie there; "": obstacles are not watched
	EmptyMat    string // picture of the empty mat; goes with Catalogue
	Looks       string // folder of the ships' looks; "": DefaultLooksPath
	Adopted     bool   // the configuration names neither: they are the page's default files
	Layout      calibration.Layout
}

// Web is the page's address and its access rules.
type Web struct {
	Listen          string
	Names           []string // further host names that the page answers to
	Read            string   // "open" or "paired": who may see the page
	JudgeSecretFile string   // "": the program makes one
	TLSCertificate  string   // PEM file with the chain; "": without TLS
	TLSKey          string   // PEM file
}

// Panel is the hardware.
type Panel struct {
	Enabled bool
	Board   string // board file; "": the shipped one
}

// Print is the printer's scale: the measured length of a sheet's 100 mm bar divided by 100, across
// (X, along the paper's short side) and along (Y).
type Print struct{ ScaleX, ScaleY float64 }

// FurtherCamera is a camera in addition to the main one, over the same table.
type FurtherCamera struct {
	Camera
	Name        string // for people
	Calibration string // table file; "": the program finds the camera's place from the markers
	EmptyMat    string // picture of the empty mat by this camera; "": it watches no obstacles
}

// DefaultConfig returns the configuration of an empty file.
func DefaultConfig() Config {
	c, err := ParseConfig(strings.NewReader(""))
	if err != nil {
		panic("app: the default configuration: " + err.Error())
	}
	return c
}

// LoadConfig reads a configuration file. The default file may be absent; a named one must exist.
// The program never writes it.
func LoadConfig(path string) (Config, error) {
	name := path
	if name == "" {
		name = defaultConfigPath
	}
	f, err := regularfile.Open(name)
	if err != nil {
		if path == "" && errors.Is(err, os.ErrNotExist) {
			return DefaultConfig(), nil
		}
		return Config{}, fmt.Errorf("config: %s: %w", name, regularfile.WithoutPath(err))
	}
	defer f.Close()
	c, err := ParseConfig(f)
	if err != nil {
		return Config{}, fmt.Errorf("config: %s: %w", name, err)
	}
	return c, nil
}

// ParseConfig reads a configuration. An unknown key, or a value of the wrong type or out of range,
// is an error that names the key and its line.
func ParseConfig(r io.Reader) (Config, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return Config{}, regularfile.WithoutPath(err)
	}
	if len(text) > maxConfig {
		return Config{}, fmt.Errorf("expected a file of at most %d kB", maxConfig>>10)
	}
	raw := defaultRaw()
	meta, err := toml.Decode(string(text), &raw)
	if err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return Config{}, errors.New(describe(string(text), syntax))
		}
		return Config{}, otherType(string(text), err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Config{}, fmt.Errorf("%s: unknown key %q", placeOf(string(text), unknown[0]), unknown[0].String())
	}
	c, bad := raw.config()
	if bad != nil {
		if firmwareconfig.HasKey(meta, bad.key) {
			return Config{}, fmt.Errorf("%s: %w", placeOf(string(text), bad.key), bad)
		}
		return Config{}, bad
	}
	return c, nil
}

// maxConfig is ten times the longest sensible configuration.
const maxConfig = 64 << 10

// Overrides are the command line's values, which replace the file's. Empty ones do not.
type Overrides struct {
	Source, Lens, Calibration, Listen, Rules string
}

// With returns the configuration with the overrides applied.
func (c Config) With(o Overrides) (Config, error) {
	set := func(to *string, value string) {
		if value != "" {
			*to = value
		}
	}
	set(&c.Camera.Source, o.Source)
	if o.Source != "" {
		c.Camera.Named = "--source"
	}
	set(&c.Camera.Lens, o.Lens)
	set(&c.Table.Calibration, o.Calibration)
	set(&c.Web.Listen, o.Listen)
	if problem := checkListen(c.Web.Listen); problem != nil {
		return c, fmt.Errorf("--listen: %s", problem.text)
	}
	if o.Rules != "" {
		edition, err := engine.ParseRules(o.Rules)
		if err != nil {
			return c, fmt.Errorf("--rules: expected 1e, 2.0 or 2.5, got %q", o.Rules)
		}
		c.Rules.Edition = edition
	}
	return c, nil
}

// dataDir is the folder of the program's own files.
func (c Config) dataDir() string {
	if c.Table.Record != "" {
		return filepath.Dir(c.Table.Record)
	}
	return "."
}
