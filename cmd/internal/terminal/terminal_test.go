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

func TestAQuickSecondSignalDoesNotInterruptTheStop(t *testing.T) {
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

// A terminal that is closed ends the program in order: lamps and strip go dark.
func TestAClosedTerminalStopsInOrder(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // these tests may run under nohup themselves
	defer signal.Stop(heard)
	ctx, err := Interruptible()
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the signal was not heard")
	}

	signal.Ignore(syscall.SIGHUP) // as nohup starts a program
	defer signal.Reset(syscall.SIGHUP)
	ctx, err = Interruptible()
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.NoError(t, ctx.Err())
	assert.True(t, signal.Ignored(syscall.SIGHUP))
}

func TestNoFlagIsIgnored(t *testing.T) {
	var commands struct {
		Ask struct {
			Ship  string
			At    []string
			JSON  bool `name:"json"`
			Study bool
			Most  float64 `needs:"study"`
			Top   float64 `without:"at"`
		} `cmd:""`
	}
	for _, c := range []struct{ args, want string }{
		{"ask --ship A1 --at x --at y --json --json --study --most 2", ""},
		{"ask --top 3", ""},
		{"ask --ship A1 --ship B1", "--ship: expected once"},
		{"ask --ship=A1 --at x --ship=A1", "--ship: expected once"},
		{"ask --most 2", "--most: expected --study as well"},
		{"ask --top 3 --at x", "--top: expected without --at"},
	} {
		k, err := NewParser(&commands, func(int) {}).Parse(strings.Fields(c.args))
		require.NoError(t, err)
		if err := ignored(k); c.want == "" {
			assert.NoError(t, err, c.args)
		} else {
			assert.ErrorContains(t, err, c.want, c.args)
		}
	}
}

func TestAnErrorIsOneLineWithoutControlCharacters(t *testing.T) {
	got := OneLine(errors.New("a\n b\t\x1b[31mc\x07\xff é 台"))
	assert.Equal(t, "a b �[31mc�� é 台", got)
}

func TestLongErrorsAreCut(t *testing.T) {
	got := OneLine(errors.New("scene.json: rules: got " + strings.Repeat("x", 1<<20) + ", expected 2.5"))
	assert.Less(t, len(got), 2100)
	assert.True(t, strings.HasPrefix(got, "scene.json: rules: got xxx") && strings.HasSuffix(got, "xxx, expected 2.5"), got)
}
