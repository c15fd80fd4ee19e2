// Package doctor examines the box: its panel, camera, calibration and board. Each check returns
// [Finding] values that say in plain words what is wrong and what to do. Checks read everything
// through a [Box], so tests can simulate any fault.
package doctor

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/hardware"
	"sightline/vision"
)

// State is the result of a check.
type State string

// The states. Only Wrong makes the examination fail.
const (
	OK      State = "ok"
	Warning State = "warning" // it works, and may not for long
	Wrong   State = "wrong"
	Skipped State = "skipped" // could not be examined, or is not there and need not be
)

// Finding is one result of a check.
type Finding struct {
	Check string `json:"check"` // "lamp range1", "camera"
	State State  `json:"state"`
	Says  string `json:"says"`         // what was found, in a sentence
	Do    string `json:"do,omitempty"` // what to do about it
}

// Account is a user of the machine.
type Account struct {
	Name   string
	Root   bool
	Groups []string
}

// Space describes a file system.
type Space struct {
	Free, Total uint64 // bytes
	ReadOnly    bool
}

// Box is what the checks examine. Here returns the real one.
type Box struct {
	FS       fs.FS // "/"
	Writable func(path string) error
	Openable func(path string) error // for reading and writing, by this user
	Space    func(path string) (Space, error)
	Exec     func(ctx context.Context, name string, args ...string) (string, error)
	User     func() (Account, error)
	Now      func() time.Time
	// Worked returns the processor time that this program has used, and the idle time of all
	// processors together.
	Worked func() (own, idle time.Duration)

	Lamp     func(line string, activeLow bool) (hardware.Output, error)
	Absent   func(error) bool // reports whether an error says that the machine has no such line
	Display  func() (off func() error, err error)
	Strip    func() (off func() error, err error)
	Controls func(ctx context.Context, did func(hardware.Did)) error

	Camera  func(context.Context) (vision.Source, error)
	Markers vision.MarkerDetector // nil: this program cannot see markers

	// Ask asks a person a question and reports whether the answer was yes. Nil: no person is present.
	Ask func(question string) bool
	// Tell gives a person an instruction. Nil: no person is present.
	Tell func(text string)
	// Pause waits while a person looks at something.
	Pause func(time.Duration)
}

// Setup is what the configuration says should be there.
type Setup struct {
	Panel   bool // it is wanted
	Wiring  hardware.Wiring
	Source  string // of the pictures
	Lens    string // file; "": none
	Table   string // file; "": none
	Layout  calibration.Layout
	DataDir string // where the program writes

	RulingsTrouble string // what stops judges' rulings from being recorded, in words; "": nothing
	RulingsDenied  bool   // it is that this user may not write there: another one may
}

// check is one check; --only takes its name.
type check struct {
	name string
	run  func(*examination, context.Context)
}

// checks returns the checks in the order in which a person would examine a box: machine, panel,
// camera.
func checks() []check {
	return []check{
		{"board", (*examination).board}, {"user", (*examination).user}, {"interfaces", (*examination).interfaces},
		{"disk", (*examination).disk}, {"clock", (*examination).clock}, {"temperature", (*examination).temperature},
		{"power", (*examination).power}, {"memory", (*examination).memory}, {"service", (*examination).service},
		{"lamps", (*examination).lamps}, {"display", (*examination).display}, {"strip", (*examination).strip},
		{"controls", (*examination).controls},
		{"camera", (*examination).camera}, {"calibration", (*examination).calibration},
	}
}

// Names returns the names of the checks in their order.
func Names() (names []string) {
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Examine runs the named checks, or all if there are no names. It passes each finding to found,
// which may be nil, as soon as it is known.
func Examine(ctx context.Context, box Box, setup Setup, only []string, found func(Finding)) []Finding {
	e := &examination{box: box, setup: setup, found: found}
	wanted := map[string]bool{}
	for _, name := range only {
		wanted[name] = true
	}
	for _, c := range checks() {
		if ctx.Err() == nil && (len(only) == 0 || wanted[c.name]) {
			c.run(e, ctx)
		}
	}
	return e.findings
}

// Failed reports whether anything is wrong.
func Failed(findings []Finding) bool {
	for _, f := range findings {
		if f.State == Wrong {
			return true
		}
	}
	return false
}

// examination is one run.
type examination struct {
	box      Box
	setup    Setup
	found    func(Finding)
	findings []Finding

	running *bool         // whether the service runs, once asked
	frame   *vision.Frame // of the camera
	seen    []vision.Detection
}

func (e *examination) add(check string, state State, says, do string) {
	f := Finding{check, state, says, do}
	e.findings = append(e.findings, f)
	if e.found != nil {
		e.found(f)
	}
}

// text returns the content of a short system file; "" if it does not exist.
func (e *examination) text(path string) string {
	b, err := fs.ReadFile(e.box.FS, strings.TrimPrefix(path, "/"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(string(b), "\x00\n"))
}

func (e *examination) exists(path string) bool {
	_, err := fs.Stat(e.box.FS, strings.TrimPrefix(path, "/"))
	return err == nil
}

func (e *examination) glob(pattern string) []string {
	found, err := fs.Glob(e.box.FS, strings.TrimPrefix(pattern, "/"))
	if err != nil {
		return nil
	}
	for i := range found {
		found[i] = "/" + found[i]
	}
	return found
}

// pi reports whether this is a Raspberry Pi.
func (e *examination) pi() bool { return strings.Contains(e.model(), "Raspberry Pi") }

func (e *examination) model() string { return e.text("/proc/device-tree/model") }

// serviceRuns reports whether the service is running. It then uses the camera and the panel.
func (e *examination) serviceRuns(ctx context.Context) bool {
	if e.running == nil {
		out, err := e.box.Exec(ctx, "systemctl", "is-active", "sightline.service")
		runs := err == nil && strings.TrimSpace(out) == "active"
		e.running = &runs
	}
	return *e.running
}

// stopService says how to free the service's devices for a test.
const stopService = "to try it: sudo systemctl stop sightline, then sightline doctor again"
