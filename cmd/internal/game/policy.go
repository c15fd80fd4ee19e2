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
	windowFor = 60 * time.Second // how long a declaration lets measure; declaring again restarts it
	objectFor = 15 * time.Second // how long anybody may object to another agreement
)

var agreements = map[live.Measuring]string{
	live.MeasuringFree:    "everyone may measure at any time",
	live.MeasuringEdition: "measuring is allowed when the rules open it",
	live.MeasuringJudge:   "only the judge measures",
}

// Agree changes what the players agreed on about measuring. A judge's word holds at
// once. Where no judge is to be had, players propose: it holds when no one has objected
// for a while. The empty agreement objects to what is proposed.
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
			g.agreed(to)
		case p == nil || p.To != to:
			g.policy.Proposal = &live.Proposal{To: to, Until: g.o.Now().Add(objectFor)}
			g.note("It is proposed that " + agreements[to] + ". Anybody may object.")
		}
	})
}

// agreed puts an agreement in force. The caller holds mu.
func (g *Game) agreed(to live.Measuring) {
	g.policy.Measuring, g.policy.Window, g.policy.Proposal = to, nil, nil
	g.note("From now on " + agreements[to] + ".")
	g.keepAgreement(to)
}

// Declare opens a window for measuring, in place of the one that is open; nil closes it.
// What it is about becomes the chosen pair's attacker, and target where it names one.
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
			g.choosing(d)
		}
	})
}

// choosing makes a declaration's ships the chosen ones. The caller holds mu.
func (g *Game) choosing(d *live.Declaration) {
	if d.Doing == live.DoBlast { // which no ship does
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

// settle ends what has run out of time. The caller holds mu.
func (g *Game) settle(now time.Time) {
	g.released = slices.DeleteFunc(g.released, func(r released) bool { return now.Sub(r.view.ReleasedAt) >= releasedFor })
	if o := g.policy.Window; o != nil && !now.Before(o.Until) {
		g.policy.Window = nil
		g.note(fmt.Sprintf("%s: %.0f s are over; declare again to go on.", o.Text(), windowFor.Seconds()))
	}
	if p := g.policy.Proposal; p != nil && !now.Before(p.Until) {
		g.agreed(p.To)
	}
}

// ruled tells the agreement that the edition has changed: what was declared, was
// declared under another one. The caller holds mu.
func (g *Game) ruled(r engine.Rules) {
	if g.policy.Window != nil {
		g.policy.Window = nil
		g.note(fmt.Sprintf("Under the rules of %v what is being done must be declared again.", r))
	}
}
