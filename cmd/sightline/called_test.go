package main

import (
	"testing"

	"sightline/cmd/internal/commandtest"
)

// called runs a command line and returns its exit code and what it wrote.
func called(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return commandtest.Call(t, run, args...)
}
