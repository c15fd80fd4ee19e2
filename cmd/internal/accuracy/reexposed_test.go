package accuracy

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/locate"
	"sightline/vision/token"
)

// fitTally is what a set of re-exposed pictures showed: names, and the fits' errors over what the fit alone states.
type fitTally struct {
	ships, whole, found, wrong int
	held                       int       // tokens that stand and were refused as held up
	sigmas                     []float64 // stated, the larger of x and y, in mm
	off                        []float64 // places' errors, in stated sigmas
	answers                    answerTally
	mm, raisedMM               []float64    // distances from the truth, and with each base at its true height
	stated, fit                [3][]float64 // x, y and heading, over the stated sigma and over the fit's own
	raised                     [2][]float64 // x and y over the fit's own, with each base at its true height
}

func (a *fitTally) String() string {
	over := func(v [3][]float64) string {
		return fmt.Sprintf("x %.2f, y %.2f, heading %.2f", rms(v[0]), rms(v[1]), rms(v[2]))
	}
	wide, beyond, sigma := 0, 0, 0.0
	for i, s := range a.sigmas {
		sigma += s / float64(len(a.sigmas))
		if s > 0.5 {
			wide++
		}
		if a.off[i] > 4 {
			beyond++
		}
	}
	return fmt.Sprintf("%4d of %4d with a whole side, %d wrong, %d of %d refused as held up, %.3f mm rms; sigma %.3f mm in the mean, "+
		"above 0.5 mm for %d of %d, %d off by more than 4; error over stated sigma: %s; over the fit's: %s; "+
		"with bases at their true heights %.3f mm, x %.2f, y %.2f of the fit's; %v", a.found, a.whole, a.wrong, a.held, a.ships, rms(a.mm),
		sigma, wide, len(a.sigmas), beyond, over(a.stated), over(a.fit), rms(a.raisedMM), rms(a.raised[0]), rms(a.raised[1]), &a.answers)
}

// is reports whether a ship that was named is this one, where it stands.
func (s sighting) is(g engine.Ship) bool {
	return g.ID == s.id && float64(g.Pose.Distance(s.truth.Point)) < 3 && g.Pose.Heading.Distance(s.truth.Heading) < 2*deg
}

// add compares one picture with its truth, and returns what is missing or wrong.
func (a *fitTally) add(r *rendered, camera *calibration.Camera, ships []sighting, got vision.Located) (says []string) {
	for _, s := range ships {
		a.ships++
		k := slices.IndexFunc(got.Scene.Ships, s.is)
		if s.wholeSide {
			a.whole++
		}
		if k < 0 {
			if slices.ContainsFunc(got.Raised, func(v vision.RaisedToken) bool {
				return v.ID == s.id && float64(v.At.Distance(s.truth.Point)) < 10
			}) {
				a.held++
				says = append(says, s.id+" is refused as held up")
			} else if s.wholeSide {
				says = append(says, s.id+" is missing")
			}
			continue
		}
		if s.wholeSide {
			a.found++
		}
		s.got = got.Scene.Ships[k]
		fit := got.Ships[slices.IndexFunc(got.Ships, func(v vision.ShipView) bool { return v.ID == s.id })].Fit
		d := s.offset()
		c := s.got.Covariance
		a.sigmas = append(a.sigmas, math.Sqrt(max(c[0], c[4])))
		a.off = append(a.off, math.Sqrt((c[4]*d.X*d.X-2*c[1]*d.X*d.Y+c[0]*d.Y*d.Y)/(c[0]*c[4]-c[1]*c[1])))
		a.mm = append(a.mm, d.Norm())
		for i, e := range [...]float64{d.X, d.Y, s.turn()} {
			a.stated[i] = append(a.stated[i], e/math.Sqrt(s.got.Covariance[4*i]))
			a.fit[i] = append(a.fit[i], e/math.Sqrt(fit[4*i]))
		}
		px, _ := camera.PixelOf(s.got.Pose.Point, token.BaseTop)
		p, _ := camera.PointAt(px, r.topOf(s.id))
		d = p.Sub(s.truth.Point)
		a.raisedMM = append(a.raisedMM, d.Norm())
		for i, e := range [...]float64{d.X, d.Y} {
			a.raised[i] = append(a.raised[i], e/math.Sqrt(fit[4*i]))
		}
	}
	for _, g := range got.Scene.Ships {
		if !slices.ContainsFunc(ships, func(s sighting) bool { return s.is(g) }) {
			a.wrong++
			says = append(says, fmt.Sprintf("WRONG %s at (%.1f, %.1f)", g.ID, g.Pose.X, g.Pose.Y))
		}
	}
	return says
}

// topOf is the mean height of a ship's token over the mat's plane, in mm.
func (r *rendered) topOf(id string) geom.Length {
	for _, s := range r.Ships {
		if s.ID == id {
			z := 0.0
			for _, c := range s.TopMM {
				z += c[2] / 4
			}
			return geom.Length(z)
		}
	}
	return token.BaseTop
}

// reexposed is a photorealistic picture that another camera took.
type reexposed struct{ dir, seed, camera string }

func (p reexposed) name() string { return p.seed + "/" + p.camera }

// eachReexposed calls do for the pictures in the folders that SIGHTLINE_REEXPOSED names, or those that SIGHTLINE_ONLY names. It skips the
// test where there are none.
func eachReexposed(t *testing.T, do func(reexposed)) {
	roots := os.Getenv("SIGHTLINE_REEXPOSED")
	if roots == "" {
		t.Skip("SIGHTLINE_REEXPOSED names no folder of rendered pictures: see docs/accuracy.md")
	}
	for _, truth := range renderedTruths(t, roots) {
		dir := filepath.Dir(truth)
		p := reexposed{dir, strings.TrimPrefix(filepath.Base(filepath.Dir(dir)), "p"), filepath.Base(dir)}
		if only := os.Getenv("SIGHTLINE_ONLY"); only == "" || strings.Contains(","+only+",", ","+p.name()+",") {
			do(p)
		}
	}
}

// eachReexposedOnMat does so for those of which the folder SIGHTLINE_EMPTY_MATS holds pictures of the mat with nothing on it.
func eachReexposedOnMat(t *testing.T, do func(p reexposed, empty []vision.Frame)) {
	mats := os.Getenv("SIGHTLINE_EMPTY_MATS")
	if mats == "" {
		t.Skip("SIGHTLINE_EMPTY_MATS names no folder of rendered pictures: see docs/accuracy.md")
	}
	eachReexposed(t, func(p reexposed) {
		if empty := picturesOf(t, filepath.Join(mats, "e"+p.seed, p.camera), true); len(empty) > 0 {
			do(p, empty)
		}
	})
}

// TestShipsReexposed measures names and places in photorealistic pictures that other cameras took, through the true camera.
// SIGHTLINE_REEXPOSED names folders that hold pSEED/CAMERA, with sides.json in it (docs/accuracy.md); SIGHTLINE_ONLY names some
// of them, as SEED/CAMERA with commas between.
func TestShipsReexposed(t *testing.T) {
	by := map[string]*fitTally{"all": {}}
	eachReexposed(t, func(p reexposed) {
		r, f := readRendered(t, p.dir)
		ships, known := r.sightings(t, p.dir)
		if !known {
			t.Logf("%s: which sides can be seen is not known: testdata/sides.py works it out", p.name())
		}
		table := calibration.Table{
			Camera: r.Camera(),
			Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		}
		l, err := locate.New(table, drawnTokens())
		require.NoError(t, err)
		got, err := l.Locate(f)
		require.NoError(t, err)
		said := answered(t, p.name(), r, got)
		for i, name := range []string{"all", "seed " + p.seed, "camera " + p.camera} {
			if by[name] == nil {
				by[name] = &fitTally{}
			}
			by[name].answers.join(said)
			if says := by[name].add(r, &table.Camera, ships, got); i == 0 && len(says) > 0 {
				t.Logf("%s: %s", p.name(), strings.Join(says, ", "))
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(by)) {
		t.Logf("%-20s %v", name, by[name])
	}
	for _, w := range by["all"].answers.lost {
		t.Log("    ", w)
	}
	assert.Zero(t, by["all"].wrong, "wrong identities")
	assert.Zero(t, by["all"].answers.wrong, "decided answers that the truth contradicts")
	assert.GreaterOrEqual(t, float64(by["all"].found), 0.95*float64(by["all"].whole), "ships with a whole side in view that were identified")
}
