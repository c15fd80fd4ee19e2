package hall_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAFullDiskAtTheHallLosesNothing: rulings wait at their table, the page and the monitors say
// why, and when there is room again all of them arrive.
func TestAFullDiskAtTheHallLosesNothing(t *testing.T) {
	t.Parallel()
	p := spawnOnDisk(t, true, "160m")
	k := join(t, p.invite(t, "7"))
	k.book.rule(t, "before", 200_000)
	eventually(t, "it is there", func() bool { return p.tile(t, "7").Rulings == 1 })

	ballast, err := os.Create(filepath.Join(p.dir, "ballast"))
	require.NoError(t, err)
	for piece := bytes.Repeat([]byte("x"), 256<<10); err == nil; {
		_, err = ballast.Write(piece)
	}
	require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
	for range 3 {
		k.book.rule(t, "on a full disk", 200_000)
	}
	eventually(t, "they wait, and it is said", func() bool {
		return p.tile(t, "7").Waiting == 3 && strings.Contains(p.trouble(t), "its disk is full")
	})
	status, text := p.get(t, "/healthz")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, string(text), "disk")
	time.Sleep(3 * time.Second)
	eventually(t, "the table is heard as before", func() bool { return p.tile(t, "7").Live })
	assert.Equal(t, 1, p.tile(t, "7").Rulings)

	require.NoError(t, ballast.Close())
	require.NoError(t, os.Remove(ballast.Name()))
	eventually(t, "the hall is well", func() bool { return p.trouble(t) == "" })
	eventually(t, "all are acknowledged", func() bool { return k.client.Sent() == 4 })
	eventually(t, "all are there", func() bool { return p.tile(t, "7").Rulings == 4 })
	assert.Empty(t, p.tile(t, "7").Problems)
	eventually(t, "the monitors say so", p.well(t))
}

// trouble is what the hall says is wrong with itself.
func (r *running) trouble(t testing.TB) string {
	t.Helper()
	var is struct{ Trouble string }
	_, body := r.get(t, "/api/hall")
	require.NoError(t, json.Unmarshal(body, &is), "%s", body)
	return is.Trouble
}
