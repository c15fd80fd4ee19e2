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

// apartMost is how far apart the moments of two cameras' pictures may lie for both to
// count: a hand that takes a ship needs longer.
const apartMost = 300 * time.Millisecond

// SecondaryCamera is a further camera over the same table. A pipeline of its own registers
// it, follows its ships, and publishes what it knows.
type SecondaryCamera struct {
	Name string
	View func() live.State // what its game published last

	// Place looks for the card of a ship where a person says that it stands, as Pipeline.PlaceCard does; nil: nothing does.
	Place func(live.PlacedShip) error
}

// sight is what one secondary camera adds to a picture of the main camera.
type sight struct {
	name string
	view live.State
	out  string // why it is left out, for people; "": it is not
}

// look returns what a secondary camera sees, for a picture of the main camera.
func (c *SecondaryCamera) look(captured time.Time) sight {
	s := sight{name: c.Name, view: c.View()}
	s.view.Tracks = slices.DeleteFunc(slices.Clone(s.view.Tracks), func(k vision.Track) bool {
		return token.Unidentified(k.Ship.ID) && k.Ship.Look == ""
	})
	switch apart := captured.Sub(s.view.Located.Captured).Abs(); {
	case s.view.Health.Code != live.OK:
		s.out = strings.ToLower(s.view.Health.Title)
	case s.view.Located.Captured.IsZero():
		s.out = "no picture of it was searched yet"
	case s.view.Located.Doubtful:
		s.out = "its picture may not show the table as its calibration has it"
	case apart > apartMost:
		s.out = "its pictures come too late"
	}
	return s
}

// Fuse is the stage that joins what the main camera sees with what the secondary cameras
// see.
type Fuse struct {
	cameras []SecondaryCamera

	past   map[string]pastObstacles // by camera
	known  map[string]knownBases    // by camera
	health map[string]live.Code     // of the cameras, when they were looked at last
}

// place says to the secondary cameras that are well where a ship stands, and reports whether one of them sees its card there.
func (f *Fuse) place(s live.PlacedShip) (found bool) {
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

// Update joins a picture of the main camera, which stands at camera, with what the others
// see. A ship stands when no camera sees it move and the main camera sees it still, or
// reads it no more and another sees it still. A camera that is not well is left out and
// named.
func (f *Fuse) Update(t vision.Tracked, camera *calibration.Camera) Fused {
	if len(f.cameras) == 0 {
		return Fused{Tracked: t}
	}
	out := Fused{Tracked: t}
	var used []sight
	var obstacles []vision.Located
	var by []string // whose obstacles
	for i := range f.cameras {
		s := f.cameras[i].look(t.Captured)
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
		for i := range out.Cameras { // another mat than the main camera's
			out.Cameras[i].Used, out.Cameras[i].Why = false, strings.TrimPrefix(err.Error(), "vision: fuse: ")
		}
	}
	out.GiveUnidentified(unnamed)
	return out
}

// standingViews returns, for each camera, its sights of ships that count.
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

// mainCamera names it for people.
const mainCamera = "the main camera"

// changes returns what people should know of a camera: that it fell out or came back. One
// that is late for a picture is not worth a note.
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

// standing says whose sights of a ship count.
type standing struct {
	main, others bool
	state        vision.TrackState // when neither: what is said of it
}

// standings decides for each ship whose sights of it count.
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
		case s.still: // the main camera only remembers it, or never saw it
			out[id] = standing{others: true}
		case s.known && s.main.Stands():
			out[id] = standing{main: true}
		default:
			out[id] = standing{state: vision.Hidden}
		}
	}
	return out
}

// assemble puts the fused ships in the place of the main camera's.
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
		case v.main || v.others: // the cameras contradict each other: Fusion says how
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

// othersTrack is the track of a ship that stands by what secondary cameras see of it.
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

// pastContradicts is how long what a camera saw, and sees no more, still speaks against
// what another recognises in the same place.
const pastContradicts = 10 * time.Second

// pastObstacles is what a secondary camera saw of the obstacles when it saw them last.
type pastObstacles struct {
	sight vision.ObstacleSight
	at    time.Time
}

// noEmptyMat says why a secondary camera watches no obstacles.
const noEmptyMat = "no picture of its empty mat is named"

// obstacles returns what a secondary camera says of the obstacles, for a picture of the
// main camera, and in a few words why it does not see them now; both are empty where the
// main camera watches none. What a camera saw before and does not see now still counts, as
// the past: what it alone could see has not gone because it looks away.
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

// fuseObstacles puts in the place of the main camera's obstacles what it and others see
// of them. While the main camera is looking for them nothing is said of obstacles.
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
