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
	"sightline/cmd/internal/kept"
)

// The files of the state directory, and the limits of their content.
const (
	keyFile     = "session.key"  // signs the pairings: whoever reads it can pose as anyone
	secretFile  = "judge.secret" // the default, if the configuration names none
	keyLength   = 32             // bytes
	secretLeast = 12             // characters of a judge's secret that a person chooses
	secretMost  = 256            // bytes
	privateMost = 4 << 10        // bytes of a private file
	pemMost     = 1 << 20        // bytes of a certificate or its key
)

// serviceState is where the service keeps its state (firmware-config/systemd).
const serviceState = "/var/lib/sightline"

// StateDir returns the folder for private state: the service's state directory, or sightline in the
// user's configuration directory.
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

// readPrivate reads a small file. It fails if others than the owner may read it.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, regularfile.WithoutPath(err))
	case info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s: others may read it (mode %04o): expected mode 0600, chmod 600 %s", path, info.Mode().Perm(), path)
	}
	data, err := regularfile.Read(path, privateMost)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, regularfile.WithoutPath(err))
	}
	return data, nil
}

// readOrMake reads a private file, or makes it if it does not exist. The file is whole or absent at
// any moment, and programs that make it at the same time all use one.
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

// readSecret reads a judge's secret, the only line of a file.
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

// JudgeSecret returns the judge's secret and its file, for the person at the machine. It makes no
// secret; the running program does.
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

// firstSecret returns the judge's secret from the first state folder that has one.
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

// ServiceSecret returns the file of this machine's service's own judge's secret; "" if there is
// none or it is the one at path.
func ServiceSecret(path string) string { return otherSecret(path, serviceState) }

func otherSecret(path, dir string) string {
	its := filepath.Join(dir, secretFile)
	if _, err := os.Stat(its); path == its || err != nil && !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	return its
}

// accessOf reads the secrets for access control. What the configuration names must exist. If the
// program cannot store its own secrets, it logs that and continues without. command is the command
// that prints the judge's secret.
func accessOf(c Web, stateDir string, address func() string, command string, log *slog.Logger) (access.Options, error) {
	o := access.Options{PairToRead: c.Read == "paired", Address: address, Names: c.hostNames(os.Hostname), Log: log, Clock: kept.ThisMachine()}
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
	log.Info("the judge's secret is in a file; "+command+" prints it", "file", path)
	return o, nil
}

// hostNames returns the host names of the page: the machine's own, alone and in .local, and the
// configured ones. Only the owner of a network's own domain knows who may have a name in it
// (table.lan).
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

// tlsOf loads the configured certificate. It returns nil if the page is served without TLS.
func tlsOf(c Web) (*tls.Config, error) {
	if c.TLSCertificate == "" {
		return nil, nil
	}
	certificate, err := regularfile.Read(c.TLSCertificate, pemMost)
	if err != nil {
		return nil, fmt.Errorf("web.tls_certificate: %s: %w", c.TLSCertificate, regularfile.WithoutPath(err))
	}
	key, err := regularfile.Read(c.TLSKey, pemMost)
	if err != nil {
		return nil, fmt.Errorf("web.tls_key: %s: %w", c.TLSKey, regularfile.WithoutPath(err))
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("web.tls_certificate: %s with web.tls_key %s: %w", c.TLSCertificate, c.TLSKey, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// scheme returns the scheme of the page's address.
func (w Web) scheme() string {
	if w.TLSCertificate != "" {
		return "https"
	}
	return "http"
}

// PageURL returns the page's address for people, from the host and port at which it is served.
func (w Web) PageURL(host string) string { return w.scheme() + "://" + host + "/" }
