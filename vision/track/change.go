package track

import (
	"fmt"
	"image"
	"math"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// ChangeOptions control a ChangeDetector; zero values mean the defaults.
type ChangeOptions struct {
	// Every is how often an unchanged picture is searched nevertheless, to find what moves too slowly
	// for two pictures to differ; 1.5 s.
	Every time.Duration
	// Quiet is how many pictures in a row must have been searched, each like the one before, until
	// searching stops; 6. That is more than the drift monitor averages for its smallest motions, and
	// brings the mean of a pose to within 1 % of its limit.
	Quiet int
}

// ChangeDetector decides cheaply whether a picture shows the same as the last searched one, so that
// its results can be reused.
//
// It compares pictures in two ways. The mat and its markers are divided into blocks of about 7 mm.
// The mean and the spread of each block's difference from the reference are compared with the
// camera's noise. The noise is measured in the same pictures, for dark and bright blocks and for
// each block, so that compression, which disturbs texture more than plain ground, is neither
// mistaken for change nor hides it elsewhere. A change of light that is the same in a whole row of
// blocks, slow or by mains flicker under a rolling shutter, is removed. Every ship and marker is
// compared more closely: a least squares fit over all its pixels finds the shift and turn that make
// its picture that of the reference (Lucas and Kanade 1981), to a twentieth of a pixel.
//
// When in doubt it reports a change. It belongs to one goroutine, keeps its buffers, and allocates
// nothing while the table is unchanged.
type ChangeDetector struct {
	o       ChangeOptions
	markers [][4]geom.Pixel
	region  image.Rectangle // a whole number of blocks
	size    int             // of a block, px
	cols    int
	rows    int

	kept *image.Gray // the last searched picture
	at   time.Time   // when

	sum    []int32   // of each block's pixels in kept
	mean   []float32 // of the difference of each block, less the light's, in the last comparison
	spread []float32 // variance of the difference within each block
	total  []int32   // sum of the difference
	ratios []float32 // scratch of one row

	usual   [levelBins]float32 // spread that noise causes, by the block's grey level: the median
	extreme [levelBins]float32 // the largest seen without a change
	wander  [levelBins]float32 // the largest mean difference, likewise
	learnt  int                // number of comparisons behind these

	compared *image.Gray // the last compared picture
	change   Change      // what it showed
	quiet    int         // consecutive searched pictures without a change

	patches []patch
	fitted  bool // patches are those of kept
}

// Change is a difference from the reference.
type Change struct {
	What ChangeKind
	At   geom.Pixel // about where; the strongest of its kind
	By   float64    // grey levels of a block's mean or spread; pixels of a shift
}

// ChangeKind says how a change was noticed.
type ChangeKind int

// The kinds of change.
const (
	Unchanged   ChangeKind = iota
	NotCompared            // there is nothing to compare with
	LightChange            // all over
	BlockChange            // of the grey levels of a block
	ShiftChange            // of the place of a ship or a marker
)

// levelBins is the number of classes of grey levels in which noise is measured: finer
// where it is dark, as the tone curve raises noise there.
const levelBins = 32

const (
	// steadyBlock is a block's size in mm, rounded to a multiple of eight pixels.
	steadyBlock = 7.0
	// steadyLight is the largest change of light between a search and a picture that is removed; a
	// larger one is a change.
	steadyLight = 0.04
	// steadyShift is the least shift of a ship's or a marker's picture, in px, that is a change: 0.04
	// mm on the table at 1080p. Three sigma of a fit are more than twice that.
	steadyShift = 0.05
	// steadyJitter is the shift of single edges, in px, that blocks tolerate.
	steadyJitter = 0.05
	// Of 18 000 blocks in 100 000 pictures of Gaussian noise one may pass these by chance:
	// the mean in sigmas, and the spread of 64 pixels over its expectation (chi-square).
	steadyMean   = 5.5
	steadySpread = 2.5
	// steadyFlat is the change of a block's mean, in grey levels, that rounding can cause.
	steadyFlat = 0.3
	// Changes that the camera causes itself are tolerated up to these multiples: of the usual noise of
	// a grey level; of the noisiest, because a block may be half white and half of a dark that the
	// tone curve makes noisy; and up to a fixed spread, because compression drops and restores details
	// at the edge of its steps.
	steadyTexture = 4.0
	steadyMixed   = 1.2
	steadyCodec   = 40.0
	// steadyMargin is the factor above the largest difference ever seen without a change that is a
	// change.
	steadyMargin = 1.5
	// steadyUneven is the share of a block's light that may change differently from its row's.
	steadyUneven = 0.005
	// steadyPatchSigmas is the least significance of a patch's shift, in sigmas of noise.
	steadyPatchSigmas = 4.5
)

// NewChangeDetector returns a detector for pictures of the calibrated table, without a reference
// yet.
func NewChangeDetector(t calibration.Table, o ChangeOptions) (*ChangeDetector, error) {
	if o.Every == 0 {
		o.Every = 1500 * time.Millisecond
	}
	if o.Quiet == 0 {
		o.Quiet = 6
	}
	_, scale, err := gray.SearchReduction(&t)
	if err != nil {
		return nil, err
	}
	s := &ChangeDetector{o: o, size: 8 * max(int(scale*steadyBlock/8+0.5), 1)}
	box := gray.MatRegion(&t.Camera, t.Layout)
	for _, m := range t.Layout.Markers {
		var at [4]geom.Pixel
		seen := true
		for i, c := range m.Corners() {
			var ok bool
			at[i], ok = t.PixelOf(c, m.Z)
			seen = seen && ok && (image.Point{X: int(at[i].X), Y: int(at[i].Y)}).In(image.Rect(0, 0, t.Width, t.Height))
		}
		if seen {
			s.markers = append(s.markers, at)
			box = box.Union(quadBox(at, 2))
		}
	}
	box = box.Intersect(image.Rect(0, 0, t.Width, t.Height))
	// On the raster of JPEG's own blocks.
	box.Min = image.Pt(box.Min.X/8*8, box.Min.Y/8*8)
	s.cols, s.rows = (box.Dx()+s.size-1)/s.size, (box.Dy()+s.size-1)/s.size
	for box.Min.X+s.cols*s.size > t.Width {
		s.cols--
	}
	for box.Min.Y+s.rows*s.size > t.Height {
		s.rows--
	}
	if s.cols < 4 || s.rows < 4 {
		return nil, fmt.Errorf("vision: steady: the mat takes %d×%d pixels of the picture: too few to watch", box.Dx(), box.Dy())
	}
	s.region = image.Rectangle{Min: box.Min, Max: box.Min.Add(image.Pt(s.cols*s.size, s.rows*s.size))}
	n := s.cols * s.rows
	s.sum, s.total = make([]int32, n), make([]int32, n)
	s.mean, s.spread = make([]float32, n), make([]float32, n)
	s.ratios = make([]float32, 0, s.cols)
	return s, nil
}

// boxOf returns the upright rectangle round pixels.
func boxOf(px []geom.Pixel) [4]geom.Pixel {
	lo, hi := px[0], px[0]
	for _, p := range px[1:] {
		lo = geom.Pixel{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}
		hi = geom.Pixel{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
	}
	return [4]geom.Pixel{lo, {X: hi.X, Y: lo.Y}, hi, {X: lo.X, Y: hi.Y}}
}

// quadBox returns the pixels round a quadrangle, with a margin.
func quadBox(q [4]geom.Pixel, margin int) image.Rectangle {
	box := boxOf(q[:])
	lo, hi := box[0], box[2]
	return image.Rect(int(lo.X)-margin, int(lo.Y)-margin, int(hi.X)+margin+1, int(hi.Y)+margin+1)
}

// Unchanged reports whether a picture shows the same as the last searched one, so that it need not
// be searched: it does not differ, the pictures before it did not differ, and the last search is
// recent. If it reports false, search the picture and call Searched.
func (s *ChangeDetector) Unchanged(g *image.Gray, at time.Time) bool {
	s.compared, s.change = g, Change{What: NotCompared}
	if s.kept == nil || g.Rect != s.kept.Rect || g.Rect.Min != (image.Point{}) || !s.region.In(g.Rect) {
		return false
	}
	s.compare(g)
	if s.change = s.blocks(); s.change.What != Unchanged {
		return false
	}
	if s.quiet < s.o.Quiet || at.Sub(s.at) >= s.o.Every || at.Before(s.at) {
		return false
	}
	s.change = s.shifts(g)
	return s.change.What == Unchanged
}

// Change returns the difference found by the last call of Unchanged.
func (s *ChangeDetector) Change() Change { return s.change }

// SearchedAt returns the time of the last searched picture.
func (s *ChangeDetector) SearchedAt() time.Time { return s.at }

// Searched sets the reference: a searched picture, what stands and lies on the table, and whether
// all of it is at rest.
func (s *ChangeDetector) Searched(g *image.Gray, at time.Time, l *vision.Located, settled bool) {
	if g.Rect.Min != (image.Point{}) || !s.region.In(g.Rect) {
		s.Reset()
		return
	}
	same := s.compared == g && s.change.What == Unchanged
	switch {
	case same:
		s.learn()
		s.quiet++
	default:
		s.quiet, s.learnt = 0, 0
		clear(s.extreme[:])
		clear(s.wander[:])
	}
	if !settled {
		s.quiet = 0
	}
	s.keep(g, s.compared == g && s.change.What != NotCompared)
	s.kept, s.at, s.compared, s.fitted = g, at, nil, false
	s.patches = s.patches[:0]
	for i := range l.Ships {
		s.patches = append(s.patches, patch{outline: l.Ships[i].Outline})
	}
	if l.Obstacles != nil {
		for i := range l.Obstacles.Views {
			if px := l.Obstacles.Views[i].OutlinePx; len(px) > 0 {
				s.patches = append(s.patches, patch{outline: boxOf(px)})
			}
		}
	}
	for _, m := range s.markers {
		s.patches = append(s.patches, patch{outline: m})
	}
}

// Reset forgets everything.
func (s *ChangeDetector) Reset() {
	s.kept, s.compared, s.quiet, s.learnt, s.fitted = nil, nil, 0, 0, false
	s.change = Change{What: NotCompared}
}

// keep sets the blocks' sums to those of a picture, which those of the last comparison give without
// reading it again.
func (s *ChangeDetector) keep(g *image.Gray, compared bool) {
	if compared {
		for b, d := range s.total {
			s.sum[b] += d
		}
		return
	}
	for r := range s.rows {
		sums := s.sum[r*s.cols:][:s.cols]
		clear(sums)
		for y := range s.size {
			row := g.Pix[(s.region.Min.Y+r*s.size+y)*g.Stride+s.region.Min.X:][:s.cols*s.size]
			for c := range sums {
				for _, v := range row[c*s.size:][:s.size] {
					sums[c] += int32(v)
				}
			}
		}
	}
}

// compare computes the difference of a picture from the reference, block by block.
func (s *ChangeDetector) compare(g *image.Gray) {
	width := s.cols * s.size
	n := float32(s.size * s.size)
	for r := range s.rows {
		total := s.total[r*s.cols:][:s.cols]
		spread := s.spread[r*s.cols:][:s.cols]
		mean := s.mean[r*s.cols:][:s.cols]
		clear(total)
		clear(spread)
		for y := range s.size {
			line := s.region.Min.Y + r*s.size + y
			now := g.Pix[line*g.Stride+s.region.Min.X:][:width]
			then := s.kept.Pix[line*s.kept.Stride+s.region.Min.X:][:width]
			for c := range total {
				var sum, square int32
				for k := 0; k < s.size; k += 8 {
					a, b := (*[8]uint8)(now[k:]), (*[8]uint8)(then[k:])
					d0, d1 := int32(a[0])-int32(b[0]), int32(a[1])-int32(b[1])
					d2, d3 := int32(a[2])-int32(b[2]), int32(a[3])-int32(b[3])
					d4, d5 := int32(a[4])-int32(b[4]), int32(a[5])-int32(b[5])
					d6, d7 := int32(a[6])-int32(b[6]), int32(a[7])-int32(b[7])
					sum += d0 + d1 + d2 + d3 + d4 + d5 + d6 + d7
					square += d0*d0 + d1*d1 + d2*d2 + d3*d3 + d4*d4 + d5*d5 + d6*d6 + d7*d7
				}
				total[c] += sum
				spread[c] += float32(square)
				now, then = now[s.size:], then[s.size:]
			}
		}
		for c, d := range total {
			m := float32(d) / n
			mean[c] = m
			spread[c] = spread[c]/n - m*m
		}
	}
}

// level returns the mean grey level of a block of the reference.
func (s *ChangeDetector) level(b int) float32 { return float32(s.sum[b]) / float32(s.size*s.size) }

func levelBin(v float32) int { return int(binOfLevel[uint8(max(v, 0))]) }

var binOfLevel = func() (t [256]uint8) {
	for v := range t {
		t[v] = uint8(min(2*math.Sqrt(float64(v)), levelBins-1))
	}
	return t
}()

// blocks removes the change of light and returns the first block that changed.
func (s *ChangeDetector) blocks() Change {
	noise := s.usual
	if s.learnt == 0 {
		noise = s.typical()
		s.usual = noise
	}
	spreads, means := s.limits(&noise)
	for r := range s.rows {
		gain := s.light(r)
		if gain < -steadyLight || gain > steadyLight {
			return Change{What: LightChange, At: s.middle(r * s.cols), By: float64(gain)}
		}
		for c := range s.cols {
			b := r*s.cols + c
			level := s.level(b)
			s.mean[b] -= gain * level
			m, k := s.mean[b], levelBin(level)
			limit, most := means[k]+steadyUneven*level, spreads[k]
			if (m > limit || m < -limit || s.spread[b] > most) && s.beyond(b, m, limit, most) {
				return Change{What: BlockChange, At: s.middle(b), By: float64(max(m, -m, sqrt32(s.spread[b])))}
			}
		}
	}
	return Change{}
}

// limits returns the spread and the mean difference from which a block has changed, by its grey
// level. They are lenient until the detector has learnt the camera's own changes.
func (s *ChangeDetector) limits(usual *[levelBins]float32) (spreads, means [levelBins]float32) {
	n := float32(s.size * s.size)
	noisiest := steadyMixed * slices.Max(usual[:])
	for k, u := range usual {
		if s.learnt < s.o.Quiet {
			u = max(steadyTexture*u, noisiest, steadyCodec)
		}
		near, end := max(k-2, 0), min(k+3, levelBins)
		spreads[k] = max(steadySpread*u+1, steadyMargin*slices.Max(s.extreme[near:end]))
		means[k] = max(steadyFlat+steadyMean*sqrt32(u/n), steadyMargin*slices.Max(s.wander[near:end]))
	}
	return spreads, means
}

func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// middle returns the middle of a block.
func (s *ChangeDetector) middle(b int) geom.Pixel {
	return geom.Pixel{X: float64(s.region.Min.X + (b%s.cols)*s.size + s.size/2), Y: float64(s.region.Min.Y + (b/s.cols)*s.size + s.size/2)}
}

// beyond examines a block that exceeded its limits: it reports whether the block changed by more
// than the noise of each of its pixels and a shift of a twentieth of a pixel explain. A block may
// be half white and half of a dark that the tone curve makes noisy, and no stand holds a camera
// quite still.
func (s *ChangeDetector) beyond(b int, mean, limit, most float32) bool {
	x0, y0 := s.region.Min.X+(b%s.cols)*s.size, s.region.Min.Y+(b/s.cols)*s.size
	g := s.kept
	var sx, sy, square, noise float32
	for y := y0; y < y0+s.size; y++ {
		up, down := max(y-1, 0)*g.Stride, min(y+1, g.Rect.Max.Y-1)*g.Stride
		for x := x0; x < x0+s.size; x++ {
			i := y*g.Stride + x
			left, right := i-min(x, 1), i+min(g.Rect.Max.X-1-x, 1)
			gx := float32(int(g.Pix[right])-int(g.Pix[left])) / 2
			gy := float32(int(g.Pix[down+x])-int(g.Pix[up+x])) / 2
			sx, sy, square = sx+gx, sy+gy, square+gx*gx+gy*gy
			noise += s.usual[binOfLevel[g.Pix[i]]]
		}
	}
	n := float32(s.size * s.size)
	noise /= n
	limit = max(limit, steadyFlat+steadyMean*sqrt32(noise/n)) + steadyJitter*sqrt32(sx*sx+sy*sy)/n
	most = max(most, steadySpread*noise+1) + steadyJitter*steadyJitter*square/n
	return mean > limit || mean < -limit || s.spread[b] > most
}

// light returns the relative change of light on a row of blocks: the median, so anything that
// covers less than half of the row does not count.
func (s *ChangeDetector) light(row int) float32 {
	s.ratios = s.ratios[:0]
	for c := row % 2; c < s.cols; c += 2 {
		b := row*s.cols + c
		if level := s.level(b); level > gray.Darkest {
			s.ratios = append(s.ratios, s.mean[b]/level)
		}
	}
	if len(s.ratios) < 8 {
		return 0
	}
	slices.Sort(s.ratios)
	return s.ratios[len(s.ratios)/2]
}

// typical returns the usual spread of the difference at each grey level: the median of the blocks,
// because a change affects few of them.
func (s *ChangeDetector) typical() (usual [levelBins]float32) {
	const finest = 64 // spreads are counted in steps of a tenth of their size
	var count [levelBins][finest]int32
	var all [levelBins]int32
	for b, v := range s.spread {
		k := levelBin(s.level(b))
		count[k][spreadStep(v)]++
		all[k]++
	}
	const enough = 24
	last := float32(-1)
	for k := range usual {
		usual[k] = -1
		if all[k] < enough {
			continue
		}
		half := all[k] / 2
		for i, n := range count[k] {
			if half -= n; half < 0 {
				usual[k] = spreadOf(i)
				break
			}
		}
	}
	// A rare grey level gets its neighbour's noise.
	for k := range usual {
		if usual[k] >= 0 {
			last = usual[k]
		} else if last >= 0 {
			usual[k] = last
		}
	}
	for k := levelBins - 1; k >= 0; k-- {
		if usual[k] >= 0 {
			last = usual[k]
		} else {
			usual[k] = max(last, 0.1)
		}
	}
	return usual
}

// Spreads from 0.1 on are counted in classes of a fifth each, up to 10 000.
func spreadStep(v float32) int {
	if v <= 0.1 {
		return 0
	}
	return min(int(math.Log(float64(v)/0.1)/math.Log(1.2))+1, 63)
}

func spreadOf(i int) float32 { return float32(0.1 * math.Pow(1.2, float64(i))) }

// learn adds the last comparison, without a change, to the statistics of the camera's noise.
func (s *ChangeDetector) learn() {
	s.learnt = min(s.learnt+1, 16)
	k := 1 / float32(s.learnt)
	now := s.typical()
	for i := range s.usual {
		s.usual[i] += k * (now[i] - s.usual[i])
	}
	for i := range s.extreme { // forget single events
		s.extreme[i] *= 0.9
		s.wander[i] *= 0.9
	}
	for b, v := range s.spread {
		k := levelBin(s.level(b))
		s.extreme[k] = max(s.extreme[k], v)
		s.wander[k] = max(s.wander[k], s.mean[b], -s.mean[b])
	}
}
