package obstacle

import (
	"image"
	"math"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// subtraction compares pictures with the empty mat: what differs, lies on it. Light that
// changed since is undone by a gain that varies slowly over the mat.
type subtraction struct {
	mat   *Background
	view  gray.MatView
	slope []float32 // how far the empty mat's level changes over a pixel's misplacement
	gain  gainMap

	diff   []float32 // picture minus gain·empty, grey levels
	noise  float64   // its standard deviation where nothing lies
	noises gainMap   // the same by blocks
	mask   []bool    // something lies here
	work   []float32
}

// gainMap is the ratio of the light now to the light when the mat was learnt, on a
// coarse grid of blocks.
type gainMap struct {
	cols, rows int
	size       float64 // of a block, mm
	ratio      []float64
}

const gainBlock = 64 // mm: larger than most tokens, smaller than a lamp's pool of light

// At returns the gain at a table point, between the blocks' middles.
func (g *gainMap) At(p geom.Point) float64 {
	x := min(max(p.X/g.size-0.5, 0), float64(g.cols-1))
	y := min(max(p.Y/g.size-0.5, 0), float64(g.rows-1))
	i, j := min(int(x), max(g.cols-2, 0)), min(int(y), max(g.rows-2, 0))
	ax, ay := x-float64(i), y-float64(j)
	i1, j1 := min(i+1, g.cols-1), min(j+1, g.rows-1)
	top := g.ratio[j*g.cols+i]*(1-ax) + g.ratio[j*g.cols+i1]*ax
	bottom := g.ratio[j1*g.cols+i]*(1-ax) + g.ratio[j1*g.cols+i1]*ax
	return top*(1-ay) + bottom*ay
}

// row sets out to the gains at the middles of the cells of row j.
func (g *gainMap) row(j int, out []float32) {
	y := min(max((float64(j)+0.5)*vision.DiffStep/g.size-0.5, 0), float64(g.rows-1))
	top := min(int(y), max(g.rows-2, 0))
	bottom, ay := min(top+1, g.rows-1), y-float64(top)
	at := func(c int) float64 { return g.ratio[top*g.cols+c]*(1-ay) + g.ratio[bottom*g.cols+c]*ay }
	left, a, b := -1, 0.0, 0.0
	for i := range out {
		x := min(max((float64(i)+0.5)*vision.DiffStep/g.size-0.5, 0), float64(g.cols-1))
		if c := min(int(x), max(g.cols-2, 0)); c != left {
			left, a, b = c, at(c), at(min(c+1, g.cols-1))
		}
		out[i] = float32(a + (x-float64(left))*(b-a))
	}
}

func newSubtraction(cam *calibration.Camera, mat *Background) *subtraction {
	w, h := int(float64(mat.width)*matStep/vision.DiffStep), int(float64(mat.height)*matStep/vision.DiffStep)
	d := &subtraction{mat: mat, view: gray.MatView{Camera: cam, Width: w, Height: h, Step: vision.DiffStep}}
	d.gain = gainMap{cols: max(w*int(vision.DiffStep)/gainBlock, 1), rows: max(h*int(vision.DiffStep)/gainBlock, 1)}
	d.gain.size = float64(w) * vision.DiffStep / float64(d.gain.cols)
	d.gain.ratio = make([]float64, d.gain.cols*d.gain.rows)
	return d
}

// release gives back all that has a number for each cell; the light and the noise stay.
func (d *subtraction) release() {
	d.slope, d.diff, d.work, d.mask = nil, nil, nil, nil
}

// prepare makes what release gave back.
func (d *subtraction) prepare() {
	n := d.view.Width * d.view.Height
	d.slope, d.diff, d.work, d.mask = make([]float32, n), make([]float32, n), make([]float32, n), make([]bool, n)
}

// showEmpty sets empty to the grey levels of the empty mat, and the slopes.
func (d *subtraction) showEmpty(empty []float32) {
	w, h, mat := d.view.Width, d.view.Height, d.mat
	const k = int(vision.DiffStep / matStep)
	for j := range h {
		for i := range w {
			var sum uint32
			for b := range k {
				for a := range k {
					sum += uint32(mat.level[(j*k+b)*mat.width+i*k+a])
				}
			}
			empty[j*w+i] = float32(sum) / float32(k*k*256)
		}
	}
	for j := 1; j < h-1; j++ {
		for i := 1; i < w-1; i++ {
			c := j*w + i
			gx, gy := empty[c+1]-empty[c-1], empty[c+w]-empty[c-w]
			d.slope[c] = float32(math.Sqrt(float64(gx*gx+gy*gy))) / 2
		}
	}
}

// compare compares a picture with the empty mat.
func (d *subtraction) compare(g *image.Gray) {
	if d.diff == nil {
		d.prepare()
	}
	empty := d.diff // until it is subtracted
	d.showEmpty(empty)
	d.view.Each(g, func(k int, level float32, ok bool) {
		if d.work[k] = level; !ok {
			d.work[k] = float32(math.NaN())
		}
	})
	d.followLight(empty)
	w, h := d.view.Width, d.view.Height
	gains := make([]float32, w)
	for j := range h {
		d.gain.row(j, gains)
		for i, gain := range gains {
			k := j*w + i
			d.diff[k] = d.work[k] - gain*empty[k]
		}
	}
	d.measureNoise()
}

// followLight finds the gain of each block as the median ratio of its cells: what
// covers less than half of a block does not move it.
func (d *subtraction) followLight(empty []float32) {
	w, h := d.view.Width, d.view.Height
	ratios := make([]float64, 0, gainBlock*gainBlock)
	raw := make([]float64, len(d.gain.ratio))
	for r := range d.gain.rows {
		for c := range d.gain.cols {
			ratios = ratios[:0]
			for j := r * h / d.gain.rows; j < (r+1)*h/d.gain.rows; j += 2 {
				for i := c * w / d.gain.cols; i < (c+1)*w/d.gain.cols; i += 2 {
					k := j*w + i
					if v := d.work[k]; empty[k] > gray.Darkest && v == v {
						ratios = append(ratios, float64(v/empty[k]))
					}
				}
			}
			raw[r*d.gain.cols+c] = math.NaN()
			if len(ratios) > 50 {
				raw[r*d.gain.cols+c] = gray.Quantile(ratios, 0.5)
			}
		}
	}
	// A block that a large base covers takes its neighbours' light.
	around := make([]float64, 0, 9)
	for r := range d.gain.rows {
		for c := range d.gain.cols {
			around = around[:0]
			for j := max(r-1, 0); j <= min(r+1, d.gain.rows-1); j++ {
				for i := max(c-1, 0); i <= min(c+1, d.gain.cols-1); i++ {
					if v := raw[j*d.gain.cols+i]; v == v {
						around = append(around, v)
					}
				}
			}
			if len(around) == 0 {
				around = append(around, 1)
			}
			d.gain.ratio[r*d.gain.cols+c] = gray.Quantile(around, 0.5)
		}
	}
}

// measureNoise takes the spread of the difference over the whole mat: far
// more than half of it is empty.
func (d *subtraction) measureNoise() {
	sample := make([]float64, 0, len(d.diff)/17+1)
	for k := 0; k < len(d.diff); k += 17 {
		if v := d.diff[k]; v == v {
			sample = append(sample, math.Abs(float64(v)))
		}
	}
	d.noise = max(gray.Quantile(sample, 0.5)/0.6745, 0.5)
	d.measureNoises()
}

// measureNoises takes the spread block by block: it is larger where there is more light,
// as in glare. What covers half of a block must not look like noise, so that the 0.4
// quantile is taken, which is 0.524 standard deviations of a normal distribution.
func (d *subtraction) measureNoises() {
	w, h := d.view.Width, d.view.Height
	d.noises.cols, d.noises.rows, d.noises.size = d.gain.cols, d.gain.rows, d.gain.size
	d.noises.ratio = d.noises.ratio[:0]
	sample := make([]float64, 0, gainBlock*gainBlock/4)
	for r := range d.gain.rows {
		for c := range d.gain.cols {
			sample = sample[:0]
			for j := r * h / d.gain.rows; j < (r+1)*h/d.gain.rows; j += 2 {
				for i := c * w / d.gain.cols; i < (c+1)*w/d.gain.cols; i += 2 {
					if v := d.diff[j*w+i]; v == v {
						sample = append(sample, math.Abs(float64(v)))
					}
				}
			}
			noise := d.noise
			if len(sample) > 50 {
				noise = gray.Quantile(sample, 0.4) / 0.524
			}
			d.noises.ratio = append(d.noises.ratio, min(max(noise, 0.6*d.noise), 2*d.noise))
		}
	}
}

// threshold marks the cells where something lies: where the mean square of the
// difference over 3×3 cells exceeds what noise and a misplacement of a third of a
// pixel explain. Where there is more noise than all over the mat, noisy tells how much in row j; nil: nowhere.
func (d *subtraction) threshold(sign float32, noisy func(j int, out []float32)) {
	w, h := d.view.Width, d.view.Height
	clear(d.mask)
	const limit = 2.2
	noise := make([]float32, w)
	rows := make([]float32, 3*w) // sums of three neighbours in the rows about j, row j at j modulo 3
	along := func(j int) {
		clear(noise)
		if noisy != nil {
			noisy(j, noise)
		}
		excess := func(i int) float32 { // of the square over what noise and a misplacement explain
			v, slope, n := d.diff[j*w+i], d.slope[j*w+i], limit*max(noise[i], float32(d.noise))
			if v*sign < 0 {
				return -n * n
			}
			return v*v - 0.3*slope*slope - n*n
		}
		row := rows[j%3*w : j%3*w+w]
		before, here := excess(0), excess(1)
		for i := 1; i < w-1; i++ {
			after := excess(i + 1)
			row[i] = before + here + after
			before, here = here, after
		}
	}
	along(0)
	along(1)
	for j := 1; j < h-1; j++ {
		along(j + 1)
		for i := 1; i < w-1; i++ {
			d.mask[j*w+i] = rows[i]+rows[w+i]+rows[2*w+i] > 0
		}
	}
}

// maskGap is half the width, in cells, of the gaps of the mask that are closed.
const maskGap = 2

// blobs returns the mask's connected regions of at least so many cells, with small holes closed, largest first.
func (d *subtraction) blobs(least int) []gray.Blob {
	return gray.Blobs(d.mask, d.view.Width, d.view.Height, least, maskGap)
}
