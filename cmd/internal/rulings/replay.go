package rulings

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/locate"
	"sightline/vision/look"
	"sightline/vision/obstacle"
)

// Replayed is the result of computing an entry again.
type Replayed struct {
	Number  int64     `json:"entry"`
	Program string    `json:"recorded_by"` // the version that recorded it
	Here    string    `json:"replayed_by"` // the version that replays it, and the processor
	Engine  Recount   `json:"engine"`
	Picture Relook    `json:"picture"`
	Chain   []Finding `json:"tampering"` // of the chain and the entry's files; empty when nothing was changed
}

// Same reports whether the entry is confirmed: it was not changed, and the engine and the picture,
// if there is one, give its verdict.
func (r *Replayed) Same() bool {
	return len(r.Chain) == 0 && (r.Engine.State == Exact || r.Engine.State == Rounded || r.Engine.State == NothingMeasured) &&
		(r.Picture.State == Alike || r.Picture.State == NoPicture || r.Picture.State == Pruned || r.Picture.State == NothingMeasured)
}

// State is the result of a part of a replay.
type State string

// The states of a replay's parts.
const (
	Exact           State = "exact"            // the same to the last digit
	Rounded         State = "rounded"          // the same within rounding: another processor or version
	Refigured       State = "refigured"        // the same answers with other figures: another version
	Alike           State = "same"             // the same answers
	Differs         State = "differs"          // other answers
	NothingMeasured State = "nothing_measured" // the entry has no verdict: the judge ruled without one
	NoPicture       State = "no_picture"       // the entry has none
	Pruned          State = "pruned"           // the picture was removed for its age
	Failed          State = "failed"           // no result, see Why
)

// Recount is the present engine's verdict on the stored scene.
type Recount struct {
	State       State        `json:"state"`
	Why         string       `json:"why,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
}

// Relook is the present result of the stored picture with the stored calibration.
type Relook struct {
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`

	// Answers are the pair's answers that differ: band, contact, arc, attack range,
	// obstruction. Others are those in arcs that were not chosen.
	Answers []Difference `json:"answers,omitempty"`
	Others  []Difference `json:"others,omitempty"`

	Distance *Shift          `json:"distance,omitempty"` // of the range
	Ships    []Shift         `json:"ships,omitempty"`    // each ship of the scene
	Rocks    []Shift         `json:"obstacles,omitempty"`
	Absent   []string        `json:"not_found,omitempty"` // of the scene, but not found in the picture
	Extra    []string        `json:"not_recorded,omitempty"`
	Verdict  json.RawMessage `json:"verdict,omitempty"` // a pair as in a result file, measured in the picture

	marked []string // ships that a person marked
}

// Worst is the largest shift in standard deviations.
func (r *Relook) Worst() (worst float64) {
	for _, s := range slices.Concat(r.Ships, r.Rocks) {
		worst = max(worst, s.Sigmas)
	}
	if r.Distance != nil {
		worst = max(worst, r.Distance.Sigmas)
	}
	return worst
}

// Shift is the distance of something from where it was recorded.
type Shift struct {
	ID     string  `json:"id,omitempty"`
	By     float64 `json:"by_mm"`
	Turned float64 `json:"turned_deg"`
	Sigma  float64 `json:"sigma_mm"` // as recorded
	Sigmas float64 `json:"sigmas"`   // the largest shift of a coordinate over its recorded sigma
}

// Replay computes an entry again: the engine on the stored scene, the locator on the stored
// picture, the chain and the files. version is the program's.
//
// The recorded scene is usually the mean of many pictures, and the stored picture one of them.
// Ships then lie some tenths of their sigma elsewhere, and one picture may leave open what the
// mean decided.
func (l *Log) Replay(ctx context.Context, n int64, version string) (Replayed, error) {
	e, err := l.Entry(ctx, n)
	if err != nil {
		return Replayed{}, err
	}
	report, err := l.Verify(ctx)
	if err != nil {
		return Replayed{}, err
	}
	r := Replayed{Number: n, Program: e.Program, Here: fmt.Sprintf("%s on %s", version, runtime.GOARCH), Chain: []Finding{}}
	for _, f := range report.Findings {
		if f.Entry == 0 || f.Entry == n || !isFile(f) { // not a file of another entry
			r.Chain = append(r.Chain, f)
		}
	}
	r.Engine = recount(&e)
	r.Picture = l.relook(ctx, &e)
	return r, ctx.Err()
}

func isFile(f Finding) bool {
	return slices.ContainsFunc(roles[:], func(r Role) bool { return len(f.What) > len(r) && f.What[:len(r)+1] == string(r)+" " })
}

// recount measures the stored scene again.
func recount(e *Entry) Recount {
	if len(e.Scene) == 0 {
		return Recount{State: Failed, Why: "the scene cannot be read"}
	}
	if !e.hasVerdict() {
		return Recount{State: NothingMeasured, Why: e.Unanswered}
	}
	now, err := e.measure()
	if err != nil {
		return Recount{State: Failed, Why: err.Error()}
	}
	if bytes.Equal(now, e.Verdict) {
		return Recount{State: Exact}
	}
	diffs, err := differences(e.Verdict, now)
	if err != nil {
		return Recount{State: Failed, Why: err.Error()}
	}
	answers, figures, added := partition(diffs)
	r := Recount{State: Rounded, Why: fmt.Sprintf("no figure differs by more than %g mm", noise), Differences: slices.Concat(answers, figures)}
	if len(added) > 0 {
		r.Why += "; not stated when it was recorded: " + strings.Join(added, ", ")
	}
	switch {
	case len(answers) > 0:
		r.State, r.Why = Differs, ""
	case len(figures) > 0:
		r.State, r.Why = Refigured, ""
	}
	return r
}

// relook locates the stored picture and measures the pair in it.
func (l *Log) relook(ctx context.Context, e *Entry) Relook {
	if len(e.Scene) == 0 {
		return Relook{State: Failed, Why: "the entry cannot be read"}
	}
	ref, ok := e.File(RoleFrame)
	if !ok {
		return Relook{State: NoPicture, Why: "the entry has no picture"}
	}
	recorded, err := e.SceneOf()
	if err != nil {
		return Relook{State: Failed, Why: err.Error()}
	}
	located, err := l.locate(ctx, e, ref, recorded.Ships)
	switch {
	case errors.Is(err, ErrPruned):
		return Relook{State: Pruned, Why: err.Error()}
	case errors.Is(err, fs.ErrNotExist):
		return Relook{State: Failed, Why: err.Error()}
	case err != nil:
		return Relook{State: Failed, Why: err.Error()}
	}
	return compareScenes(e, &recorded, &located.Scene)
}

// locate finds ships and, with a catalogue, obstacles in the stored picture with the stored
// calibration. It searches ships that were recorded by their cards near where they stood.
func (l *Log) locate(ctx context.Context, e *Entry, ref FileRef, recorded []engine.Ship) (vision.Located, error) {
	frame, err := l.frame(ctx, e, ref)
	if err != nil {
		return vision.Located{}, err
	}
	table, err := l.calibrationOf(ctx, &e.Record)
	if err != nil {
		return vision.Located{}, err
	}
	options, err := l.locatorOptions(ctx, &e.Record)
	if err != nil {
		return vision.Located{}, err
	}
	locator, err := locate.New(table, options)
	if err != nil {
		return vision.Located{}, err
	}
	located, err := locator.Locate(frame)
	if err == nil {
		err = locator.Again(frame, recorded, &located)
	}
	return located, err
}

// frame reads the measured picture, with the colours of the one for people if ships were found by their cards, which need them.
func (l *Log) frame(ctx context.Context, e *Entry, ref FileRef) (vision.Frame, error) {
	gray, err := l.grayFrame(ctx, ref)
	if err != nil {
		return vision.Frame{}, err
	}
	frame := vision.Frame{Gray: gray, Captured: e.Captured, Name: ref.Path()}
	if _, byCards := e.File(RoleLooks); byCards {
		frame.Color = l.colors(ctx, e, gray.Rect)
	}
	return frame, nil
}

// colors reads the picture for people; nil when it is missing or has another size than the measured one, which then decides alone.
func (l *Log) colors(ctx context.Context, e *Entry, size image.Rectangle) *vision.BGR {
	ref, ok := e.File(RoleColor)
	if !ok {
		return nil
	}
	raw, err := l.File(ctx, ref)
	if err != nil {
		return nil
	}
	if c, err := jpeg.DecodeConfig(bytes.NewReader(raw)); err != nil || image.Rect(0, 0, c.Width, c.Height) != size {
		return nil
	}
	picture, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	return vision.NewBGR(picture)
}

func (l *Log) grayFrame(ctx context.Context, f FileRef) (*image.Gray, error) {
	raw, err := l.File(ctx, f)
	if err != nil {
		return nil, err
	}
	config, err := png.DecodeConfig(bytes.NewReader(raw))
	if err == nil && config.Width*config.Height > 1<<27 {
		err = fmt.Errorf("expected at most 128 million pixels, got %d×%d", config.Width, config.Height)
	}
	if err != nil {
		return nil, fmt.Errorf("rulings: %s: %w", f.Path(), err)
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("rulings: %s: %w", f.Path(), err)
	}
	gray, ok := picture.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("rulings: %s: expected a grey picture of 8 bits", f.Path())
	}
	return gray, nil
}

// calibrationOf reads the calibration of an entry's picture.
func (l *Log) calibrationOf(ctx context.Context, r *Record) (calibration.Table, error) {
	ref, ok := r.File(RoleCalibration)
	if !ok {
		return calibration.Table{}, errors.New("rulings: the entry has no calibration")
	}
	raw, err := l.File(ctx, ref)
	if err != nil {
		return calibration.Table{}, err
	}
	t, err := calibration.ParseTableFile(raw)
	if err != nil {
		return t, fmt.Errorf("rulings: %s: %w", ref.Path(), err)
	}
	return t, nil
}

func (l *Log) locatorOptions(ctx context.Context, r *Record) (o locate.Options, err error) {
	if ref, ok := r.File(RoleLooks); ok {
		raw, err := l.File(ctx, ref)
		if err != nil {
			return o, err
		}
		if o.Looks, err = look.DecodeLibrary(raw); err != nil {
			return o, fmt.Errorf("rulings: %s: %w", ref.Path(), err)
		}
	}
	kept, ok := r.File(RoleCatalogue)
	mat, ok2 := r.File(RoleEmptyMat)
	if !ok || !ok2 {
		return o, nil
	}
	raw, err := l.File(ctx, kept)
	if err != nil {
		return o, err
	}
	if o.Catalogue, err = catalogue.Parse(bytes.NewReader(raw)); err != nil {
		return o, fmt.Errorf("rulings: %s: %w", kept.Path(), err)
	}
	if raw, err = l.File(ctx, mat); err != nil {
		return o, err
	}
	if o.Background, err = obstacle.ReadBackground(bytes.NewReader(raw)); err != nil {
		return o, fmt.Errorf("rulings: %s: %w", mat.Path(), err)
	}
	return o, nil
}

// compareScenes measures the pair in the located scene, and returns what differs from the record.
func compareScenes(e *Entry, recorded, located *engine.Scene) Relook {
	r := Relook{}
	now := *recorded // with edition, profile, devices and markers, which pictures do not show
	now.MatWidth, now.MatHeight, now.ScaleSigma = located.MatWidth, located.MatHeight, located.ScaleSigma
	if !handMarked(recorded) || !located.ObstaclesUnseen { // a picture does not show hand-marked ships
		now.Obstacles, now.Unknown, now.Blind, now.ObstaclesUnseen = located.Obstacles, located.Unknown, located.Blind, located.ObstaclesUnseen
	}
	now.Ships = nil
	for _, was := range recorded.Ships {
		i := slices.IndexFunc(located.Ships, func(s engine.Ship) bool { return s.ID == was.ID })
		if was.Seen == byHand {
			now.Ships, r.marked = append(now.Ships, was), append(r.marked, was.ID)
			continue
		}
		if i < 0 {
			r.Absent = append(r.Absent, was.ID)
			continue
		}
		is := located.Ships[i]
		is.Player, is.Arcs, is.Turret = was.Player, was.Arcs, was.Turret
		now.Ships = append(now.Ships, is)
		r.Ships = append(r.Ships, shiftOf(was.ID, was.Pose, is.Pose, was.Covariance))
	}
	for _, s := range located.Ships {
		if !slices.ContainsFunc(recorded.Ships, func(was engine.Ship) bool { return was.ID == s.ID }) {
			r.Extra = append(r.Extra, s.ID)
		}
	}
	r.obstacles(recorded, &now)
	if !e.hasVerdict() {
		r.State, r.Why = NothingMeasured, e.Unanswered
		return r
	}
	for _, id := range []string{e.From, e.To} {
		if slices.Contains(r.Absent, id) {
			r.State, r.Why = Failed, fmt.Sprintf("%s is not found in this one picture; the recorded scene has it from others", id)
			if _, kept := e.File(RoleLooks); !kept && byCard(recorded, id) {
				r.Why = fmt.Sprintf("%s was found by its card, which the record does not hold", id)
			}
			return r
		}
	}
	p, err := engine.MeasurePair(&now, e.From, e.To, engine.Options{Sigmas: e.Sigmas})
	if err == nil {
		r.Verdict, err = pairJSON(p)
	}
	if err == nil {
		err = r.answers(e)
	}
	if err != nil {
		r.State, r.Why = Failed, err.Error()
	}
	return r
}

// byHand is how a ship marked by a person in the picture was seen.
const byHand = "mark"

// byCard reports whether a ship of a scene was found by its card.
func byCard(scene *engine.Scene, id string) bool {
	return slices.ContainsFunc(scene.Ships, func(s engine.Ship) bool { return s.ID == id && s.Look != "" })
}

func handMarked(s *engine.Scene) bool {
	return slices.ContainsFunc(s.Ships, func(s engine.Ship) bool { return s.Seen == byHand })
}

// obstacles adds the shifts of obstacles.
func (r *Relook) obstacles(recorded, now *engine.Scene) {
	if now.ObstaclesUnseen || recorded.ObstaclesUnseen {
		return
	}
	for _, was := range recorded.Obstacles {
		i := slices.IndexFunc(now.Obstacles, func(o engine.Obstacle) bool { return o.ID == was.ID })
		if i < 0 {
			r.Absent = append(r.Absent, was.ID)
			continue
		}
		v := float64(was.Sigma * was.Sigma)
		r.Rocks = append(r.Rocks, shiftOf(was.ID, was.Pose, now.Obstacles[i].Pose, geom.Cov3{v, 0, 0, 0, v, 0, 0, 0, 0}))
	}
	for _, o := range now.Obstacles {
		if !slices.ContainsFunc(recorded.Obstacles, func(was engine.Obstacle) bool { return was.ID == o.ID }) {
			r.Extra = append(r.Extra, o.ID)
		}
	}
}

// shiftOf returns the shift of a pose from the recorded one.
func shiftOf(id string, was, is geom.Pose, cov geom.Cov3) Shift {
	d := is.Point.Sub(was.Point)
	turned := math.Remainder(float64(is.Heading-was.Heading), 2*math.Pi)
	s := Shift{ID: id, By: d.Norm(), Turned: math.Abs(geom.Angle(turned).Degrees()), Sigma: math.Sqrt(max(cov[0], cov[4]))}
	for i, v := range [3]float64{d.X, d.Y, turned} {
		if variance := cov[4*i]; variance > 0 {
			s.Sigmas = max(s.Sigmas, math.Abs(v)/math.Sqrt(variance))
		}
	}
	return s
}

// answers compares the answers of the pair's two verdicts.
func (r *Relook) answers(e *Entry) error {
	was, err := parsePair(e.Verdict)
	if err != nil {
		return fmt.Errorf("rulings: entry %d: verdict: %w", e.Number, err)
	}
	is, err := parsePair(r.Verdict)
	if err != nil {
		return err
	}
	r.Distance = &Shift{By: math.Abs(is.Range.Distance - was.Range.Distance), Sigma: was.Range.Sigma}
	if was.Range.Sigma > 0 {
		r.Distance.Sigmas = r.Distance.By / was.Range.Sigma
	}
	note := func(to *[]Difference, key, a, b string) {
		if a != b {
			*to = append(*to, Difference{key, a, b})
		}
	}
	note(&r.Answers, "range", was.Range.words(), is.Range.words())
	note(&r.Answers, "contact", plain(was.Contact), plain(is.Contact))
	for _, a := range was.Arcs {
		to := &r.Answers
		if e.Arc != "" && a.Arc != e.Arc {
			to = &r.Others
		}
		i := slices.IndexFunc(is.Arcs, func(b arcVerdict) bool { return b.Arc == a.Arc })
		if i < 0 {
			note(to, plain(a.Arc)+" arc", plain(a.InArc), "no such arc")
			continue
		}
		b := is.Arcs[i]
		note(to, plain(a.Arc)+" arc", plain(a.InArc), plain(b.InArc))
		if a.Attack != nil && b.Attack != nil {
			note(to, plain(a.Arc)+" arc, attack range", a.Attack.words(), b.Attack.words())
			note(to, plain(a.Arc)+" arc, obstructed", a.Attack.Obstruction.words(false), b.Attack.Obstruction.words(false))
		}
	}
	r.State = Alike
	if by := r.marked; len(by) > 0 {
		r.Why = strings.Join(by, ", ") + ": marked by a person, and taken as recorded"
	}
	if len(r.Answers) > 0 {
		r.State = Differs
		r.Why = fmt.Sprintf("nothing lies more than %.1f sigmas from where it was recorded, as one picture may against the mean of many",
			r.Worst())
		if r.Worst() > cmp.Or(e.Sigmas, engine.DefaultSigmas) {
			r.Why = fmt.Sprintf("something lies %.1f sigmas from where it was recorded", r.Worst())
		}
	}
	return nil
}
