package game

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
	windowFor = 60 * time.Second // how long a declaration is open; declaring again restarts it
	objectFor = 15 * time.Second // how long anyone may object to a proposal
)

var agreements = map[live.Measuring]string{
	live.MeasuringFree:    "everyone may measure at any time",
	live.MeasuringEdition: "measuring is allowed when the rules allow it",
	live.MeasuringJudge:   "only the judge measures",
}

// Agree changes the agreement on measuring. A judge's word counts at once. At a table without
// judges players propose, and the proposal comes into force if no one objects in time. The empty
// agreement objects to the proposal.
func (g *Game) Agree(to live.Measuring, judge bool) {
	g.update(func() {
		now := g.policy.Measuring
		switch p := g.policy.Proposal; {
		case !judge && g.policy.JudgesOnly: // the page said so already
		case to == "" && p != nil:
			g.policy.Proposal = nil
			g.note("Someone objects: " + agreements[now] + ", as before.")
		case to == "" || to == now:
			g.policy.Proposal = nil
		case judge:
			g.setAgreement(to)
		case p == nil || p.To != to:
			g.policy.Proposal = &live.Proposal{To: to, Until: g.o.Now().Add(objectFor)}
			g.note("It is proposed that " + agreements[to] + ". Anybody may object.")
		}
	})
}

// setAgreement puts an agreement into force. The caller holds mu.
func (g *Game) setAgreement(to live.Measuring) {
	g.policy.Measuring, g.policy.Window, g.policy.Proposal = to, nil, nil
	g.note("From now on " + agreements[to] + ".")
	g.storeAgreement(to)
}

// Declare opens a window for measuring in place of the open one; nil closes it. The declared ship
// becomes the chosen attacker, and its target, if it has one, the chosen target.
func (g *Game) Declare(d *live.Declaration) {
	g.update(func() {
		switch {
		case d == nil && g.policy.Window == nil:
		case d == nil:
			g.note("Done: " + g.policy.Window.Text() + ".")
			g.policy.Window = nil
		case g.policy.Measuring == live.MeasuringEdition:
			now := g.o.Now()
			g.policy.Window = &live.Window{Declaration: *d, Opened: now, Until: now.Add(windowFor)}
			g.note("Declared: " + d.Text() + ".")
			g.chooseDeclared(d)
		}
	})
}

// chooseDeclared chooses a declaration's ships. The caller holds mu.
func (g *Game) chooseDeclared(d *live.Declaration) {
	if d.Doing == live.DoBlast { // has no ship
		return
	}
	g.chosen = true
	if g.choice.To == d.Ship {
		g.choice.To = g.choice.From
	}
	g.choice.From = d.Ship
	g.choice.To = cmp.Or(d.Target, g.choice.To)
	if g.choice.To == d.Ship {
		g.choice.To = ""
	}
}

// expire ends what has run out of time. The caller holds mu.
func (g *Game) expire(now time.Time) {
	g.released = slices.DeleteFunc(g.released, func(r released) bool { return now.Sub(r.view.ReleasedAt) >= releasedFor })
	if o := g.policy.Window; o != nil && !now.Before(o.Until) {
		g.policy.Window = nil
		g.note(fmt.Sprintf("%s: %.0f s are over; declare again to go on.", o.Text(), windowFor.Seconds()))
	}
	if p := g.policy.Proposal; p != nil && !now.Before(p.Until) {
		g.setAgreement(p.To)
	}
}

// closeWindow closes the window after a change of the edition: it was declared under another one.
// The caller holds mu.
func (g *Game) closeWindow(r engine.Rules) {
	if g.policy.Window != nil {
		g.policy.Window = nil
		g.note(fmt.Sprintf("Under the rules of %v what is being done must be declared again.", r))
	}
}
