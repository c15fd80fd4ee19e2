package app

import (
	"math"
	"os"
	"runtime/debug"
	"strings"

	"sightline/vision/tablesim"
)

// simulatedGarbage is how much garbage, in percent of the memory in use, may gather while the program
// simulates its table. Most of its memory is pictures, which hold no pointers: they cost the garbage
// collector no time, and with Go's 100 % as much again and all pictures' too lie about as garbage.
// At 20 % the collector takes 1.7 % of two processors instead of 0.5 % (docs/measurements/house.md).
const simulatedGarbage = 20

// simulatedMemory is how many bytes Go's heap may grow to before the collector works harder, while the
// program simulates one table of up to simulatedPixels. A search for obstacles doubles what is in use for
// a second or two, and the heap keeps the room that its garbage took (docs/measurements/house.md).
const (
	simulatedMemory = 120 << 20
	simulatedPixels = 1920 * 1080
)

// garbageOf returns the garbage in percent and the bytes that a program with this configuration should
// keep to.
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

// limitGarbage makes a simulated table's garbage be collected early, unless the user set GOGC or GOMEMLIMIT.
func limitGarbage(c Config) {
	percent, most := garbageOf(c)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(most)
	}
}
