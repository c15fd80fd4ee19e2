// Package imprint tells whether an obstacle lay on a mat as it was learnt.
package imprint

import (
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/internal/gray"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
)

// On returns the names of the catalogue's obstacles that a learnt mat seems to show. Whoever learnt it may have left them lying: nothing
// would be seen there, and each line across them would be clear. The mat is compared with its own median about each place; a mat of which
// most differs from that shows nothing. It takes some seconds.
func On(mat *obstacle.Background, c *catalogue.Catalogue) ([]string, error) {
	if len(c.Entries) == 0 {
		return nil, nil
	}
	width, height := mat.Size()
	table := straightDown(width, height)
	learner := obstacle.NewBackgroundLearner(table)
	if err := learner.Add(vision.Frame{Gray: plain(mat, &table)}); err != nil {
		return nil, err
	}
	bare, err := learner.Background()
	if err != nil {
		return nil, err
	}
	l, err := locate.New(table, locate.Options{Catalogue: c, Background: bare})
	if err != nil {
		return nil, err
	}
	got, err := l.Locate(vision.Frame{Gray: picture(mat, &table)})
	if err != nil {
		return nil, err
	}
	ids, _ := got.Obstacles.OnMat()
	return ids, nil
}

// margin is how far beyond the mat, in mm, the picture reaches.
const margin = 2

// straightDown returns a camera so far above a mat that it shows each millimetre as a pixel, whatever its height.
func straightDown(width, height geom.Length) (t calibration.Table) {
	w, h := int(math.Ceil(float64(width)))+2*margin, int(math.Ceil(float64(height)))+2*margin
	far := 15 * float64(max(w, h))
	t.Intrinsics = calibration.Intrinsics{Width: w, Height: h, Fx: far, Fy: far, Cx: float64(w-1) / 2, Cy: float64(h-1) / 2}
	t.Extrinsics = calibration.Extrinsics{
		R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, T: calibration.Vec3{-float64(width) / 2, float64(height) / 2, far},
	}
	t.Layout = calibration.DefaultLayout(width, height)
	return t
}

// draw returns a picture of a mat of some grey levels.
func draw(t *calibration.Table, level func(geom.Point) float64) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, t.Intrinsics.Width, t.Intrinsics.Height))
	for y := range t.Intrinsics.Height {
		for x := range t.Intrinsics.Width {
			p, _ := t.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, 0)
			g.Pix[y*g.Stride+x] = uint8(min(level(p)+0.5, 255))
		}
	}
	return g
}

// picture shows the mat as it was learnt; past its edge it looks as at its edge.
func picture(mat *obstacle.Background, t *calibration.Table) *image.Gray {
	const edge = 1.0 // mm
	width, height := mat.Size()
	return draw(t, func(p geom.Point) float64 {
		p.X, p.Y = min(max(p.X, edge), float64(width)-edge), min(max(p.Y, edge), float64(height)-edge)
		v, _ := mat.At(p)
		return v
	})
}

// plain shows the mat with the median about each place in place of its print.
func plain(mat *obstacle.Background, t *calibration.Table) *image.Gray {
	const every, half, sample = 24.0, 60.0, 3.0 // mm: between the middles, half a window's side, between what is looked at in it
	width, height := mat.Size()
	cols, rows := max(int(float64(width)/every), 2), max(int(float64(height)/every), 2)
	var medians, levels []float64
	for r := range rows {
		for c := range cols {
			levels = levels[:0]
			for y := -half; y < half; y += sample {
				for x := -half; x < half; x += sample {
					if v, ok := mat.At(geom.Point{X: (float64(c)+0.5)*every + x, Y: (float64(r)+0.5)*every + y}); ok {
						levels = append(levels, v)
					}
				}
			}
			medians = append(medians, gray.Quantile(levels, 0.5))
		}
	}
	return draw(t, func(p geom.Point) float64 {
		x, y := min(max(p.X/every-0.5, 0), float64(cols-1)), min(max(p.Y/every-0.5, 0), float64(rows-1))
		i, j := min(int(x), cols-2), min(int(y), rows-2)
		ax, ay := x-float64(i), y-float64(j)
		near, far := medians[j*cols+i:], medians[(j+1)*cols+i:]
		return (near[0]+ax*(near[1]-near[0]))*(1-ay) + (far[0]+ax*(far[1]-far[0]))*ay
	})
}
