package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"sightline/calibration"
	"sightline/calibration/atomicfile"
	"sightline/calibration/regularfile"
	"sightline/cmd/internal/app"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/scenefile"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/opencv"
)

// recordCmd records pictures of a table, with what was located in them.
type recordCmd struct {
	Source      string        `required:"" placeholder:"S" help:"Where the pictures come from: /dev/video0, a file, a directory, a URL, gst:, csi: or sim:."`
	Output      string        `short:"o" required:"" placeholder:"DIR" help:"The directory to make: pictures, recording.jsonl, and the calibration."`
	Calibration string        `placeholder:"FILE" help:"The table calibration, from calibrate table: then ships are located, and a picture is kept when they rest elsewhere."`
	Every       time.Duration `default:"2s" placeholder:"TIME" help:"The shortest time between two pictures that are kept. Default: 2s."`
	Count       int           `placeholder:"N" help:"Stop after this many pictures. Default: when interrupted, or at the end of the source."`
	Note        string        `placeholder:"TEXT" help:"What should be known about them: the camera, the light, lengths measured with a steel rule."`
}

// Run implements the command.
func (c *recordCmd) Run(ctx context.Context) error {
	return terminal.Named("record", c.record(ctx, os.Stdout, os.Stderr))
}

func (c *recordCmd) record(ctx context.Context, out, progress io.Writer) error {
	if c.Every <= 0 || c.Count < 0 {
		return errors.New("--every, --count: expected more than 0")
	}
	l, done, err := c.locating(progress)
	if err != nil {
		return err
	}
	defer done()
	source, err := app.OpenSource(ctx, app.Camera{Source: c.Source})
	if err != nil {
		return err
	}
	defer source.Close()
	header := capture.RecordingHeader{Program: version, Source: source.String(), Note: c.Note}
	if l != nil {
		header.Calibration = "table.json"
	}
	r, err := capture.NewRecorder(c.Output, header)
	if err != nil {
		return err
	}
	err = c.keepCalibration()
	if err == nil {
		err = c.pictures(ctx, source, l, r, progress)
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	if r.Count() == 0 {
		return terminal.Unanswered{Err: fmt.Errorf("source %s: no picture came", c.Source)}
	}
	_, err = fmt.Fprintf(out, "wrote %d pictures to %s; sightline run --source %s shows them\n", r.Count(), c.Output, c.Output)
	return err
}

// locating returns what ships are located with, nil without a calibration, and a function that
// releases it.
func (c *recordCmd) locating(warn io.Writer) (l *locating, done func(), err error) {
	if c.Calibration == "" {
		return nil, func() {}, nil
	}
	table, err := pictures.LoadTable(warn, c.Calibration)
	if err != nil {
		return nil, nil, err
	}
	markers, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return nil, nil, err
	}
	l = &locating{rules: engine.Rules25, tables: []calibration.Table{table}, markers: markers, warn: warn}
	return l, func() { markers.Close() }, nil
}

// keepCalibration copies the calibration into the recording.
func (c *recordCmd) keepCalibration() error {
	if c.Calibration == "" {
		return nil
	}
	data, err := regularfile.Read(c.Calibration, maxSceneFile)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(c.Output, "table.json"), data, 0o644)
}

// pictures records until the source ends, the count is reached or ctx ends.
func (c *recordCmd) pictures(ctx context.Context, source vision.Source, l *locating, r *capture.Recorder, progress io.Writer) error {
	var keep keeper
	var last time.Time
	for c.Count == 0 || r.Count() < c.Count {
		frame, err := source.Next(ctx)
		switch {
		case ctx.Err() != nil || errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case r.Count() > 0 && frame.Captured.Sub(last) < c.Every:
			continue
		}
		var scene json.RawMessage
		if l != nil {
			at, err := l.locate(source.String(), frame, l.tables[0])
			if err != nil {
				fmt.Fprintln(progress, err)
				continue
			}
			if !keep.wants(at.Scene.Ships) {
				continue
			}
			if scene, err = scenefile.Marshal(at.Scene); err != nil {
				return err
			}
		}
		if err := r.Add(frame, scene); err != nil {
			return err
		}
		last = frame.Captured
		fmt.Fprintf(progress, "picture %d\n", r.Count())
	}
	return nil
}

// keeper chooses the pictures to keep: those in which ships rest in other places than in the last
// kept one, and all without a ship.
type keeper struct {
	begun        bool
	before, kept []engine.Ship
}

// wants reports whether to keep a picture with these ships.
func (k *keeper) wants(ships []engine.Ship) bool {
	first, rests := !k.begun, sameShips(ships, k.before)
	k.begun, k.before = true, ships
	if !first && len(ships) > 0 && (!rests || sameShips(ships, k.kept)) {
		return false
	}
	k.kept = ships
	return true
}

// A ship that moved by less is at rest: more than its noise, less than the shortest move.
const (
	restsWithin = 1 * geom.Millimeter
	restsTurned = 1 * geom.Degree
)

// sameShips reports whether the same ships stand at the same places.
func sameShips(a, b []engine.Ship) bool {
	if len(a) != len(b) {
		return false
	}
	at := map[string]geom.Pose{}
	for _, s := range b {
		at[s.ID] = s.Pose
	}
	for _, s := range a {
		p, ok := at[s.ID]
		turned := math.Remainder(float64(s.Pose.Heading-p.Heading), 2*math.Pi)
		if !ok || math.Hypot(s.Pose.X-p.X, s.Pose.Y-p.Y) > float64(restsWithin) || math.Abs(turned) > float64(restsTurned) {
			return false
		}
	}
	return true
}
