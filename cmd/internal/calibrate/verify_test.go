//go:build opencv

package calibrate

import (
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/commandtest"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
	"sightline/vision/token"
)

// verifyRig is a simulated table with the check card laid at several places, and its
// calibration by the program itself.
type verifyRig struct {
	dir, table string
	pictures   []string
}

// newVerifyRig renders the card at five places: the strips at the heights of paper on
// the mat and on bases.
func newVerifyRig(t *testing.T, places int) verifyRig {
	t.Helper()
	r := verifyRig{dir: t.TempDir()}
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	picture, lens, cam := commandtest.EmptyTable(t, r.dir, layout)
	r.table = filepath.Join(r.dir, "table.json")
	code, _, stderr := called(t, "calibrate", "table", "--lens", lens, picture, "-o", r.table)
	require.Zero(t, code, stderr)
	at := []geom.Point{{X: 457, Y: 457}, {X: 170, Y: 200}, {X: 720, Y: 180}, {X: 730, Y: 720}, {X: 200, Y: 730}}
	for i := range places {
		scene := tablesim.Table{Camera: cam, Layout: layout, Look: tablesim.DefaultLook(), Seed: uint64(40 + i)}
		scene.Strips = tablesim.LayCard(verify.DefaultCard(), geom.Pose{Point: at[i], Heading: geom.Angle(35*i) * geom.Degree},
			[2]geom.Length{0.2, 4.2})
		f, _, err := scene.Render()
		require.NoError(t, err)
		name := filepath.Join(r.dir, fmt.Sprintf("place%d.png", i+1))
		commandtest.WritePNG(t, name, f.Gray)
		r.pictures = append(r.pictures, name)
	}
	return r
}

func (r verifyRig) verify(t *testing.T, args ...string) (code int, doc verifyJSON, stderr string) {
	t.Helper()
	all := append(append([]string{"calibrate", "verify", "--json", "--calibration", r.table}, args...), r.pictures...)
	code, stdout, stderr := called(t, all...)
	if stdout != "" {
		require.NoError(t, json.Unmarshal([]byte(stdout), &doc))
		t.Logf("%s: worst %.2f mm, %.1f sigma; chi-square %.1f/%d; %v; %s", doc.Outcome, doc.WorstError, doc.WorstSigmas, doc.ChiSquare,
			doc.Freedom, doc.Reasons, doc.Cause)
	}
	return code, doc, stderr
}

func TestCalibrateVerifyPassesARightCalibrationAndFailsAWrongOne(t *testing.T) {
	if testing.Short() {
		t.Skip("renders five pictures")
	}
	r := newVerifyRig(t, 5)
	code, doc, stderr := r.verify(t, "--card-length", "220")
	assert.Zero(t, code, stderr)
	assert.Equal(t, "pass", doc.Outcome)
	require.Len(t, doc.Places, 5)
	for _, p := range doc.Places {
		assert.Len(t, p.Distances, 6, "%s: three distances of each strip", p.Name)
	}
	assert.Less(t, doc.WorstError, 0.35, "mm")
	assert.Greater(t, doc.Covered, 0.85)
	before, err := os.ReadFile(r.table)
	require.NoError(t, err)
	record, ok, err := verify.LoadRecord(r.table)
	require.NoError(t, err)
	require.True(t, ok)
	table, err := calibration.LoadTable(r.table)
	require.NoError(t, err)
	assert.Empty(t, record.Stale(&table, &table))
	assert.Equal(t, 5, record.Places)

	t.Run("bases said to be 4 mm higher than they are", func(t *testing.T) {
		code, doc, stderr := r.verify(t, "--card-length", "220", "--base-top", "8")
		assert.Equal(t, 1, code)
		assert.Equal(t, "fail", doc.Outcome)
		assert.Contains(t, doc.Cause, "strip on the bases seems to lie at")
		assert.Contains(t, doc.Cause, "--base-top")
		assert.Equal(t, 1, strings.Count(commandtest.LastLine(stderr), "calibrate verify: fail: "))
		record, _, err := verify.LoadRecord(r.table)
		require.NoError(t, err)
		assert.Equal(t, verify.Fail, record.Outcome, "the last one counts")
	})
	t.Run("the bars were measured half a per cent longer: the calibration's scale is wrong", func(t *testing.T) {
		code, doc, _ := r.verify(t, "--card-length", "221.1")
		assert.Equal(t, 1, code)
		assert.Equal(t, "fail", doc.Outcome)
		assert.Contains(t, doc.Cause, "every distance is too short by 0.")
	})
	t.Run("nobody measured the bars", func(t *testing.T) {
		code, doc, stderr := r.verify(t)
		assert.Equal(t, 1, code)
		assert.Equal(t, "undecided", doc.Outcome)
		assert.Contains(t, commandtest.LastLine(stderr), "--card-length")
	})
	t.Run("the camera stands 5 mm higher in the file", func(t *testing.T) {
		wrong := table
		c := wrong.Center()
		c[2] += 5
		wrong.T = calibration.Vec3{}
		d := wrong.Camera.Camera(c)
		wrong.T = calibration.Vec3{-d[0], -d[1], -d[2]}
		other := r
		other.table = filepath.Join(r.dir, "wrong.json")
		require.NoError(t, calibration.SaveTable(other.table, &wrong))
		code, doc, _ := other.verify(t, "--card-length", "220")
		assert.Equal(t, 1, code)
		assert.Equal(t, "fail", doc.Outcome)
		assert.Contains(t, doc.Cause, "as if the camera stood")
	})
	t.Run("a gauge study of pictures taken twice", func(t *testing.T) {
		twice := r
		twice.pictures = nil
		for _, p := range r.pictures {
			twice.pictures = append(twice.pictures, p, p)
		}
		code, doc, stderr := twice.verify(t, "--card-length", "220", "--study")
		assert.Zero(t, code, stderr)
		assert.Len(t, doc.Places, 5)
		assert.Equal(t, 2, doc.Places[0].Pictures)
		require.Len(t, doc.Study, 2)
		for _, s := range doc.Study {
			assert.Equal(t, 5, s.Places)
			assert.Equal(t, 10, s.Pictures)
			assert.Zero(t, s.Repeatability, "the same picture")
			assert.Nil(t, s.Cg)
			assert.Greater(t, s.Reproducibility, 0.0)
			assert.Less(t, s.Reproducibility, 0.2, "mm")
		}
		code, _, stderr = r.verify(t, "--card-length", "220", "--study")
		assert.Equal(t, 1, code)
		assert.Contains(t, commandtest.LastLine(stderr), "two pictures")
	})
	t.Run("the answer for people", func(t *testing.T) {
		args := append([]string{"calibrate", "verify", "--calibration", r.table, "--card-length", "220"}, r.pictures...)
		code, stdout, _ := called(t, args...)
		assert.Zero(t, code)
		assert.Contains(t, stdout, "PASS: 30 distances at 5 places")
		assert.Contains(t, stdout, "largest error")
	})
	after, err := os.ReadFile(r.table)
	require.NoError(t, err)
	assert.Equal(t, before, after, "the calibration is not touched")
}

func TestCalibrateVerifySaysWhenItCannotKnow(t *testing.T) {
	r := newVerifyRig(t, 0)
	assert.Equal(t, 4*geom.Millimeter, token.BaseTop, "the default of --base-top")
	blank := filepath.Join(r.dir, "blank.png")
	commandtest.WritePNG(t, blank, image.NewGray(image.Rect(0, 0, 1280, 720)))
	small := filepath.Join(r.dir, "small.png")
	commandtest.WritePNG(t, small, image.NewGray(image.Rect(0, 0, 640, 360)))
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no card", []string{blank}, 1, "no check card is seen"},
		{"no pictures", nil, 2, "expected IMAGE"},
		{"another camera", []string{small}, 2, "640×360"},
		{"a bar in inches", []string{"--card-length", "8.66", blank}, 2, "--card-length: expected 217.8 to 222.2"},
		{"a bar that is no number", []string{"--card-length", "long", blank}, 2, "--card-length"},
		{"three bars", []string{"--card-length", "220,220,220", blank}, 2, "--card-length"},
		{"thickness", []string{"--card-thickness", "-1", blank}, 2, "--card-thickness"},
		{"bases", []string{"--base-top", "NaN", blank}, 2, "--base-top"},
		{"limit", []string{"--limit", "0", blank}, 2, "--limit"},
		{"tolerance", []string{"--study", "--tolerance", "0", blank}, 2, "--tolerance"},
		{"places", []string{"--places", "0", blank}, 2, "--places"},
		{"source that is not there", []string{"--source", filepath.Join(r.dir, "none")}, 2, "none"},
	} {
		code, stdout, stderr := called(t, append([]string{"calibrate", "verify", "--calibration", r.table}, c.args...)...)
		assert.Equal(t, c.code, code, "%s: %s", c.name, stderr)
		assert.Empty(t, stdout, c.name)
		assert.Contains(t, commandtest.LastLine(stderr), c.want, c.name)
	}
	assert.NoFileExists(t, verify.RecordPath(r.table), "nothing was verified")
	code, _, stderr := called(t, "calibrate", "verify", "--calibration", filepath.Join(r.dir, "none.json"), blank)
	assert.Equal(t, 2, code)
	assert.Contains(t, commandtest.LastLine(stderr), "none.json")
}
