package track

import (
	"image"
	"math"

	"sightline/calibration/linalg"
	"sightline/engine/geom"
)

// Shifts of single things.

// patch is the part of the picture that shows a ship or a marker, with the matrix that turns
// differences of grey levels into a motion.
type patch struct {
	outline [4]geom.Pixel
	box     image.Rectangle
	mid     geom.Pixel
	radius  float64                 // of the outline, px
	solve   [3][patchParams]float64 // rows of the inverse normal matrix: x, y, turn
	noise   float64                 // usual variance of the difference of two pictures there
	valid   bool
}

// patchParams are the numbers that are fitted to a patch's difference: shift in x and
// y, turn, and the light's factor and offset.
const patchParams = 5

// row returns the derivatives of a pixel of the reference by the parameters.
func (p *patch) row(g *image.Gray, x, y int) [patchParams]float64 {
	i := y*g.Stride + x
	gx := float64(int(g.Pix[i+1])-int(g.Pix[i-1])) / 2
	gy := float64(int(g.Pix[i+g.Stride])-int(g.Pix[i-g.Stride])) / 2
	u, v := float64(x)-p.mid.X, float64(y)-p.mid.Y
	// A thing that moves by (x, y) and turns leaves its former neighbour at a place.
	return [patchParams]float64{-gx, -gy, gx*v - gy*u, float64(g.Pix[i]), 1}
}

// fit prepares the patch for a reference.
func (p *patch) fit(g *image.Gray, usual *[levelBins]float32) {
	p.valid = false
	p.box = quadBox(p.outline, 2).Intersect(g.Rect.Inset(1))
	if p.box.Dx() < 6 || p.box.Dy() < 6 {
		return
	}
	p.mid = p.outline[0].Add(p.outline[1]).Add(p.outline[2]).Add(p.outline[3]).Mul(0.25)
	p.radius = p.outline[0].Sub(p.mid).Norm()
	var normal [patchParams * patchParams]float64
	var weight, noise float64
	for y := p.box.Min.Y; y < p.box.Max.Y; y++ {
		for x := p.box.Min.X; x < p.box.Max.X; x++ {
			r := p.row(g, x, y)
			steep := r[0]*r[0] + r[1]*r[1] // plain ground says nothing of a shift, and its noise neither
			weight += steep
			noise += steep * float64(usual[binOfLevel[g.Pix[y*g.Stride+x]]])
			for i := range r {
				for j := 0; j <= i; j++ {
					normal[i*patchParams+j] += r[i] * r[j]
				}
			}
		}
	}
	for i := range patchParams {
		for j := range i {
			normal[j*patchParams+i] = normal[i*patchParams+j]
		}
	}
	for k := range p.solve {
		var unit [patchParams]float64
		unit[k] = 1
		col, ok := linalg.SolveSPD(normal[:], unit[:])
		if !ok {
			return
		}
		copy(p.solve[k][:], col)
	}
	p.noise = noise / max(weight, 1)
	p.valid = true
}

// shift returns by how much the patch's picture moved, in px: its middle, and a corner by the turn.
func (p *patch) shift(kept, g *image.Gray) float64 {
	var right [patchParams]float64
	for y := p.box.Min.Y; y < p.box.Max.Y; y++ {
		v := float64(y) - p.mid.Y
		at := kept.Pix[y*kept.Stride+p.box.Min.X-1:][:p.box.Dx()+2]
		up := kept.Pix[(y-1)*kept.Stride+p.box.Min.X:][:p.box.Dx()]
		down := kept.Pix[(y+1)*kept.Stride+p.box.Min.X:][:p.box.Dx()]
		now := g.Pix[y*g.Stride+p.box.Min.X:][:p.box.Dx()]
		u := float64(p.box.Min.X) - p.mid.X
		for i, level := range now {
			e := float64(int(level) - int(at[i+1]))
			if e == 0 {
				continue
			}
			gx := e * float64(int(at[i+2])-int(at[i])) / 2
			gy := e * float64(int(down[i])-int(up[i])) / 2
			right[0] -= gx
			right[1] -= gy
			right[2] += gx*v - gy*(u+float64(i))
			right[3] += e * float64(at[i+1])
			right[4] += e
		}
	}
	var step [3]float64
	for k := range step {
		for i, r := range right {
			step[k] += p.solve[k][i] * r
		}
	}
	return math.Hypot(step[0], step[1]) + math.Abs(step[2])*p.radius
}

// shifts reports the first ship or marker whose picture moved.
func (s *ChangeDetector) shifts(g *image.Gray) Change {
	if !s.fitted {
		for i := range s.patches {
			s.patches[i].fit(s.kept, &s.usual)
		}
		s.fitted = true
	}
	for i := range s.patches {
		p := &s.patches[i]
		if !p.valid {
			return Change{What: NotCompared, At: p.mid}
		}
		limit := steadyShift + steadyPatchSigmas*p.sigma()
		if by := p.shift(s.kept, g); !(by < limit) {
			return Change{What: ShiftChange, At: p.mid, By: by}
		}
	}
	return Change{}
}

// sigma returns the standard deviation of the shift from noise, px.
func (p *patch) sigma() float64 {
	return math.Sqrt(p.noise * (p.solve[0][0] + p.solve[1][1] + p.solve[2][2]*p.radius*p.radius))
}
