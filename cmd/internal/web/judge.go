package web

import (
	"math"
	"net/http"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/rulebook"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// judgementJSON is what a judge sees of the held picture: every permitted line of a pair with its
// figures, and each shape both on the table (mm) and in the picture (px, whole numbers are pixels'
// centres), so that pages need not project anything.
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
	Measured    string          `json:"measured"` // in a few words, as recorded
	Reason      string          `json:"reason"`   // why nothing was measured; "": it was
	Open        []openJSON      `json:"open"`     // questions that the measurement leaves open, with the possible answers
	Reasons     []string        `json:"reasons"`  // suggested reasons for an answer to them
	Verdicts    []verdictJSON   `json:"verdicts"`
	Shapes      []outlineJSON   `json:"shapes"`
}

// judgeShipJSON is a ship with the details that a judge needs to trust its pose.
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
	Measured   bool     `json:"measured"`   // it stands still and is measured
	TurnDoubt  bool     `json:"turn_doubt"` // its card may lie a quarter turn off in its base
}

// verdictJSON is one question about the pair, and its answer.
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
	NeedMM     *float64        `json:"needed_mm"` // margin that would decide it
	Decide     string          `json:"decide"`    // what would decide it; "" when it is decided
	By         []string        `json:"by"`
	Ships      []string        `json:"ships"`
	LinesMM    [][2][2]float64 `json:"lines_mm"`
	Rules      []rulebook.Rule `json:"rules"`
}

// outlineJSON is a shape on the table and in the picture.
type outlineJSON struct {
	Kind   string       `json:"kind"` // mat, base, nose, side, obstacle, unknown, line, band, arc
	ID     string       `json:"id"`   // the ship's or obstacle's; of a line the verdict's key
	Player int          `json:"player"`
	State  string       `json:"state"` // of a side: read, unread; of a base: the ship's
	Closed bool         `json:"closed"`
	MM     [][2]float64 `json:"mm"`
	Px     [][2]float64 `json:"px"`
}

// held sends the held picture's measurement of a pair, regardless of the agreement on measuring:
// only judges see it. ?from=A1&to=B1&arc=front; missing parts are those of the chosen pair.
func (s *Server) held(w http.ResponseWriter, r *http.Request) {
	state := s.o.Hub.Newest()
	if state.Hold == nil {
		http.Error(w, "Nothing is held. Hold the picture first.", http.StatusNotFound)
		return
	}
	q, c := r.URL.Query(), state.Choice
	if q.Has("from") || q.Has("to") {
		c.From, c.To = q.Get("from"), q.Get("to")
	}
	if q.Has("arc") {
		arc, err := live.ParseArc(q.Get("arc"))
		if err != nil {
			Refuse(w, err)
			return
		}
		c.Arc = arc
	}
	WriteJSON(w, http.StatusOK, judgementOf(state.Hold, c))
}

// judgementOf returns what a judge sees of a pair in the held picture.
func judgementOf(h *live.Held, c live.Choice) judgementJSON {
	state := h.State(c)
	scene := &h.Located.Scene
	width, height := h.Frame.Size()
	region := state.Crop()
	j := judgementJSON{
		Version: 1, Held: h.Number, AtMS: h.At.UnixMilli(), Asked: h.AskedBy, Source: h.Source, Captured: unixMS(h.Located.Captured),
		Rules: scene.Rules.String(), Profile: scene.Profile, Sigmas: h.Sigmas, Calibration: calibrationOf(h.Register),
		Picture: pictureJSON{h.Frame.Seq, width, height, [4]int{region.Min.X, region.Min.Y, region.Dx(), region.Dy()}},
		Mat:     matJSON{round(float64(scene.MatWidth)), round(float64(scene.MatHeight))},
		Watched: h.ObstaclesWatched, Obstacles: []string{}, Unknown: len(scene.Unknown),
		Choice: choiceJSON{c.From, c.To, c.Arc.String()}, Arcs: arcsOf(&state), Measured: live.MeasuredTitle(&state), Reason: state.Reason,
		Open:    openOf(&state),
		Reasons: live.SuggestedReasons(live.OpenQuestions(&state, live.Ruled{}), ""),
		Ships:   judgeShips(h), Verdicts: verdictsOf(&state),
	}
	if j.Profile == "" {
		j.Profile = "nominal"
	}
	for _, o := range scene.Obstacles {
		j.Obstacles = append(j.Obstacles, o.ID)
	}
	j.Shapes = shapesOf(h, &state)
	return j
}

func judgeShips(h *live.Held) []judgeShipJSON {
	out := []judgeShipJSON{}
	for i, ship := range h.Located.Scene.Ships {
		state := live.State{Tracks: h.Tracks}
		track, followed := state.Track(ship.ID)
		j := judgeShipJSON{
			ID: ship.ID, Player: ship.Player, Base: ship.Base.String(),
			XMM: round(ship.Pose.X), YMM: round(ship.Pose.Y), HeadingDeg: round(ship.Pose.Heading.Normalized().Degrees()),
			SigmaMM:  fine(math.Sqrt(max(0, ship.Covariance.Position().Largest()))),
			SigmaDeg: round(geom.Angle(math.Sqrt(max(0, ship.Covariance.HeadingVariance()))).Degrees()),
			Visible:  round(ship.Visible), Seen: ship.Seen, State: vision.Still.String(), SidesRead: []string{}, Measured: true,
			TurnDoubt: ship.TurnDoubt,
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

// verdictsOf returns the verdicts on the chosen pair.
func verdictsOf(state *live.State) []verdictJSON {
	out := []verdictJSON{}
	for _, d := range state.Verdicts() {
		j := verdictJSON{
			Key: d.Key, Name: d.Name, Arc: d.Arc, Outcome: d.Outcome, Title: d.Title, Text: d.Text, Decide: d.Decide,
			DistanceMM: known(d.Distance), SigmaMM: known(d.Sigma), MarginMM: fine(float64(d.Margin)), NeedMM: known(d.Need),
			By: append([]string{}, d.By...), Ships: append([]string{}, d.Ships...), LinesMM: linesOf(d.Lines), Rules: []rulebook.Rule{},
		}
		for _, rule := range d.Rules {
			j.Rules = append(j.Rules, rulebook.Of(rule)...)
		}
		out = append(out, j)
	}
	return out
}

// known returns a known length in mm, or nil.
func known(l *geom.Length) *float64 {
	if l == nil {
		return nil
	}
	x := fine(float64(*l))
	return &x
}

// fine rounds to more decimals than the page shows, so that the page's figures agree with those in
// sentences.
func fine(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(x*1e9) / 1e9
}

// shapesOf returns the shapes drawn over the picture and on the table from above.
func shapesOf(h *live.Held, state *live.State) []outlineJSON {
	p := heldProjector{h}
	scene := &h.Located.Scene
	profile := engine.ProfileOf(scene)
	mw, mh := float64(scene.MatWidth), float64(scene.MatHeight)
	out := []outlineJSON{p.shape("mat", "", true, []geom.Point{{}, {X: mw}, {X: mw, Y: mh}, {Y: mh}}, 0)}
	for i, o := range scene.Obstacles {
		s := p.shape("obstacle", o.ID, true, o.Pose.TransformAll(o.Outline), 0)
		if sight := h.Located.Obstacles; sight != nil && i < len(sight.Views) && len(sight.Views[i].OutlinePx) > 2 {
			s.Px = pixelsOf(sight.Views[i].OutlinePx) // of its upper edge, as seen
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
	if from := scene.Ship(state.Choice.From); from != nil {
		out = append(out, p.arc(from, &profile, scene.Rules, state.Choice.Arc)...)
	}
	return append(out, p.lines(state)...)
}
