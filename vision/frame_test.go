package vision_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/vision"
)

func TestElapsedIsTheWallsTimeWithoutAMonotonicReading(t *testing.T) {
	at := time.Unix(1700000000, 0)
	assert.Equal(t, time.Minute, vision.Elapsed(at, at.Add(time.Minute)))
	assert.Equal(t, -time.Minute, vision.Elapsed(at, at.Add(-time.Minute)))
	now := time.Now()
	assert.Equal(t, time.Minute, vision.Elapsed(now, now.Add(time.Minute)))
}
