package game

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
	releasedMost = 2 // of what no judge is waiting for; a picture of 4K in grey and colour is 33 MB
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
// can be answered can be held. What it refuses is a *live.Refusal.
func (g *Game) Hold(r live.HoldRequest) (err error) {
	g.update(func() {
		switch {
		case r.Restart:
			err = g.beforeRestart()
		case r.Hold && g.restarting():
			err = live.ErrRestarting
		case !r.Hold:
			if err = r.Check(g.holding(), g.ruling); err == nil {
				err = g.tooMuchAwaited(r)
			}
			if err == nil {
				g.letGo(r)
			}
		case r.Held != 0:
			err = g.takeUpAgain(r)
		case g.held == nil && g.view(g.o.Now()).Health.Code == live.OK:
			g.held = g.shown()
			g.held.hold = g.newHold("")
			g.held.hold.Judge = r.Judge
			who := "someone releases"
			if r.Judge || r.AskJudge {
				who = "the judge releases"
			}
			g.note("The answers are held: they are those of this picture until " + who + " them.")
		}
	})
	return err
}

// beforeRestart lets nothing be held until the restart, unless it would lose what a judge is to
// look at. The caller holds mu.
func (g *Game) beforeRestart() error {
	if g.held != nil {
		return live.ErrHeld
	}
	if n, _, last := g.awaited(); n > 0 {
		return &live.Refusal{Kind: live.ErrOvertaken, Text: fmt.Sprintf("A picture that was held for a judge was released by a player: a "+
			"judge can hold it again until %s, and a restart would lose it.", last.Local().Format("15:04"))}
	}
	g.restart = g.o.Now().Add(live.RestartWithin)
	g.note("The program is about to be restarted: nothing can be held until then.")
	return nil
}

// restarting reports whether someone is about to restart the program. The caller holds mu.
func (g *Game) restarting() bool { return g.o.Now().Before(g.restart) }

// holding returns what is held; nil: nothing. The caller holds mu.
func (g *Game) holding() *live.Held {
	if g.held == nil {
		return nil
	}
	return g.held.hold
}

// tooMuchAwaited refuses a player who lets go what waits for a judge while so much of it is
// kept already that some had to be dropped. The caller holds mu.
func (g *Game) tooMuchAwaited(r live.HoldRequest) error {
	if r.Judge || !g.holding().AwaitsJudge(g.ruling) {
		return nil
	}
	n, until, _ := g.awaited()
	if n < awaitedMost {
		return nil
	}
	return &live.Refusal{Kind: live.ErrOvertaken, Text: fmt.Sprintf("%d held pictures were released within the hour though a judge "+
		"was to look at them, and no more can be kept. "+
		"A judge lets this one go; a player can after %s.", n, until.Local().Format("15:04:05"))}
}

// awaited counts what was released though a judge was to look at it, and says until when the
// first and the last of it are kept. The caller holds mu.
func (g *Game) awaited() (n int, first, last time.Time) {
	for _, k := range g.released { // the newest comes first
		if until := k.view.ReleasedAt.Add(releasedFor); k.awaited && g.o.Now().Before(until) {
			if n++; n == 1 {
				last = until
			}
			first = until
		}
	}
	return n, first, last
}

// letGo continues live, and keeps what was held for a judge who wants it after all. The
// caller holds mu.
func (g *Game) letGo(r live.HoldRequest) {
	h := g.holding()
	if g.held == nil {
		return
	}
	if h != nil {
		guarded := h.AwaitsJudge(g.ruling)
		view := live.Released{Number: h.Number, At: h.At, AskedBy: h.AskedBy, From: g.choice.From, To: g.choice.To, ReleasedAt: g.o.Now(), By: r.By}
		// Who holds something else again has not let this go.
		g.released = append([]released{{g.held, view, guarded && (!r.Judge || r.Hold)}}, g.released...)
		if guarded {
			g.note("What was held for a judge was released by " + r.By + ". The judge's page can hold it again for an hour.")
		}
	}
	g.held = nil
	g.dropOldest(false, releasedMost)
	// Only a judge who holds one thing again in place of another gets here.
	if gone := g.dropOldest(true, awaitedMost); gone != nil {
		g.note("What was held for a judge at " + gone.view.At.Local().Format("15:04:05") + " is no longer kept: there is no room for more.")
	}
}

// dropOldest drops the oldest of what is kept, awaited or not, when there are more than
// most, and returns it. The caller holds mu.
func (g *Game) dropOldest(awaited bool, most int) *released {
	n, oldest := 0, 0
	for i := range g.released {
		if g.released[i].awaited == awaited {
			n, oldest = n+1, i
		}
	}
	if n <= most {
		return nil
	}
	gone := g.released[oldest]
	g.released = slices.Delete(g.released, oldest, oldest+1)
	return &gone
}

// takeUpAgain holds again what was let go, under its own number: nothing about it has
// changed. The caller holds mu.
func (g *Game) takeUpAgain(r live.HoldRequest) error {
	if h := g.holding(); h != nil && h.Number == r.Held {
		return nil
	}
	i := slices.IndexFunc(g.released, func(k released) bool { return k.view.Number == r.Held })
	if i < 0 {
		return live.ErrNotKept
	}
	again := g.released[i]
	g.released = slices.Delete(g.released, i, i+1)
	g.letGo(r)
	g.held = again.shown
	g.choice.From, g.choice.To, g.chosen = again.view.From, again.view.To, true
	g.note("The judge holds again what was held at " + again.view.At.Local().Format("15:04:05") + ".")
	return nil
}

// releasedViews lists what can be held again. The caller holds mu.
func (g *Game) releasedViews() (out []live.Released) {
	for _, r := range g.released {
		out = append(out, r.view)
	}
	return out
}

// newHold names what is held from now on and remembers what it was seen through. The
// numbers rise from one program to the next, so that a page that was open before a
// restart cannot mean what is held now. The caller holds mu.
func (g *Game) newHold(asked string) *live.Held {
	at := g.o.Now()
	g.holds = max(g.holds+1, uint64(max(0, at.UnixMilli())))
	now := g.shown()
	h := &live.Held{
		Number: g.holds, At: at, AskedBy: asked, Register: g.seen.Register, Source: g.o.Camera().Source,
		Frame: now.Frame, Region: now.Region, Located: now.Located, Tracks: now.Tracks, Sigmas: g.o.Rules.Sigmas, Touch: g.o.Rules.Touch,
		Play:             g.play,
		Result:           now.Result,
		ObstaclesWatched: now.Located.Obstacles != nil && now.Located.Obstacles.Unseen == "",
	}
	if table, err := calibration.ParseTableFile(g.seen.Register.File); err == nil {
		h.Table = table
	} else {
		g.o.Log.Warn("the held picture's calibration cannot be read; nothing can be ruled on it", "err", err)
	}
	return h
}

// renamed returns what is held under another number: something about it has changed, and
// whoever looked at it before has not seen that. The caller holds mu.
func (g *Game) renamed(h *live.Held, now *shown) *live.Held {
	if h == nil {
		return nil
	}
	next := *h
	g.holds = max(g.holds+1, uint64(max(0, g.o.Now().UnixMilli())))
	next.Number, next.Located, next.Result = g.holds, now.Located, now.Result
	return &next
}

// asked remembers who asked for a judge, the first before the others, and reports whether
// that is news. "": no one said. The caller holds mu.
func (g *Game) asked(who string) bool {
	if g.held == nil || g.held.hold == nil {
		return true
	}
	held, hold := *g.held, *g.held.hold
	switch {
	case slices.Contains(hold.Askers, who), who == "" && hold.AskedBy != "", len(hold.Askers) == askersMost:
		return false
	case who != "":
		hold.Askers = append(slices.Clone(hold.Askers), who)
	}
	hold.AskedBy = live.AskedText(hold.Askers)
	held.hold = &hold
	g.held = &held
	return true
}
