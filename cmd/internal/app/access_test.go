package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/hardware"
)

func TestTheStateDirectoryIsTheServicesOrTheUsers(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "/var/lib/sightline:/var/lib/other")
	dir, err := StateDir()
	require.NoError(t, err)
	assert.Equal(t, "/var/lib/sightline", dir)
	t.Setenv("STATE_DIRECTORY", "")
	t.Setenv("XDG_CONFIG_HOME", "/home/anna/.config")
	dir, err = StateDir()
	require.NoError(t, err)
	assert.Equal(t, "/home/anna/.config/sightline", dir)
}

// accessWith is accessOf with what it logs.
func accessWith(t *testing.T, c Web, dir string) (access.Options, string) {
	t.Helper()
	var log bytes.Buffer
	o, err := accessOf(c, dir, nil, "sightline judge-secret", slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	return o, log.String()
}

func TestSecretsAreMadeOnceAndKeptForTheOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	first, log := accessWith(t, Web{}, dir)
	assert.Len(t, first.Key, 32)
	assert.Regexp(t, `^([bcdfghjkmpqrtvwxy2346789]{5}-){3}[bcdfghjkmpqrtvwxy2346789]{5}$`, first.JudgeSecret)
	assert.Contains(t, log, filepath.Join(dir, "judge.secret"), "its place is told")
	assert.NotContains(t, log, first.JudgeSecret, "and itself is not")
	for _, name := range []string{"judge.secret", "session.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "nothing half made is left")

	again, _ := accessWith(t, Web{}, dir)
	assert.Equal(t, first.Key, again.Key, "a restart unpairs nobody")
	assert.Equal(t, first.JudgeSecret, again.JudgeSecret)

	t.Setenv("STATE_DIRECTORY", dir)
	secret, path, err := JudgeSecret(Web{})
	require.NoError(t, err)
	assert.Equal(t, first.JudgeSecret, secret)
	assert.Equal(t, filepath.Join(dir, "judge.secret"), path)
	assert.Empty(t, otherSecret(path, dir), "it is the service's own")
	assert.Empty(t, otherSecret(path, t.TempDir()), "no service keeps one")
	assert.Equal(t, path, otherSecret(filepath.Join(t.TempDir(), "judge.secret"), dir), "the service's is another")
}

func TestProgramsThatMakeASecretAtOnceUseOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "judge.secret")
	got := make([]string, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			data, err := readOrMake(path, newSecret)
			assert.NoError(t, err)
			got[i] = string(data)
		})
	}
	wg.Wait()
	for _, g := range got {
		assert.Equal(t, got[0], g)
	}
}

func TestASecretThatOthersReadIsNone(t *testing.T) {
	at := func(text string, mode fs.FileMode) string {
		path := filepath.Join(t.TempDir(), "s")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	for name, c := range map[string]struct{ path, want string }{
		"everyone reads it": {at("correct horse battery\n", 0o644), "chmod 600"},
		"its group does":    {at("correct horse battery\n", 0o640), "others may read it (mode 0640)"},
		"too short":         {at("hunter2\n", 0o600), "12 or more characters"},
		"empty":             {at("", 0o600), "12 or more characters"},
		"two lines":         {at("correct horse\nbattery staple\n", 0o600), "one line"},
		"a directory":       {t.TempDir(), "expected a file"},
		"huge":              {at(strings.Repeat("x", 5000), 0o600), "at most 4 kB"},
		"absent":            {filepath.Join(t.TempDir(), "none"), "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := accessOf(Web{JudgeSecretFile: c.path}, t.TempDir(), nil, "", slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, "web.judge_secret_file: "+c.path)
			require.ErrorContains(t, err, c.want)
			_, _, err = JudgeSecret(Web{JudgeSecretFile: c.path})
			require.ErrorContains(t, err, c.want)
		})
	}
	o, _ := accessWith(t, Web{JudgeSecretFile: at(" correct horse battery \r\n", 0o600), Read: "paired"}, t.TempDir())
	assert.Equal(t, "correct horse battery", o.JudgeSecret)
	assert.True(t, o.PairToRead)
}

func TestWithoutAPlaceToKeepSecretsTheProgramGoesOnAndSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	o, log := accessWith(t, Web{}, filepath.Join(file, "state"))
	assert.Empty(t, o.Key, "package web makes one that is forgotten")
	assert.Empty(t, o.JudgeSecret)
	assert.Contains(t, log, "pairings are forgotten")
	assert.Contains(t, log, "no one can be the judge")

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "session.key"), []byte("short"), 0o600))
	o, log = accessWith(t, Web{}, dir)
	assert.Empty(t, o.Key, "a key that was cut off signs nothing")
	assert.Contains(t, log, "expected 32 bytes, got 5")
	assert.NotEmpty(t, o.JudgeSecret, "which is no reason to be without a judge")
}

func TestThePageAnswersToTheMachinesNamesAndTheConfiguredOnes(t *testing.T) {
	here := func(name string) func() (string, error) { return func() (string, error) { return name, nil } }
	for name, c := range map[string]struct {
		web     Web
		machine string
		want    []string
	}{
		"by default":         {Web{Listen: "localhost:8080"}, "Table", []string{"table", "table.local", "localhost"}},
		"on every interface": {Web{Listen: ":8080"}, "table", []string{"table", "table.local"}},
		"at an address":      {Web{Listen: "[fe80::1%eth0]:8080"}, "table", []string{"table", "table.local"}},
		"at a name":          {Web{Listen: "table.lan:8080"}, "table", []string{"table", "table.local", "table.lan"}},
		"with a domain":      {Web{}, "table.club.example", []string{"table", "table.local", "table.club.example"}},
		"with further names": {Web{Names: []string{"Table.Fritz.Box.", "table.local"}}, "table",
			[]string{"table", "table.local", "table.fritz.box"}},
		"of no name": {Web{}, "", nil},
	} {
		assert.Equal(t, c.want, c.web.hostNames(here(c.machine)), name)
	}
	o, _ := accessWith(t, Web{Names: []string{"table.lan"}}, t.TempDir())
	machine, err := os.Hostname()
	require.NoError(t, err)
	short, _, _ := strings.Cut(strings.ToLower(machine), ".")
	assert.Subset(t, o.Names, []string{short, short + ".local", "table.lan"})
}

func TestTheDisplayShowsThePairingCode(t *testing.T) {
	const address = "http://192.168.7.2:8080/"
	menu := panelMenu{address: func() string { return address }, code: func() string { return "K4MWQX" }}
	assert.Equal(t, "K4MWQX", menu.world(&live.State{}).Code)
	screen := hardware.State{Screen: hardware.Screen{Kind: hardware.ScreenAddress, Address: address, Code: "K4MWQX"}}
	assert.NotEqual(t, hardware.Draw(hardware.State{Screen: hardware.Screen{Kind: hardware.ScreenAddress, Address: address}}).Pix,
		hardware.Draw(screen).Pix)
}

// certificate writes a certificate for localhost and its key.
func certificate(t *testing.T) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "table"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	return cert, key
}

func TestThePageIsServedOverTLSWithTheGivenCertificate(t *testing.T) {
	cert, key := certificate(t)
	c := Web{TLSCertificate: cert, TLSKey: key}
	encrypted, err := tlsOf(c)
	require.NoError(t, err)
	assert.Equal(t, "https://table:8443/", c.PageURL("table:8443"))
	l, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	var pairing access.Pairing
	server := web.NewServer(web.Options{Hub: live.NewHub(live.State{}), TLS: encrypted, Access: access.Options{Pairing: &pairing,
		Log: slog.New(slog.DiscardHandler)}})
	task := &webTask{server: server, listener: l}
	done := make(chan error, 1)
	ctx := t.Context()
	go func() { done <- task.Run(ctx) }()

	trusted, err := os.ReadFile(cert)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(trusted))
	_, port, _ := net.SplitHostPort(l.Addr().String())
	url := "https://localhost:" + port
	for version, ok := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		client := &http.Client{Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: version},
		}}
		answer, err := client.Get(url + "/healthz")
		assert.Equal(t, ok, err == nil, "TLS %x: %v", version, err)
		if err == nil {
			answer.Body.Close()
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	answer, err := client.Post(url+"/api/pair", "application/json", strings.NewReader(`{"code":"`+pairing.Code(time.Now())+`"}`))
	require.NoError(t, err)
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	require.Equal(t, http.StatusOK, answer.StatusCode, string(body))
	assert.True(t, answer.Cookies()[0].Secure, "it goes over TLS only")
	assert.Equal(t, "__Host-sightline", answer.Cookies()[0].Name)
	plain, err := http.Get("http://localhost:" + port + "/healthz")
	require.NoError(t, err)
	plain.Body.Close()
	assert.Equal(t, http.StatusBadRequest, plain.StatusCode, "without TLS there is nothing")
}

func TestACertificateThatDoesNotFitIsAnErrorThatNamesBoth(t *testing.T) {
	cert, _ := certificate(t)
	_, key := certificate(t)
	_, err := tlsOf(Web{TLSCertificate: cert, TLSKey: key})
	require.ErrorContains(t, err, "web.tls_certificate: "+cert)
	require.ErrorContains(t, err, key)
	_, err = tlsOf(Web{TLSCertificate: cert, TLSKey: "none.pem"})
	require.ErrorContains(t, err, "web.tls_key: none.pem: no such file")
	garbage := filepath.Join(t.TempDir(), "garbage.pem")
	require.NoError(t, os.WriteFile(garbage, []byte("garbage"), 0o600))
	_, err = tlsOf(Web{TLSCertificate: garbage, TLSKey: garbage})
	require.ErrorContains(t, err, garbage)
}
