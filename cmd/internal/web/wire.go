package web

import (
	"math"
	"strings"

	"sightline/calibration/verify"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/hardware"
	"sightline/vision"
)

// The JSON of the page. Keys have units; positions are rounded to what a screen can show (a
// thousandth of a millimetre), and nothing reads them back.

type stateJSON struct {
	Version     int             `json:"version"`
	Seq         uint64          `json:"seq"`
	AtMS        int64           `json:"at_unix_ms"`
	Rules       string          `json:"rules"`
	Sigmas      float64         `json:"sigmas"`
	Health      healthJSON      `json:"health"`
	Notes       []noteJSON      `json:"notes"`
	Warnings    []string        `json:"warnings"` // what is to be known as long as it is so, in sentences
	Camera      cameraJSON      `json:"camera"`
	Calibration calibrationJSON `json:"calibration"`
	Picture     *pictureJSON    `json:"picture"`
	Mat         matJSON         `json:"mat"`
	Ships       []shipJSON      `json:"ships"`
	Obstacles   []obstacleJSON  `json:"obstacles"`
	Choice      choiceJSON      `json:"choice"`
	Arcs        []string        `json:"arcs"`
	Answer      answerJSON      `json:"answer"`
	Panel       panelJSON       `json:"panel"`
	Held        *heldJSON       `json:"held"`            // null: live
	Released    []releasedJSON  `json:"released"`        // that can be held again, newest first
	Ruling      *rulingJSON     `json:"ruling"`          // the last one; null: none
	Trouble     string          `json:"rulings_trouble"` // why rulings cannot be recorded; "": no reason is known
	Match       live.Match      `json:"match"`
	Director    live.Direction  `json:"director"`
	Directed    *directedJSON   `json:"directed"` // the pair of the overlays in place of the players' choice; null: theirs
	Play        *live.Play      `json:"play"`     // the game at the table; null: none
	Overlay     *overlayJSON    `json:"overlay"`
	Policy      policyJSON      `json:"policy"`
	Targets     targetsJSON     `json:"targets"`
	Things      thingsJSON      `json:"things"`
	Cameras     []eyeJSON       `json:"cameras"` // secondary cameras
}

type healthJSON struct {
	Code   live.Code `json:"code"`
	Title  string    `json:"title"`
	Detail string    `json:"detail"`
	Advice string    `json:"advice"`
}

type noteJSON struct {
	AtMS int64  `json:"at_unix_ms"`
	Text string `json:"text"`
}

type cameraJSON struct {
	Source     string  `json:"source"`
	Simulated  bool    `json:"simulated"` // the source is the simulated table
	FPS        float64 `json:"frames_per_second"`
	Frames     uint64  `json:"frames"`
	Dropped    uint64  `json:"dropped"`
	LocatingMS float64 `json:"locating_ms"`
	AgeMS      float64 `json:"age_ms"`

	Light lightJSON `json:"light"`
}

type calibrationJSON struct {
	From      string    `json:"from"`
	RMSPx     float64   `json:"rms_px"`
	Markers   []int     `json:"markers"`
	AtMS      int64     `json:"at_unix_ms"` // since when it is in use; 0: none is
	Times     int       `json:"registered_times"`
	Hash      string    `json:"hash"`
	BaseHash  string    `json:"base_hash"`
	Integrity string    `json:"integrity"`
	Lens      string    `json:"lens"`
	Watch     watchJSON `json:"watch"`

	Verified *verify.AnswerJSON `json:"verified"` // null: never
}

type watchJSON struct {
	State   string  `json:"state"` // ok, covered, moved, settled, lens_changed, lost, unwatched
	Text    string  `json:"text"`
	Seen    int     `json:"markers_in_place"`
	Of      int     `json:"markers"`
	Missing []int   `json:"not_seen"`
	Strays  []int   `json:"moved"`
	BlindMM float64 `json:"unnoticed_sigma_mm"` // uncertainty of a motion that the visible markers could not show, at the worst corner
}

type pictureJSON struct {
	Seq      uint64 `json:"seq"`
	WidthPx  int    `json:"width_px"` // of the whole picture
	HeightPx int    `json:"height_px"`
	Region   [4]int `json:"region_px"` // the part in picture.jpg: left, top, width, height
}

type matJSON struct {
	WidthMM  float64 `json:"width_mm"`
	HeightMM float64 `json:"height_mm"`
}

type shipJSON struct {
	ID         string  `json:"id"`
	Name       string  `json:"name"` // with its pilot: "A1 (Wedge Antilles)"
	Player     int     `json:"player"`
	Base       string  `json:"base"`
	WidthMM    float64 `json:"width_mm"`
	LengthMM   float64 `json:"length_mm"`
	XMM        float64 `json:"x_mm"`
	YMM        float64 `json:"y_mm"`
	HeadingDeg float64 `json:"heading_deg"`
	// heading_deg is known only up to quarter turns, of a huge base up to half turns: its nose is
	// not visible
	Quarters   bool         `json:"heading_quarters"`
	SigmaMM    float64      `json:"sigma_mm"`
	HalfArcDeg float64      `json:"front_half_angle_deg"`
	BullseyeMM float64      `json:"bullseye_mm"`
	Turret     string       `json:"turret"` // direction of its turret: front, rear, left, right; "": it has none
	Seen       string       `json:"seen"`
	Visible    float64      `json:"visible"`
	MovedMM    float64      `json:"moved_mm"`
	Moving     bool         `json:"moving"`
	NameDoubt  []string     `json:"name_doubt"` // ships that it may be, among ships that look alike; id is then a number
	State      string       `json:"state"`      // unsure, settling, still, moving, unread, frozen, hidden, lifted
	StateText  string       `json:"state_text"` // for people; "" when it is still
	AgeMS      float64      `json:"age_ms"`     // of the sight that gave the pose, in the picture's time
	Frames     int          `json:"frames"`     // number of frames averaged in the pose
	OutlinePx  [][2]float64 `json:"outline_px"` // front left, front right, rear right, rear left
	SidesRead  []string     `json:"sides_read"` // sides with a code that was read and agrees, in the newest picture that showed the ship
	Residual   float64      `json:"residual"`   // rms of the fit divided by the print's contrast
}

type obstacleJSON struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind"`
	OutlineMM [][2]float64 `json:"outline_mm"` // on the table
}

type choiceJSON struct {
	From string `json:"from"`
	To   string `json:"to"`
	Arc  string `json:"arc"`
}

// meaningJSON is the meaning of the answer for an attack with the primary weapon.
type meaningJSON struct {
	Outcome string `json:"outcome"`
	Text    string `json:"text"` // "A1 (Wedge Antilles) can attack B1 at range 1: one more attack die."; "": none
}

type answerJSON struct {
	Outcome     string           `json:"outcome"` // yes, too_close, no_view, none (nothing chosen)
	Headline    headlineJSON     `json:"headline"`
	Title       string           `json:"title"`
	Live        string           `json:"live"`
	Explain     string           `json:"explain"`
	Meaning     meaningJSON      `json:"meaning"`
	Reason      string           `json:"reason"`
	Band        string           `json:"band"` // shown large on the page: "2", "2 or 3"
	DistanceMM  float64          `json:"distance_mm"`
	SigmaMM     float64          `json:"sigma_mm"`
	MarginMM    float64          `json:"margin_mm"`
	Contact     string           `json:"contact"`
	RestsOn     string           `json:"rests_on"` // its assumptions: ships that are covered; "": none
	LinesMM     [][2][2]float64  `json:"lines_mm"`
	InArc       arcJSON          `json:"in_arc"`
	Obstruction obstructionJSON  `json:"obstruction"`
	Attack      *attackJSON      `json:"attack"`
	NoAttack    *restrictionJSON `json:"no_attack"` // the rules forbid it there, or may; null: they do not, or the agreement hides it
	NoLock      *restrictionJSON `json:"no_lock"`

	Doubts []doubtJSON `json:"doubts"` // what is too close to call, and what would decide it
}

// headlineJSON is a Headline.
type headlineJSON struct {
	Kind live.HeadlineKind `json:"kind"` // none, shot, no_shot, range, close, no_view, withheld
	Text string            `json:"text"`
	Band string            `json:"band"` // "": the range is not the answer
}

// doubtJSON is a Doubt.
type doubtJSON struct {
	Question string  `json:"question"` // "The range", "The front arc"
	Text     string  `json:"text"`
	MarginMM float64 `json:"margin_mm"` // distance to another answer
	NeedMM   float64 `json:"need_mm"`   // margin that would decide it; 0: unknown
}

type arcJSON struct {
	Outcome  string  `json:"outcome"`
	Text     string  `json:"text"`
	MarginMM float64 `json:"margin_mm"`
	SigmaMM  float64 `json:"sigma_mm"`
}

type obstructionJSON struct {
	Outcome string `json:"outcome"` // yes, no, choose, too_close, not_watched
	Text    string `json:"text"`
}

type attackJSON struct {
	Outcome    string          `json:"outcome"`
	Title      string          `json:"title"`
	DistanceMM float64         `json:"distance_mm"`
	SigmaMM    float64         `json:"sigma_mm"`
	LinesMM    [][2][2]float64 `json:"lines_mm"`
	Differs    bool            `json:"differs"` // from the range from base to base
}

type panelJSON struct {
	Name    string            `json:"name"`
	Lamps   map[string]string `json:"lamps"`
	Labels  map[string]string `json:"labels"`  // of the lamps with a label
	Display string            `json:"display"` // address of its picture
	Alt     string            `json:"alt"`
}

// stateOf returns the page's JSON of a state.
func stateOf(state *live.State) stateJSON {
	w := state.Text()
	s := stateJSON{
		Version: 1, Seq: state.Seq, AtMS: state.At.UnixMilli(),
		Rules: state.Located.Scene.Rules.String(), Sigmas: state.Sigmas,
		Health: healthJSON(state.Health), Notes: []noteJSON{}, Warnings: state.Warnings(),
		Camera: cameraJSON{
			Source: state.Source, Simulated: strings.HasPrefix(state.Source, "sim:"),
			FPS: round(state.Figures.FPS), Frames: state.Figures.Frames, Dropped: state.Figures.Dropped,
			LocatingMS: float64(state.Figures.Locating.Milliseconds()), AgeMS: float64(state.Figures.Age.Milliseconds()),
			Light: lightOf(state.Light),
		},
		Calibration: calibrationOf(state.Register),
		Mat:         matJSON{round(float64(state.Located.Scene.MatWidth)), round(float64(state.Located.Scene.MatHeight))},
		Ships:       shipsOf(state), Obstacles: obstaclesOf(state),
		Choice: choiceOf(state.Choice),
		Arcs:   arcsOf(state),
		Answer: answerOf(state, w),
		Panel:  panelOf(state, w),
		Held:   heldOf(state.Hold, state.Ruling), Released: releasedOf(state.Released), Ruling: lastRulingOf(state),
		Trouble: state.RulingsTrouble,
		Match:   state.Match, Director: state.Direction, Play: state.Play,
		Policy: policyOf(state), Targets: targetsOf(state), Things: thingsOf(state), Cameras: camerasOf(state),
	}
	for _, n := range state.Notes {
		s.Notes = append(s.Notes, noteJSON{n.At.UnixMilli(), n.Text})
	}
	s.Picture = pictureOf(state)
	s.Directed = directedOf(state)
	return s
}

func choiceOf(c live.Choice) choiceJSON {
	return choiceJSON{From: c.From, To: c.To, Arc: c.Arc.String()}
}

// pictureOf returns the JSON of a state's picture, or nil before the first one.
func pictureOf(state *live.State) *pictureJSON {
	width, height := state.Frame.Size()
	if width == 0 {
		return nil
	}
	r := state.Crop()
	return &pictureJSON{Seq: state.Frame.Seq, WidthPx: width, HeightPx: height, Region: [4]int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()}}
}

func calibrationOf(r live.Register) calibrationJSON {
	c := calibrationJSON{
		From: r.From, RMSPx: round(r.RMSPx), Markers: append([]int{}, r.Markers...), Times: r.Times,
		Hash: r.Hash, BaseHash: r.BaseHash, Integrity: r.Integrity, Lens: r.Lens, Verified: r.Verified,
		Watch: watchJSON{
			State: r.Watch.State, Text: r.Watch.Text, Seen: r.Watch.Seen, Of: r.Watch.Of,
			Missing: append([]int{}, r.Watch.Missing...), Strays: append([]int{}, r.Watch.Strays...),
			BlindMM: round(float64(r.Watch.Blind)),
		},
	}
	if !r.At.IsZero() {
		c.AtMS = r.At.UnixMilli()
	}
	return c
}

func shipsOf(state *live.State) []shipJSON {
	ships := []shipJSON{}
	profile := engine.ProfileOf(&state.Located.Scene)
	for i, ship := range state.Located.Scene.Ships {
		w, l := profile.Size(ship.Base)
		c := ship.Covariance.Position()
		track, _ := state.Track(ship.ID)
		s := shipJSON{
			ID: ship.ID, Name: state.Play.Named(ship.ID), Player: ship.Player, Base: ship.Base.String(), WidthMM: float64(w), LengthMM: float64(l),
			XMM: round(ship.Pose.X), YMM: round(ship.Pose.Y), HeadingDeg: round(ship.Pose.Heading.Normalized().Degrees()),
			Quarters:   ship.Quarters,
			SigmaMM:    round(math.Sqrt((c.XX + c.YY) / 2)),
			HalfArcDeg: round(profile.HalfAngle(state.Located.Scene.Rules, ship.Base).Degrees()),
			BullseyeMM: round(float64(profile.Bullseye)), Turret: ship.Turret,
			Seen: ship.Seen, Visible: round(ship.Visible), MovedMM: round(float64(track.Moved)), State: vision.Still.String(),
			OutlinePx: [][2]float64{}, SidesRead: []string{}, NameDoubt: append([]string{}, ship.NameDoubt...),
		}
		if track.Ship.ID != "" {
			s.Moving = track.State == vision.Moving
			s.State, s.StateText, s.Frames = track.State.String(), live.TrackText(&track, state.Located.Captured), track.Frames
			s.AgeMS = float64(track.Age(state.Located.Captured).Milliseconds())
		}
		if len(ship.NameDoubt) > 0 && s.State == vision.Still.String() {
			s.State = "unsure"
		}
		if i < len(state.Located.Ships) {
			s.Residual = round(state.Located.Ships[i].Residual)
			for _, side := range state.Located.Ships[i].Sides {
				s.SidesRead = append(s.SidesRead, side.String())
			}
			for _, p := range state.Located.Ships[i].Outline {
				s.OutlinePx = append(s.OutlinePx, [2]float64{round(p.X), round(p.Y)})
			}
		}
		ships = append(ships, s)
	}
	return ships
}

func obstaclesOf(state *live.State) []obstacleJSON {
	out := []obstacleJSON{}
	for _, o := range state.Located.Scene.Obstacles {
		out = append(out, obstacleJSON{o.ID, o.Kind, pointsOf(o.Pose.TransformAll(o.Outline))})
	}
	return out
}

// arcsOf lists the attacker's arcs to choose from.
func arcsOf(state *live.State) []string {
	arcs := []string{}
	if state.Pair != nil {
		for _, a := range state.Pair.Arcs {
			if state.Play.HasArc(state.Pair.From, a.Arc.String()) {
				arcs = append(arcs, a.Arc.String())
			}
		}
	}
	return arcs
}

func answerOf(state *live.State, w live.AnswerText) answerJSON {
	a := answerJSON{
		Outcome: "none", Headline: headlineJSON(w.Headline), Title: w.Title, Live: w.Live, Explain: w.Explain, Reason: state.Reason,
		LinesMM: [][2][2]float64{}, Doubts: doubtsOf(state), Meaning: meaningJSON{w.Meaning.Outcome.String(), w.Meaning.Text},
		InArc:       arcJSON{Outcome: engine.NoView.String(), Text: w.InArc},
		Obstruction: obstructionJSON{Outcome: "not_watched", Text: w.Obstruction},
	}
	if state.Choice.From == "" || state.Choice.To == "" {
		return a
	}
	a.Outcome = engine.NoView.String()
	if state.Pair == nil {
		return a
	}
	r := state.Pair.Range
	a.Outcome, a.Contact = r.Outcome.String(), state.Pair.Contact.String()
	a.Band, a.RestsOn = live.BandText(r), w.RestsOn
	a.DistanceMM, a.SigmaMM, a.MarginMM = round(float64(r.Distance)), round(float64(r.Sigma)), round(float64(r.Margin))
	a.LinesMM = linesOf(r.Lines)
	a.NoAttack, a.NoLock = restrictionOf(state.Restricted("attack")), restrictionOf(state.Restricted("lock"))
	arc, ok := state.ArcOf()
	if !ok {
		return a
	}
	a.InArc.Outcome, a.InArc.MarginMM, a.InArc.SigmaMM = arc.InArc.String(), round(float64(arc.Margin)), round(float64(arc.Sigma))
	if at := arc.Attack; at != nil {
		a.Attack = &attackJSON{
			Outcome: at.Outcome.String(), Title: live.RangeTitle(at.RangeVerdict), DistanceMM: round(float64(at.Distance)),
			SigmaMM: round(float64(at.Sigma)),
			LinesMM: linesOf(at.Lines), Differs: live.RangeTitle(at.RangeVerdict) != live.RangeTitle(r),
		}
		if state.ObstaclesWatched {
			a.Obstruction.Outcome = live.ObstructionOutcome(at.Obstruction.Verdict)
		}
	}
	return a
}

func doubtsOf(state *live.State) []doubtJSON {
	out := []doubtJSON{}
	for _, d := range state.Doubts() {
		out = append(out, doubtJSON{d.Question, d.Text, round(float64(d.Margin)), round(float64(d.Need))})
	}
	return out
}

func panelOf(state *live.State, w live.AnswerText) panelJSON {
	p := panelJSON{Name: state.PanelName, Lamps: map[string]string{}, Labels: map[string]string{}, Alt: "The display says: " + w.Live}
	for i, l := range hardware.Lights(state.Panel) {
		p.Lamps[hardware.Lamp(i).String()] = l.String()
		if label := state.LampLabels[i]; label != "" {
			p.Labels[hardware.Lamp(i).String()] = label
		}
	}
	return p
}

func linesOf(lines []geom.Line) [][2][2]float64 {
	out := [][2][2]float64{}
	for _, l := range lines {
		out = append(out, [2][2]float64{pointOf(l[0]), pointOf(l[1])})
	}
	return out
}

func pointOf(p geom.Point) [2]float64 { return [2]float64{round(p.X), round(p.Y)} }

// round rounds to three decimals. JSON has no infinities or NaN; they become 0, and the outcome
// next to them says that nothing is known.
func round(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(x*1000) / 1000
}
