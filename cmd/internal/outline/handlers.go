package outline

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"sightline/calibration"
	"sightline/calibration/quick"
	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/fiducial"
)

//go:embed static
var static embed.FS

// Options are the dependencies of the page.
type Options struct {
	Hub     *live.Hub
	Layout  calibration.Layout    // of the mat and its markers
	Markers vision.MarkerDetector // nil: a photograph is calibrated only by the mat's corners
	Rules   func() Rules
	// Read finds the ships whose printed codes a picture shows; nil: none are looked for.
	Read func(calibration.Table, vision.Frame) ([]engine.Ship, error)
	// Hold holds the marked picture for everyone, and returns its number. Its errors are for people.
	Hold func(live.Held, live.Choice) (uint64, error)
	Now  func() time.Time
	Log  *slog.Logger
	File string // stores the last marks in a picture of the camera; "": not stored
	// Judges reports whether a request is a judge's, whom no agreement on measuring binds; nil: none is.
	Judges func(*http.Request) bool
}

// Desk keeps the pictures and serves the page.
type Desk struct {
	o         Options
	shelf     shelf
	kept      *memory
	detecting sync.Mutex // held while a photograph is searched for markers, which takes a second of a small computer's time
}

// New returns a desk without pictures.
func New(o Options) *Desk {
	kept, err := openMemory(o.File, o.Now())
	if err != nil {
		o.Log.Warn("what was marked by hand before is not known any more", "err", err)
	}
	return &Desk{o: o, kept: kept}
}

// Routes returns the addresses of the page and its data.
func (d *Desk) Routes() []web.Route {
	return append(web.FolderRoutes(static, "outline"),
		web.Route{Pattern: "POST /api/outline/pictures", Role: access.Player, Handler: d.newPicture, Body: photoBytes + 1},
		web.Route{Pattern: "GET /api/outline/pictures/{id}", Role: access.Player, Handler: d.with(d.describe)},
		web.Route{Pattern: "GET /api/outline/pictures/{id}/pixels", Role: access.Player, Handler: d.with(d.pixels)},
		web.Route{Pattern: "POST /api/outline/pictures/{id}/calibration", Role: access.Player, Handler: d.with(d.calibrate)},
		web.Route{Pattern: "POST /api/outline/pictures/{id}/snap", Role: access.Player, Handler: d.with(d.snap)},
		web.Route{Pattern: "POST /api/outline/pictures/{id}/answer", Role: access.Player, Handler: d.with(d.answer)},
		web.Route{Pattern: "POST /api/outline/pictures/{id}/hold", Role: access.Player, Handler: d.with(d.hold)})
}

// with finds the picture that the address names.
func (d *Desk) with(answer func(http.ResponseWriter, *http.Request, *picture)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := d.shelf.get(r.PathValue("id"), d.o.Now())
		if p == nil {
			http.Error(w, "This picture is no longer kept: pictures are kept for an hour, the last three of them. Take or drop it again.",
				http.StatusNotFound)
			return
		}
		answer(w, r, p)
	}
}

// uploadTime is how long a photograph may take to arrive.
const uploadTime = time.Minute

// newPicture accepts a photograph (its bytes, named by ?name=), or with ?from=live or ?from=held
// takes the camera's picture.
func (d *Desk) newPicture(w http.ResponseWriter, r *http.Request) {
	now := d.o.Now()
	var p *picture
	var err error
	if from := r.URL.Query().Get("from"); from != "" {
		p, err = d.ofCamera(from)
	} else {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(uploadTime))
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * uploadTime))
		p, err = d.ofPhoto(w, r)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	d.shelf.put(p, now)
	d.describe(w, r, p)
}

// ofPhoto reads a photograph and calibrates it by its markers, if it shows them.
func (d *Desk) ofPhoto(w http.ResponseWriter, r *http.Request) (*picture, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, photoBytes))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, fmt.Errorf("the picture is larger than %d MB", photoBytes>>20)
	}
	if err != nil {
		return nil, errors.New("the picture did not arrive completely")
	}
	name := sentence.Shorten(path.Base("/" + r.URL.Query().Get("name")))
	if name == "/" || name == "." {
		name = "photograph"
	}
	f, err := readPhoto(raw, name)
	if err != nil {
		return nil, err
	}
	p := &picture{source: "photograph " + name, frame: f}
	t, ok, err := d.byMarkers(f)
	if ok {
		err = d.calibrated(p, t, "markers")
	}
	return p, err
}

// calibrated sets a picture's table, and reads the codes that the picture shows, with which marks must agree.
func (d *Desk) calibrated(p *picture, t calibration.Table, from string) error {
	if err := p.calibrate(t, from, d.o.Now()); err != nil || d.o.Read == nil {
		return err
	}
	d.detecting.Lock()
	defer d.detecting.Unlock()
	ships, err := d.o.Read(t, p.frame)
	if err != nil { // then nothing contradicts the marks
		d.o.Log.Info("no codes are read in a picture that is marked by hand", "err", err)
	}
	p.read(ships)
	return nil
}

// byMarkers calibrates a photograph by the mat's markers. The error is fiducial.ErrMirrored if they can only be read mirrored.
func (d *Desk) byMarkers(f vision.Frame) (t calibration.Table, ok bool, err error) {
	if d.o.Markers == nil {
		return t, false, nil
	}
	d.detecting.Lock()
	found, err := fiducial.DetectMarkers(d.o.Markers, f.Gray)
	d.detecting.Unlock()
	if errors.Is(err, fiducial.ErrMirrored) {
		return t, false, err
	}
	if err != nil {
		return t, false, nil
	}
	width, height := f.Size()
	s, err := quick.Solve(quick.Input{Layout: d.o.Layout, Views: []quick.View{{Name: f.Name, Seen: vision.Sightings(found)}},
		Width: width, Height: height})
	if err != nil {
		d.o.Log.Info("a photograph is not calibrated by its markers", "markers", len(found), "err", err)
		return t, false, nil
	}
	return s.Table, true, nil
}

// ofCamera returns the newest or the held picture.
func (d *Desk) ofCamera(from string) (*picture, error) {
	state := d.o.Hub.Newest()
	p := &picture{live: true}
	switch {
	case from == "held" && state.Hold == nil:
		return nil, errors.New("nothing is held: hold the picture first")
	case state.Hold != nil && (from == "held" || from == "live"): // what every page shows, with its own calibration
		p.seen, p.live = *state.Hold, !state.Hold.Marked // the held picture may be a photograph
	case from == "live" && notOfNow(state.Health.Code) && state.Frame.Gray != nil:
		return nil, fmt.Errorf("the camera's picture is not of now: %s", strings.TrimSuffix(state.Health.Line(), "."))
	case from == "live" && state.Health.Code == live.OK:
		p.seen = live.Held{Register: state.Register, Source: state.Source, Frame: state.Frame, Region: state.Region, Located: state.Located,
			Tracks: state.Tracks, ObstaclesWatched: state.ObstaclesWatched, Play: state.Play,
			Touch: state.Play.Touches()}
	case from == "live": // nothing that is known of the table need fit this picture: it counts as a photograph
		p.seen, p.live = live.Held{Source: state.Source, Frame: state.Frame, Region: state.Region}, false
	default:
		return nil, fmt.Errorf("from: expected live or held, got %q", from)
	}
	if p.frame, p.source = p.seen.Frame, p.seen.Source; p.frame.Gray == nil {
		return nil, errors.New("there is no picture of a camera: drop a photograph here")
	}
	p.register = p.seen.Register
	if t, err := calibration.ParseTableFile(p.register.File); err == nil {
		p.table, p.from = &t, "table"
		return p, nil
	}
	t, ok, err := d.byMarkers(p.frame)
	if ok {
		err = d.calibrated(p, t, "markers")
	}
	return p, err
}

// notOfNow reports whether the newest picture of a camera in this state may show an earlier time.
func notOfNow(c live.Code) bool {
	return slices.Contains([]live.Code{live.Starting, live.NoCamera, live.Stale, live.Frozen, live.Torn}, c)
}

// pictureJSON is a picture for the page.
type pictureJSON struct {
	ID         string            `json:"id"`
	Source     string            `json:"source"`
	Width      int               `json:"width"`
	Height     int               `json:"height"`
	From       string            `json:"calibrated_by"` // table, markers, corners; "": not calibrated
	SigmaMM    *float64          `json:"sigma_mm"`      // of a base's place at the middle of the mat
	WorstMM    *float64          `json:"worst_sigma_mm"`
	Camera     *cameraJSON       `json:"camera"`
	MatMM      [2]float64        `json:"mat_mm"`
	Wires      map[string][]wire `json:"wires"`
	Ships      []shipJSON        `json:"ships"` // seen by the camera
	Watched    bool              `json:"obstacles_watched"`
	Markers    bool              `json:"finds_markers"`
	Rules      string            `json:"rules"`
	HeldNumber uint64            `json:"held"`
	Kept       *keptJSON         `json:"kept"` // marks in an earlier picture of the camera; nil: none
}

// describe sends a picture's data.
func (d *Desk) describe(w http.ResponseWriter, _ *http.Request, p *picture) {
	table, _, from := p.calibration()
	rules := d.o.Rules()
	width, height := p.frame.Size()
	out := pictureJSON{ID: p.id, Source: p.source, Width: width, Height: height, From: from, Wires: map[string][]wire{},
		MatMM: [2]float64{float64(d.o.Layout.Width), float64(d.o.Layout.Height)}, Ships: []shipJSON{},
		Watched: p.seen.ObstaclesWatched, Markers: d.o.Markers != nil, Rules: rules.Edition.String(), HeldNumber: p.seen.Number,
		Kept: d.kept.in(p, d.o.Now())}
	if table != nil {
		out.Camera = cameraOf(table)
		out.MatMM = out.Camera.MatMM
		middle, worst := sureTo(table)
		out.SigmaMM, out.WorstMM = &middle, &worst
	}
	profile, err := engine.ProfileNamed(rules.Profile)
	if err != nil {
		profile = engine.Nominal()
	}
	for _, b := range []engine.Base{engine.Small, engine.Medium, engine.Large} {
		out.Wires[b.String()] = wiresOf(&profile, rules.Edition, b)
	}
	for _, s := range p.seen.Located.Scene.Ships {
		out.Ships = append(out.Ships, shipJSON{ID: s.ID, Player: s.Player, Base: s.Base.String(), X: s.Pose.X, Y: s.Pose.Y,
			Heading: s.Pose.Heading.Normalized().Degrees()})
	}
	web.WriteJSON(w, http.StatusOK, out)
}

// pixels sends the picture: a camera's without loss, a photograph as it was received.
func (d *Desk) pixels(w http.ResponseWriter, r *http.Request, p *picture) {
	var img image.Image = p.frame.Gray
	if p.frame.Color != nil {
		img = p.frame.Color
	}
	var buf bytes.Buffer
	var err error
	kind := "image/png"
	if r.URL.Query().Get("quick") == "1" {
		kind = "image/jpeg"
		err = jpeg.Encode(&buf, img, &jpeg.Options{Quality: 92})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&buf, img)
	}
	if err != nil {
		http.Error(w, "The picture cannot be encoded.", http.StatusInternalServerError)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(uploadTime))
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(buf.Bytes())
}

// calibrate accepts {"corners_px":[[310,980],…],"mat_mm":[914.4,914.4]}: the mat's corners in the
// picture, followed by points of its edges.
func (d *Desk) calibrate(w http.ResponseWriter, r *http.Request, p *picture) {
	var in struct {
		Corners [][2]float64 `json:"corners_px"`
		Sigma   float64      `json:"sigma_px"` // precision of the taps; 0: a pixel
		Mat     [2]float64   `json:"mat_mm"`
	}
	if !web.ReadBody(w, r, &in, bodyMost, `{"corners_px":[[310,980],[1650,975],[1460,210],[520,215]]}`) {
		return
	}
	if in.Mat == ([2]float64{}) {
		in.Mat = [2]float64{float64(d.o.Layout.Width), float64(d.o.Layout.Height)}
	}
	if !(in.Sigma >= 0) || in.Sigma > tapMost {
		refuse(w, fmt.Errorf("sigma_px: expected 0 to %d, got %g", tapMost, in.Sigma))
		return
	}
	width, height := p.frame.Size()
	at := make([]geom.Pixel, len(in.Corners))
	for i, c := range in.Corners {
		at[i] = geom.Pixel{X: c[0], Y: c[1]}
		if !(c[0] >= -0.5 && c[1] >= -0.5 && c[0] <= float64(width)-0.5 && c[1] <= float64(height)-0.5) {
			refuse(w, fmt.Errorf("(%g, %g) is not in the picture", c[0], c[1]))
			return
		}
	}
	question, err := quick.Corners(geom.Length(in.Mat[0]), geom.Length(in.Mat[1]), at, max(in.Sigma, quick.ClickSigma), width, height)
	if err != nil {
		refuse(w, plain(err))
		return
	}
	s, err := quick.Solve(question)
	if err != nil {
		refuse(w, plain(err))
		return
	}
	if err := d.calibrated(p, s.Table, "corners"); err != nil {
		refuse(w, plain(err))
		return
	}
	d.describe(w, r, p)
}

// tapMost, in px, is worse than any finger on a visible picture.
const tapMost = 50

// plain explains to people why corners do not calibrate a picture.
func plain(err error) error {
	if errors.Is(err, quick.ErrMarkers) {
		return errors.New("no usual lens shows the mat's corners so: tap them in their order, near left, near right, far right, far left as " +
			"player 1 sees them, and check the mat's size")
	}
	return err
}

// answer measures the marked ships.
func (d *Desk) answer(w http.ResponseWriter, r *http.Request, p *picture) {
	if a, ok := d.measured(w, r, p); ok {
		web.WriteJSON(w, http.StatusOK, a.json(d.agreed(r)))
	}
}

// agreed returns the agreement on measuring that binds who asks. It binds photographs too: they
// show the table as the camera does.
func (d *Desk) agreed(r *http.Request) live.Policy {
	if d.o.Judges != nil && d.o.Judges(r) {
		return live.Policy{}
	}
	return d.o.Hub.Newest().Policy
}

// measured reads and measures the marks. If that fails, it answers the request and reports false.
func (d *Desk) measured(w http.ResponseWriter, r *http.Request, p *picture) (a answered, ok bool) {
	var in request
	if !web.ReadBody(w, r, &in, bodyMost, `{"ships":[{"id":"A1","base":"small","tries":[{"x_mm":300,"y_mm":200,"heading_deg":90}]}]}`) {
		return a, false
	}
	a, err := p.measure(&in, d.o.Rules(), d.o.Now())
	if err != nil {
		refuse(w, err)
		return a, false
	}
	if err := d.kept.keep(p, &in, d.o.Now()); err != nil {
		d.o.Log.Warn("what is marked by hand will not outlast the program", "err", err)
	}
	return a, true
}

// hold holds the marked picture: every page shows it, and a judge can rule on it.
func (d *Desk) hold(w http.ResponseWriter, r *http.Request, p *picture) {
	a, ok := d.measured(w, r, p)
	if !ok {
		return
	}
	if state := a.held.State(a.choice); state.Pair == nil {
		refuse(w, fmt.Errorf("nothing can be held: %s", state.Reason))
		return
	}
	n, err := d.o.Hold(a.held, a.choice)
	if err != nil {
		refuse(w, err)
		return
	}
	web.WriteJSON(w, http.StatusOK, struct {
		Held  uint64 `json:"held"`
		Judge string `json:"judge"` // the page on which a judge rules
	}{n, "/judge?" + url.Values{"from": {a.choice.From}, "to": {a.choice.To}}.Encode()})
}

// bodyMost suffices for more than forty ships with ten tries each.
const bodyMost = 60 << 10

// refuse answers with an error for people.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if errors.Is(err, live.ErrOvertaken) {
		status = http.StatusConflict
	}
	http.Error(w, sentence.Of(err), status)
}
