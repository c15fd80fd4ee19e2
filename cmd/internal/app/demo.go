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

// demo teaches the program the simulated table, so that it shows everything at once: the
// empty mat and the game's obstacles, in files of their own that last as long as the
// program.
type demo struct {
	dir, mat, tokens string
	once             sync.Once
	log              *slog.Logger
}

// newDemo returns the demo of a configuration and its files' names in it; nil where there
// is none: with a camera, with files that someone named, or with a simulated table from
// which something is to be learnt.
func newDemo(c *Config, log *slog.Logger) (*demo, error) {
	if !strings.HasPrefix(c.Camera.Source, "sim:") || c.Table.Catalogue != "" {
		return nil, nil
	}
	if o, err := tablesim.ParseSpec(c.Camera.Source); err != nil || !o.Demonstrates() {
		return nil, nil // the source's own check says what is wrong with it
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

// opened learns from a source that was opened and from which no picture was taken yet.
// The learner notices the files.
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

// demoFrames is how many pictures the mat is learnt from: the noise of their mean is half
// of a picture's, and each costs a start half a second.
const demoFrames = 4

// learn writes the files, the catalogue last: with it obstacles are watched.
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
