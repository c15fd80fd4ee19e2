package app

import (
	"sightline/calibration"
	"sightline/cmd/internal/web"
)

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
