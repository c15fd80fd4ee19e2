package main

import (
	"fmt"
	"io"

	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/scenefile"
)

// oneScene reads a file that holds one scene, from stdin for "-".
func oneScene(command, path string, stdin io.Reader) (*engine.Scene, error) {
	data, err := (&measureCmd{Scene: path}).read(stdin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", command, err)
	}
	scenes, _, err := scenefile.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", command, sceneName(path), err)
	}
	if len(scenes) != 1 {
		return nil, fmt.Errorf("%s: %s: scenes: expected one scene, got %d", command, sceneName(path), len(scenes))
	}
	return &scenes[0], nil
}

// sceneName is what errors call a scene file.
func sceneName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// plainNames makes the names of a scene, and those that a command was asked about, fit for a
// terminal: a file may come from anywhere.
func plainNames(s *engine.Scene, asked ...*string) {
	for i := range s.Ships {
		asked = append(asked, &s.Ships[i].ID)
	}
	for i := range s.Obstacles {
		asked = append(asked, &s.Obstacles[i].ID)
	}
	for _, list := range [][]engine.Token{s.Devices, s.Markers} {
		for i := range list {
			asked = append(asked, &list[i].ID)
		}
	}
	for _, name := range asked {
		*name = terminal.Plain(*name)
	}
}
