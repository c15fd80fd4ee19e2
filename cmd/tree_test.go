package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fileBytes is the largest file of the repository. A program that was added by mistake is a
// hundred times as large; the largest file that belongs here has 0.3 MB.
const fileBytes = 1 << 20

func TestNoFileOfTheRepositoryIsLarge(t *testing.T) {
	// -c safe.directory: a container's user may not own the tree.
	out, err := exec.Command("git", "-c", "safe.directory=*", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("no git or no repository here: %v", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(files) < 1000 {
		t.Errorf("git lists %d files, expected the repository's thousands", len(files))
	}
	for _, file := range files {
		// A file that was deleted and not yet committed is gone.
		if info, err := os.Lstat(filepath.Join("..", file)); err == nil && info.Size() > fileBytes {
			t.Errorf("%s has %d bytes, expected at most %d: what a build writes does not belong here", file, info.Size(), fileBytes)
		}
	}
}
