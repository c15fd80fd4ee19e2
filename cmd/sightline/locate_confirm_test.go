//go:build opencv

package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/commandtest"
	"sightline/engine/scenefile"
	"sightline/vision/tablesim"
)

// shown is a simulated table that is photographed again and again.
type shown struct {
	t     *testing.T
	table *tablesim.Table
	truth tablesim.Truth
}

// picture writes a picture of the table with some of its markers, the camera shifted by so many mm.
func (s *shown) picture(name string, shift calibration.Vec3, markers ...int) string {
	now := *s.table
	now.Camera.Extrinsics = now.Camera.Extrinsics.Perturbed(calibration.Vec3{}, shift)
	now.Layout.Markers = nil
	for _, m := range s.table.Layout.Markers {
		if slices.Contains(markers, m.ID) {
			now.Layout.Markers = append(now.Layout.Markers, m)
		}
	}
	frame, truth, err := now.Render()
	require.NoError(s.t, err)
	s.truth = truth
	path := filepath.Join(s.t.TempDir(), name+".png")
	commandtest.WritePNG(s.t, path, frame.Gray)
	return path
}

// corners returns what a person points at: the mat's corners and two points of each edge.
func (s *shown) corners() string {
	var corners, edges []string
	at := s.table.Layout.Corners()
	for i, p := range at {
		px, _ := s.table.Camera.PixelOf(p, 0)
		corners = append(corners, fmt.Sprintf("%.1f,%.1f", px.X, px.Y))
		for _, k := range []float64{0.3, 0.7} {
			px, _ := s.table.Camera.PixelOf(p.Add(at[(i+1)%4].Sub(p).Mul(k)), 0)
			edges = append(edges, fmt.Sprintf("%.1f,%.1f", px.X, px.Y))
		}
	}
	return strings.Join(append(corners, edges...), ";")
}

// A picture is located only where it confirms the camera's place, and no ship is farther from its place than its sigma allows.
func TestNothingIsLocatedWithAnUnconfirmedCamera(t *testing.T) {
	table := tablesim.RandomTable(4, 1280, 720)
	table.Hands = nil
	s := &shown{t: t, table: table}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	home, away := calibration.Vec3{}, calibration.Vec3{9, -7, 0}
	_, lensFile, _ := photographed(t, table, t.TempDir())
	calibrated, cornered := filepath.Join(t.TempDir(), "table.json"), filepath.Join(t.TempDir(), "corners.json")
	require.Zero(t, run([]string{"calibrate", "table", "--lens", lensFile, s.picture("all", home, all...), "-o", calibrated}))
	bare := s.picture("bare", home)
	code, _, stderr := called(t, "calibrate", "quick", "--corners", s.corners(), "-o", cornered, bare)
	require.Zero(t, code, stderr)
	seen, few := s.picture("seen", home, all...), s.picture("few", home, 1, 5)
	gone, moved := s.picture("gone", away), s.picture("moved", away, 1, 5)
	fused := []string{"--fuse", "--calibration", calibrated, gone}
	for name, c := range map[string]struct {
		calibration, picture string
		args                 []string
		code                 int
		says                 string
	}{
		"all markers":                      {calibrated, seen, nil, 0, ""},
		"two in their places":              {calibrated, few, nil, 0, "rests on 2 markers: the mat's worst corner is known to"},
		"two elsewhere":                    {calibrated, moved, nil, 1, "2 of 2 markers that are seen do not lie where"},
		"none":                             {calibrated, bare, nil, 1, "it was calibrated: none of the mat's markers can be seen. Take"},
		"none, and it moved":               {calibrated, gone, nil, 1, "Take a picture that shows the mat's markers"},
		"none, and a person says so":       {calibrated, bare, []string{"--unmoved"}, 0, "as --unmoved says"},
		"the mat's edges":                  {cornered, bare, nil, 0, ""},
		"the mat's edges, and it moved":    {cornered, gone, nil, 1, "an edge of the mat lies"},
		"the averaged picture shows none":  {calibrated, bare, []string{"--average", bare}, 1, "nothing confirms"},
		"one of two cameras is confirmed":  {calibrated, seen, fused, 0, "left out"},
		"none of two cameras is confirmed": {calibrated, bare, fused, 1, "none of the pictures could be located"},
	} {
		args := append(append([]string{"locate", "--json", "--calibration", c.calibration}, c.args...), c.picture)
		code, stdout, stderr := called(t, args...)
		assert.Equal(t, c.code, code, "%s: %s", name, stderr)
		assert.Contains(t, stderr, c.says, name)
		if code != 0 {
			assert.NotContains(t, stdout, `"player"`, "%s: no ship is named", name)
			continue
		}
		scenes, _, err := scenefile.Parse([]byte(stdout))
		require.NoError(t, err, name)
		require.Len(t, scenes, 1, name)
		assert.NotEmpty(t, scenes[0].Ships, name)
		for _, ship := range scenes[0].Ships {
			want, ok := s.truth.Ship(ship.ID)
			require.True(t, ok, "%s: %s", name, ship.ID)
			sigma := math.Sqrt(max(ship.Covariance[0], ship.Covariance[4]))
			assert.Less(t, float64(ship.Pose.Distance(want.Pose.Point))/sigma, 4.0, "%s: %s, off over sigma", name, ship.ID)
		}
	}

	// Of several pictures those that can be located are.
	code, stdout, stderr := called(t, "locate", "--json", "--calibration", calibrated, seen, gone)
	assert.Equal(t, 1, code, stderr)
	scenes, _, err := scenefile.Parse([]byte(stdout))
	require.NoError(t, err)
	require.Len(t, scenes, 2)
	assert.NotEmpty(t, scenes[0].Ships)
	assert.Empty(t, scenes[1].Ships)
	_, stdout, _ = called(t, "locate", "--calibration", calibrated, seen, gone)
	assert.Contains(t, stdout, gone+": no answer")
}
