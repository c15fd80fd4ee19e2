package tablesim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/locate"
)

// located renders a table and locates what is on it.
func located(t *testing.T, table *Table) vision.Located {
	t.Helper()
	f, _, err := table.Render()
	require.NoError(t, err)
	l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
	require.NoError(t, err)
	got, err := l.Locate(f)
	require.NoError(t, err)
	return got
}

// layFlat takes the first n ships' tokens off their bases and lays them on the mat. It returns where.
func (t *Table) layFlat(n int) map[string]engine.Ship {
	lying := map[string]engine.Ship{}
	for _, s := range t.Scene.Ships[:n] {
		lying[s.ID] = s
		t.Spares = append(t.Spares, Spare{ID: s.ID, Base: s.Base, Pose: s.Pose})
		delete(t.Minis, s.ID)
	}
	t.Scene.Ships = t.Scene.Ships[n:]
	return lying
}

// sigmasOff is how many of its sigmas a ship was located from its place.
func sigmasOff(got, want engine.Ship) float64 {
	d, c := got.Pose.Sub(want.Pose.Point), got.Covariance
	return math.Sqrt((c[4]*d.X*d.X - 2*c[1]*d.X*d.Y + c[0]*d.Y*d.Y) / (c[0]*c[4] - c[1]*c[1]))
}

// A token that lies on the mat without a base is said to lie there, or the sigma of the ship that it may be covers where it lies. No
// ship on a base is taken for one.
func TestATokenOnTheMatIsNotAShip(t *testing.T) {
	sizes, tables := [][2]int{{1920, 1080}, {3840, 2160}}, 6
	if testing.Short() {
		sizes, tables = sizes[:1], 2
	}
	for _, size := range sizes {
		told, all, worst, bare := 0, 0, 0.0, 0
		for seed := range uint64(tables) {
			table := RandomTable(8100+seed, size[0], size[1])
			table.Hands = nil
			lying := table.layFlat(3)
			bareID := table.Scene.Ships[0].ID // stands on its base, and its miniature fell off
			delete(table.Minis, bareID)
			got := located(t, table)
			all += len(lying)
			for _, s := range got.Spare {
				want, ok := lying[s.ID]
				assert.True(t, ok, "seed %d: %s stands on a base", seed, s.ID)
				assert.Less(t, float64(s.At.Distance(want.Pose.Point)), 0.6, "seed %d: %s, mm", seed, s.ID)
				told++
			}
			for _, s := range got.Scene.Ships {
				if want, ok := lying[s.ID]; ok {
					worst = max(worst, sigmasOff(s, want))
				}
				if s.ID == bareID {
					bare++
				}
			}
		}
		t.Logf("%dx%d: %d of %d are said to lie flat; the others off by %.1f sigmas at most; %d of %d bare bases are ships",
			size[0], size[1], told, all, worst, bare, tables)
		assert.Less(t, worst, 4.0)
		assert.Equal(t, tables, bare, "bare bases")
		if size[0] > 1920 {
			assert.Equal(t, all, told)
		}
	}
}

// A spare token does not make another of a ship that stands on the table.
func TestASpareTokenIsNotADuplicate(t *testing.T) {
	if testing.Short() {
		t.Skip("renders a picture at 4K")
	}
	table := RandomTable(8101, 3840, 2160)
	table.Hands = nil
	lying := table.layFlat(1)
	for id := range lying {
		table.Scene.Ships[0].ID = id
	}
	got := located(t, table)
	require.Len(t, got.Spare, 1)
	assert.Empty(t, got.Duplicates)
	for _, s := range got.Scene.Ships {
		if want := table.Scene.Ships[0]; s.ID == want.ID {
			assert.Less(t, sigmasOff(s, want), 4.0)
			return
		}
	}
	assert.Fail(t, "the ship on its base is missing")
}

// Tokens that were printed too small are said to be, and those that are read are where they seem to be.
func TestUndersizedPrintsAreReported(t *testing.T) {
	scales := []float64{0.97, 0.98, 0.997, 1}
	if testing.Short() {
		scales = []float64{0.97}
	}
	for _, scale := range scales {
		table := RandomTable(8200, 1920, 1080)
		table.Hands, table.Prints = nil, map[string]Print{}
		for _, s := range table.Scene.Ships {
			table.Prints[s.ID] = Print{Wider: scale - 1, Longer: scale - 1}
		}
		got := located(t, table)
		t.Logf("%v: %d of %d ships, %d told", scale, len(got.Scene.Ships), len(table.Scene.Ships), len(got.Small))
		if scale > 0.99 {
			assert.Empty(t, got.Small, "%v", scale)
			continue
		}
		assert.Greater(t, 2*len(got.Small), len(got.Scene.Ships), "%v", scale)
		for _, s := range got.Small {
			assert.InDelta(t, 1-scale, s.Smaller, 0.008, "%v: %s", scale, s.ID)
		}
		for _, s := range got.Scene.Ships {
			for _, want := range table.Scene.Ships {
				if want.ID == s.ID {
					assert.Less(t, sigmasOff(s, want), 4.0, "%v: %s", scale, s.ID)
				}
			}
		}
	}
}

// What is said of tokens that were printed too small.
func TestUndersizedPrintsAreReportedTogether(t *testing.T) {
	all := []vision.SmallToken{{ID: "A1", Smaller: 0.031, Sigma: 0.002}, {ID: "B2", Smaller: 0.029, Sigma: 0.001}}
	assert.Equal(t, []string{"Tokens printed at 97.0 % of their size: A1, B2. Ships with such tokens are sometimes missed: " +
		"print them at 100 % (docs/printing.md says how)"}, vision.DescribeSmall(all))
	all[0].Smaller = 0.06
	texts := vision.DescribeSmall(all)
	require.Len(t, texts, 2)
	assert.Contains(t, texts[0], "Tokens printed at 94.0 % of their size: A1. ")
	assert.Empty(t, vision.DescribeSmall(nil))
}
