package kept

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Clock tells how far the machine's time can be trusted.
type Clock struct {
	// Uptime returns the time since the machine started, including suspension, which cannot be set, and the id of that boot.
	Uptime func() (boot string, up time.Duration)
	// Set reports whether the time of day went on while the machine was off. A board without a clock of its own that no network reached
	// starts with the time at which it was switched off.
	Set func() bool
}

// ThisMachine is the clock of this machine.
func ThisMachine() *Clock { return &Clock{Uptime, clockSet} }

// The program's own start, for systems that provide neither.
var (
	startName = "program-" + rand.Text()
	startTime = time.Now()
)

// Uptime reads Linux's own: proc_uptime(5) counts since the boot that boot_id names (random(4)).
func Uptime() (boot string, up time.Duration) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	raw, err2 := os.ReadFile("/proc/uptime")
	seconds, _, _ := strings.Cut(string(raw), " ")
	s, err3 := strconv.ParseFloat(seconds, 64)
	if errors.Join(err, err2, err3) != nil || s < 0 {
		return startName, time.Since(startTime)
	}
	return strings.TrimSpace(string(id)), time.Duration(s * float64(time.Second))
}

// unsynchronised is adjtimex(2)'s STA_UNSYNC.
const unsynchronised = 0x40

// clockSet reports whether the machine has a clock chip, or a network set its clock.
func clockSet() bool {
	if chips, _ := filepath.Glob("/sys/class/rtc/rtc*/since_epoch"); slices.ContainsFunc(chips, chipRuns) {
		return true
	}
	var t syscall.Timex
	_, err := syscall.Adjtimex(&t)
	return err == nil && t.Status&unsynchronised == 0
}

// written is before this program was: the time of a clock chip whose battery is dead.
var written = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// chipRuns reports whether a clock chip whose time a file gives kept it. One that lost it has no time (EINVAL), or its first one.
func chipRuns(path string) bool {
	raw, err := os.ReadFile(path)
	s, err2 := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	return errors.Join(err, err2) == nil && s >= written.Unix()
}

// Age says whether what a file holds still counts.
type Age int

// The ages of a file.
const (
	Old     Age = iota // there is none, or it no longer counts
	Fresh              // it counts
	Unknown            // it would count if the machine's clock went on while the machine was off, which it may not have
)

// Stamp says when something was, by a clock that may be set.
type Stamp struct {
	At    time.Time `json:"at"`
	Boot  string    `json:"boot,omitempty"`          // of the machine's start before that; "": not known
	Up    float64   `json:"up_s,omitempty"`          // since that start
	Unset bool      `json:"clock_not_set,omitempty"` // the clock was not known to be right
}

// Stamp returns the stamp of a moment that is now. A clock that is nil is trusted.
func (c *Clock) Stamp(now time.Time) Stamp {
	s := Stamp{At: now.Round(0)}
	if c != nil {
		boot, up := c.Uptime()
		s.Boot, s.Up, s.Unset = boot, up.Seconds(), !c.Set()
	}
	return s
}

// sinceBoot returns the time since a stamp by the uptime, which cannot be set. It reports false if the machine was started since.
func (c *Clock) sinceBoot(s Stamp) (time.Duration, bool) {
	if c == nil {
		return 0, false
	}
	boot, up := c.Uptime()
	then := time.Duration(s.Up * float64(time.Second))
	return up - then, s.Boot == boot && up >= then
}

// slack is by how much a clock that is right may be behind what it said before the machine was off.
const slack = time.Minute

// Since returns the time since a stamp. If the clock cannot tell, because it was not known to be right then or is not now, it reports
// false, and the time is what the time of day says.
func (c *Clock) Since(s Stamp, now time.Time) (d time.Duration, known bool) {
	if d, ok := c.sinceBoot(s); ok {
		return d, true
	}
	d = now.Sub(s.At)
	return d, d >= -slack && !s.Unset && (c == nil || c.Set())
}

// age returns the age of what a header dates. A clock that is nil is trusted, within most.
func (h *Header) age(now time.Time, most time.Duration, c *Clock) Age {
	d, sure := c.sinceBoot(h.Stamp) // whatever the time of day says
	if !sure {
		d = now.Sub(h.At).Abs()
	}
	switch {
	case d > most:
		return Old
	case !sure && c != nil && !c.Set():
		return Unknown
	}
	return Fresh
}
