package app

import (
	"os"
	"runtime/debug"
	"strings"
)

// simulatedGarbage is how much garbage, in percent of the memory in use, may gather while the program
// simulates its table. The renderer keeps 36 MB of floats, which hold no pointers: they cost the garbage
// collector no time, and with Go's 100 % as much again and all pictures' too lie about as garbage.
// At 20 % the collector takes 1.7 % of two processors instead of 0.5 % (docs/measurements/house.md).
const simulatedGarbage = 20

// limitGarbage makes the simulated table's garbage be collected early, unless the user set GOGC.
func limitGarbage(c Camera) {
	if strings.HasPrefix(c.Source, "sim:") && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(simulatedGarbage)
	}
}
