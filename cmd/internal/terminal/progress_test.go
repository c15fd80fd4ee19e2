package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALongCommandShowsItsProgressOnATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen, out bytes.Buffer
		m := &meter{terminal: &screen}
		failed := errors.New("no board")
		err := m.run(t.Context(), &out, m.over(&screen), func(ctx context.Context, out, progress io.Writer) error {
			time.Sleep(1500 * time.Millisecond)
			synctest.Wait()
			assert.Empty(t, screen.String(), "what is quick says nothing")
			Step(ctx, "picture", 3, 20)
			time.Sleep(time.Second)
			synctest.Wait()
			assert.Equal(t, "\r\x1b[Kpicture 3 of 20, 2 s …", screen.String())
			screen.Reset()
			fmt.Fprintln(progress, "b.png: left out")
			assert.Equal(t, "\r\x1b[Kb.png: left out\n", screen.String(), "the line goes before anything else is written")
			screen.Reset()
			fmt.Fprint(progress, "half a line")
			time.Sleep(3 * time.Second)
			synctest.Wait()
			assert.Equal(t, "half a line", screen.String(), "and comes back where a line begins")
			fmt.Fprintln(progress)
			screen.Reset()
			Step(ctx, "picture", 4, 0)
			time.Sleep(time.Second)
			synctest.Wait()
			assert.Contains(t, screen.String(), "picture 4, ")
			screen.Reset()
			fmt.Fprintln(out, `{"version":1}`)
			return failed
		})
		assert.Equal(t, failed, err)
		assert.Equal(t, "\r\x1b[K", screen.String(), "nothing of it stays")
		assert.Equal(t, "{\"version\":1}\n", out.String(), "and nothing of it is in the output")
	})
}

// Where no person reads, a long command writes what it writes and nothing else.
func TestProgressIsForTerminalsOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stderr")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, Is(file))
	kept := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = kept }()
	require.NoError(t, Progress(t.Context(), func(ctx context.Context, out, progress io.Writer) error {
		assert.Same(t, os.Stdout, out)
		assert.Same(t, file, progress)
		Step(ctx, "picture", 1, 2)
		return nil
	}))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Empty(t, written)
}

// The terminal of a person: a pseudo-terminal has its other end in the test's hands.
func TestAPseudoTerminalIsOne(t *testing.T) {
	ptmx, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: " + err.Error())
	}
	defer ptmx.Close()
	assert.True(t, Is(ptmx))
}
