package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMovePrintsOneJSONDocument(t *testing.T) {
	var out bytes.Buffer
	c := moveCmd{Scene: "-", Ship: "A1", Maneuver: "bank left 1", Sigmas: 3, JSON: true}
	require.NoError(t, c.move(strings.NewReader(measureScene), &out))
	var doc struct {
		Version  int
		Ship     string
		Maneuver string
		Final    struct {
			X float64 `json:"x_mm"`
		}
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	assert.Equal(t, 1, doc.Version)
	assert.Equal(t, "A1", doc.Ship)
	assert.Equal(t, "bank left 1", doc.Maneuver)
	assert.InDelta(t, 362.426406871193, doc.Final.X, 1e-9)
}

func TestMovePrintsATableForPeople(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, (&moveCmd{Scene: "-", Ship: "A1", Maneuver: "straight 3", Sigmas: 3}).move(strings.NewReader(measureScene), &out))
	assert.Regexp(t, `final +400\.00 +360\.00 +0\.00`, out.String())
	assert.Regexp(t, `rock1 +yes +no`, out.String())
	out.Reset()
	require.NoError(t, (&moveCmd{Scene: "-", Ship: "A1", Action: "barrel-roll left", Sigmas: 3, Rules: "1e"}).move(
		strings.NewReader(measureScene), &out))
	assert.Regexp(t, `slide -20\.00 to 20\.00 mm +320\.00 +180\.00 +0\.00 +yes`, out.String())
	assert.NotContains(t, out.String(), "final")
	out.Reset()
	require.NoError(t, (&moveCmd{Scene: "-", Ship: "A1", Drop: "straight 1", Sigmas: 3}).move(strings.NewReader(measureScene), &out))
	assert.Regexp(t, `(?m)^device +400\.00 +125\.50`, out.String())
	assert.NotRegexp(t, `(?m)^(full|final)`, out.String(), "the ship does not move")
}

func TestMoveSaysWhatItsAnswersAreAbout(t *testing.T) {
	const one = `{"version":1,"rules":"2.5",%s"ships":[{"id":"A1","base":"small","x_mm":300,"y_mm":30,"heading_deg":0,"covariance":[0.04,0,0,0,0.04,0,0,0,0.01]},
		{"id":"B1","base":"small","x_mm":300,"y_mm":110,"heading_deg":0}],"obstacles":[]}`
	withMat, without := fmt.Sprintf(one, `"mat":{"width_mm":914.4,"height_mm":914.4},`), fmt.Sprintf(one, "")
	said := func(scene string, c moveCmd) string {
		var out bytes.Buffer
		c.Scene, c.Ship, c.Sigmas = "-", "A1", 3
		require.NoError(t, c.move(strings.NewReader(scene), &out))
		return out.String()
	}
	drop := said(withMat, moveCmd{Drop: "straight 1"})
	assert.Regexp(t, `outside the play area +wholly: it is ignored and has no effect`, drop)
	assert.Regexp(t, `beyond the edges +near`, drop)
	assert.NotContains(t, drop, "flees", "devices do not")
	assert.NotContains(t, drop, "fully executed")
	assert.Regexp(t, `outside the play area +no view: the scene has no mat`, said(without, moveCmd{Drop: "straight 1"}))

	unseen := strings.Replace(strings.Replace(withMat, `,"obstacles":[]`, "", 1), `"id":"A1"`, `"id":"A1","seen":"token"`, 1)
	turned := said(unseen, moveCmd{Maneuver: "turn left 2"})
	assert.Regexp(t, `(?m)^no view +obstacles were not looked for$`, turned)
	assert.NotContains(t, turned, "too close to call", "what nobody saw was not too close")
	assert.NotContains(t, said(withMat, moveCmd{Maneuver: "turn left 2"}), "no view")

	assert.Regexp(t, `flees +no view: the scene has no mat`, said(without, moveCmd{Maneuver: "stationary"}))
	stay := said(withMat, moveCmd{Maneuver: "stationary"})
	assert.Regexp(t, `margin mm +10\.00 ± 0\.\d+ to another answer: fleeing`, stay)

	boost := said(withMat, moveCmd{Action: "boost straight"})
	assert.NotRegexp(t, `(?m)^final`, boost, "what is not legal ends nowhere")
	assert.Regexp(t, `would end +300\.00 +110\.00`, boost)
	assert.Less(t, strings.Index(boost, "legal"), strings.Index(boost, "margin"))
	assert.Regexp(t, `legal +no: .*B1`, boost)
	assert.Regexp(t, `touching there +B1`, boost)
	clear := said(strings.Replace(withMat, `"y_mm":110`, `"y_mm":500`, 1), moveCmd{Action: "boost straight"})
	assert.Regexp(t, `(?m)^final`, clear)
	assert.Regexp(t, `legal +yes`, clear)
}

func TestMoveExitCodes(t *testing.T) {
	good := sceneFile(t, measureScene)
	quarters := sceneFile(t, `{"version":1,"rules":"2.5","ships":[{"id":"A1","base":"small","x_mm":1,"y_mm":2,"heading_deg":0,
		"heading_quarters":true}]}`)
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"answered", []string{"move", good, "--ship", "A1", "--maneuver", "turn left 1", "--json"}, 0},
		{"a ship whose nose was not seen", []string{"move", quarters, "--ship", "A1", "--maneuver", "turn left 1"}, 1},
		{"a drawing of it", []string{"draw", quarters, "-o", filepath.Join(t.TempDir(), "x.svg"), "--ship", "A1", "--drop", "straight 1"}, 1},
		{"a ship that is not there", []string{"move", good, "--ship", "Z9", "--maneuver", "turn left 1"}, 1},
		{"no ship named", []string{"move", good, "--maneuver", "turn left 1"}, 2},
		{"nothing asked", []string{"move", good, "--ship", "A1"}, 2},
		{"two questions", []string{"move", good, "--ship", "A1", "--maneuver", "turn left 1", "--drop", "straight 1"}, 2},
		{"no such maneuver", []string{"move", good, "--ship", "A1", "--maneuver", "turn left 4"}, 2},
		{"an empty maneuver", []string{"move", good, "--ship", "A1", "--maneuver", ""}, 2},
		{"no such action", []string{"move", good, "--ship", "A1", "--action", "boost back"}, 2},
		{"no such drop", []string{"move", good, "--ship", "A1", "--drop", "straight 1 teapot"}, 2},
		{"no such edition", []string{"move", good, "--ship", "A1", "--rules", "3.0", "--drop", "straight 1"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.code, run(c.args)) })
	}
}
