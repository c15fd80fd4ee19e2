package rulings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALogThatIsPutBackIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, dbName)
	require.NoError(t, os.WriteFile(path, []byte("put back"), 0o600))
	require.ErrorIs(t, create(dir, schemas), ErrMoved)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "put back", string(content))
	assert.NoFileExists(t, path+".new")
	require.NoError(t, os.Remove(path))
	require.NoError(t, create(dir, schemas))
	assert.FileExists(t, path)
	assert.NoFileExists(t, path+".new")
}
