package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const measureScene = `{"version":1,"rules":"2.5","mat":{"width_mm":914.4,"height_mm":914.4},"ships":[
 {"id":"A1","player":1,"base":"small","x_mm":400,"y_mm":200,"heading_deg":0,"turret":"left"},
 {"id":"B1","player":2,"base":"large","x_mm":450,"y_mm":460,"heading_deg":160},
 {"id":"C1","player":2,"base":"small","x_mm":10,"y_mm":460,"heading_deg":90}],
 "obstacles":[{"id":"rock1","kind":"gas","x_mm":420,"y_mm":300,"heading_deg":0,"outline_mm":[[-15,-15],[15,-15],[0,20]]}]}`

func sceneFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scene.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// measured runs the command on standard input and returns what it prints.
func measured(t *testing.T, c measureCmd, stdin string) string {
	t.Helper()
	if c.Sigmas == 0 {
		c.Sigmas = 3
	}
	c.Scene = "-"
	var out bytes.Buffer
	require.NoError(t, c.measure(strings.NewReader(stdin), &out))
	return out.String()
}

type measuredPairs struct {
	Version int
	Rules   string
	Pairs   []struct{ From, To string }
	Objects []struct{ From, To string }
	Results []measuredPairs
}

func TestMeasurePrintsOneJSONDocument(t *testing.T) {
	var doc measuredPairs
	require.NoError(t, json.Unmarshal([]byte(measured(t, measureCmd{JSON: true}, measureScene)), &doc))
	assert.Equal(t, 1, doc.Version)
	assert.Equal(t, "2.5", doc.Rules)
	assert.Len(t, doc.Pairs, 6, "every ordered pair of three ships")
	assert.Len(t, doc.Objects, 3)
}

func TestMeasureAnswersAListOfScenesWithAListOfResults(t *testing.T) {
	list := `{"version":1,"scenes":[` + measureScene + `,{"version":1,"rules":"1e"}]}`
	var doc measuredPairs
	require.NoError(t, json.Unmarshal([]byte(measured(t, measureCmd{JSON: true}, list)), &doc))
	require.Len(t, doc.Results, 2)
	assert.Len(t, doc.Results[0].Pairs, 6)
	assert.Equal(t, "1e", doc.Results[1].Rules)
	assert.Contains(t, measured(t, measureCmd{}, list), "scene 2\nrules 1e")
}

func TestMeasureKeepsWhatWasAskedFor(t *testing.T) {
	var doc measuredPairs
	require.NoError(t, json.Unmarshal([]byte(measured(t, measureCmd{JSON: true, From: "A1", To: "B1", Rules: "1e"}, measureScene)), &doc))
	assert.Equal(t, "1e", doc.Rules)
	assert.Equal(t, []struct{ From, To string }{{"A1", "B1"}}, doc.Pairs)
	assert.Empty(t, doc.Objects)

	doc = measuredPairs{}
	require.NoError(t, json.Unmarshal([]byte(measured(t, measureCmd{JSON: true, To: "rock1"}, measureScene)), &doc))
	assert.Empty(t, doc.Pairs)
	assert.Len(t, doc.Objects, 3)
}

func TestMeasurePrintsATableForPeople(t *testing.T) {
	got := measured(t, measureCmd{From: "A1"}, measureScene)
	lines := strings.Split(got, "\n")
	assert.Equal(t, "rules 2.5", lines[0])
	assert.Contains(t, got, "in front arc")
	assert.Regexp(t, `A1 +B1 +range +decided +188\.83 +0\.00 +11\.17 +2`, got)
	assert.Regexp(t, `attack range .* must \(rock1\)`, got)
	assert.Regexp(t, `outside the play area +C1 +10\.00`, got)
}

func TestMeasureExitCodes(t *testing.T) {
	good := sceneFile(t, measureScene)
	bad := sceneFile(t, strings.Replace(measureScene, `"turret"`, `"turet"`, 1))
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"answered", []string{"measure", good, "--json"}, 0},
		{"a ship that is not there", []string{"measure", good, "--from", "Z9"}, 1},
		{"an obstacle cannot be measured from", []string{"measure", good, "--from", "rock1"}, 1},
		{"to itself", []string{"measure", good, "--from", "A1", "--to", "A1"}, 2},
		{"no such file", []string{"measure", good + ".no"}, 2},
		{"no scene named", []string{"measure"}, 2},
		{"a bad scene", []string{"measure", bad}, 2},
		{"an edition that is none", []string{"measure", good, "--rules", "3.0"}, 2},
		{"no sigmas", []string{"measure", good, "--sigmas", "-1"}, 2},
		{"an unknown flag", []string{"measure", good, "--to-me"}, 2},
		{"a directory", []string{"measure", t.TempDir()}, 2},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.code, run(c.args)) })
	}
}

func TestMeasureErrorsNameTheFileAndTheKey(t *testing.T) {
	name := sceneFile(t, strings.Replace(measureScene, `"turret"`, `"turet"`, 1))
	err := (&measureCmd{Scene: name, Sigmas: 3}).measure(nil, &bytes.Buffer{})
	require.Error(t, err)
	assert.Equal(t, "measure: "+name+": ships[0] (A1): turet: unknown key", err.Error())

	err = (&measureCmd{Scene: "-", Sigmas: 3}).measure(strings.NewReader("{"), &bytes.Buffer{})
	assert.ErrorContains(t, err, "standard input: ")

	err = (&measureCmd{Scene: "-", Sigmas: 3, To: "X"}).measure(strings.NewReader(measureScene), &bytes.Buffer{})
	assert.ErrorContains(t, err, `--to: no ship, obstacle, device or marker "X"`)
	assert.True(t, errors.As(err, new(unanswered)))
}
