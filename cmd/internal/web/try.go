package web

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// Try is a move that somebody wants to see before it is made.
type Try struct {
	Doing  Doing // maneuver, action or drop
	Ship   string
	Move   string // as the engine writes it
	Option string // the end to go on from, where there are several; "": the first that is legal

	Uncounted []Uncounted // ships of the table that the scene leaves out
}

// Tried is what would come of a move.
type Tried struct {
	Try
	Result engine.MoveResult
	Ends   []End
	Chosen int // of Ends: the one that After rests on; -1: none

	// After is the scene's ranges and arcs with the ship at its end: from the ship and
	// to it. Empty when WhyNot says why.
	After  engine.Result
	Scene  engine.Scene // with the ship there
	WhyNot string

	InTheWay []string // uncounted ships that the move may meet, in words: no end is sure
}

// End is a place where a move may end.
type End struct {
	Name  string
	Pose  geom.Pose
	Legal engine.Outcome
	Why   string
	Slide *geom.Pose // where the place is one end of a slide (first edition): the other end
}

// TryMove looks at a move on a scene: where it ends, what it meets, and what can be
// measured after it. It changes nothing. The errors are sentences' ends for people.
func TryMove(s *engine.Scene, t Try, sigmas float64, after bool) (Tried, error) {
	out := Tried{Try: t, Chosen: -1}
	var err error
	if out.Result, err = moved(s, t, engine.Options{Sigmas: sigmas}); err != nil {
		return out, err
	}
	out.doubt(s)
	out.Ends = endsOf(&out.Result)
	out.Chosen = slices.IndexFunc(out.Ends, func(e End) bool {
		return t.Option == "" && e.Legal != engine.No || t.Option != "" && e.Name == t.Option
	})
	if t.Option != "" && out.Chosen < 0 {
		return out, fmt.Errorf("%s has no end %q", out.Move, shorten(t.Option))
	}
	if out.WhyNot = whyNothingAfter(s, &out, after); out.WhyNot != "" {
		return out, nil
	}
	err = out.measure(s, sigmas)
	return out, err
}

// moved asks the engine.
func moved(s *engine.Scene, t Try, o engine.Options) (engine.MoveResult, error) {
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
	return engine.MoveResult{}, fmt.Errorf("expected a maneuver, an action or a drop, got %q", shorten(string(t.Doing)))
}

// endsOf lists where a move may end.
func endsOf(r *engine.MoveResult) []End {
	if len(r.Options) == 0 {
		legal := engine.Yes
		if r.Outcome == engine.Indeterminate {
			legal = engine.Indeterminate
		}
		return []End{{Name: "end", Pose: r.Final, Legal: legal}}
	}
	var out []End
	for _, o := range r.Options {
		e := End{Name: o.Name, Pose: o.Final, Legal: o.Legal, Why: o.Why}
		if o.Range {
			to := o.FinalTo
			e.Slide = &to
		}
		out = append(out, e)
	}
	return out
}

// whyNothingAfter says why nothing is measured after a move; "" when it is.
func whyNothingAfter(s *engine.Scene, t *Tried, after bool) string {
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
	if shipOf(s, t.Ship) == nil {
		return "the ship is not seen"
	}
	return ""
}

// measure puts the ship to the chosen end and measures from it and to it.
func (t *Tried) measure(s *engine.Scene, sigmas float64) error {
	t.Scene = *s
	t.Scene.Ships = slices.Clone(s.Ships)
	ship := shipOf(&t.Scene, t.Ship)
	ship.Covariance = carried(s, ship, t.Ends[t.Chosen].Pose, &t.Result)
	ship.Pose = t.Ends[t.Chosen].Pose
	var err error
	t.After, err = engine.Measure(&t.Scene, engine.Options{Sigmas: sigmas, InContact: t.inContact(), Overlapped: t.inContact()})
	return err
}

// inContact lists the ships that the moved one surely touches at its end: it was backed
// up until it touched them, whatever the camera can tell of it. In the first edition it
// overlapped them: it lists no others.
func (t *Tried) inContact() (pairs [][2]string) {
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
	d := end.Sub(ship.Pose.Point)
	// The end is start + R(heading)·v; heading runs clockwise, so that its derivative is
	// d turned by a right angle to the right: (dy, -dx).
	jx, jy := d.Y, -d.X
	c := ship.Covariance
	out := c
	out[0] = c[0] + 2*jx*c[2] + jx*jx*c[8]
	out[4] = c[4] + 2*jy*c[5] + jy*jy*c[8]
	out[1] = c[1] + jy*c[2] + jx*c[5] + jx*jy*c[8]
	out[2], out[5] = c[2]+jx*c[8], c[5]+jy*c[8]
	if !r.FullyExecuted {
		for _, id := range r.FirstOverlapped {
			if by := shipOf(s, id); by != nil {
				out[0] += by.Covariance[0]
				out[1] += by.Covariance[1]
				out[4] += by.Covariance[4]
			}
		}
	}
	out[3], out[6], out[7] = out[1], out[2], out[5]
	return out
}

// MoveLine is one sentence about a move with its outcome: Yes is good news or a plain
// fact, No bad news.
type MoveLine struct {
	Outcome engine.Outcome
	Text    string
}

// Lines says what would come of a move.
func (t *Tried) Lines() (out []MoveLine) {
	say := func(outcome engine.Outcome, format string, a ...any) {
		out = append(out, MoveLine{outcome, fmt.Sprintf(format, a...)})
	}
	r := &t.Result
	and := func(ids []string) string { return strings.Join(ids, " and ") }
	switch {
	case r.Outside == "wholly":
		say(engine.No, "The device would lie outside the play area and have no effect.")
	case r.Outside == "partly":
		say(engine.No, "Part of the device lies outside the play area; that part is ignored.")
	case t.Doing == DoDrop && len(r.FirstOverlapped) > 0: // for sure: the engine lists no others under a device
		say(engine.No, "It lies under %s.", and(r.FirstOverlapped))
	case t.Doing == DoDrop && len(t.InTheWay) > 0:
		say(engine.NoView, "Whether it lies free of ships is not seen: %s.", strings.Join(t.InTheWay, ", "))
	case t.Doing == DoDrop && slices.ContainsFunc(r.Undecided, isUnder):
		say(engine.Indeterminate, "Whether it lies free of ships is too close to call.")
	case t.Doing == DoDrop:
		say(engine.Yes, "It lies free of ships.")
	case r.Chosen || t.Doing == DoAction:
		for _, e := range t.Ends {
			say(e.Legal, "%s: %s", upperFirst(e.Name), legalWords(&e))
		}
	case r.InFull == engine.NoView:
		say(engine.NoView, "Whether it can be executed in full is not seen: %s.", strings.Join(t.InTheWay, ", "))
	case r.InFull == engine.Yes && slices.Contains(r.Undecided, notLooked):
		say(engine.Yes, "It can be executed in full (obstacles are not watched).")
	case r.InFull == engine.Yes:
		say(engine.Yes, "It can be executed in full.")
	case r.InFull == engine.Indeterminate:
		say(engine.Indeterminate, "Whether it can be executed in full is too close to call.")
	default:
		say(engine.No, "It would overlap %s and moves back along the template.", and(r.FirstOverlapped))
	}
	switch touching := len(r.Touching) > 0 && t.Doing != DoDrop; {
	case touching && (r.InFull == engine.Indeterminate || touchDoubted(r)) && len(r.Options) == 0:
		say(engine.Indeterminate, "It may end touching %s.", and(r.Touching))
	case touching:
		say(engine.No, "It ends touching %s.", and(r.Touching))
	}
	for _, h := range append(slices.Clone(r.Obstacles), r.Devices...) {
		say(hitWords(&h))
	}
	if len(r.MovedThrough) > 0 {
		say(engine.Yes, "It moves through %s.", and(r.MovedThrough))
	}
	switch {
	case r.Flees == engine.Yes && len(t.InTheWay) > 0 && t.Doing == DoManeuver:
		say(engine.NoView, "As far as is seen it leaves the play area over the %s edge.", and(r.Edges))
	case r.Flees == engine.Yes:
		say(engine.No, "It leaves the play area over the %s edge: the ship flees.", and(r.Edges))
	case r.Flees == engine.Indeterminate:
		say(engine.Indeterminate, "Whether it leaves the play area is too close to call.")
	}
	for _, act := range []string{"attack", "lock"} {
		if no := newRestriction(t.After.Barred(act, t.Ship, "")); no != nil {
			outcome := no.Outcome
			if no.sure() {
				outcome = engine.No
			}
			say(outcome, "There: %s.", no.Text)
		}
	}
	for _, u := range t.Uncounted {
		if slices.Contains(t.InTheWay, u.Why) {
			say(engine.NoView, "%s: it may stand in the way.", upperFirst(u.Why))
		} else if u.Ship.ID != t.Ship {
			say(engine.NoView, "%s: it is not counted.", upperFirst(u.Why))
		}
	}
	for _, u := range r.Undecided {
		if u == notLooked {
			say(engine.NoView, "Obstacles on the way are not watched.")
		} else if !r.Chosen && u != "fleeing" {
			say(engine.Indeterminate, "Too close to call: %s.", u)
		}
	}
	return out
}

// notLooked is the engine's word for obstacles that nobody watches.
const notLooked = engine.NotLooked

func isUnder(u string) bool { return strings.HasPrefix(u, "the device under ") }

func legalWords(e *End) string {
	words := map[engine.Outcome]string{engine.Yes: "possible", engine.No: "not possible", engine.NoView: "not seen", engine.Indeterminate: "too close to call"}[e.Legal]
	if e.Slide != nil && e.Legal == engine.Yes {
		words = "possible anywhere between the two ends"
	}
	if e.Why != "" {
		words += " (" + strings.ReplaceAll(e.Why, notLooked, "obstacles are not watched") + ")"
	}
	return words
}

func hitWords(h *engine.Hit) (outcome engine.Outcome, format string, id any) {
	switch {
	case h.Template == engine.Yes && h.Base == engine.Yes:
		return engine.No, "%s lies under the template and under the base.", h.ID
	case h.Base == engine.Yes:
		return engine.No, "%s lies under the base at its end.", h.ID
	case h.Template == engine.Yes:
		return engine.No, "%s lies under the template.", h.ID
	}
	return engine.Indeterminate, "Whether it meets %s is too close to call.", h.ID
}

// nearestWords says which question is nearest to its limit; "" when none is near.
func nearestWords(r *engine.MoveResult, sigmas float64) string {
	if r.Nearest == "" || !(math.Abs(float64(r.Margin)) < 1e6) {
		return ""
	}
	return fmt.Sprintf("Nearest to changing: %s, by %.1f mm, where %.1f mm is enough to be sure.", r.Nearest, math.Abs(r.Margin.Millimeters()), sigmas*r.Sigma.Millimeters())
}

// tryJSON is the answer to a try.
type tryJSON struct {
	Version  int             `json:"version"`
	Ship     string          `json:"ship"`
	Doing    Doing           `json:"doing"`
	Move     string          `json:"move"`
	Lines    []moveLineJSON  `json:"lines"`
	Nearest  string          `json:"nearest"`
	Ends     []endJSON       `json:"ends"`
	Chosen   int             `json:"chosen"` // of ends; -1: none
	Template [][2]float64    `json:"template_mm"`
	Device   [][][2]float64  `json:"device_mm"` // of a drop, where it lies
	After    *afterJSON      `json:"after"`     // null: why_nothing_after says why
	WhyNot   string          `json:"why_nothing_after"`
	Result   json.RawMessage `json:"move_result"` // as sightline move prints it
}

type moveLineJSON struct {
	Outcome string `json:"outcome"` // yes, no, too_close, no_view
	Text    string `json:"text"`
}

type endJSON struct {
	Name       string       `json:"name"`
	Legal      string       `json:"legal"`
	Why        string       `json:"why"`
	XMM        float64      `json:"x_mm"`
	YMM        float64      `json:"y_mm"`
	HeadingDeg float64      `json:"heading_deg"`
	SlideMM    [][2]float64 `json:"slide_mm"` // the centres between which it may end; empty: only here
}

type afterJSON struct {
	Targets  targetsJSON    `json:"targets"`  // from the ship
	Incoming []incomingJSON `json:"incoming"` // enemies that have it in an arc, or may have

	Uncounted []string `json:"uncounted"` // enemies that stand nowhere for sure: neither list is whole while there is one
}

type incomingJSON struct {
	From string        `json:"from"`
	Arc  targetArcJSON `json:"arc"`

	NoAttack *restrictionJSON `json:"no_attack"` // of the enemy on the ship
}

func tryOf(t *Tried, watched bool, sigmas float64) (tryJSON, error) {
	result, err := engine.MarshalMove(t.Result)
	j := tryJSON{
		Version: 1, Ship: t.Ship, Doing: t.Doing, Move: t.Move, Lines: moveLinesOf(t), Nearest: nearestWords(&t.Result, sigmas), Ends: []endJSON{}, Chosen: t.Chosen,
		Template: pointsOf(t.Result.Template), Device: [][][2]float64{}, WhyNot: t.WhyNot, Result: result,
	}
	if t.Doing == DoDrop {
		j.Device, j.Chosen = deviceAt(t), -1
	} else {
		for _, e := range t.Ends {
			k := endJSON{Name: e.Name, Legal: e.Legal.String(), Why: e.Why, XMM: round(e.Pose.X), YMM: round(e.Pose.Y), HeadingDeg: round(e.Pose.Heading.Normalized().Degrees()), SlideMM: [][2]float64{}}
			if e.Slide != nil {
				k.SlideMM = [][2]float64{pointOf(e.Pose.Point), pointOf(e.Slide.Point)}
			}
			j.Ends = append(j.Ends, k)
		}
	}
	if t.WhyNot == "" {
		j.After = afterOf(t, watched, sigmas)
	}
	return j, err
}

// moveLinesOf says what would come of a move; null where nothing is said.
func moveLinesOf(t *Tried) (out []moveLineJSON) {
	for _, l := range t.Lines() {
		out = append(out, moveLineJSON{l.Outcome.String(), l.Text})
	}
	return out
}

// deviceAt is the outline of a dropped device, where it lies.
func deviceAt(t *Tried) (out [][][2]float64) {
	d, err := engine.ParseDrop(t.Move)
	if err != nil {
		return [][][2]float64{}
	}
	kind := d.Device
	if kind == "" {
		kind = "bomb"
	}
	for _, part := range engine.TokenOutlines(kind) {
		var p []geom.Point
		for _, q := range part {
			p = append(p, t.Result.Final.Transform(q))
		}
		out = append(out, pointsOf(p))
	}
	return out
}

// afterOf words what can be measured after a move, as the page lists it at any time.
func afterOf(t *Tried, watched bool, sigmas float64) *afterJSON {
	after := t.After
	after.Pairs = slices.Clone(after.Pairs)
	v := View{Health: Health{Code: OK}, ObstaclesWatched: watched, Sigmas: sigmas, Result: after, Choice: Choice{From: t.Ship}}
	v.Located.Scene = t.Scene
	for i := range v.Result.Pairs { // no weapon reaches beyond range 3
		arcs := slices.DeleteFunc(slices.Clone(v.Result.Pairs[i].Arcs), func(a engine.ArcVerdict) bool { return !reaches(&a) })
		v.Result.Pairs[i].Arcs = arcs
	}
	a := &afterJSON{Targets: targetsOf(&v), Incoming: []incomingJSON{}, Uncounted: t.uncountedEnemies(&t.Scene)}
	own := shipOf(&t.Scene, t.Ship)
	for _, p := range v.Result.Pairs {
		enemy := shipOf(&t.Scene, p.From)
		if p.To != t.Ship || enemy == nil || own == nil || enemy.Player == own.Player && own.Player != 0 {
			continue
		}
		for i := range p.Arcs {
			if arc := targetArcOf(&v, &p.Arcs[i]); arc.Outcome != engine.No.String() && weaponArc(p.Arcs[i].Arc) {
				a.Incoming = append(a.Incoming, incomingJSON{p.From, arc, restrictionOf(v.restrictedFrom("attack", p.From, p.To))})
				break
			}
		}
	}
	return a
}

// reaches reports whether an arc's attack range may be one that attacks are made at.
func reaches(a *engine.ArcVerdict) bool { return a.Attack == nil || a.Attack.At(0, 3) != engine.No }

// weaponArc reports whether an arc is one that every ship of an edition, or this ship,
// shoots with: the front arc, or a turret's.
func weaponArc(a engine.Arc) bool {
	return a == engine.ArcFront || strings.Contains(a.String(), "turret") || strings.Contains(a.String(), "mobile")
}

// withholdFigures leaves what is decided and what is too close, and cuts out by how much:
// where the edition measures nothing after a move, millimetres would.
func (t *Tried) withholdFigures() {
	r := &t.Result
	r.Margin, r.Sigma, r.Nearest = geom.Length(math.Inf(1)), 0, ""
}

// try answers what would come of a move:
// {"ship":"A1","maneuver":"bank left 1"}, or with "action", or with "drop".
func (s *Server) try(w http.ResponseWriter, r *http.Request) {
	t, problem := readTry(http.MaxBytesReader(w, r.Body, bodyMost))
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	v := s.o.Hub.Newest()
	if v.Health.Code != OK && !v.Held {
		http.Error(w, v.Health.Title+": "+v.Health.Detail, http.StatusServiceUnavailable)
		return
	}
	ok, after, why := v.Policy.Move(t.Doing, t.Ship, t.Move)
	if s.judges(r) {
		ok, after = true, true
	}
	if !ok {
		http.Error(w, upperFirst(why)+".", http.StatusForbidden)
		return
	}
	scene := v.standing()
	scene.ObstaclesUnseen = scene.ObstaclesUnseen || !v.ObstaclesWatched
	if shipOf(&scene, t.Ship) == nil {
		text := t.Ship + " is not seen"
		if k, known := v.track(t.Ship); known {
			text = TrackWords(&k, v.Located.Captured)
		}
		http.Error(w, upperFirst(text)+".", http.StatusConflict)
		return
	}
	t.Uncounted = v.uncounted()
	tried, err := TryMove(&scene, t, v.Sigmas, after)
	if err != nil {
		http.Error(w, upperFirst(strings.TrimPrefix(err.Error(), "engine: "))+".", http.StatusBadRequest)
		return
	}
	if !after {
		tried.withholdFigures()
	}
	j, err := tryOf(&tried, v.ObstaclesWatched, v.Sigmas)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, http.StatusOK, j)
}

// readTry reads a move to try; problem is a sentence for people.
func readTry(body io.Reader) (t Try, problem string) {
	var in struct {
		Ship     string `json:"ship"`
		Maneuver string `json:"maneuver"`
		Action   string `json:"action"`
		Drop     string `json:"drop"`
		Option   string `json:"option"`
	}
	if problem := readJSON(body, &in, `{"ship":"A1","maneuver":"bank left 1"}`); problem != "" {
		return t, problem
	}
	t = Try{Ship: in.Ship, Option: in.Option}
	for doing, move := range map[Doing]string{DoManeuver: in.Maneuver, DoAction: in.Action, DoDrop: in.Drop} {
		if move == "" {
			continue
		}
		if t.Doing != "" {
			return t, "Expected one of maneuver, action and drop, got several."
		}
		t.Doing = doing
		var err error
		if t.Move, err = canonicalMove(doing, move); err != nil {
			return t, upperFirst(err.Error()) + "."
		}
	}
	if t.Doing == "" || t.Ship == "" {
		return t, "Expected a ship and one of maneuver, action and drop."
	}
	if _, err := vision.CodeOfID(t.Ship); !vision.Unnamed(t.Ship) && err != nil {
		return t, upperFirst(err.Error()) + "."
	}
	return t, ""
}
