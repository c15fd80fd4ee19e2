package app

import (
	"fmt"
	"time"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/pipeline"
	"sightline/vision/capture"
	"sightline/vision/locate"
	"sightline/vision/obstacle"
)

// secondaryCameras builds a feed, a pipeline and a game for each further camera. A camera watches
// obstacles if its own picture of the empty mat is configured: seen from there, lamps shine
// differently.
func (p *program) secondaryCameras(c Config, searches *obstacle.Searches, o Options) (out []pipeline.SecondaryCamera, err error) {
	for _, further := range c.Cameras {
		if err := checkSource(further.Source); err != nil {
			return nil, fmt.Errorf("cameras.source: %s: %w", further.Name, err)
		}
		own := c
		own.Camera = further.Camera
		own.Table.Calibration, own.Table.Record, own.Table.EmptyMat = further.Calibration, "", further.EmptyMat
		if further.EmptyMat == "" {
			own.Table.Catalogue = ""
		}
		source := newOpener(further.Camera, o.Log, nil)
		options, known, err := pipelineParts(own, source, locate.Options{Searches: searches, Further: true})
		if err != nil {
			return nil, fmt.Errorf("cameras: %s: %w", further.Name, err)
		}
		log := o.Log.With("camera", further.Name)
		feed := capture.NewFeed(source.open, capture.FeedOptions{Name: further.Source, StallAfter: o.StaleAfter, OnChange: logCamera(log)})
		hub := newHub()
		g := game.New(game.Options{
			Name: further.Name + ", answers", Camera: feed.Status, Mat: options.Layout, Rules: c.Rules, Hub: hub,
			PanelName: func() string { return "" }, StaleAfter: o.StaleAfter, Now: time.Now, Log: log,
		})
		options.Name, options.Frames, options.Markers, options.Game, options.Log = further.Name, p.over.Gate(feed), p.markers(log), g, log
		frames := pipeline.New(options)
		p.tasks = append(p.tasks, feedTask{feed}, g, frames)
		p.relearn = append(p.relearn, func() {
			known.renew()
			frames.Relearn()
		})
		out = append(out, pipeline.SecondaryCamera{Name: further.Name, View: hub.Newest, Place: frames.PlaceCard})
	}
	return out, nil
}
