package ship

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
	"sightline/vision/internal/visiontest"
	"sightline/vision/token"
)

// The pictures of this file are drawn by the plainest means: every pixel is the
// mean of 4×4 rays, each asked what lies under it, then blurred a little. The
// camera looks straight down on a small mat, 1.1 px to the millimetre, without
// distortion.

func located(t *testing.T, table calibration.Table, g *image.Gray) vision.Located {
	t.Helper()
	l, err := NewLocator(table, calibration.Uncertainty{})
	require.NoError(t, err)
	got, err := l.Locate(vision.Frame{Gray: g, Captured: time.Unix(1, 0), Seq: 5})
	require.NoError(t, err)
	return got
}

func TestAShipIsFoundWhereItStands(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	for i, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		for _, heading := range []float64{0, 33.3, 90, 211.7, 315, 359.9} {
			if testing.Short() && heading != 33.3 {
				continue
			}
			pose := visiontest.Pose(97.3+float64(i), 103.8, heading)
			g := visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "A7", base), Pose: pose}}, 0.004)
			got := located(t, table, g)
			require.Len(t, got.Scene.Ships, 1, "%v base, heading %v", base, heading)
			s := got.Scene.Ships[0]
			assert.Equal(t, "A7", s.ID)
			assert.Equal(t, 1, s.Player)
			assert.Equal(t, base, s.Base)
			assert.InDelta(t, 0, float64(s.Pose.Distance(pose.Point)), 0.08, "%v base, heading %v: position, mm", base, heading)
			assert.InDelta(t, 0, (s.Pose.Heading - pose.Heading).Signed().Degrees(), 0.1, "%v base, heading %v: heading", base, heading)
			assert.Greater(t, s.Visible, 0.95)
			assert.Equal(t, "both", s.Seen)
			assert.Len(t, got.Ships[0].Sides, 4)
			assert.Equal(t, uint64(5), got.Seq)
		}
	}
}

// shorter is how often a loop runs: the race run (-short) looks for races and not for
// rare pictures, and is ten times as slow.
func shorter(full, short int) int {
	if testing.Short() {
		return short
	}
	return full
}

func TestEveryTokenIsReadAsItself(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	for code := range token.ShipCode(token.Ships) {
		if testing.Short() && code%7 != 0 {
			continue
		}
		base := []engine.Base{engine.Small, engine.Medium, engine.Large}[int(code)%3]
		tok, err := token.NewToken(code, base)
		require.NoError(t, err)
		got := located(t, table, visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: visiontest.Pose(100, 100, 10*float64(code))}},
			0.004))
		require.Len(t, got.Scene.Ships, 1, "%s on a %v base", code.ID(), base)
		assert.Equal(t, code.ID(), got.Scene.Ships[0].ID)
	}
}

func TestOneWholeSideIsEnough(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	for side := token.Front; side <= token.LeftSide; side++ {
		for _, light := range []float64{0.01, 0.15, 0.5} {
			if testing.Short() && light != 0.15 {
				continue
			}
			pose := visiontest.Pose(100, 100, 28)
			tok := visiontest.Token(t, "B3", engine.Small)
			// Everything but the outer 4.5 mm of one side is under something.
			away := 90*float64(side) + 180
			g := visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: pose}}, 0.004, visiontest.HidePlane(pose, away, -15.5, light))
			got := located(t, table, g)
			require.Len(t, got.Scene.Ships, 1, "only the %v side is in view, beside light %v", side, light)
			s := got.Scene.Ships[0]
			assert.Equal(t, "B3", s.ID)
			assert.InDelta(t, 0, float64(s.Pose.Distance(pose.Point)), 0.5, "%v side", side)
			assert.InDelta(t, 0, (s.Pose.Heading - pose.Heading).Signed().Degrees(), 1, "%v side", side)
			assert.Less(t, s.Visible, 0.6)
		}
	}
}

func TestLessThanASideIdentifiesNoShip(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	pose := visiontest.Pose(100, 100, 28)
	tok := visiontest.Token(t, "B3", engine.Small)
	// Half of the front side and nothing else.
	g := visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: pose}}, 0.004, visiontest.HidePlane(pose, 180, -15.5, 0.1),
		visiontest.HidePlane(pose, 90, 0, 0.1))
	assert.Empty(t, located(t, table, g).Scene.Ships)
}

func TestDisagreeingSidesIdentifyNoShip(t *testing.T) {
	// A token pasted together from two ships: the front and the right side of one,
	// the rear and the left side of another.
	table := visiontest.Table(visiontest.Scale)
	pose := visiontest.Pose(100, 100, 0)
	pairs := [][2]string{{"A1", "B9"}, {"A7", "A4"}, {"A16", "B17"}, {"B2", "A12"}, {"A5", "B12"}}
	for i, pair := range pairs {
		if testing.Short() && i > 0 {
			break
		}
		a, b := visiontest.Token(t, pair[0], engine.Small), visiontest.Token(t, pair[1], engine.Small)
		for _, light := range []float64{0.3, 0.5, 0.6, 0.7, 0.8, 1} {
			paste := func(p geom.Point) (float64, bool) {
				l := pose.Inverse(p)
				ink, on := b.At(l)
				return light * float64(gray.LinearLight[ink.G]), on && l.X+l.Y < 0
			}
			got := located(t, table, visiontest.Draw(table, []visiontest.Placed{{Token: a, Pose: pose}}, 0.004, paste))
			assert.Empty(t, got.Scene.Ships, "half %s, half %s in %v of the light", pair[0], pair[1], light)
		}
	}
}

// A grey miniature over four cells, and over the keyline next to the middle two, makes A7's right side read as the front of A4. Three
// sides that are whole name A7.
func TestASideUnderAMiniatureThatReadsAsAnotherContradictsNothing(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	tok := visiontest.Token(t, "A7", engine.Small)
	for _, light := range []float64{0.18, 0.25, 0.35} {
		pose := visiontest.Pose(100, 100, 28)
		cover := func(p geom.Point) (float64, bool) {
			l := pose.Inverse(p)
			width := float64(token.CellWidth(engine.Small, token.RightSide))
			half, out := tok.HalfAlong(token.RightSide)
			cell, deep := (half-float64(token.Corner)-l.Y)/width, out-l.X
			return light, cell > 0 && cell < 4 && deep < 12 && (deep > float64(token.Keyline) || cell > 1 && cell < 3)
		}
		got := located(t, table, visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: pose}}, 0.004, cover))
		if assert.Len(t, got.Scene.Ships, 1, "light %v", light) {
			assert.Equal(t, "A7", got.Scene.Ships[0].ID)
			assert.InDelta(t, 0, float64(got.Scene.Ships[0].Pose.Distance(pose.Point)), 0.5)
		}
	}
}

// Bases that touch side by side have one edge in front and one behind, longer than any of them.
func TestShipsThatTouchInARowAreFound(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	row := visiontest.Pose(100, 100, 28)
	var ships []visiontest.Placed
	for k := range 4 {
		pose := row
		pose.Point = row.Transform(geom.Point{X: 40*float64(k) - 60})
		ships = append(ships, visiontest.Placed{Token: visiontest.Token(t, fmt.Sprintf("A%d", k+2), engine.Small), Pose: pose})
	}
	miniatures := func(p geom.Point) (light float64, ok bool) { return 0.15, math.Abs(row.Inverse(p).Y) < 10 }
	got := located(t, table, visiontest.Draw(table, ships, 0.004, miniatures))
	require.Len(t, got.Scene.Ships, len(ships))
	for i, s := range got.Scene.Ships {
		assert.Equal(t, fmt.Sprintf("A%d", i+2), s.ID)
		assert.InDelta(t, 0, float64(s.Pose.Distance(ships[i].Pose.Point)), 0.3, s.ID)
	}
}

func TestTheSameCodeTwiceIdentifiesNoShip(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	tok := visiontest.Token(t, "A2", engine.Small)
	got := located(t, table, visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: visiontest.Pose(50, 100, 10)},
		{Token: tok, Pose: visiontest.Pose(150, 100, 200)}}, 0.004))
	assert.Empty(t, got.Scene.Ships)
	require.Len(t, got.Duplicates, 1, "nobody would know why it is missing")
	assert.Regexp(t, `^A2 is seen twice: at \((50|150), 100\) and \((50|150), 100\) mm, and neither counts`, got.Duplicates[0].String())

	alone := located(t, table, visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: visiontest.Pose(50, 100, 10)}}, 0.004))
	assert.Empty(t, alone.Duplicates)
}

// A huge base shows more cells than a large one because it has more, and is no surer for it.
func TestTheSameCodeOnTwoBaseSizesIdentifiesNoShip(t *testing.T) {
	table := visiontest.TableOf(visiontest.Scale, 300)
	for _, small := range []engine.Base{engine.Small, engine.Large} {
		got := located(t, table, visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "A1", engine.Huge225),
			Pose: visiontest.Pose(80, 150, 0)}, {Token: visiontest.Token(t, "A1", small), Pose: visiontest.Pose(220, 150, 20)}}, 0.004))
		assert.Empty(t, got.Scene.Ships, "%v", small)
		require.Len(t, got.Duplicates, 1, "%v", small)
		assert.Len(t, got.Duplicates[0].At, 2)
		assert.Nil(t, got.Duplicates[0].Believed)
	}
}

func TestTheTwinThatShowsTwiceAsMuchOfItsBaseCounts(t *testing.T) {
	of := func(base engine.Base, x float64, agreed int) found {
		return found{token: visiontest.Token(t, "A1", base), pose: visiontest.Pose(x, 0, 0), agreed: agreed}
	}
	cells := func(base engine.Base) int {
		return 2 * (token.Cells(base, token.Front) + token.Cells(base, token.RightSide))
	}
	all := cells(engine.Huge225)
	for name, c := range map[string]struct {
		ships []found
		kept  int
	}{
		"a base that is seen whole and half of a longer one": {[]found{of(engine.Small, 1, cells(engine.Small)), of(engine.Huge225, 2, all/2)},
			1},
		"more than half of the longer one": {[]found{of(engine.Small, 1, cells(engine.Small)), of(engine.Huge225, 2, all/2+1)}, 0},
		"three":                            {[]found{of(engine.Small, 1, 40), of(engine.Small, 2, 40), of(engine.Small, 3, 40)}, 0},
	} {
		kept, twins := dropTwins(c.ships)
		assert.Len(t, kept, c.kept, name)
		require.Len(t, twins, 1, name)
		assert.Len(t, twins[0].At, len(c.ships), name)
		if c.kept > 0 {
			assert.Contains(t, twins[0].String(), "the one at (1, 0), which shows twice as much of its code or more, counts", name)
		}
	}
}

func TestAMirroredTokenIdentifiesNoShip(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	g := visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "A4", engine.Small), Pose: visiontest.Pose(100, 100, 20)}},
		0.004)
	m := image.NewGray(g.Rect)
	for y := range g.Rect.Dy() {
		for x := range g.Rect.Dx() {
			m.Pix[y*m.Stride+x] = g.Pix[y*g.Stride+g.Rect.Dx()-1-x]
		}
	}
	assert.Empty(t, located(t, table, m).Scene.Ships)
}

func TestNeighboursInContactAreBothFound(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	a, b := visiontest.Pose(80, 100, 90), visiontest.Pose(120, 100, 90)
	got := located(t, table, visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "A1", engine.Small), Pose: a},
		{Token: visiontest.Token(t, "B1", engine.Small), Pose: b}}, 0.004))
	require.Len(t, got.Scene.Ships, 2)
	for i, want := range []geom.Pose{a, b} {
		assert.InDelta(t, 0, float64(got.Scene.Ships[i].Pose.Distance(want.Point)), 0.1)
	}
}

func TestAShadowAcrossASideChangesLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole pictures in one goroutine: nothing for the race detector")
	}
	table := visiontest.Table(visiontest.Scale)
	pose := visiontest.Pose(100, 100, 40)
	tok := visiontest.Token(t, "A9", engine.Large)
	g := visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: pose}}, 0.003)
	lit := visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: pose}}, 0.003, func(p geom.Point) (float64, bool) {
		ink, on := tok.At(pose.Inverse(p))
		return 0.25 * 0.7 * float64(gray.LinearLight[ink.G]), on && p.X+0.3*p.Y > 150
	})
	a, b := located(t, table, g), located(t, table, lit)
	require.Len(t, a.Scene.Ships, 1)
	require.Len(t, b.Scene.Ships, 1)
	assert.InDelta(t, 0, float64(a.Scene.Ships[0].Pose.Distance(b.Scene.Ships[0].Pose.Point)), 0.15)
}

func TestNoiseIdentifiesNoShip(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	rng := rand.New(rand.NewPCG(9, 9))
	for range shorter(30, 3) {
		g := image.NewGray(image.Rect(0, 0, table.Intrinsics.Width, table.Intrinsics.Height))
		// Blocks of random grey, a few pixels wide: nothing but edges.
		k := 2 + rng.IntN(6)
		for y := range g.Rect.Dy() {
			for x := range g.Rect.Dx() {
				v := rand.New(rand.NewPCG(uint64(x/k), uint64(y/k)*77+uint64(k))).Float64()
				g.Pix[y*g.Stride+x] = uint8(255 * v * rng.Float64())
			}
		}
		assert.Empty(t, located(t, table, g).Scene.Ships, "blocks of %d px", k)
	}
}

func TestTheStatedSigmaIsTheScatter(t *testing.T) {
	if testing.Short() {
		t.Skip("needs many draws, in one goroutine: nothing for the race detector")
	}
	// The noise part alone: an exact camera, exact heights.
	table := visiontest.Table(visiontest.Scale)
	rng := rand.New(rand.NewPCG(4, 4))
	l, err := NewLocator(table, calibration.Uncertainty{Height: 1e-9})
	require.NoError(t, err)
	var sum, n float64
	for range 25 {
		pose := visiontest.Pose(100+rng.Float64(), 100+rng.Float64(), 360*rng.Float64())
		g := visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "A5", engine.Small), Pose: pose}}, 0)
		for i := range g.Pix {
			g.Pix[i] = uint8(min(max(float64(g.Pix[i])+3*rng.NormFloat64(), 0), 255))
		}
		got, err := l.Locate(vision.Frame{Gray: g})
		require.NoError(t, err)
		require.Len(t, got.Scene.Ships, 1)
		s := got.Scene.Ships[0]
		d := s.Pose.Sub(pose.Point)
		dh := float64((s.Pose.Heading - pose.Heading).Signed())
		sum += d.X*d.X/s.Covariance[0] + d.Y*d.Y/s.Covariance[4] + dh*dh/s.Covariance[8]
		n += 3
	}
	// White noise alone: the inflation for what is not white makes it look too
	// careful, and it must never look too sure.
	r := math.Sqrt(sum / n)
	assert.Less(t, r, 1.1, "error over stated sigma")
	assert.Greater(t, r, 0.35, "error over stated sigma")
}

func TestLargePicturesAreSearchedSmaller(t *testing.T) {
	table := visiontest.Table(2.3)
	l, err := NewLocator(table, calibration.Uncertainty{})
	require.NoError(t, err)
	assert.Equal(t, 2, l.reduce)
	pose := visiontest.Pose(100, 100, 123)
	got, err := l.Locate(vision.Frame{Gray: visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "B18", engine.Small),
		Pose: pose}}, 0.004)})
	require.NoError(t, err)
	require.Len(t, got.Scene.Ships, 1)
	assert.InDelta(t, 0, float64(got.Scene.Ships[0].Pose.Distance(pose.Point)), 0.03)
}

func TestFramesThatDoNotFitAreRefused(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	l, err := NewLocator(table, calibration.Uncertainty{})
	require.NoError(t, err)
	for _, f := range []vision.Frame{
		{Name: "one.png", Gray: image.NewGray(image.Rect(0, 0, 1, 1))},
		{Name: "none"},
		{Name: "wide.png", Gray: image.NewGray(image.Rect(0, 0, table.Intrinsics.Width+1, table.Intrinsics.Height))},
	} {
		_, err := l.Locate(f)
		require.Error(t, err)
		assert.ErrorContains(t, err, f.Name)
		assert.ErrorContains(t, err, fmt.Sprintf("the calibration is for %d×%d", table.Intrinsics.Width, table.Intrinsics.Height))
	}
}

func TestUnusableCalibrationsAreRefused(t *testing.T) {
	_, err := NewLocator(calibration.Table{}, calibration.Uncertainty{})
	assert.ErrorContains(t, err, "image_width")

	behind := visiontest.Table(visiontest.Scale)
	behind.T[2] = -100
	_, err = NewLocator(behind, calibration.Uncertainty{})
	assert.ErrorContains(t, err, "behind the camera")

	aside := visiontest.Table(visiontest.Scale)
	aside.T[0] = 5000
	_, err = NewLocator(aside, calibration.Uncertainty{})
	assert.ErrorContains(t, err, "outside")
}

func TestPosesCarryTheSystematicPart(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	g := visiontest.Draw(table, []visiontest.Placed{{Token: visiontest.Token(t, "A5", engine.Small), Pose: visiontest.Pose(150, 150, 0)}},
		0.002)
	plain, err := NewLocator(table, calibration.Uncertainty{Height: 1e-9})
	require.NoError(t, err)
	doubting, err := NewLocator(table, calibration.Uncertainty{Height: 2 * geom.Millimeter})
	require.NoError(t, err)
	a, err := plain.Locate(vision.Frame{Gray: g})
	require.NoError(t, err)
	b, err := doubting.Locate(vision.Frame{Gray: g})
	require.NoError(t, err)
	// 2 mm of height at 50 mm from the camera's foot, from 1.2 m: 0.083 mm in x and y.
	added := b.Scene.Ships[0].Covariance[0] - a.Scene.Ships[0].Covariance[0]
	assert.InDelta(t, 0.0836, math.Sqrt(added), 0.002)
}

func BenchmarkLocateSmallMat(b *testing.B) {
	table := visiontest.Table(visiontest.Scale)
	code, _ := token.CodeOfID("A5")
	tok, _ := token.NewToken(code, engine.Small)
	g := visiontest.Draw(table, []visiontest.Placed{{Token: tok, Pose: visiontest.Pose(100, 100, 30)}}, 0.004)
	l, err := NewLocator(table, calibration.Uncertainty{})
	require.NoError(b, err)
	for b.Loop() {
		if _, err := l.Locate(vision.Frame{Gray: g}); err != nil {
			b.Fatal(err)
		}
	}
}

// A token in a hand above the mat would be reported next to where it is. The camera that is nearer to all
// that it sees shows it so.
func TestATokenHeldAboveTheMatIsNotOnIt(t *testing.T) {
	table := visiontest.Table(visiontest.Scale)
	for i, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		for _, up := range []float64{0, 3, 30, 50} {
			nearer := table
			nearer.T[2] -= up
			pose := visiontest.Pose(97.3+float64(i), 103.8, 33.3)
			g := visiontest.Draw(nearer, []visiontest.Placed{{Token: visiontest.Token(t, "A7", base), Pose: pose}}, 0.004)
			got := located(t, table, g)
			if up < 10 {
				assert.Len(t, got.Scene.Ships, 1, "%v base, %v mm above its place", base, up)
			} else {
				assert.Empty(t, got.Scene.Ships, "%v base, %v mm above its place", base, up)
			}
		}
	}
}
