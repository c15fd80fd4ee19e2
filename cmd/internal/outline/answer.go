package outline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/token"
)

// request is what a person marked in a picture, and the pair to measure.
type request struct {
	Ships     []mark `json:"ships"`
	Obstacles []rock `json:"obstacles"`
	// AllObstacles means that every obstacle in the way is marked. Without it, obstruction on a
	// photograph is not answered.
	AllObstacles bool   `json:"all_obstacles"`
	From         string `json:"from"`
	To           string `json:"to"`
	Arc          string `json:"arc"`
}

// rock is an obstacle whose edge a person marked.
type rock struct {
	Kind    string       `json:"kind"`
	Outline [][2]float64 `json:"outline_px"` // of its upper edge
	Sigma   float64      `json:"sigma_px"`   // precision of the marks; 0: like that of the bases
}

const (
	rocksMost = 12
	edgeMost  = 60 // points of an obstacle's edge
)

// Rules are the rules for measuring pictures.
type Rules struct {
	Edition engine.Rules
	Profile string
	Sigmas  float64
}

var errNoCalibration = errors.New("this picture is not calibrated yet: say where the mat's corners are")

// answered is a marked picture and its measurement.
type answered struct {
	held   live.Held
	choice live.Choice
	ships  []placed
	hand   float64 // px
}

// measure makes a scene of the marks and of what the camera saw, and measures it. Errors are for
// people.
func (p *picture) measure(r *request, rules Rules, now time.Time) (a answered, err error) {
	table, register, _ := p.calibration()
	if table == nil {
		return a, errNoCalibration
	}
	if a.ships, a.hand, err = place(table, r.Ships); err != nil {
		return a, err
	}
	if a.choice.Arc, err = live.ParseArc(r.Arc); err != nil {
		return a, err
	}
	if err = p.readElsewhere(a.ships); err != nil {
		return a, err
	}
	a.choice.From, a.choice.To = r.From, r.To
	h := &a.held
	*h = live.Held{At: now, Register: register, Table: *table, Source: p.source, Frame: p.frame, Marked: true, Sigmas: rules.Sigmas,
		Play: p.seen.Play} // of a photograph nothing is known of the game
	h.Located = p.unmarked(a.ships)
	scene := &h.Located.Scene
	scene.Rules, scene.Profile = rules.Edition, rules.Profile
	scene.MatWidth, scene.MatHeight, scene.ScaleSigma = table.Layout.Width, table.Layout.Height, table.ScaleSigma
	h.ObstaclesWatched = p.seen.ObstaclesWatched || r.AllObstacles
	scene.ObstaclesUnseen = !h.ObstaclesWatched
	if scene.Obstacles, err = rocks(table, r.Obstacles, a.hand, scene.Obstacles); err != nil {
		return a, err
	}
	for i := range a.ships {
		s := &a.ships[i]
		scene.Ships = append(scene.Ships, engine.Ship{ID: s.id, Player: s.player, Base: s.base, Pose: s.pose, Covariance: s.all, Seen: "mark",
			Visible: 1})
		h.Located.Ships = append(h.Located.Ships, vision.ShipView{ID: s.id, Fit: s.fit, Outline: s.outline(table)})
	}
	h.Play.PrintedArcs().Apply(scene)
	h.Touch = p.touch(a.ships)
	standing := h.Scene()
	if h.Result, err = engine.Measure(&standing, h.Touch.Options(&standing, rules.Sigmas)); err != nil {
		return a, err
	}
	return a, a.overlapping()
}

// touch returns what the game knows about which ships touch. A marked ship that the camera did not see in its marked place may have moved
// unseen, and may touch any other.
func (p *picture) touch(marked []placed) *live.Touch {
	touch := p.seen.Touch
	standing := p.seen.Scene().Ships
	for i := range marked {
		m := &marked[i]
		if !slices.ContainsFunc(standing, func(s engine.Ship) bool { return s.ID == m.id && m.isOn(&s) }) {
			touch = touch.WithMoved(m.id)
		}
	}
	return touch
}

// overlapping returns an error for a marked base that lies on another base by more than marks and
// camera may be off: bases cannot, so that one of the two is marked wrongly.
func (a *answered) overlapping() error {
	isMarked := func(id string) bool { return slices.ContainsFunc(a.ships, func(s placed) bool { return s.id == id }) }
	for _, p := range a.held.Result.Problems {
		other, ok := strings.CutPrefix(p.Problem, "overlaps ")
		if !ok || token.Unidentified(p.ID) || token.Unidentified(other) {
			continue
		}
		id := p.ID
		if !isMarked(id) {
			id, other = other, id
		}
		if isMarked(id) {
			return fmt.Errorf("%s lies on %s by %.0f mm, and bases cannot: is it marked in its place?", id, other, math.Abs(float64(p.Margin)))
		}
	}
	return nil
}

// turnedMost is further than any hand turns a frame whose front it has found.
const turnedMost = 20 * geom.Degree

// readElsewhere returns an error for a marked base whose code is read elsewhere in the picture, or turned: the name, the place or the front
// is wrong.
func (p *picture) readElsewhere(marked []placed) error {
	for _, s := range p.named() {
		for i := range marked {
			m := &marked[i]
			if m.id == s.ID && !m.isOn(&s) {
				return fmt.Errorf("%s is marked %.0f mm from where its code is read: which base is it?", m.id,
					float64(m.pose.Distance(s.Pose.Point)))
			}
			turned := math.Abs(math.Remainder(float64(m.pose.Heading-s.Pose.Heading), 2*math.Pi))
			if m.isOn(&s) && turned > float64(turnedMost) {
				return fmt.Errorf("%s is marked turned by %.0f° from how its code is read: where is its front?", m.id,
					geom.Angle(turned).Degrees())
			}
		}
	}
	return nil
}

// unmarked returns what the camera saw except what stands where a base is marked: the standing
// ships. If the camera took a marked base for another ship, that ship is left out.
func (p *picture) unmarked(marked []placed) vision.Located {
	out := p.seen.Located
	out.Captured = p.frame.Captured
	standing := p.seen.Scene()
	out.Scene = standing
	out.Scene.Ships, out.Ships = nil, nil
	for _, s := range standing.Ships {
		if slices.ContainsFunc(marked, func(m placed) bool { return m.id == s.ID || m.isOn(&s) }) {
			continue
		}
		view := vision.ShipView{ID: s.ID}
		if i := slices.IndexFunc(p.seen.Located.Ships, func(v vision.ShipView) bool { return v.ID == s.ID }); i >= 0 {
			view = p.seen.Located.Ships[i]
		}
		out.Scene.Ships, out.Ships = append(out.Scene.Ships, s), append(out.Ships, view)
	}
	return out
}

// rocks adds marked obstacles to those that the camera saw.
func rocks(t *calibration.Table, marked []rock, hand float64, seen []engine.Obstacle) ([]engine.Obstacle, error) {
	if len(marked) > rocksMost {
		return nil, fmt.Errorf("expected at most %d obstacles, got %d", rocksMost, len(marked))
	}
	out := slices.Clone(seen)
	budget := calibration.NewBudget(*t, calibration.Uncertainty{})
	for i, m := range marked {
		o := engine.Obstacle{ID: fmt.Sprintf("marked%d", i+1), Kind: m.Kind}
		if !slices.Contains([]string{"asteroid", "debris", "gas"}, m.Kind) {
			return nil, fmt.Errorf("obstacle %d: expected asteroid, debris or gas, got %q", i+1, m.Kind)
		}
		if len(m.Outline) < 3 || len(m.Outline) > edgeMost {
			return nil, fmt.Errorf("obstacle %d: expected 3 to %d points of its edge, got %d", i+1, edgeMost, len(m.Outline))
		}
		for _, px := range m.Outline {
			q, ok := t.PointAt(geom.Pixel{X: px[0], Y: px[1]}, catalogue.TokenTop)
			if !ok || !(math.Abs(q.X) < 1e4 && math.Abs(q.Y) < 1e4) {
				return nil, fmt.Errorf("obstacle %d: (%g, %g) shows no place on the table", i+1, px[0], px[1])
			}
			o.Outline = append(o.Outline, q)
			o.Pose.Point = o.Pose.Add(q.Mul(1 / float64(len(m.Outline))))
		}
		for k := range o.Outline {
			o.Outline[k] = o.Outline[k].Sub(o.Pose.Point)
		}
		_, dx, dy, ok := t.PixelJacobian(o.Pose.Point, catalogue.TokenTop)
		terms, ok2 := budget.At(o.Pose.Point, catalogue.TokenTop)
		det := math.Abs(dx.X*dy.Y - dx.Y*dy.X)
		if !ok || !ok2 || !(det > 1e-9) {
			return nil, fmt.Errorf("obstacle %d: the picture does not show that place", i+1)
		}
		if !(m.Sigma >= 0) || m.Sigma > tapMost {
			return nil, fmt.Errorf("obstacle %d: sigma_px: expected 0 to %d, got %g", i+1, tapMost, m.Sigma)
		}
		pointing := max(hand, m.Sigma) / math.Sqrt(det)
		o.Sigma = geom.Length(math.Hypot(pointing, float64(calibration.LargestSigma(terms.Total(1)))))
		out = append(out, o)
	}
	return out, nil
}

// project projects a line at the height of bases' tops into the picture. The lens bends it, so it
// is projected in pieces of a centimetre.
func project(t *calibration.Table, from, to geom.Point) [][2]float64 {
	out := [][2]float64{}
	n := max(1, int(math.Ceil(float64(from.Distance(to))/10)))
	for k := range n + 1 {
		q := from.Lerp(to, float64(k)/float64(n))
		px, ok := t.PixelOf(q, token.BaseTop+t.Surface.Height(q))
		if !ok {
			return [][2]float64{}
		}
		out = append(out, [2]float64{px.X, px.Y})
	}
	return out
}

// shipJSON is a marked base in the measured scene.
type shipJSON struct {
	ID       string  `json:"id"`
	Player   int     `json:"player"`
	Base     string  `json:"base"`
	X        float64 `json:"x_mm"`
	Y        float64 `json:"y_mm"`
	Heading  float64 `json:"heading_deg"`
	SigmaMM  float64 `json:"sigma_mm"` // along the worst direction
	SigmaDeg float64 `json:"sigma_deg"`
	Tries    int     `json:"tries"`
}

// verdictJSON is a question about the pair, and its answer.
type verdictJSON struct {
	Key        string         `json:"key"`
	Name       string         `json:"name"`
	Outcome    string         `json:"outcome"`
	Title      string         `json:"title"`
	Text       string         `json:"text"`
	Decide     string         `json:"decide"`
	DistanceMM *float64       `json:"distance_mm"`
	SigmaMM    *float64       `json:"sigma_mm"`
	MarginMM   float64        `json:"margin_mm"`
	NeedMM     *float64       `json:"needed_mm"`
	Lines      [][][2]float64 `json:"lines_px"`
}

// answerJSON is the answer to a request.
type answerJSON struct {
	HandPx   float64       `json:"hand_px"` // standard deviation of the person's marks
	Ships    []shipJSON    `json:"ships"`
	Measured string        `json:"measured"` // in a few words; "": nothing was measured
	Reason   string        `json:"reason"`   // why nothing was measured
	Withheld bool          `json:"withheld"` // measured, but the agreement forbids the answer: it may be held for a judge
	Verdicts []verdictJSON `json:"verdicts"`
}

// json returns the answer, as far as the agreement permits it.
func (a *answered) json(agreed live.Policy) answerJSON {
	out := answerJSON{HandPx: a.hand, Ships: []shipJSON{}, Verdicts: []verdictJSON{}}
	for i := range a.ships {
		s := &a.ships[i]
		mm, turn := s.sigma()
		out.Ships = append(out.Ships, shipJSON{s.id, s.player, s.base.String(), s.pose.X, s.pose.Y, s.pose.Heading.Normalized().Degrees(),
			float64(mm), turn.Degrees(), len(s.tries)})
	}
	state := a.held.State(a.choice)
	state.Policy = agreed
	state.WithholdPair()
	if state.Pair == nil {
		out.Reason, out.Withheld = state.Reason, state.Withheld
		return out
	}
	out.Measured = live.MeasuredTitle(&state)
	for _, v := range state.Verdicts() {
		j := verdictJSON{Key: v.Key, Name: v.Name, Outcome: v.Outcome, Title: v.Title, Text: v.Text, Decide: v.Decide,
			DistanceMM: number(v.Distance), SigmaMM: number(v.Sigma), MarginMM: float64(v.Margin), NeedMM: number(v.Need),
			Lines: [][][2]float64{}}
		for _, l := range v.Lines {
			j.Lines = append(j.Lines, project(&a.held.Table, l[0], l[1]))
		}
		out.Verdicts = append(out.Verdicts, j)
	}
	return out
}

// number returns a known length in mm, or nil.
func number(l *geom.Length) *float64 {
	if l == nil {
		return nil
	}
	x := float64(*l)
	return &x
}
