package app

import (
	"slices"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/web"
)

// What is let go is kept in memory for a while: one press too many must not destroy what a
// judge was called for.
const (
	releasedFor  = time.Hour
	releasedMost = 4 // a picture of 4K in grey and colour is 33 MB
)

// released is what was held and let go.
type released struct {
	shown *shown
	view  web.ReleasedView
}

// Hold holds the picture, the ships and the answers as they are, or lets them go. Only what
// can be answered can be held. What it refuses is a *web.RuleProblem.
func (w *Watcher) Hold(r web.HoldRequest) (err error) {
	w.update(func() {
		switch {
		case !r.Hold:
			if err = r.Refused(w.holding(), w.ruling); err == nil {
				w.letGo(r.By)
			}
		case r.Held != 0:
			err = w.takeUpAgain(r)
		case w.held == nil && w.view(w.o.Now()).Health.Code == web.OK:
			w.held = w.shown()
			w.held.hold = w.newHold("")
			w.held.hold.Judge = r.Judge
			w.note("The answers are held: they are those of this picture until somebody lets them go.")
		}
	})
	return err
}

// holding returns what is held; nil: nothing. The caller holds mu.
func (w *Watcher) holding() *web.HeldView {
	if w.held == nil {
		return nil
	}
	return w.held.hold
}

// letGo goes on live, and keeps what was held for a judge who wants it after all. Of too
// much, what no judge was called for goes first, then the oldest. The caller holds mu.
func (w *Watcher) letGo(by string) {
	h := w.holding()
	if w.held == nil {
		return
	}
	if h != nil {
		view := web.ReleasedView{Number: h.Number, At: h.At, Asked: h.Asked, From: w.choice.From, To: w.choice.To, LetGo: w.o.Now(), By: by}
		w.released = append([]released{{w.held, view}}, w.released...)
		if h.Guarded(w.ruling) {
			w.note("What was held for a judge was let go by " + by + ". The judge's page can hold it again for an hour.")
		}
	}
	w.held = nil
	if len(w.released) > releasedMost {
		gone := len(w.released) - 1
		for i := gone; i > 0; i-- {
			if !w.released[i].shown.hold.Guarded(w.ruling) {
				gone = i
				break
			}
		}
		w.released = slices.Delete(w.released, gone, gone+1)
	}
}

// takeUpAgain holds again what was let go, under its own number: nothing about it has
// changed. The caller holds mu.
func (w *Watcher) takeUpAgain(r web.HoldRequest) error {
	if h := w.holding(); h != nil && h.Number == r.Held {
		return nil
	}
	i := slices.IndexFunc(w.released, func(k released) bool { return k.view.Number == r.Held })
	if i < 0 {
		return web.ErrNotKept
	}
	again := w.released[i]
	w.released = slices.Delete(w.released, i, i+1)
	w.letGo(r.By)
	w.held = again.shown
	w.choice.From, w.choice.To, w.chosen = again.view.From, again.view.To, true
	w.note("The judge holds again what was held at " + again.view.At.Local().Format("15:04:05") + ".")
	return nil
}

// releasedViews lists what can be held again. The caller holds mu.
func (w *Watcher) releasedViews() (out []web.ReleasedView) {
	for _, r := range w.released {
		out = append(out, r.view)
	}
	return out
}

// newHold names what is held from now on and remembers what it was seen through. The
// numbers rise from one program to the next, so that a page that was open before a
// restart cannot mean what is held now. The caller holds mu.
func (w *Watcher) newHold(asked string) *web.HeldView {
	at := w.o.Now()
	w.holds = max(w.holds+1, uint64(max(0, at.UnixMilli())))
	now := w.shown()
	h := &web.HeldView{
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
func (w *Watcher) renamed(h *web.HeldView, now *shown) *web.HeldView {
	if h == nil {
		return nil
	}
	next := *h
	w.holds = max(w.holds+1, uint64(max(0, w.o.Now().UnixMilli())))
	next.Number, next.Located, next.Result = w.holds, now.last, now.result
	return &next
}

// asked remembers who asked for a judge. The caller holds mu.
func (w *Watcher) asked(who string) {
	if w.held == nil || w.held.hold == nil {
		return
	}
	held, hold := *w.held, *w.held.hold
	hold.Asked = who
	held.hold = &hold
	w.held = &held
}
