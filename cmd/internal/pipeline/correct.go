package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/token"
)

// correctName corrects the name of a base that a person named wrongly. If another base had the right name, the two exchange names.
func (p *Pipeline) correctName(e *EdgeSearch, asked live.PlacedShip) error {
	tracks := p.o.Game.Tracks()
	was, err := misnamed(tracks, &asked)
	if err != nil {
		return err
	}
	other, stands := vision.Tracked{Tracks: tracks}.Track(asked.ID)
	if stands && other.Read {
		return fmt.Errorf("%s is another base, whose code was read", asked.ID)
	}
	asked.Pose, asked.Headed = was.Ship.Pose, !was.Ship.Quarters
	left := slices.DeleteFunc(slices.Clone(tracks), func(k vision.Track) bool { return k.Ship.ID == asked.InsteadOf || k.Ship.ID == asked.ID })
	if was.Ship.Look == "" {
		_, err = e.Place(asked, left)
	} else if found, wrong := e.placeByLook(asked, left); wrong != nil || !found {
		err = cmp.Or(wrong, noCard(asked.ID))
	}
	if err != nil {
		return err
	}
	if stands && other.State.Stands() {
		e.relabel(&other, asked.InsteadOf)
	}
	for _, id := range []string{asked.InsteadOf, asked.ID} {
		p.track.forget(id)
		p.stock.swaps.forget(id)
	}
	p.forgetNumbers(&asked)
	p.stock.renamed = [2]string{asked.InsteadOf, asked.ID}
	if p.o.Renamed != nil {
		p.o.Renamed(asked.InsteadOf, asked.ID)
	}
	return nil
}

// misnamed returns the ship whose name a person says is wrong.
func misnamed(tracks []vision.Track, asked *live.PlacedShip) (vision.Track, error) {
	was, known := vision.Tracked{Tracks: tracks}.Track(asked.InsteadOf)
	switch {
	case !known || !was.State.Stands() || !token.BasesOverlap(was.Ship.Base, was.Ship.Pose, asked.Base, asked.Pose, standsOn):
		return was, fmt.Errorf("%s does not stand there", asked.InsteadOf)
	case was.Read || was.Ship.Seen != "look" && was.Ship.Seen != "edges":
		return was, fmt.Errorf("%s stands there, whose code was read", asked.InsteadOf)
	case was.Ship.Base != asked.Base:
		return was, fmt.Errorf("the base there is %v", was.Ship.Base)
	}
	return was, nil
}

// relabel puts a base on the table under another name, if this picture shows it.
func (e *EdgeSearch) relabel(k *vision.Track, id string) {
	ship := engine.Ship{ID: id, Player: playerOf(id, nil), Base: k.Ship.Base}
	var view vision.ShipView
	var ok bool
	var err error
	if k.Ship.Look != "" {
		hint := look.Hint{Base: k.Ship.Base, Pose: k.Ship.Pose, Reach: edgesReach, Turn: edgesTurn, Ship: id}
		ship, view, ok, err = e.byLook(ship, hint)
	} else {
		var sight vision.EdgeSight
		ship, sight, err = e.find(ship, vision.EdgeHint{Base: k.Ship.Base, Pose: k.Ship.Pose, Reach: edgesReach, Turn: edgesTurn})
		view, ok = e.Locator.EdgeView(id, k.Ship.Base, sight), true
	}
	if err != nil || !ok {
		return // a later search finds it
	}
	ship.Quarters, ship.TurnDoubt = k.Ship.Quarters, ship.TurnDoubt && k.Ship.TurnDoubt
	e.Located.Scene.Ships, e.Located.Ships = append(e.Located.Scene.Ships, ship), append(e.Located.Ships, view)
}
