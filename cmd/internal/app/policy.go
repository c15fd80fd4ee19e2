package app

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sightline/cmd/internal/live"
	"sightline/engine"
)

// The times of the agreement on measuring.
const (
	windowFor = 60 * time.Second // how long a declaration lets measure; declaring again begins anew
	objectFor = 15 * time.Second // how long anybody may object to another agreement
)

var agreements = map[live.Measuring]string{
	live.MeasuringFree:    "everyone may measure at any time",
	live.MeasuringEdition: "measuring is allowed when the rules open it",
	live.MeasuringJudge:   "only the judge measures",
}

// Agree changes what the players agreed on about measuring. A judge's word holds at
// once. Where no judge is to be had, players propose: it holds when nobody has objected
// for a while. The empty agreement objects to what is proposed.
func (w *Watcher) Agree(to live.Measuring, judge bool) {
	w.update(func() {
		now := w.policy.Measuring
		switch p := w.policy.Proposal; {
		case !judge && w.policy.JudgesOnly: // the page said so already
		case to == "" && p != nil:
			w.policy.Proposal = nil
			w.note("Someone objects: " + agreements[now] + ", as before.")
		case to == "" || to == now:
			w.policy.Proposal = nil
		case judge:
			w.agreed(to)
		case p == nil || p.To != to:
			w.policy.Proposal = &live.Proposal{To: to, Until: w.o.Now().Add(objectFor)}
			w.note("It is proposed that " + agreements[to] + ". Anybody may object.")
		}
	})
}

// agreed puts an agreement in force. The caller holds mu.
func (w *Watcher) agreed(to live.Measuring) {
	w.policy.Measuring, w.policy.Window, w.policy.Proposal = to, nil, nil
	w.note("From now on " + agreements[to] + ".")
	w.keepAgreement(to)
}

// Declare opens a window for measuring, in place of the one that is open; nil closes it.
// What it is about becomes the chosen pair's attacker, and target where it names one.
func (w *Watcher) Declare(d *live.Declaration) {
	w.update(func() {
		switch {
		case d == nil && w.policy.Window == nil:
		case d == nil:
			w.note("Done: " + w.policy.Window.Text() + ".")
			w.policy.Window = nil
		case w.policy.Measuring == live.MeasuringEdition:
			now := w.o.Now()
			w.policy.Window = &live.Window{Declaration: *d, Opened: now, Until: now.Add(windowFor)}
			w.note("Declared: " + d.Text() + ".")
			w.choosing(d)
		}
	})
}

// choosing makes a declaration's ships the chosen ones. The caller holds mu.
func (w *Watcher) choosing(d *live.Declaration) {
	if d.Doing == live.DoBlast { // which no ship does
		return
	}
	w.chosen = true
	if w.choice.To == d.Ship {
		w.choice.To = w.choice.From
	}
	w.choice.From = d.Ship
	w.choice.To = cmp.Or(d.Target, w.choice.To)
	if w.choice.To == d.Ship {
		w.choice.To = ""
	}
}

// settle ends what has run out of time. The caller holds mu.
func (w *Watcher) settle(now time.Time) {
	w.released = slices.DeleteFunc(w.released, func(r released) bool { return now.Sub(r.view.LetGo) >= releasedFor })
	if o := w.policy.Window; o != nil && !now.Before(o.Until) {
		w.policy.Window = nil
		w.note(fmt.Sprintf("%s: %.0f s are over; declare again to go on.", o.Text(), windowFor.Seconds()))
	}
	if p := w.policy.Proposal; p != nil && !now.Before(p.Until) {
		w.agreed(p.To)
	}
}

// ruled tells the agreement that the edition has changed: what was declared, was
// declared under another one. The caller holds mu.
func (w *Watcher) ruled(r engine.Rules) {
	if w.policy.Window != nil {
		w.policy.Window = nil
		w.note(fmt.Sprintf("Under the rules of %v what is being done must be declared again.", r))
	}
}
