package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/sentence"
)

//go:embed overlay
var overlayFiles embed.FS

var overlayPages = template.Must(template.ParseFS(overlayFiles, "overlay/*.html"))

// overlayOptions are the options in an overlay's address. An invalid one keeps its default and is
// named in Problems: a typing error must not put a message on air.
type overlayOptions struct {
	Widget  string   `json:"-"`
	Widgets []string `json:"widgets"` // what the page may show

	Pos     string   `json:"pos"`
	Theme   string   `json:"theme"`
	Scale   float64  `json:"scale"`
	Opacity float64  `json:"opacity"`
	TTL     float64  `json:"ttl"` // how long a ruling is shown, in seconds
	View    string   `json:"view"`
	Crop    *[4]int  `json:"crop"`   // the part of the camera's picture in the stream: left, top, width, height; null: all of it
	Region  bool     `json:"region"` // use the part that the box's own page shows
	Demo    bool     `json:"demo"`
	Scene   int      `json:"scene"` // the demo's scene to stay on; -1: all in turn
	Debug   bool     `json:"debug"`
	Token   string   `json:"token"`
	Table   string   `json:"table"` // at a hall: the table, or "program"
	Problem []string `json:"problems"`
}

// overlayWidgets has the widgets of each page.
var overlayWidgets = map[string][]string{
	"table":  {"table"},
	"ruling": {"ruling"},
	"pair":   {"pair"},
	"match":  {"match"},
	"last":   {"last"},
	"all":    {"table", "pair", "ruling", "match", "last"},
}

// overlayDefaults has the places by widget: a match at the top, a table at the side.
var overlayDefaults = map[string]string{"table": "top-right", "ruling": "bottom", "pair": "bottom-left", "match": "top",
	"last": "bottom-right", "all": "bottom-left"}

var (
	overlayPlaces = []string{"top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"}
	overlayThemes = []string{"dark", "light", "high-contrast"}
	overlayViews  = []string{"top", "camera"}
)

// parseOverlay parses the options in a widget's address.
func parseOverlay(widget string, q url.Values) overlayOptions {
	o := overlayOptions{
		Widget: widget, Widgets: overlayWidgets[widget], Pos: overlayDefaults[widget],
		Theme: "dark", Scale: 1, Opacity: 1, TTL: 12, View: "top", Scene: -1, Problem: []string{},
	}
	keys := make([]string, 0, len(q))
	for key := range q {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if problem := o.set(key, q.Get(key)); problem != "" {
			o.Problem = append(o.Problem, problem)
		}
	}
	return o
}

// set sets one option, or returns what was expected.
func (o *overlayOptions) set(key, value string) (problem string) {
	switch key {
	case "pos":
		return oneOf(&o.Pos, key, value, overlayPlaces)
	case "theme":
		return oneOf(&o.Theme, key, value, overlayThemes)
	case "view":
		return oneOf(&o.View, key, value, overlayViews)
	case "scale":
		return numberIn(&o.Scale, key, value, 0.3, 3)
	case "opacity":
		return numberIn(&o.Opacity, key, value, 0.2, 1)
	case "ttl":
		return numberIn(&o.TTL, key, value, 1, 3600)
	case "demo":
		return oneOrNone(&o.Demo, key, value)
	case "debug":
		return oneOrNone(&o.Debug, key, value)
	case "scene":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n >= len(demoScenes) {
			return fmt.Sprintf("scene: expected a whole number from 0 to %d (of the demo), got %s", len(demoScenes)-1, quoted(value))
		}
		o.Scene = n
	case "region":
		return oneOrNone(&o.Region, key, value)
	case "crop":
		crop, ok := parseCrop(value)
		if !ok {
			return fmt.Sprintf("crop: expected left,top,width,height in pixels of the camera's picture such as 420,0,1080,1080, got %s",
				quoted(value))
		}
		o.Crop = &crop
	case "table":
		if len(value) > 16 || strings.Trim(value, "-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return "table: expected the name of a table, or program"
		}
		o.Table = value
	case "token":
		if len(value) > 512 || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return "token: expected the one that the page /overlay/ gives"
		}
		o.Token = value
	default:
		return fmt.Sprintf("%s: there is no such option; expected pos, theme, scale, opacity, ttl, view, crop, region, demo, debug, table or "+
			"token", quoted(key))
	}
	return ""
}

func oneOf(to *string, key, value string, from []string) string {
	if !slices.Contains(from, value) {
		return fmt.Sprintf("%s: expected one of %s, got %s", key, strings.Join(from, ", "), quoted(value))
	}
	*to = value
	return ""
}

func numberIn(to *float64, key, value string, least, most float64) string {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x >= least && x <= most) {
		return fmt.Sprintf("%s: expected a number from %v to %v, got %s", key, least, most, quoted(value))
	}
	*to = x
	return ""
}

func oneOrNone(to *bool, key, value string) string {
	if value != "1" && value != "0" {
		return fmt.Sprintf("%s: expected 1 or 0, got %s", key, quoted(value))
	}
	*to = value == "1"
	return ""
}

// quoted shortens a user's text and quotes it on one line.
func quoted(value string) string { return strconv.Quote(sentence.Shorten(value)) }

// parseCrop parses left,top,width,height in pixels.
func parseCrop(value string) (crop [4]int, ok bool) {
	parts := strings.Split(value, ",")
	if len(parts) != len(crop) {
		return crop, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 20000 || (i >= 2 && n < 16) {
			return crop, false
		}
		crop[i] = n
	}
	return crop, true
}

// OverlayPage serves one overlay page, GET /overlay/{widget}. It needs [Files] at its server's
// root.
func OverlayPage(w http.ResponseWriter, r *http.Request) {
	widget := r.PathValue("widget")
	if widget == "setup" { // an address that people guess
		http.Redirect(w, r, "/overlay/", http.StatusSeeOther)
		return
	}
	if _, known := overlayWidgets[widget]; !known {
		http.Error(w, "There is no overlay of that name; expected table, ruling, pair, match, last or all. /overlay/ shows them.",
			http.StatusNotFound)
		return
	}
	o := parseOverlay(widget, r.URL.Query())
	data, err := json.Marshal(o)
	if err != nil {
		http.Error(w, "The options cannot be written as JSON.", http.StatusInternalServerError)
		return
	}
	page := struct {
		overlayOptions
		JSON     string
		Contrast bool
	}{o, string(data), o.Theme == "high-contrast"}
	if page.Contrast {
		page.Theme = "dark"
	}
	if len(o.Problem) > 0 {
		w.Header().Set("Sightline-Overlay-Problem", strings.ToValidUTF8(strings.Join(o.Problem, "; "), ""))
	}
	allowFraming(w)
	overlayTemplate(w, "page.html", page)
}

// allowFraming allows other pages to embed this one, as a local file in OBS does (see
// bootstrap.html). These pages have nothing to press, so a user cannot be tricked into pressing it.
func allowFraming(w http.ResponseWriter) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"base-uri 'none'; form-action 'none'")
}

// overlayTemplate sends a page, or an error.
func overlayTemplate(w http.ResponseWriter, name string, data any) {
	var buf bytes.Buffer
	if err := overlayPages.ExecuteTemplate(&buf, name, data); err != nil {
		http.Error(w, "The page cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(buf.Bytes())
}

// overlayClock sends the box's time. Every page may read it, also a local file that waits for the
// box: it says nothing about the table.
func (s *Server) overlayClock(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	WriteJSON(w, http.StatusOK, map[string]int64{"now_unix_ms": s.o.Now().UnixMilli()})
}

// overlayBootstrap sends a file for the streamer's own disk. It waits for this box, and embeds the
// page only then: OBS shows a blank source for ever if it starts before the box.
func (s *Server) overlayBootstrap(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	widget := q.Get("widget")
	if widget == "" {
		widget = "all"
	}
	q.Del("widget")
	if _, known := overlayWidgets[widget]; !known {
		http.Error(w, "widget: expected table, ruling, pair, match, last or all, got "+quoted(widget), http.StatusBadRequest)
		return
	}
	if o := parseOverlay(widget, q); len(o.Problem) > 0 {
		http.Error(w, strings.Join(o.Problem, "\n"), http.StatusBadRequest)
		return
	}
	box := url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		box.Scheme = "https"
	}
	if !utf8.ValidString(r.Host) || strings.ContainsAny(r.Host, "/\\@?#\"'<> ") {
		http.Error(w, "This page is not served under that name.", http.StatusMisdirectedRequest)
		return
	}
	page := url.URL{Scheme: box.Scheme, Host: box.Host, Path: "/overlay/" + widget, RawQuery: q.Encode()}
	w.Header().Set("Content-Disposition", `attachment; filename="sightline-overlay-`+widget+`.html"`)
	overlayTemplate(w, "bootstrap.html", map[string]string{"Box": box.String(), "Page": page.String()})
}

// overlaySetup serves the page on which a streamer sets up the overlays.
func (s *Server) overlaySetup(w http.ResponseWriter, r *http.Request) {
	AllowFrames(w)
	Static(static, "static/overlay-setup.html")(w, r)
}

// AllowFrames allows a page to show this server's overlays in a frame.
func AllowFrames(w http.ResponseWriter) {
	policy := w.Header().Get("Content-Security-Policy")
	w.Header().Set("Content-Security-Policy", strings.Replace(policy, "default-src 'none'", "default-src 'none'; frame-src 'self'", 1))
}

// overlayDemo sends the scripted demo.
func (s *Server) overlayDemo(w http.ResponseWriter, _ *http.Request) {
	script, err := demoScript()
	if err != nil {
		http.Error(w, "The demo cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(script)
}

var demoScript = sync.OnceValues(func() ([]byte, error) { return json.Marshal(makeDemo()) })

// overlayRoutes adds the overlay's addresses.
func (s *Server) overlayRoutes(mux *router) {
	mux.Handle("GET /overlay/{widget}", s.Allow(access.Nobody, OverlayPage))
	mux.Handle("GET /overlay/clock", s.Allow(access.Nobody, s.overlayClock))
	mux.Handle("GET /overlay/demo.json", s.Allow(access.Nobody, Compressed(http.HandlerFunc(s.overlayDemo))))
	mux.Handle("GET /overlay/bootstrap.html", s.Allow(access.Nobody, s.overlayBootstrap))
	mux.Handle("POST /overlay/token", s.Allow(access.Player, s.overlayToken))
	mux.Handle("GET /overlay/{$}", s.Allow(access.Nobody, s.overlaySetup))
	mux.Handle("GET /api/video.mjpg", s.Allow(access.Reader, s.videoMJPEG))
	mux.Handle("PATCH /api/match", s.Allow(access.Player, s.setMatch))
}

// overlayToken sends a player the token for an overlay's address.
func (s *Server) overlayToken(w http.ResponseWriter, r *http.Request) {
	if !readNothing(w, r) {
		return
	}
	token, until := s.guard.ReadToken()
	WriteJSON(w, http.StatusOK, map[string]any{"token": token, "needed": s.o.Access.PairToRead, "expires_unix_ms": until.UnixMilli()})
}
