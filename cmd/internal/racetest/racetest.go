// Package racetest tells tests whether they run under the race detector.
package racetest

import "testing"

// Skip skips a slow test of one goroutine under the race detector, which can find nothing in it and
// makes it take ten times as long. The test runs without the detector.
func Skip(t testing.TB) {
	t.Helper()
	if on {
		t.Skip("one goroutine: nothing for the race detector")
	}
}
