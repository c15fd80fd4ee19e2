package kept

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
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
	if chips, _ := filepath.Glob("/sys/class/rtc/rtc*"); len(chips) > 0 {
		return true
	}
	var t syscall.Timex
	_, err := syscall.Adjtimex(&t)
	return err == nil && t.Status&unsynchronised == 0
}

// Age says whether what a file holds still counts.
type Age int

// The ages of a file.
const (
	Old     Age = iota // there is none, or it no longer counts
	Fresh              // it counts
	Unknown            // it would count if the machine's clock went on while the machine was off, which it may not have
)

// age returns the age of what a header dates. A clock that is nil is trusted, within most.
func (h *Header) age(now time.Time, most time.Duration, c *Clock) Age {
	if c != nil {
		if boot, up := c.Uptime(); h.Boot == boot && up >= h.up() { // whatever the time of day says
			if up-h.up() <= most {
				return Fresh
			}
			return Old
		}
	}
	switch {
	case now.Sub(h.At).Abs() > most:
		return Old
	case c != nil && !c.Set():
		return Unknown
	}
	return Fresh
}

func (h *Header) up() time.Duration { return time.Duration(h.Up * float64(time.Second)) }

// stamp notes the machine's uptime.
func (h *Header) stamp(c *Clock) {
	if c != nil {
		boot, up := c.Uptime()
		h.Boot, h.Up = boot, up.Seconds()
	}
}
