package web_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/verify"
	"sightline/cmd/internal/live"
	"sightline/engine/scenefile"
)

func TestTheCalibrationInUseGoesWithEveryAnswer(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	r, _ := get(t, s.URL+"/api/table.json")
	assert.Equal(t, http.StatusNotFound, r.StatusCode, "there is none yet")
	f.change(func(v *live.State) {
		v.Register = live.Register{
			From: "table.json", Hash: "aa11", BaseHash: "bb22", Integrity: "changed by hand since it was made", Lens: "lens.json, 12345678, intact",
			Times: 3, At: time.Unix(1700000000, 0), File: []byte("{\"version\": 1}\n"),
			Watch: live.Watch{State: "covered", Text: "6 of 8 markers in place", Seen: 6, Of: 8, Missing: []int{1}, Strays: []int{5},
				Blind: 0.25},
			Verified: &verify.AnswerJSON{At: time.Unix(1700000000, 0).UTC(), Outcome: "pass", WorstError: 0.21, WorstSigmas: 1.3, Places: 5,
				Covered: 0.9, Holds: true},
		}
	})
	r, body := get(t, s.URL+"/api/table.json")
	assert.Equal(t, http.StatusOK, r.StatusCode)
	assert.JSONEq(t, `{"version": 1}`, body)
	const verified = `"verified":{"at":"2023-11-14T22:13:20Z","outcome":"pass","worst_error_mm":0.21,"worst_sigmas":1.3,"places":5,"covered":0.9,"holds":true,"why":""}`
	for _, path := range []string{"/api/scene", "/api/measure"} {
		r, body = get(t, s.URL+path)
		assert.Contains(t, body, verified, path)
		assert.Equal(t, "aa11", r.Header.Get("Sightline-Calibration"), path)
		assert.Contains(t, r.Header.Get("Sightline-Calibration-Integrity"), "changed by hand", path)
	}
	_, body = get(t, s.URL+"/api/state")
	var state struct {
		Calibration json.RawMessage `json:"calibration"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &state))
	assert.JSONEq(t, `{"from": "table.json", "rms_px": 0, "markers": [], "at_unix_ms": 1700000000000, "registered_times": 3,
		"hash": "aa11", "base_hash": "bb22", "integrity": "changed by hand since it was made", "lens": "lens.json, 12345678, intact",
		"watch": {"state": "covered", "text": "6 of 8 markers in place", "markers_in_place": 6, "markers": 8, "not_seen": [1], "moved": [5], "unnoticed_sigma_mm": 0.25},`+verified+`}`,
		string(state.Calibration))
}

func TestWhileTheCameraIsNotKnownToStandWhereItDidNothingIsGivenOut(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	for _, code := range []live.Code{live.Moved, live.MarkersLost, live.LensChanged, live.Dark, live.Frozen} {
		f.change(func(state *live.State) { state.Health = live.Health{Code: code, Title: "Title", Detail: "why"} })
		for _, path := range []string{"/api/scene", "/api/measure"} {
			r, body := get(t, s.URL+path)
			assert.Equal(t, http.StatusServiceUnavailable, r.StatusCode, "%s %s", code, path)
			assert.Contains(t, body, "why")
		}
	}
}

func TestASceneOfTheServerIsASceneFileWithItsVerification(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	_, body := get(t, s.URL+"/api/scene")
	assert.Contains(t, body, `"verified":null`)
	_, list, err := scenefile.Parse([]byte(body))
	require.NoError(t, err)
	assert.False(t, list)
}
