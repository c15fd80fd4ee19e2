package vision

import "context"

// Source gives frames, one after the other. It belongs to one goroutine.
type Source interface {
	// Next blocks until there is a new frame, and returns io.EOF after the last
	// one of a source that ends (a file, a directory). Any other error means the
	// source has failed and must be closed and opened again.
	Next(ctx context.Context) (Frame, error)
	// Close frees the device. It does not wait for Next.
	Close() error
	// String names the source for people: "/dev/video0", "sim:".
	String() string
}
