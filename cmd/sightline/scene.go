package main

import (
	"fmt"
	"io"

	"sightline/cmd/internal/terminal"
	"sightline/engine"
	"sightline/engine/scenefile"
)

// oneScene reads a file with one scene, from stdin for "-".
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

// sceneName returns the name of a scene file for errors.
func sceneName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// plainNames makes the names in a scene, and those requested, safe for a terminal: a file may come
// from anywhere.
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
