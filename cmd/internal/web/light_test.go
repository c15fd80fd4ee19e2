package web

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/vision/exposure"
)

func TestTheLightIsSaidWithItsFigures(t *testing.T) {
	state := live.State{Light: live.Light{Light: exposure.Light{Edges: 32, Edge: 3.4567, EdgeMM: 3.5, Smear: 1.01, White: 213, Paper: 221,
		Black: 60,
		Glare: 0.02, Where: "far left"}, Advice: []string{"focus"},
		Exposure: exposure.State{Code: exposure.Held, Says: "It is held.", Change: "gain 7"}}}
	text, err := json.Marshal(stateOf(&state).Camera.Light)
	require.NoError(t, err)
	assert.JSONEq(t, `{"advice":["focus"],"edges":32,"edge_px":3.457,"edge_mm":3.5,"smear":1.01,"white_level":213,"paper_level":221,"black_level":60,
		"noise_level":0,"burnt_markers":0,"glare":0.02,"glare_at":"far left","flicker":0,
		"exposure":{"code":"held","says":"It is held.","last_change":"gain 7"}}`, string(text))
	text, err = json.Marshal(stateOf(&live.State{}).Camera.Light.Advice)
	require.NoError(t, err)
	assert.Equal(t, "[]", string(text), "a list, even when there is nothing to say")
}
