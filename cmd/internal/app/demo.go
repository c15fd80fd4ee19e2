package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"sightline/calibration"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
)

// demo teaches the program the simulated table, so that it shows all features at once: the empty
// mat and the game's obstacles, in files that are deleted at the end.
type demo struct {
	dir, mat, tokens string
	once             sync.Once
	log              *slog.Logger
}

// newDemo returns a demo and puts its files into the configuration. It returns nil with a real
// camera, with configured files, or with a simulated table that is for learning.
func newDemo(c *Config, log *slog.Logger) (*demo, error) {
	if !strings.HasPrefix(c.Camera.Source, "sim:") || c.Table.Catalogue != "" {
		return nil, nil
	}
	if o, err := tablesim.ParseSpec(c.Camera.Source); err != nil || !o.Demonstrates() {
		return nil, nil // opening the source reports the error
	}
	dir, err := os.MkdirTemp("", "sightline-demo-")
	if err != nil {
		return nil, fmt.Errorf("the simulated table: %w", err)
	}
	d := &demo{dir: dir, mat: filepath.Join(dir, "mat.png"), tokens: filepath.Join(dir, "obstacles.json"), log: log}
	c.Table.EmptyMat, c.Table.Catalogue, c.Table.Adopted = d.mat, d.tokens, true
	return d, nil
}

// Close deletes the files.
func (d *demo) Close() error { return os.RemoveAll(d.dir) }

// opened learns from a source that has delivered no picture yet. The Learner notices the files.
func (d *demo) opened(source vision.Source) {
	table, ok := source.(*tablesim.Source)
	if !ok {
		return
	}
	d.once.Do(func() {
		if err := d.learn(table); err != nil {
			d.log.Warn("the simulated table: obstacles are not watched", "err", err)
		}
	})
}

// demoFrames is the number of pictures from which the mat is learnt: their mean has half the noise
// of one, and each delays the start by half a second.
const demoFrames = 4

// learn writes the files. The catalogue comes last, because it starts the watch for obstacles.
func (d *demo) learn(source *tablesim.Source) error {
	mat, err := obstacle.LearnBackground(calibration.Table{Camera: source.Camera(), Layout: source.Layout()}, demoFrames, source.Bare)
	if err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := mat.WritePNG(&picture); err != nil {
		return err
	}
	if err := replaceFile(d.mat, picture.Bytes()); err != nil {
		return err
	}
	known, err := catalogue.Of(source.Obstacles())
	if err != nil {
		return err
	}
	text, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return replaceFile(d.tokens, text)
}
