// Package parts says which blobs may be parts of one thing of which a picture does not show the rest.
package parts

import (
	"image"
	"maps"
	"slices"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/gray"
)

// step is how far apart, in cells, places between two parts are tried.
const step = 2

// Finder finds them.
type Finder struct {
	Width  int              // of the blobs' mask, in cells
	Less   float64          // cells: what has as many is whole
	Far    float64          // mm: two points of one thing are no farther apart
	Hidden float64          // share of what lies between two parts that must hide what it holds
	Hides  func(k int) bool // whether a cell does
}

// Pairs returns the pairs of blobs that may be parts of one thing.
func (f *Finder) Pairs(blobs []gray.Blob) (pairs [][2]int) {
	hulls := make([]geom.Polygon, len(blobs))
	for i, b := range blobs {
		if float64(len(b.Cells)) < f.Less {
			hulls[i] = f.hullOf(b)
		}
	}
	for i, a := range hulls {
		for j := i + 1; j < len(hulls); j++ {
			b, box := hulls[j], blobs[i].Box.Inset(-int(f.Far/vision.DiffStep))
			if a != nil && b != nil && box.Overlaps(blobs[j].Box) && f.joined(blobs[i].Box.Union(blobs[j].Box), a, b) {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	return pairs
}

// joined reports whether two hulls, which lie in a box, may be of one thing.
func (f *Finder) joined(box image.Rectangle, a, b geom.Polygon) bool {
	all := geom.Polygon(slices.Concat(a, b).Hull(nil))
	if widthOf(all) > f.Far {
		return false
	}
	between, hidden := 0, 0
	for j := box.Min.Y; j < box.Max.Y; j += step {
		for i := box.Min.X; i < box.Max.X; i += step {
			k := j*f.Width + i
			if at := f.middle(k); all.Contains(at) && !a.Contains(at) && !b.Contains(at) {
				if between++; f.Hides(k) {
					hidden++
				}
			}
		}
	}
	return float64(hidden) >= f.Hidden*float64(between)
}

func (f *Finder) middle(k int) geom.Point {
	return geom.Point{X: (float64(k%f.Width) + 0.5) * vision.DiffStep, Y: (float64(k/f.Width) + 0.5) * vision.DiffStep}
}

// hullOf returns the hull of a blob's cells.
func (f *Finder) hullOf(b gray.Blob) geom.Polygon {
	var all geom.Polygon
	for _, c := range b.Cells {
		all = append(all, f.middle(int(c)))
	}
	return all.Hull(nil)
}

// widthOf returns the largest distance between two corners of a hull.
func widthOf(hull geom.Polygon) (most float64) {
	for i, p := range hull {
		for _, q := range hull[:i] {
			most = max(most, float64(p.Distance(q)))
		}
	}
	return most
}

// Groups returns groups of n parts, such that each part and each of some pairs is in one, and any two of a group are such a pair.
func Groups(n int, pairs [][2]int) (groups [][]int) {
	paired := make([]map[int]bool, n)
	for i := range paired {
		paired[i] = map[int]bool{}
	}
	for _, p := range pairs {
		paired[p[0]][p[1]], paired[p[1]][p[0]] = true, true
	}
	grouped := map[[2]int]bool{}
	for _, p := range pairs {
		if grouped[p] {
			continue
		}
		group := []int{p[0], p[1]}
		for _, k := range slices.Sorted(maps.Keys(paired[p[0]])) {
			if !slices.ContainsFunc(group, func(g int) bool { return !paired[k][g] }) {
				group = append(group, k)
			}
		}
		slices.Sort(group)
		for i, a := range group {
			for _, b := range group[i+1:] {
				grouped[[2]int{a, b}] = true
			}
		}
		groups = append(groups, group)
	}
	for i := range n {
		if len(paired[i]) == 0 {
			groups = append(groups, []int{i})
		}
	}
	return groups
}
