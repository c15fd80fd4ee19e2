package hardware_test

import (
	"io"
	"log/slog"
)

// discard is a log that nobody reads.
func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
