package track

import (
	"slices"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// unnamedTrack is an unidentified base over time. It keeps its number while it stands.
type unnamedTrack struct {
	id    string
	base  engine.Base
	pose  geom.Pose
	since time.Time
}

// unnamedStays is the largest distance between two sightings of one unidentified base.
const unnamedStays = 10 * geom.Millimeter

// addUnnamed adds the unidentified bases to the tracks where no named ship stands. The search for
// them waits until the table rests, so they are either still or absent.
func (t *Tracker) addUnnamed(out *vision.Tracked) {
	var now []unnamedTrack
	if out.Obstacles != nil && !out.Doubtful {
		named := out.Tracks
		for i := range out.Obstacles.Bases {
			u := &out.Obstacles.Bases[i]
			if slices.ContainsFunc(named, func(k vision.Track) bool {
				return (k.State.Stands() || k.State == vision.Settling) && u.At(k.Ship.Base, k.Ship.Pose)
			}) {
				continue
			}
			k := t.unnamed(u, now, out.Captured)
			now = append(now, k)
			out.Tracks = append(out.Tracks, vision.Track{
				Ship: u.Ship(k.id), View: u.View(k.id), State: vision.Still, Since: k.since, Captured: out.Captured, Frames: vision.RestFrames,
			})
		}
	}
	t.bases = now
}

// unnamed returns the track of a base: its old one, or a new one with the lowest free number.
func (t *Tracker) unnamed(u *vision.UnidentifiedBase, taken []unnamedTrack, at time.Time) unnamedTrack {
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
	for has(t.bases, token.UnidentifiedID(n)) || has(taken, token.UnidentifiedID(n)) || t.ships[token.UnidentifiedID(n)] != nil {
		n++
	}
	return unnamedTrack{id: token.UnidentifiedID(n), base: u.Base, pose: u.Pose, since: at}
}
