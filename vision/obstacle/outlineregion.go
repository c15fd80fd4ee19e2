package obstacle

import (
	"image"
	"math"
	"slices"

	"sightline/engine/geom"
	"sightline/vision/internal/gray"
)

// The fit by edges takes a token for something that differs from the mat by one grey
// level that changes slowly. A print whose dark rim is as dark as the mat, or that is
// washed out by glare, is not like that. What holds for it all the same is that outside
// of the outline the picture is the empty mat but for noise, and inside it is not.
//
// A sample d of the difference from the mat is weighed by the logarithm of how much
// likelier it is on a token than on the mat, ½ log p(d | token)/p(d | mat): normal
// about 0 both, on the mat with the noise there, on a token with regionSpread, whatever
// is printed on it. Where along a profile the sum of the weights inside less the sum
// outside is largest, there the token ends. It is an edge between textures, not between
// levels (Chan and Vese's fit of regions along one line, with the mat known).

const (
	regionReach    = 4.0 // mm of a profile on either side
	regionStep     = 0.5 // mm of it for which a sample counts at most: what is printed or lies there is as wide in every picture
	regionSpread   = 15  // grey levels: how far prints depart from the mat
	regionMost     = 2.5 // weight of a sample that is surely no mat
	regionDarker   = 0.3 // weight of one that is darker than the mat: it may be shadow
	regionRelative = 0.03
	regionSlip     = 0.3 // mm by which the mat may lie off where it was learnt
	regionInwards  = 2.0 // mm by which a border may lie further in, prints being dark there
	regionOutwards = 1.3 // mm by which it may lie further out
	regionGlare    = 6.0 // noises by which the mat's level near a token may be off
	regionDoubt    = 4.0 // sum of weights from which a border that lies elsewhere counts fully
	regionBare     = 3.0 // the same of an inside that looks like the mat
)

// regionFit judges an outline by what lies inside and outside of it. Its buffers are
// kept from token to token.
type regionFit struct {
	d, variance []float64 // differences from the empty mat and their variances, profile by profile
	weights     []float64 // of one profile's samples
	sums        []float64 // inside less outside, by where the token ends
	level       []float64 // by which the mat's level is off at each profile; NaN: it says nothing
	near        []float64
}

// judgeRegion sets the fit's region and bordered for its present pose.
func (f *outlineFit) judgeRegion(g *image.Gray, top geom.Length, hidden func(geom.Point) bool) {
	r := &f.inOut
	step := 0.5 / f.scale
	half := int(regionReach/step + 0.5)
	n := 2*half + 1
	f.sampleRegion(g, top, hidden, step, half)
	in, out := half+1-int(regionInwards/step+0.5), half+1+int(regionOutwards/step+0.5)
	var count, misfit, bordered float64
	for k := range f.points {
		if math.IsNaN(r.level[k]) {
			continue
		}
		count++
		m, b := r.profile(k*n, n, r.levelAbout(k), min(step, regionStep), in, out)
		misfit += m
		if b {
			bordered++
		}
	}
	f.region, f.bordered = misfit/math.Max(count, 1), bordered/math.Max(count, 1)
	if count == 0 {
		f.region = 1
	}
}

// sampleRegion takes the differences from the mat along every profile.
func (f *outlineFit) sampleRegion(g *image.Gray, top geom.Length, hidden func(geom.Point) bool, step float64, half int) {
	r := &f.inOut
	n := 2*half + 1
	r.d = slices.Grow(r.d[:0], n*len(f.points))[:n*len(f.points)]
	r.variance = slices.Grow(r.variance[:0], len(r.d))[:len(r.d)]
	r.level = slices.Grow(r.level[:0], len(f.points))[:len(f.points)]
	for k := range f.points {
		p := &f.points[k]
		r.level[k] = math.NaN()
		at := f.pose.Transform(p.at)
		out := f.pose.Transform(p.at.Add(p.normal)).Sub(at)
		if hidden != nil && hidden(at) {
			continue
		}
		z := float64(top)
		if out.X*(at.X-f.eye[0])+out.Y*(at.Y-f.eye[1]) < 0 {
			z = 0
		}
		foot := f.eye[2] / (f.eye[2] - z)
		px, ok0 := f.cam.PixelOf(at, geom.Length(z))
		qx, ok1 := f.cam.PixelOf(at.Add(out.Mul(2)), geom.Length(z))
		if !ok0 || !ok1 {
			continue
		}
		along := qx.Sub(px).Mul(0.5)
		gain, noise := f.diff.gain.At(at), f.reduced*f.diff.noises.At(at)
		mat := func(t float64) (float64, bool) {
			q := at.Add(out.Mul(t))
			e, ok := f.diff.mat.At(geom.Point{X: f.eye[0] + (q.X-f.eye[0])*foot, Y: f.eye[1] + (q.Y-f.eye[1])*foot})
			return gain * e, ok
		}
		r.near = r.near[:0]
		whole := true
		for i := range n {
			t := float64(i-half) * step
			v, ok := gray.Bilinear(g, px.X+t*along.X, px.Y+t*along.Y)
			e, ok1 := mat(t)
			before, ok2 := mat(t - 1)
			after, ok3 := mat(t + 1)
			if !ok || !ok1 || !ok2 || !ok3 {
				whole = false
				break
			}
			r.d[k*n+i] = v - e
			r.variance[k*n+i] = noise*noise + sq(regionSlip*(after-before)/2) + sq(regionRelative*e)
			if t >= 1.5 {
				r.near = append(r.near, v-e)
			}
		}
		if whole {
			r.level[k] = min(max(gray.Quantile(r.near, 0.5), -regionGlare*noise), regionGlare*noise)
		}
	}
}

// levelAbout is by how much the mat's level is off near a profile: the median of it and
// three neighbours on either side, so that a thing that touches the token does not count.
func (r *regionFit) levelAbout(k int) float64 {
	r.near = r.near[:0]
	m := len(r.level)
	for o := m - 3; o <= m+3; o++ {
		if v := r.level[(k+o)%m]; !math.IsNaN(v) {
			r.near = append(r.near, v)
		}
	}
	return gray.Quantile(r.near, 0.5)
}

// profile returns how badly the token's end agrees with the outline in a profile whose n
// samples, which count for share each, begin at from, 0…1, and whether it ends there beyond doubt with something
// on it that is no shadow. in and out are where it may end, in samples.
func (r *regionFit) profile(from, n int, level, share float64, in, out int) (misfit float64, bordered bool) {
	r.weights = r.weights[:0]
	var inside, lit, outside, total float64
	for i := range n {
		d, s2 := r.d[from+i]-level, r.variance[from+i]
		w := min(0.5*(d*d/s2-d*d/(s2+regionSpread*regionSpread)+math.Log(s2/(s2+regionSpread*regionSpread))), regionMost)
		bright := w
		if d < 0 {
			w, bright = min(w, regionDarker), min(w, 0)
		}
		w, bright = w*share, bright*share
		r.weights = append(r.weights, w)
		total -= w
		if i < n/2+1-(out-n/2-1) {
			inside += w
			lit += bright
		} else if i >= out-1 {
			outside += w
		}
	}
	r.sums = append(r.sums[:0], total)
	for _, w := range r.weights {
		total += 2 * w
		r.sums = append(r.sums, total)
	}
	lack := slices.Max(r.sums) - slices.Max(r.sums[in:out+1])
	misfit = min(lack/regionDoubt, 1)
	if inside < -1 {
		misfit = max(misfit, 0.6*min(-inside/regionBare, 1))
	}
	return misfit, lack < 1.5 && lit > 0.5 && outside < -1
}
