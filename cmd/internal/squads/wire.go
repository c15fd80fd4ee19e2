package squads

import (
	"encoding/json"
	"strings"
)

// The file form of a table, which the generator writes and the program embeds: one ship per line.
// The reader also accepts the forms of the source data: a faction's folder name, "Small", arcs with
// their kind, dials as lists.

type factsFile struct {
	Source  string      `json:"source"`
	Edition string      `json:"edition,omitempty"`
	Ships   []shipFacts `json:"ships"`
}

type shipFacts struct {
	XWS     string       `json:"xws"`
	Name    string       `json:"name"`
	Faction names        `json:"faction,omitempty"`
	Size    string       `json:"size"`
	Dial    names        `json:"dial,omitempty"`
	Arcs    arcNames     `json:"arcs,omitempty"`
	Actions actionNames  `json:"actions,omitempty"`
	Stats   arcNames     `json:"stats,omitempty"` // of xwing-data2, in place of arcs
	Pilots  []pilotFacts `json:"pilots"`
}

type pilotFacts struct {
	XWS        string `json:"xws"`
	Name       string `json:"name"`
	Faction    string `json:"faction,omitempty"`
	Initiative *int   `json:"initiative,omitempty"`
	Skill      any    `json:"skill,omitempty"` // a number, or "?"
}

// names is a list of names, or one text with names separated by spaces.
type names []string

func (n *names) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*n = strings.Fields(text)
		return nil
	}
	return json.Unmarshal(data, (*[]string)(n))
}

func (n names) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Join(n, " ")) }

// arcNames is a list of arc names, or of statistics, of which those of attacks name an arc.
type arcNames []string

func (a *arcNames) UnmarshalJSON(data []byte) error {
	*a = nil
	if len(data) > 0 && data[0] == '"' {
		return (*names)(a).UnmarshalJSON(data)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return err
	}
	for _, e := range entries {
		var stat struct{ Arc string }
		if len(e) > 0 && e[0] == '"' {
			if err := json.Unmarshal(e, &stat.Arc); err != nil {
				return err
			}
		} else if err := json.Unmarshal(e, &stat); err != nil {
			return err
		}
		if stat.Arc != "" {
			*a = append(*a, stat.Arc)
		}
	}
	return nil
}

func (a arcNames) MarshalJSON() ([]byte, error) { return names(a).MarshalJSON() }

// actionNames is a list of action names, with a star for red ones, or of the actions of
// xwing-data2, which have a difficulty.
type actionNames []string

func (a *actionNames) UnmarshalJSON(data []byte) error {
	*a = nil
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return err
	}
	for _, e := range entries {
		var action struct{ Type, Difficulty string }
		if len(e) > 0 && e[0] == '"' {
			if err := json.Unmarshal(e, &action.Type); err != nil {
				return err
			}
		} else if err := json.Unmarshal(e, &action); err != nil {
			return err
		}
		if action.Difficulty == "Red" {
			action.Type += "*"
		}
		*a = append(*a, action.Type)
	}
	return nil
}
