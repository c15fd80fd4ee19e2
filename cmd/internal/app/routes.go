package app

import (
	"slices"
	"time"

	"sightline/cmd/internal/director"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/status"
	"sightline/cmd/internal/web"
)

// routes returns the addresses that packages other than web serve.
func (p *program) routes(c Config, hub *live.Hub, g *game.Game, table *play.Table, o Options) []web.Route {
	page := status.Page{Hub: hub, Tail: o.tail, Version: o.Version, Started: time.Now(), Now: time.Now}
	stream := director.Page{Direct: g.Direct}
	return slices.Concat(page.Routes(), stream.Routes(), table.Routes(), p.over.Routes(), p.outlines(c, hub, g, table, o), p.shown(c, hub, o))
}
