package outline

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/tablesim"
)

// keptBench is a desk over a simulated table whose marks outlast it.
type keptBench struct {
	*bench
	table *tablesim.Table
	noise uint64
}

func newKeptBench(t *testing.T) *keptBench {
	b := &keptBench{bench: newBench(t), table: tablesim.RandomTable(3, 1280, 720)}
	b.table.Scene.Ships = []engine.Ship{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 330, Y: 280}, Heading: 20 * geom.Degree}},
		{ID: "B1", Player: 2, Base: engine.Medium, Pose: geom.Pose{Point: geom.Point{X: 400, Y: 470}, Heading: 200 * geom.Degree}},
	}
	b.table.Scene.Obstacles, b.table.Minis, b.table.Clutter, b.table.Hands = nil, nil, nil, nil
	b.restart(filepath.Join(t.TempDir(), File))
	return b
}

// restart starts the program again.
func (b *keptBench) restart(file string) {
	o := b.desk.o
	o.File = file
	b.desk, b.mux = New(o), http.NewServeMux()
	for _, r := range b.desk.Routes() {
		b.mux.HandleFunc(r.Pattern, r.Handler)
	}
}

// take takes what the camera shows now onto the desk.
func (b *keptBench) take() (p pictureJSON) {
	b.t.Helper()
	b.now = b.now.Add(time.Minute)
	b.noise++
	b.table.Seed = b.noise
	f, _, err := b.table.Render()
	require.NoError(b.t, err)
	f.Captured = b.now
	table := calibration.Table{Camera: b.table.Camera, Layout: b.table.Layout, CornerSigma: 0.05, PlacementFactor: 1,
		RegistrationCovariance: make([]float64, 36), PoseCovariance: make([]float64, 36)}
	raw, _, err := table.Sealed()
	require.NoError(b.t, err)
	b.hub.Publish(live.State{Health: live.Health{Code: live.OK}, Source: "camera", Register: live.Register{File: raw}, Frame: f})
	got := b.do("POST", "/api/outline/pictures?from=live", nil)
	require.Equal(b.t, http.StatusOK, got.Code, got.Body)
	require.NoError(b.t, json.Unmarshal(got.Body.Bytes(), &p))
	return p
}

// marks marks both ships where they stand.
func (b *keptBench) marks(p pictureJSON) request {
	r := request{From: "A1", To: "B1", Arc: "front"}
	for _, s := range b.table.Scene.Ships {
		at := try{s.Pose.X, s.Pose.Y, s.Pose.Heading.Degrees()}
		r.Ships = append(r.Ships, mark{s.ID, s.Base.String(), []try{at, at}})
	}
	got := b.post("/api/outline/pictures/"+p.ID+"/answer", r)
	require.Equal(b.t, http.StatusOK, got.Code, got.Body)
	return r
}

// Marks outlast the program, and each is offered again only where the picture still shows its base where it was marked.
func TestKeptMarksAreOfferedWhereTheyStillHold(t *testing.T) {
	const gone = "the picture shows something else there now"
	moved := func(by geom.Point, turn geom.Angle) func(*keptBench) {
		return func(b *keptBench) {
			s := &b.table.Scene.Ships[0]
			s.Pose.Point, s.Pose.Heading = s.Pose.Add(by), s.Pose.Heading+turn
		}
	}
	for name, c := range map[string]struct {
		change func(*keptBench)
		why    [2]string // of A1 and B1; "": offered
	}{
		"nothing moved":       {func(*keptBench) {}, [2]string{}},
		"pushed by 0.6 mm":    {moved(geom.Point{X: 0.6}, 0), [2]string{"it has moved by"}},
		"pushed by 1 mm":      {moved(geom.Point{X: -0.7, Y: 0.7}, 0), [2]string{"it has moved by"}},
		"turned by 2 degrees": {moved(geom.Point{}, 2*geom.Degree), [2]string{"it has moved by"}},
		"moved away":          {moved(geom.Point{X: 150}, 0), [2]string{gone}},
		"turned around":       {moved(geom.Point{}, 180*geom.Degree), [2]string{gone}},
		"the other one was taken off": {func(b *keptBench) { b.table.Scene.Ships = b.table.Scene.Ships[:1] },
			[2]string{"", gone}},
		"the camera was pushed": {func(b *keptBench) { b.table.Camera.T[0] += 1 },
			[2]string{"the camera was moved", "the camera was moved"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newKeptBench(t)
			first := b.take()
			assert.Nil(t, first.Kept, "nothing was marked yet")
			said := b.marks(first)
			b.restart(b.desk.o.File)
			c.change(b)
			k := b.take().Kept
			require.NotNil(t, k)
			require.Len(t, k.Ships, 2)
			assert.Equal(t, b.now.Add(-time.Minute).UnixMilli(), k.AtMS)
			assert.Equal(t, []string{"A1", "B1", "front"}, []string{k.From, k.To, k.Arc})
			for i, why := range c.why {
				assert.Equal(t, said.Ships[i], k.Ships[i].mark)
				assert.Equal(t, why == "", k.Ships[i].Stands, k.Ships[i].Why)
				if assert.Contains(t, k.Ships[i].Why, why); why == "" {
					assert.Empty(t, k.Ships[i].Why)
				}
			}
		})
	}
}

// A photograph's marks are not kept, nor those of yesterday; what was removed is not offered; a file that is none says so.
func TestWhatIsNotKept(t *testing.T) {
	b := newKeptBench(t)
	p := b.take()
	b.marks(p)
	require.NotNil(t, b.take().Kept)
	cam := tablesim.DefaultCamera(1920, 1080)
	photo := b.photo(1920, 1080)
	assert.Nil(t, photo.Kept, "they are of the camera's picture")
	at := "/api/outline/pictures/" + photo.ID
	require.Equal(t, http.StatusOK, b.post(at+"/calibration", map[string]any{"corners_px": cornersOf(t, &cam)}).Code)
	require.Equal(t, http.StatusOK, b.post(at+"/answer", request{Arc: "front", Ships: []mark{{"B7", "small", []try{{400, 300, 0}}}}}).Code)
	k := b.take().Kept
	require.NotNil(t, k)
	assert.Equal(t, "A1", k.Ships[0].ID)

	now := b.now // a board without a battery starts an hour or so before it was switched off
	b.now = now.Add(-time.Hour)
	b.restart(b.desk.o.File)
	assert.NotNil(t, b.take().Kept)
	b.now = now.Add(-keptMarksFor - time.Hour)
	b.restart(b.desk.o.File)
	assert.Nil(t, b.take().Kept, "a clock that is far off")

	b.now = now.Add(keptMarksFor + time.Second)
	assert.Nil(t, b.take().Kept)
	p = b.take()
	b.marks(p)
	require.Equal(t, http.StatusOK, b.post("/api/outline/pictures/"+p.ID+"/answer", request{Arc: "front"}).Code)
	b.restart(b.desk.o.File)
	assert.Nil(t, b.take().Kept, "nothing is marked")

	for says, text := range map[string]string{
		"version: expected 1":  `{"version":2}`,
		"looks: expected one":  `{"version":1,"width_px":9,"height_px":9,"marks":{"ships":[{"id":"A1","base":"small"}]}}`,
		"looks[0].look":        `{"version":1,"width_px":9,"height_px":9,"marks":{"ships":[{"id":"A1"}]},"looks":[{"side":300,"look":"AAAA"}]}`,
		"a picture's, got 0 ×": `{"version":1}`,
		"unknown key":          `{"version":1,"mark":{}}`,
	} {
		require.NoError(t, os.WriteFile(b.desk.o.File, []byte(text), 0o600))
		m, err := openMemory(b.desk.o.File, b.now)
		assert.ErrorContains(t, err, says)
		assert.Nil(t, m.last)
	}
}
