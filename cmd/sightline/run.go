package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"sightline/cmd/internal/app"
)

// runCmd watches the table until it is stopped.
type runCmd struct {
	Config      string `help:"Configuration file. Default: sightline.toml, if it is there." placeholder:"FILE"`
	Source      string `help:"Where the pictures come from: /dev/video0, a video, a directory, rtsp://…, http://…, gst:…, csi: (a Raspberry Pi camera), or sim: (the simulated table). Without it the configuration's, or the one chosen on the page /first." placeholder:"SOURCE"`
	Lens        string `help:"Lens file, made by calibrate lens." placeholder:"FILE"`
	Calibration string `help:"Table file, made by calibrate table; without it the program finds the camera's place from the mat's markers." placeholder:"FILE"`
	Listen      string `help:"Address of the page (default localhost:8080)." placeholder:"HOST:PORT"`
	Rules       string `help:"Edition of the rules: 1e, 2.0 or 2.5." placeholder:"R"`
}

// Run implements the command.
func (c *runCmd) Run(ctx context.Context) error {
	config, err := app.LoadConfig(c.Config)
	if err != nil {
		return err
	}
	given := app.Overrides{Source: c.Source, Lens: c.Lens, Calibration: c.Calibration, Listen: c.Listen, Rules: c.Rules}
	config, err = config.With(given)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	config = config.WithChosenCamera(log)
	err = app.Run(ctx, config, app.Options{
		Version: version,
		Log:     log,
		Ready: func(address string) {
			page := config.Web.PageURL(address)
			source := "source " + config.Camera.Source
			if config.Camera.Source == "" {
				source = "no camera yet: choose it on " + strings.TrimSuffix(page, "/") + "/first"
			}
			fmt.Fprintf(os.Stderr, "sightline: the page is on %s (%s, rules %v)\n", page, source, config.Rules.Edition)
		},
	})
	return given.InFile(c.Config, err)
}
