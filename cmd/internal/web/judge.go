package web

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// judgementJSON is all that a judge sees of what is held: every permitted line of a pair
// with its figures, and each shape both on the table (mm) and in the picture (px, whole
// numbers are pixels' centres), so that no page projects anything by itself.
type judgementJSON struct {
	Version  int    `json:"version"`
	Held     uint64 `json:"held"`
	AtMS     int64  `json:"at_unix_ms"`
	Asked    string `json:"asked"`
	Source   string `json:"source"`
	Captured int64  `json:"captured_unix_ms"`
	Rules    string `json:"rules"`
	Profile  string `json:"profile"`

	Sigmas      float64         `json:"sigmas"`
	Calibration calibrationJSON `json:"calibration"`
	Picture     pictureJSON     `json:"picture"`
	Mat         matJSON         `json:"mat"`
	Ships       []judgeShipJSON `json:"ships"`
	Watched     bool            `json:"obstacles_watched"`
	Obstacles   []string        `json:"obstacles"`
	Unknown     int             `json:"unknown_things"`
	Choice      choiceJSON      `json:"choice"`
	Arcs        []string        `json:"arcs"`
	Measured    string          `json:"measured"` // in a few words, as it would be recorded
	Reason      string          `json:"reason"`   // why nothing was measured; "" when it was
	Open        []openJSON      `json:"open"`     // what the measurement does not decide, with what a judge may choose
	Reasons     []string        `json:"reasons"`  // that may be given for a choice among it
	Verdicts    []verdictJSON   `json:"verdicts"`
	Shapes      []outlineJSON   `json:"shapes"`
}

// judgeShipJSON is what is to be known of a ship before one trusts its place.
type judgeShipJSON struct {
	ID         string   `json:"id"`
	Player     int      `json:"player"`
	Base       string   `json:"base"`
	XMM        float64  `json:"x_mm"`
	YMM        float64  `json:"y_mm"`
	HeadingDeg float64  `json:"heading_deg"`
	SigmaMM    float64  `json:"sigma_mm"` // of the position, along the worst direction
	SigmaDeg   float64  `json:"sigma_heading_deg"`
	Visible    float64  `json:"visible"`
	Seen       string   `json:"seen"`
	State      string   `json:"state"`
	StateText  string   `json:"state_text"`
	AgeMS      float64  `json:"age_ms"`
	Frames     int      `json:"frames"`
	SidesRead  []string `json:"sides_read"`
	Measured   bool     `json:"measured"` // it stands, and is answered about
}

// verdictJSON is one question about the pair and its answer.
type verdictJSON struct {
	Key        string          `json:"key"`  // range, front, front_attack, front_obstruction …
	Name       string          `json:"name"` // "Range", "In the front arc"
	Arc        string          `json:"arc"`  // "" of the range
	Outcome    string          `json:"outcome"`
	Title      string          `json:"title"`
	Text       string          `json:"text"` // the whole sentence, with its figures
	DistanceMM *float64        `json:"distance_mm"`
	SigmaMM    *float64        `json:"sigma_mm"`
	MarginMM   float64         `json:"margin_mm"`
	NeedMM     *float64        `json:"needed_mm"` // the margin that would be enough
	Decide     string          `json:"decide"`    // what would decide it; "" when it is decided
	By         []string        `json:"by"`
	Ships      []string        `json:"ships"`
	LinesMM    [][2][2]float64 `json:"lines_mm"`
	Rules      []ruleTextJSON  `json:"rules"`
}

// ruleTextJSON is a rule of the project's list.
type ruleTextJSON struct {
	Number string `json:"number"` // "G16"
	Text   string `json:"text"`
}

// outlineJSON is a shape on the table and where it lies in the picture.
type outlineJSON struct {
	Kind   string       `json:"kind"` // mat, base, nose, side, obstacle, unknown, line, band, arc
	ID     string       `json:"id"`   // the ship's or obstacle's; of a line the verdict's key
	Player int          `json:"player"`
	State  string       `json:"state"` // of a side: read, unread; of a base: the ship's
	Closed bool         `json:"closed"`
	MM     [][2]float64 `json:"mm"`
	Px     [][2]float64 `json:"px"`
}

// held answers with what is held and all that was measured of a pair, whatever the
// players have agreed about measuring: judges see it. ?from=A1&to=B1&arc=front; what is
// left out is the chosen pair's.
func (s *Server) held(w http.ResponseWriter, r *http.Request) {
	v := s.o.Hub.Newest()
	if v.Hold == nil {
		http.Error(w, "Nothing is held. Hold the picture first.", http.StatusNotFound)
		return
	}
	q, c := r.URL.Query(), v.Choice
	if q.Has("from") || q.Has("to") {
		c.From, c.To = q.Get("from"), q.Get("to")
	}
	if q.Has("arc") {
		arc, err := engine.ParseArc(q.Get("arc"))
		if err != nil {
			http.Error(w, noArc(q.Get("arc")), http.StatusBadRequest)
			return
		}
		c.Arc = arc
	}
	writeJSON(w, http.StatusOK, judgementOf(v.Hold, c))
}

// judgementOf says all that a judge sees of a pair in what is held.
func judgementOf(h *live.Held, c live.Choice) judgementJSON {
	v := h.State(c)
	scene := &h.Located.Scene
	width, height := h.Frame.Size()
	region := v.Crop()
	j := judgementJSON{
		Version: 1, Held: h.Number, AtMS: h.At.UnixMilli(), Asked: h.Asked, Source: h.Source, Captured: h.Located.Captured.UnixMilli(),
		Rules: scene.Rules.String(), Profile: scene.Profile, Sigmas: h.Sigmas, Calibration: calibrationOf(h.Register),
		Picture: pictureJSON{h.Frame.Seq, width, height, [4]int{region.Min.X, region.Min.Y, region.Dx(), region.Dy()}},
		Mat:     matJSON{round(float64(scene.MatWidth)), round(float64(scene.MatHeight))},
		Watched: h.ObstaclesWatched, Obstacles: []string{}, Unknown: len(scene.Unknown),
		Choice: choiceJSON{c.From, c.To, c.Arc.String()}, Arcs: arcsOf(&v), Measured: live.MeasuredTitle(&v), Reason: v.Reason, Open: openOf(&v),
		Reasons: live.SuggestedReasons(live.OpenQuestions(&v, live.Ruled{}), ""),
		Ships:   judgeShips(h), Verdicts: verdictsOf(&v),
	}
	if j.Profile == "" {
		j.Profile = "nominal"
	}
	for _, o := range scene.Obstacles {
		j.Obstacles = append(j.Obstacles, o.ID)
	}
	j.Shapes = shapesOf(h, &v)
	return j
}

func judgeShips(h *live.Held) []judgeShipJSON {
	out := []judgeShipJSON{}
	for i, ship := range h.Located.Scene.Ships {
		v := live.State{Tracks: h.Tracks}
		track, followed := v.Track(ship.ID)
		j := judgeShipJSON{
			ID: ship.ID, Player: ship.Player, Base: ship.Base.String(),
			XMM: round(ship.Pose.X), YMM: round(ship.Pose.Y), HeadingDeg: round(ship.Pose.Heading.Normalized().Degrees()),
			SigmaMM:  fine(worstSigma(ship.Covariance.Position())),
			SigmaDeg: round(geom.Angle(math.Sqrt(max(0, ship.Covariance.HeadingVariance()))).Degrees()),
			Visible:  round(ship.Visible), Seen: ship.Seen, State: vision.Still.String(), SidesRead: []string{}, Measured: true,
		}
		if followed {
			j.State, j.StateText, j.Frames = track.State.String(), live.TrackText(&track, h.Located.Captured), track.Frames
			j.AgeMS, j.Measured = float64(track.Age(h.Located.Captured).Milliseconds()), track.State.Stands()
		}
		if i < len(h.Located.Ships) {
			for _, side := range h.Located.Ships[i].Sides {
				j.SidesRead = append(j.SidesRead, side.String())
			}
		}
		out = append(out, j)
	}
	return out
}

// worstSigma is the standard deviation along the direction in which it is largest.
func worstSigma(c geom.Cov2) float64 {
	mean, half := (c.XX+c.YY)/2, (c.XX-c.YY)/2
	return math.Sqrt(max(0, mean+math.Hypot(half, c.XY)))
}

// verdictsOf lists what was measured of the chosen pair: the range, then each arc with
// its attack range and obstruction, the chosen arc first.
func verdictsOf(v *live.State) []verdictJSON {
	out := []verdictJSON{}
	p := v.Pair
	if p == nil {
		return out
	}
	r := v.Located.Scene.Rules
	out = append(out, rangeVerdictOf(v, "range", "Range", "", &p.Range, p.Explain(r), engine.RangeRule(r, p.Contact)))
	for _, act := range []string{"attack", "lock"} {
		if no := v.Restricted(act); no != nil {
			out = append(out, forbiddenOf(act, no))
		}
	}
	chosen, rest := []verdictJSON{}, []verdictJSON{}
	for i := range p.Arcs {
		if a := &p.Arcs[i]; a.Arc == v.Choice.Arc {
			chosen = arcVerdictsOf(v, a)
		} else {
			rest = append(rest, arcVerdictsOf(v, a)...)
		}
	}
	return append(append(out, chosen...), rest...)
}

// forbiddenOf is what the rules forbid, or may forbid, where the ships stand.
func forbiddenOf(act string, no *live.Restriction) verdictJSON {
	out := verdictJSON{
		Key: "may_" + act, Name: "May it " + act, Outcome: no.Outcome.String(), Title: "Perhaps not", Text: sentence.Upper(no.Text) + ".",
		By: no.Because, Ships: []string{}, LinesMM: [][2][2]float64{}, Rules: []ruleTextJSON{},
	}
	switch no.Outcome {
	case engine.Yes:
		out.Outcome, out.Title = engine.No.String(), "No "+act
	case engine.NoView:
		out.Decide = "What was measured cannot say it: ask what " + strings.Join(no.Because, ", ") + " is, or how the ships came to stand so."
	default:
		out.Decide = "Whether it touches " + strings.Join(no.Because, ", ") + " decides it: try a slip of paper between them."
		if slices.Contains(no.Rules, "1e G95") {
			out.Decide = "Try a slip of paper between them. Where they are in contact, it depends on whether one overlapped the other: ask how they came to stand so."
		}
	}
	for _, rule := range no.Rules {
		out.Rules = append(out.Rules, ruleTexts(rule)...)
	}
	return out
}

func rangeVerdictOf(v *live.State, key, name, arc string, r *engine.RangeVerdict, text, rule string) verdictJSON {
	need := v.Sigmas * float64(r.Sigma)
	out := verdictJSON{
		Key: key, Name: name, Arc: arc, Outcome: r.Outcome.String(), Title: live.RangeTitle(*r), Text: text,
		DistanceMM: number(float64(r.Distance)), SigmaMM: number(float64(r.Sigma)), MarginMM: fine(float64(r.Margin)), NeedMM: number(need),
		By: []string{}, Ships: []string{}, LinesMM: linesOf(r.Lines), Rules: ruleTexts(rule),
	}
	if r.Outcome == engine.Indeterminate {
		out.Decide = decideRange(r, need, v.Sigmas)
	}
	return out
}

// decideRange says what would decide between two ranges.
func decideRange(r *engine.RangeVerdict, need, sigmas float64) string {
	why := fmt.Sprintf("The nearest limit is %.2f mm away and the camera is sure beyond %.2f mm (%g standard deviations).", math.Abs(float64(r.Margin)), need, sigmas)
	if len(r.Possible) > 0 && r.Possible[0] == 0 {
		return why + " Whether the bases or their guides touch decides it: try a slip of paper between them at the line drawn."
	}
	limit := 100 * math.Round(float64(r.Distance)/100)
	return fmt.Sprintf("%s Whether the nearest points are more than %.0f mm apart decides it: lay the range ruler along the line drawn.", why, limit)
}

func arcVerdictsOf(v *live.State, a *engine.ArcVerdict) []verdictJSON {
	p, r := v.Pair, v.Located.Scene.Rules
	key, words := a.Arc.String(), strings.ReplaceAll(a.Arc.String(), "_", " ")
	out := []verdictJSON{}
	if a.Arc != engine.ArcPrimaryTurret { // no arc limits that one
		need := v.Sigmas * float64(a.Sigma)
		alone := *a
		alone.Attack = nil // it has a line of its own
		in := verdictJSON{
			Key: key, Name: "In the " + words + " arc", Arc: key, Outcome: a.InArc.String(), Text: alone.Explain(r, p),
			SigmaMM: number(float64(a.Sigma)), MarginMM: fine(float64(a.Margin)), NeedMM: number(need),
			By: []string{}, Ships: []string{}, LinesMM: [][2][2]float64{}, Rules: ruleTexts(a.Arc.Rule(r)),
		}
		switch a.InArc {
		case engine.Yes:
			in.Title = "In arc"
		case engine.No:
			in.Title = "Not in arc"
		case engine.NoView:
			in.Title = "No view"
		default:
			in.Title = "Too close to call"
			in.Decide = fmt.Sprintf("The target's nearest corner is %.2f mm from the arc's edge and the camera is sure beyond %.2f mm (%g standard deviations). Sight along the printed line of the arc, or lay a straight edge on it.",
				math.Abs(float64(a.Margin)), need, v.Sigmas)
		}
		out = append(out, in)
	}
	if a.Attack == nil {
		return out
	}
	at := a.Attack
	attack := rangeVerdictOf(v, key+"_attack", "Attack range in the "+words+" arc", key, &at.RangeVerdict, attackText(v, a), engine.AttackRule(r, a.Arc))
	return append(out, attack, obstructionOf(v, key, words, &at.Obstruction, at.Lines))
}

// attackText words the attack range as a pair's range is worded.
func attackText(v *live.State, a *engine.ArcVerdict) string {
	at, need := a.Attack, v.Sigmas*float64(a.Attack.Sigma)
	if at.Band == 0 && at.Outcome == engine.Yes {
		return fmt.Sprintf("%s to %s in the %s arc: range 0, %s.", v.Pair.From, v.Pair.To, live.ArcName(a.Arc), engine.ContactWords(at.Distance))
	}
	text := fmt.Sprintf("%s to %s in the %s arc: %s, %.2f ± %.2f mm, %.2f mm from another range, where %.2f mm is enough to be sure.",
		v.Pair.From, v.Pair.To, strings.ReplaceAll(a.Arc.String(), "_", " "), sentence.Lower(live.RangeTitle(at.RangeVerdict)),
		float64(at.Distance), float64(at.Sigma), math.Abs(float64(at.Margin)), need)
	if at.Band != at.BandArcStart {
		text += fmt.Sprintf(" Starting on the part of the base in the arc it would be %.2f mm and range %d.", float64(at.DistanceArcStart), at.BandArcStart)
	}
	return text + live.ContactElsewhere(v, a)
}

func obstructionOf(v *live.State, key, words string, o *engine.ObstructionVerdict, lines []engine.Line) verdictJSON {
	r := v.Located.Scene.Rules
	out := verdictJSON{
		Key: key + "_obstruction", Name: "Obstruction in the " + words + " arc", Arc: key, MarginMM: fine(float64(o.Margin)),
		By: append([]string{}, o.By...), Ships: append([]string{}, o.Ships...), LinesMM: linesOf(lines), Rules: ruleTexts(engine.ObstructionRule(r)),
	}
	if !v.ObstaclesWatched || v.Located.Scene.ObstaclesUnseen && o.Verdict == engine.NoView.String() {
		out.Outcome, out.Title, out.Text = "no_view", "Not watched", "Obstacles were not searched: this line is not called clear."
		out.Decide = "Look along the line drawn for obstacles."
		return out
	}
	out.Text = o.Explain(r)
	switch o.Verdict {
	case "never":
		out.Outcome, out.Title = "no", "Not obstructed"
	case "must":
		out.Outcome, out.Title = "yes", "Obstructed"
	case "may":
		out.Outcome, out.Title = "choose", "The attacker chooses"
	case "too_close":
		out.Outcome, out.Title = "too_close", "Too close to call"
		out.Decide = fmt.Sprintf("The line passes within %.2f mm of the edge of %s: stretch a thread along the line drawn.", math.Abs(float64(o.Margin)), orWhat(o.By))
	default:
		out.Outcome, out.Title, out.Text = "no_view", "No view", "The camera does not see enough along the line."
		out.Decide = "Look along the line drawn for obstacles."
	}
	return out
}

func orWhat(by []string) string {
	if len(by) == 0 {
		return "something that lies there"
	}
	return strings.Join(by, ", ")
}

// number is a figure that is known.
func number(x float64) *float64 {
	x = fine(x)
	return &x
}

// fine keeps more decimals than a page shows, so that what it rounds is what the
// sentences beside it round.
func fine(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(x*1e9) / 1e9
}

// shapesOf lists what is drawn over the picture and on the table from above.
func shapesOf(h *live.Held, v *live.State) []outlineJSON {
	p := heldProjector{h}
	scene := &h.Located.Scene
	profile := profileOf(scene)
	mw, mh := float64(scene.MatWidth), float64(scene.MatHeight)
	out := []outlineJSON{p.shape("mat", "", true, []geom.Point{{}, {X: mw}, {X: mw, Y: mh}, {Y: mh}}, 0)}
	for i, o := range scene.Obstacles {
		var at []geom.Point
		for _, q := range o.Outline {
			at = append(at, o.Pose.Transform(q))
		}
		s := p.shape("obstacle", o.ID, true, at, 0)
		if sight := h.Located.Obstacles; sight != nil && i < len(sight.Views) && len(sight.Views[i].OutlinePx) > 2 {
			s.Px = pixelsOf(sight.Views[i].OutlinePx) // of its upper edge, as it was seen
		}
		s.State = o.Kind
		out = append(out, s)
	}
	for _, b := range scene.Blind {
		out = append(out, p.shape("unknown", "", true, b.Outline, 0))
	}
	for _, u := range scene.Unknown {
		out = append(out, p.shape("unknown", "", true, u, 0))
	}
	for i := range scene.Ships {
		out = append(out, p.ship(&scene.Ships[i], &profile, h.SidesOf(i))...)
	}
	if from := live.ShipOf(scene, v.Choice.From); from != nil {
		out = append(out, p.arc(from, &profile, scene.Rules, v.Choice.Arc)...)
	}
	return append(out, p.lines(v)...)
}
