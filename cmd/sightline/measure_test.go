package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sightline/cmd/internal/terminal"
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
	assert.Regexp(t, `A1 +B1 +range +2 +188\.83 +11\.17\n`, got)
	assert.Regexp(t, `\n +front +yes +185\.80 +2 +188\.83 +11\.17 +must \(rock1\)\n`, got)
	assert.Regexp(t, `\n +not in rear, left, right, full rear, turret\n`, got, "arcs that the target is out of take one line")
	assert.Contains(t, got, "BY: how deep the target reaches into the arc")
	assert.Regexp(t, `outside the play area +C1 +10\.00`, got)
}

func TestMeasureShowsTheArcsThatWereAskedFor(t *testing.T) {
	got := measured(t, measureCmd{From: "A1", To: "C1", Arc: []string{"front", "full rear"}}, measureScene)
	assert.Regexp(t, `\n +front +no +-98\.56\n +full rear +no +-240\.00\n`, got, "also those that it is out of")
	assert.NotContains(t, got, "bullseye")
	var doc struct {
		Pairs []struct {
			Arcs []struct{ Arc string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(measured(t, measureCmd{From: "A1", To: "C1", Arc: []string{"turret"}, JSON: true}, measureScene)),
		&doc))
	require.Len(t, doc.Pairs, 1)
	assert.Equal(t, []struct{ Arc string }{{"turret"}}, doc.Pairs[0].Arcs)
}

func TestColumnsAreAsWideAsTheirCells(t *testing.T) {
	var g terminal.Grid
	g.Add("A", "B", "C")
	g.Add("one", "±±", "3")
	g.Text(1, "longer than its column and all after it")
	g.Add("", "x")
	var b strings.Builder
	g.Print(&b)
	assert.Equal(t, "A    B   C\none  ±±  3\n     longer than its column and all after it\n     x\n", b.String())
}

func TestMeasurePrintsTheSectionsOfHugeShips(t *testing.T) {
	const huge = `{"version":1,"rules":"1e","ships":[
		{"id":"H","base":"huge-195","x_mm":0,"y_mm":0,"heading_deg":0},{"id":"A","base":"small","x_mm":160,"y_mm":60,"heading_deg":270}]}`
	got := measured(t, measureCmd{From: "A"}, huge)
	assert.Regexp(t, `A +H +range +1 +100\.00`, got)
	assert.Regexp(t, `fore section +1 +100\.00`, got)
	assert.Regexp(t, `aft section +2 +102\.50`, got)
	assert.Regexp(t, `aft, front +yes .* 2 +103\.19`, got)
	assert.Contains(t, measured(t, measureCmd{From: "A", JSON: true}, huge), `"sections":[{"section":"fore","range":{"distance_mm":100,`)
	assert.NotContains(t, measured(t, measureCmd{Rules: "2.5"}, huge), "section")
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
		{"an arc that is none", []string{"measure", good, "--arc", "frnt"}, 2},
		{"an arc that nobody has in the edition", []string{"measure", good, "--rules", "1e", "--arc", "bullseye"}, 1},
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
	assert.Equal(t, "measure: "+name+": line 2, column 85: ships[0] (A1): turet: unknown key", err.Error())

	err = (&measureCmd{Scene: "-", Sigmas: 3}).measure(strings.NewReader("{"), &bytes.Buffer{})
	assert.ErrorContains(t, err, "standard input: ")

	err = (&measureCmd{Scene: "-", Sigmas: 3, To: "X"}).measure(strings.NewReader(measureScene), &bytes.Buffer{})
	assert.ErrorContains(t, err, `--to: no ship, obstacle, device or marker "X" in the scene, which has A1, B1, C1, rock1`)
	assert.True(t, errors.As(err, new(terminal.Unanswered)))
}
