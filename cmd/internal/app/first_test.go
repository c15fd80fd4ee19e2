package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/app"
)

// firstPage is what a test reads of /api/first.
type firstPage struct {
	Steps []struct{ ID, State, Now string }
	Found []struct {
		Source string `json:"source"`
		InUse  bool   `json:"in_use"`
	}
}

func (r *running) first(t *testing.T) (p firstPage) {
	t.Helper()
	answer, err := http.Get("http://" + r.address + "/api/first")
	if err != nil {
		return p // it begins again just now
	}
	defer answer.Body.Close()
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&p))
	return p
}

// A program that was started without a camera says so and offers the list; what is chosen is
// opened at once, at the same address, and again at the next start.
func TestACameraIsChosenWhileTheProgramRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("the simulated table learns its mat at full size, which takes minutes under the race detector")
	}
	t.Chdir(t.TempDir())
	c, o := app.DefaultConfig(), app.Options{Log: slog.New(slog.DiscardHandler), StaleAfter: time.Minute}
	c.Panel.Enabled = false
	r := run(t, c, o)
	p := r.first(t)
	require.NotEmpty(t, p.Steps)
	assert.Equal(t, "No camera is chosen.", p.Steps[0].Now)
	assert.Equal(t, "next", p.Steps[0].State)
	require.NotEmpty(t, p.Found)

	require.Eventually(t, func() bool { // the page says it too
		answer, err := http.Get("http://" + r.address + "/healthz")
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return strings.Contains(string(text), "No camera is chosen yet: choose one on the page /first")
	}, 2*time.Minute, 50*time.Millisecond)

	answer, err := http.Post("http://"+r.address+"/api/first", "application/json", bytes.NewBufferString(`{"do":"camera","source":"sim:"}`))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	chosen := func(r *running) func() bool {
		return func() bool {
			p := r.first(t)
			return len(p.Found) > 0 && p.Found[len(p.Found)-1].InUse && p.Steps[0].State == "done"
		}
	}
	require.Eventually(t, chosen(r), 5*time.Minute, 100*time.Millisecond, "the same address answers with the camera")
	// What is held for a judge, and a calibration on another device, are not lost to a tap on /first.
	send := func(path, body string) (int, string) {
		answer, err := http.Post("http://"+r.address+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(text)
	}
	const anew = `{"do":"camera","source":"sim:"}`
	for _, body := range []string{`{"do":"start"}`, `{"do":"go","step":"lens"}`} {
		code, text := send("/api/calibration", body)
		require.Less(t, code, 300, text)
	}
	code, why := send("/api/first", anew)
	assert.Equal(t, http.StatusConflict, code)
	assert.Contains(t, why, "This camera is being calibrated, here or on another device")
	code, text := send("/api/calibration", `{"do":"cancel"}`)
	require.Less(t, code, 300, text)
	require.Eventually(t, func() bool { code, _ := send("/api/ask-judge", `{"by":"Ada"}`); return code == http.StatusOK }, 5*time.Minute,
		100*time.Millisecond, "a picture is held")
	code, why = send("/api/first", anew)
	assert.Equal(t, http.StatusConflict, code)
	assert.Equal(t, "A picture is held, and a restart may lose it.\n", why)
	var state struct{ Held struct{ Number uint64 } }
	answer, err = http.Get("http://" + r.address + "/api/state")
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&state))
	require.NoError(t, answer.Body.Close())
	code, text = send("/api/freeze", fmt.Sprintf(`{"hold":false,"held":%d}`, state.Held.Number))
	require.Equal(t, http.StatusOK, code, text)
	code, why = send("/api/first", anew)
	assert.Equal(t, http.StatusConflict, code)
	assert.Contains(t, why, "a judge can hold it again until")
	require.NoError(t, r.end(t))

	again := run(t, c, o)
	require.Eventually(t, chosen(again), 5*time.Minute, 100*time.Millisecond, "the choice is kept")
	require.NoError(t, again.end(t))
}

// What was calibrated with one camera is not used with another.
func TestACalibrationStaysWithItsCamera(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll("calibration", 0o777))
	for _, name := range []string{"lens.json", "table.json"} {
		require.NoError(t, os.WriteFile(filepath.Join("calibration", name), []byte("{}"), 0o600))
	}
	camera := func(source, name string) string {
		return `{"source":"` + source + `","name":"` + name + `","width_px":0,"height_px":0,"frames_per_second":0}`
	}
	for _, c := range []struct {
		name, chosen, calibrated, source string
		used                             bool
	}{
		{"of an unknown camera", "", "", "/dev/video0", true},
		{"the same", "", camera("/dev/video0", ""), "/dev/video0", true},
		{"another", "", camera("/dev/video2", ""), "/dev/video0", false},
		{"the same at another number", camera("/dev/video0", "C920"), camera("/dev/video2", "C920"), "/dev/video0", true},
		{"another at the same number", camera("/dev/video0", "Brio"), camera("/dev/video0", "C920"), "/dev/video0", false},
		{"the simulated table", "", "", "sim:", false},
	} {
		text := `{"version":1,"paper":"a4","ships":"A1"`
		for key, value := range map[string]string{"camera": c.chosen, "calibrated": c.calibrated} {
			if value != "" {
				text += `,"` + key + `":` + value
			}
		}
		require.NoError(t, os.WriteFile(filepath.FromSlash(app.DefaultFirstPath), []byte(text+"}"), 0o600))
		config := app.DefaultConfig()
		config.Camera.Source = c.source
		lens, table := app.SavedCalibration(config)
		assert.Equal(t, c.used, lens != "", c.name)
		assert.Equal(t, c.used, table != "", c.name)
	}
}
