package main

import (
	"fmt"
	"io"

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
