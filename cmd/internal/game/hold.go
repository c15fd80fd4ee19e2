package game

import (
	"fmt"
	"slices"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
)

// Released pictures stay in memory for a while: one wrong press must not destroy what a judge
// was called for.
const (
	releasedFor  = time.Hour
	releasedMost = 2 // pictures that no judge waits for; a 4K picture in grey and colour is 33 MB
	awaitedMost  = 4 // pictures that players released although a judge was to see them
)

// askersMost is how many names of people who called a judge are kept.
const askersMost = 8

// released is a released picture.
type released struct {
	shown   *shown
	view    live.Released
	awaited bool // a judge was called for it, and has neither ruled on it nor released it
}

// Hold holds the picture, the ships and the answers, or releases them. Only what can be answered
// can be held. An error is a *live.Refusal.
func (g *Game) Hold(r live.HoldRequest) (err error) {
	g.update(func() {
		switch {
		case r.Restart:
			err = g.announceRestart()
		case r.Hold && g.restarting():
			err = live.ErrRestarting
		case !r.Hold:
			if err = r.Check(g.holding(), g.ruling); err == nil {
				err = g.checkRoom(r)
			}
			if err == nil {
				g.release(r)
			}
		case r.Held != 0:
			err = g.holdAgain(r)
		case g.held == nil && g.view(g.o.Now()).Health.Code == live.OK:
			g.held = g.shown()
			g.held.hold = g.newHold()
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

// announceRestart forbids holding until the restart. It refuses if the restart would lose a
// picture that a judge is to see. The caller holds mu.
func (g *Game) announceRestart() error {
	if g.held != nil {
		return live.ErrHeld
	}
	if n, _, last := g.awaited(); n > 0 {
		return &live.Refusal{Kind: live.ErrOvertaken, Text: fmt.Sprintf("A picture that was held for a judge was released by a player: a "+
			"judge can hold it again until %s, and a restart may lose it.", last.Local().Format("15:04"))}
	}
	g.restart = g.o.Now().Add(live.RestartWithin)
	g.note("The program is about to be restarted: nothing can be held until then.")
	return nil
}

// restarting reports whether a restart was announced. The caller holds mu.
func (g *Game) restarting() bool { return g.o.Now().Before(g.restart) }

// holding returns the held picture; nil: none. The caller holds mu.
func (g *Game) holding() *live.Held {
	if g.held == nil {
		return nil
	}
	return g.held.hold
}

// checkRoom refuses a player's release of a picture that awaits a judge if another such picture
// would have to be dropped. The caller holds mu.
func (g *Game) checkRoom(r live.HoldRequest) error {
	if r.Judge || !g.holding().AwaitsJudge(g.ruling) {
		return nil
	}
	n, until, _ := g.awaited()
	if n < awaitedMost {
		return nil
	}
	return &live.Refusal{Kind: live.ErrOvertaken, Text: fmt.Sprintf("%d held pictures that a judge was to see were released within the "+
		"hour, and no more can be kept. A judge can release this one; a player can after %s.", n, until.Local().Format("15:04:05"))}
}

// awaited counts the released pictures that a judge was to see, and returns when the first and
// the last of them expire. The caller holds mu.
func (g *Game) awaited() (n int, first, last time.Time) {
	for _, k := range g.released { // newest first
		if until := k.view.ReleasedAt.Add(releasedFor); k.awaited && g.o.Now().Before(until) {
			if n++; n == 1 {
				last = until
			}
			first = until
		}
	}
	return n, first, last
}

// release returns to live, and keeps the held picture for a judge who wants it after all. The
// caller holds mu.
func (g *Game) release(r live.HoldRequest) {
	h := g.holding()
	if g.held == nil {
		return
	}
	if h != nil {
		guarded := h.AwaitsJudge(g.ruling)
		view := live.Released{
			Number: h.Number, At: h.At, AskedBy: h.AskedBy, From: g.choice.From, To: g.choice.To, ReleasedAt: g.o.Now(), By: r.By,
		}
		// A judge who holds another picture again has not released this one.
		g.released = append([]released{{g.held, view, guarded && (!r.Judge || r.Hold)}}, g.released...)
		if guarded {
			g.note("What was held for a judge was released by " + r.By + ". The judge's page can hold it again for an hour.")
		}
	}
	g.held = nil
	g.dropHeld()
	g.dropOldest(false, releasedMost)
	// Only a judge who holds one picture again in place of another gets here.
	if gone := g.dropOldest(true, awaitedMost); gone != nil {
		g.note("What was held for a judge at " + gone.view.At.Local().Format("15:04:05") + " is no longer kept: there is no room for more.")
	}
}

// dropOldest drops the oldest released picture, of those awaited or not, if there are more than
// most, and returns it; nil: none. The caller holds mu.
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

// holdAgain holds a released picture again, under its old number, since nothing about it has
// changed. The caller holds mu.
func (g *Game) holdAgain(r live.HoldRequest) error {
	if h := g.holding(); h != nil && h.Number == r.Held {
		return nil
	}
	i := slices.IndexFunc(g.released, func(k released) bool { return k.view.Number == r.Held })
	if i < 0 {
		return live.ErrNotKept
	}
	again := g.released[i]
	g.released = slices.Delete(g.released, i, i+1)
	g.release(r)
	g.held = again.shown
	g.choice.From, g.choice.To, g.chosen = again.view.From, again.view.To, true
	g.note("The judge holds again what was held at " + again.view.At.Local().Format("15:04:05") + ".")
	return nil
}

// releasedViews lists the pictures that can be held again. The caller holds mu.
func (g *Game) releasedViews() (out []live.Released) {
	for _, r := range g.released {
		out = append(out, r.view)
	}
	return out
}

// nextHold returns a new number for a held picture. Numbers also rise across restarts, so that a
// page that was open before cannot mean what is held now. The caller holds mu.
func (g *Game) nextHold(at time.Time) uint64 {
	g.holds = max(g.holds+1, uint64(max(0, at.UnixMilli())))
	return g.holds
}

// newHold returns what is shown now, with its calibration, as a held picture. The caller holds
// mu.
func (g *Game) newHold() *live.Held {
	at, now := g.o.Now(), g.shown()
	h := &live.Held{
		Number: g.nextHold(at), At: at, Register: g.seen.Register, Source: g.o.Camera().Source,
		Frame: now.Frame, Region: now.Region, Located: now.Located, Tracks: now.Tracks, Sigmas: g.o.Rules.Sigmas, Touch: g.o.Rules.Touch,
		Play:             g.play,
		Result:           now.Result,
		ObstaclesWatched: now.Located.Obstacles != nil && now.Located.Obstacles.Unseen == "",
	}
	if g.o.Learnt != nil {
		h.Learnt = g.o.Learnt()
	}
	if table, err := calibration.ParseTableFile(g.seen.Register.File); err == nil {
		h.Table = table
	} else {
		g.o.Log.Warn("the held picture's calibration cannot be read; nothing can be ruled on it", "err", err)
	}
	return h
}

// renumbered returns a held picture whose measurement changed, with a new number: a judge who saw
// the old one has not seen the change. The caller holds mu.
func (g *Game) renumbered(h *live.Held, now *shown) *live.Held {
	if h == nil {
		return nil
	}
	next := *h
	next.Number, next.Located, next.Result = g.nextHold(g.o.Now()), now.Located, now.Result
	return &next
}

// addAsker records who called a judge, in order, and reports whether that is news. who may be
// "". The caller holds mu.
func (g *Game) addAsker(who string) bool {
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

// HoldMarked holds a picture in which a person marked ships, in place of the camera's: a photograph needs no camera. It
// returns the held picture's number. It refuses, with a *live.Refusal, while a picture that awaits a judge is held.
func (g *Game) HoldMarked(h live.Held, c live.Choice) (number uint64, err error) {
	g.update(func() {
		if g.restarting() {
			err = live.ErrRestarting
			return
		}
		if now := g.holding(); now.AwaitsJudge(g.ruling) {
			release := live.HoldRequest{}
			if err = release.Check(now, g.ruling); err != nil {
				return
			}
		}
		g.release(live.HoldRequest{Hold: true, By: "who marked ships in a picture"})
		h.At = g.o.Now()
		number = g.nextHold(h.At)
		h.Number = number
		seen := g.seen
		seen.Frame, seen.Region, seen.Register = h.Frame, h.Region, h.Register
		seen.Mat, seen.Located, seen.Tracks, seen.Result = h.Table.Layout, h.Located, h.Tracks, h.Result
		g.held = &shown{Seen: seen, hold: &h}
		g.choice, g.chosen = c, true
		g.note("Ships were marked by hand in " + h.Source + ": the answers are those of that picture until someone releases them.")
	})
	return number, err
}
