package exposure

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// actedCamera is a camera as an exposure controller sees it: paper of some brightness, a tone
// curve with a shoulder, controls that take effect late, round, end and may be disobeyed.
type actedCamera struct {
	light    float64 // of the paper at exposure 100 and gain 0
	delay    int     // looks until a change shows
	step     int32   // exposure is rounded down to it
	auto     bool    // an automatic works against every change, within some looks
	readOnly bool
	dead     bool // the driver takes values and does nothing

	controls []Control
	queue    []float64 // factors of the light to come
	drift    float64   // of the automatic
	sets     int
}

func (c *actedCamera) factor() float64 {
	f := float64(c.controls[0].Value) / 100
	if len(c.controls) > 1 {
		f *= math.Pow(2, float64(c.controls[1].Value)/32) // not linear
	}
	if c.dead {
		f = 1
	}
	return f
}

func (c *actedCamera) look() Light {
	for len(c.queue) <= c.delay {
		c.queue = append(c.queue, c.factor())
	}
	f := c.queue[0]
	c.queue = append(c.queue[1:], c.factor())
	if c.auto { // back to where it likes it, light 1.2
		c.drift += 0.5 * (math.Log(1.2/(c.light*f)) - c.drift)
		f *= math.Exp(c.drift)
	}
	v := c.light * f
	if v > 0.7 {
		v = 1 - 0.3*math.Exp(-(v-0.7)/0.3)
	}
	level := 255 * 12.92 * v
	if v > 0.0031308 {
		level = 255 * (1.055*math.Pow(v, 1/2.4) - 0.055)
	}
	return Light{Edges: 32, Paper: math.Round(level)}
}

func (c *actedCamera) set(e *Controller, change *Change) {
	c.sets++
	if c.readOnly {
		e.Took(*change, 0, errors.New("it can only be read"))
		return
	}
	k := &c.controls[change.Control]
	k.Value = change.Value
	if c.step > 0 && change.Control == 0 {
		k.Value = max(k.Value-k.Value%c.step, c.step)
	}
	e.Took(*change, k.Value, nil)
}

// act lets a controller work for some looks and returns the last level.
func (c *actedCamera) act(e *Controller, looks int, busy bool) float64 {
	var l Light
	for range looks {
		l = c.look()
		if change := e.See(l, busy); change != nil {
			c.set(e, change)
		}
	}
	return l.Paper
}

func exposureTime(value int32) Control {
	return Control{Name: "exposure", Min: 1, Max: 2000, Step: 1, Value: value, Linear: true}
}

func gainControl(value int32) Control {
	return Control{Name: "gain", Min: 0, Max: 128, Step: 1, Value: value}
}

func TestExposureFindsTheGoalAndHoldsIt(t *testing.T) {
	for name, c := range map[string]*actedCamera{
		"far too bright":        {light: 6, controls: []Control{exposureTime(100)}},
		"too bright":            {light: 1.2, controls: []Control{exposureTime(100)}},
		"too dark":              {light: 0.05, controls: []Control{exposureTime(100)}},
		"late":                  {light: 3, delay: 3, controls: []Control{exposureTime(100)}},
		"coarse":                {light: 2, step: 16, controls: []Control{exposureTime(100)}},
		"gain for the rest":     {light: 0.01, controls: []Control{exposureTime(100), gainControl(0)}},
		"gain first down":       {light: 1, controls: []Control{exposureTime(100), gainControl(100)}},
		"gain for coarse steps": {light: 0.45, step: 100, controls: []Control{exposureTime(200), gainControl(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewController(c.controls)
			c.controls = append([]Control(nil), c.controls...)
			level := c.act(e, 60, false)
			assert.Equal(t, Held, e.State().Code, e.State().Says)
			assert.InDelta(t, Goal, level, 22, e.State().Says)
			assert.LessOrEqual(t, c.sets, 14)
			sets := c.sets
			c.act(e, 100, false)
			assert.Equal(t, sets, c.sets, "held")
		})
	}
}

func TestExposureLeavesAloneWhatIsGood(t *testing.T) {
	c := &actedCamera{light: 0.6, controls: []Control{exposureTime(100)}}
	e := NewController(c.controls)
	assert.Equal(t, Waiting, e.State().Code)
	c.act(e, 5, false)
	assert.Equal(t, Held, e.State().Code)
	// A cloud, and somebody's shadow: what stays in the wider band, or passes, changes nothing.
	c.light, c.queue = 0.35, nil
	c.act(e, 30, false)
	c.light, c.queue = 1.6, nil
	c.act(e, 2, false)
	c.light, c.queue = 0.6, nil
	c.act(e, 30, false)
	assert.Zero(t, c.sets)
	// Another lamp is no cloud.
	c.light, c.queue = 2, nil
	level := c.act(e, 40, false)
	assert.NotZero(t, c.sets)
	assert.InDelta(t, Goal, level, 20)
}

func TestExposureWaitsWhileSomebodyRestsOnThePicture(t *testing.T) {
	c := &actedCamera{light: 3, controls: []Control{exposureTime(100)}}
	e := NewController(c.controls)
	c.act(e, 30, true)
	assert.Zero(t, c.sets)
	assert.Equal(t, Paused, e.State().Code)
	level := c.act(e, 30, false)
	assert.Equal(t, Held, e.State().Code)
	assert.InDelta(t, Goal, level, 20)
}

func TestOneChangeAtATimeAndEachIsWaitedFor(t *testing.T) {
	c := &actedCamera{light: 4, delay: 4, controls: []Control{exposureTime(100), gainControl(64)}}
	e := NewController(c.controls)
	since := 10
	for range 60 {
		change := e.See(c.look(), false)
		if change == nil {
			since++
			continue
		}
		assert.GreaterOrEqual(t, since, leastSettle-1)
		since = 0
		assert.Nil(t, e.See(c.look(), false), "before it is known what came of the change")
		c.set(e, change)
	}
	assert.Equal(t, Held, e.State().Code)
}

func TestWhatTheCameraDoesNotLetBeDoneIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		camera actedCamera
		code   Code
		says   string
	}{
		"no control": {actedCamera{light: 3}, Failed, "no control"},
		"read-only": {actedCamera{light: 3, readOnly: true, controls: []Control{exposureTime(100), gainControl(9)}}, Failed,
			"only be read"},
		"disobeyed":     {actedCamera{light: 0.1, dead: true, controls: []Control{exposureTime(100)}}, Failed, "did not follow"},
		"automatic":     {actedCamera{light: 1.2, auto: true, controls: []Control{exposureTime(100)}}, Failed, "automatic"},
		"a dark room":   {actedCamera{light: 0.001, controls: []Control{exposureTime(100)}}, Limit, "more light"},
		"a searchlight": {actedCamera{light: 500, controls: []Control{exposureTime(100)}}, Limit, "dim the light"},
		"very few steps": {actedCamera{light: 0.45, step: 100,
			controls: []Control{{Name: "exposure", Min: 100, Max: 400, Step: 100, Value: 200, Linear: true}}}, Held, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewController(c.camera.controls)
			c.camera.controls = append([]Control(nil), c.camera.controls...)
			for len(c.camera.controls) == 0 {
				c.camera.controls = []Control{exposureTime(100)}
				assert.Nil(t, e.See(c.camera.look(), false))
			}
			c.camera.act(e, 100, false)
			assert.Equal(t, c.code, e.State().Code, e.State().Says)
			assert.Contains(t, e.State().Says, c.says)
			sets := c.camera.sets
			c.camera.act(e, 50, false)
			assert.LessOrEqual(t, c.camera.sets, sets, "it does not hunt")
		})
	}
}

func TestExposureWithoutMarkersDoesNothing(t *testing.T) {
	e := NewController([]Control{exposureTime(100)})
	for range 20 {
		assert.Nil(t, e.See(Light{Paper: 255}, false))
	}
	assert.Equal(t, Waiting, e.State().Code)
	require.NotEmpty(t, e.State().Says)
}
