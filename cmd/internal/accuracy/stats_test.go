package accuracy

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// sighting is one ship of the truth, and what was made of it.
type sighting struct {
	picture   string
	id        string
	truth     geom.Pose
	wholeSide bool // one whole side of it can be seen
	visible   float64

	located bool
	got     engine.Ship
}

func (s sighting) offset() geom.Point { return s.got.Pose.Sub(s.truth.Point) }
func (s sighting) turn() float64 {
	return float64((s.got.Pose.Heading - s.truth.Heading).Signed())
}

// tally is what a set of pictures showed.
type tally struct {
	name     string
	ships    []sighting
	wrong    []string // identities that are not on the table, or twice
	pictures int
}

// add compares what was located in one picture with the truth.
func (a *tally) add(picture string, truth []sighting, got vision.Located) {
	a.pictures++
	taken := map[string]bool{}
	for _, s := range truth {
		s.picture = picture
		for _, g := range got.Scene.Ships {
			// A ship that is named rightly but placed off by 10 mm would be another
			// ship's base with a wrong name.
			if g.ID == s.id && float64(g.Pose.Distance(s.truth.Point)) < 10 {
				s.located, s.got = true, g
				taken[s.id] = true
			}
		}
		a.ships = append(a.ships, s)
	}
	for _, g := range got.Scene.Ships {
		if !taken[g.ID] {
			a.wrong = append(a.wrong, fmt.Sprintf("%s: %s at (%.1f, %.1f)", picture, g.ID, g.Pose.X, g.Pose.Y))
		}
	}
}

// figures are the numbers that a tally comes to.
type figures struct {
	Pictures, Ships, Located, Whole, WholeLocated, Wrong int
	PositionRMS, Position99                              float64 // mm, of the distance
	HeadingRMS, Heading99                                float64 // degrees
	NormalisedPosition, NormalisedHeading, Normalised    float64 // error over stated sigma, rms of each component
}

func (a *tally) figures() figures {
	f := figures{Pictures: a.pictures, Ships: len(a.ships), Wrong: len(a.wrong)}
	var pos, head []float64
	var np, nh float64
	for _, s := range a.ships {
		if s.wholeSide {
			f.Whole++
			if s.located {
				f.WholeLocated++
			}
		}
		if !s.located {
			continue
		}
		f.Located++
		d, t := s.offset(), s.turn()
		pos = append(pos, d.Norm())
		head = append(head, math.Abs(t)/float64(geom.Degree))
		c := s.got.Covariance
		np += d.X*d.X/c[0] + d.Y*d.Y/c[4]
		nh += t * t / c[8]
	}
	n := math.Max(float64(f.Located), 1)
	f.PositionRMS, f.Position99 = rms(pos), percentile(pos, 0.99)
	f.HeadingRMS, f.Heading99 = rms(head), percentile(head, 0.99)
	f.NormalisedPosition = math.Sqrt(np / (2 * n))
	f.NormalisedHeading = math.Sqrt(nh / n)
	f.Normalised = math.Sqrt((np + nh) / (3 * n))
	return f
}

func rms(v []float64) float64 {
	var s float64
	for _, x := range v {
		s += x * x
	}
	return math.Sqrt(s / math.Max(float64(len(v)), 1))
}

func percentile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Clone(v)
	slices.Sort(v)
	return v[min(int(p*float64(len(v))), len(v)-1)]
}

func (a *tally) String() string {
	f := a.figures()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d pictures, %d ships\n", a.name, f.Pictures, f.Ships)
	fmt.Fprintf(&b, "  located            %6.2f %%  (%d of %d)\n", 100*float64(f.Located)/float64(max(f.Ships, 1)), f.Located, f.Ships)
	fmt.Fprintf(&b, "  with a whole side  %6.2f %%  (%d of %d)\n", 100*float64(f.WholeLocated)/float64(max(f.Whole, 1)), f.WholeLocated,
		f.Whole)
	fmt.Fprintf(&b, "  wrong identities   %6d\n", f.Wrong)
	fmt.Fprintf(&b, "  position error     %6.3f mm rms, %.3f mm at the 99th percentile\n", f.PositionRMS, f.Position99)
	fmt.Fprintf(&b, "  heading error      %6.3f° rms, %.3f° at the 99th percentile\n", f.HeadingRMS, f.Heading99)
	fmt.Fprintf(&b, "  error over sigma   %6.2f rms (position %.2f, heading %.2f)\n", f.Normalised, f.NormalisedPosition, f.NormalisedHeading)
	for _, w := range a.wrong {
		fmt.Fprintf(&b, "  WRONG %s\n", w)
	}
	return b.String()
}

// report logs a tally and, when SIGHTLINE_REPORT names a folder, writes it there
// with a picture of where on the mat the errors lie.
func (a *tally) report(t *testing.T, file string) {
	t.Helper()
	t.Log("\n" + a.String())
	dir := os.Getenv("SIGHTLINE_REPORT")
	if dir == "" {
		return
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, file+".txt"), []byte(a.String()), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, file+".svg"), []byte(a.errorMap()), 0o644))
}

// errorMap draws each ship of the tally on the mat with its error, 200 times
// enlarged, and the ships that were not located as open circles.
func (a *tally) errorMap() string {
	const side = 914.4
	const enlarge = 200
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-30 -70 %.0f %.0f" width="720" font-family="sans-serif">`+"\n", side+60,
		side+100)
	fmt.Fprintf(&b, `<rect x="-30" y="-70" width="%.0f" height="%.0f" fill="#fff"/>`+
		`<rect width="%g" height="%g" fill="#f3f4f6" stroke="#9aa0a6"/>`+"\n", side+60, side+100, side, side)
	f := a.figures()
	fmt.Fprintf(&b, `<text x="0" y="-42" font-size="26">%s: position errors, %d times enlarged</text>`+"\n", a.name, enlarge)
	fmt.Fprintf(&b, `<text x="0" y="-12" font-size="20" fill="#555">`+
		`%d ships, rms %.3f mm, %.3f°; open circles were not located; the bar is 0.3 mm</text>`+"\n", f.Ships, f.PositionRMS, f.HeadingRMS)
	fmt.Fprintf(&b, `<path d="M%g -20h%g" stroke="#c0392b" stroke-width="5"/>`+"\n", side-0.3*enlarge, 0.3*enlarge)
	for _, s := range a.ships {
		x, y := s.truth.X, side-s.truth.Y
		if !s.located {
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="7" fill="none" stroke="#c0392b" stroke-width="2"/>`+"\n", x, y)
			continue
		}
		d := s.offset()
		fmt.Fprintf(&b, `<path d="M%.1f %.1fl%.1f %.1f" stroke="#1f5fbf" stroke-width="1.6"/><circle cx="%.1f" cy="%.1f" r="2" fill="#1f5fbf"/>`+
			"\n",
			x, y, enlarge*d.X, -enlarge*d.Y, x, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}
