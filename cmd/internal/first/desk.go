package first

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/sheet"
	"sightline/cmd/internal/web"
	"sightline/vision"
)

//go:embed static
var static embed.FS

// simulatedSource is the source of the simulated table, which every machine has.
const simulatedSource = "sim:"

// Options are the dependencies of the page.
type Options struct {
	Path   string // file in which the page stores the user's choices
	Layout calibration.Layout
	Facts  func() Facts
	Frame  func() vision.Frame // newest picture of the camera in use
	Look   Look
	// UseCamera restarts the program with another camera.
	UseCamera func(Camera)
	// MayRestart says in a sentence why the program may not be restarted now. Nil: it always may.
	MayRestart func() error
	// Named says where the present camera was configured; "": nowhere. The same configuration
	// applies at the next start.
	Named string
	InUse Camera // the camera with which the program was started; without a source: none
	// ScaleX and ScaleY are the configured scale of the printer.
	ScaleX, ScaleY float64
	Board          string // for the lens, as calibration.ParseBoard reads it
}

// Desk is the page for the first table. Its methods are safe for concurrent use.
type Desk struct {
	o       Options
	cameras cameras

	mu   sync.Mutex // guards the fields below
	kept Kept
}

// New returns the page with the stored choices.
func New(o Options, kept Kept) *Desk {
	return &Desk{o: o, kept: kept, cameras: cameras{look: o.Look}}
}

// Kept returns the choices made so far.
func (d *Desk) Kept() Kept {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept
}

// Keep changes the choices and stores them. If storing fails, nothing changes.
func (d *Desk) Keep(change func(*Kept) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := d.kept
	if err := change(&next); err != nil {
		return err
	}
	if err := next.save(d.o.Path); err != nil {
		return unsaved{fmt.Errorf("it cannot be saved: %w", err)}
	}
	d.kept = next
	return nil
}

// Routes returns the page's addresses.
func (d *Desk) Routes() []web.Route {
	return append(web.PageRoutes(static, "first"),
		web.Route{Pattern: "GET /api/first", Role: access.Reader, Handler: d.state},
		web.Route{Pattern: "POST /api/first", Role: access.Player, Handler: d.change},
		web.Route{Pattern: "GET /api/first/camera.jpg", Role: access.Player, Handler: d.picture},
		web.Route{Pattern: "GET /api/first/sheets.pdf", Role: access.Reader, Handler: d.sheets})
}

// stateJSON is the state of the page.
type stateJSON struct {
	Steps   []stepJSON  `json:"steps"`
	Quick   bool        `json:"quick"`
	Paper   string      `json:"paper"`
	Ships   string      `json:"ships"`
	Sheets  string      `json:"sheets"`  // address of the document to print
	Print   *Print      `json:"print"`   // null: no bar was measured
	ScaleX  float64     `json:"scale_x"` // of the printer for which the sheets are drawn
	ScaleY  float64     `json:"scale_y"`
	Camera  cameraJSON  `json:"camera"`
	Answers bool        `json:"answers"`
	Busy    bool        `json:"busy"` // a calibration uses the camera
	Found   []foundJSON `json:"found"`
	Looking bool        `json:"looking"` // the first search for cameras has not ended
}

type stepJSON struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	State State  `json:"state"`
	Now   string `json:"now"`
	Gain  string `json:"gain"`
	Does  string `json:"does"`
	Href  string `json:"href"`
	Needs string `json:"needs"`
}

type cameraJSON struct {
	Source    string `json:"source"` // "": none
	Simulated bool   `json:"simulated"`
	Live      bool   `json:"live"`
	Named     string `json:"named"` // where the camera is configured for the next start too; "": on the page
}

type foundJSON struct {
	Source  string `json:"source"`
	Name    string `json:"name"`
	Modes   string `json:"modes"`
	Problem string `json:"problem"`
	Picture string `json:"picture"` // its address; "": there is none
	InUse   bool   `json:"in_use"`
}

// state sends the page's state. With ?cameras it looks for cameras, and opens each for a picture.
func (d *Desk) state(w http.ResponseWriter, r *http.Request) {
	kept, f := d.Kept(), d.o.Facts()
	f.Quick, f.Print = kept.Quick, kept.Print
	j := stateJSON{
		Quick: kept.Quick, Paper: kept.Paper, Ships: kept.Ships, Sheets: d.sheetsAddress(&kept), Print: kept.Print,
		ScaleX: d.scale(&kept).X, ScaleY: d.scale(&kept).Y,
		Camera:  cameraJSON{f.Camera, f.Simulated, f.Live, d.o.Named},
		Answers: f.Answers, Busy: f.Busy, Found: []foundJSON{},
	}
	for _, s := range Steps(f) {
		j.Steps = append(j.Steps, stepJSON(s))
	}
	if r.URL.Query().Has("cameras") {
		d.cameras.watch(f.Camera)
	}
	all, looking := d.cameras.known()
	j.Looking = looking
	for _, s := range all {
		j.Found = append(j.Found, d.found(s, &f))
	}
	j.Found = append(j.Found, foundJSON{
		Source: simulatedSource, Name: "Simulated table", Modes: "no camera: a scripted game to try everything with", InUse: f.Simulated,
	})
	web.WriteJSON(w, http.StatusOK, j)
}

// found returns a camera of the list.
func (d *Desk) found(s seen, f *Facts) foundJSON {
	j := foundJSON{Source: s.found.Source, Name: s.found.Name, Modes: modesText(s.found.Modes), Problem: s.problem,
		InUse: s.found.Source == f.Camera}
	address := "/api/first/camera.jpg?source=" + s.found.Source
	switch {
	case j.InUse && f.Live:
		j.Problem, j.Picture = "", fmt.Sprintf("%s&n=%d", address, d.o.Frame().Seq)
	case s.jpeg != nil:
		j.Picture = fmt.Sprintf("%s&n=%d", address, s.count)
	}
	return j
}

func (d *Desk) picture(w http.ResponseWriter, r *http.Request) {
	source := r.URL.Query().Get("source")
	picture := d.cameras.picture(source)
	if f := d.o.Facts(); source == f.Camera && f.Live {
		if small, err := thumbnail(d.o.Frame()); err == nil {
			picture = small
		}
	}
	if picture == nil {
		http.Error(w, "There is no picture of this camera yet.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(picture)
}

// intentJSON is an intent of the page.
type intentJSON struct {
	Do     string  `json:"do"` // camera, bars, way, sheets
	Source string  `json:"source"`
	Quick  bool    `json:"quick"`
	Paper  string  `json:"paper"`
	Ships  string  `json:"ships"`
	BarX   float64 `json:"bar_x_mm"`
	BarY   float64 `json:"bar_y_mm"`
	ScaleX float64 `json:"scale_x"` // scale for which the measured sheet was drawn; 0: the newest
	ScaleY float64 `json:"scale_y"`
}

const intentMost = 4 << 10

func (d *Desk) change(w http.ResponseWriter, r *http.Request) {
	var in intentJSON
	if !web.ReadBody(w, r, &in, intentMost, `{"do":"way","quick":true}`) {
		return
	}
	says, err := d.do(in)
	switch {
	case errors.As(err, new(notNow)):
		http.Error(w, sentence.Of(err), http.StatusConflict)
		return
	case errors.As(err, new(unsaved)):
		http.Error(w, sentence.Of(err), http.StatusInsufficientStorage)
		return
	case err != nil:
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	web.WriteJSON(w, http.StatusOK, map[string]string{"says": says})
}

// do carries out an intent, and returns its result as a sentence.
func (d *Desk) do(in intentJSON) (says string, err error) {
	switch in.Do {
	case "camera":
		return d.useCamera(in.Source)
	case "bars":
		err = d.Keep(func(k *Kept) (err error) {
			says, err = k.measure(d.scale(k), in)
			return err
		})
	case "way":
		err = d.Keep(func(k *Kept) error {
			k.Quick = in.Quick
			return nil
		})
	case "sheets":
		err = d.Keep(func(k *Kept) error {
			k.Paper, k.Ships = in.Paper, strings.TrimSpace(in.Ships)
			if err := k.check(); err != nil {
				return err
			}
			_, err := d.pages(k)
			return err
		})
	default:
		err = fmt.Errorf("there is nothing called %q to do: expected camera, bars, way or sheets", in.Do)
	}
	return says, err
}

// unsaved is an error of the disk, not of the request.
type unsaved struct{ error }

// notNow is the refusal of what is possible at another time.
type notNow struct{ error }

// useCamera restarts with a camera of the list.
func (d *Desk) useCamera(source string) (string, error) {
	chosen := Camera{Source: source, Name: "Simulated table"}
	if source != simulatedSource {
		all, _ := d.cameras.known()
		known := false
		for _, s := range all {
			if s.found.Source == source {
				m := best(s.found.Modes)
				chosen = Camera{Source: source, Name: s.found.Name, Width: m.Width, Height: m.Height, FPS: m.FPS}
				known = true
			}
		}
		if !known {
			return "", errors.New("this camera is not in the list any more: plug it in again, and choose when it shows")
		}
		if strings.HasPrefix(source, "csi:") {
			chosen.Width, chosen.Height, chosen.FPS = 0, 0, 0 // a sensor's modes are not the sizes of a video
		}
	}
	if d.o.MayRestart != nil {
		if err := d.o.MayRestart(); err != nil {
			return "", notNow{err}
		}
	}
	err := d.Keep(func(k *Kept) error {
		if was := d.o.InUse; k.Calibrated == nil && was.Source != chosen.Source && !simulated(was.Source) {
			k.Calibrated = &was // the earlier files belong to that camera
		}
		k.Camera = &chosen
		return nil
	})
	if err != nil {
		return "", err
	}
	d.o.UseCamera(chosen)
	says := chosen.Name + " is opened."
	if d.o.Named != "" {
		says += fmt.Sprintf(" At the next start %s applies again: change it there to keep this camera.", d.o.Named)
	}
	return says, nil
}

// simulated reports whether a source is no camera. It is then never calibrated.
func simulated(source string) bool {
	return source == "" || strings.HasPrefix(source, simulatedSource)
}

// sheetsAddress returns the address of the document to print, which changes with the scale.
func (d *Desk) sheetsAddress(k *Kept) string {
	s := d.scale(k)
	return fmt.Sprintf("/api/first/sheets.pdf?paper=%s&quick=%t&scale=%.5f,%.5f", k.Paper, k.Quick, s.X, s.Y)
}

// scale returns the printer's scale.
func (d *Desk) scale(k *Kept) sheet.PrinterScale {
	if k.Print != nil {
		return sheet.PrinterScale{X: k.Print.ScaleX, Y: k.Print.ScaleY}
	}
	return sheet.PrinterScale{X: d.o.ScaleX, Y: d.o.ScaleY}
}

// sheets sends all sheets to print, as one document.
func (d *Desk) sheets(w http.ResponseWriter, _ *http.Request) {
	kept := d.Kept()
	pages, err := d.pages(&kept)
	var b bytes.Buffer
	if err == nil {
		err = sheet.WritePDF(&b, pages)
	}
	if err != nil {
		http.Error(w, "The sheets cannot be drawn: "+err.Error()+".", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Disposition", "inline; filename="+strconv.Quote("first-table-"+kept.Paper+".pdf"))
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = io.Copy(w, &b)
}

func (d *Desk) pages(k *Kept) ([]sheet.Page, error) {
	paper, err := sheet.ParsePaper(k.Paper)
	if err != nil {
		return nil, err
	}
	paper.Printer = d.scale(k)
	set := sheet.Set{Layout: d.o.Layout}
	if set.Tokens, err = sheet.ParseShips(k.Ships); err != nil {
		return nil, err
	}
	if !k.Quick {
		board, err := calibration.ParseBoard(d.o.Board)
		if err != nil {
			return nil, err
		}
		card := verify.DefaultCard()
		set.Board, set.Card = &board, &card
	}
	return sheet.All(paper, set)
}
