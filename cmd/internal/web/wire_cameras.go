package web

import "sightline/cmd/internal/live"

type eyeJSON struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Used   bool   `json:"used"`
	Text   string `json:"text"` // for people

	NoObstacles string `json:"no_obstacles"`
}

// camerasOf lists the secondary cameras.
func camerasOf(state *live.State) []eyeJSON {
	out := []eyeJSON{}
	for _, c := range state.Cameras {
		text := c.Name + " in use"
		if !c.Used {
			text = c.Name + " left out: " + c.Why
		} else if c.NoObstacles != "" {
			text = c.Name + " in use, but not for obstacles: " + c.NoObstacles
		}
		out = append(out, eyeJSON{c.Name, c.Source, c.Used, text, c.NoObstacles})
	}
	return out
}
