package web_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/setup"
	"sightline/cmd/internal/web"
	"sightline/engine"
)

func TestCalibratingInAGameTakesAConfirmationThatNamesWhatIsLost(t *testing.T) {
	machine := setup.New(setup.Options{Lens: nil})
	hub := live.NewCalibrationHub()
	f, s := everything(t, func(o *web.Options) {
		o.Calibration = hub
		o.Calibrate = func(in setup.Intent) error {
			_, err := machine.Do(in)
			hub.Publish(live.CalibrationState{State: machine.State()})
			return err
		}
	})
	busy := func() bool { now := machine.State(); return now.Busy() }
	f.choose(live.Choice{From: "A1", To: "B1", Arc: engine.ArcFront})
	f.change(func(state *live.State) {
		state.Policy.Measuring, state.Policy.Window = live.MeasuringEdition, &live.Window{Declaration: live.Declaration{Doing: live.DoAttack,
			Ship: "A1"}}
	})
	for who, from := range map[string]struct{ peer, cookie string }{
		"a player": {network, s.Cookie(access.Player, "Anna", time.Now())}, "a judge": {network, s.Cookie(access.Judge, "Jo", time.Now())},
		"the machine": {loopback, ""},
	} {
		do := func(body string) (int, string, string) {
			answer := ask(s, http.MethodPost, "/api/calibration", body, from.peer, from.cookie)
			return answer.Code, answer.Body.String(), answer.Header().Get("Sightline-Confirm")
		}
		status, text, _ := do(`{"do":"start"}`)
		assert.Equal(t, http.StatusNoContent, status, "the sheets may be printed: %s", text)
		for _, body := range []string{`{"do":"go","step":"lens"}`, `{"do":"go","step":"lens","confirm":false}`} {
			status, text, confirm := do(body)
			assert.Equal(t, http.StatusConflict, status, who)
			assert.Equal(t, "true", confirm, who)
			for _, lost := range []string{"6 ships", "from A1 to B1", "A1 attacks", "everyone"} {
				assert.Contains(t, text, lost, who)
			}
			assert.False(t, busy(), "%s: the answers go on", who)
		}
		ask(s, http.MethodPost, "/api/ask-judge", `{"by":"player 2"}`, loopback, "")
		for _, body := range []string{`{"do":"go","step":"lens"}`, `{"do":"go","step":"lens","confirm":true}`} {
			status, text, confirm := do(body)
			assert.Equal(t, http.StatusConflict, status, who)
			assert.Empty(t, confirm, "no confirmation helps")
			assert.Contains(t, text, "Player 2 called a judge", who)
			assert.False(t, busy(), who)
		}
		ask(s, http.MethodPost, "/api/freeze", `{"hold":false}`, loopback, "")
		ask(s, http.MethodPost, "/api/freeze", `{"hold":true}`, loopback, "")
		status, text, _ = do(`{"do":"go","step":"lens","confirm":true}`)
		assert.Equal(t, http.StatusConflict, status, who)
		assert.Contains(t, text, "picture is held", who)
		ask(s, http.MethodPost, "/api/freeze", `{"hold":false}`, loopback, "")

		status, text, _ = do(`{"do":"go","step":"lens","confirm":true}`)
		assert.Equal(t, http.StatusNoContent, status, "%s: %s", who, text)
		assert.True(t, busy(), who)
		status, text, _ = do(`{"do":"go","step":"print"}`)
		assert.Equal(t, http.StatusNoContent, status, "%s: %s", who, text)
		do(`{"do":"cancel"}`)
	}
	f.change(func(state *live.State) { state.Located.Scene.Ships = nil })
	ask(s, http.MethodPost, "/api/calibration", `{"do":"start"}`, loopback, "")
	assert.Equal(t, http.StatusNoContent, ask(s, http.MethodPost, "/api/calibration", `{"do":"go","step":"lens"}`, loopback, "").Code,
		"an empty table has nothing to lose")
	assert.True(t, busy())
}
