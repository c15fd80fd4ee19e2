package live

import (
	"image"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/token"
)

// Held is a held picture: one instant with its measurements and calibration, which a judge
// rules on. It is a plain value and does not change once made.
type Held struct {
	// Number identifies what is held. Holding again, and every change of what is held, gives
	// a new number. Numbers are not reused after a restart.
	Number   uint64
	At       time.Time         // when it was held
	AskedBy  string            // who called a judge, as AskedText says it; "": no judge was called
	Askers   []string          // their names, the first to ask first; empty where no names were given
	Judge    bool              // a judge holds it
	Marked   bool              // a person marked the ships, which the program cannot find in the picture
	Register Register          // the calibration that the picture was measured with
	Table    calibration.Table // the same, for projecting

	Source           string
	Frame            vision.Frame
	Region           image.Rectangle // the part of the picture to show; empty: all of it
	Located          vision.Located
	Tracks           []vision.Track
	ObstaclesWatched bool
	Sigmas           float64
	Touch            *Touch        // of a first edition game; nil: unknown
	Play             *Play         // the game at that instant; nil: none
	Learnt           Learnt        // the files by which it was measured; zero: not known
	Result           engine.Result // all pairs of the standing ships
}

// Learnt identifies the content of the files by which obstacles, and ships without our tokens, are found; "": there is none.
type Learnt struct{ Catalogue, EmptyMat, Looks string }

// State returns what is held as a state with the chosen pair. It ignores the agreement on
// measuring, as only judges see it.
func (h *Held) State(c Choice) State {
	s := State{
		At: h.At, Health: Health{Code: OK}, Source: h.Source, Register: h.Register, Frame: h.Frame, Region: h.Region, Located: h.Located,
		Tracks: h.Tracks,
		Held:   true, ObstaclesWatched: h.ObstaclesWatched, Sigmas: h.Sigmas, Result: h.Result, Choice: c, Play: h.Play,
	}
	s.Pair, s.Reason = h.Pair(c.From, c.To)
	return s
}

// Measured says in a few words what was measured of a pair.
func (h *Held) Measured(c Choice) string {
	s := h.State(c)
	return MeasuredTitle(&s)
}

// Pair returns the verdict on a pair, or in a few words why there is none.
func (h *Held) Pair(from, to string) (*engine.PairVerdict, string) {
	if from == "" || to == "" {
		return nil, "nothing is chosen"
	}
	for _, id := range []string{from, to} {
		if k, ok := (vision.Tracked{Tracks: h.Tracks}).Track(id); ok && !k.State.Stands() {
			return nil, TrackText(&k, h.Located.Captured)
		}
	}
	if p := pairIn(&h.Result, from, to); p != nil {
		return p, ""
	}
	return nil, "it was not measured"
}

// Scene returns the measured scene: the standing ships.
func (h *Held) Scene() engine.Scene {
	s := State{Located: h.Located, Tracks: h.Tracks}
	return s.Standing()
}

// AwaitsJudge reports whether a judge was called, or holds the picture, and has not ruled
// on it yet. last is the last ruling; nil: none.
func (h *Held) AwaitsJudge(last *Ruling) bool {
	return h != nil && (h.AskedBy != "" || h.Judge) && (last == nil || last.Held != h.Number)
}

// waitingText says who holds the picture for a judge: "A judge was called by player 2 at
// 14:03:20".
func (h *Held) waitingText() string {
	who := "A judge held this"
	if h.AskedBy != "" {
		who = "A judge was called by " + h.AskedBy
	}
	return who + " at " + clockOf(h.At)
}

func clockOf(t time.Time) string { return t.Local().Format("15:04:05") }

// SidesOf returns the sides of a ship by which its pose was measured.
func (h *Held) SidesOf(i int) []token.Side {
	if i < len(h.Located.Ships) {
		return h.Located.Ships[i].Sides
	}
	return nil
}

// Crop returns the part of the picture to show.
func (h *Held) Crop() image.Rectangle {
	s := State{Frame: h.Frame, Region: h.Region}
	return s.Crop()
}

// pilot returns a ship's pilot, or which ships an unidentified base may be; "": nothing is known.
func (h *Held) pilot(id string) string {
	for i := range h.Located.Scene.Ships {
		if s := &h.Located.Scene.Ships[i]; s.ID == id && len(s.NameDoubt) > 0 {
			return PossibleShips(s.NameDoubt)
		}
	}
	return h.Play.Pilot(id)
}

// has reports whether a ship was seen.
func (h *Held) has(id string) bool {
	return slices.ContainsFunc(h.Located.Scene.Ships, func(s engine.Ship) bool { return s.ID == id })
}
