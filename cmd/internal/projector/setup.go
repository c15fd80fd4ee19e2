package projector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/vision"
)

// The limits of reading a pattern.
const (
	showWithin    = 5 * time.Second        // for the page to report that it shows the pattern
	settle        = 400 * time.Millisecond // in addition to the delay, for a camera that adjusts its exposure
	readWithin    = 30 * time.Second
	readPictures  = 5 // averaged
	readTries     = 3 // someone may reach over the mat
	fewestFound   = 6 // least number of tags that find the screen
	frameLost     = 10 * time.Second
	cancelledText = "The set-up was cancelled."
)

// refusal is an error for people, a sentence.
type refusal string

func (r refusal) Error() string { return string(r) }

// Start starts a set-up. Its errors are sentences for people.
func (d *Desk) Start() error {
	state := d.o.Hub.Newest()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.settingUp():
		return refusal("The projector is already being set up.")
	case d.o.Markers == nil:
		return refusal("This program was built without OpenCV and cannot read the patterns.")
	case d.o.Now().Sub(d.screen.asked) > screenLost:
		return refusal("No page is in front of the projector: open /projector on its screen and let it fill the screen.")
	case d.screen.width < smallestScreen || d.screen.height < smallestScreen:
		return refusal(fmt.Sprintf("The projector's page has %d×%d px; at least %d are needed on each side.", d.screen.width, d.screen.height,
			smallestScreen))
	case d.calibrating():
		return refusal("The camera is being calibrated. Finish or cancel that first.")
	case state.Health.Code != live.OK || len(state.Register.File) == 0:
		return refusal("The camera does not know its place over the mat now: " + state.Health.Title + ".")
	}
	table, err := calibration.ParseTableFile(state.Register.File)
	if err != nil {
		return refusal("The calibration in use cannot be read: " + err.Error() + ".")
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &progress{cancel: cancel, text: "Looking for the screen on the mat"}
	d.setup = p
	job := &job{Desk: d, progress: p, table: &table, file: state.Register.File, bases: basesOf(&state), width: d.screen.width,
		height: d.screen.height}
	go job.run(ctx)
	return nil
}

// Cancel cancels a set-up; the earlier one stays.
func (d *Desk) Cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.setup != nil {
		d.setup.cancel()
	}
}

// Forget deletes the set-up.
func (d *Desk) Forget() error {
	return d.change(func(k *kept) { k.Void = "Its set-up was discarded on its page. Set it up again." })
}

// Switch switches the lines on or off.
func (d *Desk) Switch(on bool) error { return d.change(func(k *kept) { k.Off = !on }) }

func (d *Desk) change(how func(*kept)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept == nil {
		return refusal("The projector is not set up.")
	}
	how(d.kept)
	d.keep()
	return nil
}

// job is one set-up.
type job struct {
	*Desk
	*progress
	table         *calibration.Table
	file          []byte
	bases         []base
	width, height int
	seq           uint64 // of the last picture
	delay         time.Duration
}

// run sets the projector up and records the result.
func (j *job) run(ctx context.Context) {
	defer j.cancel()
	k, err := j.work(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.over = true
	j.tell(command{show: showDark})
	j.spans = append(j.spans, span{j.o.Now(), j.o.Now().Add(max(j.delay, delayLeast))}) // for the last pattern
	if ctx.Err() != nil {
		err = refusal(cancelledText)
	}
	if err != nil {
		j.failed = err.Error()
		j.o.Log.Warn("projector: not set up", "err", err)
		return
	}
	j.Desk.kept, j.checked = k, ""
	j.keep()
	j.o.Log.Info("projector: set up", "rms_mm", k.Errors.RMS, "worst_mm", k.Errors.Worst, "tags", k.Fitted, "delay_ms", k.Delay)
}

// work shows the patterns, fits and verifies.
func (j *job) work(ctx context.Context) (*kept, error) {
	found, err := j.read(ctx, findPattern(j.width, j.height), fewestFound, "Looking for the screen on the mat")
	if err != nil {
		return nil, err
	}
	coarse, err := rough(j.width, j.height, found)
	if err != nil {
		return nil, sentenceOf(err)
	}
	first := matPattern(&coarse, &j.table.Layout, j.bases, false)
	if len(first) < fewestFitted {
		return nil, refusal(fmt.Sprintf("Only %d tags fit on the mat between the ships; at least %d are needed. Let the projector cover "+
			"the mat, and clear it.", len(first), fewestFitted))
	}
	read, err := j.read(ctx, first, fewestFitted, "Reading the first pattern")
	if err != nil {
		return nil, err
	}
	m, used, err := fit(j.width, j.height, read)
	if err != nil {
		return nil, sentenceOf(err)
	}
	second, err := j.read(ctx, matPattern(&m, &j.table.Layout, j.bases, true), fewestVerified, "Reading the second pattern")
	if err != nil {
		return nil, err
	}
	off := m.verify(second)
	if why := m.accept(second, off); why != "" {
		return nil, refusal(why)
	}
	k := &kept{Version: keptVersion, Map: m, Errors: off, Fitted: len(used), Delay: int(j.delay.Milliseconds()), Made: j.o.Now(),
		Table: j.file}
	return k, k.check()
}

func sentenceOf(err error) error {
	return refusal("It cannot be set up: " + err.Error() + ". Clear the mat and set it up again.")
}

// read shows a pattern and reads it, by comparing its pictures with those of the dark screen.
func (j *job) read(ctx context.Context, tags []Tag, least int, text string) ([]reading, error) {
	most := 0
	for try := range readTries {
		j.say(text)
		if try > 0 {
			j.say(fmt.Sprintf("%s: %d tags; once more", text, most))
		}
		dark, _, err := j.expose(ctx, command{show: showDark})
		if err != nil {
			return nil, err
		}
		lit, delay, err := j.expose(ctx, command{show: showPattern, tags: tags})
		if err != nil {
			return nil, err
		}
		found, err := j.o.Markers.DetectMarkers(ratio(lit, dark))
		if err != nil {
			return nil, refusal("The tags cannot be looked for: " + err.Error() + ".")
		}
		out := readings(tags, found, j.table)
		if len(out) >= least {
			if j.delay = max(j.delay, delay*3/2, delayLeast); j.delay > max(delayMost, j.o.Stale) {
				return nil, refusal(fmt.Sprintf("The camera shows the pattern only after %.0f s.", delay.Seconds()))
			}
			return out, nil
		}
		most = max(most, len(out))
	}
	return nil, j.unread(most, least, len(tags))
}

// expose shows something and averages some pictures of it. It also returns the time until a picture
// showed half of the change.
func (j *job) expose(ctx context.Context, c command) (*mean, time.Duration, error) {
	shown, err := j.show(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	from := shown.Add(max(j.delay, delayLeast) + settle)
	var m mean
	var times []time.Duration
	var levels []float64
	for begun := j.o.Now(); m.n < readPictures; {
		switch {
		case ctx.Err() != nil:
			return nil, 0, refusal(cancelledText)
		case j.calibrating():
			return nil, 0, refusal("A calibration of the camera was started.")
		case j.o.Now().Sub(begun) > max(readWithin, readPictures*j.o.Stale):
			return nil, 0, refusal("The camera's pictures come too slowly.")
		}
		f, err := j.next(ctx)
		if err != nil {
			return nil, 0, err
		}
		times, levels = append(times, f.Captured.Sub(shown)), append(levels, level(f.Gray))
		if !f.Captured.Before(from) {
			m.add(f.Gray)
		}
	}
	first, last := levels[0], levels[len(levels)-1]
	k := slices.IndexFunc(levels, func(v float64) bool { return math.Abs(v-first) > math.Abs(last-first)/2 })
	return &m, times[max(k, 0)], nil
}

// next returns the next picture of the camera.
func (j *job) next(ctx context.Context) (vision.Frame, error) {
	ctx, cancel := context.WithTimeout(ctx, max(frameLost, j.o.Stale))
	defer cancel()
	f, err := j.o.Frames.Next(ctx, j.seq)
	if errors.Is(err, context.DeadlineExceeded) {
		return f, refusal("The camera gives no pictures.")
	}
	if err != nil {
		return f, refusal("The camera gives no pictures: " + err.Error() + ".")
	}
	j.seq = f.Seq
	if w, h := f.Size(); w != j.table.Width || h != j.table.Height {
		return f, refusal("The camera's pictures have another size than its calibration.")
	}
	return f, nil
}

// unread returns the error for an unreadable pattern.
func (j *job) unread(most, least, shown int) error {
	if most == 0 {
		return refusal("The camera reads no tag of the pattern. Does the projector light the mat, in focus and not mirrored? Dim the room's " +
			"lamps a little, and set it up again.")
	}
	return refusal(fmt.Sprintf("The camera reads %d of the pattern's %d tags on the mat; at least %d are needed. Let the projector cover the "+
		"mat, clear it, and set it up again.", most, shown, least))
}

func (j *job) say(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text = text
}

// show makes the page show something, and returns when the page reported it.
func (j *job) show(ctx context.Context, c command) (time.Time, error) {
	j.mu.Lock()
	seq := j.tell(c)
	j.mu.Unlock()
	for begun := j.o.Now(); ; {
		j.mu.Lock()
		s := j.screen
		j.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return s.shownAt, refusal(cancelledText)
		case s.width != j.width || s.height != j.height:
			return s.shownAt, refusal("The page in front of the projector has changed its size.")
		case s.shown == seq:
			return s.shownAt, nil
		case j.o.Now().Sub(begun) > showWithin:
			return s.shownAt, refusal("The page in front of the projector does not answer.")
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}
