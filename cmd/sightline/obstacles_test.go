//go:build opencv

package main

import (
	"bytes"
	"context"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision/tablesim"
)

// TestObstructionIsAnsweredFromPictures goes the whole way of a user: the mat learnt,
// a token traced on paper, a picture of the game located, and its obstruction measured.
func TestObstructionIsAnsweredFromPictures(t *testing.T) {
	dir := t.TempDir()
	rock := engine.Obstacle{ID: "o", Kind: "asteroid", Pose: geom.Pose{Point: geom.Point{X: 460, Y: 300}, Heading: 0.6},
		Outline: []geom.Point{{X: -34, Y: -22}, {X: 25, Y: -25}, {X: 38, Y: 5}, {X: 10, Y: 30}, {X: -25, Y: 18}}}
	game := tablesim.RandomTable(6, 1920, 1080)
	game.Minis, game.Clutter, game.Heights = nil, nil, nil
	game.Scene.Ships, game.Scene.Obstacles = nil, nil
	shoot := func(name string, change func(*tablesim.Table)) string {
		table := *game
		change(&table)
		sub := filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(sub, 0o755))
		picture, _, _ := photographed(t, &table, sub)
		return picture
	}
	empty := shoot("empty", func(*tablesim.Table) {})
	paper := shoot("paper", func(t *tablesim.Table) {
		t.Clutter = []tablesim.Clutter{{Pose: geom.Pose{Point: rock.Pose.Point}, Width: 140, Length: 140, Height: 0.1, Color: color.RGBA{240, 240,
			240, 255}}}
		t.Scene.Obstacles = []engine.Obstacle{rock}
	})
	littered := shoot("littered", func(t *tablesim.Table) { t.Scene.Obstacles = []engine.Obstacle{rock} })
	plain := shoot("plain", func(t *tablesim.Table) {
		t.Look.Mat = tablesim.MatPlain
		t.Scene.Obstacles = []engine.Obstacle{rock}
	})
	played := shoot("played", func(t *tablesim.Table) {
		t.Scene.Obstacles = []engine.Obstacle{rock}
		t.Scene.Ships = []engine.Ship{
			{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 460, Y: 200}}},
			{ID: "B1", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 460, Y: 400}}},
			{ID: "B2", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 600, Y: 400}}},
		}
	})
	calibrated, mat, catalogue := filepath.Join(dir, "table.json"), filepath.Join(dir, "mat.png"), filepath.Join(dir, "obstacles.json")
	require.Zero(t, run([]string{"calibrate", "table", "--lens", filepath.Join(dir, "empty", "lens.json"), empty, "-o", calibrated}))
	require.Zero(t, run([]string{"obstacles", "learn-mat", "--calibration", calibrated, empty, "-o", mat}))
	assert.Equal(t, 1, run([]string{"obstacles", "learn-mat", "--calibration", calibrated, played, "-o", mat}), "ships are on it")
	learn := []string{"obstacles", "learn", "--calibration", calibrated, paper, "--kind", "asteroid", "-o", catalogue, "--name"}
	assert.Equal(t, 1, run(append(learn, "rock,other")), "one token is there, two are named")
	assert.NoFileExists(t, catalogue)
	require.Zero(t, run(append(learn, "rock")))
	assert.Equal(t, 2, run(append(learn, "rock")), "the name is taken")
	for _, bad := range []string{"A1", "?1", "a,,b", "rock " + "x,rock x"} {
		assert.Equal(t, 2, run(append(learn, bad)), bad)
	}
	before, err := os.ReadFile(catalogue)
	require.NoError(t, err)
	assert.Equal(t, 1, run(append(learn, "again")), "it is the token that is in the catalogue")
	after, err := os.ReadFile(catalogue)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	assert.Equal(t, 1, run([]string{"obstacles", "learn-mat", "--calibration", calibrated, paper, "-o", mat}), "paper lies on it")
	again := []string{"obstacles", "learn-mat", "--calibration", calibrated, "-o", mat}
	learnt, err := os.ReadFile(mat)
	require.NoError(t, err)
	code, _, said := called(t, append(again, littered)...)
	assert.Equal(t, 1, code, "a rock lies on it")
	assert.Contains(t, said, "lies rock: take it away")
	same, err := os.ReadFile(mat)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(learnt, same))
	assert.Zero(t, run(append(again, empty)), "nothing lies on it")
	other := filepath.Join(dir, "other.png")
	require.NoError(t, os.WriteFile(other, learnt, 0o644))
	assert.Zero(t, run(append(again[:4:4], "-o", other, "--bare", littered)), "a person says that nothing does")
	code, _, said = called(t, append(again[:4:4], "-o", filepath.Join(dir, "new.png"), plain)...)
	assert.Equal(t, 1, code, "there is no mat to know it by, but its outline is")
	assert.Contains(t, said, "on the mat seems to lie rock: take it away")
	assert.NoFileExists(t, filepath.Join(dir, "new.png"))
	assert.Equal(t, 2, run(append(again, "--catalogue", filepath.Join(dir, "none.json"), empty)))
	tokens := []string{"obstacles", "learn", "--calibration", calibrated, "--kind", "asteroid", "-o", catalogue, "--name", "x"}
	assert.Equal(t, 1, run(append(tokens, played)), "ships stand there, whose print is no token's")
	assert.Equal(t, 1, run(append(tokens, empty)), "nothing lies there")
	assert.Equal(t, 2, run([]string{"locate", "--calibration", calibrated, "--at", "A2,small,9999,150,0", played}), "that is off the mat")

	var out, warn bytes.Buffer
	c := locateCmd{Calibration: []string{calibrated}, Images: []string{played}, Rules: "2.5", JSON: true, Catalogue: catalogue, EmptyMat: mat}
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	scenes, _, err := scenefile.Parse(out.Bytes())
	require.NoError(t, err)
	assert.False(t, scenes[0].ObstaclesUnseen, warn.String())
	require.Len(t, scenes[0].Obstacles, 1)
	assert.Equal(t, "rock", scenes[0].Obstacles[0].ID)
	assert.Equal(t, "asteroid", scenes[0].Obstacles[0].Kind)
	r, err := engine.Measure(&scenes[0], engine.Options{Sigmas: 3})
	require.NoError(t, err)
	verdicts := map[string]string{}
	for _, p := range r.Pairs {
		for _, a := range p.Arcs {
			if a.Arc == engine.ArcFront && a.Attack != nil {
				verdicts[p.From+p.To] = a.Attack.Obstruction.Verdict
			}
		}
	}
	assert.Equal(t, "must", verdicts["A1B1"], "the rock lies between them")
	assert.Equal(t, "never", verdicts["A1B2"], "the line passes it: %v", verdicts)

	out.Reset()
	c.JSON = false
	require.NoError(t, c.locate(context.Background(), &out, &warn))
	assert.Contains(t, out.String(), "1 obstacle\n")
	assert.Contains(t, out.String(), "rock")

	c.EmptyMat = ""
	assert.ErrorContains(t, c.locate(context.Background(), &out, &warn), "--empty-mat: expected a file")
}
