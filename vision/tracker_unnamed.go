package vision

import (
	"slices"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
)

// unnamedTrack is a base whose code is not read, over time: it keeps its number while it stands.
type unnamedTrack struct {
	id    string
	base  engine.Base
	pose  geom.Pose
	since time.Time
}

// unnamedStays is how far apart two looks at a base without a name are of one.
const unnamedStays = 10 * geom.Millimeter

// addUnnamed puts the bases whose code is not read among the tracks, where no ship stands that has a name. The search
// that finds them waits for the table to rest: they are still, or they are not there.
func (t *Tracker) addUnnamed(out *Tracked) {
	var now []unnamedTrack
	if out.Obstacles != nil && !out.Doubtful {
		named := out.Tracks
		for i := range out.Obstacles.Bases {
			u := &out.Obstacles.Bases[i]
			if slices.ContainsFunc(named, func(k Track) bool { return k.State.Stands() && u.at(k.Ship.Base, k.Ship.Pose) }) {
				continue
			}
			k := t.unnamed(u, now, out.Captured)
			now = append(now, k)
			out.Tracks = append(out.Tracks, Track{
				Ship: u.Ship(k.id), View: u.View(k.id), State: Still, Since: k.since, Captured: out.Captured, Frames: restFrames,
			})
		}
	}
	t.bases = now
}

// unnamed returns the track of a base: the one that it had, or one with the lowest number that is free.
func (t *Tracker) unnamed(u *UnnamedBase, taken []unnamedTrack, at time.Time) unnamedTrack {
	has := func(list []unnamedTrack, id string) bool {
		return slices.ContainsFunc(list, func(k unnamedTrack) bool { return k.id == id })
	}
	for _, k := range t.bases {
		if k.base == u.Base && k.pose.Distance(u.Pose.Point) < unnamedStays && !has(taken, k.id) {
			k.pose = u.Pose
			return k
		}
	}
	n := 1
	for has(t.bases, UnnamedID(n)) || has(taken, UnnamedID(n)) {
		n++
	}
	return unnamedTrack{id: UnnamedID(n), base: u.Base, pose: u.Pose, since: at}
}

// TakeUnnamed takes the bases without a name out of what is known, and returns them: several cameras put together
// what they see by the ships' names.
func (t *Tracked) TakeUnnamed() (unnamed []Track) {
	if !slices.ContainsFunc(t.Tracks, func(k Track) bool { return Unnamed(k.Ship.ID) }) {
		return nil
	}
	var named []Track
	for _, k := range t.Tracks {
		if Unnamed(k.Ship.ID) {
			unnamed = append(unnamed, k)
		} else {
			named = append(named, k)
		}
	}
	t.list(named)
	return unnamed
}

// GiveUnnamed puts them back, but those that are ships' by what another camera has seen of them.
func (t *Tracked) GiveUnnamed(unnamed []Track) {
	if len(unnamed) == 0 {
		return
	}
	all := slices.Clone(t.Tracks)
	for _, k := range unnamed {
		u := UnnamedBase{Base: k.Ship.Base, Pose: k.Ship.Pose}
		if !slices.ContainsFunc(t.Tracks, func(o Track) bool { return o.State.Stands() && u.at(o.Ship.Base, o.Ship.Pose) }) {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b Track) int { return CompareIDs(a.Ship.ID, b.Ship.ID) })
	t.list(all)
}

// list makes the scene's ships those of the tracks.
func (t *Tracked) list(tracks []Track) {
	t.Tracks, t.Scene.Ships, t.Ships = tracks, nil, nil
	for _, k := range tracks {
		t.Scene.Ships, t.Ships = append(t.Scene.Ships, k.Ship), append(t.Ships, k.View)
	}
}
