package lens_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/lens"
)

// lensOn writes raw under a name and loads it as a lens.
func lensOn(t *testing.T, name string, raw []byte) (calibration.Intrinsics, lens.FileInfo, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	return lens.Load(path)
}

func savedLens(t *testing.T, name string, in calibration.Intrinsics) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, lens.Save(path, in))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return raw
}

// tableFromAbove is a table under a camera 1250 mm above the mat's middle.
func tableFromAbove() calibration.Table {
	t := calibration.Table{Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), RMS: 0.07, ScaleSigma: 0.0003}
	t.Intrinsics = calibratedLens()
	t.Extrinsics = calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-457.2, 457.2, 1250}}
	t.Used = []int{0, 1, 2, 4, 5, 6, 7}
	return t
}

func tableFile(t *testing.T) []byte {
	t.Helper()
	table := tableFromAbove()
	raw, err := calibration.MarshalTable(&table)
	require.NoError(t, err)
	return raw
}

func TestAFileThatWasChangedByHandIsNamed(t *testing.T) {
	raw := tableFile(t)
	table, err := calibration.ParseTableFile(raw)
	require.NoError(t, err)
	assert.Equal(t, calibration.Intact, table.Integrity)
	assert.Contains(t, string(raw), table.Hash, "the file says the hash that the program names")

	edited, err := calibration.ParseTableFile(replaced(t, raw, `"scale_sigma": 0.0003`, `"scale_sigma": 0.0001`))
	require.NoError(t, err)
	assert.Equal(t, calibration.Edited, edited.Integrity)
	assert.NotEqual(t, table.Hash, edited.Hash, "and it is not taken for the measured one")
	assert.Contains(t, edited.Integrity.String(), "changed by hand")

	for _, name := range []string{"lens.json", "lens.yaml"} {
		raw := savedLens(t, name, calibratedLens())
		_, info, err := lensOn(t, name, raw)
		require.NoError(t, err)
		assert.Equal(t, calibration.Intact, info.Integrity, name)
		_, info, err = lensOn(t, name, replaced(t, raw, "1225.5", "1225.6"))
		require.NoError(t, err)
		assert.Equal(t, calibration.Edited, info.Integrity, name)
	}
}

func TestAnOlderFileWithoutAHashLoads(t *testing.T) {
	raw := tableFile(t)
	table, err := calibration.ParseTableFile(raw)
	require.NoError(t, err)
	older, err := calibration.ParseTableFile(replaced(t, raw, fmt.Sprintf("  \"hash\": %q,\n", table.Hash), ""))
	require.NoError(t, err)
	assert.Equal(t, calibration.Unsealed, older.Integrity)
	assert.Equal(t, table.Hash, older.Hash, "it says the same")
	_, info, err := lensOn(t, "ros.yaml", []byte(rosYAML))
	require.NoError(t, err)
	assert.Equal(t, calibration.Unsealed, info.Integrity)
}

func TestHowAFileIsWrittenDoesNotChangeItsHash(t *testing.T) {
	raw := tableFile(t)
	table, err := calibration.ParseTableFile(raw)
	require.NoError(t, err)
	var content map[string]any
	require.NoError(t, json.Unmarshal(raw, &content))
	tight, err := json.Marshal(content) // other spaces, sorted keys
	require.NoError(t, err)
	again, err := calibration.ParseTableFile(tight)
	require.NoError(t, err)
	assert.Equal(t, calibration.Intact, again.Integrity)
	assert.Equal(t, table.Hash, again.Hash)

	rng := rand.New(rand.NewPCG(1, 2))
	for range 15 { // JSON and YAML of one lens have one hash, whatever its figures
		in := calibratedLens()
		in.Fx *= 1 + rng.Float64()
		in.Distortion = [5]float64{rng.NormFloat64(), math.Copysign(0, -1), 1e-21 * rng.Float64(), 1, 0}
		in.Distortion[0] *= 1e-3
		if in.Validate() != nil {
			continue
		}
		_, a, err := lensOn(t, "a.json", savedLens(t, "a.json", in))
		require.NoError(t, err)
		_, b, err := lensOn(t, "a.yaml", savedLens(t, "a.yaml", in))
		require.NoError(t, err)
		assert.Equal(t, a, b)
		assert.Equal(t, calibration.Intact, a.Integrity)
	}
}

// loaders load each kind of file from its bytes and say what it says.
func loaders(t *testing.T) map[string]struct {
	raw  []byte
	load func([]byte) (string, calibration.Integrity, error)
} {
	type loader = struct {
		raw  []byte
		load func([]byte) (string, calibration.Integrity, error)
	}
	path := t.TempDir()
	lens := func(name string) func([]byte) (string, calibration.Integrity, error) {
		return func(raw []byte) (string, calibration.Integrity, error) {
			file := filepath.Join(path, name)
			if err := os.WriteFile(file, raw, 0o600); err != nil {
				return "", 0, err
			}
			in, info, err := lens.Load(file)
			return fmt.Sprint(in), info.Integrity, err
		}
	}
	return map[string]loader{
		"table": {tableFile(t), func(raw []byte) (string, calibration.Integrity, error) {
			table, err := calibration.ParseTableFile(raw)
			i := table.Integrity
			table.Integrity, table.Hash = 0, ""
			return fmt.Sprint(table), i, err
		}},
		"lens.json": {savedLens(t, "lens.json", calibratedLens()), lens("lens.json")},
		"lens.yaml": {savedLens(t, "lens.yaml", calibratedLens()), lens("lens.yaml")},
	}
}

func TestAFileThatIsCutOffAnywhereIsRefused(t *testing.T) {
	for name, l := range loaders(t) {
		_, _, err := l.load(l.raw)
		require.NoError(t, err, name)
		body := strings.TrimRight(string(l.raw), "\n")
		step := 1 // every prefix
		if testing.Short() {
			step = 11
		}
		for n := 0; n < len(body); n += step {
			if _, _, err := l.load(l.raw[:n]); assert.Error(t, err, "%s: the first %d of %d bytes", name, n, len(body)) {
				require.NotContains(t, err.Error(), "\n", name)
			}
		}
	}
}

func TestAFlippedByteIsNeverTakenForWhatWasMeasured(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	flips := 4000
	if testing.Short() {
		flips = 300
	}
	for name, l := range loaders(t) {
		says, _, err := l.load(l.raw)
		require.NoError(t, err)
		refused, edited := 0, 0
		for range flips {
			raw := append([]byte(nil), l.raw...)
			for range 1 + rng.IntN(2) {
				raw[rng.IntN(len(raw))] ^= 1 << rng.IntN(8)
			}
			now, integrity, err := l.load(raw)
			switch {
			case err != nil:
				refused++
				require.NotContains(t, err.Error(), "\n", name)
			case integrity != calibration.Intact:
				edited++
			case now != says:
				t.Fatalf("%s: taken for intact:\n%s\nwas\n%s", name, raw, l.raw)
			}
		}
		t.Logf("%s: %d refused, %d named as changed, of %d", name, refused, edited, flips)
		assert.Positive(t, refused)
		assert.Positive(t, edited)
	}
}

func TestAForeignFileIsRefusedInOneLine(t *testing.T) {
	table := tableFile(t)
	for name, raw := range map[string][]byte{
		"a picture": {0xff, 0xd8, 0xff, 0xe0, 0, 16}, "zeros": make([]byte, 4096), "a list": []byte("[1, 2]"), "null": []byte("null"),
		"a scene": []byte(`{"version":1,"rules":"2.5","ships":[]}`), "text": []byte("hello\n"), "a number": []byte("7"),
	} {
		_, err := calibration.ParseTableFile(raw)
		if assert.Error(t, err, name) {
			assert.NotContains(t, err.Error(), "\n", name)
		}
		for _, file := range []string{"lens.json", "lens.yaml"} {
			_, _, err := lensOn(t, file, raw)
			if assert.Error(t, err, "%s as %s", name, file) {
				assert.NotContains(t, err.Error(), "\n", name)
			}
		}
	}
	_, _, err := lensOn(t, "lens.json", table)
	assert.ErrorContains(t, err, "table calibration")
	_, err = calibration.ParseTableFile(savedLens(t, "lens.json", calibratedLens()))
	assert.ErrorContains(t, err, "lens file")
}

// FuzzFlippedTable changes a table's file at will: what is still taken for intact says
// what the file said.
func FuzzFlippedTable(f *testing.F) {
	table := tableFromAbove()
	raw, err := calibration.MarshalTable(&table)
	if err != nil {
		f.Fatal(err)
	}
	says, err := calibration.ParseTableFile(raw)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(100), uint8(1), uint16(0), uint8(0))
	f.Add(uint16(3), uint8(32), uint16(900), uint8(4))
	f.Fuzz(func(t *testing.T, a uint16, x uint8, b uint16, y uint8) {
		changed := append([]byte(nil), raw...)
		changed[int(a)%len(raw)] ^= x
		changed[int(b)%len(raw)] ^= y
		now, err := calibration.ParseTableFile(changed)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
			return
		}
		if now.Integrity == calibration.Intact && fmt.Sprint(now) != fmt.Sprint(says) {
			t.Errorf("taken for intact: %s", changed)
		}
	})
}
