// Package naming keeps the names of stock ships while their table is watched. A look that only one ship carries names it. Of several
// ships with the same card, a person names each once; from then on, where they could have flown tells them apart (engine/alike).
package naming

import (
	"slices"
	"time"

	"sightline/engine"
	"sightline/engine/alike"
	"sightline/engine/flown"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/vision"
	"sightline/vision/token"
)

// Names remembers where the ships stood that were found by their cards. The zero value is empty. It is not safe for concurrent use.
type Names struct {
	// Dial returns the maneuvers of a ship's dial. If it is nil or returns none, the ship may fly every maneuver.
	Dial func(ship string) []move.Maneuver

	// Memory keeps the names while the program does not run. It may be nil.
	Memory *Memory

	stood map[string]engine.Ship // each ship where it last stood still, by its name
	gone  map[string]time.Time   // when a search found a ship nowhere: it is off the table
	lost  map[string]int         // ships that stood before the table was not watched: how often each is still searched for there
}

// Limits within which a ship that was not watched counts as unmoved. Noise and a new registration of the camera stay within them. A hand
// that exchanges two ships, to 1 mm and 1°, sets both down within them once in 500 times.
const (
	stillPlace = 0.5 * geom.Millimeter
	stillTurn  = 0.5 * geom.Degree
	lostTries  = 20 // pictures
)

// inHand is how long a ship that is off the table may be in somebody's hand, to be exchanged for another one with the same card. After that
// it counts as destroyed.
const inHand = time.Minute

// Lose tells Names that the table was not watched for a while: the program did not run, there were no pictures, or the camera was moved.
// A ship that stands exactly where it stood then keeps its name; the others lose theirs.
func (n *Names) Lose() {
	if n.Memory != nil && n.stood == nil {
		n.stood, n.gone = map[string]engine.Ship{}, map[string]time.Time{}
		for _, s := range n.Memory.Known() {
			n.stood[s.ID] = s
		}
	}
	n.lost = map[string]int{}
	for id := range n.stood {
		if n.Off(id) {
			delete(n.stood, id)
			continue
		}
		n.lost[id] = lostTries
	}
	n.gone = map[string]time.Time{}
}

// Lost returns the ships to search for where they stood before the table was not watched, in order.
func (n *Names) Lost(tracks []vision.Track) (out []engine.Ship) {
	n.recall(tracks)
	for id, tries := range n.lost {
		switch {
		case slices.ContainsFunc(tracks, func(k vision.Track) bool { return k.Ship.ID == id }):
			delete(n.lost, id)
		case tries == 0:
			n.forget(id)
		default:
			n.lost[id]--
			out = append(out, n.stood[id])
		}
	}
	slices.SortFunc(out, func(a, b engine.Ship) int { return vision.CompareIDs(a.ID, b.ID) })
	return out
}

// recall adds the ships that stood before a restart if only now it is known how long ago that was, but not those that were named since.
func (n *Names) recall(tracks []vision.Track) {
	if n.Memory == nil || n.lost == nil {
		return
	}
	late, _ := n.Memory.Late(time.Now())
	for _, s := range late {
		if !n.Stood(s.ID) && !stands(tracks, s.ID) {
			n.stood[s.ID], n.lost[s.ID] = s, lostTries
		}
	}
}

// forget forgets a ship that is not where it stood.
func (n *Names) forget(id string) {
	delete(n.lost, id)
	delete(n.stood, id)
}

// Stays reports whether a base that was found is the unwatched ship that stood there.
func Stays(was, found *engine.Ship) bool { return stays(was, found, 1) }

// StaysPut is Stays with half of its limits, within which a hand sets a ship down once in 150 times.
func StaysPut(was, found *engine.Ship) bool { return stays(was, found, 0.5) }

func stays(was, found *engine.Ship, share float64) bool {
	return was.Base == found.Base && was.Seen == found.Seen && was.Look == found.Look &&
		float64(was.Pose.Distance(found.Pose.Point)) <= share*float64(stillPlace) &&
		float64(was.Pose.Heading.Distance(found.Pose.Heading)) <= share*float64(stillTurn)
}

// Base is a base that was found by its card where no known ship stands.
type Base struct {
	Ship engine.Ship
	May  []string // the ships that carry such a card
}

// Any reports whether any ship has stood on the table under its name.
func (n *Names) Any() bool { return len(n.stood) > 0 }

// Stood reports whether a ship stood on the table under its name.
func (n *Names) Stood(id string) bool {
	_, ok := n.stood[id]
	return ok
}

// Stand remembers the ships that are still and have no code of ours.
func (n *Names) Stand(tracks []vision.Track) {
	for i := range tracks {
		k := &tracks[i]
		if k.State != vision.Still || token.Unidentified(k.Ship.ID) || k.Ship.Look == "" && (k.Ship.Seen != "edges" || k.Read) {
			continue
		}
		if n.stood == nil {
			n.stood, n.gone = map[string]engine.Ship{}, map[string]time.Time{}
		}
		n.stood[k.Ship.ID] = k.Ship
		delete(n.gone, k.Ship.ID)
	}
	if n.Memory != nil && len(n.lost) == 0 {
		n.Memory.keep(n.stood)
	}
}

// Rename exchanges what is known of two ships whose bases a person named wrongly.
func (n *Names) Rename(a, b string) {
	alike.Swap(n.stood, a, b)
	alike.Swap(n.gone, a, b)
	alike.Swap(n.lost, a, b)
	for _, id := range []string{a, b} {
		if s, ok := n.stood[id]; ok {
			s.ID, s.Player = id, player(id)
			n.stood[id] = s
		}
	}
}

// Left returns those of the possible ships of a base that do not stand elsewhere.
func Left(may []string, tracks []vision.Track) (out []string) {
	for _, id := range may {
		if !stands(tracks, id) {
			out = append(out, id)
		}
	}
	return out
}

// stands reports whether a ship is in sight, standing or moving.
func stands(tracks []vision.Track, id string) bool {
	return slices.ContainsFunc(tracks, func(k vision.Track) bool {
		return k.Ship.ID == id && k.State.InSight()
	})
}

// Off reports whether a ship was searched for and found nowhere.
func (n *Names) Off(id string) bool {
	_, off := n.gone[id]
	return off
}

// Away returns the ships that are no longer tracked and may be in somebody's hand. Any of them may be put where another stood.
func (n *Names) Away(tracks []vision.Track, now time.Time) (out []engine.Ship) {
	for id, s := range n.stood {
		followed := slices.ContainsFunc(tracks, func(k vision.Track) bool { return k.Ship.ID == id })
		if !followed && (!n.Off(id) || n.held(id, now)) {
			out = append(out, s)
		}
	}
	return out
}

// held reports whether a ship that is off the table may be in somebody's hand.
func (n *Names) held(id string, now time.Time) bool { return n.Off(id) && now.Sub(n.gone[id]) < inHand }

// Name names the bases that a search of the whole table found. scene has the rules and the mat; tracks are the known ships. current says
// that the table is still as it was when searched, so that ships that were not found are off it. Otherwise hands may have put them down
// since.
func (n *Names) Name(found []Base, scene *engine.Scene, tracks []vision.Track, now time.Time, current bool) []alike.Answer {
	for id := range n.lost { // the whole table was searched: a ship that was not found where it stood may be anywhere
		n.forget(id)
	}
	out := make([]alike.Answer, len(found))
	done := make([]bool, len(found))
	for i := range found {
		if done[i] {
			continue
		}
		group, may := together(found, i)
		var bases []engine.Ship
		for _, k := range group {
			done[k] = true
			bases = append(bases, found[k].Ship)
		}
		for k, a := range n.tell(bases, Left(may, tracks), scene, tracks, now) {
			if a.Name == "" && len(a.May) == 0 { // all of them stand elsewhere
				a.May = found[group[k]].May
			}
			a.May = slices.DeleteFunc(a.May, func(id string) bool { return !slices.Contains(found[group[k]].May, id) })
			if a.Name != "" && !slices.Contains(a.May, a.Name) {
				a.Name = ""
			}
			out[group[k]] = a
		}
	}
	if current {
		n.lose(out, tracks, now)
	}
	return out
}

// together returns the bases that share possible ships with a base, directly or through others, and all these ships.
func together(found []Base, first int) (group []int, may []string) {
	group, may = []int{first}, slices.Clone(found[first].May)
	for i := 0; i < len(found); i++ {
		if slices.Contains(group, i) || !slices.ContainsFunc(found[i].May, func(id string) bool { return slices.Contains(may, id) }) {
			continue
		}
		group = append(group, i)
		for _, id := range found[i].May {
			if !slices.Contains(may, id) {
				may = append(may, id)
			}
		}
		i = -1 // others may share these
	}
	slices.Sort(group)
	slices.SortFunc(may, vision.CompareIDs)
	return group, may
}

// tell names bases of one look. may are the ships that carry it and do not stand elsewhere.
func (n *Names) tell(bases []engine.Ship, may []string, scene *engine.Scene, tracks []vision.Track, now time.Time) []alike.Answer {
	out := make([]alike.Answer, len(bases))
	var missing, held []string // ships that stood until just now, and ships that may be in somebody's hand
	for _, id := range may {
		switch {
		case n.held(id, now):
			held = append(held, id)
		case n.Stood(id) && !n.Off(id):
			missing = append(missing, id)
		}
	}
	if len(bases) > len(missing) { // others come to the table, or come back
		for i := range out {
			out[i].May = slices.Clone(may)
			if len(may) == 1 && len(bases) == 1 {
				out[i].Name = may[0]
			}
		}
		return out
	}
	missing = append(missing, held...)
	q := alike.Question{Before: &engine.Scene{MatWidth: scene.MatWidth, MatHeight: scene.MatHeight, Rules: scene.Rules, Profile: scene.Profile,
		ScaleSigma: scene.ScaleSigma}, Missing: missing, Mixed: held, Found: bases, Moves: n.moves, Slop: flown.UsualSlop}
	for i := range tracks {
		if k := &tracks[i]; k.State.Stands() && !slices.Contains(missing, k.Ship.ID) {
			q.Others = append(q.Others, k.Ship)
		}
	}
	q.Before.Ships = slices.Clone(q.Others)
	for _, id := range missing {
		q.Before.Ships = append(q.Before.Ships, n.stood[id])
	}
	answers, err := alike.Identify(&q)
	if err != nil { // the rules are unknown, so nothing distinguishes them
		for i := range out {
			out[i].May = missing
		}
		return out
	}
	if len(may) == 1 && len(bases) == 1 && answers[0].Name == "" { // all others with this card are in view: it was carried there
		answers[0].Name = may[0]
	}
	return answers
}

// moves returns what a ship may have flown.
func (n *Names) moves(ship string) flown.Candidates {
	c := flown.Every()
	if n.Dial != nil {
		if dial := n.Dial(ship); len(dial) > 0 {
			c.Maneuvers = dial
		}
	}
	return c
}

// lose marks ships that were found nowhere as off the table. Ships with the same card that are lost together cannot be distinguished when
// one comes back.
func (n *Names) lose(answers []alike.Answer, tracks []vision.Track, now time.Time) {
	for id := range n.stood {
		here := stands(tracks, id) || slices.ContainsFunc(answers, func(a alike.Answer) bool { return a.Name == id })
		if !here && !n.Off(id) {
			n.gone[id] = now
		}
	}
}
