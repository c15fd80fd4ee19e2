package app

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/access"
)

// The files of the program's state directory, and what a secret must have.
const (
	keyFile     = "session.key"  // signs the pairings: whoever reads it can pose as anyone
	secretFile  = "judge.secret" // when the configuration names no other
	keyLength   = 32             // bytes
	secretLeast = 12             // characters of a judge's secret that a person chose
	secretMost  = 256            // bytes
	privateMost = 4 << 10        // bytes of a private file
	pemMost     = 1 << 20        // bytes of a certificate or its key
)

// serviceState is where the service keeps its state (firmware-config/systemd).
const serviceState = "/var/lib/sightline"

// StateDir is where the program keeps what it must remember and no one else may read:
// the service's state directory, or sightline below the user's configuration directory.
func StateDir() (string, error) {
	if dir, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":"); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	return filepath.Join(dir, "sightline"), nil
}

// readPrivate reads a small file that only its owner may read.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	case info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s: others may read it (mode %04o): expected mode 0600, chmod 600 %s", path, info.Mode().Perm(), path)
	}
	data, err := regularfile.Read(path, privateMost)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, withoutPath(err))
	}
	return data, nil
}

// readOrMake reads a private file, or makes it when it is not there. It is whole or
// absent at any moment, and of several programs that make it at once all use one.
func readOrMake(path string, text func() []byte) ([]byte, error) {
	data, err := readPrivate(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if err := atomicfile.MkdirAll(atomicfile.OS{}, filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := atomicfile.WriteNew(path, text(), 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return readPrivate(path)
}

// readSecret reads a judge's secret: the file's one line.
func readSecret(path string, read func(string) ([]byte, error)) (string, error) {
	data, err := read(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(data))
	if n := len([]rune(secret)); n < secretLeast || len(secret) > secretMost || strings.ContainsAny(secret, "\r\n\x00") {
		return "", fmt.Errorf("%s: expected one line of %d or more characters and at most %d bytes", path, secretLeast, secretMost)
	}
	return secret, nil
}

// JudgeSecret returns the judge's secret and the file that holds it, for the person at
// the machine. It makes none: that is for the program when it starts.
func JudgeSecret(c Web) (secret, path string, err error) {
	if c.JudgeSecretFile != "" {
		secret, err = readSecret(c.JudgeSecretFile, readPrivate)
		return secret, c.JudgeSecretFile, err
	}
	dir, err := StateDir()
	if err != nil {
		return "", "", err
	}
	return firstSecret("sightline run", dir, serviceState)
}

// firstSecret returns the judge's secret of the first of some state folders that has one.
func firstSecret(program string, dirs ...string) (secret, path string, err error) {
	for _, dir := range dirs {
		path = filepath.Join(dir, secretFile)
		if secret, err = readSecret(path, readPrivate); !errors.Is(err, fs.ErrNotExist) {
			return secret, path, err
		}
	}
	own := filepath.Join(dirs[0], secretFile)
	return "", own, fmt.Errorf("%s: there is none yet: %s makes it when it starts", own, program)
}

// ServiceSecret returns where the service of this machine keeps a judge's secret of its own, other than
// the one at path; "": it keeps none, or this is it.
func ServiceSecret(path string) string { return otherSecret(path, serviceState) }

func otherSecret(path, dir string) string {
	its := filepath.Join(dir, secretFile)
	if _, err := os.Stat(its); path == its || err != nil && !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	return its
}

// accessOf reads the secrets that say who may do what. What the configuration names must
// be there; what the program keeps for itself and cannot keep is logged, and
// the program continues without. command is what says the judge's secret to people.
func accessOf(c Web, stateDir string, address func() string, command string, log *slog.Logger) (access.Options, error) {
	o := access.Options{PairToRead: c.Read == "paired", Address: address, Names: c.hostNames(os.Hostname), Log: log}
	var err error
	if stateDir == "" {
		stateDir, err = StateDir()
	}
	if err == nil {
		o.Key, err = readOrMake(filepath.Join(stateDir, keyFile), newKey)
	}
	if err == nil && len(o.Key) != keyLength {
		err = fmt.Errorf("%s: expected %d bytes, got %d; remove it and the program makes a new one",
			filepath.Join(stateDir, keyFile), keyLength, len(o.Key))
		o.Key = nil
	}
	if err != nil {
		log.Warn("pairings are forgotten when the program ends: their key cannot be kept", "err", err)
	}
	if c.JudgeSecretFile != "" {
		if o.JudgeSecret, err = readSecret(c.JudgeSecretFile, readPrivate); err != nil {
			return o, fmt.Errorf("web.judge_secret_file: %w", err)
		}
		return o, nil
	}
	path := filepath.Join(stateDir, secretFile)
	if stateDir != "" {
		o.JudgeSecret, err = readSecret(path, func(path string) ([]byte, error) { return readOrMake(path, newSecret) })
	}
	if err != nil && o.JudgeSecret == "" {
		log.Warn("no one can be the judge: the judge's secret cannot be kept; name a file of yours in web.judge_secret_file", "err", err)
		return o, nil
	}
	log.Info("the judge's secret is kept; "+command+" says it", "file", path)
	return o, nil
}

// hostNames are the names under which the page is asked for: the machine's own, alone and
// in .local, and those that the configuration names. Who else may bear a name below a
// network's own domain (table.lan) only its owner knows.
func (w Web) hostNames(machine func() (string, error)) (names []string) {
	add := func(name string) {
		if name, ok := access.CanonicalName(name); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if name, err := machine(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		add(short)
		add(short + ".local")
		add(name)
	}
	if host, _, err := net.SplitHostPort(w.Listen); err == nil && net.ParseIP(host) == nil {
		add(host)
	}
	for _, name := range w.Names {
		add(name)
	}
	return names
}

func newKey() []byte {
	key := make([]byte, keyLength)
	_, _ = rand.Read(key) // never fails
	return key
}

func newSecret() []byte { return []byte(access.NewSecret() + "\n") }

// tlsOf loads the certificate that the configuration names; nil: the page goes without.
func tlsOf(c Web) (*tls.Config, error) {
	if c.TLSCertificate == "" {
		return nil, nil
	}
	certificate, err := regularfile.Read(c.TLSCertificate, pemMost)
	if err != nil {
		return nil, fmt.Errorf("web.tls_certificate: %s: %w", c.TLSCertificate, withoutPath(err))
	}
	key, err := regularfile.Read(c.TLSKey, pemMost)
	if err != nil {
		return nil, fmt.Errorf("web.tls_key: %s: %w", c.TLSKey, withoutPath(err))
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("web.tls_certificate: %s with web.tls_key %s: %w", c.TLSCertificate, c.TLSKey, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// scheme is how the page's address begins.
func (w Web) scheme() string {
	if w.TLSCertificate != "" {
		return "https"
	}
	return "http"
}

// PageURL is the page's address for people, from the host and port that it is served at.
func (w Web) PageURL(host string) string { return w.scheme() + "://" + host + "/" }
