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
	fresh, path := filepath.Join(dir, "fresh"), filepath.Join(dir, "rulings.db")
	require.NoError(t, os.WriteFile(fresh, []byte("new"), 0o600))
	require.NoError(t, os.WriteFile(path, []byte("put back"), 0o600))
	require.ErrorIs(t, nameNew(fresh, path), ErrMoved)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "put back", string(content))
	require.NoError(t, os.Remove(path))
	require.NoError(t, nameNew(fresh, path))
	assert.NoFileExists(t, fresh)
	assert.FileExists(t, path)
}
