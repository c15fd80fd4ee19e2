package accuracy

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/exposure"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
)

// lineTally counts what is said of obstruction on the lines of some pictures, for ships in their
// true places.
type lineTally struct {
	all, decided, falseNever, falseOther int
	noView                               int
	clear, kept, seen                    int // lines clear of clutter, those that are answered, and would be if nothing were blind
	good, goodKept                       int // of the clear ones those whose band shows the bare mat, and that are answered
	things                               int // unknown things where nothing lies
	blind                                float64
	wrong                                []string
	keepers                              []string // clear lines that unknown things keep from being answered
}

func (l *lineTally) join(o *lineTally) {
	l.all, l.decided, l.noView = l.all+o.all, l.decided+o.decided, l.noView+o.noView
	l.falseNever, l.falseOther = l.falseNever+o.falseNever, l.falseOther+o.falseOther
	l.clear, l.kept, l.blind = l.clear+o.clear, l.kept+o.kept, l.blind+o.blind
	l.seen, l.things = l.seen+o.seen, l.things+o.things
	l.good, l.goodKept = l.good+o.good, l.goodKept+o.goodKept
	l.wrong = append(l.wrong, o.wrong...)
}

func (l *lineTally) String() string {
	return fmt.Sprintf("%d lines: %d decided, %d false never, %d other false, %.1f %% no_view; "+
		"of %d clear of clutter %.1f %% kept (%.1f %% without blind areas), of %d in good view %.1f %%; %d unknown things of nothing",
		l.all, l.decided, l.falseNever, l.falseOther, 100*float64(l.noView)/max(1, float64(l.all)),
		l.clear, 100*float64(l.kept)/max(1, float64(l.clear)),
		100*float64(l.seen)/max(1, float64(l.clear)), l.good, 100*float64(l.goodKept)/max(1, float64(l.good)), l.things)
}

// clutterReach is how far about, in mm, what a kind of clutter is and its shadow reach.
var clutterReach = map[string]float64{"token": 18, "die": 22, "dial": 42, "card": 62, "template": 80, "ruler": 160, "mug": 70, "hand": 220}

// armWide is the radius of a sleeve with its shadow, in mm, as it appears on the mat.
const armWide = 110.0

// inTheWay returns discs, as x, y and radius in mm, round what lies on the table besides ships
// and obstacles, from the renderer's settings; ok is false where those are not known.
func inTheWay(t *testing.T, dir string) (discs [][3]float64, ok bool) {
	data, err := os.ReadFile(filepath.Join(dir, "settings.json"))
	if err != nil {
		return nil, false
	}
	var s struct {
		Clutter []struct {
			Kind string  `json:"kind"`
			X    float64 `json:"x_mm"`
			Y    float64 `json:"y_mm"`
			Turn float64 `json:"heading_deg"`
		} `json:"clutter"`
	}
	require.NoError(t, json.Unmarshal(data, &s))
	for _, c := range s.Clutter {
		discs = append(discs, [3]float64{c.X, c.Y, clutterReach[c.Kind]})
		if c.Kind != "hand" {
			continue
		}
		hand := geom.Pose{Point: geom.Point{X: c.X, Y: c.Y}, Heading: geom.Angle(c.Turn) * geom.Degree}
		for y := -250.0; y > -700; y -= armWide / 2 { // its sleeve
			p := hand.Transform(geom.Point{X: 30, Y: y})
			discs = append(discs, [3]float64{p.X, p.Y, armWide})
		}
	}
	return discs, true
}

// obstructions measures all attacks and returns their verdicts by pair and arc.
func obstructions(t *testing.T, s engine.Scene) map[string]*engine.AttackVerdict {
	r, err := engine.Measure(&s, engine.Options{Sigmas: 3})
	require.NoError(t, err)
	out := map[string]*engine.AttackVerdict{}
	for _, p := range r.Pairs {
		for _, a := range p.Arcs {
			if a.Attack != nil {
				out[p.From+" "+p.To+" "+a.Arc.String()] = a.Attack
			}
		}
	}
	return out
}

const (
	bandReach = 3.0  // mm about a line: what lies so near counts as on it
	bandEnds  = 15.0 // mm of a line next to a base, which hides some of the mat
	bandBare  = 0.98 // share of a band that shows the bare mat: noise alone takes some cells from it
)

// inGoodView reports whether a picture shows the bare mat all along some lines, and no blind part of it.
func inGoodView(lines []geom.Line, got *vision.Located) bool {
	var ends geom.Polygon
	for _, l := range lines {
		ends = append(ends, l[0], l[1])
	}
	band := ends.Hull(nil)
	if slices.ContainsFunc(got.Scene.Blind, func(b engine.BlindArea) bool { return geom.Gap(band, b.Outline) <= bandReach }) {
		return false
	}
	lo, hi := ends.Bounds()
	bare, all := 0, 0
	for y := lo.Y - bandReach; y <= hi.Y+bandReach; y++ {
		for x := lo.X - bandReach; x <= hi.X+bandReach; x++ {
			p := geom.Point{X: x, Y: y}
			if geom.Gap(band, []geom.Point{p}) > bandReach {
				continue
			}
			seen := got.Obstacles.Coverage.At(p)
			if seen != vision.CellCovered && slices.ContainsFunc(ends, func(e geom.Point) bool { return e.Distance(p) < bandEnds }) {
				continue // next to a base, which hides the mat
			}
			if all++; seen == vision.CellBare {
				bare++
			}
		}
	}
	return all > 0 && float64(bare) >= bandBare*float64(all) // between bases that nearly touch no mat is seen
}

// lines compares the obstruction of every pair of ships that were found, put into their true
// places, by what was located with the truth.
func lines(t *testing.T, name, dir string, r *rendered, got vision.Located) *lineTally {
	var truth engine.Scene
	truth.Rules = engine.Rules25
	for _, s := range r.Ships {
		base, err := engine.ParseBase(s.Base)
		require.NoError(t, err)
		pose := geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree}
		truth.Ships = append(truth.Ships, engine.Ship{ID: s.ID, Base: base, Pose: pose})
	}
	seen := truth
	seen.Obstacles, seen.ObstaclesUnseen = got.Scene.Obstacles, got.Scene.ObstaclesUnseen
	seen.Unknown, seen.Blind = got.Scene.Unknown, got.Scene.Blind
	for i, o := range r.obstacles() {
		truth.Obstacles = append(truth.Obstacles, engine.Obstacle{ID: fmt.Sprint(o.name, "#", i), Kind: "asteroid", Outline: o.outline})
	}
	discs, known := inTheWay(t, dir)
	located := map[string]bool{}
	for _, s := range got.Scene.Ships {
		located[s.ID] = true
	}
	for _, s := range r.Ships {
		if !located[s.ID] { // a base whose code is not read is an unknown thing
			discs = append(discs, [3]float64{s.X, s.Y, 70})
		}
	}
	l := &lineTally{}
	want, have := obstructions(t, truth), obstructions(t, seen)
	seen.Blind = nil
	sighted := obstructions(t, seen)
	for key, w := range want {
		if ends := strings.Fields(key); !located[ends[0]] || !located[ends[1]] {
			continue
		}
		h := have[key]
		v := h.Obstruction.Verdict
		l.all++
		// Far lines and thin ones alike are asked for the discs' distance from their middle line.
		if known && w.Obstruction.Margin > 10 && !slices.ContainsFunc(discs, func(d [3]float64) bool {
			line := []geom.Point{w.Lines[0][0], w.Lines[0][1]}
			return float64(geom.Gap(line, []geom.Point{{X: d[0], Y: d[1]}})) < d[2]
		}) {
			l.clear++
			answered := v != "no_view" && v != "too_close"
			if answered {
				l.kept++
			}
			if inGoodView(w.Lines, &got) {
				l.good++
				if answered {
					l.goodKept++
				}
			}
			if u := sighted[key].Obstruction.Verdict; u != "no_view" && u != "too_close" {
				l.seen++
			} else if v == "no_view" {
				l.keepers = append(l.keepers, key)
			}
		}
		switch {
		case v == "no_view":
			l.noView++
		case v == "too_close":
		case v == w.Obstruction.Verdict:
			l.decided++
		default:
			l.decided++
			if v == "never" {
				l.falseNever++
			} else {
				l.falseOther++
			}
			l.wrong = append(l.wrong, fmt.Sprintf("%s %s: said %s (margin %.1f mm), true %s by %v (margin %.1f mm)",
				name, key, v, float64(h.Obstruction.Margin), w.Obstruction.Verdict, w.Obstruction.By, float64(w.Obstruction.Margin)))
		}
	}
	for _, u := range got.Scene.Unknown {
		near := func(p geom.Point, reach float64) bool { return u.Contains(p) || u.BoundaryDistance(p) < reach }
		if known && !slices.ContainsFunc(discs, func(d [3]float64) bool { return near(geom.Point{X: d[0], Y: d[1]}, d[2]) }) &&
			!slices.ContainsFunc(truth.Ships, func(s engine.Ship) bool { return near(s.Pose.Point, 90) }) &&
			!slices.ContainsFunc(r.obstacles(), func(o trueObstacle) bool { return near(o.middle(), 45) }) {
			l.things++
			l.wrong = append(l.wrong, fmt.Sprintf("%s: nothing lies at %.0f", name, u))
		}
	}
	keepers := l.keepers
	l.keepers = nil
	for _, u := range got.Scene.Unknown { // what would be answered with this thing alone
		one := truth
		one.Obstacles, one.Unknown = seen.Obstacles, []geom.Polygon{u}
		kept := 0
		if len(keepers) > 0 {
			alone := obstructions(t, one)
			for _, key := range keepers {
				if alone[key].Obstruction.Verdict == "no_view" {
					kept++
				}
			}
		}
		if kept > 0 {
			l.keepers = append(l.keepers, fmt.Sprintf("%s: %d clear lines are kept by the thing at %.0f", name, kept, u))
		}
	}
	for _, b := range got.Scene.Blind {
		l.blind += b.Outline.Area()
	}
	return l
}

// answered holds every decided answer about what was located, where it was located, to the truth.
func answered(t *testing.T, name string, r *rendered, got vision.Located) *answerTally {
	truth := engine.Scene{Rules: got.Scene.Rules}
	for _, s := range r.Ships {
		base, err := engine.ParseBase(s.Base)
		require.NoError(t, err)
		pose := geom.Pose{Point: geom.Point{X: s.X, Y: s.Y}, Heading: geom.Angle(s.Heading) * geom.Degree}
		truth.Ships = append(truth.Ships, engine.Ship{ID: s.ID, Base: base, Pose: pose})
	}
	for i, o := range r.obstacles() {
		truth.Obstacles = append(truth.Obstacles, engine.Obstacle{ID: fmt.Sprint(o.name, "#", i), Kind: "asteroid", Outline: o.outline})
	}
	a := &answerTally{}
	a.add(t, name, got.Scene, truth)
	return a
}

// picturesOf returns a folder's pictures of one resting table: image.jpg, image-1.jpg …; one
// of them only unless all are asked for.
func picturesOf(t *testing.T, dir string, all bool) (out []vision.Frame) {
	names, err := filepath.Glob(filepath.Join(dir, "image*.jpg"))
	require.NoError(t, err)
	slices.Sort(names)
	for _, n := range names {
		if all || filepath.Base(n) == "image.jpg" {
			out = append(out, readPicture(t, n))
		}
	}
	return out
}

// locateReexposed locates a folder's picture, or as SIGHTLINE_AVERAGE says, against the mean of pictures of the empty mat.
func locateReexposed(
	t *testing.T, d vision.MarkerDetector, c *catalogue.Catalogue, dir string, empty []vision.Frame,
) (*rendered, vision.Located) {
	r, f := readRendered(t, dir)
	all := picturesOf(t, dir, true)
	how := os.Getenv("SIGHTLINE_AVERAGE")
	if how == "1" && len(all) > 1 {
		var mean exposure.Averager
		for _, p := range all {
			require.NoError(t, mean.Add(p))
		}
		var err error
		f, err = mean.Frame()
		require.NoError(t, err)
	}
	table := register(t, d, r.intrinsics(), calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), f)
	if how == "running" {
		var before []vision.Frame
		if camera := os.Getenv("SIGHTLINE_BEFORE"); camera != "" {
			before = picturesOf(t, filepath.Join(filepath.Dir(dir), camera), true)
			require.NotEmpty(t, before, camera)
		}
		l := locatorOn(t, table, c, empty, true)
		if before != nil {
			locateResting(t, l, before)
		}
		return r, locateResting(t, l, all)
	}
	return r, locateOn(t, table, c, empty, f)
}

// locatorOn returns a locator of a table, against the mean of pictures of its mat with nothing on it.
func locatorOn(
	t *testing.T, table calibration.Table, c *catalogue.Catalogue, empty []vision.Frame, inBackground bool,
) *locate.Locator {
	learner := obstacle.NewBackgroundLearner(table)
	for _, e := range empty {
		require.NoError(t, learner.Add(e))
	}
	o := drawnTokens()
	var err error
	o.Catalogue, o.InBackground = c, inBackground
	o.Background, err = learner.Background()
	require.NoError(t, err)
	l, err := locate.New(table, o)
	require.NoError(t, err)
	return l
}

// locateOn locates a picture of a table against the mean of pictures of its mat with nothing on it.
func locateOn(t *testing.T, table calibration.Table, c *catalogue.Catalogue, empty []vision.Frame, f vision.Frame) vision.Located {
	got, err := locatorOn(t, table, c, empty, false).Locate(f)
	require.NoError(t, err)
	return got
}

// locateResting shows pictures of a table at rest one after the other, from the first again after the last, as a running program sees
// them, until no later one can show more of the obstacles.
func locateResting(t *testing.T, l *locate.Locator, all []vision.Frame) (got vision.Located) {
	const most = 200
	for n := range most {
		var err error
		got, err = l.Locate(all[n%len(all)])
		require.NoError(t, err)
		if !got.Obstacles.Pending() && !got.Obstacles.Refining {
			silent := 0
			for k := range 3 * len(all) {
				again, err := l.Locate(all[(n+k)%len(all)])
				require.NoError(t, err)
				if again.Obstacles.Pending() {
					silent++
				} else {
					got = again
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Logf("%s: what is said rests on %d pictures, and %d of %d later ones say nothing", all[0].Name, n+1, silent, 3*len(all))
			return got
		}
		time.Sleep(50 * time.Millisecond) // a search goes on meanwhile
	}
	t.Errorf("%s: obstacles are still being looked for after %d pictures", all[0].Name, most)
	return got
}

// TestObstaclesReexposed measures the obstacles and the obstruction of every line in
// photorealistic pictures that other cameras took: noise, a colour mosaic, blur, sharpening,
// light, compression. The folders are as for TestObstaclesRendered, one folder for each camera
// within each seed's; image-1.jpg … next to image.jpg show the same table with other noise.
// With SIGHTLINE_AVERAGE=1 they are averaged, with SIGHTLINE_AVERAGE=running shown one after the other, as a running program sees them,
// and after those of the camera that SIGHTLINE_BEFORE names: as if the table or the light had changed in the middle of a game.
func TestObstaclesReexposed(t *testing.T) {
	catalogue, d := publishedCatalogue(t), markerDetector(t)
	cameras, lined, answers := map[string]*obstacleTally{}, map[string]*lineTally{}, &answerTally{}
	var elapsed time.Duration
	pictures := 0
	eachReexposedOnMat(t, func(p reexposed, empty []vision.Frame) {
		r, got := locateReexposed(t, d, catalogue, p.dir, empty)
		elapsed, pictures = elapsed+got.Elapsed, pictures+1
		name, camera := p.name(), p.camera
		one := &obstacleTally{name: name}
		one.add(r.obstacles(), got)
		of, said := lines(t, name, p.dir, r, got), answered(t, name, r, got)
		answers.join(said)
		if one.right < one.all || one.invented+one.wrong > 0 {
			t.Log(one)
			for _, lost := range one.lost {
				t.Log("    ", lost)
			}
		}
		t.Logf("%s: %v; blind %.1f %%; %s", name, of, of.blind/914.4/914.4*100, got.Obstacles.Unseen+got.Obstacles.DescribePushed())
		t.Logf("%s: %v", name, said)
		for _, kept := range of.keepers {
			t.Log("    ", kept)
		}
		if cameras[camera] == nil {
			cameras[camera], lined[camera] = &obstacleTally{name: camera}, &lineTally{}
		}
		cameras[camera].join(one)
		lined[camera].join(of)
	})
	sum, total := &obstacleTally{name: "re-exposed"}, &lineTally{}
	for _, camera := range slices.Sorted(maps.Keys(cameras)) {
		t.Log(cameras[camera])
		t.Log(camera, lined[camera])
		sum.join(cameras[camera])
		total.join(lined[camera])
	}
	t.Log(sum)
	t.Log("all", total)
	t.Log(answers)
	for _, w := range append(total.wrong, answers.lost...) {
		t.Log("    ", w)
	}
	t.Logf("a picture takes %v in the mean", elapsed/time.Duration(max(pictures, 1)))
	assert.Zero(t, sum.silent, "obstacles that nothing was said of")
	assert.Zero(t, sum.wrong+sum.invented, "wrong or invented obstacles")
	assert.Zero(t, answers.wrong, "decided answers that the truth contradicts")
	assert.Zero(t, total.falseNever, "lines that were called clear and are not")
	assert.GreaterOrEqual(t, float64(total.kept), 0.95*float64(total.clear), "lines in good view that are answered")
}

// TestForeignObstaclesReexposed searches the same pictures with a catalogue that lacks every obstacle on the table: whatever is
// recognised is wrong, and what lies there must be unknown or blind.
func TestForeignObstaclesReexposed(t *testing.T) {
	whole, d := publishedCatalogue(t), markerDetector(t)
	sum, total := &obstacleTally{name: "foreign"}, &lineTally{}
	eachReexposedOnMat(t, func(p reexposed, empty []vision.Frame) {
		r, _ := readRendered(t, p.dir)
		lacking := *whole
		lacking.Entries = slices.DeleteFunc(slices.Clone(whole.Entries), func(e catalogue.Entry) bool {
			return slices.ContainsFunc(r.obstacles(), func(o trueObstacle) bool { return o.name == e.Name })
		})
		r, got := locateReexposed(t, d, &lacking, p.dir, empty)
		one := &obstacleTally{name: p.name()}
		one.add(r.obstacles(), got)
		for _, lost := range one.lost {
			if !strings.Contains(lost, "said to be unknown") {
				t.Logf("%s: %s", one.name, lost)
			}
		}
		sum.join(one)
		total.join(lines(t, one.name, p.dir, r, got))
	})
	t.Log(sum)
	t.Log("all", total)
	for _, w := range total.wrong {
		t.Log("    ", w)
	}
	assert.Zero(t, sum.silent, "obstacles that nothing was said of")
	assert.Zero(t, sum.wrong+sum.invented, "wrong or invented obstacles")
	assert.Zero(t, total.falseNever, "lines that were called clear and are not")
}
