package round

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/engine"
	"sightline/engine/flown"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// Sort is the kind of a change of a ship's place.
type Sort string

// What a ship may have done between two rests.
const (
	Maneuver Sort = "maneuver"
	Action   Sort = "action" // a boost, barrel roll or decloak
	Nudge    Sort = "nudge"  // pushed a little without a move
	Placed   Sort = "placed" // in the play area, from reserve or from the ship that it was docked to
	Unknown  Sort = "unknown"
)

// Flown describes a move of a ship, with the program's remarks.
type Flown struct {
	Sort    Sort   `json:"sort"`
	Outcome string `json:"outcome"` // of Move: yes, too_close or no
	Move    string `json:"move"`    // the likeliest, or the nearest when nothing fits; "" for a nudge
	Text    string `json:"text"`    // "bank left 2, 1.3 mm and 0.8° off"

	Others    []string `json:"others,omitempty"` // moves that cannot be distinguished from Move
	Says      []string `json:"says,omitempty"`   // "out of order: A1 was next"
	Touching  []string `json:"touching,omitempty"`
	Obstacles []string `json:"obstacles,omitempty"` // overlapped or moved through
	Flees     string   `json:"flees,omitempty"`     // yes or too_close; "" when it stays on the mat

	// Touch and MayTouch are, in the first edition, the pairs of ships that touch or may touch
	// after the move (G95 to G101).
	Touch    [][2]string `json:"touch,omitempty"`
	MayTouch [][2]string `json:"may_touch,omitempty"`

	From       Pose    `json:"from"`
	To         Pose    `json:"to"`
	ResidualMM float64 `json:"residual_mm,omitempty"`
	Residual   float64 `json:"residual_deg,omitempty"`
}

// Short describes the move in a few words: "bank left 2", "bank left 2 or bank left 1", "not
// known".
func (f *Flown) Short() string {
	switch {
	case f.Sort == Nudge:
		return "nudged"
	case f.Sort == Placed:
		return "placed"
	case f.Outcome == engine.No.String() || f.Move == "":
		return "not known"
	case len(f.Others) > 1:
		return f.Move + " or another"
	case len(f.Others) == 1:
		return f.Move + " or " + f.Others[0]
	}
	return f.Move
}

// nudgedMost and nudgedTurn are the most that a sleeve pushes a ship. The shortest full moves, a
// boost and straight 1, are 80 mm long for a small base.
const (
	nudgedMost = 20 * geom.Millimeter
	nudgedTurn = 12 * geom.Degree
)

// judge returns a ship's move between two rests of the table. twice says that it may have moved
// twice in between.
func (g *Game) judge(before, after *engine.Scene, id string, slop flown.Slop, twice bool) Flown {
	j := judgement{g: g, before: before, after: after, id: id, piece: g.Piece(id), slop: slop, twice: twice}
	from, to := shipIn(before, id), shipIn(after, id)
	j.f = Flown{Sort: Unknown, Outcome: engine.No.String(), From: poseOf(from), To: poseOf(to)}
	if j.piece != nil && j.piece.away {
		j.f.Sort, j.f.Outcome, j.f.Text = Placed, engine.Yes.String(), "placed in the play area"
		j.checkFled(to)
		return j.f
	}
	j.turn = j.movesNext() && (j.piece.tapped || slices.Contains(g.Active(), id))
	j.identify(from, to)
	j.considerTurn(to)
	j.checkOrder()
	j.addOverlaps()
	j.checkFled(to)
	j.touch()
	return j.f
}

// judgement identifies a move of a ship.
type judgement struct {
	g             *Game
	before, after *engine.Scene
	id            string
	piece         *Piece // nil when the ship is not in the game
	slop          flown.Slop
	twice         bool // it may have moved twice
	turn          bool // it is this ship's turn to move
	f             Flown
	best          flown.Fit
	fits          []flown.Fit // best, and those that cannot be distinguished from it
	bumped        bool        // for every fit
}

func shipIn(s *engine.Scene, id string) *engine.Ship {
	i := slices.IndexFunc(s.Ships, func(k engine.Ship) bool { return k.ID == id })
	if i < 0 {
		return &engine.Ship{ID: id}
	}
	return &s.Ships[i]
}

// poseOf returns a ship's pose in the events' units.
func poseOf(s *engine.Ship) Pose {
	p := Pose{X: s.Pose.X, Y: s.Pose.Y, HeadingDeg: s.Pose.Heading.Normalized().Degrees()}
	unit := [3]float64{1, 1, geom.Angle(1).Degrees()}
	for i := range 3 {
		for k := range 3 {
			p.Covariance[3*i+k] = s.Covariance[3*i+k] * unit[i] * unit[k]
		}
	}
	return p
}

// Ship returns s at this pose.
func (p *Pose) Ship(s engine.Ship) engine.Ship {
	s.Pose = geom.Pose{Point: geom.Point{X: p.X, Y: p.Y}, Heading: geom.Angle(p.HeadingDeg) * geom.Degree}
	unit := [3]float64{1, 1, float64(geom.Degree)}
	for i := range 3 {
		for k := range 3 {
			s.Covariance[3*i+k] = p.Covariance[3*i+k] * unit[i] * unit[k]
		}
	}
	return s
}

// Sigma returns the standard deviation of the place along an axis, in mm.
func (p *Pose) Sigma() float64 { return math.Sqrt((p.Covariance[0] + p.Covariance[4]) / 2) }

// expected returns the moves that the ship may make now: its maneuver in its turn, afterwards its
// actions, and with SLAM a further maneuver. When the phase allows neither, it returns both: a
// maneuver executed too early is as likely as an illegal boost.
func (j *judgement) expected() (c flown.Candidates) {
	every := flown.Every()
	if j.piece == nil {
		return every
	}
	if j.movesNext() {
		c.Maneuvers = j.maneuvers()
		if !j.piece.Moved {
			return c
		}
	}
	for _, a := range every.Actions {
		if j.piece.may(a) {
			c.Actions = append(c.Actions, a)
		}
	}
	switch {
	case j.maySLAM():
		c.Maneuvers = append(c.Maneuvers, j.piece.slamManeuvers()...)
	case j.mayNotMove():
		c.Maneuvers = j.maneuvers()
	}
	return c
}

// mayNotMove reports whether the phase allows the ship neither a maneuver nor an action.
func (j *judgement) mayNotMove() bool {
	return !j.movesNext() && j.g.Phase != Activation && j.g.Phase != System
}

// maneuvers returns those of the ship's dial, or all when that is unknown.
func (j *judgement) maneuvers() []move.Maneuver {
	all := flown.Every().Maneuvers
	if dial := j.piece.dial(); dial != nil {
		all = dial
	}
	if j.g.Rules == engine.Rules1e && !slices.Contains(all, stressed) {
		all = append(all, stressed)
	}
	return all
}

// movesNext reports whether the camera has yet to see the ship's maneuver of this round. A person
// may have tapped before the ship came to rest.
func (j *judgement) movesNext() bool {
	return j.piece != nil && (j.g.Phase == Activation && !j.piece.Moved || j.piece.tapped)
}

// may reports whether a ship has an action in its data, or any if they list none.
func (p *Piece) may(a move.Action) bool {
	if len(p.Actions) == 0 {
		return true
	}
	name := map[move.ActionKind]string{move.Boost: "boost", move.BarrelRoll: "barrel roll", move.Decloak: "cloak"}[a.Kind]
	return p.has(name)
}

// has reports whether a ship has an action in its data.
func (p *Piece) has(name string) bool {
	return slices.ContainsFunc(p.Actions, func(own string) bool { return strings.TrimSuffix(own, "*") == name })
}

// identify searches the move among the expected ones, then among all. A ship that hardly moved
// without a fitting move was nudged.
func (j *judgement) identify(from, to *engine.Ship) {
	d := to.Pose.Sub(from.Pose.Point).Norm()
	turned := (to.Pose.Heading - from.Pose.Heading).Signed()
	small := geom.Length(d) < nudgedMost && turned < nudgedTurn && turned > -nudgedTurn
	nudge := func() {
		j.f.Sort = Nudge
		j.f.Text = nudgeText(j.g.Name(j.id), from, to)
	}
	if small && !j.turn {
		nudge()
		return
	}
	v, err := flown.Flown(j.before, j.after, j.id, j.expected(), j.slop)
	if err == nil && v.Outcome == engine.No && !small {
		v, err = j.unexpected(v)
	}
	switch {
	case err != nil:
		j.f.Text = "what it has flown is not known"
	case v.Outcome == engine.No && small:
		nudge()
	default:
		j.setVerdict(&v)
		j.considerTwoMoves()
		if small {
			j.considerNudge()
		}
	}
}

// unexpected searches a move that the round does not allow: a maneuver of the ship's own dial,
// then any. none is the verdict when nothing fits.
func (j *judgement) unexpected(none flown.Verdict) (flown.Verdict, error) {
	every := flown.Every()
	all := []flown.Candidates{every}
	if j.piece != nil && j.piece.dial() != nil {
		all = []flown.Candidates{{Maneuvers: j.maneuvers()}, every}
	}
	for _, c := range all {
		v, err := flown.Flown(j.before, j.after, j.id, c, j.slop)
		if err != nil || v.Outcome != engine.No {
			return v, err
		}
	}
	return none, nil
}

// considerNudge leaves open whether a ship that hardly moved was pushed against the ship that it
// seems to have bumped into.
func (j *judgement) considerNudge() {
	if !j.bumped {
		return
	}
	j.bumped, j.f.Outcome = false, engine.Indeterminate.String()
	j.f.Others = append(j.f.Others, "nudged")
	j.f.Text = "too close to call: " + orText(append([]string{j.f.Move}, j.f.Others...))
	j.f.Says = []string{"it bumped, or was nudged"}
}

// considerTwoMoves searches a maneuver with an action that end where the ship rests, if it was not
// seen at rest in between: straight 2 and a boost end where straight 4 does.
func (j *judgement) considerTwoMoves() {
	if !j.twice || !j.movesNext() || j.f.Sort == Action {
		return
	}
	var found []string
	for _, m := range j.expected().Maneuvers {
		if name := j.withAction(m); name != "" {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return
	}
	if j.f.Outcome == engine.No.String() {
		j.f.Sort, j.f.Move, found = Maneuver, found[0], found[1:]
	}
	j.bumped, j.f.Outcome, j.f.Touching = false, engine.Indeterminate.String(), nil
	j.f.Others = append(j.f.Others, found...)
	j.f.Text = "too close to call: " + orText(append([]string{j.f.Move}, j.f.Others...)) + ", because it was not seen at rest in between"
	j.f.Says = nil
}

// withAction names a full maneuver and the action after it that end where the ship rests; "" for
// none.
func (j *judgement) withAction(m move.Maneuver) string {
	r, err := move.Execute(j.before, j.id, m, engine.Options{})
	if err != nil || !r.FullyExecuted || r.Chosen {
		return ""
	}
	mid := *j.before
	mid.Ships = slices.Clone(j.before.Ships)
	ship := shipIn(&mid, j.id)
	ship.Covariance = ship.Covariance.Transported(r.Final.Sub(ship.Pose.Point))
	ship.Covariance[0] += float64(j.slop.Place * j.slop.Place)
	ship.Covariance[4] += float64(j.slop.Place * j.slop.Place)
	ship.Covariance[8] += float64(j.slop.Turn * j.slop.Turn)
	ship.Pose = r.Final
	var actions []move.Action
	for _, a := range flown.Every().Actions {
		if a.Kind != move.Decloak && j.piece.may(a) {
			actions = append(actions, a)
		}
	}
	v, err := flown.Flown(&mid, j.after, j.id, flown.Candidates{Actions: actions}, j.slop)
	if err != nil || v.Outcome == engine.No {
		return ""
	}
	return m.String() + " and " + v.Best.Name
}

// nudgeText describes how far a ship was pushed.
func nudgeText(name string, from, to *engine.Ship) string {
	turned := (to.Pose.Heading - from.Pose.Heading).Signed()
	return fmt.Sprintf("%s stands %.1f mm, %.1f° from where it stood", name, to.Pose.Sub(from.Pose.Point).Norm(),
		max(turned, -turned).Degrees())
}

// setVerdict sets the move.
func (j *judgement) setVerdict(v *flown.Verdict) {
	j.f.Outcome, j.f.Text = v.Outcome.String(), v.String()
	fit := v.Best
	if v.Outcome == engine.No {
		if len(v.Others) > 0 {
			j.f.Move = v.Others[0].Name
		}
		return
	}
	j.best, j.f.Move, j.f.Touching = fit, fit.Name, fit.Touching
	j.f.ResidualMM, j.f.Residual = fit.Distance.Millimeters(), fit.Turn.Degrees()
	j.f.Sort = Maneuver
	if fit.Action {
		j.f.Sort = Action
	}
	j.fits, j.bumped = append([]flown.Fit{fit}, v.Others...), fit.Partial
	for i := range v.Others {
		j.f.Others = append(j.f.Others, v.Others[i].Name)
		j.bumped = j.bumped && v.Others[i].Partial
	}
	j.considerBoost(fit.Also)
	if j.bumped {
		j.say("it bumped, and backed up%s", touches(fit.Touching))
	}
}

// considerBoost decides a move that ends where a boost does. A ship that has executed its maneuver
// has boosted, unless the maneuver was not seen or SLAM allows a further one. When the phase
// allows neither, both are named.
func (j *judgement) considerBoost(also []string) {
	i := slices.IndexFunc(also, func(a string) bool { return strings.HasPrefix(a, "boost") })
	if i < 0 || j.piece == nil || !j.mayNotMove() && (!j.piece.Moved || j.g.Phase != Activation) {
		return
	}
	m, err := move.ParseManeuver(j.f.Move)
	if j.movesNext() || j.mayNotMove() || err == nil && j.maySLAM() && slices.Contains(j.piece.slamManeuvers(), m) {
		j.f.Outcome, j.f.Others = engine.Indeterminate.String(), append(j.f.Others, also[i])
		j.f.Text = "too close to call: " + orText(append([]string{j.f.Move}, j.f.Others...))
		return
	}
	j.f.Sort, j.f.Move = Action, also[i]
}

func touches(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return " until it touches " + listText(ids)
}

func (j *judgement) say(format string, a ...any) {
	j.f.Says = append(j.f.Says, fmt.Sprintf(format, a...))
}

// offTable says of a ship that moved why it should not be on the table.
var offTable = map[Status]string{
	Destroyed: "it is destroyed", Fled: "it has fled", Reserve: "it is in reserve", Docked: "it is docked",
}

// checkOrder remarks on what does not fit the round: the wrong phase, out of order, twice, a
// maneuver that is not on the dial.
func (j *judgement) checkOrder() {
	g := j.g
	switch {
	case j.f.Sort == Nudge:
		return
	case j.piece == nil:
		j.say("%s is no ship of this game", j.id)
		return
	case j.piece.Status != OnTable:
		j.say("%s", offTable[j.piece.Status])
	case j.movesNext() && j.piece.tapped: // the tap, and perhaps a phase, came before the move
	case g.Phase == System && j.f.Sort == Action, g.Phase == Activation && j.f.Sort == Action && j.piece.Moved:
	case g.Phase != Activation:
		j.say("it moved in the %s phase", g.Phase)
	case j.piece.Moved && j.f.Sort == Maneuver && j.maySLAM():
		j.checkSLAM()
	case j.piece.Moved && j.f.Sort == Maneuver:
		j.say("it has moved already in this round: %s", j.piece.Last)
	case !j.turn && !j.piece.Moved:
		j.say("out of order: %s was next", orText(g.Active()))
	}
	if j.f.Sort == Maneuver && j.movesNext() {
		j.difficulty()
	}
}

// addOverlaps adds the obstacles and ships that the move overlapped or moved through.
func (j *judgement) addOverlaps() {
	if j.f.Outcome != engine.Yes.String() || j.f.Sort == Nudge {
		return
	}
	if j.f.Sort == Maneuver {
		m, err := move.ParseManeuver(j.f.Move)
		if err != nil {
			return
		}
		r, err := move.Execute(j.before, j.id, m, engine.Options{})
		if err != nil {
			return
		}
		j.addHits(r.Obstacles)
		if j.g.Rules != engine.Rules1e && len(r.FirstOverlapped) > 0 && j.best.Partial {
			j.say("it overlapped %s", listText(r.FirstOverlapped))
		}
		if len(r.MovedThrough) > 0 && !j.best.Partial {
			j.say("it moved through %s", listText(r.MovedThrough))
		}
		return
	}
	a, err := move.ParseAction(j.f.Move)
	if err != nil {
		return
	}
	r, err := move.Reposition(j.before, j.id, a, engine.Options{})
	if err != nil {
		return
	}
	for i := range r.Options {
		if o := &r.Options[i]; o.Name == j.best.Place || len(r.Options) == 1 {
			j.addHits(o.Obstacles)
		}
	}
}

func (j *judgement) addHits(all []move.Hit) {
	for _, h := range all {
		switch {
		case h.Template == engine.Yes || h.Base == engine.Yes:
			j.f.Obstacles = append(j.f.Obstacles, h.ID)
			how := "moved through"
			if h.Base == engine.Yes {
				how = "overlaps"
			}
			j.say("it %s %s", how, h.ID)
		case h.Template == engine.Indeterminate || h.Base == engine.Indeterminate:
			j.say("too close to call whether it met %s", h.ID)
		}
	}
}

// checkFled remarks on a ship that rests over an edge of the mat (G200, G201).
func (j *judgement) checkFled(to *engine.Ship) {
	if j.after.MatWidth <= 0 || j.after.MatHeight <= 0 {
		return
	}
	out, over := outside(j.after, to)
	if out == engine.No {
		return
	}
	j.f.Flees = out.String()
	if out == engine.Yes {
		j.say("it fled over the %s", over)
		return
	}
	j.say("too close to call whether it fled over the %s", over)
}

// outside reports whether a ship stands over an edge of the mat, and which.
func outside(s *engine.Scene, ship *engine.Ship) (engine.Outcome, string) {
	r, err := move.Execute(s, ship.ID, move.Maneuver{Bearing: move.Stationary}, engine.Options{})
	if err != nil || r.Flees == engine.NoView {
		return engine.No, ""
	}
	over := "edge of the mat"
	if len(r.Edges) > 0 {
		over = strings.Join(r.Edges, " and ") + " edge"
	}
	return r.Flees, over
}
