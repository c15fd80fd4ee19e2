package accuracy

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
)

// paster copies obstacles of a rendered picture under its ships: what the picture shows of a ship hides them, and its shadow dims them.
type paster struct {
	r      *rendered
	camera calibration.Camera
	from   *image.Gray    // the picture as it was rendered
	mat    []float64      // the bare mat in its light, pixel by pixel
	noise  float64        // of the picture, grey levels
	feet   []geom.Polygon // the ships' bases
	rng    *rand.Rand
}

const (
	cardTop = 2.0 // mm: height of an obstacle's print

	// What a base leaves in view of an obstacle's border that is pasted under it, and how much of its area must be in view in the end.
	pasteLeast, pasteMost, pasteSeen = 0.45, 0.85, 0.35
)

// newPaster returns the paster of a picture, with pictures of its mat with nothing on it.
func newPaster(r *rendered, camera calibration.Camera, from *image.Gray, empty []vision.Frame, seed uint64) *paster {
	p := &paster{r: r, camera: camera, from: from, mat: make([]float64, len(from.Pix)), rng: rand.New(rand.NewPCG(seed, 7))}
	for _, e := range empty {
		for k, v := range e.Gray.Pix {
			p.mat[k] += float64(v) / float64(len(empty))
		}
	}
	const every = 37
	var ratio, off []float64
	for k := 0; k < len(p.mat); k += every {
		if p.mat[k] > 15 {
			ratio = append(ratio, float64(from.Pix[k])/p.mat[k])
		}
	}
	slices.Sort(ratio)
	for k := range p.mat {
		p.mat[k] *= ratio[len(ratio)/2]
		if k%every == 0 {
			off = append(off, math.Abs(p.mat[k]-float64(from.Pix[k])))
		}
	}
	slices.Sort(off)
	p.noise = off[len(off)/2]/0.6745 + 0.5
	for _, s := range r.Ships {
		var top geom.Polygon
		for _, c := range s.TopMM {
			top = append(top, geom.Point{X: c[0], Y: c[1]})
		}
		p.feet = append(p.feet, top.Hull(nil))
	}
	return p
}

// circle returns the middle of a polygon's corners, and how far the farthest is from it.
func circle(p geom.Polygon) (middle geom.Point, radius float64) {
	middle = trueObstacle{outline: p}.middle()
	for _, q := range p {
		radius = max(radius, float64(q.Distance(middle)))
	}
	return middle, radius
}

// all returns the picture with an obstacle under each ship where there is room for one, and adds them to the truth.
func (p *paster) all() *image.Gray {
	to := image.NewGray(p.from.Rect)
	copy(to.Pix, p.from.Pix)
	taken := p.r.obstacles()
	var sources []trueObstacle
	for _, o := range taken {
		if o.visible > 0.97 && p.lit(o.outline) {
			sources = append(sources, o)
		}
	}
	for i := range p.r.Ships {
		for try := 0; try < 300 && len(sources) > 0; try++ {
			o := sources[p.rng.IntN(len(sources))]
			middle, _ := circle(o.outline)
			foot, _ := circle(p.feet[i])
			sin, cos := math.Sincos(2 * math.Pi * p.rng.Float64())
			pose := geom.Pose{Point: foot.Add(geom.Point{X: cos, Y: sin}.Mul(15 + 45*p.rng.Float64()))}
			pose.Heading = geom.Angle(2 * math.Pi * p.rng.Float64())
			var outline geom.Polygon
			for _, q := range o.outline {
				outline = append(outline, pose.Transform(q.Sub(middle)))
			}
			if !p.hasRoom(i, outline, taken) {
				continue
			}
			pixels, visible := p.paste(outline, func(q geom.Point) geom.Point { return pose.Inverse(q).Add(middle) })
			if visible < pasteSeen {
				continue
			}
			for k, v := range pixels {
				to.Pix[k] = v
			}
			n := len(p.r.Obstacles)
			p.r.Obstacles = append(p.r.Obstacles, p.r.Obstacles[0])
			one := &p.r.Obstacles[n]
			one.ID, one.Visible, one.Top = o.name, visible, nil
			for _, q := range outline {
				one.Top = append(one.Top, [3]float64{q.X, q.Y, cardTop})
			}
			taken = p.r.obstacles()
			break
		}
	}
	return to
}

// lit reports whether most of the mat around an obstacle lies in no shadow: a copy of its print would be dimmed twice.
func (p *paster) lit(outline geom.Polygon) bool {
	const around, dimmed = 6.0, 0.7 // mm; share of the light
	middle, _ := circle(outline)
	dark := 0
	for _, q := range outline {
		px, ok := p.camera.PixelOf(q.Add(q.Sub(middle).Mul(around/float64(q.Distance(middle)))), 0)
		at := image.Pt(int(px.X), int(px.Y))
		if !ok || !at.In(p.from.Rect.Inset(2)) {
			continue
		}
		if share, _ := p.shade(at.X, at.Y); share < dimmed {
			dark++
		}
	}
	return 2*dark < len(outline)
}

// hasRoom reports whether an outline can lie under ship i and nothing else.
func (p *paster) hasRoom(i int, outline geom.Polygon, taken []trueObstacle) bool {
	seen := 0
	for _, q := range outline {
		if min(q.X, q.Y) < 5 || max(q.X, q.Y) > float64(calibration.MatSide)-5 {
			return false
		}
		if !p.feet[i].Contains(q) {
			seen++
		}
	}
	if share := float64(seen) / float64(len(outline)); share < pasteLeast || share > pasteMost {
		return false
	}
	for n, f := range p.feet {
		if n != i && geom.Gap(f.Hull(nil), outline.Hull(nil)) < 4 {
			return false
		}
	}
	return !slices.ContainsFunc(taken, func(o trueObstacle) bool { return geom.Gap(o.outline.Hull(nil), outline.Hull(nil)) < 4 })
}

// paste returns the pixels that change when an outline's print lies there, and what share of its area they are. source says where a
// point of it is taken from.
func (p *paster) paste(outline geom.Polygon, source func(geom.Point) geom.Point) (pixels map[int]uint8, visible float64) {
	pixels = map[int]uint8{}
	box := image.Rectangle{}
	for _, q := range outline {
		px, _ := p.camera.PixelOf(q, cardTop)
		box = box.Union(image.Rect(int(px.X)-1, int(px.Y)-1, int(px.X)+2, int(px.Y)+2))
	}
	all := 0
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			q, ok := p.camera.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, cardTop)
			k := y*p.from.Stride + x
			if !ok || !(image.Point{X: x, Y: y}).In(p.from.Rect.Inset(3)) {
				continue
			}
			out := outline.BoundaryDistance(q)
			if outline.Contains(q) {
				out = -out
				all++
			}
			alpha := min(max(0.5-out, 0), 1)
			share, hidden := p.shade(x, y)
			if alpha == 0 || hidden {
				continue
			}
			at, _ := p.camera.PixelOf(source(q), cardTop)
			print := levelOf(lightOf(bilinear(p.from, at)) * share)
			pixels[k] = uint8(min(max(alpha*print+(1-alpha)*float64(p.from.Pix[k])+0.5, 0), 255))
		}
	}
	return pixels, float64(len(pixels)) / float64(max(all, 1))
}

// shade returns what share of the light a ship's shadow leaves at a pixel, and whether a ship hides it.
func (p *paster) shade(x, y int) (share float64, hidden bool) {
	q, _ := p.camera.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, 4)
	for _, f := range p.feet {
		if f.Contains(q) || f.BoundaryDistance(q) < 1.2 {
			return 1, true
		}
	}
	var now, mat float64
	for j := y - 1; j <= y+1; j++ {
		for i := x - 1; i <= x+1; i++ {
			now += float64(p.from.Pix[j*p.from.Stride+i]) / 9
			mat += p.mat[j*p.from.Stride+i] / 9
		}
	}
	switch limit := 4*p.noise/3 + 3; {
	case now > mat+limit:
		return 1, true
	case now < mat-limit:
		return lightOf(now) / lightOf(mat), false
	}
	return 1, false
}

// lightOf is the linear light of a grey level, about, and levelOf the level of a light.
func lightOf(level float64) float64 { return math.Pow(max(level, 0.5)/255, 2.2) }

func levelOf(light float64) float64 { return 255 * math.Pow(light, 1/2.2) }

func bilinear(g *image.Gray, at geom.Pixel) float64 {
	x, y := int(math.Floor(at.X)), int(math.Floor(at.Y))
	if !(image.Point{X: x, Y: y}).In(g.Rect.Inset(2)) {
		return 0
	}
	ax, ay := at.X-float64(x), at.Y-float64(y)
	k := y*g.Stride + x
	top := (1-ax)*float64(g.Pix[k]) + ax*float64(g.Pix[k+1])
	bottom := (1-ax)*float64(g.Pix[k+g.Stride]) + ax*float64(g.Pix[k+g.Stride+1])
	return (1-ay)*top + ay*bottom
}

// TestObstaclesUnderShipsArePastedAndNeverSilent pastes obstacles that lie in full view in photorealistic pictures under the ships of the
// same pictures, as often as SIGHTLINE_PASTED says, and asks what is said of them and of every line. The folders are as for
// TestObstaclesReexposed.
func TestObstaclesUnderShipsArePastedAndNeverSilent(t *testing.T) {
	times, _ := strconv.Atoi(os.Getenv("SIGHTLINE_PASTED"))
	if times == 0 {
		t.Skip("SIGHTLINE_PASTED is not set: see docs/accuracy.md")
	}
	catalogue, d := publishedCatalogue(t), markerDetector(t)
	sum, total := &obstacleTally{name: "pasted"}, &lineTally{}
	eachReexposedOnMat(t, func(p reexposed, empty []vision.Frame) {
		for n := range times {
			r, f := readRendered(t, p.dir)
			table := register(t, d, r.intrinsics(), calibration.DefaultLayout(calibration.MatSide, calibration.MatSide), f)
			before := len(r.Obstacles)
			f.Gray = newPaster(r, table.Camera, f.Gray, empty, uint64(n)).all()
			got := locateOn(t, table, catalogue, empty, f)
			one := &obstacleTally{name: fmt.Sprintf("%s #%d", p.name(), n)}
			one.add(r.obstacles()[before:], vision.Located{Scene: got.Scene, Obstacles: got.Obstacles})
			one.invented = 0 // those that were rendered there
			of := lines(t, one.name, p.dir, r, got)
			t.Log(one)
			for _, lost := range one.lost {
				if strings.Contains(lost, "not mentioned") || strings.Contains(lost, "taken for") {
					t.Log("    ", lost)
				}
			}
			t.Logf("%s: %v", one.name, of)
			for _, w := range of.wrong {
				t.Log("    ", w)
			}
			sum.join(one)
			total.join(of)
		}
	})
	t.Log(sum)
	t.Log("all", total)
	assert.Zero(t, sum.silent, "obstacles that nothing was said of")
	assert.Zero(t, total.falseNever, "lines that were called clear and are not")
}
