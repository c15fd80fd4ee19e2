package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/draw"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/setup"
	"sightline/cmd/internal/sheet"
	"sightline/engine/geom"
)

// calibrationEvery is how often an unchanged state is sent again, so that a page can tell silence
// from a lost connection.
const calibrationEvery = time.Second

// calibrationRoutes adds the addresses of the guided calibration.
func (s *Server) calibrationRoutes(mux *router) {
	mux.Handle("GET /calibrate", s.Allow(access.Nobody, Static(static, "static/calibrate.html")))
	mux.Handle("GET /api/calibration", s.Allow(access.Reader, s.calibration))
	mux.Handle("GET /api/calibration/events", s.Allow(access.Reader, s.guard.Streaming(s.calibrationEvents)))
	mux.Handle("POST /api/calibration", s.Allow(access.Player, s.calibrate))
	mux.Handle("GET /api/calibration/picture.jpg", s.Allow(access.Reader, s.calibrationPicture))
	mux.Handle("GET /api/calibration/heat.svg", s.Allow(access.Reader, s.guard.Costly(s.calibrationHeat)))
	mux.Handle("GET /api/calibration/sheet/{file}", s.Allow(access.Reader, s.guard.Costly(s.calibrationSheet)))
}

func (s *Server) calibration(w http.ResponseWriter, _ *http.Request) {
	v := s.o.Calibration.Newest()
	WriteJSON(w, http.StatusOK, calibrationStateOf(&v))
}

// calibrationEvents streams the state of the calibration.
func (s *Server) calibrationEvents(w http.ResponseWriter, r *http.Request) {
	event := func(v live.CalibrationState) (string, error) { return stateEvent(v.Seq, calibrationStateOf(&v)) }
	again := func() (string, error) { return event(s.o.Calibration.Newest()) }
	stream(w, r, s.o.Calibration.Listen, event, calibrationEvery, again)
}

// calibrate accepts an intent: {"do":"capture","board":"chessboard:9x6:25mm"}. It refuses with 409
// what is possible only at another time, and with 400 what is never possible.
func (s *Server) calibrate(w http.ResponseWriter, r *http.Request) {
	in, confirmed, problem := readIntent(http.MaxBytesReader(w, r.Body, bodyMost))
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	if why, confirm := s.stopsAnswers(in); why != "" && !(confirm && confirmed) {
		if confirm {
			w.Header().Set("Sightline-Confirm", "true")
		}
		http.Error(w, why, http.StatusConflict)
		return
	}
	switch err := s.o.Calibrate(in); {
	case errors.Is(err, setup.ErrOrder):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// stopsAnswers returns, as a sentence, what everyone at the table loses by an intent that takes the
// camera from the game; "" if nothing. confirm reports whether a confirmation is enough. It is not
// while the picture is held, perhaps for a ruling.
func (s *Server) stopsAnswers(in setup.Intent) (why string, confirm bool) {
	if now := s.o.Calibration.Newest().State; now.Busy() || !now.Active || !takesCamera(in) {
		return "", false
	}
	state := s.o.Hub.Newest()
	switch {
	case state.Hold != nil && state.Hold.AskedBy != "":
		return fmt.Sprintf("%s called a judge, and the picture is held for the ruling: calibrate when it is released.",
			sentence.Upper(state.Hold.AskedBy)), false
	case state.Held || state.Hold != nil:
		return "The picture is held, and a judge may rule on it: calibrate when it is released.", false
	case state.Health.Code != live.OK || len(state.Located.Scene.Ships) == 0:
		return "", false
	}
	lost := fmt.Sprintf("the places of %d ships", len(state.Located.Scene.Ships))
	if len(state.Located.Scene.Ships) == 1 {
		lost = "the place of " + state.Located.Scene.Ships[0].ID
	}
	if c := state.Choice; c.From != "" && c.To != "" {
		lost += fmt.Sprintf(", and the answer from %s to %s", c.From, c.To)
	}
	if d := state.Policy.Window; d != nil {
		lost += fmt.Sprintf(", and what is declared (%s)", d.Text())
	}
	return "A game is on. Calibrating takes the camera from it, and everyone at the table loses " + lost + ", until the calibration ends.",
		true
}

// takesCamera reports whether an intent ends the step that needs no camera.
func takesCamera(in setup.Intent) bool {
	return in.Do == setup.Go && in.Step != setup.Print || in.Do == setup.Quick
}

// intentJSON is an intent of the page.
type intentJSON struct {
	Do    setup.Action `json:"do"`
	Sure  bool         `json:"confirm"` // the user accepts that answers stop for everyone
	Step  setup.Step   `json:"step"`
	Board string       `json:"board"`
	BarX  float64      `json:"bar_x_mm"`
	BarY  float64      `json:"bar_y_mm"`

	ScaleX float64 `json:"scale_x"` // scale for which the measured sheet was drawn
	ScaleY float64 `json:"scale_y"`

	CardBar   float64 `json:"card_bar_mm"`
	Thickness float64 `json:"card_thickness_mm"`
	BaseTop   float64 `json:"base_top_mm"`

	Distances []distanceJSON `json:"distances"` // measured between markers
}

// distanceJSON is a distance measured with a steel rule between the middles of two markers.
type distanceJSON struct {
	From   int     `json:"from"`
	To     int     `json:"to"`
	Length float64 `json:"length_mm"`
}

// readIntent reads an intent; problem is a sentence for people.
func readIntent(body io.Reader) (in setup.Intent, confirmed bool, problem string) {
	var raw intentJSON
	if problem = readJSON(body, &raw, `{"do":"start"}`); problem != "" {
		return in, false, problem
	}
	if raw.Do == "" {
		return in, false, "do is missing: what is to be done, such as \"start\"."
	}
	if len(raw.Board) > 64 {
		return in, false, "A board is described in at most 64 characters."
	}
	var distances []calibration.ScaleDistance
	for _, d := range raw.Distances {
		distances = append(distances, calibration.ScaleDistance{From: d.From, To: d.To, Length: geom.Length(d.Length) * geom.Millimeter,
			Sigma: calibration.DefaultRuleSigma})
	}
	return setup.Intent{
		Do: raw.Do, Step: raw.Step, Board: raw.Board,
		BarX: geom.Length(raw.BarX) * geom.Millimeter, BarY: geom.Length(raw.BarY) * geom.Millimeter, ScaleX: raw.ScaleX, ScaleY: raw.ScaleY,
		Card: setup.CardMeasures{
			Bar: geom.Length(raw.CardBar) * geom.Millimeter, Thickness: geom.Length(raw.Thickness) * geom.Millimeter,
			BaseTop: geom.Length(raw.BaseTop) * geom.Millimeter,
		},
		Distances: distances,
	}, raw.Sure, ""
}

func (s *Server) calibrationPicture(w http.ResponseWriter, _ *http.Request) {
	v := s.o.Calibration.Newest()
	data, err := s.calibrationPictures.encode(&live.State{Frame: v.Frame})
	if err != nil || v.Frame.Gray == nil {
		http.Error(w, "There is no picture of a calibration.", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	_, _ = w.Write(data)
}

// calibrationHeat draws the uncertainty of the table's calibration over the mat, with texts in the
// browser's language: the page cannot translate a picture.
func (s *Server) calibrationHeat(w http.ResponseWriter, r *http.Request) {
	t := s.o.Calibration.Newest().State.Table.Table
	if t == nil {
		http.Error(w, "There is no table calibration yet.", http.StatusNotFound)
		return
	}
	var buf bytes.Buffer
	o := draw.HeatOptions{Texts: languages().CatalogueOf(r)}
	if err := draw.HeatMap(&buf, calibration.NewBudget(*t, calibration.Uncertainty{}), o); err != nil {
		http.Error(w, sentence.Of(err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Vary", "Accept-Language")
	_, _ = w.Write(buf.Bytes())
}

// calibrationSheet draws a sheet to print: board.pdf?board=chessboard:9x6:25mm, mat-markers.pdf,
// check-card.pdf; with paper=letter for US paper. It compensates the printer's measured scale.
func (s *Server) calibrationSheet(w http.ResponseWriter, r *http.Request) {
	v := s.o.Calibration.Newest()
	q := r.URL.Query()
	paper, err := sheet.ParsePaper(q.Get("paper"))
	if q.Get("paper") == "" {
		paper, err = sheet.ParsePaper("a4")
	}
	if err == nil {
		p := v.State.Print
		paper.Printer, err = sheet.ParsePrinterScale(p.ScaleX, p.ScaleY)
	}
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	pages, err := s.sheet(r.PathValue("file"), q.Get("board"), paper)
	switch {
	case errors.Is(err, errNoSheet):
		http.NotFound(w, r)
		return
	case err != nil:
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	var buf bytes.Buffer
	if err := sheet.WritePDF(&buf, pages); err != nil {
		http.Error(w, "The sheet cannot be drawn: "+err.Error()+".", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/pdf")
	w.Header().Set("Content-Disposition", "inline; filename="+strconv.Quote(r.PathValue("file")))
	_, _ = w.Write(buf.Bytes())
}

var errNoSheet = errors.New("no such sheet")

// sheet draws a sheet by the name of its file.
func (s *Server) sheet(file, board string, paper sheet.Paper) ([]sheet.Page, error) {
	var page sheet.Page
	var err error
	switch file {
	case "board.pdf":
		var b calibration.Board
		if b, err = calibration.ParseBoard(board); err == nil {
			page, err = sheet.LensBoard(paper, b)
		}
	case "mat-markers.pdf":
		return sheet.MatMarkers(paper, s.o.Layout)
	case "jig.pdf":
		return sheet.Jig(paper)
	case "check-card.pdf":
		page, err = sheet.CheckCard(paper, verify.DefaultCard())
	default:
		return nil, errNoSheet
	}
	return []sheet.Page{page}, err
}
