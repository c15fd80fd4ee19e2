//go:build opencv

package main

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/commandtest"
)

// claimedPNG is a PNG file whose header claims a size and whose picture is missing.
func claimedPNG(t *testing.T, width, height uint32) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
		content := append([]byte(kind), data...)
		b.Write(content)
		b.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(content)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(head, 8, 2, 0, 0, 0))
	chunk("IEND", nil)
	path := filepath.Join(t.TempDir(), "claimed.png")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

func TestBadInputIsOneLineAndNothingOnStandardOutput(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	picture, lensFile, _ := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	table := at("table.json")
	code, _, stderr := called(t, "calibrate", "table", "--lens", lensFile, "-o", table, picture)
	require.Zero(t, code, stderr)
	raw, err := os.ReadFile(table)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(at("half.json"), raw[:len(raw)/2], 0o600))
	require.NoError(t, os.Symlink("nowhere", at("dangling.json")))
	require.NoError(t, os.WriteFile(at("scene.json"), []byte(`{"version":1,"rules":"2.5","ships":[],"fog":1}`), 0o600))
	require.NoError(t, os.WriteFile(at("bad.toml"), []byte("[camera]\nsauce = 1\n"), 0o600))
	odd := at("odd\x1b[31m\nname.jpg")
	for _, c := range []struct {
		args []string
		want []string // what the line must name
	}{
		{[]string{"locate", "--json", "--calibration", table, "-", "-"}, []string{"-:", "once"}},
		{[]string{"locate", "--json", "--calibration", table, claimedPNG(t, 1e6, 1e6)}, []string{"claimed.png", "1000000×1000000", "at most"}},
		{[]string{"locate", "--json", "--calibration", table, claimedPNG(t, 0, 5)}, []string{"claimed.png", "0×5", "expected"}},
		{[]string{"locate", "--json", "--calibration", table, "/dev/zero"}, []string{"/dev/zero", "a device, expected a file"}},
		{[]string{"locate", "--json", "--calibration", table, odd}, []string{"name.jpg", "no such file"}},
		{[]string{"locate", "--json", "--calibration", at("half.json"), picture}, []string{"half.json", "it ends in the middle"}},
		{[]string{"locate", "--json", "--calibration", at("dangling.json"), picture}, []string{"dangling.json", "no such file"}},
		{[]string{"locate", "--json", "--calibration", dir, picture}, []string{dir, "directory"}},
		{[]string{"locate", "--json", "--calibration", "/dev/zero", picture}, []string{"/dev/zero", "a device, expected a file"}},
		{[]string{"locate", "--json", "--calibration", lensFile, picture}, []string{"lens.json", "table calibration"}},
		{[]string{"calibrate", "table", "--json", "--lens", lensFile, "-o", "-", picture}, []string{`-o "-"`, "file"}},
		{[]string{"calibrate", "table", "--json", "--lens", "/dev/zero", "-o", at("x.json"), picture}, []string{"/dev/zero", "expected"}},
		{[]string{"measure", "--json", at("scene.json")}, []string{"scene.json", "fog", "unknown key"}},
		{[]string{"measure", "--json", "--sigmas=NaN", at("scene.json")}, []string{"scene.json"}},
		{[]string{"run", "--config", dir}, []string{dir, "directory"}},
		{[]string{"run", "--config", "/dev/zero"}, []string{"/dev/zero", "a device, expected a file"}},
		{[]string{"run", "--config", at("dangling.json")}, []string{"dangling.json", "no such file"}},
		{[]string{"run", "--config", at("bad.toml")}, []string{"bad.toml", "line 2", "camera.sauce"}},
		{[]string{"run", "--listen", "localhost:0", "--source", "sim:wide"}, []string{"sim:wide", "expected"}},
		{[]string{"run", "--listen", "localhost:0", "--source", "ftp://camera/"}, []string{"ftp:", "expected http"}},
		{[]string{"run", "--listen", "localhost:0", "--calibration", at("half.json")}, []string{"half.json", "it ends in the middle"}},
		{[]string{"print", "tokens", "-o", "/dev/full", "--format", "pdf"}, []string{"/dev/full", "no space"}},
		{[]string{"print", "tokens", "-o", at("no/x.pdf")}, []string{"no/x.pdf", "no such file"}},
		{[]string{"mesure"}, []string{"mesure"}},
	} {
		code, stdout, stderr := called(t, c.args...)
		assert.Equal(t, 2, code, "%v: %s", c.args, stderr)
		assert.Empty(t, stdout, "%v", c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "%v: %s", c.args, stderr)
		assert.NotContains(t, stderr, "\x1b", "%v", c.args)
		for _, w := range c.want {
			assert.Contains(t, stderr, w, "%v", c.args)
		}
	}
	assert.NoFileExists(t, at("x.json"))
	assert.NoFileExists(t, "-")
}

// A focal length that is far off bends the markers away from where they lie. The
// program must not settle on the three that fit it by chance.
func TestALensThatIsNotThisCamerasGivesNoCalibration(t *testing.T) {
	dir := t.TempDir()
	picture, lensFile, _ := commandtest.EmptyTable(t, dir, calibration.DefaultLayout(calibration.MatSide, calibration.MatSide))
	in, _, err := lens.Load(lensFile)
	require.NoError(t, err)
	in.Distortion = [5]float64{0.4, 0.2}
	wrong, out := filepath.Join(dir, "wrong.json"), filepath.Join(dir, "out.json")
	require.NoError(t, lens.Save(wrong, in))
	code, stdout, stderr := called(t, "calibrate", "table", "--lens", wrong, "-o", out, "--json", picture)
	assert.Equal(t, 1, code, stderr)
	assert.Empty(t, stdout)
	assert.Contains(t, commandtest.LastLine(stderr), "contradict")
	assert.NoFileExists(t, out)
}
