package hardware_test

import (
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/hardware"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// tolerance is how many of the 8192 dots may differ from a golden picture: room
// for a change of a font's hinting, not for a change of a letter.
const tolerance = 12

const noAttack = "no attack: at range 0 of an asteroid, rock1 (2.0 G177)"

var goldens = map[string]hardware.State{
	"range2": pair(func(s *hardware.State) { s.InArc = engine.Yes }),
	"either": pair(func(s *hardware.State) {
		s.Range, s.Possible, s.DistanceMM, s.SigmaMM = engine.Indeterminate, []int{2, 3}, 200.11, 0.24
		s.InArc, s.Obstructed = engine.Indeterminate, engine.Yes
	}),
	"beyond":            pair(func(s *hardware.State) { s.Band, s.DistanceMM = 7, 644.72 }),
	"contact":           pair(func(s *hardware.State) { s.Band, s.DistanceMM, s.Arc = 0, 0, "bullseye" }),
	"no_attack":         pair(func(s *hardware.State) { s.InArc, s.NoAttack = engine.Yes, noAttack }),
	"no_attack_why":     pair(func(s *hardware.State) { s.InArc, s.NoAttack, s.Screen.Page = engine.Yes, noAttack, 1 }),
	"perhaps_no_attack": pair(func(s *hardware.State) { s.InArc, s.NoAttack, s.NoAttackOpen = engine.Yes, "perhaps "+noAttack, true }),
	"no_camera":         pair(func(s *hardware.State) { s.Range, s.Reason = engine.NoView, "no camera: /dev/video0 is gone" }),
	"choose":            {Reason: "click attacker, then target on the page"},
}

func TestTheDisplayMatchesItsPictures(t *testing.T) {
	for name, state := range goldens {
		t.Run(name, func(t *testing.T) {
			got := hardware.Draw(state)
			require.Equal(t, image.Rect(0, 0, 128, 64), got.Bounds())
			path := filepath.Join("testdata", name+".png")
			if *update {
				writePNG(t, path, got)
			}
			compare(t, path, got)
		})
	}
}

// compare fails when the picture differs from the golden one by more than the
// tolerance, and then writes both and their difference next to each other.
func compare(t *testing.T, path string, got image.Image) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err, "run with -update to make the golden picture")
	defer f.Close()
	want, err := png.Decode(f)
	require.NoError(t, err)
	require.Equal(t, want.Bounds(), got.Bounds())
	diff, n := difference(want, got)
	if n > tolerance {
		out := filepath.Join(os.TempDir(), "sightline-"+filepath.Base(path))
		writePNG(t, out, diff)
		t.Errorf("Draw differs from %s in %d dots, want at most %d; red is missing, green is new: %s", path, n, tolerance, out)
	}
}

func difference(want, got image.Image) (image.Image, int) {
	b := want.Bounds()
	diff, n := image.NewRGBA(b), 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			w, g := lit(want.At(x, y)), lit(got.At(x, y))
			c := color.RGBA{A: 255}
			switch {
			case w && g:
				c = color.RGBA{160, 160, 160, 255}
			case w:
				c.R, n = 255, n+1
			case g:
				c.G, n = 255, n+1
			}
			diff.SetRGBA(x, y, c)
		}
	}
	return diff, n
}

func lit(c color.Color) bool { r, _, _, _ := c.RGBA(); return r >= 0x8000 }

func writePNG(t *testing.T, path string, img image.Image) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, png.Encode(f, img))
	require.NoError(t, f.Close())
}

func TestDecidedAndUndecidedLookDifferent(t *testing.T) {
	decided := pair(nil)
	undecided := pair(func(s *hardware.State) { s.Range, s.Possible = engine.Indeterminate, []int{2} })
	_, n := difference(hardware.Draw(decided), hardware.Draw(undecided))
	assert.Greater(t, n, 300, "an undecided range must be told from a decided one at a glance")
}

func TestAnythingCanBeDrawn(t *testing.T) {
	long := "a-very-long-ship-identifier-that-fits-nowhere"
	for _, s := range []hardware.State{
		{}, {From: long, To: long}, {Reason: long + long + long + "→ größer"},
		{From: long, To: long, Range: engine.NoView, Reason: long + " " + long},
		{From: "A", To: "B", Range: engine.Indeterminate, Possible: []int{1, 2, 3, 4}, Arc: "full_front", DistanceMM: 1e12, SigmaMM: 1e12},
		{From: "A", To: "B", Range: engine.Yes, Band: -1},
		{From: "Ä", To: "→→→→→→→→→→→→→→→→→→→", Range: engine.Yes, Band: 3, Arc: long},
	} {
		assert.NotPanics(t, func() { hardware.Draw(s) }, "%+v", s)
	}
}
