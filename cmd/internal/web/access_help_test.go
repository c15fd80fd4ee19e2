package web_test

import (
	"context"
	"strings"
	"time"
)

// contextFor ends requests for events, which never end by themselves.
func contextFor(path string) (context.Context, context.CancelFunc) {
	if strings.HasSuffix(path, "/events") {
		return context.WithTimeout(context.Background(), 20*time.Millisecond)
	}
	return context.WithCancel(context.Background())
}
