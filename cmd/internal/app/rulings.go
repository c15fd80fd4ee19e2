package app

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/rulings"
)

const (
	rulingsFolder = "rulings"
	rulingsKey    = "rulings.key" // signs rulings: whoever reads it can sign as this machine
)

// Rulings is the configured storage of judges' rulings.
type Rulings struct {
	Dir  string        // "": see Folder
	Keep time.Duration // how long pictures are kept; 0: for ever
	Key  string        // file with the key that signs them; "": the one in the state directory
}

// Folder returns the log's folder: the configured one, else rulings in the service's state
// directory, else sightline/rulings in the user's data folder. For a user without a home it is in
// the working directory.
func (r Rulings) Folder() string {
	if r.Dir != "" {
		return r.Dir
	}
	if dir, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		return filepath.Join(dir, rulingsFolder)
	}
	if dir := userData(); dir != "" {
		return filepath.Join(dir, "sightline", rulingsFolder)
	}
	return rulingsFolder
}

// userData returns the user's data folder by the XDG Base Directory Specification 0.8; "" for a
// user without a home.
func userData() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share")
	}
	return ""
}

// Found is the result of a search for rulings.
type Found struct {
	Dir    string   // the log's folder; Folder if there is no log
	Looked []string // searched folders in order, with errors
	Others []string // folders with further logs: an earlier version's, the service's
}

// Find searches the log for readers. If no folder is configured, it takes the first of these that
// has a log: Folder; the service's, whose environment a shell lacks; and the folder in the working
// directory that earlier versions used.
func (r Rulings) Find() Found {
	places := []string{r.Folder()}
	if r.Dir == "" {
		places = append(places, filepath.Join(serviceState, rulingsFolder), rulingsFolder)
	}
	var f Found
	for _, dir := range places {
		dir = absolute(dir)
		if slices.Contains(f.Looked, dir) {
			continue
		}
		has, err := hasLog(dir)
		switch {
		case errors.Is(err, fs.ErrPermission):
			f.Looked = append(f.Looked, dir+" (which this user may not read)")
			continue
		case has && f.Dir == "":
			f.Dir = dir
		case has && !sameFolder(dir, f.Dir):
			f.Others = append(f.Others, dir)
		}
		f.Looked = append(f.Looked, dir)
	}
	if f.Dir == "" {
		f.Dir = absolute(r.Folder())
	}
	return f
}

// Earlier returns the folder in the working directory that earlier versions used, if it has a log
// and is not in use; otherwise "".
func (r Rulings) Earlier() string {
	dir := absolute(rulingsFolder)
	if has, _ := hasLog(dir); !has || sameFolder(dir, r.Folder()) {
		return ""
	}
	return dir
}

// hasLog reports whether a folder has a log or the remains of one.
func hasLog(dir string) (bool, error) {
	for _, name := range []string{"rulings.db", "files"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Open opens the log for reading. Sign gives it the key that writing needs. The first ruling makes
// a missing folder. notice is called if the log was moved away while open.
func (r Rulings) Open(notice func(text string)) (*rulings.Log, error) {
	return rulings.Open(r.Folder(), rulings.Options{Keep: r.Keep, Notice: notice})
}

// Sign gives l the key that signs entries, and makes the key if there is none. If the key's file
// disappears while the program runs, Sign writes it again and reports that: otherwise the log would
// continue with another key at the next start. Another key in its place is an error.
func (r Rulings) Sign(l *rulings.Log) (again bool, err error) {
	path, err := r.keyFile()
	if err != nil {
		return false, err
	}
	has := l.Key()
	raw, err := readOrMake(path, func() []byte {
		if has == nil {
			return newRulingsKey()
		}
		again = true
		return marshalKey(has)
	})
	if err != nil {
		return false, fmt.Errorf("%w: %w", errKey, err)
	}
	key, err := parseKey(path, raw)
	switch {
	case err != nil:
	case has == nil:
		l.SignWith(key)
	case !key.Equal(has):
		err = fmt.Errorf("%w: %s: it is another one than this program signs with; put the earlier one back, or start the program again",
			errKey, path)
	}
	return again, err
}

// errKey is part of every error of the signing key.
var errKey = errors.New("the key that signs rulings")

func (r Rulings) keyFile() (string, error) {
	if r.Key != "" {
		return r.Key, nil
	}
	dir, err := StateDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", errKey, err)
	}
	return filepath.Join(dir, rulingsKey), nil
}

// newRulingsKey makes a key: PKCS #8 in PEM.
func newRulingsKey() []byte {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	return marshalKey(key)
}

func marshalKey(key ed25519.PrivateKey) []byte {
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err) // every Ed25519 key can be marshalled
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

func parseKey(path string, raw []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(raw)
	if block != nil && block.Type == "PRIVATE KEY" {
		if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
			if key, ok := key.(ed25519.PrivateKey); ok {
				return key, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: %s: expected an Ed25519 private key as PEM; the program makes a new one when there is none", errKey, path)
}

// checkKey returns what would prevent signing. It makes no key.
func (r Rulings) checkKey() error {
	path, err := r.keyFile()
	if err != nil {
		return err
	}
	_, err = readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func readKey(path string) (ed25519.PrivateKey, error) {
	raw, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKey, err)
	}
	return parseKey(path, raw)
}

// PublicKey returns the public part of this machine's signing key and the key's file: the user's
// own or the service's.
func (r Rulings) PublicKey() (key rulings.PublicKey, path string, err error) {
	own, err := r.keyFile()
	if err != nil {
		return "", "", err
	}
	for _, path = range []string{own, filepath.Join(serviceState, rulingsKey)} {
		private, err := readKey(path)
		if err == nil {
			return rulings.PublicOf(private), path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", path, err
		}
	}
	return "", own, fmt.Errorf("%w: %s: there is none yet: sightline run makes it", errKey, own)
}

// checkKeep limits the age of pictures to ten years.
func checkKeep(days int) *badValue {
	if days < 0 || days > 3650 {
		return bad("rulings.keep_pictures_days", "expected 0 (for ever) to 3650 days, got %d", days)
	}
	return nil
}
