package app

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle"
)

// entries returns the entries of the catalogue in use.
func (k *learnt) entries() []catalogue.Entry {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.catalogue.value == nil {
		return nil
	}
	return k.catalogue.value.Entries
}

// saveMat saves a learnt mat and uses it.
func (k *learnt) saveMat(mat *obstacle.Background) error {
	var picture bytes.Buffer
	if err := mat.WritePNG(&picture); err != nil {
		return err
	}
	if err := replaceFile(k.matFile, picture.Bytes()); err != nil {
		return err
	}
	k.renew()
	return nil
}

// Learning implements live.Learning.
func (l *Learner) Learning() live.LearnState {
	l.mu.Lock()
	long := l.now().Sub(l.asked) >= learnWatch
	l.asked = l.now()
	l.mu.Unlock()
	newest := l.hub.Newest()
	if long { // no page asked for them, so the recorded reasons are out of date
		l.look(nil)
	}
	l.mu.Lock()
	s := live.LearnState{
		Blockers: slices.Clone(l.way), MatBlockers: slices.Clone(l.matWay), Lying: l.lying(&newest), Paper: l.paper,
		Doing: l.task.do, Frames: l.task.frames, Wanted: learnFrames,
		Last: l.task.last, Ended: l.task.ended, Done: l.task.done, Problem: l.task.problem, Trace: l.trace, Twins: l.twins,
	}
	l.mu.Unlock()
	k := l.known
	k.mu.Lock()
	defer k.mu.Unlock()
	s.Mat = live.LearntFile{File: k.matFile, Version: k.mat.version, At: k.mat.at, Problem: k.mat.problem}
	if k.mat.value != nil {
		s.MatWidth, s.MatHeight = k.mat.value.Size()
	}
	s.Catalogue = live.LearntFile{File: k.catalogueFile, Version: k.catalogue.version, At: k.catalogue.at, Problem: k.catalogue.problem}
	if k.catalogue.value != nil {
		s.Entries = k.catalogue.value.Entries
	}
	s.Unusable = k.unusable
	return s
}

// lying returns what lies on the mat by what was learnt before, or lay there when the mat was to be learnt last, in sentences.
func (l *Learner) lying(v *live.State) []string {
	out := lyingOn(v)
	if len(l.imprint) > 0 && !slices.Contains(out, recognised(l.imprint)) {
		out = append(out, recognised(l.imprint))
	}
	return out
}

// Traced implements live.Learning.
func (l *Learner) Traced() (live.State, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.view, l.trace != nil
}

// Learn implements live.Learning. Long tasks begin; short ones are done when it returns.
func (l *Learner) Learn(in live.LearnIntent) error {
	switch in.Do {
	case live.LearnMat, live.LearnTrace:
		return l.want(in)
	case live.LearnForget:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.trace, l.saved, l.view = nil, nil, live.State{}
		return nil
	}
	if l.hub.Newest().Held {
		return fmt.Errorf("%w: %s", live.ErrLearnConflict, sentence.Of(live.ErrReleaseFirst))
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	if l.known.renew() { // a command may have changed the file a moment ago
		l.told()
		l.compareSoon()
	}
	now := l.Learning()
	if in.Version != now.Catalogue.Version {
		return fmt.Errorf("%w: someone has changed the catalogue since you looked at it. It is shown as it is now: look again, and repeat what "+
			"you wanted", live.ErrLearnConflict)
	}
	if now.Catalogue.Problem != "" && !(in.Do == live.LearnImport && in.Whole) {
		return fmt.Errorf("%w: the catalogue's file is damaged (%s). Import a catalogue that replaces everything, or repair the file",
			live.ErrLearnConflict, now.Catalogue.Problem)
	}
	next, err := l.changed(in, now.Entries)
	if err != nil {
		return err
	}
	doc, err := json.Marshal(next)
	if err != nil {
		return err
	}
	// Check that the document can be read back: a rounded outline may cross itself.
	if _, err := catalogue.Parse(bytes.NewReader(doc)); err != nil {
		return fmt.Errorf("the catalogue could not be read again: %w", err)
	}
	if err := replaceFile(l.known.catalogueFile, append(doc, '\n')); err != nil {
		l.log.Warn("obstacles: not saved", "err", err)
		return fmt.Errorf("%w: %w", live.ErrLearnFile, err)
	}
	l.known.renew()
	l.told()
	l.remember(in)
	l.compareSoon()
	l.log.Info("obstacles: the catalogue was changed", "do", in.Do, "entries", len(next.Entries))
	return nil
}

// want begins a long task.
func (l *Learner) want(in live.LearnIntent) error {
	now := l.Learning()
	v := l.hub.Newest()
	way := inTheWay(&v)
	if in.Do == live.LearnMat {
		if in.Version != now.Mat.Version {
			return fmt.Errorf("%w: someone has learnt the mat since you looked", live.ErrLearnConflict)
		}
		way = append(way, glareInTheWay(&v)...)
		if !in.Bare {
			way = append(way, lyingOn(&v)...)
		}
		if err := canReplace(l.known.matFile); err != nil { // report this before taking ten pictures
			return fmt.Errorf("%w: %w", live.ErrLearnFile, err)
		}
	}
	if len(way) > 0 {
		return fmt.Errorf("%w: %s", live.ErrLearnConflict, way[0])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.task.do != "" {
		return fmt.Errorf("%w: pictures are already being taken", live.ErrLearnConflict)
	}
	l.task = learnTask{do: in.Do, wanted: true, top: in.Top, bare: in.Bare}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}

// changed returns the catalogue with a change applied.
func (l *Learner) changed(in live.LearnIntent, entries []catalogue.Entry) (*catalogue.Catalogue, error) {
	c := &catalogue.Catalogue{Entries: slices.Clone(entries)}
	switch in.Do {
	case live.LearnSave:
		return c, l.saveTokens(in, c)
	case live.LearnChange:
		return c, changeEntry(in, c)
	case live.LearnDelete:
		if c.Entry(in.Name) == nil {
			return nil, fmt.Errorf("the catalogue has no %q", in.Name)
		}
		c.Entries = slices.DeleteFunc(c.Entries, func(e catalogue.Entry) bool { return e.Name == in.Name })
		return c, nil
	case live.LearnImport:
		return c, importEntries(in, c)
	}
	return nil, fmt.Errorf("there is no %q", in.Do)
}

// saveTokens puts traced tokens into a catalogue.
func (l *Learner) saveTokens(in live.LearnIntent, c *catalogue.Catalogue) error {
	l.mu.Lock()
	trace := l.trace
	l.mu.Unlock()
	switch {
	case trace == nil || trace.Number != in.Trace:
		return fmt.Errorf("%w: the tokens were traced again since you looked: look at them again", live.ErrLearnConflict)
	case len(in.Tokens) == 0:
		return fmt.Errorf("tick at least one token to save")
	}
	taken := map[string]bool{}
	for _, t := range in.Tokens {
		if t.Number < 1 || t.Number > len(trace.Tokens) || trace.Tokens[t.Number-1].Problem != "" {
			return fmt.Errorf("number %d was not traced", t.Number)
		}
		if taken[t.Name] {
			return fmt.Errorf("two tokens are named %q: give each a name of its own", t.Name)
		}
		taken[t.Name] = true
		e, err := catalogue.NewEntry(t.Name, t.Kind, trace.Tokens[t.Number-1].Outline)
		if err != nil {
			return fmt.Errorf("number %d: %w", t.Number, err)
		}
		e.Top = trace.Top
		if err := put(c, e, t.Replace); err != nil {
			return err
		}
	}
	return nil
}

// remember records the names under which the trace's tokens were saved.
func (l *Learner) remember(in live.LearnIntent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.Do != live.LearnSave || l.trace == nil || l.trace.Number != in.Trace {
		return
	}
	if l.saved == nil {
		l.saved = map[int]string{}
	}
	for _, t := range in.Tokens {
		l.saved[t.Number] = t.Name
	}
}

// put adds an entry to a catalogue, or replaces the entry of the same name.
func put(c *catalogue.Catalogue, e catalogue.Entry, replace bool) error {
	there := c.Entry(e.Name)
	switch {
	case there == nil:
		c.Entries = append(c.Entries, e)
	case !replace:
		return fmt.Errorf("%w: the catalogue already has %q: choose another name, or say that it is to be replaced", live.ErrLearnConflict,
			e.Name)
	default:
		*there = e
	}
	return nil
}

// changeEntry changes an entry's name or kind.
func changeEntry(in live.LearnIntent, c *catalogue.Catalogue) error {
	e := c.Entry(in.Name)
	if e == nil {
		return fmt.Errorf("the catalogue has no %q", in.Name)
	}
	to := cmp.Or(in.To, in.Name)
	if to != in.Name && c.Entry(to) != nil {
		return fmt.Errorf("%w: the catalogue already has %q: choose another name", live.ErrLearnConflict, to)
	}
	checked, err := catalogue.NewEntry(to, cmp.Or(in.Kind, e.Kind), e.Outline)
	if err != nil {
		return err
	}
	e.Name, e.Kind = checked.Name, checked.Kind
	return nil
}

// importEntries adds the entries of another catalogue, or replaces all entries with them. It
// refuses names that exist unless they are to be replaced.
func importEntries(in live.LearnIntent, c *catalogue.Catalogue) error {
	if len(in.Catalogue.Entries) == 0 {
		return fmt.Errorf("the file contains no outline: nothing was imported")
	}
	if in.Whole {
		c.Entries = in.Catalogue.Entries
		return nil
	}
	var same []string
	for _, e := range in.Catalogue.Entries {
		if c.Entry(e.Name) != nil && !in.Replace {
			same = append(same, e.Name)
			continue
		}
		if err := put(c, e, true); err != nil {
			return err
		}
	}
	if len(same) > 0 {
		return fmt.Errorf("%w: the catalogue already has %s: replace them, or replace everything", live.ErrLearnConflict,
			strings.Join(same[:min(len(same), 8)], ", "))
	}
	return nil
}

// sentenceOf turns an error into a sentence for people.
func sentenceOf(err error) string {
	text := strings.TrimPrefix(err.Error(), "trace: ")
	return sentence.Of(errors.New(strings.TrimPrefix(text, "obstacle: learn the mat: ")))
}
