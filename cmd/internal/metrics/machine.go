package metrics

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Machine writes the free space at folders (by name of what is kept there), the temperature, and
// the power state of a Raspberry Pi. root is the file system "/". It leaves out what the machine
// does not report.
func Machine(w io.Writer, root fs.FS, folders map[string]string) {
	disk(w, folders)
	temperature(w, root)
	throttling(w, root)
}

func disk(w io.Writer, folders map[string]string) {
	const name = "sightline_disk_free_bytes"
	head := false
	for _, keeps := range slices.Sorted(maps.Keys(folders)) {
		var s syscall.Statfs_t
		if err := syscall.Statfs(nearest(folders[keeps]), &s); err != nil {
			continue
		}
		if !head {
			Head(w, name, "gauge", "Room that is left where something is kept.")
			head = true
		}
		Labelled(w, name, "keeps", keeps, float64(s.Bavail)*float64(s.Bsize))
	}
}

// nearest returns the folder, or its nearest parent that exists.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func temperature(w io.Writer, root fs.FS) {
	const name = "sightline_temperature_celsius"
	zones, _ := fs.Glob(root, "sys/class/thermal/thermal_zone*/temp")
	head := false
	for _, file := range zones {
		milli, err := strconv.ParseFloat(text(root, file), 64)
		if err != nil || milli < -60000 || milli > 200000 {
			continue
		}
		if !head {
			Head(w, name, "gauge", "Temperatures that the machine measures; a Raspberry Pi slows down from 80.")
			head = true
		}
		Labelled(w, name, "zone", strings.TrimPrefix(path.Base(path.Dir(file)), "thermal_zone"), milli/1000)
	}
}

// throttles names the bits of a Raspberry Pi's get_throttled: the state now and, sixteen bits
// higher, whether it occurred since the start.
var throttles = [...]string{"undervoltage", "capped", "throttled", "near_temperature_limit"}

var throttledHex = regexp.MustCompile(`^(?:throttled=)?(?:0x)?([0-9a-fA-F]{1,8})$`)

// ParseThrottled parses get_throttled's value, as the kernel or vcgencmd writes it.
func ParseThrottled(text string) (bits uint64, ok bool) {
	m := throttledHex.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return 0, false
	}
	bits, err := strconv.ParseUint(m[1], 16, 32)
	return bits, err == nil
}

// ThrottledFile is the file in which a Raspberry Pi's kernel reports get_throttled.
const ThrottledFile = "sys/devices/platform/soc/soc:firmware/get_throttled"

func throttling(w io.Writer, root fs.FS) {
	bits, ok := ParseThrottled(text(root, ThrottledFile))
	if !ok {
		return
	}
	say := func(name, help string, bits uint64) {
		Head(w, name, "gauge", help)
		for bit, what := range throttles {
			Labelled(w, name, "reason", what, float64(bits>>bit&1))
		}
	}
	say("sightline_throttled_now", "1 where the board slows down just now, by the reason.", bits)
	say("sightline_throttled_since_start", "1 where the board slowed down since it started, by the reason.", bits>>16)
}

func text(root fs.FS, file string) string {
	raw, err := fs.ReadFile(root, file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
