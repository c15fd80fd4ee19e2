package pipeline

import (
	"reflect"

	"sightline/engine"
)

// Measure is the stage that measures the ships that stand.
type Measure struct {
	off bool // another camera's pipeline measures

	measurer engine.Measurer
	scene    engine.Scene // the last measured scene
	problem  string       // why measuring it failed; "": it did not
}

// Update measures a scene. The result is empty if that fails.
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

// measured reports whether a scene is the last measured one.
func (m *Measure) measured(s *engine.Scene) bool { return reflect.DeepEqual(*s, m.scene) }
