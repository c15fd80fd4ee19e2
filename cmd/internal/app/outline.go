package app

import (
	"path/filepath"
	"time"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/outline"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/web"
)

// outlines returns the routes of the page on which people mark bases by hand.
func (p *program) outlines(c Config, hub *live.Hub, g *game.Game, table *play.Table, o Options) []web.Route {
	return outline.New(outline.Options{
		Hub: hub, Layout: c.Table.Layout, Markers: p.markers(o.Log), Hold: g.HoldMarked, Now: time.Now, Log: o.Log,
		File: filepath.Join(c.dataDir(), outline.File), Judges: table.Judges,
		Rules: func() outline.Rules {
			r := g.Rules()
			return outline.Rules{Edition: r.Edition, Profile: r.Profile, Sigmas: r.Sigmas}
		},
	}).Routes()
}
