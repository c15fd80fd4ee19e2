package web

import (
	"cmp"
	"image"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/vision"
)

// HeldView is what a judge rules on: the instant that somebody held, with all that it was
// seen through. It is a plain value: whoever makes it does not change it afterwards.
type HeldView struct {
	// Number names what is held. Holding again and everything that changes what is shown
	// while it is held give another one, also after the program was started again.
	Number   uint64
	At       time.Time         // when it was held
	Asked    string            // who asked for a judge, in the words of AskedWords; "": nobody asked
	Askers   []string          // their names, the first to ask first; empty where nobody said
	Judge    bool              // a judge froze it
	Register Register          // the calibration that the picture was measured with
	Table    calibration.Table // the same, to project with

	Source           string
	Frame            vision.Frame
	Region           image.Rectangle // the part of the picture that is worth showing; empty: all of it
	Located          vision.Located
	Tracks           []vision.Track
	ObstaclesWatched bool
	Sigmas           float64
	Result           engine.Result // all pairs of the ships that stood
}

// view returns what is held as a view with a pair chosen, whatever is agreed about
// measuring: judges see it.
func (h *HeldView) view(c Choice) View {
	v := View{
		At: h.At, Health: Health{Code: OK}, Source: h.Source, Register: h.Register, Frame: h.Frame, Region: h.Region, Located: h.Located, Tracks: h.Tracks,
		Held: true, ObstaclesWatched: h.ObstaclesWatched, Sigmas: h.Sigmas, Result: h.Result, Choice: c,
	}
	v.Pair, v.Reason = h.Pair(c.From, c.To)
	return v
}

// Measured says in a few words what was measured of a pair: what a judge confirms.
func (h *HeldView) Measured(c Choice) string {
	v := h.view(c)
	return measuredTitle(&v)
}

// Pair returns what was measured of a pair, or in a few words why nothing was.
func (h *HeldView) Pair(from, to string) (*engine.PairVerdict, string) {
	if from == "" || to == "" {
		return nil, "nothing is chosen"
	}
	for _, id := range []string{from, to} {
		if k, ok := (vision.Tracked{Tracks: h.Tracks}).Track(id); ok && !k.State.Stands() {
			return nil, TrackWords(&k, h.Located.Captured)
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
func (h *HeldView) Scene() engine.Scene {
	v := View{Located: h.Located, Tracks: h.Tracks}
	return v.standing()
}

// has reports whether a ship was seen.
func (h *HeldView) has(id string) bool {
	return slices.ContainsFunc(h.Located.Scene.Ships, func(s engine.Ship) bool { return s.ID == id })
}

// RulingView is a ruling, as pages and overlays show it.
type RulingView struct {
	Number   uint64    // its entry in the log, from 1
	At       time.Time // when it was ruled; who shows it lets it fade by this
	Held     uint64    // the number of the held view that it was made on
	From, To string
	Arc      engine.Arc
	Title    string        // what holds, in a few words: "Range 2, in the front arc"
	Text     string        // the same as a sentence, with who ruled
	Measured string        // what was measured, in the words of Title
	Lines    []engine.Line // the measuring lines that it rests on
	// Decision: whether the measurement holds, left something open or was overruled;
	// Reason says why.
	Decision           Decision
	Ruled              Ruled // what is ruled in its place
	Reason             string
	Question, AskedBy  string // "" where nobody said
	Judge              string // "" where nobody said
	PictureGivesSame   bool   // the stored picture, measured alone, gives the same verdict
	PictureDifference  string // what differs when it does not, in words
	EntryHash, Program string
}

// rulingJSON is the last ruling in the state, and an entry of the list.
type rulingJSON struct {
	Number    uint64          `json:"number"`
	AtMS      int64           `json:"at_unix_ms"`
	Held      uint64          `json:"held"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Arc       string          `json:"arc"`
	Title     string          `json:"title"`
	Text      string          `json:"text"`
	Measured  string          `json:"measured"`
	LinesMM   [][2][2]float64 `json:"lines_mm"`
	Decision  Decision        `json:"decision"` // as_measured, decided (what was open), overruled
	Overruled bool            `json:"overruled"`
	Reason    string          `json:"reason"`
	Question  string          `json:"question"`
	AskedBy   string          `json:"asked_by"`
	Judge     string          `json:"judge"`

	PictureSame       bool   `json:"picture_gives_the_same"`
	PictureDifference string `json:"picture_differs"`
	EntryHash         string `json:"entry_hash"`
}

// heldJSON says in the state what is held.
type heldJSON struct {
	Number uint64 `json:"number"`
	AtMS   int64  `json:"at_unix_ms"`
	Asked  string `json:"asked"`

	Guarded bool `json:"guarded"` // it waits for a judge: a player lets it go only by naming it
}

// rulingOf returns the JSON of a ruling; nil of none.
func rulingOf(r *RulingView) *rulingJSON {
	if r == nil {
		return nil
	}
	return &rulingJSON{
		Number: r.Number, AtMS: r.At.UnixMilli(), Held: r.Held, From: r.From, To: r.To, Arc: r.Arc.String(),
		Title: r.Title, Text: r.Text, Measured: r.Measured, LinesMM: linesOf(r.Lines),
		Decision: cmp.Or(r.Decision, AsMeasured), Overruled: r.Decision == Overruled, Reason: r.Reason, Question: r.Question, AskedBy: r.AskedBy,
		Judge:       r.Judge,
		PictureSame: r.PictureGivesSame, PictureDifference: r.PictureDifference,
		EntryHash: r.EntryHash,
	}
}

// heldOf returns the JSON of what is held; nil while everything is live. last is the last
// ruling.
func heldOf(h *HeldView, last *RulingView) *heldJSON {
	if h == nil {
		return nil
	}
	return &heldJSON{Number: h.Number, AtMS: h.At.UnixMilli(), Asked: h.Asked, Guarded: h.Guarded(last)}
}
