package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/rulings"
)

// Where a person marked the ships, a replay does not look at the picture for them, and says so.
func TestAReplaySaysWhichShipsAPersonMarked(t *testing.T) {
	var out bytes.Buffer
	printRelook(&out, &rulings.Relook{State: rulings.Alike, Why: "A1: marked by a person, and taken as recorded"})
	assert.Equal(t, "picture  the same answers\n           A1: marked by a person, and taken as recorded\n", out.String())
}
