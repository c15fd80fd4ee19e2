package outline

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/renderedtest"
)

// StockTruth is what the tests need of a photorealistic picture's truth.
type StockTruth struct {
	renderedtest.Optics
	Ships []struct {
		ID      string  `json:"id"`
		Base    string  `json:"base"`
		X       float64 `json:"x_mm"`
		Y       float64 `json:"y_mm"`
		Heading float64 `json:"heading_deg"`
	} `json:"ships"`
}

// TestMarkedStockBases draws the tries of eight hands on every base of the photorealistic tables whose ships carry nothing
// of ours, through the true calibration and as on a photograph: the error over the stated sigma is at most 1.1.
func TestMarkedStockBases(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..", "shared", "stock")
	files, err := filepath.Glob(filepath.Join(root, "t[0-9]*-*", "truth.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the photorealistic tables are not here: they are not part of the project")
	}
	rng := rand.New(rand.NewPCG(16, 3))
	layout := calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)
	tallies := map[string]*tally{}
	for _, file := range files {
		var truth StockTruth
		renderedtest.Read(t, filepath.Dir(file), &truth)
		cam := truth.Camera()
		size := filepath.Base(filepath.Dir(file))
		size = size[strings.LastIndexByte(size, '-')+1:]
		for hand := range 8 {
			for _, photo := range []bool{false, true} {
				name, known := size, calibration.Table{Camera: cam, Layout: layout}
				if photo {
					name, known = size+", a photograph", pointedAt(t, rng, &cam, layout)
				}
				if tallies[name] == nil {
					tallies[name] = &tally{}
				}
				h := person{steady: 0.4 + 0.1*float64(hand), eye: 0.4, rng: rng}
				var marks []mark
				for _, s := range truth.Ships {
					base, err := engine.ParseBase(s.Base)
					require.NoError(t, err)
					pose := geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree}
					marks = append(marks, mark{s.ID, s.Base, h.marks(t, &cam, &known, base, pose, 2)})
				}
				placed, _, err := place(&known, marks)
				require.NoError(t, err)
				for i, s := range truth.Ships {
					tallies[name].add(&placed[i], geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree})
				}
			}
		}
	}
	for name, c := range tallies {
		c.report(t, name)
		assert.NotZero(t, c.n)
	}
}
