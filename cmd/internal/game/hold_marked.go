package game

import (
	"sightline/cmd/internal/live"
)

// HoldMarked holds a picture in which a person marked ships, in place of what the camera shows: a photograph needs no
// camera. It returns the number of what is held. What a judge was asked for is not put aside for it: then it returns a
// *live.Refusal.
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
		g.letGo(live.HoldRequest{Hold: true, By: "who marked ships in a picture"})
		h.At = g.o.Now()
		g.holds = max(g.holds+1, uint64(max(0, h.At.UnixMilli())))
		h.Number, number = g.holds, g.holds
		seen := g.seen
		seen.Frame, seen.Region, seen.Register = h.Frame, h.Region, h.Register
		seen.Mat, seen.Located, seen.Tracks, seen.Result = h.Table.Layout, h.Located, h.Tracks, h.Result
		g.held = &shown{Seen: seen, hold: &h}
		g.choice, g.chosen = c, true
		g.note("Ships were marked by hand in " + h.Source + ": the answers are those of that picture until someone releases them.")
	})
	return number, err
}
