package capture_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/vision/capture"
)

func TestTroubleOfASourceDoesNotNameItAgain(t *testing.T) {
	s := capture.FeedStatus{Source: "http://camera/", Err: "opencv: source http://camera/: no video came from this address in 5s"}
	assert.Equal(t, "no video came from this address in 5s", s.Trouble())
	s.Err = "no such device"
	assert.Equal(t, "no such device", s.Trouble())
	s.Source, s.Err = "/dev/video1", "opencv: source /dev/video0: the stream broke off"
	assert.Equal(t, "source /dev/video0: the stream broke off", s.Trouble(), "another source is named")
}
