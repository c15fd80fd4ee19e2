package game

import (
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// numberStays is how far an unidentified base may be from where it was last seen to count as the same.
const numberStays = 10 * geom.Millimeter

// followNumbers keeps the choice on the same unidentified bases. If such a base has got a name, that is chosen; if another base has
// its number now, nothing is chosen. The caller holds mu.
func (g *Game) followNumbers() {
	if g.held != nil {
		return
	}
	kept := map[string]engine.Ship{}
	for _, id := range []*string{&g.choice.From, &g.choice.To} {
		if !token.Unidentified(*id) {
			continue
		}
		was, known := g.numbered[*id]
		k, followed := vision.Tracked{Tracks: g.seen.Tracks}.Track(*id)
		if followed && !known {
			was, known = k.Ship, true
		}
		named := slices.IndexFunc(g.seen.Tracks, func(k vision.Track) bool {
			return k.State.InSight() && !token.Unidentified(k.Ship.ID) && sameBase(&was, &k.Ship)
		})
		switch here := followed && k.State.InSight(); {
		case here && sameBase(&was, &k.Ship):
			kept[*id] = k.Ship
		case here || !known:
			*id = ""
		case named >= 0:
			*id = g.seen.Tracks[named].Ship.ID
		default: // it may come back
			kept[*id] = was
		}
	}
	g.numbered = kept
}

func sameBase(was, is *engine.Ship) bool {
	return was.Base == is.Base && was.Pose.Distance(is.Pose.Point) < numberStays
}
