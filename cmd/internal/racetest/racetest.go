// Package racetest says to tests whether the race detector watches them.
package racetest

import "testing"

// Skip skips a slow test of one goroutine under the race detector, which can find nothing there and
// makes it take ten times as long. The run without the detector has it.
func Skip(t testing.TB) {
	t.Helper()
	if on {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
