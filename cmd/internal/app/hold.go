package app

import (
	"fmt"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
)

// What is let go is kept in memory for a while: one press too many must not destroy what a
// judge was called for.
const (
	releasedFor  = time.Hour
	releasedMost = 2 // of what nobody waits for; a picture of 4K in grey and colour is 33 MB
	awaitedMost  = 4 // of what players let go though a judge was to look at it
)

// askersMost is how many names of who asked for a judge are remembered.
const askersMost = 8

// released is what was held and let go.
type released struct {
	shown   *shown
	view    live.Released
	awaited bool // a judge was called for it, and has neither ruled on it nor let it go
}

// Hold holds the picture, the ships and the answers as they are, or lets them go. Only what
// can be answered can be held. What it refuses is a *web.Refusal.
func (w *Watcher) Hold(r live.HoldRequest) (err error) {
	w.update(func() {
		switch {
		case !r.Hold:
			if err = r.Refused(w.holding(), w.ruling); err == nil {
				err = w.tooMuchAwaited(r)
			}
			if err == nil {
				w.letGo(r)
			}
		case r.Held != 0:
			err = w.takeUpAgain(r)
		case w.held == nil && w.view(w.o.Now()).Health.Code == live.OK:
			w.held = w.shown()
			w.held.hold = w.newHold("")
			w.held.hold.Judge = r.Judge
			who := "someone releases"
			if r.Judge || r.AskJudge {
				who = "the judge releases"
			}
			w.note("The answers are held: they are those of this picture until " + who + " them.")
		}
	})
	return err
}

// holding returns what is held; nil: nothing. The caller holds mu.
func (w *Watcher) holding() *live.Held {
	if w.held == nil {
		return nil
	}
	return w.held.hold
}

// tooMuchAwaited refuses a player who lets go what waits for a judge while so much of it is
// kept already that some had to be dropped. The caller holds mu.
func (w *Watcher) tooMuchAwaited(r live.HoldRequest) error {
	if r.Judge || !w.holding().Guarded(w.ruling) {
		return nil
	}
	n, until := 0, time.Time{}
	for _, k := range w.released {
		if k.awaited {
			n++
			until = k.view.LetGo.Add(releasedFor) // the oldest comes last
		}
	}
	if n < awaitedMost {
		return nil
	}
	return &live.Refusal{Kind: live.ErrOvertaken, Text: fmt.Sprintf("%d held pictures were released within the hour though a judge was to look at them, and no more can be kept. "+
		"A judge lets this one go; a player can after %s.", n, until.Local().Format("15:04:05"))}
}

// letGo goes on live, and keeps what was held for a judge who wants it after all. The
// caller holds mu.
func (w *Watcher) letGo(r live.HoldRequest) {
	h := w.holding()
	if w.held == nil {
		return
	}
	if h != nil {
		guarded := h.Guarded(w.ruling)
		view := live.Released{Number: h.Number, At: h.At, Asked: h.Asked, From: w.choice.From, To: w.choice.To, LetGo: w.o.Now(), By: r.By}
		// Who holds something else again has not let this go.
		w.released = append([]released{{w.held, view, guarded && (!r.Judge || r.Hold)}}, w.released...)
		if guarded {
			w.note("What was held for a judge was released by " + r.By + ". The judge's page can hold it again for an hour.")
		}
	}
	w.held = nil
	w.dropOldest(false, releasedMost)
	// Only a judge who holds one thing again in place of another gets here.
	if gone := w.dropOldest(true, awaitedMost); gone != nil {
		w.note("What was held for a judge at " + gone.view.At.Local().Format("15:04:05") + " is no longer kept: there is no room for more.")
	}
}

// dropOldest drops the oldest of what is kept, awaited or not, when there are more than
// most, and returns it. The caller holds mu.
func (w *Watcher) dropOldest(awaited bool, most int) *released {
	n, oldest := 0, 0
	for i := range w.released {
		if w.released[i].awaited == awaited {
			n, oldest = n+1, i
		}
	}
	if n <= most {
		return nil
	}
	gone := w.released[oldest]
	w.released = slices.Delete(w.released, oldest, oldest+1)
	return &gone
}

// takeUpAgain holds again what was let go, under its own number: nothing about it has
// changed. The caller holds mu.
func (w *Watcher) takeUpAgain(r live.HoldRequest) error {
	if h := w.holding(); h != nil && h.Number == r.Held {
		return nil
	}
	i := slices.IndexFunc(w.released, func(k released) bool { return k.view.Number == r.Held })
	if i < 0 {
		return live.ErrNotKept
	}
	again := w.released[i]
	w.released = slices.Delete(w.released, i, i+1)
	w.letGo(r)
	w.held = again.shown
	w.choice.From, w.choice.To, w.chosen = again.view.From, again.view.To, true
	w.note("The judge holds again what was held at " + again.view.At.Local().Format("15:04:05") + ".")
	return nil
}

// releasedViews lists what can be held again. The caller holds mu.
func (w *Watcher) releasedViews() (out []live.Released) {
	for _, r := range w.released {
		out = append(out, r.view)
	}
	return out
}

// newHold names what is held from now on and remembers what it was seen through. The
// numbers rise from one program to the next, so that a page that was open before a
// restart cannot mean what is held now. The caller holds mu.
func (w *Watcher) newHold(asked string) *live.Held {
	at := w.o.Now()
	w.holds = max(w.holds+1, uint64(max(0, at.UnixMilli())))
	now := w.shown()
	h := &live.Held{
		Number: w.holds, At: at, Asked: asked, Register: w.register(), Source: w.o.Frames.Status().Source,
		Frame: now.frame, Region: now.region, Located: now.last, Tracks: now.tracks, Sigmas: w.o.Rules.Sigmas, Result: now.result,
		ObstaclesWatched: now.last.Obstacles != nil && now.last.Obstacles.Unseen == "",
	}
	if table, err := calibration.ParseTableFile(w.registered.File); err == nil {
		h.Table = table
	} else {
		w.o.Log.Warn("the held picture's calibration cannot be read; nothing can be ruled on it", "err", err)
	}
	return h
}

// renamed returns what is held under another number: something about it has changed, and
// whoever looked at it before has not seen that. The caller holds mu.
func (w *Watcher) renamed(h *live.Held, now *shown) *live.Held {
	if h == nil {
		return nil
	}
	next := *h
	w.holds = max(w.holds+1, uint64(max(0, w.o.Now().UnixMilli())))
	next.Number, next.Located, next.Result = w.holds, now.last, now.result
	return &next
}

// asked remembers who asked for a judge, the first before the others, and reports whether
// that is news. "": nobody said. The caller holds mu.
func (w *Watcher) asked(who string) bool {
	if w.held == nil || w.held.hold == nil {
		return true
	}
	held, hold := *w.held, *w.held.hold
	switch {
	case slices.Contains(hold.Askers, who), who == "" && hold.Asked != "", len(hold.Askers) == askersMost:
		return false
	case who != "":
		hold.Askers = append(slices.Clone(hold.Askers), who)
	}
	hold.Asked = live.AskedText(hold.Askers)
	held.hold = &hold
	w.held = &held
	return true
}
