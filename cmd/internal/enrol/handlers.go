package enrol

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"strconv"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision/jig"
	"sightline/vision/look"
)

//go:embed static
var static embed.FS

// Routes returns the routes of the page and its data.
func (d *Desk) Routes() []web.Route {
	return append(web.FolderRoutes(static, "looks"),
		web.Route{Pattern: "GET /api/looks", Role: access.Reader, Handler: d.state},
		web.Route{Pattern: "POST /api/looks", Role: access.Player, Handler: d.do},
		web.Route{Pattern: "GET /api/looks/sheet.jpg", Role: access.Reader, Handler: d.sheetPicture},
		web.Route{Pattern: "GET /api/looks/{name}/picture.png", Role: access.Reader, Handler: d.lookPicture})
}

// stateJSON is the state of the page.
type stateJSON struct {
	Looks   []lookJSON    `json:"looks"`
	Damaged []damagedJSON `json:"damaged"` // looks that cannot be read
	Problem string        `json:"problem"` // why the looks cannot be read; "": they can
	Showing *showingJSON  `json:"showing"` // nil: no ship is being shown
	Learnt  string        `json:"learnt"`  // the last learnt look; "": none
}

type damagedJSON struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

type lookJSON struct {
	Name    string   `json:"name"`
	Ships   []string `json:"ships"`
	Base    string   `json:"base"`
	Pilot   string   `json:"pilot"`
	Views   int      `json:"views"`
	Color   bool     `json:"color"`
	Scale   float64  `json:"px_per_mm"`
	Place   float64  `json:"jig_mm"`
	Turn    float64  `json:"jig_deg"`
	Version string   `json:"version"` // of its picture, which changes with its front
	Picture string   `json:"picture"` // its address
}

type showingJSON struct {
	Ship  string          `json:"ship"`
	Base  string          `json:"base"`
	Taken [jig.Turns]bool `json:"taken"`
	Next  int             `json:"next"`  // the turn to take, 0…3
	Do    string          `json:"do"`    // instruction for the person
	Why   string          `json:"why"`   // why the last picture gave no view; "": it gave one, or something moved
	Sheet bool            `json:"sheet"` // the sheet is visible
	Seq   uint64          `json:"seq"`   // of the sheet's picture
}

// state sends the page's state, and keeps the desk reading pictures.
func (d *Desk) state(w http.ResponseWriter, _ *http.Request) {
	out := stateJSON{Looks: []lookJSON{}, Damaged: []damagedJSON{}}
	b, err := d.known()
	if err != nil {
		out.Problem, b = sentence.Of(err), &look.Library{}
	}
	for i := range b.Damaged {
		out.Damaged = append(out.Damaged, damagedJSON{b.Damaged[i].Name, b.Damaged[i].Err.Error()})
	}
	for _, l := range b.Looks {
		out.Looks = append(out.Looks, lookJSON{Name: l.Name, Ships: l.Ships, Base: l.Base.String(), Pilot: l.Pilot, Views: l.Views,
			Color: l.Color, Scale: l.Scale, Place: float64(l.Known.Place), Turn: l.Known.Turn.Degrees(), Version: l.Version(),
			Picture: fmt.Sprintf("/api/looks/%s/picture.png?v=%s", l.Name, l.Version())})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = d.o.Now()
	out.Learnt = d.learnt
	if s := d.session; s != nil {
		out.Showing = &showingJSON{Ship: s.Card().Name, Base: s.Card().Base.String(), Taken: s.Taken(), Next: s.Next(), Do: doText(s.Next()),
			Why: d.why, Sheet: d.sheet, Seq: d.seq}
	}
	writeJSON(w, out)
}

// doText returns the instruction for a turn.
func doText(turn int) string {
	if turn == jig.Turns {
		return "All four turns are taken."
	}
	if turn == 0 {
		return "Take the miniature and its pegs off. Push the base into the corner, its front to the arrow 1."
	}
	return fmt.Sprintf("Turn the base by a quarter, its front to the arrow %d, and push it into the corner.", turn+1)
}

// do takes {"do":"show","ships":"A1 A2","base":"small","pilot":"Academy Pilot"}, {"do":"stop"}, and of a look
// {"do":"change","name":"A1","ships":"A1","pilot":"…"}, {"do":"turn","name":"A1","quarters":1}, {"do":"delete","name":"A1"}.
// A change or a turn with a version is refused if the look has another one.
func (d *Desk) do(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Do       string `json:"do"`
		Name     string `json:"name"`
		Ships    string `json:"ships"`
		Base     string `json:"base"`
		Pilot    string `json:"pilot"`
		Quarters int    `json:"quarters"`
		Version  string `json:"version"`
	}
	if !web.ReadBody(w, r, &in, bodyMost, `{"do":"show","ships":"A1","base":"small"}`) {
		return
	}
	var err error
	switch held := d.o.Hub.Newest().Held; {
	case held && in.Do != "stop":
		err = live.ErrReleaseFirst
	case in.Do == "show":
		err = d.show(in.Ships, in.Base, in.Pilot)
	case in.Do == "stop":
		d.stop()
	case in.Do == "change":
		err = d.change(in.Name, in.Version, func(l *look.Look) (*look.Look, error) { return l.Renamed(shipsOf(in.Ships), in.Pilot) })
	case in.Do == "turn":
		err = d.change(in.Name, in.Version, func(l *look.Look) (*look.Look, error) { return l.Turned(in.Quarters), nil })
	case in.Do == "delete":
		if err = d.remove(in.Name); err == nil {
			d.o.Changed()
		}
	default:
		err = fmt.Errorf("do: expected show, stop, change, turn or delete, got %s", strconv.Quote(in.Do))
	}
	switch {
	case errors.Is(err, errGone), errors.Is(err, live.ErrOvertaken), errors.Is(err, live.ErrReleaseFirst):
		http.Error(w, sentence.Of(err), http.StatusConflict)
	case errors.Is(err, live.ErrUnwritten):
		http.Error(w, sentence.Of(err), http.StatusInsufficientStorage)
	case err != nil:
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// bodyMost suffices for twenty ships' names and a pilot's.
const bodyMost = 2 << 10

// show begins to show a card. ships are all ships with this card; the first one is shown.
func (d *Desk) show(text, base, pilot string) error {
	b, err := engine.ParseBase(base)
	if err != nil {
		return err
	}
	ships := shipsOf(text)
	if len(ships) == 0 {
		return errors.New("expected the ship's name, such as A1")
	}
	return d.begin(look.Card{Name: ships[0], Ships: ships, Base: b, Pilot: pilot})
}

// sheetPicture sends the camera's view of the sheet, its arrow up.
func (d *Desk) sheetPicture(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	view := d.view
	d.mu.Unlock()
	var buf bytes.Buffer
	if view == nil || jpeg.Encode(&buf, view, &jpeg.Options{Quality: 88}) != nil {
		http.Error(w, "The sheet is not seen.", http.StatusNotFound)
		return
	}
	writePicture(w, "image/jpeg", buf.Bytes())
}

// lookPicture sends a look, its front up.
func (d *Desk) lookPicture(w http.ResponseWriter, r *http.Request) {
	l, err := look.LoadOne(d.o.Dir, r.PathValue("name"))
	if err != nil {
		http.Error(w, sentence.Of(errGone), http.StatusNotFound)
		return
	}
	var img image.Image = l.Picture()
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		http.Error(w, "The picture cannot be encoded.", http.StatusInternalServerError)
		return
	}
	writePicture(w, "image/png", buf.Bytes())
}

func writePicture(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(data)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}
