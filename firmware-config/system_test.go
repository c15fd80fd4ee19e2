package firmwareconfig_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	firmwareconfig "sightline/firmware-config"
)

// lines returns a file's lines without comments and empty ones.
func lines(t *testing.T, path string) []string {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []string
	for _, l := range strings.Split(string(raw), "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

// tool returns a system program's path, or skips the test.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed here", name)
	}
	return path
}

// unit reads a systemd unit: every value of every key, by "Section.Key".
func unit(t *testing.T, path string) map[string][]string {
	t.Helper()
	values, section := map[string][]string{}, ""
	for _, l := range lines(t, path) {
		if name, ok := strings.CutPrefix(l, "["); ok {
			section = strings.TrimSuffix(name, "]")
			continue
		}
		key, value, ok := strings.Cut(l, "=")
		require.True(t, ok, "%s: %q is no key and value", path, l)
		values[section+"."+key] = append(values[section+"."+key], value)
	}
	return values
}

const service = "systemd/sightline.service"

func TestTheServiceIsWatchedBoundedAndWithoutRoot(t *testing.T) {
	u := unit(t, service)
	for key, want := range map[string]string{
		"Service.Type": "notify", "Service.NotifyAccess": "main", "Service.Restart": "always", "Service.User": "sightline",
		"Service.ProtectSystem": "strict", "Service.StateDirectory": "sightline", "Service.WorkingDirectory": "/var/lib/sightline",
		"Service.NoNewPrivileges": "yes", "Service.CapabilityBoundingSet": "", "Service.DevicePolicy": "closed",
		"Unit.StartLimitIntervalSec": "0", "Install.WantedBy": "multi-user.target",
	} {
		assert.Equal(t, []string{want}, u[key], key)
	}
	watchdog, err := strconv.Atoi(u["Service.WatchdogSec"][0])
	require.NoError(t, err)
	assert.GreaterOrEqual(t, watchdog, 20, "a slow board registers the camera in seconds")
	stop, err := strconv.Atoi(u["Service.TimeoutStopSec"][0])
	require.NoError(t, err)
	assert.Greater(t, stop, 8, "longer than the program's own stopWithin")
	assert.NotEmpty(t, u["Service.MemoryMax"])
	assert.Equal(t, []string{"-/usr/local/bin/sightline doctor dark --config /etc/sightline/sightline.toml"}, u["Service.ExecStopPost"],
		"a kill leaves no lamp lying")
	assert.Contains(t, u["Service.ExecStart"][0], "--config /etc/sightline/sightline.toml")
	for _, device := range []string{"char-gpiochip rw", "char-i2c rw", "char-spi rw", "char-video4linux rw"} {
		assert.Contains(t, u["Service.DeviceAllow"], device)
	}
}

// systemd itself reads the unit. The program is not installed where tests run.
func TestSystemdAcceptsTheService(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	raw, err := os.ReadFile(service)
	require.NoError(t, err)
	stand := filepath.Join(t.TempDir(), "sightline.service")
	require.NoError(t, os.WriteFile(stand, bytes.ReplaceAll(raw, []byte("/usr/local/bin/sightline"), []byte("/bin/true")), 0o600))
	out, err := exec.Command(analyze, "verify", "--man=no", stand).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Empty(t, string(out), "no warning either")

	bad := bytes.ReplaceAll(raw, []byte("WatchdogSec=30"), []byte("WatchdogSec=soon\nWatchdogTime=1"))
	require.NoError(t, os.WriteFile(stand, bytes.ReplaceAll(bad, []byte("/usr/local/bin/sightline"), []byte("/bin/true")), 0o600))
	out, _ = exec.Command(analyze, "verify", "--man=no", stand).CombinedOutput()
	assert.Contains(t, string(out), "soon", "this test can fail")
}

// mostExposed is what systemd-analyze 252 gives the service, rounded up: 0 is shut in,
// 10 may do everything. A service without any of this has 9.6.
const mostExposed = 2.0

func TestTheServiceIsSandboxed(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	path, err := filepath.Abs(service)
	require.NoError(t, err)
	out, err := exec.Command(analyze, "security", "--offline=true", "--no-pager", path).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "exposure level") {
		t.Skipf("this systemd-analyze cannot judge a file: %s", out)
	}
	m := regexp.MustCompile(`exposure level for sightline.service: ([0-9.]+)`).FindSubmatch(out)
	require.NotNil(t, m, "%s", out)
	score, err := strconv.ParseFloat(string(m[1]), 64)
	require.NoError(t, err)
	t.Logf("exposure %.1f", score)
	assert.LessOrEqual(t, score, mostExposed)
}

// The groups that the service runs with are those that own the devices, and all of
// them are made.
func TestGroupsAgreeBetweenServiceUsersAndRules(t *testing.T) {
	made, member := map[string]bool{}, map[string]bool{}
	for _, l := range lines(t, "sysusers.d/sightline.conf") {
		switch f := strings.Fields(l); f[0] {
		case "g":
			made[f[1]] = true
		case "m":
			require.Equal(t, "sightline", f[1])
			member[f[2]] = true
		case "u":
			require.Equal(t, "sightline", f[1])
		default:
			t.Errorf("unknown line %q", l)
		}
	}
	assert.Equal(t, made, member)
	for _, g := range strings.Fields(unit(t, service)["Service.SupplementaryGroups"][0]) {
		assert.True(t, made[g], "group %s is made", g)
	}
	assignment := regexp.MustCompile(`^(SUBSYSTEM|KERNEL|GROUP|MODE)(==|=)"([^"]+)"$`)
	for _, l := range lines(t, "udev/70-sightline.rules") {
		keys := map[string]string{}
		for _, part := range strings.Split(l, ", ") {
			m := assignment.FindStringSubmatch(part)
			require.NotNil(t, m, "%q in %q", part, l)
			assert.Equal(t, m[1] == "SUBSYSTEM" || m[1] == "KERNEL", m[2] == "==", "matches compare, the rest assigns: %q", part)
			keys[m[1]] = m[3]
		}
		assert.True(t, made[keys["GROUP"]], "%q: the group is made", l)
		assert.Equal(t, "0660", keys["MODE"], "%q: nobody else", l)
	}
}

func TestUdevAcceptsTheRules(t *testing.T) {
	udevadm := tool(t, "udevadm")
	out, err := exec.Command(udevadm, "verify", "udev/70-sightline.rules").CombinedOutput()
	if err != nil && bytes.Contains(out, []byte("Unknown command")) {
		t.Skip("this udevadm has no verify (it came with systemd 254)")
	}
	require.NoError(t, err, "%s", out)
}

// The installation, laid into an empty directory, with systemd's own programs making
// the user and the directories there.
func TestTheInstallationIsWholeAndKeepsWhatTheUserChanged(t *testing.T) {
	root := t.TempDir()
	binary := filepath.Join(t.TempDir(), "sightline")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\n"), 0o700))
	lay := func() string {
		cmd := exec.Command("./install")
		cmd.Env = append(os.Environ(), "DESTDIR="+root, "SIGHTLINE_BINARY="+binary)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	lay()
	for _, f := range []string{"usr/local/bin/sightline", "etc/systemd/system/sightline.service", "etc/sightline/sightline.toml",
		"etc/sightline/board.toml", "etc/udev/rules.d/70-sightline.rules"} {
		assert.FileExists(t, filepath.Join(root, f))
	}
	config := filepath.Join(root, "etc/sightline/sightline.toml")
	require.NoError(t, os.WriteFile(config, []byte("# mine\n"), 0o600))
	assert.Contains(t, lay(), "kept /etc/sightline/sightline.toml")
	kept, err := os.ReadFile(config)
	require.NoError(t, err)
	assert.Equal(t, "# mine\n", string(kept))
	assert.NoFileExists(t, filepath.Join(root, "etc/sightline/board.toml.new"), "that one was not changed")

	sysusers, tmpfiles := tool(t, "systemd-sysusers"), tool(t, "systemd-tmpfiles")
	out, err := exec.Command(sysusers, "--root="+root, "sightline.conf").CombinedOutput()
	if err != nil && os.Getuid() != 0 {
		t.Skipf("only root may make users, even in a directory: %s", out)
	}
	require.NoError(t, err, "%s", out)
	groups, err := os.ReadFile(filepath.Join(root, "etc/group"))
	require.NoError(t, err)
	for _, g := range []string{"gpio", "i2c", "spi", "video"} {
		assert.Regexp(t, `(?m)^`+g+`:[^:]*:[0-9]+:sightline$`, string(groups))
	}
	if out, err = exec.Command(tmpfiles, "--create", "--root="+root, "sightline.conf").CombinedOutput(); err != nil {
		t.Skipf("systemd-tmpfiles cannot work in a directory here: %s", out)
	}
	assert.DirExists(t, filepath.Join(root, "var/lib/sightline"))
}

// What the fragments for config.txt may say: the keys of Raspberry Pi's documentation
// (config.txt, and dtparams of the base device tree).
var bootKeys = map[string]*regexp.Regexp{
	"dtparam":            regexp.MustCompile(`^(i2c_arm=on|i2c_arm_baudrate=[0-9]+|spi=on|watchdog=on)$`),
	"camera_auto_detect": regexp.MustCompile(`^1$`),
	"core_freq":          regexp.MustCompile(`^(250|500)$`),
	"core_freq_min":      regexp.MustCompile(`^(250|500)$`),
}

func TestBootFragmentsAreForTheirBoardsOnlyAndTurnOnWhatTheBoardFileUses(t *testing.T) {
	filters := map[string]string{"pi3": "[pi3]", "pi4": "[pi4]", "pi5": "[pi5]", "zero2w": "[pi02]"}
	files, err := filepath.Glob("boot/*.txt")
	require.NoError(t, err)
	require.Len(t, files, len(filters))
	optional := regexp.MustCompile(`(?m)^#([a-z_]+=\S+)$`)
	for _, f := range files {
		all := lines(t, f)
		assert.Equal(t, filters[strings.TrimSuffix(filepath.Base(f), ".txt")], all[0], f)
		assert.Equal(t, "[all]", all[len(all)-1], "%s: what follows is for every board", f)
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		settings := append([]string{}, all[1:len(all)-1]...)
		for _, m := range optional.FindAllStringSubmatch(string(raw), -1) {
			settings = append(settings, m[1])
		}
		for _, l := range settings {
			key, value, _ := strings.Cut(l, "=")
			require.Contains(t, bootKeys, key, "%s: %q", f, l)
			assert.Regexp(t, bootKeys[key], value, "%s: %q", f, l)
			assert.LessOrEqual(t, len(l), 98, "%s: the firmware cuts longer lines", f)
		}
		assert.Equal(t, "I2C1", firmwareconfig.Default().Display.Bus)
		assert.Contains(t, all, "dtparam=i2c_arm=on", f)
		assert.Contains(t, settings, "dtparam=spi=on", f)
	}
}
