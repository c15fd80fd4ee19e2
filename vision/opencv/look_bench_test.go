//go:build opencv

package opencv

import (
	"image"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"gocv.io/x/gocv"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/visiontest"
	"sightline/vision/look"
)

// cardTable is a camera over a small mat, 1 px to a millimetre, and a card of smooth random colours.
type cardTable struct {
	calibration.Table
	ink [90][90][3]float64
}

func newCardTable(seed uint64) *cardTable {
	c := &cardTable{Table: visiontest.TableOf(1.02, 260)}
	rng := rand.New(rand.NewPCG(seed, 5))
	for i := range c.ink {
		for j := range c.ink[i] {
			for k := range 3 {
				c.ink[i][j][k] = 30 + 200*rng.Float64()
			}
		}
	}
	return c
}

// picture shows the card's base at some poses; hidden is how much of it a disc hides.
func (c *cardTable) picture(base engine.Base, hidden float64, at ...geom.Pose) vision.Frame {
	w, h := c.Intrinsics.Width, c.Intrinsics.Height
	size, _ := base.Size()
	half := float64(size) / 2
	f := vision.Frame{Gray: image.NewGray(image.Rect(0, 0, w, h)), Color: &vision.BGR{Pix: make([]byte, 3*w*h), Width: w, Height: h}}
	rng := rand.New(rand.NewPCG(9, 9))
	for k := range f.Gray.Pix {
		p, _ := c.PointAt(geom.Pixel{X: float64(k % w), Y: float64(k / w)}, look.CardTop)
		sum := 0.0
		for ch := range 3 {
			v := 40.0
			for _, b := range at {
				q := b.Inverse(p)
				if r := max(math.Abs(q.X), math.Abs(q.Y)); r > half || q.Sub(geom.Point{X: half / 3}).Norm() < hidden*half {
					continue
				} else if r > half-1.7 {
					v = 10
					continue
				}
				x, y := (q.X+half)/2, (q.Y+half)/2 // inks of 2 mm, blended
				i, j := int(x), int(y)
				u, t := x-float64(i), y-float64(j)
				v = (1-u)*(1-t)*c.ink[i][j][ch] + u*(1-t)*c.ink[i+1][j][ch] + (1-u)*t*c.ink[i][j+1][ch] + u*t*c.ink[i+1][j+1][ch]
			}
			v += rng.NormFloat64()
			f.Color.Pix[3*k+ch] = uint8(v)
			sum += v / 3
		}
		f.Gray.Pix[k] = uint8(sum)
	}
	return f
}

// BenchmarkHeadingByLook compares the search for a base's place and heading by its card with OpenCV's matchTemplate over the same
// places and headings of the same picture: the best of all rounds, processor time.
func BenchmarkHeadingByLook(b *testing.B) {
	for _, base := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		b.Run(base.String(), func(b *testing.B) {
			c := newCardTable(7)
			var views []look.View
			for i := range 4 {
				at := geom.Pose{Point: geom.Point{X: 130, Y: 130}, Heading: geom.Angle(i) * math.Pi / 2}
				views = append(views, look.View{Table: c.Table, Frame: c.picture(base, 0, at), Pose: at})
			}
			l, err := look.Learn(look.Card{Name: "A1", Ships: []string{"A1"}, Base: base}, views)
			require.NoError(b, err)
			f := look.NewFinder(c.Table, &look.Library{Looks: []*look.Look{l}}, calibration.Uncertainty{})
			frame := c.picture(base, 0.55, geom.Pose{Point: geom.Point{X: 133, Y: 126}, Heading: 1.3})
			hint := look.Hint{Base: base, Pose: geom.Pose{Point: geom.Point{X: 130, Y: 130}}, Reach: 12, Turn: math.Pi, Ship: "A1"}
			match := newTemplates(c, base, frame)
			defer match.close()
			ours, theirs := math.Inf(1), math.Inf(1)
			for b.Loop() {
				ours = min(ours, cpuTime(func() {
					s, ok, err := f.Near(frame, hint)
					require.NoError(b, err)
					require.True(b, ok && float64(s.Pose.Heading.Distance(1.3)) < 0.02)
				}))
				theirs = min(theirs, cpuTime(match.all))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1000*ours, "ms/look")
			b.ReportMetric(1000*theirs, "ms/matchTemplate")
			b.ReportMetric(ours/theirs, "look/matchTemplate")
		})
	}
}

// templates are the card in 60 headings, and the part of the picture where it is looked for.
type templates struct {
	part gocv.Mat
	card []gocv.Mat
}

func newTemplates(c *cardTable, base engine.Base, frame vision.Frame) *templates {
	w, h := frame.Size()
	size, _ := base.Size()
	side := int(1.02 * float64(size))
	middle := image.Pt(w/2, h/2)
	crop := func(f vision.Frame, r int) gocv.Mat {
		m, err := gocv.NewMatFromBytes(h, w, gocv.MatTypeCV8UC3, f.Color.Pix)
		if err != nil {
			panic(err)
		}
		defer m.Close()
		part := m.Region(image.Rect(middle.X-r, middle.Y-r, middle.X+r, middle.Y+r))
		defer part.Close()
		return part.Clone()
	}
	t := &templates{part: crop(frame, side/2+13)} // 12 mm each way
	for i := range 60 {
		at := geom.Pose{Point: geom.Point{X: 130, Y: 130}, Heading: geom.Angle(i) * 2 * math.Pi / 60}
		t.card = append(t.card, crop(c.picture(base, 0, at), side/2))
	}
	return t
}

func (t *templates) all() {
	out, mask := gocv.NewMat(), gocv.NewMat()
	defer out.Close()
	defer mask.Close()
	for i := range t.card {
		gocv.MatchTemplate(t.part, t.card[i], &out, gocv.TmCcoeffNormed, mask)
	}
}

func (t *templates) close() {
	t.part.Close()
	for i := range t.card {
		t.card[i].Close()
	}
}

// cpuTime returns the seconds that this process worked while do ran.
func cpuTime(do func()) float64 {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	do()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano()) / 1e9
}
