package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/scenefile"
)

// TestUnseenObstaclesAreNotCalledAbsent: a scene from a camera that lists no
// obstacles has not looked for them; one with an empty list has, and found none.
func TestUnseenObstaclesAreNotCalledAbsent(t *testing.T) {
	const ships = `"ships":[{"id":"A1","base":"small","x_mm":400,"y_mm":100,"heading_deg":0%s},{"id":"B1","base":"small",
 "x_mm":400,"y_mm":300,"heading_deg":180}]`
	verdict := func(doc string) string {
		scenes, _, err := scenefile.Parse([]byte(doc))
		require.NoError(t, err, doc)
		again, err := scenefile.Marshal(scenes[0])
		require.NoError(t, err)
		back, _, err := scenefile.Parse(again)
		require.NoError(t, err, string(again))
		assert.Equal(t, scenes[0].ObstaclesUnseen, back[0].ObstaclesUnseen, "there and back: %s", again)
		p, err := engine.MeasurePair(&back[0], "A1", "B1", engine.Options{})
		require.NoError(t, err)
		for _, a := range p.Arcs {
			if a.Arc == engine.ArcFront {
				require.NotNil(t, a.Attack)
				return a.Attack.Obstruction.Verdict
			}
		}
		return ""
	}
	byHand := `{"version":1,"rules":"2.5",` + replace(ships, "") + `}`
	seen := `{"version":1,"rules":"2.5",` + replace(ships, `,"seen":"both","visible":0.9`) + `}`
	watched := `{"version":1,"rules":"2.5",` + replace(ships, `,"seen":"both","visible":0.9`) + `,"obstacles":[]}`
	assert.Equal(t, "never", verdict(byHand), "written by hand without obstacles")
	assert.Equal(t, "no_view", verdict(seen), "from a camera that lists no obstacles")
	assert.Equal(t, "never", verdict(watched), "from a camera that looked and found none")
}

func replace(format, seen string) string { return strings.Replace(format, "%s", seen, 1) }
