//go:build browser

package browsertest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

func TestABrowserThatDiesAtItsStartIsStartedAgain(t *testing.T) {
	browser := find(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "dies-twice")
	require.NoError(t, os.WriteFile(script, []byte(`#!/bin/sh
for n in 1 2; do
	mkdir "`+dir+`/$n" 2>/dev/null && { echo "it died: $n" >&2; exit 5; }
done
exec "`+browser+`" "$@"
`), 0o755))
	t.Setenv("CHROME", script)

	var sum int
	require.NoError(t, chromedp.Run(New(t, 10*time.Second), chromedp.Evaluate("1 + 2", &sum)))
	require.Equal(t, 3, sum)

	b, err := launch("/bin/false", nil)
	require.Error(t, err)
	require.Nil(t, b.ctx)
}
