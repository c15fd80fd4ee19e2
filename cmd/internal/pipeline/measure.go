package pipeline

import (
	"reflect"

	"sightline/engine"
)

// Measure is the stage that measures the ships that stand.
type Measure struct {
	off bool // another camera's pipeline measures

	measurer engine.Measurer
	scene    engine.Scene // that was measured last
	problem  string       // why it could not be measured; "": it could
}

// Update measures a scene. The result is empty when that cannot be done.
func (m *Measure) Update(s *engine.Scene, o engine.Options) engine.Result {
	m.scene, m.problem = *s, ""
	if m.off {
		return engine.Result{}
	}
	result, err := m.measurer.Measure(s, o)
	if err != nil {
		m.problem = err.Error()
	}
	return result
}

// measured reports whether the scene is the one that was measured last.
func (m *Measure) measured(s *engine.Scene) bool { return reflect.DeepEqual(*s, m.scene) }
