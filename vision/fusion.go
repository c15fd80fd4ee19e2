package vision

import (
	"fmt"
	"strings"

	"sightline/engine/geom"
)

// Fusion says how several cameras' views were combined.
type Fusion struct {
	Used      []string      // the names of the views that were used, sorted
	LeftOut   []LeftOutView // the views that were not used, sorted by name
	Conflicts []Conflict    // what the views disagree about; it is not in the scene
}

// Notes says for people what parts of the views the scene lacks.
func (f *Fusion) Notes() (out []string) {
	for _, v := range f.LeftOut {
		out = append(out, v.Name+" is left out: "+v.Why)
	}
	for _, c := range f.Conflicts {
		out = append(out, c.String())
	}
	return out
}

// LeftOutView is a view that was not used.
type LeftOutView struct{ Name, Why string }

// Conflict is a contradiction between views.
type Conflict struct {
	IDs     []string    // of the ships or obstacles, sorted
	Cameras []string    // whose views contradict each other, sorted
	By      geom.Length // how far apart they see it; 0 if the conflict is another
	Why     string      // for people, in a few words
}

// String says it for people: "A1: overhead and left see it 3.0 mm apart".
func (c Conflict) String() string {
	return fmt.Sprintf("%s: %s %s", strings.Join(c.IDs, " and "), strings.Join(c.Cameras, " and "), c.Why)
}
