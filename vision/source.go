package vision

import "context"

// Source delivers frames in order. It belongs to one goroutine.
type Source interface {
	// Next blocks until there is a new frame. It returns io.EOF after the last frame of a source that
	// ends (a file, a directory). Any other error means that the source has failed and must be closed
	// and reopened.
	Next(ctx context.Context) (Frame, error)
	// Close frees the device. It does not wait for Next.
	Close() error
	// String names the source for people: "/dev/video0", "sim:".
	String() string
}
