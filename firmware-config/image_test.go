package firmwareconfig_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	firmwareconfig "sightline/firmware-config"
)

// TestTheImageIsBuiltAsPiGenDoesIt: build lays stage and settings into a checkout of pi-gen and starts
// it, and the stage runs as pi-gen runs it, with commands that only note how they were called.
func TestTheImageIsBuiltAsPiGenDoesIt(t *testing.T) {
	bash := tool(t, "bash")
	gen, bin, rootfs := t.TempDir(), t.TempDir(), t.TempDir()
	called := filepath.Join(t.TempDir(), "called")
	for _, name := range []string{"apt-get", "sightline", "rm"} {
		script := "#!/bin/sh\necho " + name + " \"$@\" >>" + called + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700))
	}
	arch := filepath.Join(bin, "arch")
	require.NoError(t, os.WriteFile(filepath.Join(bin, "dpkg-deb"), []byte("#!/bin/sh\ncat "+arch+"\n"), 0o700))
	deb := filepath.Join(t.TempDir(), "sightline_1_arm64.deb")
	require.NoError(t, os.WriteFile(deb, []byte("a package"), 0o600))
	for _, stage := range []string{"stage2", "stage3", "stage4", "stage5"} {
		require.NoError(t, os.Mkdir(filepath.Join(gen, stage), 0o755))
	}
	// As pi-gen's build.sh: it reads its settings, then runs each stage in its own folder.
	require.NoError(t, os.WriteFile(filepath.Join(gen, "build.sh"), []byte(`#!/bin/bash -e
source config
echo "$IMG_NAME $RELEASE $STAGE_LIST"
on_chroot() { PATH=`+bin+`:$PATH bash -e; }
copy_previous() { mkdir -p "$ROOTFS_DIR/root"; }
export -f on_chroot copy_previous
export ROOTFS_DIR=`+rootfs+`/rootfs
cd stage-sightline
[ -f EXPORT_IMAGE ] && source EXPORT_IMAGE
./prerun.sh
cd 00-sightline
./00-run.sh
`), 0o700))
	build := func() (string, error) {
		c := exec.Command(bash, "image/build", gen, deb)
		c.Env = append(os.Environ(), "PATH="+filepath.Join(bin, "only")+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	require.NoError(t, os.Mkdir(filepath.Join(bin, "only"), 0o755)) // build itself removes files, and asks dpkg-deb
	require.NoError(t, os.Rename(filepath.Join(bin, "dpkg-deb"), filepath.Join(bin, "only/dpkg-deb")))

	require.NoError(t, os.WriteFile(arch, []byte("amd64"), 0o600))
	out, err := build()
	require.Error(t, err)
	assert.Contains(t, out, "is not for arm64")
	require.NoError(t, os.WriteFile(arch, []byte("arm64"), 0o600))
	for range 2 { // a second time on the same checkout, too
		require.NoError(t, os.RemoveAll(called))
		out, err = build()
		require.NoError(t, err, out)
		assert.Contains(t, out, "sightline trixie stage0 stage1 stage2 stage-sightline\n")
		raw, err := os.ReadFile(called)
		require.NoError(t, err)
		want := []string{"apt-get install -y /root/sightline.deb", "rm /root/sightline.deb"}
		for _, model := range firmwareconfig.Models() {
			want = append(want, "sightline setup-board --model "+model)
		}
		want = append(want, "rm -f /boot/firmware/config.txt.before-sightline")
		assert.Equal(t, want, strings.Split(strings.TrimSpace(string(raw)), "\n"))
		laid, err := os.ReadFile(filepath.Join(rootfs, "rootfs/root/sightline.deb"))
		require.NoError(t, err)
		assert.Equal(t, "a package", string(laid))
	}
	assert.NoFileExists(t, filepath.Join(gen, "stage-sightline/SKIP"))
	assert.FileExists(t, filepath.Join(gen, "stage2/SKIP_IMAGES"), "Raspberry Pi OS Lite itself makes no image")
}
