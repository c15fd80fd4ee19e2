package look

import (
	"math"

	"sightline/engine/geom"
)

// Beside a window, the tower and its ID tokens shade another part of the card in each view. A shadow leaves a share of the light in all
// channels alike, and the print shows in it, as it does not in a dark miniature. Of 44 cards shown in window light, 22 differed over
// coveredMost or less between views, and 39 do without such shadows. Simulated dark miniatures differ over 69 mm², rendered ones over 398.
const (
	shadeDark   = 0.12 // least share of the light
	shadeLight  = 0.9  // largest
	shadeAlike  = 0.15 // share of the brightness by which the channels may differ from it
	shadeNoise  = 5.0  // grey levels by which they may
	shadePrint  = 0.5  // least correlation of the print's details with the view's
	shadeDetail = 2.0  // grey levels by which these details must vary in the shadow
	detailReach = 3    // cells to the sides of the square whose mean is taken from a detail
	detailLeast = 12   // cells of the square that must be in the shadow

	castTurns    = 48   // directions that are tried for the tower's shadow
	castDark     = 0.5  // least share of its cells that are dark: ID tokens in the tower cast two shadows with light between them
	castLit      = 0.5  // what a cell that is not dark counts against a strip
	castLeast    = 15.0 // mm² of dark cells more than others, below which there is no shadow
	castExplains = 0.7  // least share of a view's dark cells that lie in it
	castAlike    = 0.85 // least cosine between the directions of the views and their mean
	castAway     = 0.8  // largest cosine of the direction with that away from the camera
)

// shadedIn returns the cells in which the views, brought to the look's light, would not differ without shadows. Of one or two views, none
// tells what a shadow is.
func (l *Look) shadedIn(shots [][]float32, views []View, poses []geom.Pose) []bool {
	if len(shots) < 3 {
		return make([]bool, len(l.weight))
	}
	left, masks := make([]float64, len(l.weight)), make([][]bool, len(shots))
	for i, shot := range shots {
		masks[i] = l.darkened(shot)
	}
	cast := l.castByTower(masks, views, poses)
	for i, shot := range shots {
		dark := masks[i]
		shade := make([]bool, len(dark))
		for k := range shade {
			shade[k] = cast != nil && cast[i][k] && dark[k]
		}
		for _, region := range regions(dark, l.side) {
			if l.printShows(region, shot) {
				for _, k := range region {
					shade[k] = true
				}
			}
		}
		for k := range left {
			if !shade[k] {
				left[k] += l.off(shot, k)
			}
		}
	}
	out := make([]bool, len(left))
	for k, off := range left {
		out[k] = l.weight[k] == 0 && off < differs*float64(len(shots))
	}
	return out
}

// lit uses the cells that lie in a shadow in one of four views or more, if the others agree there: under a lamp the tower's shadow is dark,
// and falls on another part of the card in each view. What covers the card shows before that (covered).
func (l *Look) lit() {
	if len(l.shots) < 4 {
		return
	}
	dark := make([][]bool, len(l.shots))
	for i, shot := range l.shots {
		dark[i] = l.darkened(shot)
	}
	for k, w := range l.weight {
		if w != 0 || l.underTower(k) {
			continue
		}
		var others [][]float32
		for i, shot := range l.shots {
			if !dark[i][k] {
				others = append(others, shot[channels*k:channels*(k+1)])
			}
		}
		if len(others) != len(l.shots)-1 {
			continue
		}
		if cell, spread := medianOf(others); spread[0] < differs {
			copy(l.cells[channels*k:], cell)
			l.weight[k] = 1
		}
	}
}

// castByTower returns the cells of each view that lie in the shadow which the tower casts under a lamp: a strip as wide as the tower, from
// it to one side. nil: there is none. No print shows in it where the card shows little or the shadow is dark. In all views it points the
// same way on the table, as no part of a miniature does that turns with its base; and not always away from the camera, as what stands high
// does. Of twelve cards under a lamp three were learnt, and are eleven with this and lit.
func (l *Look) castByTower(dark [][]bool, views []View, poses []geom.Pose) (cast [][]bool) {
	var ways []geom.Point // on the table
	away := 0
	for i, mask := range dark {
		strip, way := l.strip(mask)
		if strip == nil {
			return nil
		}
		c := views[i].Table.Center()
		out := poses[i].Sub(geom.Point{X: c[0], Y: c[1]})
		way = poses[i].Right().Mul(way.X).Add(poses[i].Forward().Mul(way.Y))
		if out.Dot(way) > castAway*out.Norm() {
			away++
		}
		cast, ways = append(cast, strip), append(ways, way)
	}
	if away == len(ways) {
		return nil
	}
	var mean geom.Point
	for _, w := range ways {
		mean = mean.Add(w)
	}
	for _, w := range ways {
		if w.Dot(mean) < castAlike*mean.Norm() {
			return nil
		}
	}
	return cast
}

// strip returns the strip as wide as the tower that begins at it and holds most dark cells and fewest others, and its direction in the
// base's frame. nil: no strip holds mostly dark cells.
func (l *Look) strip(dark []bool) (out []bool, way geom.Point) {
	best, length := 0.0, 0.0
	bins := make([]struct{ dark, all float64 }, int(2*l.half()/cellMM))
	for a := range castTurns {
		u := geom.Point{}
		u.X, u.Y = math.Sincos(2 * math.Pi * float64(a) / castTurns)
		clear(bins)
		for k := range dark {
			if by := l.shifted(k, u); by > 0 && by < float64(len(bins))*cellMM {
				b := &bins[int(by/cellMM)]
				b.all++
				if dark[k] {
					b.dark++
				}
			}
		}
		var d, all float64
		for i, b := range bins {
			d, all = d+b.dark, all+b.all
			if score := d - castLit*(all-d); score > best && d >= castDark*all {
				best, length, way = score, float64(i+1)*cellMM, u
			}
		}
	}
	out = make([]bool, len(dark))
	in, all := 0.0, 0.0
	for k := range out {
		d := l.shifted(k, way)
		out[k] = d > 0 && d < length
		if dark[k] {
			all++
			if out[k] {
				in++
			}
		}
	}
	if best*cellMM*cellMM < castLeast || in < castExplains*all {
		return nil, way
	}
	return out, way
}

// shifted returns by how many mm the tower's square is shifted in a direction until it covers a cell; 0: it covers it unshifted, or never.
func (l *Look) shifted(k int, way geom.Point) float64 {
	x, y := l.place(k)
	from, to := 0.0, math.Inf(1)
	for _, a := range [2][2]float64{{x, way.X}, {y, way.Y}} {
		if math.Abs(a[1]) < 1e-9 {
			if math.Abs(a[0]) > towerMM {
				return 0
			}
			continue
		}
		t0, t1 := (a[0]-towerMM)/a[1], (a[0]+towerMM)/a[1]
		from, to = max(from, min(t0, t1)), min(to, max(t0, t1))
	}
	if from > to {
		return 0
	}
	return from
}

// off returns by how many grey levels a view of a cell differs from the look.
func (l *Look) off(shot []float32, k int) (off float64) {
	for c := channels * k; c < channels*(k+1); c++ {
		off += math.Abs(float64(shot[c]-l.cells[c])) / channels
	}
	return off
}

// darkened returns the cells that a view shows darker than the look, in all channels alike.
func (l *Look) darkened(shot []float32) []bool {
	out := make([]bool, len(l.weight))
	for k := range out {
		if l.underTower(k) || l.off(shot, k) < differs {
			continue
		}
		var both, whole, rest float64
		for c := channels * k; c < channels*(k+1); c++ {
			m := float64(l.cells[c])
			both, whole = both+m*float64(shot[c]), whole+m*m
		}
		share := both / max(whole, 1)
		for c := channels * k; c < channels*(k+1); c++ {
			rest += math.Abs(float64(shot[c])-share*float64(l.cells[c])) / channels
		}
		out[k] = share >= shadeDark && share <= shadeLight && rest < max(shadeNoise, shadeAlike*share*math.Sqrt(whole/channels))
	}
	return out
}

// regions returns the connected parts of a square of cells.
func regions(in []bool, side int) (out [][]int) {
	done := make([]bool, len(in))
	for first := range in {
		if !in[first] || done[first] {
			continue
		}
		done[first] = true
		region := []int{first}
		for i := 0; i < len(region); i++ {
			k := region[i]
			for _, o := range [4]int{k - 1, k + 1, k - side, k + side} {
				beside := o >= 0 && o < len(in) && (o/side == k/side || o%side == k%side)
				if beside && in[o] && !done[o] {
					done[o] = true
					region = append(region, o)
				}
			}
		}
		out = append(out, region)
	}
	return out
}

// printShows reports whether a view shows the look's details in a region: what is brighter or darker than its surroundings there.
func (l *Look) printShows(region []int, shot []float32) bool {
	region = l.inner(l.inner(region))
	in := inRegion(region)
	var n, look, view, looks, views, both float64
	for _, k := range region {
		var cells, meanLook, meanView float64
		for j := -detailReach; j <= detailReach; j++ {
			for i := -detailReach; i <= detailReach; i++ {
				if o := k + j*l.side + i; in[o] {
					cells, meanLook, meanView = cells+1, meanLook+brightness(l.cells, o), meanView+brightness(shot, o)
				}
			}
		}
		if cells < detailLeast {
			continue
		}
		a, b := brightness(l.cells, k)-meanLook/cells, brightness(shot, k)-meanView/cells
		n, look, view = n+1, look+meanLook/cells, view+meanView/cells
		looks, views, both = looks+a*a, views+b*b, both+a*b
	}
	return looks > 0 && views > 0 && both >= shadePrint*math.Sqrt(looks*views) && math.Sqrt(looks/n)*view/look >= shadeDetail
}

// inner returns the cells of a region that have all neighbours in it. At a shadow's edge, the light changes more than the print.
func (l *Look) inner(region []int) (out []int) {
	in := inRegion(region)
	for _, k := range region {
		if in[k-1] && in[k+1] && in[k-l.side] && in[k+l.side] {
			out = append(out, k)
		}
	}
	return out
}

// inRegion returns a region's cells as a set.
func inRegion(region []int) map[int]bool {
	in := make(map[int]bool, len(region))
	for _, k := range region {
		in[k] = true
	}
	return in
}

// brightness returns the mean of a cell's channels.
func brightness(cells []float32, k int) float64 {
	return float64(cells[channels*k]+cells[channels*k+1]+cells[channels*k+2]) / channels
}
