package projector

import (
	"embed"
	"encoding/json"
	"net/http"
	"time"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/web"
)

//go:embed static
var static embed.FS

// Routes returns the page's addresses.
func (d *Desk) Routes() []web.Route {
	return append(web.PageRoutes(static, "projector"),
		web.Route{Pattern: "GET /api/projector", Role: access.Reader, Handler: d.get},
		web.Route{Pattern: "POST /api/projector", Role: access.Player, Handler: d.post},
		web.Route{Pattern: "POST /api/projector/screen", Role: access.Player, Handler: d.postScreen})
}

// stateJSON is the projector's state.
type stateJSON struct {
	State    string      `json:"state"` // none, setting_up, ready, void
	Text     string      `json:"text"`  // a sentence
	Trouble  string      `json:"trouble"`
	Screen   *screenJSON `json:"screen"` // null: no page is open
	Map      *mapJSON    `json:"map"`    // null: no map yet
	On       bool        `json:"on"`
	Lit      bool        `json:"lit"`
	Why      string      `json:"why"` // why nothing is lit, in a few words; "": lines are lit between pictures
	CanSetUp bool        `json:"can_set_up"`
}

type screenJSON struct {
	Width  int `json:"width_px"`
	Height int `json:"height_px"`
}

type mapJSON struct {
	RMS      float64 `json:"rms_mm"`
	Worst    float64 `json:"worst_mm"`
	Fitted   int     `json:"fitted_tags"`
	Verified int     `json:"verified_tags"`
	Delay    int     `json:"delay_ms"`
	Made     int64   `json:"made_unix_ms"`
}

func (d *Desk) get(w http.ResponseWriter, _ *http.Request) { writeJSON(w, d.state()) }

func (d *Desk) state() stateJSON {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.o.Now()
	out := stateJSON{State: "none", Trouble: d.trouble, Lit: d.now.show == showLines, Why: d.why, CanSetUp: d.o.Markers != nil,
		Text: "The projector is not set up."}
	if now.Sub(d.screen.asked) <= screenLost {
		out.Screen = &screenJSON{d.screen.width, d.screen.height}
	}
	if k := d.kept; k != nil {
		out.State, out.Text, out.On = "ready", "The projector is set up.", !k.Off
		out.Map = &mapJSON{k.Errors.RMS, k.Errors.Worst, k.Fitted, k.Errors.Tags, k.Delay, k.Made.UnixMilli()}
		if k.Void != "" {
			out.State, out.Text = "void", k.Void
		}
	}
	switch {
	case d.settingUp():
		out.State, out.Text = "setting_up", d.setup.text+"."
	case d.setup != nil && d.setup.failed != "":
		out.Trouble = d.setup.failed
	}
	return out
}

// post returns a handler for an action of the page, which answers with the projector's state.
func (d *Desk) post(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Do string `json:"do"`
	}
	const most = 1 << 10
	if !web.ReadBody(w, r, &in, most, `{"do":"start"}`) {
		return
	}
	var err error
	switch in.Do {
	case "start":
		err = d.Start()
	case "cancel":
		d.Cancel()
	case "forget":
		err = d.Forget()
	case "on", "off":
		err = d.Switch(in.Do == "on")
	default:
		http.Error(w, `do: expected start, cancel, forget, on or off.`, http.StatusBadRequest)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	writeJSON(w, d.state())
}

// screenRequest describes the page in front of the projector.
type screenRequest struct {
	ID     string `json:"id"` // its own, random
	Width  int    `json:"width_px"`
	Height int    `json:"height_px"`
	Shown  uint64 `json:"shown"` // number of the shown command
}

// commandJSON is the command for the page.
type commandJSON struct {
	Seq   uint64 `json:"seq"`
	Show  string `json:"show"`   // dark, pattern, lines
	ForMS int64  `json:"for_ms"` // from the page's request; then dark
	Tags  []Tag  `json:"tags"`
	Lines []Line `json:"lines"`
}

const (
	heldFor   = 500 * time.Millisecond // how long a request waits for a new command
	leaseTime = 2 * time.Second        // how long a pattern is shown without another command
)

// postScreen sends the page in front of the projector its command. It answers when the command
// differs from what the page shows, or after heldFor.
func (d *Desk) postScreen(w http.ResponseWriter, r *http.Request) {
	var in screenRequest
	const most = 1 << 10
	asked := d.o.Now()
	if !web.ReadBody(w, r, &in, most, `{"id":"k3v9","width_px":1920,"height_px":1080,"shown":0}`) {
		return
	}
	switch {
	case len(in.ID) < 4 || len(in.ID) > 64:
		http.Error(w, "id: expected 4 to 64 characters.", http.StatusBadRequest)
		return
	case in.Width < 1 || in.Height < 1 || in.Width > largestScreen || in.Height > largestScreen:
		http.Error(w, "width_px and height_px: expected 1 to 16384.", http.StatusBadRequest)
		return
	}
	if !d.enter(&in, asked) {
		http.Error(w, "Another window is in front of the projector.", http.StatusConflict)
		return
	}
	timer := time.NewTimer(heldFor)
	defer timer.Stop()
	for {
		d.mu.Lock()
		c, changed := d.now, d.changed
		d.mu.Unlock()
		if c.seq != in.Shown {
			writeJSON(w, c.json(asked))
			return
		}
		select {
		case <-changed:
		case <-timer.C:
			writeJSON(w, c.json(asked))
			return
		case <-r.Context().Done():
			return
		}
	}
}

// enter makes a page the one in front of the projector. It reports false while there is another.
func (d *Desk) enter(in *screenRequest, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.screen.id != in.ID && now.Sub(d.screen.asked) <= screenLost {
		return false
	}
	if d.screen.id != in.ID || in.Shown != d.screen.shown {
		d.screen.shownAt = now
	}
	d.screen.id, d.screen.width, d.screen.height, d.screen.asked, d.screen.shown = in.ID, in.Width, in.Height, now, in.Shown
	if in.Shown == d.now.seq {
		d.dark(now)
	}
	return true
}

// json returns a command for a page that asked at a time.
func (c *command) json(asked time.Time) commandJSON {
	until := c.until
	if until.IsZero() {
		until = asked.Add(leaseTime)
	}
	out := commandJSON{Seq: c.seq, Show: c.show, ForMS: max(0, until.Sub(asked).Milliseconds()), Tags: c.tags, Lines: c.lines}
	if out.Tags == nil {
		out.Tags = []Tag{}
	}
	if out.Lines == nil {
		out.Lines = []Line{}
	}
	return out
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}
