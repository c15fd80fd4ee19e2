package live

import (
	"fmt"
	"image"
	"strings"
	"time"

	"sightline/calibration/verify"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware"
	"sightline/vision"
	"sightline/vision/exposure"
)

// State is everything that is known at one instant. It is a plain value: whoever
// makes it does not change it afterwards.
type State struct {
	Seq uint64    // counts the states from 1
	At  time.Time // when it was made

	Health Health
	Notes  []Note // what people should know that is no hindrance, newest first

	Source   string // as the source names itself
	Figures  Figures
	Register Register

	Cameras []Camera // the further cameras; none: there is one only

	Frame   vision.Frame    // the newest picture; Gray is nil before the first one
	Region  image.Rectangle // the part of the picture that is worth showing; empty: all of it
	Located vision.Located
	Tracks  []vision.Track // of Located's ships, in their order; none: they are not followed

	ObstaclesWatched bool
	Held             bool       // a person holds the picture and the answers: they are not live
	Hold             *Held      // what is held; nil while everything is live
	Released         []Released // what was released and can be held again, the newest first
	Ruling           *Ruling    // the last ruling; nil: there was none since the program started
	RulingsTrouble   string     // why no ruling can be recorded now, a sentence; "" when nothing is known against it
	Match            Match      // what a stream says of the game
	Direction        Direction  // of the stream's overlays
	Play             *Play      // the game on the table; nil: none is played
	Sigmas           float64
	Choice           Choice
	Chosen           bool                // by a person; otherwise the program chose, by which ship moved last
	Pair             *engine.PairVerdict // of the chosen pair; nil: Reason says why
	Reason           string              // why there is no answer, in a few words; "" when there is one
	Light            Light               // how well the camera sees

	// Result is all pairs, whatever the players agreed on: what leaves this package has
	// passed Policy.Apply, unless it goes to a judge.
	Result engine.Result

	Policy   Policy // what the players agreed on about measuring
	Withheld bool   // there is an answer, and the agreement forbids it: Reason says why

	Panel     hardware.State
	PanelName string // what the panel says of itself

	LampLabels [hardware.NumLamps]string // what is printed next to the lamps; "": their names
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
	Moved         Code = "moved" // the camera or the table; it is registered again automatically
	MarkersLost   Code = "markers_lost"
	LensChanged   Code = "lens_changed"
	Dark          Code = "dark"   // the pictures show nothing
	Frozen        Code = "frozen" // the same picture again and again
	Torn          Code = "torn"   // part of the picture never came
)

// Health says how the program is, and what a person can do about it.
type Health struct {
	Code   Code
	Title  string // "No camera"
	Detail string // what exactly is wrong
	Advice string // what to do
}

// Line says what is wrong in one line: the title and the detail, or the detail where it begins with the title.
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

// Figures count what the camera and the locator do.
type Figures struct {
	Frames, Dropped uint64
	FPS             float64       // of the camera
	Locating        time.Duration // what the last frame took
	Age             time.Duration // of the picture when the state was made
}

// Register says how the camera's place over the table is known.
type Register struct {
	From    string // "table.json", "the mat's markers"; "" when it is not known
	RMSPx   float64
	Markers []int // that fixed it
	At      time.Time
	Times   int // how often the camera registered itself since the program started

	Hash      string // of the calibration in use, as its file would hold it
	BaseHash  string // of the one the program started with: the file, or the first from the markers
	Integrity string // of the file: "intact", "changed by hand …"; "" when it comes from the markers
	Lens      string // the lens file and its integrity; "" when none was named
	File      []byte // the calibration in use, as `calibrate table` would write it
	Watch     Watch
	Verified  *verify.AnswerJSON // the last verification of the file; nil: there was none
}

// Watch says whether the calibration in use still holds.
type Watch struct {
	State           string // as watch.State, or "unwatched"
	Text            string // for people; "" when the health says it
	Seen, Of        int    // markers that are where they were
	Missing, Strays []int  // ids that are not seen, and that lie elsewhere
	Blind           geom.Length
}

// Light is how well the camera sees, and what to do about it.
type Light struct {
	exposure.Light
	Advice   []string // the worst first; none: nothing is wrong
	Exposure exposure.State
}

// Camera says how one of the further cameras is.
type Camera struct {
	Name   string
	Source string // as the source names itself
	Used   bool   // what it sees is in the answers
	Why    string // why it is not, in a few words

	// NoObstacles says in a few words why it does not see the obstacles, where the main
	// camera watches them; "": it does, or they are not watched.
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

// Standing returns the scene with the ships that are answered about.
func (s *State) Standing() engine.Scene {
	if len(s.Tracks) == 0 {
		return s.Located.Scene
	}
	t := vision.Tracked{Located: s.Located, Tracks: s.Tracks}
	return t.Standing()
}

// Unseen lists the ships of the standing scene that the newest picture does not show,
// with the age of their pose: "A1 frozen 1200 ms".
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
