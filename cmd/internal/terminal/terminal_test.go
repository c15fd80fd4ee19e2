package terminal

import (
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASecondSignalInHasteDoesNotCutTheStopShort(t *testing.T) {
	ctx, err := Interruptible()
	require.NoError(t, err)
	other := make(chan os.Signal, 2) // the test itself must live on whatever happens
	signal.Notify(other, syscall.SIGTERM)
	defer signal.Stop(other)
	for range 2 {
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		<-other
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the signal was not heard")
	}
}

func TestAnErrorIsOneLineWithoutControlCharacters(t *testing.T) {
	got := OneLine(errors.New("a\n b\t\x1b[31mc\x07\xff é 台"))
	assert.Equal(t, "a b �[31mc�� é 台", got)
}

func TestAnErrorIsNotLongerThanAnyoneReads(t *testing.T) {
	got := OneLine(errors.New("scene.json: rules: got " + strings.Repeat("x", 1<<20) + ", expected 2.5"))
	assert.Less(t, len(got), 2100)
	assert.True(t, strings.HasPrefix(got, "scene.json: rules: got xxx") && strings.HasSuffix(got, "xxx, expected 2.5"), got)
}
