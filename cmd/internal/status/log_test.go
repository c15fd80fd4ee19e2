package status

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheTailKeepsTheLastRecordsAndPassesAllOn(t *testing.T) {
	var out bytes.Buffer
	tail := NewTail(slog.NewTextHandler(&out, nil))
	log := slog.New(tail)
	for i := range 3*tailMost + 7 {
		log.Info(fmt.Sprintf("number %d", i))
	}
	log.Debug("not asked for")
	records := tail.Records()
	assert.Len(t, records, tailMost)
	assert.Equal(t, fmt.Sprintf("number %d", 2*tailMost+7), records[0].Text)
	assert.Equal(t, fmt.Sprintf("number %d", 3*tailMost+6), records[tailMost-1].Text)
	assert.Equal(t, 3*tailMost+7, strings.Count(out.String(), "\n"), "lines that were passed on")
}

func TestTheTailHasNoSecrets(t *testing.T) {
	tail := NewTail(slog.DiscardHandler)
	tail.next = slog.NewTextHandler(&bytes.Buffer{}, nil)
	log := slog.New(tail)
	log.Info("phones pair here", "address", "http://table.local:8080/pair", "code", "K4MWQX")
	log.With("token", "abcdef").WithGroup("camera").Warn("camera", "source", "rtsp://admin:hunter2@10.0.0.7/stream?token=t0p",
		"err", errors.New("open http://u:pass@10.0.0.7/: refused"), slog.Group("login", "password", "hunter2", "try", 2))
	var all []string
	for _, r := range tail.Records() {
		all = append(all, r.Level+" "+r.Text)
	}
	text := strings.Join(all, "\n")
	for _, secret := range []string{"K4MWQX", "hunter2", "admin", "abcdef", "t0p", "pass@"} {
		assert.NotContains(t, text, secret)
	}
	assert.Contains(t, text, "INFO phones pair here address=http://table.local:8080/pair code=•••")
	assert.Contains(t, text, "WARN camera token=••• camera.source=rtsp://•••@10.0.0.7/stream?token=•••")
	assert.Contains(t, text, "camera.login.try=2")
}

func TestTheTailIsSafeForConcurrentUse(t *testing.T) {
	tail := NewTail(slog.NewTextHandler(&bytes.Buffer{}, nil))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 300 {
				slog.New(tail).Info("x")
				tail.Records()
			}
		})
	}
	all.Wait()
	assert.Len(t, tail.Records(), tailMost)
}
