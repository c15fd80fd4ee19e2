package app_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/app"
	"sightline/vision"
)

// Two programs that keep their game in one folder would overwrite each other's: the second keeps
// nothing and says so, and the next one that is alone there finds what the first kept.
func TestTwoProgramsInOneFolderDoNotOverwriteEachOther(t *testing.T) {
	dir := t.TempDir()
	start := func() *running {
		c := app.DefaultConfig()
		c.Table.Record = filepath.Join(dir, "registration.json")
		return run(t, c, app.Options{Open: func(context.Context) (vision.Source, error) { return nil, errors.New("no such device") }})
	}
	ask := func(r *running, method, path, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequest(method, "http://"+r.address+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		content, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(content)
	}
	choose := func(r *running, to string) {
		t.Helper()
		status, body := ask(r, http.MethodPatch, "/api/choice", `{"from":"A1","to":"`+to+`"}`)
		require.Equal(t, http.StatusNoContent, status, body)
	}
	says := func(r *running, text string) bool {
		_, state := ask(r, http.MethodGet, "/api/state", "")
		return strings.Contains(state, text)
	}
	const warning = "Another Sightline keeps its match and pair in"

	first, second := start(), start()
	choose(first, "B1")
	choose(second, "B2")
	require.Eventually(t, func() bool { return says(second, warning) }, time.Minute, 20*time.Millisecond)
	assert.False(t, says(first, warning))
	require.NoError(t, second.end(t))
	require.NoError(t, first.end(t))

	kept, err := os.ReadFile(filepath.Join(dir, "session.json"))
	require.NoError(t, err)
	assert.Contains(t, string(kept), "B1")
	again := start()
	require.Eventually(t, func() bool { return says(again, "The pair is A1 to B1, as before") }, time.Minute, 20*time.Millisecond)
	assert.False(t, says(again, warning))
	require.NoError(t, again.end(t))
	assert.NoFileExists(t, filepath.Join(dir, "game.lock"))
}
