package look

import "math"

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
)

// shadedIn returns the cells in which the views, brought to the look's light, would not differ without shadows. Of one or two views, none
// tells what a shadow is.
func (l *Look) shadedIn(shots [][]float32) []bool {
	if len(shots) < 3 {
		return make([]bool, len(l.weight))
	}
	left := make([]float64, len(l.weight))
	for _, shot := range shots {
		dark := l.darkened(shot)
		shade := make([]bool, len(dark))
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
