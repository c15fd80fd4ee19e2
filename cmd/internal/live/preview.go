package live

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
)

// MoveRequest is a move that somebody wants to see before it is made.
type MoveRequest struct {
	Doing  Doing // maneuver, action or drop
	Ship   string
	Move   string // as the engine writes it
	Option string // the end to go on from, where there are several; "": the first that is legal

	Uncounted []Uncounted // ships of the table that the scene leaves out
}

// MovePreview is what would come of a move.
type MovePreview struct {
	MoveRequest
	Result engine.MoveResult
	Ends   []MoveEnd
	Chosen int // of Ends: the one that After rests on; -1: none

	// After is the scene's ranges and arcs with the ship at its end: from the ship and
	// to it. Empty when WhyNot says why.
	After  engine.Result
	Scene  engine.Scene // with the ship there
	WhyNot string

	InTheWay []string // uncounted ships that the move may meet, in words: no end is sure
}

// MoveEnd is a place where a move may end.
type MoveEnd struct {
	Name  string
	Pose  geom.Pose
	Legal engine.Outcome
	Why   string
	Slide *geom.Pose // where the place is one end of a slide (first edition): the other end
}

// PreviewMove looks at a move on a scene: where it ends, what it meets, and what can be
// measured after it. It changes nothing. The errors are sentences' ends for people.
func PreviewMove(s *engine.Scene, t MoveRequest, sigmas float64, after bool) (MovePreview, error) {
	out := MovePreview{MoveRequest: t, Chosen: -1}
	var err error
	if out.Result, err = moved(s, t, engine.Options{Sigmas: sigmas}); err != nil {
		return out, err
	}
	out.doubt(s)
	out.Ends = endsOf(&out.Result)
	out.Chosen = slices.IndexFunc(out.Ends, func(e MoveEnd) bool {
		return t.Option == "" && e.Legal != engine.No || t.Option != "" && e.Name == t.Option
	})
	if t.Option != "" && out.Chosen < 0 {
		return out, fmt.Errorf("%s has no end %q", out.Move, sentence.Shorten(t.Option))
	}
	if out.WhyNot = whyNothingAfter(s, &out, after); out.WhyNot != "" {
		return out, nil
	}
	err = out.measure(s, sigmas)
	return out, err
}

// moved asks the engine.
func moved(s *engine.Scene, t MoveRequest, o engine.Options) (engine.MoveResult, error) {
	switch t.Doing {
	case DoManeuver:
		m, err := engine.ParseManeuver(t.Move)
		if err != nil {
			return engine.MoveResult{}, err
		}
		return engine.Move(s, t.Ship, m, o)
	case DoAction:
		a, err := engine.ParseAction(t.Move)
		if err != nil {
			return engine.MoveResult{}, err
		}
		return engine.Reposition(s, t.Ship, a, o)
	case DoDrop:
		d, err := engine.ParseDrop(t.Move)
		if err != nil {
			return engine.MoveResult{}, err
		}
		return engine.LayDrop(s, t.Ship, d, o)
	}
	return engine.MoveResult{}, fmt.Errorf("expected a maneuver, an action or a drop, got %q", sentence.Shorten(string(t.Doing)))
}

// endsOf lists where a move may end.
func endsOf(r *engine.MoveResult) []MoveEnd {
	if len(r.Options) == 0 {
		legal := engine.Yes
		if r.Outcome == engine.Indeterminate {
			legal = engine.Indeterminate
		}
		return []MoveEnd{{Name: "end", Pose: r.Final, Legal: legal}}
	}
	var out []MoveEnd
	for _, o := range r.Options {
		e := MoveEnd{Name: o.Name, Pose: o.Final, Legal: o.Legal, Why: o.Why}
		if o.Range {
			to := o.FinalTo
			e.Slide = &to
		}
		out = append(out, e)
	}
	return out
}

// whyNothingAfter says why nothing is measured after a move; "" when it is.
func whyNothingAfter(s *engine.Scene, t *MovePreview, after bool) string {
	r := &t.Result
	switch {
	case t.Doing == DoDrop:
		return "the ship stays where it is"
	case !after:
		return "the rules do not measure ranges after a move before it is made"
	case t.Chosen < 0:
		return "there is no legal end"
	case t.Ends[t.Chosen].Legal == engine.No:
		return "this end is not legal"
	case len(t.InTheWay) > 0 && (!r.Chosen && len(r.Options) == 0 || t.Ends[t.Chosen].Legal == engine.NoView):
		return "where it ends is not known: " + strings.Join(t.InTheWay, ", ")
	case r.Flees == engine.Yes:
		return "the ship flees"
	}
	// Where it ends depends on what it overlaps.
	for _, u := range r.Undecided {
		if !r.Chosen && strings.HasPrefix(u, "overlapping ") {
			return "where it ends is too close to call: " + u
		}
	}
	if ShipOf(s, t.Ship) == nil {
		return "the ship is not seen"
	}
	return ""
}

// measure puts the ship to the chosen end and measures from it and to it.
func (t *MovePreview) measure(s *engine.Scene, sigmas float64) error {
	t.Scene = *s
	t.Scene.Ships = slices.Clone(s.Ships)
	ship := ShipOf(&t.Scene, t.Ship)
	ship.Covariance = carried(s, ship, t.Ends[t.Chosen].Pose, &t.Result)
	ship.Pose = t.Ends[t.Chosen].Pose
	o := engine.Options{Sigmas: sigmas, InContact: t.inContact(), Overlapped: t.inContact()}
	if t.overlapsNone() {
		o.Untouched = t.Ship
	}
	var err error
	t.After, err = engine.Measure(&t.Scene, o)
	return err
}

// overlapsNone reports whether the ship reaches the chosen end by a move that overlapped
// no ship: an action, or a maneuver that is surely executed in full. Standing still
// keeps the touch that was there (G99).
func (t *MovePreview) overlapsNone() bool {
	r := &t.Result
	stationary := r.Maneuver == engine.Maneuver{Bearing: engine.Stationary}.String()
	return t.Doing == DoAction || r.InFull == engine.Yes && t.Ends[t.Chosen].Legal == engine.Yes && !stationary
}

// inContact lists the ships that the moved one surely touches at its end: it was backed
// up until it touched them, whatever the camera can tell of it. In the first edition it
// overlapped them: it lists no others.
func (t *MovePreview) inContact() (pairs [][2]string) {
	r := &t.Result
	if len(r.Options) > 0 || r.InFull == engine.Indeterminate || touchDoubted(r) {
		return nil
	}
	for _, id := range r.Touching {
		pairs = append(pairs, [2]string{t.Ship, id})
	}
	return pairs
}

// touchDoubted reports whether it is too close to call which ships a move ends touching.
func touchDoubted(r *engine.MoveResult) bool {
	return slices.ContainsFunc(r.Undecided, func(u string) bool { return strings.HasPrefix(u, "touching ") })
}

// carried is the covariance of a ship's pose after a move: a turned start swings the
// end round, and a ship that was stopped by others stands as surely as those do.
func carried(s *engine.Scene, ship *engine.Ship, end geom.Pose, r *engine.MoveResult) geom.Cov3 {
	out := ship.Covariance.Transported(end.Sub(ship.Pose.Point))
	if r.FullyExecuted {
		return out
	}
	for _, id := range r.FirstOverlapped {
		if by := ShipOf(s, id); by != nil {
			for _, i := range [...]int{0, 1, 3, 4} {
				out[i] += by.Covariance[i]
			}
		}
	}
	return out
}

// WithholdFigures leaves what is decided and what is too close, and cuts out by how much:
// where the edition measures nothing after a move, millimetres would.
func (t *MovePreview) WithholdFigures() {
	r := &t.Result
	r.Margin, r.Sigma, r.Nearest = geom.Length(math.Inf(1)), 0, ""
}
