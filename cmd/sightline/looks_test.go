package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLooksThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	_, err := loadLooks(dir)
	assert.ErrorContains(t, err, "expected looks, from looks learn, got none")
	_, err = loadLooks(filepath.Join(dir, "none"))
	assert.ErrorContains(t, err, "--looks: look: ")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A1.json"), []byte("{}"), 0o644))
	_, err = loadLooks(dir)
	assert.ErrorContains(t, err, "A1.json: ")
	var out bytes.Buffer
	assert.ErrorContains(t, (&looksListCmd{Dir: dir}).list(&out), "A1.json: ")
	none, err := loadLooks("")
	require.NoError(t, err)
	assert.Nil(t, none)
}
