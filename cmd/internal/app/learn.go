package app

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/exposure"
	"sightline/vision/imprint"
	"sightline/vision/obstacle"
	"sightline/vision/obstacle/trace"
)

// Learner teaches the program this table's obstacles. From live pictures it learns the empty mat
// and traces tokens on white paper; it maintains the catalogue.
type Learner struct {
	frames pipeline.Frames
	hub    *live.Hub
	known  *learnt
	told   func() // called when newly learnt data may be used
	log    *slog.Logger
	now    func() time.Time
	wake   chan struct{}

	saving sync.Mutex // held while the catalogue's file changes

	mu     sync.Mutex // guards the fields below
	asked  time.Time  // last request of the page
	way    []string   // why nothing can be learnt now; empty: all can
	matWay []string   // further reasons why the mat cannot be learnt
	paper  bool       // a sheet of white paper lies on the mat
	task   learnTask
	traces uint64
	trace  *live.TokenTrace
	stale  bool                // the catalogue has changed since it was last compared
	saved  map[int]string      // name under which each traced token was saved
	twins  map[string][]string // other entries that look the same, by entry
	// imprint names the obstacles that the mat showed when it was to be learnt last, and was not.
	imprint []string
	view    live.State // the state from which the trace was made: frame, region
}

var _ web.Learning = (*Learner)(nil)

// learnTask is a running or ended task.
type learnTask struct {
	do            live.LearnAction // "": none is running
	wanted        bool             // requested, but not begun
	top           geom.Length
	bare          bool // somebody says that nothing lies on the mat
	frames        int
	last          live.LearnAction // the last ended task
	ended         time.Time
	done, problem string // its result, or its error
}

// newLearner returns the learner of a program. told is called when newly learnt data may be used.
func newLearner(frames pipeline.Frames, hub *live.Hub, known *learnt, told func(), now func() time.Time, log *slog.Logger) *Learner {
	return &Learner{frames: frames, hub: hub, known: known, told: told, log: log, now: now, wake: make(chan struct{}, 1)}
}

// String names the task.
func (l *Learner) String() string { return "obstacles" }

const (
	learnEvery  = 500 * time.Millisecond // interval between checks for what prevents learning, while the page is open
	learnWatch  = 5 * time.Second        // how long the page counts as open after a request
	learnFrames = 10                     // number of averaged pictures, as in the commands
	learnMost   = 3 * time.Minute        // time limit for all of them: a slow machine takes seconds for one
)

// Run looks at the pictures and runs the long tasks while someone learns, until ctx is cancelled.
// It always notices changed files.
func (l *Learner) Run(ctx context.Context) error {
	ticker := time.NewTicker(learnEvery)
	defer ticker.Stop()
	var before *image.Gray
	l.compareAgain()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-l.wake:
		}
		if l.known.renew() {
			l.log.Info("obstacles: learnt again from the files")
			l.told()
			l.compareSoon()
		}
		l.compareIfStale()
		if task, ok := l.begin(); ok {
			l.end(l.work(ctx, task))
		}
		before = l.look(before)
	}
}

// begin returns the requested task.
func (l *Learner) begin() (learnTask, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.task.wanted {
		return learnTask{}, false
	}
	l.task.wanted = false
	return l.task, true
}

// end records the result of a task: a sentence, or an error for people.
func (l *Learner) end(done string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.task = learnTask{last: l.task.do, ended: l.now(), done: done}
	if err != nil {
		l.task.done, l.task.problem = "", sentenceOf(err)
		l.log.Warn("obstacles: not learnt", "what", l.task.last, "err", err)
		return
	}
	l.log.Info("obstacles: learnt", "what", l.task.last, "how", done)
}

func (l *Learner) work(ctx context.Context, task learnTask) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, learnMost)
	defer cancel()
	if task.do == live.LearnMat {
		return l.learnMat(ctx, task.bare)
	}
	return l.traceTokens(ctx, task.top)
}

// look checks what prevents learning, if the page is open. It returns the picture, for comparison
// with the next one.
func (l *Learner) look(before *image.Gray) *image.Gray {
	l.mu.Lock()
	watched := l.now().Sub(l.asked) < learnWatch
	l.mu.Unlock()
	if !watched {
		return nil
	}
	v := l.hub.Newest()
	way := inTheWay(&v)
	if before != nil && v.Frame.Gray != nil && exposure.Moved(before, v.Frame.Gray) {
		way = append(way, "Something moves in the picture: take your hands away and wait a moment.")
	}
	paper, matWay := false, glareInTheWay(&v)
	if table, err := tableOf(&v); err == nil && v.Frame.Gray != nil && sameSize(v.Frame, table) {
		paper = trace.HasPaper(v.Frame, table)
	}
	if paper {
		matWay = append(matWay, "A sheet of white paper lies on the mat.")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.way, l.matWay, l.paper = way, matWay, paper
	return v.Frame.Gray
}

// inTheWay returns what prevents learning in a state.
func inTheWay(v *live.State) (out []string) {
	if v.Health.Code != live.OK {
		return []string{v.Health.Line()}
	}
	if v.Held {
		out = append(out, sentence.Of(live.ErrReleaseFirst))
	}
	switch ships := v.Located.Scene.Ships; len(ships) {
	case 0:
	case 1:
		out = append(out, fmt.Sprintf("Ship %s stands on the mat.", ships[0].ID))
	default:
		ids := make([]string, len(ships))
		for i := range ships {
			ids[i] = ships[i].ID
		}
		out = append(out, fmt.Sprintf("The ships %s stand on the mat.", strings.Join(ids, ", ")))
	}
	if watch := &v.Register.Watch; len(watch.Missing) > 0 {
		out = append(out, fmt.Sprintf("Something covers the markers %s: a hand?", pipeline.IDList(watch.Missing)))
	}
	return out
}

// lyingOn returns what lies on the mat by what was learnt before, in sentences. It would become a part of the mat, and no line across it
// would be obstructed. It may be wrong: whoever learns the mat again may have learnt it with something on it.
func lyingOn(v *live.State) (out []string) {
	sight := v.Located.Obstacles
	if sight == nil || v.Health.Code != live.OK {
		return nil
	}
	ids, unknown := sight.OnMat()
	if len(ids) > 0 {
		out = append(out, recognised(ids))
	}
	if unknown {
		out = append(out, "Something unknown lies on the mat: look at the picture.")
	}
	return out
}

// recognised says that obstacles lie on the mat.
func recognised(ids []string) string {
	if len(ids) == 1 {
		return ids[0] + " is recognised on the mat: take it away."
	}
	return strings.Join(ids, ", ") + " are recognised on the mat: take them away."
}

// glareInTheWay returns the glare that prevents learning the mat. White paper may cause it too, but
// tokens can still be traced on paper, and their page says so.
func glareInTheWay(v *live.State) (out []string) {
	if why := v.Light.Clipped(); why != "" {
		out = append(out, why)
	}
	return out
}

func sameSize(f vision.Frame, t calibration.Table) bool {
	w, h := f.Size()
	return w == t.Intrinsics.Width && h == t.Intrinsics.Height
}

// tableOf returns the calibration of a state.
func tableOf(v *live.State) (calibration.Table, error) {
	if len(v.Register.File) == 0 {
		return calibration.Table{}, errors.New("there is no calibration yet")
	}
	return calibration.ParseTableFile(v.Register.File)
}

// errMoved stops a task when something moves.
var errMoved = errors.New("something moved in the picture meanwhile: take your hands away and begin again")

// gather passes on learnFrames pictures of a table on which nothing changes.
func (l *Learner) gather(ctx context.Context, begin func(calibration.Table) error, each func(vision.Frame) error) (live.State, error) {
	v := l.hub.Newest()
	if way := inTheWay(&v); len(way) > 0 {
		return v, errors.New(way[0])
	}
	table, err := tableOf(&v)
	if err != nil {
		return v, err
	}
	if err := begin(table); err != nil {
		return v, err
	}
	var first *image.Gray
	seq := uint64(0)
	if v.Frame.Gray != nil {
		seq = v.Frame.Seq
	}
	for n := 0; n < learnFrames; n++ {
		f, err := l.next(ctx, seq)
		if err != nil {
			return v, err
		}
		seq = f.Seq
		now := l.hub.Newest()
		switch {
		case !sameSize(f, table), now.Register.Hash != v.Register.Hash:
			return v, errors.New("the camera or the table moved meanwhile: begin again")
		case now.Health.Code != live.OK:
			return v, errors.New(now.Health.Line())
		case first != nil && exposure.Moved(first, f.Gray):
			return v, errMoved
		case first == nil:
			first = f.Gray
		}
		if err := each(f); err != nil {
			return v, err
		}
		l.mu.Lock()
		l.task.frames = n + 1
		l.mu.Unlock()
	}
	return v, nil
}

// next waits for a picture.
func (l *Learner) next(ctx context.Context, after uint64) (vision.Frame, error) {
	f, err := l.frames.Next(ctx, after)
	switch {
	case errors.Is(err, io.EOF):
		return f, errors.New("the recording has come to its end")
	case errors.Is(err, context.DeadlineExceeded):
		return f, fmt.Errorf("the pictures come too slowly: not %d of them in %v", learnFrames, learnMost)
	}
	return f, err
}

// learnMat learns the empty mat and saves it. It refuses one that shows an obstacle, unless a person says that the mat is bare.
func (l *Learner) learnMat(ctx context.Context, bare bool) (string, error) {
	before := l.hub.Newest()
	if way := glareInTheWay(&before); len(way) > 0 {
		return "", errors.New(way[0])
	}
	var learner *obstacle.BackgroundLearner
	_, err := l.gather(ctx, func(t calibration.Table) error {
		learner = obstacle.NewBackgroundLearner(t)
		return nil
	}, func(f vision.Frame) error {
		if learner.Frames() == 0 {
			v := l.hub.Newest()
			if table, err := tableOf(&v); err == nil && sameSize(f, table) && trace.HasPaper(f, table) {
				return errors.New("a sheet of white paper lies on the mat: take it away")
			}
		}
		return learner.Add(f)
	})
	if err != nil {
		return "", err
	}
	mat, err := learner.Background()
	if err != nil {
		return "", err
	}
	var names []string
	if !bare {
		if names, err = imprint.On(mat, &catalogue.Catalogue{Entries: l.known.entries()}); err != nil {
			return "", err
		}
	}
	l.mu.Lock()
	l.imprint = names
	l.mu.Unlock()
	if len(names) > 0 {
		return "", errors.New(recognised(names))
	}
	if err := l.known.saveMat(mat); err != nil {
		return "", err
	}
	l.told()
	w, h := mat.Size() // its last cell, half a millimetre wide, may reach beyond the edge
	return fmt.Sprintf("Learnt a mat of %.0f × %.0f mm from %d pictures.", math.Floor(float64(w)), math.Floor(float64(h)),
		learner.Frames()), nil
}

// traceTokens traces the tokens on white paper in the mean of several pictures.
func (l *Learner) traceTokens(ctx context.Context, top geom.Length) (string, error) {
	var table calibration.Table
	var sum []uint32
	var last vision.Frame
	v, err := l.gather(ctx, func(t calibration.Table) error {
		table = t
		return nil
	}, func(f vision.Frame) error {
		if sum == nil {
			sum = make([]uint32, f.Gray.Rect.Dx()*f.Gray.Rect.Dy())
		}
		last = f
		w := f.Gray.Rect.Dx()
		for y := range f.Gray.Rect.Dy() {
			for x, p := range f.Gray.Pix[y*f.Gray.Stride:][:w] {
				sum[y*w+x] += uint32(p)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	mean := last
	mean.Gray = image.NewGray(last.Gray.Rect)
	for i, s := range sum {
		mean.Gray.Pix[i] = uint8((s + learnFrames/2) / learnFrames)
	}
	found, err := trace.Sheet(mean, table, top)
	if err != nil {
		return "", err
	}
	// The print of a bare mat has crumbs too.
	if len(found) == 0 || !trace.HasPaper(mean, table) && !slices.ContainsFunc(found,
		func(k trace.Token) bool { return k.Problem == "" }) {
		return "", errors.New("no dark-edged token on white paper is seen: lay them on a sheet of white paper on the mat, each with paper all " +
			"round")
	}
	trace, known := doubts(found), l.known.entries()
	trace.Top, trace.Clipped, trace.Region = top, clipped(mean.Gray, v.Region), v.Region.Intersect(mean.Gray.Rect)
	if trace.Region.Empty() {
		trace.Region = mean.Gray.Rect
	}
	compare(trace, known, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.traces++
	trace.Number, trace.At = l.traces, l.now()
	l.trace, l.saved = trace, nil
	l.view = live.State{Frame: last, Region: trace.Region}
	l.view.Frame.Seq = l.traces // numbered on its own, because it is not a live picture
	return fmt.Sprintf("%d of %d things on the paper are traced.", trace.Good(), len(found)), nil
}

// clipped reports whether the paper is clipped, which makes outlines too small.
func clipped(g *image.Gray, region image.Rectangle) bool {
	region = region.Intersect(g.Rect)
	if region.Empty() {
		region = g.Rect
	}
	const step, burnt, most = 4, 250, 0.05
	white, all := 0, 0
	for y := region.Min.Y; y < region.Max.Y; y += step {
		for x := region.Min.X; x < region.Max.X; x += step {
			all++
			if g.GrayAt(x, y).Y >= burnt {
				white++
			}
		}
	}
	return float64(white) > most*float64(all)
}

// compareSoon makes Run compare again. That takes seconds, so the caller does not wait.
func (l *Learner) compareSoon() {
	l.mu.Lock()
	l.stale = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// compareIfStale compares again after a change of the catalogue.
func (l *Learner) compareIfStale() {
	l.mu.Lock()
	stale := l.stale
	l.mu.Unlock()
	if stale {
		l.compareAgain()
	}
}

// compareAgain compares the traced tokens with the present catalogue, and its entries with each
// other.
func (l *Learner) compareAgain() {
	l.mu.Lock()
	trace, saved := l.trace, maps.Clone(l.saved)
	l.stale = false
	l.mu.Unlock()
	known := l.known.entries()
	twins := twinsOf(known)
	var next live.TokenTrace // a new one: readers may still have the old one
	if trace != nil {
		next = *trace
		next.Tokens = slices.Clone(next.Tokens)
		compare(&next, known, saved)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.twins = twins
	if trace != nil && l.trace == trace {
		l.trace = &next
	}
}

// compare finds the entries that look the same as a trace's tokens, and the names under which the
// tokens were saved.
func compare(trace *live.TokenTrace, known []catalogue.Entry, saved map[int]string) {
	for i := range trace.Tokens {
		t := &trace.Tokens[i]
		t.Alike, t.Saved = nil, ""
		for n := range known {
			if t.Problem != "" || !catalogue.Alike(t.Outline, known[n].Outline) {
				continue
			}
			t.Alike = append(t.Alike, known[n].Name)
			if saved[i+1] == known[n].Name {
				t.Saved = known[n].Name
			}
		}
	}
}

// twinsMost is the largest number of entries that are compared with each other: more than anyone
// lays on a table. The publisher's 20 take 0.3 s (BenchmarkTwins, 2026-11-21); the time grows with
// the square.
const twinsMost = 40

// twinsOf lists, for each entry that looks the same as others, the others' names.
func twinsOf(entries []catalogue.Entry) map[string][]string {
	out := map[string][]string{}
	if len(entries) > twinsMost {
		return out
	}
	for i := range entries {
		for k := range entries[:i] {
			if a, b := entries[i].Name, entries[k].Name; catalogue.Alike(entries[i].Outline, entries[k].Outline) {
				out[a], out[b] = append(out[a], b), append(out[b], a)
			}
		}
	}
	return out
}

// doubts adds to each traced token the reasons why the search would refuse it.
func doubts(found []trace.Token) *live.TokenTrace {
	trace := &live.TokenTrace{}
	for i, k := range found {
		t := live.LearnToken{Token: k}
		if k.Problem == "" {
			turned, flipped := catalogue.LikeItself(k.Outline)
			if turned {
				t.Doubts = append(t.Doubts, "It looks almost the same when it is turned around. The program finds where it lies, but "+
					"perhaps not which way round. Then it calls it unknown.")
			}
			if flipped {
				t.Doubts = append(t.Doubts, "Its two faces look almost the same. The program may call it unknown rather than guess.")
			}
			for n := range found[:i] {
				if found[n].Problem == "" && catalogue.Alike(k.Outline, found[n].Outline) {
					t.Doubts = append(t.Doubts, fmt.Sprintf("It looks almost like number %d. The program may call either of them "+
						"unknown rather than guess.", n+1))
				}
			}
			if k.Doubt != "" {
				t.Doubts = append(t.Doubts, k.Doubt)
			}
		}
		trace.Tokens = append(trace.Tokens, t)
	}
	return trace
}
