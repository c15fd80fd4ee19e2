package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/looks"
)

func TestLooksThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	_, err := looks.Load(dir)
	assert.ErrorContains(t, err, "expected looks, from looks learn, got none")
	_, err = looks.Load(filepath.Join(dir, "none"))
	assert.ErrorContains(t, err, "--looks: look: ")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A1.json"), []byte("{}"), 0o644))
	_, err = looks.Load(dir)
	assert.ErrorContains(t, err, "A1.json: ")
	var out bytes.Buffer
	assert.ErrorContains(t, (&looksListCmd{Dir: dir}).list(&out), "A1.json: ")
	none, err := looks.Load("")
	require.NoError(t, err)
	assert.Nil(t, none)
}
