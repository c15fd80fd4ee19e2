package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A ruling is as old as the time that passed, and older if the clock was set forward. A clock that was set back makes it no younger.
func TestTheAgeOfARuling(t *testing.T) {
	now := time.Now() // with the reading that no one sets
	r := Ruling{At: now}
	assert.Equal(t, 5*time.Second, r.Age(now.Add(5*time.Second)))
	wall := Ruling{At: now.Round(0)} // of a record
	assert.Equal(t, 5*time.Second, wall.Age(now.Add(5*time.Second)))
	assert.Zero(t, wall.Age(now.Add(-time.Minute)))
	wall.Undated = true
	assert.Equal(t, undatedFor, wall.Age(now.Add(-time.Minute)))
	assert.Equal(t, undatedFor, wall.Age(now.Add(5*time.Second)))
}
