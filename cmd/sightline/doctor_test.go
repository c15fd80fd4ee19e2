package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/doctor"
	"sightline/cmd/internal/terminal"
)

// broken is a box; only its account and the processor's files are looked at.
func broken(groups ...string) doctor.Box {
	return doctor.Box{
		FS:   os.DirFS("testdata/no-such-box"),
		User: func() (doctor.Account, error) { return doctor.Account{Name: "ann", Groups: groups}, nil },
		Now:  func() time.Time { return time.Unix(0, 0) },
	}
}

func TestDoctorPrintsATableAndFailsWhenSomethingIsWrong(t *testing.T) {
	var out bytes.Buffer
	c := doctorCheckCmd{Only: []string{"user", "temperature", "clock"}}
	err := c.examine(t.Context(), broken(), doctor.Setup{}, &out)
	assert.ErrorAs(t, err, new(terminal.Unanswered), "exit 1")
	assert.ErrorContains(t, err, "1 of 3 findings are wrong")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 4)
	assert.Regexp(t, `^ok +user +The user ann has`, lines[0])
	assert.Regexp(t, `^WRONG +clock +The clock says 1970`, lines[1])
	assert.Regexp(t, `^ +→ connect the box`, lines[2])
	assert.Regexp(t, `^- +temperature `, lines[3])

	out.Reset()
	c.Only = []string{"user", "temperature"}
	assert.NoError(t, c.examine(t.Context(), broken(), doctor.Setup{}, &out), "what is not there is not wrong")
}

func TestDoctorPrintsOneDocument(t *testing.T) {
	var out bytes.Buffer
	c := doctorCheckCmd{Only: []string{"clock"}, JSON: true}
	assert.Error(t, c.examine(t.Context(), broken(), doctor.Setup{}, &out))
	var doc struct {
		Version  int
		Healthy  bool
		Findings []doctor.Finding
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	assert.Equal(t, 1, doc.Version)
	assert.False(t, doc.Healthy)
	require.Len(t, doc.Findings, 1)
	assert.Equal(t, doctor.Wrong, doc.Findings[0].State)
}

func TestDoctorThatIsStoppedSaysSo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	assert.ErrorContains(t, (&doctorCheckCmd{}).examine(ctx, broken(), doctor.Setup{}, &out), "stopped")
}

func TestInvalidAnswersAreAskedAgain(t *testing.T) {
	for input, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "what?\n\nno\n": false, "maybe\ny\n": true, "": false} {
		var out bytes.Buffer
		var box doctor.Box
		askOn(&box, strings.NewReader(input), &out)
		assert.Equal(t, want, box.Ask("Is it lit?"), "%q", input)
		assert.Contains(t, out.String(), "Is it lit? [y/n]")
	}
}

func TestPuttingOutGivesUpOnAHangingBus(t *testing.T) {
	assert.NoError(t, putOut(func() error { return nil }, time.Minute))
	err := putOut(func() error { return errors.New("lamp range1: busy") }, time.Minute)
	assert.ErrorAs(t, err, new(terminal.Unanswered))
	assert.ErrorContains(t, err, "range1")
	hangs := make(chan struct{})
	defer close(hangs)
	assert.ErrorContains(t, putOut(func() error { <-hangs; return nil }, 10*time.Millisecond), "hangs")
}

func TestDoctorsCommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("off.toml", []byte("[panel]\nenabled = false\n"), 0o600))
	require.NoError(t, os.WriteFile("bad.toml", []byte("[panel]\ncolour = 1\n"), 0o600))
	require.NoError(t, os.WriteFile("clash.toml",
		[]byte("[lamps.range1]\npin=\"GPIO3\"\n[display]\nkind=\"ssd1306\"\nbus=\"I2C1\"\naddress=0x3c\n"), 0o600))
	for line, want := range map[string]int{
		"doctor --yes --config off.toml --only disk,lamps":                  0,
		"doctor dark --config off.toml":                                     0,
		"doctor dark":                                                       0, // nothing is there: dark already
		"doctor --only disc":                                                2,
		"doctor --config nowhere.toml":                                      2,
		"doctor --config bad.toml":                                          2,
		"doctor dark --config bad.toml":                                     2,
		"doctor wiring -o w.svg":                                            0,
		"doctor wiring --board nowhere.toml":                                2,
		"doctor wiring --board clash.toml -o c.svg":                         2,
		"doctor wiring -o nowhere/w.svg":                                    2,
		"doctor --yes --config off.toml --only camera --source nowhere.mp4": 1,
	} {
		assert.Equal(t, want, run(strings.Fields(line)), line)
	}
	svg, err := os.ReadFile("w.svg")
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(svg, []byte("<svg ")))
	assert.NoFileExists(t, filepath.Join(".", "c.svg"))
}
