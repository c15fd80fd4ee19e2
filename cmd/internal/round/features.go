package round

import (
	"fmt"
	"time"

	"sightline/engine"
)

// feature is a scenario feature in its place, and since when.
type feature struct {
	token engine.Token
	since time.Time
}

// A feature was moved when it lies further from its place than two searches for it differ: five
// standard deviations, and at least what a person sees.
const movedLeast = 5.0 // mm

// features reports scenario features that were moved. They must not be (G219), except supply
// caches, which are towed.
func (w *Watch) features(g *Game, s Sight) (out []Event) {
	if g.Rules != engine.Rules25 || g.Scenario == NoScenario || g.Scenario == Salvage {
		return nil
	}
	placing := g.Round == 1 && g.Phase == Planning
	for i := range s.Scene.Markers {
		m := &s.Scene.Markers[i]
		if !engine.IsScenarioFeature(m.Kind) {
			continue
		}
		lay, known := w.lay[m.ID]
		if !known || placing {
			w.lay[m.ID] = feature{*m, s.At}
			continue
		}
		far := m.Pose.Sub(lay.token.Pose.Point).Norm()
		if far <= max(movedLeast, elsewhereSigmas*float64(lay.token.Sigma+m.Sigma)) {
			delete(w.shift, m.ID)
			continue
		}
		to, waits := w.shift[m.ID]
		if !waits || m.Pose.Sub(to.token.Pose.Point).Norm() > movedLeast {
			w.shift[m.ID] = feature{*m, s.At}
			continue
		}
		if s.At.Sub(to.since) < RestFor {
			continue
		}
		delete(w.shift, m.ID)
		w.lay[m.ID] = feature{*m, s.At}
		out = append(out, Event{At: s.At, Kind: Said, By: ByCamera, Round: g.Round, Phase: g.Phase,
			Text: fmt.Sprintf("%s lies %.1f mm from where it lay: scenario features are not moved (2.5 G219)", m.ID, far)})
	}
	return out
}
