package app

import (
	"math"
	"os"
	"runtime/debug"
	"strings"

	"sightline/vision/tablesim"
)

// simulatedGarbage is the garbage collector's percentage (GOGC) while the program simulates its
// table. Most of the memory is pictures without pointers, which cost the collector no time, but at
// Go's 100 % their garbage takes as much memory again. At 20 % the collector takes 1.7 % of two
// processors instead of 0.5 % (docs/measurements/house.md).
const simulatedGarbage = 20

// simulatedMemory is the size of Go's heap, in bytes, from which the collector works harder while
// the program simulates one table of up to simulatedPixels. A search for obstacles doubles the
// memory in use for a second or two, and the heap keeps what its garbage took
// (docs/measurements/house.md).
const (
	simulatedMemory = 100 << 20
	simulatedPixels = 1920 * 1080
)

// garbageOf returns the collector's percentage and memory limit for a configuration.
func garbageOf(c Config) (percent int, most int64) {
	if !strings.HasPrefix(c.Camera.Source, "sim:") {
		return 100, math.MaxInt64
	}
	o, err := tablesim.ParseSpec(c.Camera.Source)
	if err != nil || len(c.Cameras) > 0 || o.Width*o.Height > simulatedPixels {
		return simulatedGarbage, math.MaxInt64
	}
	return simulatedGarbage, simulatedMemory
}

// limitGarbage sets the collector's limits, unless the user set GOGC or GOMEMLIMIT.
func limitGarbage(c Config) {
	percent, most := garbageOf(c)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(most)
	}
}
