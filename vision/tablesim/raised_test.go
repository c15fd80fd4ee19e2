package tablesim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/token"
)

// A token that is held above the mat is refused with a reason, or its sigma covers where it seems to stand; and nothing else is
// read in its place.
func TestAHeldTokenIsNotAccepted(t *testing.T) {
	heights := []geom.Length{5, 8, 11, 14}
	if testing.Short() {
		heights = []geom.Length{5, 14}
	}
	for _, up := range heights {
		refused, wide, beyond, all, farthest, worst := 0, 0, 0, 0, 0.0, 0.0
		for seed := range uint64(4) {
			if testing.Short() && seed > 0 {
				break
			}
			table := RandomTable(7000+seed, 1920, 1080)
			table.Hands, table.Heights = nil, map[string]geom.Length{}
			for _, s := range table.Scene.Ships {
				table.Heights[s.ID] = up
			}
			f, truth, err := table.Render()
			require.NoError(t, err)
			l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
			require.NoError(t, err)
			got, err := l.Locate(f)
			require.NoError(t, err)
			refused, all = refused+len(got.Raised), all+len(truth.Ships)
			for _, r := range got.Raised {
				assert.InDelta(t, float64(up), float64(r.Up), 6, "%s: how high it is held, mm", r.ID)
				assert.Contains(t, r.String(), r.ID+" at (")
			}
			for _, s := range got.Scene.Ships {
				want, ok := truth.Ship(s.ID)
				assert.True(t, ok, "seed %d: %s is not on the table: %v", seed, s.ID, s.Pose)
				d := s.Pose.Sub(want.Pose.Point)
				c := s.Covariance
				det := c[0]*c[4] - c[1]*c[1]
				sigmas := math.Sqrt((c[4]*d.X*d.X - 2*c[1]*d.X*d.Y + c[0]*d.Y*d.Y) / det)
				if sigmas > 4 {
					beyond++
				}
				farthest, worst = max(farthest, d.Norm()), max(worst, sigmas)
				if math.Sqrt(max(c[0], c[4])) > 0.5 {
					wide++
				}
			}
		}
		t.Logf("%2.0f mm higher: of %d %d refused, %d with a sigma above 0.5 mm; off by up to %.2f mm, %.1f sigmas; %d by more than 4",
			float64(up), all, refused, wide, farthest, worst, beyond)
		assert.LessOrEqual(t, 20*beyond, all, "%v higher", up)
		assert.Less(t, worst, 10.0, "%v higher: sigmas", up)
	}
}

// Tokens whose prints are out of true, as a printer makes them that feeds the paper unevenly, are where they seem to be.
func TestDistortedPrintsAreLocatedRight(t *testing.T) {
	prints, tables := []Print{{Sheared: 0.01}, {Wider: 0.01}, {Longer: -0.01}, {Wider: -0.01, Longer: -0.01}, {Sheared: 0.005}}, 2
	if testing.Short() {
		prints, tables = prints[:1], 1
	}
	for _, print := range prints {
		all, found, off, turned := 0, 0, 0.0, 0.0
		for seed := range uint64(tables) {
			table := RandomTable(7000+seed, 1920, 1080)
			table.Hands, table.Prints = nil, map[string]Print{}
			for _, s := range table.Scene.Ships {
				table.Prints[s.ID] = print
			}
			f, truth, err := table.Render()
			require.NoError(t, err)
			l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
			require.NoError(t, err)
			got, err := l.Locate(f)
			require.NoError(t, err)
			all, found = all+len(truth.Ships), found+len(got.Scene.Ships)
			for _, s := range got.Scene.Ships {
				want, ok := truth.Ship(s.ID)
				require.True(t, ok, "%s is not on the table", s.ID)
				d, c := s.Pose.Sub(want.Pose.Point), s.Covariance
				off = max(off, math.Sqrt((c[4]*d.X*d.X-2*c[1]*d.X*d.Y+c[0]*d.Y*d.Y)/(c[0]*c[4]-c[1]*c[1])))
				turned = max(turned, float64(s.Pose.Heading.Distance(want.Pose.Heading))/math.Sqrt(c[8]))
			}
		}
		t.Logf("%+v: %d of %d found; places off by up to %.1f sigmas, headings by %.1f", print, found, all, off, turned)
		assert.Less(t, off, 4.0, "%+v: place", print)
		assert.Less(t, turned, 4.0, "%+v: heading", print)
		assert.GreaterOrEqual(t, 10*found, 8*all, "%+v: found", print)
	}
}

// Tokens that are all as much too large were printed so, and that is said once.
func TestOversizedPrintsAreReportedTogether(t *testing.T) {
	all := []vision.RaisedToken{
		{ID: "A1", At: geom.Point{X: 100, Y: 200}, Larger: 0.0155, Sigma: 0.0005, Up: 19},
		{ID: "A2", At: geom.Point{X: 500, Y: 200}, Larger: 0.0163, Sigma: 0.0008, Up: 20},
		{ID: "B1", At: geom.Point{X: 100, Y: 700}, Larger: 0.0160, Sigma: 0.0004, Up: 20},
	}
	texts := vision.DescribeRaised(all)
	require.Len(t, texts, 1)
	assert.Contains(t, texts[0], "A1, A2, B1 do not count: all of them look 1.6 % larger")
	assert.Contains(t, texts[0], "printed too large")
	assert.Len(t, vision.DescribeRaised(all[:2]), 2, "two may be held")
	all[1].Larger = 0.03
	texts = vision.DescribeRaised(all)
	require.Len(t, texts, 3)
	assert.Contains(t, texts[1], "A2 at (500, 200) mm does not count: its print looks 3.0 % larger")
	assert.Empty(t, vision.DescribeRaised(nil))
	assert.Equal(t, 4*geom.Millimeter, token.BaseTop, "what the heights above are over")
}
