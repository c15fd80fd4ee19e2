package live

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"sightline/calibration/verify"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/exposure"
)

// State is everything known at one instant. It is a plain value and must not be changed
// once published.
type State struct {
	Seq uint64    // counts the states from 1
	At  time.Time // when it was made

	Health Health
	Notes  []Note // events worth knowing that stop no answer, newest first

	Source   string // the source's own name
	Figures  Figures
	Register Register

	Cameras []Camera // the secondary cameras

	Frame   vision.Frame    // the newest picture; Gray is nil before the first one
	Region  image.Rectangle // the part of the picture to show; empty: all of it
	Located vision.Located
	Tracks  []vision.Track // of Located's ships, in the same order; none: they are not tracked
	Turned  []string       // which bases' cards lie a quarter turn off in them, in sentences
	Damaged []string       // which ships' looks cannot be read, in sentences

	ObstaclesWatched bool
	Held             bool       // picture and answers are held, not live
	Hold             *Held      // what is held; nil while everything is live
	Released         []Released // released pictures that can be held again, newest first
	Ruling           *Ruling    // the last ruling since the program started; nil: none
	RulingsTrouble   string     // why no ruling can be recorded now, a sentence; "" when one can
	Match            Match      // who plays, for a stream
	Direction        Direction  // of the stream's overlays
	Play             *Play      // the game on the table; nil: none
	Sigmas           float64
	Choice           Choice
	Chosen           bool                // a person chose the pair; false: the program did, by which ship moved last
	Pair             *engine.PairVerdict // of the chosen pair; nil: Reason says why
	Reason           string              // why there is no answer, in a few words; "" when there is one
	Light            Light               // how well the camera sees

	// Result has every pair, whatever the players agreed on. Only a judge may see it all;
	// everyone else gets what Policy.Apply leaves.
	Result engine.Result

	Policy   Policy // the agreement on measuring
	Withheld bool   // the agreement forbids the answer: Reason says why

	Panel     hardware.State
	PanelName string // the panel's own name

	LampLabels [hardware.NumLamps]string // printed next to the lamps; "": the lamp's name
}

// Code names a state of the whole program.
type Code string

// The states. Only OK gives answers.
const (
	OK            Code = "ok"
	Starting      Code = "starting"
	NoCamera      Code = "no_camera"
	NoCalibration Code = "no_calibration"
	Stale         Code = "stale"
	Ended         Code = "ended"
	Broken        Code = "broken" // locating failed
	Calibrating   Code = "calibrating"
	Moved         Code = "moved" // the camera or the table; registered again automatically
	MarkersLost   Code = "markers_lost"
	LensChanged   Code = "lens_changed"
	Dark          Code = "dark"   // the pictures show nothing
	Frozen        Code = "frozen" // the same picture again and again
	Torn          Code = "torn"   // part of the picture never came
)

// Health is what stops the answers, if anything, and what a person can do about it.
type Health struct {
	Code   Code
	Title  string // "No camera"
	Detail string // what exactly is wrong
	Advice string // what to do
}

// Line returns the title and the detail on one line, without repeating a title that begins the detail.
func (h Health) Line() string {
	switch {
	case h.Detail == "":
		return h.Title
	case strings.HasPrefix(h.Detail, h.Title):
		return h.Detail
	}
	return h.Title + ": " + h.Detail
}

// Note is something that happened.
type Note struct {
	At   time.Time
	Text string
}

// Figures describe the camera and the locator at work.
type Figures struct {
	Frames, Dropped uint64
	FPS             float64       // of the camera
	Locating        time.Duration // of the last frame
	Age             time.Duration // of the picture when the state was made
}

// Register says how the camera's place over the table was found.
type Register struct {
	From    string // "table.json", "the mat's markers"; "" when it is not known
	RMSPx   float64
	Markers []int // used to find it
	At      time.Time
	Times   int // registrations from the markers since the program started

	Hash      string // of File
	BaseHash  string // of the first calibration since the program started: the file, or from the markers
	Integrity string // of the file: "intact", "changed by hand …"; "" when it comes from the markers
	Lens      string // the lens file and its integrity; "" when none was named
	File      []byte // the calibration in use, as `calibrate table` would write it
	Watch     Watch
	Verified  *verify.AnswerJSON // the last verification of the file; nil: none
}

// Watch says whether the calibration in use still holds.
type Watch struct {
	State           string // as watch.State, or "unwatched"
	Text            string // for people; "" when Health says it
	Seen, Of        int    // markers in place, of all
	Missing, Strays []int  // ids of markers not seen, and of those that lie elsewhere
	Blind           geom.Length
}

// Light is how well the camera sees, and what to do about it.
type Light struct {
	exposure.Light
	Advice   []string // the most urgent first; none: nothing is wrong
	Exposure exposure.State
}

// Camera is the state of a secondary camera.
type Camera struct {
	Name   string
	Source string // the source's own name
	Used   bool   // its sights are in the answers
	Why    string // why they are not, in a few words

	// NoObstacles says in a few words why the camera does not see the obstacles that the
	// main camera watches; "": it does, or none are watched.
	NoObstacles string
}

// ArcOf returns the verdict on the chosen arc.
func (s *State) ArcOf() (engine.ArcVerdict, bool) {
	if s.Pair != nil {
		for _, a := range s.Pair.Arcs {
			if a.Arc == s.Choice.Arc {
				return a, true
			}
		}
	}
	return engine.ArcVerdict{}, false
}

// pairIn returns the verdict on a pair; nil: not measured.
func pairIn(r *engine.Result, from, to string) *engine.PairVerdict {
	i := slices.IndexFunc(r.Pairs, func(p engine.PairVerdict) bool { return p.From == from && p.To == to })
	if i < 0 {
		return nil
	}
	return &r.Pairs[i]
}

// MeasuredWith returns the registration that the answers were measured with. While a picture is held that is the held one's: the
// camera may have been registered again since.
func (s *State) MeasuredWith() *Register {
	if s.Hold != nil {
		return &s.Hold.Register
	}
	return &s.Register
}

// Track returns a ship's track.
func (s *State) Track(id string) (vision.Track, bool) {
	t := vision.Tracked{Tracks: s.Tracks}
	return t.Track(id)
}

// Stands reports whether a ship's pose may be shown as where it stands now.
func (s *State) Stands(id string) bool {
	k, known := s.Track(id)
	return !known || k.State.Stands()
}

// Standing returns the scene with the ships that stand: those that are measured.
func (s *State) Standing() engine.Scene {
	if len(s.Tracks) == 0 {
		return s.Located.Scene
	}
	t := vision.Tracked{Located: s.Located, Tracks: s.Tracks}
	return t.Standing()
}

// Unseen lists the standing ships that the newest picture does not show, with the age of
// their pose: "A1 frozen 1200 ms".
func (s *State) Unseen() (out []string) {
	for _, k := range s.Tracks {
		if k.State.Stands() && k.State != vision.Still {
			out = append(out, fmt.Sprintf("%s %v %d ms", k.Ship.ID, k.State, k.Age(s.Located.Captured).Milliseconds()))
		}
	}
	return out
}

// Crop returns the part of the picture to show.
func (s *State) Crop() image.Rectangle {
	w, h := s.Frame.Size()
	all := image.Rect(0, 0, w, h)
	if r := s.Region.Intersect(all); !r.Empty() {
		return r
	}
	return all
}
