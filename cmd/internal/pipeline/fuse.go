package pipeline

import (
	"slices"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/fusion"
	"sightline/vision/token"
)

// apartMost is how far apart in time the pictures of two cameras may be to be fused: a hand
// needs longer to take a ship.
const apartMost = 300 * time.Millisecond

// SecondaryCamera is a further camera over the same table. It has a pipeline of its own.
type SecondaryCamera struct {
	Name string
	View func() live.State // the newest state of its game

	// Place is PlaceCard of its pipeline; may be nil.
	Place func(live.PlacedShip) error
}

// sight is what one secondary camera contributes to a picture of the main camera.
type sight struct {
	name string
	view live.State
	out  string // why it is left out, for people; "": it is used
}

// observe returns what a secondary camera sees, for a picture of the main camera.
func (c *SecondaryCamera) observe(captured time.Time) sight {
	s := sight{name: c.Name, view: c.View()}
	s.view.Tracks = slices.DeleteFunc(slices.Clone(s.view.Tracks), func(k vision.Track) bool {
		return token.Unidentified(k.Ship.ID) && k.Ship.Look == ""
	})
	switch apart := captured.Sub(s.view.Located.Captured).Abs(); {
	case s.view.Health.Code != live.OK:
		s.out = strings.ToLower(s.view.Health.Title)
	case s.view.Located.Captured.IsZero():
		s.out = "none of its pictures was searched yet"
	case s.view.Located.Doubtful:
		s.out = "its picture may not show the table where its calibration puts it"
	case apart > apartMost:
		s.out = "its pictures come too late"
	}
	return s
}

// Fuse is the stage that combines the main camera's ships and obstacles with those of the
// secondary cameras.
type Fuse struct {
	cameras []SecondaryCamera

	past   map[string]pastObstacles // by camera
	known  map[string]knownBases    // by camera
	health map[string]live.Code     // of each camera at the last picture
}

// placeByCard asks the working secondary cameras whether they see a ship's card where a person placed it, and reports whether one does.
func (f *Fuse) placeByCard(s live.PlacedShip) (found bool) {
	var well []SecondaryCamera
	for _, c := range f.cameras {
		if c.Place != nil && c.View().Health.Code == live.OK {
			well = append(well, c)
		}
	}
	done := make(chan error, len(well))
	for _, c := range well {
		go func() { done <- c.Place(s) }()
	}
	for range well {
		found = <-done == nil || found
	}
	return found
}

// Fused is what all cameras see.
type Fused struct {
	vision.Tracked
	Cameras []live.Camera
	Changes []game.CameraChange
}

// Update fuses a picture of the main camera, which stands at camera, with the others' sights.
// A ship stands when no camera sees it move and either the main camera sees it still, or the
// main camera no longer reads it and another sees it still. A camera that gives no answers is
// left out and named.
func (f *Fuse) Update(t vision.Tracked, camera *calibration.Camera) Fused {
	if len(f.cameras) == 0 {
		return Fused{Tracked: t}
	}
	out := Fused{Tracked: t}
	var used []sight
	var obstacles []vision.Located
	var by []string // the cameras that see the obstacles
	for i := range f.cameras {
		s := f.cameras[i].observe(t.Captured)
		seen, why := f.obstacles(&s, &t)
		out.Cameras = append(out.Cameras, live.Camera{Name: s.name, Source: s.view.Source, Used: s.out == "", Why: s.out, NoObstacles: why})
		out.Changes = append(out.Changes, f.changes(&s)...)
		if s.out == "" {
			used = append(used, s)
		}
		if seen != nil {
			obstacles = append(obstacles, vision.Located{Obstacles: seen, Ships: s.view.Located.Ships})
			by = append(by, s.name)
		}
	}
	if len(used) == 0 && len(obstacles) == 0 || t.Doubtful {
		return out
	}
	own := t
	unnamed := t.TakeUnidentified()
	t.Tracks = f.nameAlike(t.Tracks, unnamed, used)
	verdicts := standings(t.Tracks, used)
	views, names := standingViews(&t, used, verdicts)
	fused, err := fusion.Fuse(views, fusion.Options{Names: names, Apart: -1, Camera: camera})
	if err == nil {
		out.Tracked = assemble(t, used, &fused, verdicts)
		fuseObstacles(&out.Tracked, &t, obstacles, by, camera)
	} else {
		out.Tracked, unnamed = own, nil
		for i := range out.Cameras { // their mat differs from the main camera's
			out.Cameras[i].Used, out.Cameras[i].Why = false, strings.TrimPrefix(err.Error(), "vision: fuse: ")
		}
	}
	out.GiveUnidentified(unnamed)
	return out
}

// standingViews returns the ships to fuse, for each camera.
func standingViews(t *vision.Tracked, used []sight, verdicts map[string]standing) (views []vision.Located, names []string) {
	own := t.Located
	own.Scene.Ships, own.Ships = nil, nil
	for _, k := range t.Tracks {
		if verdicts[k.Ship.ID].main {
			own.Scene.Ships, own.Ships = append(own.Scene.Ships, k.Ship), append(own.Ships, k.View)
		}
	}
	views, names = []vision.Located{own}, []string{mainCamera}
	for _, s := range used {
		l := vision.Located{Captured: s.view.Located.Captured, Scene: s.view.Located.Scene}
		l.Scene.Ships = nil
		for _, k := range s.view.Tracks {
			if verdicts[k.Ship.ID].others && k.State == vision.Still {
				l.Scene.Ships, l.Ships = append(l.Scene.Ships, k.Ship), append(l.Ships, k.View)
			}
		}
		views, names = append(views, l), append(names, s.name)
	}
	return views, names
}

// mainCamera is the main camera's name for people.
const mainCamera = "the main camera"

// changes reports that a camera dropped out or came back. One late picture is not worth a note.
func (f *Fuse) changes(s *sight) (out []game.CameraChange) {
	health := s.view.Health
	if was, known := f.health[s.name]; health.Code != was && (known || health.Code != live.Starting) {
		switch {
		case health.Code != live.OK:
			out = append(out, game.CameraChange{Name: s.name, Why: strings.ToLower(health.Title), Detail: health.Detail})
		case known && was != live.Starting:
			out = append(out, game.CameraChange{Name: s.name})
		}
	}
	if f.health == nil {
		f.health = map[string]live.Code{}
	}
	f.health[s.name] = health.Code
	return out
}

// standing says which cameras' sights of a ship are fused.
type standing struct {
	main, others bool
	state        vision.TrackState // the ship's state when neither
}

// standings decides for each ship which cameras' sights are fused.
func standings(own []vision.Track, others []sight) map[string]standing {
	type seen struct {
		main                           vision.TrackState
		known, moving, settling, still bool
	}
	ships := map[string]seen{}
	for _, k := range own {
		ships[k.Ship.ID] = seen{main: k.State, known: true, moving: k.State == vision.Moving || k.State == vision.Lifted}
	}
	for _, o := range others {
		for _, k := range o.view.Tracks {
			s := ships[k.Ship.ID]
			s.moving = s.moving || k.State == vision.Moving || k.State == vision.Lifted
			s.settling = s.settling || k.State == vision.Settling
			s.still = s.still || k.State == vision.Still
			ships[k.Ship.ID] = s
		}
	}
	out := map[string]standing{}
	for id, s := range ships {
		switch {
		case s.moving:
			out[id] = standing{state: vision.Moving}
		case s.known && s.main == vision.Still:
			out[id] = standing{main: true, others: true}
		case s.known && s.main == vision.Settling, s.settling:
			out[id] = standing{state: vision.Settling}
		case s.still: // the main camera does not see it now
			out[id] = standing{others: true}
		case s.known && s.main.Stands():
			out[id] = standing{main: true}
		default:
			out[id] = standing{state: vision.Hidden}
		}
	}
	return out
}

// assemble replaces the main camera's ships by the fused ones.
func assemble(t vision.Tracked, others []sight, fused *vision.Located, verdicts map[string]standing) vision.Tracked {
	out := t
	out.Scene.ScaleSigma, out.Fusion = fused.Scene.ScaleSigma, fused.Fusion
	out.Tracks, out.Scene.Ships, out.Ships = nil, nil, nil
	done := map[string]bool{}
	for _, k := range t.Tracks {
		done[k.Ship.ID] = true
		i := slices.IndexFunc(fused.Scene.Ships, func(s engine.Ship) bool { return s.ID == k.Ship.ID })
		switch v := verdicts[k.Ship.ID]; {
		case i >= 0 && v.main:
			k.Ship, k.View = fused.Scene.Ships[i], fused.Ships[i]
		case i >= 0:
			k = othersTrack(others, fused, i)
		case v.main || v.others: // the cameras disagree: Fusion says how
			k.State, k.Since = vision.Hidden, t.Captured
		case k.State.Stands():
			k.State, k.Since = v.state, t.Captured
		}
		out.Tracks = append(out.Tracks, k)
	}
	for i, s := range fused.Scene.Ships {
		if !done[s.ID] {
			out.Tracks = append(out.Tracks, othersTrack(others, fused, i))
		}
	}
	slices.SortFunc(out.Tracks, func(a, b vision.Track) int { return vision.CompareIDs(a.Ship.ID, b.Ship.ID) })
	for _, k := range out.Tracks {
		out.Scene.Ships, out.Ships = append(out.Scene.Ships, k.Ship), append(out.Ships, k.View)
	}
	return out
}

// othersTrack returns the track of a ship that only secondary cameras see.
func othersTrack(others []sight, fused *vision.Located, i int) (out vision.Track) {
	for _, o := range others {
		for _, k := range o.view.Tracks {
			if k.Ship.ID == fused.Scene.Ships[i].ID && k.State == vision.Still && k.Captured.After(out.Captured) {
				out = k
			}
		}
	}
	out.Ship, out.View = fused.Scene.Ships[i], fused.Ships[i]
	return out
}

// pastContradicts is how long an obstacle that a camera no longer sees still contradicts what
// another camera recognises in the same place.
const pastContradicts = 10 * time.Second

// pastObstacles is a secondary camera's last sight of the obstacles.
type pastObstacles struct {
	sight vision.ObstacleSight
	at    time.Time
}

// noEmptyMat is why a secondary camera does not watch obstacles.
const noEmptyMat = "no picture of its empty mat is named"

// obstacles returns what a secondary camera knows of the obstacles, and in a few words why it
// does not see them now. Both are empty if the main camera watches none. What a camera saw
// before still counts, marked as past: an obstacle does not vanish because the camera that saw
// it does not look.
func (f *Fuse) obstacles(s *sight, t *vision.Tracked) (seen *vision.ObstacleSight, why string) {
	if t.Obstacles == nil {
		return nil, ""
	}
	now := s.view.Located.Obstacles
	switch mat := &s.view.Located.Scene; {
	case s.out != "":
	case now == nil:
		return nil, noEmptyMat
	case now.Unseen != "":
		why = now.Unseen
	case mat.MatWidth == t.Scene.MatWidth && mat.MatHeight == t.Scene.MatHeight:
		if f.past == nil {
			f.past = map[string]pastObstacles{}
		}
		f.past[s.name] = pastObstacles{*now, t.Captured}
		return now, ""
	}
	past, known := f.past[s.name]
	if !known {
		return nil, why
	}
	past.sight.Past = true
	if t.Captured.Sub(past.at) > pastContradicts {
		past.sight = past.sight.AsUnknown()
	}
	return &past.sight, why
}

// fuseObstacles replaces the main camera's obstacles by the fused ones. It does nothing while
// the main camera still searches for them.
func fuseObstacles(out, own *vision.Tracked, others []vision.Located, by []string, camera *calibration.Camera) {
	if own.Obstacles == nil || own.Obstacles.Pending() || len(others) == 0 {
		return
	}
	views := append([]vision.Located{own.Located}, others...)
	names := append([]string{mainCamera}, by...)
	fused := fusion.Obstacles(views, out.Scene.Ships, fusion.Options{Names: names, Camera: camera})
	to, from := &out.Scene, &fused.Scene
	to.Obstacles, to.Devices, to.Markers, to.Unknown, to.Blind, to.ObstaclesUnseen = from.Obstacles, from.Devices, from.Markers, from.Unknown,
		from.Blind, from.ObstaclesUnseen
	out.Obstacles = fused.Obstacles
	all := vision.Fusion{Conflicts: fused.Fusion.Conflicts}
	if out.Fusion != nil {
		all = *out.Fusion
		all.Conflicts = append(slices.Clone(all.Conflicts), fused.Fusion.Conflicts...)
	}
	out.Fusion = &all
}
