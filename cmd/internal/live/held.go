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

// Held is what a judge rules on: the instant that is held, with all that it was
// seen through. It is a plain value: whoever makes it does not change it afterwards.
type Held struct {
	// Number names what is held. Holding again and everything that changes what is shown
	// while it is held give another one, also after the program was started again.
	Number   uint64
	At       time.Time         // when it was held
	Asked    string            // who asked for a judge, as AskedText says it; "": no judge was asked for
	Askers   []string          // their names, the first to ask first; empty where no names were given
	Judge    bool              // a judge holds it
	Marked   bool              // a person marked ships in the picture: it shows nothing by which the program finds them
	Register Register          // the calibration that the picture was measured with
	Table    calibration.Table // the same, to project with

	Source           string
	Frame            vision.Frame
	Region           image.Rectangle // the part of the picture that is worth showing; empty: all of it
	Located          vision.Located
	Tracks           []vision.Track
	ObstaclesWatched bool
	Sigmas           float64
	Touch            *Touch        // of the first edition's game; nil: not kept
	Play             *Play         // the game then; nil: none was played
	Result           engine.Result // all pairs of the ships that stood
}

// State returns what is held as a state with a pair chosen, whatever is agreed about
// measuring: judges see it.
func (h *Held) State(c Choice) State {
	s := State{
		At: h.At, Health: Health{Code: OK}, Source: h.Source, Register: h.Register, Frame: h.Frame, Region: h.Region, Located: h.Located,
		Tracks: h.Tracks,
		Held:   true, ObstaclesWatched: h.ObstaclesWatched, Sigmas: h.Sigmas, Result: h.Result, Choice: c, Play: h.Play,
	}
	s.Pair, s.Reason = h.Pair(c.From, c.To)
	return s
}

// Measured says in a few words what was measured of a pair: what a judge confirms.
func (h *Held) Measured(c Choice) string {
	s := h.State(c)
	return MeasuredTitle(&s)
}

// Pair returns what was measured of a pair, or in a few words why nothing was.
func (h *Held) Pair(from, to string) (*engine.PairVerdict, string) {
	if from == "" || to == "" {
		return nil, "nothing is chosen"
	}
	for _, id := range []string{from, to} {
		if k, ok := (vision.Tracked{Tracks: h.Tracks}).Track(id); ok && !k.State.Stands() {
			return nil, TrackText(&k, h.Located.Captured)
		}
	}
	for i := range h.Result.Pairs {
		if p := &h.Result.Pairs[i]; p.From == from && p.To == to {
			return p, ""
		}
	}
	return nil, "it was not measured"
}

// Scene returns the scene that was measured: the ships that stood.
func (h *Held) Scene() engine.Scene {
	s := State{Located: h.Located, Tracks: h.Tracks}
	return s.Standing()
}

// Guarded reports whether what is held waits for a judge: one was asked for, or holds it,
// and no ruling on it has been recorded. last is the last ruling; nil: there is none.
func (h *Held) Guarded(last *Ruling) bool {
	return h != nil && (h.Asked != "" || h.Judge) && (last == nil || last.Held != h.Number)
}

// waits says for people what is held for a judge: "A judge was asked for by player 2 at
// 14:03".
func (h *Held) waits() string {
	who := "A judge held this"
	if h.Asked != "" {
		who = "A judge was asked for by " + h.Asked
	}
	return who + " at " + clockOf(h.At)
}

func clockOf(t time.Time) string { return t.Local().Format("15:04:05") }

// SidesOf returns the sides of a ship that its place rests on.
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

// pilot returns a ship's pilot, or which ships a base without a name may be; "": nothing is known.
func (h *Held) pilot(id string) string {
	for i := range h.Located.Scene.Ships {
		if s := &h.Located.Scene.Ships[i]; s.ID == id && len(s.NameDoubt) > 0 {
			return MayBe(s.NameDoubt)
		}
	}
	return h.Play.Pilot(id)
}

// has reports whether a ship was seen.
func (h *Held) has(id string) bool {
	return slices.ContainsFunc(h.Located.Scene.Ships, func(s engine.Ship) bool { return s.ID == id })
}
