package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/vision/look"
)

// A look that cannot be read is named on the page, and once in the log; the program starts with the others.
func TestADamagedLookIsNamed(t *testing.T) {
	c, said := DefaultConfig(), &bytes.Buffer{}
	c.Table.Looks = t.TempDir()
	path := filepath.Join(c.Table.Looks, "A1.json")
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o644))
	k, err := newKnownLooks(c, slog.New(slog.NewTextHandler(said, nil)))
	require.NoError(t, err)
	k.now()
	assert.Equal(t, []string{"The look of A1 cannot be read, and other cards of any base size name no ship meanwhile: show it again on " +
		"/looks, or delete it there."}, k.damaged())
	assert.Equal(t, 1, strings.Count(said.String(), path), said.String())
	require.NoError(t, os.WriteFile(path, []byte(`{"version":1,"ships":["A1"],"base":"large"}`), 0o644))
	k.now()
	assert.Contains(t, k.damaged()[0], "other cards of its base size name no ship")
	require.NoError(t, os.Remove(path))
	k.now()
	assert.Empty(t, k.damaged())

	// A description that is put back after a rename is not left out without a word.
	for range 2 {
		k.use(&look.Library{Hidden: []look.Hidden{{Name: "A1", By: "B2"}}})
	}
	assert.Equal(t, 1, strings.Count(said.String(), "the look A1 counts for nothing: it was renamed to B2"), said.String())
}
