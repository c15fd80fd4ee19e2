package engine

import (
	"fmt"
	"math"

	"sightline/engine/geom"
	"sightline/engine/internal/pieces"
	"sightline/engine/internal/uncertain"
)

// table is a scene made ready for measuring.
type table struct {
	scene   *Scene
	profile Profile
	k       float64

	relation  Touching // Options.Touching
	mayTouch  Touching // Options.MayTouch
	overlaps  Touching // Options.Overlapped
	untouched string   // Options.Untouched
	known     Touching // Options.InContact

	outlinesExact   bool // no outline on the table is uncertain
	outlines        []obstacleOutline
	hugeObstructors []hugeObstructor
	blockers        []blocker          // what may obstruct attacks
	devices         []*obstacleOutline // do not obstruct, but are named if they are on the line
	ships           []measuredShip
	around          []uncertain.Circle // the ships' bases
	mem             memory
	pm              pairMeasure
	room            [2]uncertain.Shape    // scratch
	guides          [2][4]uncertain.Shape // scratch, for two ships
}

// prepare checks a scene and computes what all its measurements share.
func (t *table) prepare(s *Scene, o Options) error {
	t.scene = s
	t.relation, t.mayTouch = o.Touching, o.MayTouch
	t.overlaps, t.untouched, t.known = o.Overlapped, o.Untouched, o.InContact
	var err error
	if t.k, t.profile, err = s.Ready(o); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	t.setOutlines()
	t.setShips()
	t.setHugeObstructors()
	t.setBlockers()
	return nil
}

// measuredShip is a ship ready to be measured: its base, and the areas of its arcs.
type measuredShip struct {
	ship     *Ship
	from, to uncertain.Shape // its base, as the body measured from and as the one measured to
	radius   float64

	ready   bool // the arcs, which are made when they are first asked for
	arcs    []Arc
	regions []region
}

// body returns a ship as a body whose pose is uncertain.
func (s *Ship) body() uncertain.Body { return uncertain.Body{At: s.Pose.Point, Cov: s.Covariance} }

// setShips places all ships on the table.
func (t *table) setShips() {
	s := t.scene
	t.ships, t.around = grow(t.ships, len(s.Ships)), t.around[:0]
	for i := range s.Ships {
		o := &t.ships[i]
		o.ship, o.ready = &s.Ships[i], false
		setBase(&o.from, &t.profile, o.ship, uncertain.From)
		o.to.Set(uncertain.To, o.from.Lever, o.from.V...)
		o.radius = o.from.Lever
		t.around = append(t.around, uncertain.Circle{Centre: o.ship.Pose.Point, Radius: o.radius})
	}
}

// setBase makes the shape of a ship's base, guides left out.
func setBase(s *uncertain.Shape, p *Profile, ship *Ship, body int) {
	if ship.part != nil {
		var room [12]geom.Point
		v, lever := room[:0], 0.0
		for _, q := range ship.part {
			v, lever = append(v, ship.Pose.Transform(q)), max(lever, q.Norm())
		}
		s.Set(body, lever, v...)
		return
	}
	w, l := p.Size(ship.Base)
	s.Rectangle(ship.Pose, body, float64(-w/2), float64(w/2), float64(-l/2), float64(l/2))
}

// setArcs makes the areas of a ship's arcs.
func (t *table) setArcs(o *measuredShip) {
	o.arcs = arcsOf(t.scene.Rules, o.ship, o.arcs[:0])
	o.regions = grow(o.regions, len(o.arcs))
	at := uncertain.FrameOf(o.ship.Pose)
	for i, a := range o.arcs {
		if a != ArcPrimaryTurret {
			o.regions[i].set(&t.profile, t.scene.Rules, o.ship, &at, a)
		}
	}
	o.ready = true
}

// setOutlines places all outlines on the table: obstacles, devices, markers.
func (t *table) setOutlines() {
	s, n := t.scene, 0
	t.outlinesExact = true
	add := func(id, kind string, pose geom.Pose, outline []geom.Point, sigma geom.Length) *obstacleOutline {
		t.outlines = grow(t.outlines, n+1)
		r := &t.outlines[n]
		n++
		r.set(id, kind, pose, outline, sigma)
		return r
	}
	for i := range s.Obstacles {
		o := &s.Obstacles[i]
		add(o.ID, o.Kind, o.Pose, o.Outline, o.Sigma).obstacle = true
		t.outlinesExact = t.outlinesExact && o.Sigma == 0
	}
	for i, list := range [...][]Token{s.Devices, s.Markers} {
		for j := range list {
			k := &list[j]
			for _, p := range pieces.Parts(k.Kind, k.Outline) {
				all := [][]geom.Point{p.Outline}
				if i == 0 {
					if all = t.onMat(k, p.Outline); len(all) == 0 {
						continue // named as a problem
					}
				}
				r := add(k.ID+p.Name, k.Kind, k.Pose, all[0], k.Sigma)
				r.obstacle = pieces.IsObstacle(k.Kind)
				r.device = i == 0 && !r.obstacle
				r.cut(k.Pose, all[1:], k.Sigma)
				if i == 0 {
					t.limit(r, k, p.Outline)
				}
				t.outlinesExact = t.outlinesExact && (!r.obstacle || k.Sigma == 0)
			}
		}
	}
	t.outlines = t.outlines[:n]
}

// onMat returns the pieces of a device's outline that lie in the play area (G184).
func (t *table) onMat(k *Token, outline []geom.Point) [][]geom.Point {
	return pieces.OnMat(float64(t.scene.MatWidth), float64(t.scene.MatHeight), k.Pose, outline, t.k*float64(k.Sigma))
}

// limit notes what the uncertain place of a device leaves open next to the mat's edge.
func (t *table) limit(r *obstacleOutline, k *Token, outline []geom.Point) {
	d := t.k * float64(k.Sigma)
	w, h := float64(t.scene.MatWidth), float64(t.scene.MatHeight)
	if least, most, open := pieces.MatLimits(w, h, k.Pose, outline, [4]float64{d, d, d, d}); open {
		r.limit(k.Pose, least, most)
	}
}

// hugeObstructor is the base of a huge ship as something that obstructs attacks.
type hugeObstructor struct {
	obstacleOutline
	ship *Ship
}

// setHugeObstructors places the bases of huge ships on the table, guides left out, each as
// uncertain as its most uncertain corner.
func (t *table) setHugeObstructors() {
	s, n := t.scene, 0
	for i := range s.Ships {
		ship := &s.Ships[i]
		if !ship.Base.Huge() {
			continue
		}
		t.hugeObstructors = grow(t.hugeObstructors, n+1)
		h := &t.hugeObstructors[n]
		n++
		w, l := t.profile.Size(ship.Base)
		x, y := float64(w/2), float64(l/2)
		outline := [...]geom.Point{{X: x, Y: y}, {X: -x, Y: y}, {X: -x, Y: -y}, {X: x, Y: -y}}
		h.set(ship.ID, ship.Base.String(), ship.Pose, outline[:], 0)
		loose := ship.body().WorstPoint(t.k, h.Polygon...)
		h.Sigma = math.Sqrt(loose.Variance) + loose.SecondOrder/t.k
		h.obstacle, h.ship = true, ship
		t.outlinesExact = t.outlinesExact && h.Sigma == 0
	}
	t.hugeObstructors = t.hugeObstructors[:n]
}

// blocker is something that may obstruct attacks, with circles that bound its distance.
//
// That huge ships obstruct is not in the rules texts, which leave them to sheets of
// their own: G39 excepts small and large ships only, an upgrade of the first edition
// (EM Emitter) speaks of the one die that a huge ship's obstruction gives, and the
// second edition's huge-ship rules give the defender one die more.
type blocker struct {
	uncertain.Circle
	core    float64
	sigma   float64
	outline *obstacleOutline
	ship    *Ship // the huge ship that it is; it obstructs no attack of its own or at it
}

// setBlockers lists what may obstruct attacks, and the devices.
func (t *table) setBlockers() {
	t.blockers, t.devices = t.blockers[:0], t.devices[:0]
	add := func(r *obstacleOutline, ship *Ship) {
		t.blockers = append(t.blockers, blocker{r.Circle, r.Core, r.Sigma, r, ship})
	}
	for i := range t.outlines {
		switch r := &t.outlines[i]; {
		case r.obstacle:
			add(r, nil)
			for _, p := range r.others {
				add(p, nil)
			}
		case r.device:
			t.devices = append(append(t.devices, r), r.others...)
		}
	}
	for i := range t.hugeObstructors {
		h := &t.hugeObstructors[i]
		add(&h.obstacleOutline, h.ship)
	}
}

// grow returns the slice with n elements, in the same memory where that has room.
// Elements beyond the old length keep what they held before.
func grow[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return append(s[:cap(s)], make([]T, n-cap(s))...)
}
