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
	var warn bytes.Buffer
	_, err := looks.Load(dir, &warn)
	assert.ErrorContains(t, err, "expected looks, from looks learn, got none")
	_, err = looks.Load(filepath.Join(dir, "none"), &warn)
	assert.ErrorContains(t, err, "--looks: look: ")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A1.json"), []byte("{}"), 0o644))
	_, err = looks.Load(dir, &warn)
	assert.ErrorContains(t, err, "expected looks, from looks learn, got none")
	assert.Contains(t, warn.String(), "warning: the look of A1 is left out")
	warn.Reset()
	var out bytes.Buffer
	require.NoError(t, (&looksListCmd{Dir: dir}).list(&out, &warn))
	assert.Contains(t, warn.String(), "A1.json: its picture A1.png: no such file")
	none, err := looks.Load("", &warn)
	require.NoError(t, err)
	assert.Nil(t, none)
}
