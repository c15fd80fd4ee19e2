package app

import (
	"cmp"
	"path/filepath"
	"time"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/cmd/internal/projector"
)

// projectorFile stores the projector's set-up.
const projectorFile = "projector.json"

// projected builds the control of a projector over the mat. It returns the main camera's pictures
// without those that may show projected lines.
func (p *program) projected(c Config, hub *live.Hub, frames pipeline.Frames, o Options) pipeline.Frames {
	p.over = projector.New(projector.Options{
		Hub: hub, Frames: frames, Markers: p.markers(o.Log), Path: filepath.Join(c.dataDir(), projectorFile),
		Stale: cmp.Or(o.StaleAfter, game.StaleAfter), Now: time.Now, Log: o.Log,
	})
	return p.over.Gate(frames)
}
