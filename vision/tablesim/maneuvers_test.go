package tablesim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/move"
)

// Every move of the scripted game is a maneuver that is executed in full, clear of other
// ships, obstacles and the mat's edges.
func TestTheScriptedManeuversAreLegal(t *testing.T) {
	scene, _ := scriptAt(0)
	for i, k := range scriptManeuvers {
		m, err := move.ParseManeuver(k[1])
		require.NoError(t, err)
		got, err := move.Execute(&scene, k[0], m, engine.Options{})
		require.NoError(t, err)
		assert.Equal(t, engine.Yes, got.InFull, "%d: %v %v", i, k, got.Undecided)
		assert.Equal(t, engine.No, got.Flees, "%d: %v", i, k)
		assert.Empty(t, got.FirstOverlapped, "%d: %v", i, k)
		for _, h := range got.Obstacles {
			assert.Equal(t, [2]engine.Outcome{engine.No, engine.No}, [2]engine.Outcome{h.Template, h.Base}, "%d: %v meets %s", i, k, h.ID)
		}
		for n := range scene.Ships {
			if scene.Ships[n].ID == k[0] {
				scene.Ships[n].Pose = got.Final
				assert.Equal(t, fullGame.moves[i], scriptMove{k[0], got.Final}, "%d: the script puts the ship there", i)
			}
		}
	}
}
