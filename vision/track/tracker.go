// Package track follows ships from picture to picture. The [Tracker] says which ships stand and
// where, the [AppearanceMemory] what a picture shows where a ship stood, and the [ChangeDetector]
// whether a picture need be searched.
package track

import (
	"cmp"
	"slices"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/internal/cov"
)

// TrackerOptions control a Tracker; zero values mean the defaults.
type TrackerOptions struct {
	Settle       time.Duration // how long a ship must be seen in one place to be still; 0.5 s
	SettleFrames int           // and in how many pictures; 3
	Freeze       time.Duration // how long a partly covered ship keeps its pose; 3 s
	Gone         time.Duration // how long a ship's place must show the mat before the ship leaves the scene; 1 s
	MoveSigmas   float64       // the difference that counts as a move, as unlikely as this many sigmas of one normal variable; 3
	Memory       int           // number of pictures in the mean; 50
}

func (o TrackerOptions) withDefaults() TrackerOptions {
	o.Settle = cmp.Or(o.Settle, 500*time.Millisecond)
	o.SettleFrames = cmp.Or(o.SettleFrames, 3)
	o.Freeze = cmp.Or(o.Freeze, 3*time.Second)
	o.Gone = cmp.Or(o.Gone, time.Second)
	o.MoveSigmas = cmp.Or(o.MoveSigmas, 3)
	o.Memory = cmp.Or(o.Memory, 50)
	return o
}

// Tracker follows the ships from picture to picture. A ship that stands still is
// averaged; one that moves has no pose that stands until it was still for a while; what
// a hand covers in part keeps its pose for a stated time, and what it covers whole has
// none: no one can say what the hand does. It reads no clock: time comes in with
// the pictures. The same pictures give the same tracks, in whatever order they list
// their ships. It belongs to one goroutine.
//
//	         seen elsewhere                 still for 0.5 s
//	Still ──────────────────▶ Moving ⇄ Settling ─────────────▶ Still
//	  │  not read
//	  ├─ place unchanged ─────▶ Unread ┐ 3 s
//	  ├─ place partly covered ▶ Frozen ┴─────▶ Hidden
//	  ├─ place covered ───────────────────────▶ Hidden
//	  └─ place bare ──────────▶ Lifted ─ 1 s ─▶ (off the table)
//
// From Unread, Frozen, Hidden and Lifted a ship that is seen where it was is Still at
// once, and one that is seen elsewhere is Moving.
type Tracker struct {
	o     TrackerOptions
	limit float64 // of the squared distance between two poses that are one
	ships map[string]*shipTrack
	bases []unnamedTrack // those whose code is not read
	last  vision.Tracked
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker(o TrackerOptions) *Tracker {
	o = o.withDefaults()
	return &Tracker{o: o, limit: cov.SigmasOfThree(o.MoveSigmas), ships: map[string]*shipTrack{}}
}

// Reset forgets everything: poses seen through another calibration cannot be compared.
func (t *Tracker) Reset() {
	clear(t.ships)
	t.bases = nil
	t.last = vision.Tracked{}
}

// Again makes the next picture count although it is not newer than the last: it is the same
// picture, searched again.
func (t *Tracker) Again() { t.last.Captured = time.Time{} }

// Forget drops a ship.
func (t *Tracker) Forget(id string) { delete(t.ships, id) }

// EdgeFinder searches a ship that was not read by its base's edges, near its last pose. It reports
// false if it does not see them.
type EdgeFinder func(vision.Track) (engine.Ship, vision.ShipView, bool)

// Update adds the newest picture. place returns what the picture shows where a ship stood that is
// not among the located ones; nil means that this is not known. edges, which may be nil, searches
// the ships that were not read. A picture that is not newer than the last adds nothing.
//
// A ship whose place has shown anything else since its code was last read may have been turned: by
// quarter turns, or by half a turn on a huge base. The edges cannot tell these headings apart, so
// its Ship.Quarters is set until its code is read.
func (t *Tracker) Update(l vision.Located, place func(id string) vision.Place, edges EdgeFinder) vision.Tracked {
	if !t.last.Captured.IsZero() && !l.Captured.After(t.last.Captured) {
		t.last.Events = nil
		return t.last
	}
	out := vision.Tracked{Located: l}
	seen := map[string]int{}
	for _, s := range l.Scene.Ships {
		if cov.Finite(s.Pose) {
			seen[s.ID]++
		}
	}
	for i, s := range l.Scene.Ships {
		if seen[s.ID] != 1 || !cov.Finite(s.Pose) { // one of two is wrong, and it is not known which
			continue
		}
		k := t.ships[s.ID]
		if k == nil {
			k = &shipTrack{}
			t.ships[s.ID] = k
			k.Since = l.Captured
		}
		var view vision.ShipView
		if i < len(l.Ships) {
			view = l.Ships[i]
		}
		if l.Doubtful && !t.stands(k, s, view, l.Captured) {
			t.doubted(k, l.Captured)
			continue
		}
		out.Events = append(out.Events, t.sighted(k, s, view, l.Captured)...)
	}
	for id, k := range t.ships {
		if seen[id] == 1 {
			continue
		}
		at := vision.PlaceCovered
		if place != nil && !l.Doubtful {
			at = place(id)
		}
		if k.State != vision.Settling || k.Ship.Seen != "edges" { // a ship that a person has just placed has no appearance yet
			k.turned = k.turned || at != vision.PlaceUnchanged
		}
		if ship, view, ok := k.byEdges(at, edges); ok && !l.Doubtful {
			out.Events = append(out.Events, t.sighted(k, ship, view, l.Captured)...)
			continue
		}
		out.Events = append(out.Events, t.missed(k, at, l.Captured)...)
	}
	t.publish(&out)
	t.last = out
	return out
}

// byEdges searches a ship that stood somewhere and was not read.
func (k *shipTrack) byEdges(at vision.Place, edges EdgeFinder) (engine.Ship, vision.ShipView, bool) {
	if edges == nil || k.off || at == vision.PlaceBare || k.rest.frames == 0 && k.next.frames == 0 && !k.known {
		return engine.Ship{}, vision.ShipView{}, false
	}
	ship, view, ok := edges(k.Track)
	if !ok || !cov.Finite(ship.Pose) {
		return engine.Ship{}, vision.ShipView{}, false
	}
	ship.Quarters = k.turned && ship.Seen != "look"
	return ship, view, true
}

// Rest adds a picture that shows no change according to the ChangeDetector: ships that are Still
// were seen again where they stand. All tracks must be AtRest; the times of the others do not
// change.
func (t *Tracker) Rest(at time.Time, seq uint64) vision.Tracked {
	t.last.Events = nil
	if !at.After(t.last.Captured) {
		return t.last
	}
	t.last.Captured, t.last.Seq = at, seq
	t.last.Tracks = slices.Clone(t.last.Tracks) // readers may hold the old slice
	for i := range t.last.Tracks {
		if k := &t.last.Tracks[i]; k.State == vision.Still {
			k.Captured = at
			if own := t.ships[k.Ship.ID]; own != nil { // a base without a name has none
				own.Captured = at
			}
		}
	}
	return t.last
}

// publish lists the tracks on the table in the order of their names.
func (t *Tracker) publish(out *vision.Tracked) {
	for _, k := range t.ships {
		if !k.off {
			out.Tracks = append(out.Tracks, k.Track)
		}
	}
	t.addUnnamed(out)
	slices.SortFunc(out.Tracks, func(a, b vision.Track) int { return vision.CompareIDs(a.Ship.ID, b.Ship.ID) })
	slices.SortFunc(out.Events, func(a, b vision.TrackEvent) int { return vision.CompareIDs(a.ID, b.ID) })
	out.Scene.Ships, out.Ships = nil, nil
	for _, k := range out.Tracks {
		out.Scene.Ships = append(out.Scene.Ships, k.Ship)
		out.Ships = append(out.Ships, k.View)
	}
}

// shipTrack is a Track with its evidence.
type shipTrack struct {
	vision.Track

	rest    poseMean    // where it stands; empty if it does not
	pending []sighting  // the newest sightings that agree with rest and are not in it yet
	next    poseMean    // where it may be coming to rest
	stood   geom.Pose   // where it stood last
	known   bool        // stood says something
	unseen  bool        // it has been out of sight since it stood there, and was not seen moving
	off     bool        // the table
	left    bool        // people were told that it left, and not yet that it is back
	read    engine.Ship // as in the newest picture that showed it
	turned  bool        // its place showed something else since its code was read: it may have been turned
}

// sighting is a pose in one picture with the covariance of its noise.
type sighting struct {
	pose   geom.Pose
	random geom.Cov3
	at     time.Time
}

// pendingSightings is how many pictures must confirm a sighting before it enters the mean. A move
// may hide in the noise of one picture (one move of 5 sigma in ten), but not in that of three:
// their mean differs by 8.7 sigma.
const pendingSightings = 3

// reportedMove is the smallest move that is reported to people. A smaller one may be caused by a
// sleeve and changes no answer by more than its sigma.
const reportedMove = 1 * geom.Millimeter

func (k *shipTrack) become(s vision.TrackState, at time.Time) {
	if k.State != s {
		k.State, k.Since = s, at
	}
}

// sighted adds a ship that was read.
func (t *Tracker) sighted(k *shipTrack, ship engine.Ship, view vision.ShipView, at time.Time) []vision.TrackEvent {
	z := sighting{pose: ship.Pose, random: cov.Resolution(view.Fit), at: at}
	if ship.Seen == "look" { // which does not show our print
		k.turned = false
	} else if ship.Seen != "edges" {
		k.turned, k.Read = false, true
	} else if k.State == vision.Settling && k.rest.frames == 0 && !k.known && k.next.frames == 0 {
		k.turned = ship.Quarters // placed by a person, who may have said which way it points
	}
	k.View = view
	if k.rest.frames > 0 {
		if t.stays(k, z) {
			k.become(vision.Still, at)
			k.unseen = false
			k.Captured, k.Moved = at, 0
			k.stand(ship, view.Fit)
			return nil
		}
		k.stood, k.known = k.rest.mean(), true
		k.rest, k.pending = poseMean{}, nil
	}
	if k.off { // it comes back: its old place does not matter
		k.off, k.known, k.next = false, false, poseMean{}
	}
	agrees := k.next.frames > 0 && k.next.agrees(z, t.limit)
	if !agrees {
		if k.next.frames > 0 || k.known {
			k.become(vision.Moving, at)
		} else {
			k.become(vision.Settling, at)
		}
		if k.next.frames > 0 {
			k.unseen = false // it was seen on its way
		}
		k.next = poseMean{}
	} else {
		k.become(vision.Settling, at)
	}
	k.next.add(z, t.o.Memory)
	k.Ship, k.Captured, k.Frames, k.Moved = ship, at, 0, 0
	if k.known {
		k.Moved = k.stood.Distance(ship.Pose.Point)
	}
	if k.next.frames < t.o.SettleFrames || at.Sub(k.next.from) < t.o.Settle && t.o.SettleFrames > 1 {
		return nil
	}
	return t.settle(k, ship, view.Fit, at)
}

// stands reports whether a doubtful picture shows a ship where it stands.
func (t *Tracker) stands(k *shipTrack, ship engine.Ship, view vision.ShipView, at time.Time) bool {
	return k.rest.frames > 0 && k.rest.agrees(sighting{pose: ship.Pose, random: cov.Resolution(view.Fit), at: at}, t.limit)
}

// doubted adds a ship that a doubtful picture shows away from its place: it may have moved, or the
// picture shows the table from elsewhere than the calibration says.
func (t *Tracker) doubted(k *shipTrack, at time.Time) {
	k.pending, k.next = nil, poseMean{}
	switch {
	case k.off:
	case k.rest.frames == 0 && !k.known:
		k.off = true // there may be no such ship
	default:
		k.unseen = true
		k.become(vision.Hidden, at)
	}
}

// settle ends the motion of a ship that was still for long enough.
func (t *Tracker) settle(k *shipTrack, ship engine.Ship, random geom.Cov3, at time.Time) []vision.TrackEvent {
	k.rest, k.next = k.next, poseMean{}
	k.become(vision.Still, at)
	k.Moved = 0
	k.stand(ship, random)
	var events []vision.TrackEvent
	if by := k.stood.Distance(k.Ship.Pose.Point); k.known && k.unseen && by >= reportedMove {
		events = append(events, vision.TrackEvent{At: at, ID: ship.ID, By: by})
	}
	if k.left { // people were told that it was gone
		k.left = false
		events = append(events, vision.TrackEvent{At: at, ID: ship.ID, Back: true})
	}
	k.unseen = false
	return events
}

// stays reports whether a sighting is of a ship that stands where it stood, and if so adds it.
func (t *Tracker) stays(k *shipTrack, z sighting) bool {
	if !k.rest.agrees(z, t.limit) {
		return false
	}
	k.pending = append(k.pending, z)
	var recent poseMean
	for _, p := range k.pending {
		recent.add(p, t.o.Memory)
	}
	if !k.rest.agrees(sighting{pose: recent.mean(), random: recent.covariance()}, t.limit) {
		return false
	}
	if len(k.pending) > pendingSightings {
		k.rest.add(k.pending[0], t.o.Memory)
		k.pending = append(k.pending[:0], k.pending[1:]...)
	}
	return true
}

// stand sets the ship to the mean pose, with the newest picture's systematic part.
func (k *shipTrack) stand(ship engine.Ship, random geom.Cov3) {
	k.read = ship
	systematic := ship.Covariance
	mean := k.rest.covariance()
	k.Ship, k.Frames = ship, k.rest.frames
	k.Ship.Pose = k.rest.mean()
	for i := range systematic {
		systematic[i] -= random[i]
		// The stated noise of a fit includes errors that do not change from picture to picture.
		k.Ship.Covariance[i] = systematic[i] + lasting*random[i] + (1-lasting)*min3(mean, random, i)
	}
}

// min3 returns an entry of the mean's covariance, or of a sighting's own where the added resolution
// makes the latter smaller.
func min3(mean, random geom.Cov3, i int) float64 {
	if mean[0] > random[0] || mean[4] > random[4] || mean[8] > random[8] {
		return random[i]
	}
	return mean[i]
}

// lasting is the share of a fit's stated variance that is the same in every picture of an unchanged
// table: the errors of the fit itself, where the grid of pixels happens to lie. Averaging does not
// reduce it. Measured on the simulated table at 1080p, 2 × 10 ships, 20 pictures each (2026-11-21):
// from picture to picture poses scatter with 0.026 of the stated variance, and their mean is off
// with 0.27 to 0.93 of it.
const lasting = 0.95

// missed updates a ship that was not read.
func (t *Tracker) missed(k *shipTrack, place vision.Place, at time.Time) []vision.TrackEvent {
	k.pending = nil // the sightings just before may be due to the hand's shadow
	if k.off {
		return nil
	}
	if k.rest.frames == 0 && !k.known {
		k.off = true // it was never seen for long enough to be believed
		return nil
	}
	if k.rest.frames == 0 { // it was on its way
		k.next = poseMean{}
		k.become(vision.Hidden, at)
		if at.Sub(k.Captured) > t.o.Freeze {
			k.off = true
		}
		return nil
	}
	if place != vision.PlaceUnchanged {
		k.unseen = true
	}
	switch {
	case place == vision.PlaceBare && k.State == vision.Lifted && at.Sub(k.Since) >= t.o.Gone:
		k.off, k.left, k.rest = true, true, poseMean{}
		return []vision.TrackEvent{{At: at, ID: k.Ship.ID, Left: true}}
	case place == vision.PlaceBare:
		k.become(vision.Lifted, at)
	case place == vision.PlaceCovered || at.Sub(k.Captured) > t.o.Freeze || k.State == vision.Lifted:
		// After it was lifted, a hand over its place does not bring it back.
		k.become(vision.Hidden, at)
	case k.State == vision.Hidden:
	case place == vision.PlaceUnchanged:
		k.become(vision.Unread, at)
	default:
		k.become(vision.Frozen, at)
		k.loosen()
	}
	return nil
}

// unnoticed is how far a ship may be pushed under a hand while a part of its rim still appears in
// its place: a standard deviation along both axes, and for the heading what moves a corner of the
// base by as much. It is half of what appearance.go detects at least.
const unnoticed = 0.2 * geom.Millimeter

// loosen adds unnoticed motion to a covered ship's uncertainty.
func (k *shipTrack) loosen() {
	k.stand(k.read, k.View.Fit)
	width, _ := k.Ship.Base.Size()
	turn := float64(unnoticed) / (float64(width) / 2)
	k.Ship.Covariance[0] += float64(unnoticed * unnoticed)
	k.Ship.Covariance[4] += float64(unnoticed * unnoticed)
	k.Ship.Covariance[8] += turn * turn
}

// The mean of poses.

// poseMean is the information-weighted mean of sightings of one pose: with information matrices W =
// R⁻¹ it is (ΣW)⁻¹ ΣWx, with covariance (ΣW)⁻¹. Poses are relative to the first one, so headings do
// not wrap.
type poseMean struct {
	anchor geom.Pose
	info   geom.Cov3  // ΣW
	vector [3]float64 // ΣW(x - anchor)
	frames int
	from   time.Time // of the first sighting
}

// relative returns a pose's difference from the anchor: mm, mm, radians.
func relative(p, anchor geom.Pose) [3]float64 {
	return [3]float64{p.X - anchor.X, p.Y - anchor.Y, float64((p.Heading - anchor.Heading).Signed())}
}

// add adds a sighting. After memory pictures older ones fade, so the mean follows changes too slow
// to be a move.
func (m *poseMean) add(z sighting, memory int) {
	w, ok := cov.Inverse(z.random)
	if !ok {
		return
	}
	if m.frames == 0 {
		*m = poseMean{anchor: z.pose, from: z.at}
	}
	if m.frames >= memory {
		fade := 1 - 1/float64(memory)
		for i := range m.info {
			m.info[i] *= fade
		}
		for i := range m.vector {
			m.vector[i] *= fade
		}
	} else {
		m.frames++
	}
	x := relative(z.pose, m.anchor)
	for i := range 3 {
		for j := range 3 {
			m.info[3*i+j] += w[3*i+j]
			m.vector[i] += w[3*i+j] * x[j]
		}
	}
}

// covariance returns the covariance of the mean from the pictures' noise.
func (m *poseMean) covariance() geom.Cov3 {
	c, _ := cov.Inverse(m.info)
	return c
}

func (m *poseMean) mean() geom.Pose {
	c, d := m.covariance(), [3]float64{}
	for i := range 3 {
		for j := range 3 {
			d[i] += c[3*i+j] * m.vector[j]
		}
	}
	p := m.anchor
	p.X, p.Y, p.Heading = p.X+d[0], p.Y+d[1], (p.Heading + geom.Angle(d[2])).Normalized()
	return p
}

// agrees reports whether a sighting may be of the same pose: whether its squared distance from the
// mean, in units of the noise of both, is within the limit.
func (m *poseMean) agrees(z sighting, limit float64) bool {
	sum := m.covariance()
	for i := range sum {
		sum[i] += z.random[i]
	}
	w, ok := cov.Inverse(sum)
	if !ok {
		return false
	}
	d := relative(z.pose, m.mean())
	var square float64
	for i := range 3 {
		for j := range 3 {
			square += d[i] * w[3*i+j] * d[j]
		}
	}
	return square <= limit
}
