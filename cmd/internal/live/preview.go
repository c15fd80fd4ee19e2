package live

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/vision/token"
)

// MoveRequest is a move to preview.
type MoveRequest struct {
	Doing  Doing // maneuver, action or drop
	Ship   string
	Move   string // as the engine writes it
	Option string // the end to measure from, where there are several; "": the first legal one

	Uncounted []Uncounted // set by Preview
}

// MovePreview is the result of a previewed move.
type MovePreview struct {
	MoveRequest
	Result move.Result
	Ends   []MoveEnd
	Chosen int // the index in Ends that After starts from; -1: none

	After  *AfterMove // nil: WhyNot says why
	WhyNot string

	MayBlock []string // uncounted ships that may block the move, in words: no end is sure
}

// MoveEnd is a place where a move may end.
type MoveEnd struct {
	Name  string
	Pose  geom.Pose
	Legal engine.Outcome
	Why   string
	Slide *geom.Pose // in the first edition, the other end of a slide; nil: none
}

// Preview returns where a move would end, what it would overlap and what could be measured
// after it. No agreement binds a judge. An error is a *Refusal.
func (s *State) Preview(t MoveRequest, judge bool) (MovePreview, error) {
	var none MovePreview
	if err := t.check(); err != nil {
		return none, &Refusal{ErrInvalid, sentence.Of(err)}
	}
	if !s.answers() {
		return none, &Refusal{ErrNoAnswers, s.Health.Line()}
	}
	ok, after, why := s.Policy.Move(t.Doing, t.Ship, t.Move)
	if judge {
		ok, after = true, true
	}
	if !ok {
		return none, &Refusal{ErrForbidden, sentence.Upper(why) + "."}
	}
	scene := s.Standing()
	scene.ObstaclesUnseen = scene.ObstaclesUnseen || !s.ObstaclesWatched
	if scene.Ship(t.Ship) == nil {
		text := t.Ship + " is not seen"
		if k, known := s.Track(t.Ship); known {
			text = TrackText(&k, s.Located.Captured)
		}
		return none, &Refusal{ErrOvertaken, sentence.Upper(text) + "."}
	}
	t.Uncounted = s.Uncounted()
	out, err := s.preview(&scene, t, after)
	if err != nil {
		return none, &Refusal{ErrInvalid, sentence.Upper(strings.TrimPrefix(err.Error(), "engine: ")) + "."}
	}
	if !after {
		out.withholdFigures()
	}
	return out, nil
}

// check validates a request and puts its move into the engine's form.
func (t *MoveRequest) check() (err error) {
	if t.Doing == "" || t.Ship == "" {
		return errors.New("expected a ship and one of maneuver, action and drop")
	}
	if err := checkShip(t.Ship); err != nil {
		return err
	}
	t.Move, err = canonicalMove(t.Doing, t.Move)
	return err
}

// checkShip returns what is wrong with a ship's id.
func checkShip(id string) error {
	if token.Unidentified(id) {
		return nil
	}
	_, err := token.CodeOfID(id)
	return err
}

// preview is Preview on a scene of the standing ships; after permits measuring after the move.
func (s *State) preview(scene *engine.Scene, t MoveRequest, after bool) (MovePreview, error) {
	out := MovePreview{MoveRequest: t, Chosen: -1}
	var err error
	if out.Result, err = moved(scene, t, engine.Options{Sigmas: s.Sigmas}); err != nil {
		return out, err
	}
	out.markUncounted(scene)
	out.Ends = endsOf(&out.Result)
	out.Chosen = slices.IndexFunc(out.Ends, func(e MoveEnd) bool {
		return t.Option == "" && e.Legal != engine.No || t.Option != "" && e.Name == t.Option
	})
	if t.Option != "" && out.Chosen < 0 {
		return out, fmt.Errorf("%s has no end %q", out.Move, sentence.Shorten(t.Option))
	}
	if out.WhyNot = whyNothingAfter(scene, &out, after); out.WhyNot == "" {
		out.After, err = s.afterMove(scene, &out)
	}
	return out, err
}

// moved has the engine compute a move.
func moved(s *engine.Scene, t MoveRequest, o engine.Options) (move.Result, error) {
	switch t.Doing {
	case DoManeuver:
		m, err := move.ParseManeuver(t.Move)
		if err != nil {
			return move.Result{}, err
		}
		return move.Execute(s, t.Ship, m, o)
	case DoAction:
		a, err := move.ParseAction(t.Move)
		if err != nil {
			return move.Result{}, err
		}
		return move.Reposition(s, t.Ship, a, o)
	case DoDrop:
		d, err := move.ParseDrop(t.Move)
		if err != nil {
			return move.Result{}, err
		}
		return move.LayDrop(s, t.Ship, d, o)
	}
	return move.Result{}, fmt.Errorf("expected a maneuver, an action or a drop, got %q", sentence.Shorten(string(t.Doing)))
}

// endsOf lists where a move may end.
func endsOf(r *move.Result) []MoveEnd {
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

// whyNothingAfter says why nothing is measured after a move; "" when something is.
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
	case len(t.MayBlock) > 0 && (!r.Chosen && len(r.Options) == 0 || t.Ends[t.Chosen].Legal == engine.NoView):
		return "where it ends is not known: " + strings.Join(t.MayBlock, ", ")
	case r.Flees == engine.Yes:
		return "the ship flees"
	}
	// The end depends on what the move overlaps.
	for _, u := range r.Undecided {
		if !r.Chosen && strings.HasPrefix(u, "overlapping ") {
			return "where it ends is too close to call: " + u
		}
	}
	if s.Ship(t.Ship) == nil {
		return "the ship is not seen"
	}
	return ""
}

// withholdFigures removes the figures but keeps the outcomes: millimetres would measure what
// the edition's rules do not.
func (t *MovePreview) withholdFigures() {
	r := &t.Result
	r.Margin, r.Sigma, r.Nearest = geom.Length(math.Inf(1)), 0, ""
}
