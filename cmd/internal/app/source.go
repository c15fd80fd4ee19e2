package app

import (
	"context"
	"strings"
	"sync/atomic"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/opencv"
	"sightline/vision/tablesim"
)

// ownLens is a source that knows its lens: the simulated table does.
type ownLens interface {
	Lens() calibration.Intrinsics
}

// opener opens the configured source and remembers the lens that it brings.
type opener struct {
	camera Camera
	lens   atomic.Pointer[calibration.Intrinsics]
}

// open is what the feed calls, again after each failure.
func (o *opener) open(ctx context.Context) (vision.Source, error) {
	source, err := OpenSource(ctx, o.camera)
	if err != nil {
		return nil, err
	}
	if s, ok := source.(ownLens); ok {
		lens := s.Lens()
		o.lens.Store(&lens)
	}
	return source, nil
}

// OpenSource opens a camera, a recording or the simulated table.
func OpenSource(ctx context.Context, c Camera) (vision.Source, error) {
	if !strings.HasPrefix(c.Source, "sim:") {
		return opencv.Open(ctx, c.Source, opencv.OpenOptions{Width: c.Width, Height: c.Height, FPS: c.FPS})
	}
	o, err := tablesim.ParseSpec(c.Source)
	if err != nil {
		return nil, err
	}
	if c.Width > 0 && c.Height > 0 {
		o.Width, o.Height = c.Width, c.Height
	}
	if c.FPS > 0 {
		o.FPS = c.FPS
	}
	return tablesim.Open(o)
}
