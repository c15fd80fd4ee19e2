package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/enrol"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
)

// Where the page saves the empty mat and the catalogue if the configuration names no files, and
// where the next start looks for them. The simulated table has files of its own, which must not
// replace a real table's.
const (
	DefaultMatPath       = "calibration/mat.png"
	DefaultCataloguePath = "calibration/obstacles.json"
	SimulatedMatPath     = "calibration/simulated-mat.png"
	SimulatedTokensPath  = "calibration/simulated-obstacles.json"
)

// withObstacleFiles fills in the files of the empty mat and the catalogue if the configuration
// names none.
func withObstacleFiles(c Config) Config {
	switch {
	case c.Table.Catalogue != "":
		return c
	case strings.HasPrefix(c.Camera.Source, "sim:"):
		c.Table.EmptyMat, c.Table.Catalogue = filepath.FromSlash(SimulatedMatPath), filepath.FromSlash(SimulatedTokensPath)
	default:
		c.Table.EmptyMat, c.Table.Catalogue = filepath.FromSlash(DefaultMatPath), filepath.FromSlash(DefaultCataloguePath)
	}
	c.Table.Adopted = true
	return c
}

// learnt holds the empty mat and the catalogue as read from their files. The pipeline finds
// obstacles with them, and the page changes them. A missing file means that nothing was learnt. If
// a file becomes unreadable, its last content stays in use, with an error message.
type learnt struct {
	catalogueFile, matFile string
	log                    *slog.Logger
	looks                  *knownLooks // of the same pipeline

	mu        sync.Mutex // guards the fields below
	catalogue learntFile[catalogue.Catalogue]
	mat       learntFile[obstacle.Background]
	unusable  string // why these files are of no use on this table; "": they are
}

// learntFile is one of the two files as it was last read.
type learntFile[T any] struct {
	value   *T     // nil: nothing has been learnt
	version string // of the file's content; "": there is no file
	at      time.Time
	problem string    // why the file cannot be read; "": it can be read
	stamp   fileStamp // of the file that was read
}

// fileStamp changes when a file is written.
type fileStamp struct {
	at   time.Time
	size int64
}

// newLearnt reads the existing files. It fails if a configured file exists but cannot be read.
// matKey is the key of the empty mat.
func newLearnt(t Table, matKey string, log *slog.Logger) (*learnt, error) {
	k := &learnt{catalogueFile: t.Catalogue, matFile: t.EmptyMat, log: log}
	k.renew()
	for _, f := range []struct{ key, problem string }{{"table.catalogue", k.catalogue.problem}, {matKey, k.mat.problem}} {
		switch {
		case f.problem == "":
		case t.Adopted:
			log.Warn("obstacles are not watched", f.key, f.problem)
		default:
			return k, fmt.Errorf("%s: %s", f.key, f.problem)
		}
	}
	return k, nil
}

// renew reads the files that have changed, and reports whether any had.
func (k *learnt) renew() (changed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := renewFile(&k.catalogue, k.catalogueFile, catalogue.Parse)
	b := renewFile(&k.mat, k.matFile, func(r io.Reader) (*obstacle.Background, error) {
		return obstacle.ReadBackground(r.(io.ReadSeeker))
	})
	return a || b
}

// mostLearnt is the largest accepted file, in bytes: a mat of 10 m in 16 bits.
const mostLearnt = 512 << 20

// renewFile reads a file again if it has changed.
func renewFile[T any](f *learntFile[T], path string, parse func(io.Reader) (*T, error)) (changed bool) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		changed = f.version != "" || f.problem != ""
		*f = learntFile[T]{}
		return changed
	}
	var content []byte
	if err == nil {
		stamp := fileStamp{info.ModTime(), info.Size()}
		if stamp == f.stamp {
			return false
		}
		f.stamp = stamp
		content, err = regularfile.Read(path, mostLearnt)
	}
	before := f.problem
	f.problem = ""
	var value *T
	if err == nil {
		f.version, f.at = versionOf(content), info.ModTime()
		value, err = parse(bytes.NewReader(content))
	}
	if err != nil {
		f.problem = fmt.Sprintf("%s: %v", path, bare(err))
		return f.problem != before
	}
	f.value = value
	return true
}

// bare removes from an error what repeats the file's name.
func bare(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// versionOf returns the version of a content.
func versionOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// versions returns a function that says what pictures are measured by now, with the cards in a folder.
func (k *learnt) versions(looks string) func() live.Learnt {
	return func() live.Learnt {
		k.mu.Lock()
		defer k.mu.Unlock()
		return live.Learnt{Catalogue: k.catalogue.version, EmptyMat: k.mat.version, Looks: enrol.StampOf(looks)}
	}
}

// soFar reports whether the empty mat was learnt, and the number of learnt tokens.
func (k *learnt) soFar() (mat bool, tokens int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.catalogue.value != nil {
		tokens = len(k.catalogue.value.Entries)
	}
	return k.mat.value != nil, tokens
}

// options returns both files for a locator, or none unless both were learnt.
func (k *learnt) options() (o locate.Options) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.catalogue.value != nil && k.mat.value != nil && len(k.catalogue.value.Entries) > 0 {
		o.Catalogue, o.Background = k.catalogue.value, k.mat.value
	}
	return o
}

// locator makes a locator that also finds the learnt obstacles. If the empty mat has another size
// than the table, it finds ships only: obstacles do not stop answers.
func (k *learnt) locator(t calibration.Table, o locate.Options) (pipeline.Locator, error) {
	known := k.options()
	o.Catalogue, o.Background = known.Catalogue, known.Background
	l, err := openLocator(t, o)
	why := ""
	if err != nil && o.Catalogue != nil {
		o.Catalogue, o.Background = nil, nil
		without, errWithout := openLocator(t, o)
		if errWithout != nil {
			return nil, err
		}
		why = err.Error()
		k.log.Warn("obstacles are not watched", "err", err)
		l, err = without, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.unusable = why
	return l, err
}

// canReplace returns the error with which replaceFile would surely fail.
func canReplace(path string) error {
	p, err := prepare(path, nil)
	if err == nil {
		p.Discard()
	}
	return err
}

// prepare writes the future content of a file to a temporary one, after making its folder.
func prepare(path string, content []byte) (*atomicfile.Pending, error) {
	if err := atomicfile.MkdirAll(atomicfile.OS{}, filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("%s: the folder cannot be made: %w", path, bare(err))
	}
	p, err := atomicfile.Prepare(atomicfile.OS{}, path, content, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%s: the folder cannot be written: %w", path, bare(err))
	}
	return p, nil
}

// replaceFile writes a file wholly or not at all, and keeps its former content in path.bak. It
// makes the file's folder.
func replaceFile(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: expected a file", path)
	}
	p, err := prepare(path, content)
	if err != nil {
		return err
	}
	if err = keepFormer(path); err == nil {
		err = p.Commit()
	} else {
		p.Discard()
	}
	if err != nil {
		return fmt.Errorf("%s: not saved: %w", path, bare(err))
	}
	return nil
}

// keepFormer keeps a file as path.bak. Both names exist for a moment, so path never disappears.
func keepFormer(path string) error {
	former := path + ".bak"
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	next := former + ".new"
	_ = os.Remove(next)
	if err := os.Link(path, next); err != nil { // a file system without links
		content, err := regularfile.Read(path, mostLearnt)
		if err == nil {
			err = os.WriteFile(next, content, 0o644)
		}
		if err != nil {
			_ = os.Remove(next)
			return err
		}
	}
	return os.Rename(next, former)
}
