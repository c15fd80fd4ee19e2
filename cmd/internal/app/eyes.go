package app

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/vision"
)

// eyesApart is how far apart the moments of two cameras' pictures may lie for both to
// count: a hand that takes a ship needs longer.
const eyesApart = 300 * time.Millisecond

// Eye is a further camera over the same table: a watcher of its own sees to its
// registration, follows its ships, and publishes what it knows. The main camera's watcher
// fuses that with what it sees itself.
type Eye struct {
	Name string
	View func() live.State // what its watcher published last
}

// eyeSight is what one eye adds to a picture of the main camera.
type eyeSight struct {
	name   string
	view   live.State
	leftBy string // why it is left out, for people; "": it is not
}

// lookThrough asks an eye what it sees, for a picture of the main camera.
func (e *Eye) lookThrough(captured time.Time) eyeSight {
	s := eyeSight{name: e.Name, view: e.View()}
	s.view.Tracks = slices.DeleteFunc(slices.Clone(s.view.Tracks), func(k vision.Track) bool { return vision.Unnamed(k.Ship.ID) })
	switch apart := captured.Sub(s.view.Located.Captured).Abs(); {
	case s.view.Health.Code != live.OK:
		s.leftBy = strings.ToLower(s.view.Health.Title)
	case s.view.Located.Captured.IsZero():
		s.leftBy = "no picture of it was searched yet"
	case s.view.Located.Doubtful:
		s.leftBy = "its picture may not show the table as its calibration has it"
	case apart > eyesApart:
		s.leftBy = "its pictures come too late"
	}
	return s
}

// withEyes adds to what the main camera sees what the others see. A ship stands when no
// camera sees it move and the main camera sees it still, or reads it no more and another
// sees it still. An eye that is not well is left out and named.
func (w *Watcher) withEyes(t vision.Tracked) vision.Tracked {
	if len(w.o.Eyes) == 0 {
		return t
	}
	var used []eyeSight
	var cameras []live.Camera
	var obstacles []vision.Located
	var by []string // whose
	for i := range w.o.Eyes {
		s := w.o.Eyes[i].lookThrough(t.Captured)
		sight, why := w.eyeObstacles(&s, &t)
		cameras = append(cameras, live.Camera{Name: s.name, Source: s.view.Source, Used: s.leftBy == "", Why: s.leftBy, NoObstacles: why})
		if s.leftBy == "" {
			used = append(used, s)
		}
		if sight != nil {
			obstacles = append(obstacles, vision.Located{Obstacles: sight, Ships: s.view.Located.Ships})
			by = append(by, s.name)
		}
	}
	defer w.tellEyes(cameras)
	if len(used) == 0 && len(obstacles) == 0 || t.Doubtful {
		return t
	}
	unnamed := t.TakeUnnamed()
	own, views, names := t.Located, []vision.Located(nil), []string{"the main camera"}
	own.Scene.Ships, own.Ships = nil, nil
	verdicts := standings(t.Tracks, used)
	for _, k := range t.Tracks {
		if verdicts[k.Ship.ID].main {
			own.Scene.Ships, own.Ships = append(own.Scene.Ships, k.Ship), append(own.Ships, k.View)
		}
	}
	views = append(views, own)
	for _, s := range used {
		l := vision.Located{Captured: s.view.Located.Captured, Scene: s.view.Located.Scene}
		l.Scene.Ships = nil
		for _, k := range s.view.Tracks {
			if verdicts[k.Ship.ID].eyes && k.State == vision.Still {
				l.Scene.Ships, l.Ships = append(l.Scene.Ships, k.Ship), append(l.Ships, k.View)
			}
		}
		views, names = append(views, l), append(names, s.name)
	}
	fused, err := vision.Fuse(views, vision.FuseOptions{Names: names, Apart: -1, Camera: &w.located.Camera})
	if err != nil {
		for i := range cameras { // another mat than the main camera's
			cameras[i].Used, cameras[i].Why = false, strings.TrimPrefix(err.Error(), "vision: fuse: ")
		}
		t.GiveUnnamed(unnamed)
		return t
	}
	out := assemble(t, used, &fused, verdicts)
	w.fuseObstacles(&out, &t, obstacles, by)
	out.GiveUnnamed(unnamed)
	return out
}

// pastContradicts is how long what a camera saw, and sees no more, still speaks against
// what another recognises in the same place.
const pastContradicts = 10 * time.Second

// pastObstacles is what a further camera saw of the obstacles when it saw them last.
type pastObstacles struct {
	sight vision.ObstacleSight
	at    time.Time
}

// eyeObstacles returns what an eye says of the obstacles, for a picture of the main camera,
// and in a few words why it does not see them now; both are empty where the main camera
// watches none. What an eye saw before and does not see now still counts, as the past: what
// it alone could see has not gone because it looks away.
func (w *Watcher) eyeObstacles(s *eyeSight, t *vision.Tracked) (sight *vision.ObstacleSight, why string) {
	if t.Obstacles == nil {
		return nil, ""
	}
	now := s.view.Located.Obstacles
	switch mat := &s.view.Located.Scene; {
	case s.leftBy != "":
	case now == nil:
		return nil, noEmptyMat
	case now.Unseen != "":
		why = now.Unseen
	case mat.MatWidth == t.Scene.MatWidth && mat.MatHeight == t.Scene.MatHeight:
		if w.eyesPast == nil {
			w.eyesPast = map[string]pastObstacles{}
		}
		w.eyesPast[s.name] = pastObstacles{*now, t.Captured}
		return now, ""
	}
	past, known := w.eyesPast[s.name]
	if !known {
		return nil, why
	}
	past.sight.Past = true
	if t.Captured.Sub(past.at) > pastContradicts {
		past.sight = past.sight.AsThings()
	}
	return &past.sight, why
}

// noEmptyMat says why a further camera watches no obstacles.
const noEmptyMat = "no picture of its empty mat is named"

// fuseObstacles puts in the place of the main camera's obstacles what it and others see
// of them. While the main camera is looking for them nothing is said of obstacles.
func (w *Watcher) fuseObstacles(out, own *vision.Tracked, others []vision.Located, by []string) {
	if own.Obstacles == nil || own.Obstacles.Pending() || len(others) == 0 {
		return
	}
	views := append([]vision.Located{own.Located}, others...)
	names := append([]string{"the main camera"}, by...)
	fused := vision.FuseObstacles(views, out.Scene.Ships, vision.FuseOptions{Names: names, Camera: &w.located.Camera})
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

// standing says whose sights of a ship count.
type standing struct {
	main, eyes bool
	state      vision.TrackState // when neither: what is said of it
}

// standings decides for each ship whose sights of it count.
func standings(own []vision.Track, eyes []eyeSight) map[string]standing {
	type seen struct {
		main                           vision.TrackState
		known, moving, settling, still bool
	}
	ships := map[string]seen{}
	for _, k := range own {
		ships[k.Ship.ID] = seen{main: k.State, known: true, moving: k.State == vision.Moving || k.State == vision.Lifted}
	}
	for _, e := range eyes {
		for _, k := range e.view.Tracks {
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
			out[id] = standing{main: true, eyes: true}
		case s.known && s.main == vision.Settling, s.settling:
			out[id] = standing{state: vision.Settling}
		case s.still: // the main camera only remembers it, or never saw it
			out[id] = standing{eyes: true}
		case s.known && s.main.Stands():
			out[id] = standing{main: true}
		default:
			out[id] = standing{state: vision.Hidden}
		}
	}
	return out
}

// assemble puts the fused ships in the place of the main camera's.
func assemble(t vision.Tracked, eyes []eyeSight, fused *vision.Located, verdicts map[string]standing) vision.Tracked {
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
			k = eyeTrack(eyes, fused, i)
		case v.main || v.eyes: // the cameras contradict each other: Fusion says how
			k.State, k.Since = vision.Hidden, t.Captured
		case k.State.Stands():
			k.State, k.Since = v.state, t.Captured
		}
		out.Tracks = append(out.Tracks, k)
	}
	for i, s := range fused.Scene.Ships {
		if !done[s.ID] {
			out.Tracks = append(out.Tracks, eyeTrack(eyes, fused, i))
		}
	}
	slices.SortFunc(out.Tracks, func(a, b vision.Track) int { return vision.CompareIDs(a.Ship.ID, b.Ship.ID) })
	for _, k := range out.Tracks {
		out.Scene.Ships, out.Ships = append(out.Scene.Ships, k.Ship), append(out.Ships, k.View)
	}
	return out
}

// eyeTrack is the track of a ship that stands by what eyes see of it.
func eyeTrack(eyes []eyeSight, fused *vision.Located, i int) (out vision.Track) {
	for _, e := range eyes {
		for _, k := range e.view.Tracks {
			if k.Ship.ID == fused.Scene.Ships[i].ID && k.State == vision.Still && k.Captured.After(out.Captured) {
				out = k
			}
		}
	}
	out.Ship, out.View = fused.Scene.Ships[i], fused.Ships[i]
	return out
}

// tellEyes keeps how the further cameras are, and notes when one falls out or comes
// back. One that is late for a picture is not worth a note.
func (w *Watcher) tellEyes(cameras []live.Camera) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range cameras {
		health := w.o.Eyes[i].View().Health
		if was, known := w.eyesWere[c.Name]; health.Code != was && (known || health.Code != live.Starting) {
			switch {
			case health.Code != live.OK:
				w.noteEye(c.Name, strings.ToLower(health.Title), health.Detail)
			case known && was != live.Starting:
				w.noteEye(c.Name, "", "")
			}
		}
		if w.eyesWere == nil {
			w.eyesWere = map[string]live.Code{}
		}
		w.eyesWere[c.Name] = health.Code
	}
	w.cameras = cameras
}

// eyeFalls counts how often a further camera fell out while notes of it were shown.
type eyeFalls struct {
	n     int
	since time.Time
	why   string // of the last time
}

// noteEye notes why a further camera fell out ("" when it came back), and more of it. One that does it again while
// that is still shown has one note, with how often, so that it drives out no others. The
// caller holds mu.
func (w *Watcher) noteEye(name, why, detail string) {
	out, in := name+" is left out", name+" is back"
	of := func(n live.Note) bool { return strings.HasPrefix(n.Text, out) || strings.HasPrefix(n.Text, in) }
	f := w.eyesFell[name]
	if !slices.ContainsFunc(w.notes, of) {
		f = eyeFalls{since: w.o.Now()}
	}
	text, last := in+".", ", last: "+f.why
	if why != "" {
		f.n, f.why = f.n+1, why
		text, last = out+": "+why+". "+detail, ""
	}
	if f.n > 1 {
		w.notes = slices.DeleteFunc(slices.Clone(w.notes), of)
		text += fmt.Sprintf(" It was left out %d times since %s%s.", f.n, f.since.Format("15:04"), last)
	}
	if w.eyesFell == nil {
		w.eyesFell = map[string]eyeFalls{}
	}
	w.eyesFell[name] = f
	w.note(text)
}

// tellConflicts notes in what the cameras contradict each other, once. The caller holds mu.
func (w *Watcher) tellConflicts(f *vision.Fusion) {
	told := map[string]bool{}
	if f != nil {
		for _, c := range f.Conflicts {
			key := strings.Join(c.IDs, " ")
			told[key] = true
			if !w.conflicts[key] {
				w.note("The cameras contradict each other. " + c.String() + ".")
			}
		}
	}
	w.conflicts = told
}

// restWithEyes measures anew what rests for the main camera when other cameras say more
// or less of it than before.
func (w *Watcher) restWithEyes(rested vision.Tracked, change func(vision.Tracked, *engine.Result, error)) {
	tracked := w.withEyes(rested)
	now := tracked.Standing()
	if reflect.DeepEqual(now, w.stood) {
		change(tracked, nil, nil)
		return
	}
	result, err := w.measure(&now, w.rules())
	change(tracked, &result, err)
}

// measure measures a scene. An eye's is the main camera's to measure.
func (w *Watcher) measure(s *engine.Scene, rules Rules) (engine.Result, error) {
	w.stood = *s
	if w.o.Eye {
		return engine.Result{}, nil
	}
	return w.measurer.Measure(s, engine.Options{Sigmas: rules.Sigmas})
}

// furtherCameras are the parts of the further cameras.
type furtherCameras struct {
	tasks []Task
	close []func() error
}

// Close ends what the eyes opened.
func (e *furtherCameras) Close() error {
	for _, c := range e.close {
		if err := c(); err != nil {
			return err
		}
	}
	return nil
}

// openEyes builds a feed and a watcher for each further camera of the configuration, and
// lets the main camera's watcher look through them. One watches obstacles if a picture of
// the empty mat is named that it took: lamps shine otherwise from where it stands.
func openEyes(c Config, main *WatcherOptions, searches *vision.Searches, o Options) (*furtherCameras, error) {
	out := &furtherCameras{}
	for _, further := range c.Cameras {
		if err := checkSource(further.Source); err != nil {
			return out, fmt.Errorf("cameras.source: %s: %w", further.Name, err)
		}
		own := c
		own.Camera = further.Camera
		own.Table.Calibration, own.Table.Record, own.Table.EmptyMat = further.Calibration, "", further.EmptyMat
		if further.EmptyMat == "" {
			own.Table.Catalogue = ""
		}
		source := &opener{camera: further.Camera, skipped: logSkipped(o.Log)}
		options, err := watcherOptions(own, source, vision.LocatorOptions{Searches: searches, Further: true})
		if err != nil {
			return out, fmt.Errorf("cameras: %s: %w", further.Name, err)
		}
		log := o.Log.With("camera", further.Name)
		feed := vision.NewFeed(source.open, vision.FeedOptions{Name: further.Source, OnChange: logCamera(log)})
		hub := live.NewHub(live.State{Health: live.Health{Code: live.Starting, Title: "Starting"}})
		options.Name, options.Eye, options.Frames, options.Hub, options.Log = further.Name, true, feed, hub, log
		options.PanelName, options.StaleAfter, options.Markers = func() string { return "" }, main.StaleAfter, openMarkers(log)
		if closer, ok := options.Markers.(interface{ Close() error }); ok {
			out.close = append(out.close, closer.Close)
		}
		out.tasks = append(out.tasks, feedTask{feed}, NewWatcher(options))
		main.Eyes = append(main.Eyes, Eye{Name: further.Name, View: hub.Newest})
	}
	return out, nil
}
