package game

import (
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// numberStays is how far a base without a name may be from where it was seen last to be the one that was chosen.
const numberStays = 10 * geom.Millimeter

// followNumbers keeps the chosen pair's bases without a name the ones that were chosen: where such a base has a name by now, that is
// chosen, and where another base has its number, nothing is. The caller holds mu.
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
