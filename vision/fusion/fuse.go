// Package fusion combines what several cameras see of one table. It reports every contradiction
// between them and never averages one away.
package fusion

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/cov"
	"sightline/vision/token"
)

// Options control Fuse; the zero value is the default.
type Options struct {
	Names  []string            // of the views, for people; without one: "camera 1", "camera 2", …
	Apart  time.Duration       // a view older than the newest by more is left out; 0: 300 ms, negative: no limit
	Sigmas float64             // a larger difference of poses is a contradiction; 0: 5
	Camera *calibration.Camera // outlines are drawn in its picture; nil: each in one that showed it
}

func (o Options) withDefaults() Options {
	o.Apart = cmp.Or(o.Apart, 300*time.Millisecond)
	o.Sigmas = cmp.Or(o.Sigmas, 5)
	return o
}

// fuser combines views and records conflicts.
type fuser struct{ *vision.Fusion }

// fuseView is a view with its name.
type fuseView struct {
	*vision.Located
	name string
}

// named returns one of the views with its name.
func (o *Options) named(views []vision.Located, i int) fuseView {
	v := fuseView{&views[i], fmt.Sprintf("camera %d", i+1)}
	if i < len(o.Names) && o.Names[i] != "" {
		v.name = o.Names[i]
	}
	return v
}

// sightOf is one camera's sighting of a ship.
type sightOf struct {
	ship   engine.Ship
	view   vision.ShipView
	names  []string
	own    geom.Cov3 // independent of other cameras
	shared geom.Cov3 // possibly shared with other cameras
}

// Fuse combines what several cameras see of one table at one moment. The order of the views matters
// only for the numbers of unidentified bases. A single view is returned unchanged.
//
// An unidentified base is identified by a camera that names a base in its place. It can only be a
// ship that both cameras consider possible.
//
// Poses of a ship that several cameras read are fused by information. Each camera's own errors (the
// fit, its lens) are independent. Errors that all cameras share or may share (the markers of their
// registration, the base's height, the token's play, the mat's flatness: ShipView.Shared) are not
// averaged down: their correlation is unknown, so the result holds for every correlation (split
// covariance intersection: S. Julier, J. Uhlmann, "General decentralized data fusion with
// covariance intersection", 2001). A ship seen in two places, and two ships in one place, are left
// out and reported in Located.Fusion. A ship that only one camera reads is taken from it.
//
// Fuse leaves out views that are too old, and doubtful views unless all are doubtful. It fails
// without a view and for mats of different sizes.
func Fuse(views []vision.Located, o Options) (vision.Located, error) {
	if len(views) == 0 {
		return vision.Located{}, errors.New("vision: fuse: expected a camera's view or more, got none")
	}
	for i := range views {
		a, b := &views[0].Scene, &views[i].Scene
		if a.MatWidth != b.MatWidth || a.MatHeight != b.MatHeight {
			return vision.Located{}, fmt.Errorf("vision: fuse: expected views of one mat, got one of %v × %v and one of %v × %v",
				a.MatWidth, a.MatHeight, b.MatWidth, b.MatHeight)
		}
	}
	if len(views) == 1 {
		return views[0], nil
	}
	o = o.withDefaults()
	views = NameAlike(views, nil)
	fusion := fuser{&vision.Fusion{}}
	used := fusion.choose(views, o)
	out := *used[0].Located
	out.Fusion, out.Scene.Ships, out.Ships = fusion.Fusion, nil, nil
	for _, v := range used {
		out.Scene.ScaleSigma = max(out.Scene.ScaleSigma, v.Scene.ScaleSigma)
		out.Elapsed = max(out.Elapsed, v.Elapsed)
		if v.Captured.Before(out.Captured) {
			out.Captured = v.Captured // the result is as old as its oldest view
		}
	}
	for _, s := range fusion.ships(used, o) {
		if o.Camera != nil {
			s.view.Outline = outlineIn(o.Camera, s.ship)
		}
		out.Scene.Ships, out.Ships = append(out.Scene.Ships, s.ship), append(out.Ships, s.view)
	}
	fusion.obstacles(used, &out, o)
	return out, nil
}

// choose returns the views that are used, the newest first.
func (f fuser) choose(views []vision.Located, o Options) (used []fuseView) {
	doubtful := !slices.ContainsFunc(views, func(l vision.Located) bool { return !l.Doubtful })
	for i := range views {
		v := o.named(views, i)
		if v.Doubtful && !doubtful {
			f.LeftOut = append(f.LeftOut, vision.LeftOutView{Name: v.name, Why: "its picture does not show the table as its calibration has it"})
			continue
		}
		used = append(used, v)
	}
	slices.SortFunc(used, func(a, b fuseView) int {
		return cmp.Or(b.Captured.Compare(a.Captured), cmp.Compare(a.name, b.name))
	})
	newest := used[0].Captured
	used = slices.DeleteFunc(used, func(v fuseView) bool {
		age := newest.Sub(v.Captured)
		if o.Apart < 0 || age <= o.Apart {
			return false
		}
		f.LeftOut = append(f.LeftOut, vision.LeftOutView{Name: v.name, Why: "its picture is older than the newest by " + age.Round(
			time.Millisecond).String()})
		return true
	})
	for _, v := range used {
		f.Used = append(f.Used, v.name)
	}
	slices.Sort(f.Used)
	slices.SortFunc(f.LeftOut, func(a, b vision.LeftOutView) int { return cmp.Compare(a.Name, b.Name) })
	return used
}

// ships fuses the ships, in the order of their names.
func (f fuser) ships(views []fuseView, o Options) (out []sightOf) {
	sights := map[string][]sightOf{}
	for _, v := range views {
		for i, s := range v.Scene.Ships {
			if !cov.Finite(s.Pose) || !finiteCov(s.Covariance) {
				continue
			}
			var view vision.ShipView
			if i < len(v.Ships) {
				view = v.Ships[i]
			}
			sights[s.ID] = append(sights[s.ID], newSight(s, view, v.name))
		}
	}
	for _, of := range sights {
		of = headed(of)
		if c, ok := contradiction(of, o.Sigmas); ok {
			f.Conflicts = append(f.Conflicts, c)
			continue
		}
		s := together(of)
		if !token.Unidentified(s.ship.ID) {
			s.ship.NameDoubt, s.ship.LookDoubt = nil, false
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b sightOf) int { return vision.CompareIDs(a.ship.ID, b.ship.ID) })
	out = f.twoInOnePlace(out)
	slices.SortFunc(f.Conflicts, func(a, b vision.Conflict) int { return slices.Compare(a.IDs, b.IDs) })
	return out
}

// headed drops sightings whose heading is known only up to quarter turns if another camera knows
// it. If none does, it keeps only the surest, because such headings cannot be compared.
func headed(of []sightOf) []sightOf {
	known := slices.DeleteFunc(slices.Clone(of), func(s sightOf) bool { return s.ship.Quarters })
	if len(known) > 0 {
		return known
	}
	return []sightOf{slices.MinFunc(of, compareSights)}
}

func newSight(s engine.Ship, v vision.ShipView, name string) sightOf {
	k := sightOf{ship: s, view: v, names: []string{name}, shared: v.Shared}
	if v.Shared == (geom.Cov3{}) {
		k.shared = s.Covariance
		for i := range k.shared {
			k.shared[i] -= v.Fit[i]
		}
	}
	for i := range k.own {
		k.own[i] = s.Covariance[i] - k.shared[i]
	}
	k.own = cov.Resolution(k.own)
	if _, ok := cov.Inverse(k.own); !ok { // the shared part is larger than the whole
		k.own, k.shared = cov.Resolution(geom.Cov3{}), s.Covariance
	}
	return k
}

// contradiction reports whether sightings of one ship cannot all be true.
func contradiction(of []sightOf, sigmas float64) (vision.Conflict, bool) {
	limit := cov.SigmasOfThree(sigmas)
	worst, found := vision.Conflict{IDs: []string{of[0].ship.ID}}, false
	if worst.Cameras = otherCards(of); len(worst.Cameras) > 0 {
		worst.Why = "do not see the same card on it"
		return worst, true
	}
	for i, a := range of {
		for _, b := range of[:i] {
			names := []string{a.names[0], b.names[0]}
			slices.Sort(names)
			by := a.ship.Pose.Distance(b.ship.Pose.Point)
			switch {
			case a.ship.Base != b.ship.Base || a.ship.Player != b.ship.Player && a.ship.Player != 0 && b.ship.Player != 0:
				return vision.Conflict{IDs: worst.IDs, Cameras: names, Why: "do not see it on the same base"}, true
			case squaredDistance(a, b) > limit && (!found || by > worst.By):
				worst.Cameras, worst.By, found = names, by, true
				worst.Why = fmt.Sprintf("see it %.1f mm and %.1f° apart", by.Millimeters(),
					a.ship.Pose.Heading.Distance(b.ship.Pose.Heading).Degrees())
			}
		}
	}
	return worst, found
}

// squaredDistance returns the squared distance of two poses in sigmas of their difference. Shared
// errors cancel from it to an unknown degree, so they are treated as independent.
func squaredDistance(a, b sightOf) float64 {
	var c geom.Cov3
	for i := range c {
		c[i] = a.own[i] + a.shared[i] + b.own[i] + b.shared[i]
	}
	inverse, ok := cov.Inverse(c)
	if !ok {
		return math.Inf(1)
	}
	d := difference(b.ship.Pose, a.ship.Pose)
	v := times(inverse, d)
	return d[0]*v[0] + d[1]*v[1] + d[2]*v[2]
}

// together fuses sightings of one ship that do not contradict each other.
func together(of []sightOf) sightOf {
	slices.SortFunc(of, compareSights) // so that their order does not matter
	out := of[0]
	for _, next := range of[1:] {
		out = fuseTwo(out, next)
	}
	return out
}

// compareSights puts the surest first.
func compareSights(a, b sightOf) int {
	p, q := a.ship.Pose, b.ship.Pose
	return cmp.Or(cmp.Compare(det3(a.ship.Covariance), det3(b.ship.Covariance)), cmp.Compare(a.names[0], b.names[0]),
		cmp.Compare(p.X, q.X), cmp.Compare(p.Y, q.Y), cmp.Compare(p.Heading, q.Heading))
}

// fuseTwo fuses two sightings by split covariance intersection. With weights w and 1-w, each
// sighting's shared covariance is divided by its weight and then treated as independent. The weight
// minimises the volume of the result; at its ends the result is one of the two sightings.
func fuseTwo(a, b sightOf) sightOf {
	best, w := weigh2(a, b, 1), 1.0
	try := func(at float64) float64 {
		m := weigh2(a, b, at)
		if m.volume < best.volume {
			best, w = m, at
		}
		return m.volume
	}
	try(0)
	// The information is concave in the weight, so there is one optimum.
	lo, hi := 0.0, 1.0
	for range 40 {
		x, y := lo+0.382*(hi-lo), lo+0.618*(hi-lo)
		if try(x) < try(y) {
			hi = y
		} else {
			lo = x
		}
	}
	out := joined(a, b)
	switch w {
	case 1:
		out.ship.Pose, out.ship.Covariance, out.view.Fit, out.own, out.shared = a.ship.Pose, a.ship.Covariance, a.view.Fit, a.own, a.shared
	case 0:
		out.ship.Pose, out.ship.Covariance, out.view.Fit, out.own, out.shared = b.ship.Pose, b.ship.Covariance, b.view.Fit, b.own, b.shared
	default:
		d := times(best.gainB, difference(b.ship.Pose, a.ship.Pose))
		out.ship.Pose.X += d[0]
		out.ship.Pose.Y += d[1]
		out.ship.Pose.Heading = (a.ship.Pose.Heading + geom.Angle(d[2])).Normalized()
		out.ship.Covariance = best.cov
		out.view.Fit = sum3(sandwich(best.gainA, a.view.Fit), sandwich(best.gainB, b.view.Fit))
		out.own = sum3(sandwich(best.gainA, a.own), sandwich(best.gainB, b.own))
		for i := range out.shared {
			out.shared[i] = best.cov[i] - out.own[i]
		}
	}
	out.view.Shared = out.shared
	return out
}

// joined returns a's sighting with b's data that need no arithmetic.
func joined(a, b sightOf) sightOf {
	out := a
	out.names = append(slices.Clone(a.names), b.names...)
	if a.ship.Seen != b.ship.Seen {
		out.ship.Seen = "both"
	}
	out.ship.Player = cmp.Or(a.ship.Player, b.ship.Player)
	out.ship.NameDoubt = both(a.ship.NameDoubt, b.ship.NameDoubt)
	out.ship.LookDoubt = a.ship.LookDoubt && b.ship.LookDoubt
	out.ship.TurnDoubt = a.ship.TurnDoubt && b.ship.TurnDoubt
	out.ship.Visible = max(a.ship.Visible, b.ship.Visible)
	out.view.Sides = append(slices.Clone(a.view.Sides), b.view.Sides...)
	slices.Sort(out.view.Sides)
	out.view.Sides = slices.Compact(out.view.Sides)
	out.view.Residual = max(a.view.Residual, b.view.Residual)
	out.view.Score = max(a.view.Score, b.view.Score)
	return out
}

// mixture is the fusion of two sightings with given weights.
type mixture struct {
	cov          geom.Cov3
	gainA, gainB geom.Cov3 // the weight of each pose; not symmetric in general
	volume       float64   // the covariance's determinant
}

// weigh2 fuses two sightings with weight w for a.
func weigh2(a, b sightOf, w float64) mixture {
	ia, oka := information(a, w)
	ib, okb := information(b, 1-w)
	m := mixture{volume: math.Inf(1)}
	if !oka || !okb {
		return m
	}
	cov, ok := cov.Inverse(sum3(ia, ib))
	if !ok {
		return m
	}
	m.cov, m.gainA, m.gainB, m.volume = cov, product(cov, ia), product(cov, ib), det3(cov)
	return m
}

// information returns a sighting's information matrix for a weight of its shared covariance.
func information(s sightOf, share float64) (geom.Cov3, bool) {
	if !(share > 0) {
		return geom.Cov3{}, true
	}
	c := s.own
	for i := range c {
		c[i] += s.shared[i] / share
	}
	return cov.Inverse(c)
}

// twoInOnePlace removes ships whose bases overlap. Real bases cannot, so one camera misread one of
// them.
func (f fuser) twoInOnePlace(ships []sightOf) (out []sightOf) {
	bad := make([]bool, len(ships))
	for i, a := range ships {
		for k, b := range ships[:i] {
			if !token.BasesOverlap(a.ship.Base, a.ship.Pose, b.ship.Base, b.ship.Pose, token.BasesLap) {
				continue
			}
			bad[i], bad[k] = true, true
			names := append(slices.Clone(a.names), b.names...)
			slices.Sort(names)
			f.Conflicts = append(f.Conflicts, vision.Conflict{
				IDs: []string{b.ship.ID, a.ship.ID}, Cameras: slices.Compact(names), Why: "see their bases in one place",
			})
		}
	}
	for i, s := range ships {
		if !bad[i] {
			out = append(out, s)
		}
	}
	return out
}

// outlineIn returns where a ship's base appears in a camera's picture.
func outlineIn(c *calibration.Camera, s engine.Ship) (out [4]geom.Pixel) {
	for i, p := range s.Base.Corners(s.Pose) {
		out[i], _ = c.PixelOf(p, token.BaseTop)
	}
	return out
}

// difference is q - p: mm, mm, rad.
func difference(q, p geom.Pose) [3]float64 {
	return [3]float64{q.X - p.X, q.Y - p.Y, float64((q.Heading - p.Heading).Signed())}
}

func finiteCov(c geom.Cov3) bool {
	var sum float64
	for _, v := range c {
		sum += v
	}
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

func times(m geom.Cov3, v [3]float64) (out [3]float64) {
	for i := range 3 {
		out[i] = m[3*i]*v[0] + m[3*i+1]*v[1] + m[3*i+2]*v[2]
	}
	return out
}

func product(a, b geom.Cov3) (out geom.Cov3) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				out[3*i+j] += a[3*i+k] * b[3*k+j]
			}
		}
	}
	return out
}

// sandwich is g c gᵀ.
func sandwich(g, c geom.Cov3) geom.Cov3 {
	return c.Propagated(&[3]geom.Jacobian{{g[0], g[1], g[2]}, {g[3], g[4], g[5]}, {g[6], g[7], g[8]}})
}

func sum3(a, b geom.Cov3) geom.Cov3 {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

func det3(m geom.Cov3) float64 {
	return m[0]*(m[4]*m[8]-m[5]*m[7]) - m[1]*(m[3]*m[8]-m[5]*m[6]) + m[2]*(m[3]*m[7]-m[4]*m[6])
}
