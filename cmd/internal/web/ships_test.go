package web_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
)

// placeShip takes a placed ship; there is none at the mat's corner.
func (f *fakeTable) placeShip(p live.PlacedShip) error {
	if p.Pose.X < 50 {
		return errors.New("no base shows its edges there")
	}
	f.placed = append(f.placed, p)
	return nil
}

func TestAShipIsPlacedByHand(t *testing.T) {
	f := newFakeTable(t)
	s := serve(t, f)
	post := func(body string) (int, string) {
		r, err := http.Post(s.URL+"/api/ships", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(text)
	}
	code, text := post(`{"id":"A1","base":"small","x_mm":420,"y_mm":310,"heading_deg":90}`)
	require.Equal(t, http.StatusNoContent, code, text)
	code, text = post(`{"id":"B2","base":"large","x_mm":420.5,"y_mm":310}`)
	require.Equal(t, http.StatusNoContent, code, text)
	code, text = post(`{"id":"A1","base":"small","x_mm":420,"y_mm":310,"instead_of":"A2"}`)
	require.Equal(t, http.StatusNoContent, code, text)
	want := []live.PlacedShip{
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 420, Y: 310}, Heading: 90 * geom.Degree}, Headed: true},
		{ID: "B2", Player: 2, Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 420.5, Y: 310}}},
		{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 420, Y: 310}}, InsteadOf: "A2"},
	}
	assert.Equal(t, want, f.placed)

	code, text = post(`{"id":"A1","base":"small","x_mm":10,"y_mm":10}`)
	assert.Equal(t, http.StatusConflict, code)
	assert.Equal(t, "No base shows its edges there.\n", text)
	for _, c := range []struct{ body, says string }{
		{`{"id":"Falcon","base":"small","x_mm":1,"y_mm":1}`, "expected A1"},
		{`{"id":"A1","base":"tiny","x_mm":1,"y_mm":1}`, "small, medium"},
		{`{"id":"A1","base":"huge","x_mm":1,"y_mm":1}`, "huge-195 or huge-225"},
		{`{"id":"A1","base":"small","y_mm":1}`, "x_mm: "},
		{`{"id":"A1","base":"small","x_mm":1,"y_mm":1e9}`, "y_mm: "},
		{`{"id":"A1","base":"small","x_mm":1,"y_mm":1,"heading_deg":1e9}`, "heading_deg: "},
		{`{"id":"A1","base":"small","x_mm":1,"y_mm":1,"instead_of":"A1"}`, "already called A1"},
		{`{"id":"A1","base":"small","x_mm":1,"y_mm":1,"instead_of":""}`, "instead_of: "},
		{`{"id":"A1","where":"there"}`, "unknown key"},
		{`[]`, "must be JSON"},
	} {
		code, text := post(c.body)
		assert.Equal(t, http.StatusBadRequest, code, c.body)
		assert.Contains(t, text, c.says, c.body)
	}
	assert.Len(t, f.placed, 3)
}
