package firmwareconfig_test

import (
	"compress/gzip"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheShellAcceptsThePackagesScripts(t *testing.T) {
	for shell, pattern := range map[string]string{"sh": "package/scripts/*", "bash": "package/[bertv]*"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.Len(t, files, map[string]int{"sh": 4, "bash": 6}[shell], "%v", files)
		for _, file := range files {
			out, err := exec.Command(tool(t, shell), "-n", file).CombinedOutput()
			assert.NoError(t, err, "%s", out)
		}
	}
}

// A package has the manual page and completions that its own program makes, and they name the program
// where the package puts it.
func TestAPackageHasTheManualAndCompletions(t *testing.T) {
	tool(t, "bash")
	stage := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(stage, "usr/bin"), 0o755))
	fake := "#!/bin/sh\necho \"$*, says $0\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(stage, "usr/bin/sightline"), []byte(fake), 0o700))
	out, err := exec.Command("package/extras", stage).CombinedOutput()
	require.NoError(t, err, "%s", out)
	const says = ", says /usr/bin/sightline\n"
	for file, want := range map[string]string{
		"bash-completion/completions/sightline":    "completion -c bash" + says,
		"fish/vendor_completions.d/sightline.fish": "completion -c fish" + says,
		"zsh/vendor-completions/_sightline": "#compdef sightline\ncompletion -c zsh" + says +
			"_bash_complete -o default -o bashdefault -C /usr/bin/sightline \"$@\"\n",
	} {
		got, err := os.ReadFile(filepath.Join(stage, "usr/share", file))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), file)
	}
	f, err := os.Open(filepath.Join(stage, "usr/share/man/man1/sightline.1.gz"))
	require.NoError(t, err)
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	assert.True(t, zipped.ModTime.IsZero() && zipped.Name == "", "the same program gives the same bytes")
	page, err := io.ReadAll(zipped)
	require.NoError(t, err)
	assert.Equal(t, "man"+says, string(page))

	build, err := os.ReadFile("package/build")
	require.NoError(t, err)
	assert.Contains(t, string(build), "\n\"$here/extras\" \"$stage\"\n", "every package has them")
}

// A purge leaves the players' record, the table's and a hall's, and nothing else: no key, no calibration.
func TestAPurgeKeepsThePlayersRecord(t *testing.T) {
	sh := tool(t, "sh")
	script, err := os.ReadFile("package/scripts/postrm")
	require.NoError(t, err)
	path := t.TempDir() // nothing of this system's own is asked
	for _, name := range []string{"rm", "rmdir", "find"} {
		require.NoError(t, os.Symlink(tool(t, name), filepath.Join(path, name)))
	}
	purge := func(dir string) string {
		own := strings.NewReplacer("/var/lib/sightline", dir+"/state", "/etc/sightline", dir+"/etc").Replace(string(script))
		c := exec.Command(sh, "-c", own, "postrm", "purge")
		c.Env = []string{"PATH=" + path}
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.ReplaceAll(string(out), dir+"/state/", "")
	}
	lay := func(files ...string) string {
		dir := t.TempDir()
		for _, f := range files {
			path := filepath.Join(dir, "state", f)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(f), 0o600))
		}
		return dir
	}
	left := func(dir string) (out []string) {
		_ = filepath.WalkDir(filepath.Join(dir, "state"), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				out = append(out, strings.TrimPrefix(path, dir+"/state/"))
			}
			return nil
		})
		return out
	}
	keys := []string{"rulings.key", "pairing.key", "judge-secret", "hall.cursor", ".hidden", "lens.json", "registration.json",
		"projector.json", "calibration/looks/xwing.json", "hall/broker.pem", "hall/hall.seed"}
	keys = append(keys, "hall-of-2025/broker.pem", "hall-of-2025/hall.seed")
	record := []string{"games/1.json", "hall/jetstream/R/1.blk", "hall/tables.json", "hall-of-2025/jetstream/R/1.blk", "lost+found/a",
		"rulings/files/a.png", "rulings/rulings.db", "rulings-of-sunday/rulings.db", "the club's/rulings.db.v1"}
	dir := lay(append(keys, record...)...)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "etc"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "etc/hall.invitation"), nil, 0o600))
	assert.Contains(t, purge(dir), "kept games hall hall-of-2025 rulings rulings-of-sunday the club's; remove them by hand")
	assert.ElementsMatch(t, record, left(dir))
	assert.NoDirExists(t, filepath.Join(dir, "etc"), "an invitation is a key")
	keys = keys[:len(keys)-2]
	dir = lay(keys...)
	assert.Empty(t, purge(dir))
	assert.NoDirExists(t, filepath.Join(dir, "state"))
}

// The announced port is the one that the shipped configuration serves the page at.
func TestTheAnnouncedPortIsThePages(t *testing.T) {
	raw, err := os.ReadFile("avahi/sightline.service")
	require.NoError(t, err)
	var group struct {
		Service struct {
			Type string `xml:"type"`
			Port string `xml:"port"`
		} `xml:"service"`
	}
	require.NoError(t, xml.Unmarshal(raw, &group))
	assert.Equal(t, "_http._tcp", group.Service.Type)
	config, err := os.ReadFile("sightline.toml")
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^listen = ":(\d+)"`).FindSubmatch(config)
	require.NotNil(t, m)
	assert.Equal(t, string(m[1]), group.Service.Port)
}

// What firmware-config/install lays down outside /etc/sightline hides the package's files:
// preinst puts all of it aside.
func TestAManualInstallationIsSetAsideComplete(t *testing.T) {
	tool(t, "install")
	root := t.TempDir()
	binary := filepath.Join(t.TempDir(), "sightline")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o700))
	c := exec.Command("./install")
	c.Env = append(os.Environ(), "DESTDIR="+root, "SIGHTLINE_BINARY="+binary)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	script, err := os.ReadFile("package/scripts/preinst")
	require.NoError(t, err)
	n := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		name := strings.TrimPrefix(path, root)
		if err == nil && !d.IsDir() && !strings.HasPrefix(name, "/etc/sightline/") {
			assert.Contains(t, string(script), name)
			n++
		}
		return err
	}))
	assert.Equal(t, 5, n)

	// It is done twice, and the first one stays; a service that starts with the system still does.
	wants := filepath.Join(root, "etc/systemd/system/multi-user.target.wants/sightline.service")
	unit := filepath.Join(root, "etc/systemd/system/sightline.service")
	require.NoError(t, os.MkdirAll(filepath.Dir(wants), 0o755))
	require.NoError(t, os.Symlink(unit, wants))
	own := strings.NewReplacer("/usr/local/", root+"/usr/local/", "/etc/", root+"/etc/").Replace(string(script))
	for _, text := range []string{"the first", "the second"} {
		require.NoError(t, os.WriteFile(unit, []byte(text), 0o600))
		out, err := exec.Command(tool(t, "sh"), "-c", own, "preinst", "upgrade").CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.NoFileExists(t, unit)
	}
	for name, want := range map[string]string{".before-package.~1~": "the first", ".before-package": "the second"} {
		got, err := os.ReadFile(unit + name)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	to, err := os.Readlink(wants)
	require.NoError(t, err)
	assert.Equal(t, "/usr/lib/systemd/system/sightline.service", to)
}

func TestTheVersionOfAPackage(t *testing.T) {
	git := tool(t, "git")
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "firmware-config/package"), 0o755))
	script, err := os.ReadFile("package/version")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "firmware-config/package/version"), script, 0o700))
	change := filepath.Join(dir, "CHANGELOG.md")
	run := func(name string, args ...string) (string, error) {
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-11-22T10:00:00Z", "GIT_COMMITTER_DATE=2026-11-22T10:00:00Z",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_COMMITTER_NAME=a", "EMAIL=a@example.org", "SOURCE_DATE_EPOCH=")
		out, err := c.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	commit := func(text string) {
		require.NoError(t, os.WriteFile(change, []byte(text), 0o600))
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", text}} {
			out, err := run(git, args...)
			require.NoError(t, err, out)
		}
	}
	version := func() string {
		out, err := run("firmware-config/package/version")
		require.NoError(t, err, out)
		return regexp.MustCompile(`g[0-9a-f]{8}`).ReplaceAllString(out, "gHASH")
	}
	_, err = run(git, "init", "-q")
	require.NoError(t, err)
	commit("## [Unreleased]\n")
	assert.Equal(t, "0~20261122.1.gHASH 1795341600", version())
	_, err = run(git, "tag", "v0.3.0")
	require.NoError(t, err)
	out, err := run("firmware-config/package/version")
	require.Error(t, err)
	assert.Contains(t, out, "CHANGELOG.md has no section [0.3.0]")
	commit("## [0.3.1]\n")
	assert.Equal(t, "0.3.0+1.gHASH 1795341600", version())
	_, err = run(git, "tag", "v0.3.1")
	require.NoError(t, err)
	assert.Equal(t, "0.3.1 1795341600", version())
	require.NoError(t, os.WriteFile(change, []byte("changed\n"), 0o600))
	assert.Equal(t, "0.3.1+0.gHASH.dirty 1795341600", version())

	// Each is newer than the one before, as dpkg orders them.
	older := []string{"0~20261122.1.gffffffff", "0~20261123.2.g00000000", "0.3.0~deb12u1", "0.3.0~deb13u1", "0.3.0+1.gffffffff~deb13u1",
		"0.3.0+12.g00000000~deb12u1", "0.3.1~deb12u1"}
	dpkg := tool(t, "dpkg")
	for i := range older[1:] {
		assert.NoError(t, exec.Command(dpkg, "--compare-versions", older[i], "lt", older[i+1]).Run(), "%s < %s", older[i], older[i+1])
	}
}
