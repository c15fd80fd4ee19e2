package app

import (
	"path/filepath"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/outline"
	"sightline/cmd/internal/play"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision"
	"sightline/vision/locate"
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
		Read: readCodes,
	}).Routes()
}

// readCodes returns the ships whose printed codes a picture shows.
func readCodes(t calibration.Table, f vision.Frame) ([]engine.Ship, error) {
	l, err := locate.New(t, locate.Options{})
	if err != nil {
		return nil, err
	}
	located, err := l.Locate(f)
	return located.Scene.Ships, err
}
