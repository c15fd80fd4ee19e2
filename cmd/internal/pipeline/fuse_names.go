package pipeline

import (
	"slices"
	"time"

	"sightline/vision"
	"sightline/vision/fusion"
	"sightline/vision/token"
)

// Each camera tracks the ships without our tokens separately, but people name ships that look alike only for the main camera.
// A base that another camera calls ?1 gets the name of the ship that the main camera sees there, and keeps it while it stands still.

// knownBases are the names of the bases that one camera numbered, by number.
type knownBases map[string]knownBase

// knownBase is a base's name, and since when the camera has seen it stand still.
type knownBase struct {
	name  string
	since time.Time
}

// nameAlike gives each base the same name in all cameras and returns the main camera's tracks with it. unnamed are bases of the main
// camera of which only the place is known.
func (f *Fuse) nameAlike(main, unnamed []vision.Track, used []sight) []vision.Track {
	main = slices.Clone(main)
	var taken []string
	for _, k := range main {
		taken = append(taken, k.Ship.ID)
	}
	views, numbers := []vision.Located{seenNow(slices.Concat(main, unnamed))}, make([][]string, len(used))
	for i := range used {
		s := &used[i]
		for k := range s.view.Tracks {
			numbers[i] = append(numbers[i], s.view.Tracks[k].Ship.ID)
			f.known[s.name].recall(&s.view.Tracks[k], main)
		}
		views = append(views, seenNow(s.view.Tracks))
	}
	views = fusion.NameAlike(views, taken)
	rename(main, &views[0])
	known := map[string]knownBases{}
	for i := range used {
		s := &used[i]
		rename(s.view.Tracks, &views[i+1])
		known[s.name] = f.known[s.name].with(numbers[i], s.view.Tracks, main)
		s.view.Tracks = slices.DeleteFunc(s.view.Tracks, func(k vision.Track) bool { return token.Unidentified(k.Ship.ID) && !seen(&k) })
	}
	f.known = known
	return slices.DeleteFunc(main, func(k vision.Track) bool { return !seen(&k) && seenAs(main, k.Ship.ID) })
}

// recall names a base that the main camera does not know now but did, if the base has stood still since or was lifted there.
func (b knownBases) recall(k *vision.Track, main []vision.Track) {
	known, ok := b[k.Ship.ID]
	stays := k.State == vision.Still && k.Since.Equal(known.since)
	if !ok || !stays && k.State != vision.Lifted || stays && (seenAs(main, known.name) || namedBaseAt(k.Ship, main) != "") {
		return
	}
	give(k, known.name, playerOf(known.name, nil))
}

// with returns the names known from now on. numbers are the ids that the camera itself gave its tracks.
func (b knownBases) with(numbers []string, tracks, main []vision.Track) knownBases {
	now := knownBases{}
	for i, number := range numbers {
		k := &tracks[i]
		if !token.Unidentified(number) {
			continue
		}
		known, ok := b[number]
		switch still := slices.ContainsFunc(main, func(m vision.Track) bool { return m.Ship.ID == k.Ship.ID && m.State == vision.Still }); {
		case k.State != vision.Still && ok, k.State == vision.Still && ok && known == (knownBase{k.Ship.ID, k.Since}):
			now[number] = known
		case k.State == vision.Still && still && !token.Unidentified(k.Ship.ID):
			now[number] = knownBase{k.Ship.ID, k.Since}
		}
	}
	return now
}

// seenAs reports whether a ship is seen under a name.
func seenAs(tracks []vision.Track, id string) bool {
	return slices.ContainsFunc(tracks, func(k vision.Track) bool { return k.Ship.ID == id && seen(&k) })
}

// seen reports whether a picture shows where a ship is and no hand covers part of it.
func seen(k *vision.Track) bool { return k.State.InSight() && k.State != vision.Frozen }

// seenNow returns the ships that are seen.
func seenNow(tracks []vision.Track) (out vision.Located) {
	for i := range tracks {
		if seen(&tracks[i]) {
			out.Scene.Ships = append(out.Scene.Ships, tracks[i].Ship)
		}
	}
	return out
}

// rename gives the ships that are seen the names of view.
func rename(tracks []vision.Track, view *vision.Located) {
	ships := view.Scene.Ships
	for i := range tracks {
		if k := &tracks[i]; seen(k) {
			give(k, ships[0].ID, ships[0].Player)
			ships = ships[1:]
		}
	}
}

func give(k *vision.Track, id string, player int) {
	k.Ship.ID, k.Ship.Player, k.View.ID = id, player, id
}
