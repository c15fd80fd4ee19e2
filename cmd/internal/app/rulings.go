package app

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"sightline/cmd/internal/rulings"
)

// Rulings says where the judges' rulings are kept.
type Rulings struct {
	Dir  string        // "": see Folder
	Keep time.Duration // how long pictures are kept; 0: for ever
}

// Folder returns the log's folder: the configured one, or rulings in the service's
// state directory, or in the directory in which the program was started.
func (r Rulings) Folder() string {
	if r.Dir != "" {
		return r.Dir
	}
	const name = "rulings"
	if dir, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		return filepath.Join(dir, name)
	}
	return name
}

// Existing is Folder for who looks at the rulings of the service from a shell, where
// its environment is not: the service's own where Folder names none that is there.
func (r Rulings) Existing() string {
	dir := r.Folder()
	if r.Dir != "" {
		return dir
	}
	if _, err := os.Stat(dir); err != nil {
		service := filepath.Join(serviceState, filepath.Base(dir))
		if _, err := os.Stat(service); err == nil {
			return service
		}
	}
	return dir
}

// Open opens the log to write to. With nothing there, the folder is made at the first
// ruling.
func (r Rulings) Open() (*rulings.Log, error) {
	return rulings.Open(r.Folder(), rulings.Options{Keep: r.Keep})
}

// checkKeep allows ten years.
func checkKeep(days int) *badValue {
	if days < 0 || days > 3650 {
		return bad("rulings.keep_pictures_days", "expected 0 (for ever) to 3650 days, got %d", days)
	}
	return nil
}
