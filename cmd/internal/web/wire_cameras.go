package web

// CameraView says how one of the further cameras is.
type CameraView struct {
	Name   string
	Source string // as the source names itself
	Used   bool   // what it sees is in the answers
	Why    string // why it is not, in a few words
}

type eyeJSON struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Used   bool   `json:"used"`
	Text   string `json:"text"` // for people
}

// camerasOf lists the further cameras.
func camerasOf(v *View) []eyeJSON {
	out := []eyeJSON{}
	for _, c := range v.Cameras {
		text := c.Name + " in use"
		if !c.Used {
			text = c.Name + " left out: " + c.Why
		}
		out = append(out, eyeJSON{c.Name, c.Source, c.Used, text})
	}
	return out
}
