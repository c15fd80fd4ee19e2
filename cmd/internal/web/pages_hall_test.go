//go:build browser

package web_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

	hallevent "sightline/cmd/internal/event"
	"sightline/cmd/internal/hall"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

// hallPages are the hall's page, to a judge and to who is not signed in, and its director's.
func hallPages() []pageCase {
	return []pageCase{
		{name: "hall", path: "/", ready: `#tables .tile[data-table="20"]`, open: hallServer("judge")},
		{name: "hall-login", path: "/", ready: `#calls a`, open: hallServer("player"), brief: true,
			do: []chromedp.Action{chromedp.Click("#calls a"), chromedp.WaitVisible("#login")}},
		{name: "hall-director", path: "/director", ready: `#air button[aria-pressed="true"] span`, open: hallServer("player")},
	}
}

// hallServer serves the hall's pages with an event that stands still, asked by someone of a role.
func hallServer(role string) func(t *testing.T) *httptest.Server {
	health := func(code live.Code, title, answer string) *hallevent.Health {
		return &hallevent.Health{Code: code, Title: title, From: "A1", To: "B1", Answer: answer}
	}
	ok, moved, asked, gone := health(live.OK, "ok", "Range 2, in the front arc"), health(live.Moved, "Camera moved", ""),
		health(live.OK, "ok", "Too close to call: range 2 or 3"), health(live.OK, "ok", "Range 1")
	ok.Ruling = &hallevent.Ruling{Number: 3, Title: "Range 2, in the front arc"}
	asked.Call = &hallevent.Call{Held: 4711, Asked: "Cleo"}
	now := map[string]any{"version": 1, "event": "e", "program": "7",
		"calls": []hall.OpenCall{{Table: "12", Held: 4711, Asked: "Cleo", WaitingMS: 100_000, Live: true, Page: "/t/12/judge"}},
		"tables": []hall.Tile{ // Problems is never null
			{Table: "7", Live: true, AgeMS: 400, Health: ok, Round: "Round 3, Combat", Names: [2]string{"Ada", "Ben"}, Score: [2]int{7, 12},
				Problems: []string{}},
			{Table: "8", Live: true, AgeMS: 900, Health: moved, Names: [2]string{"Bartholomew of Coruscant the Elder", "Gil"}, Waiting: 2,
				Problems: []string{"Ruling 3 does not follow the ruling 2 that the hall has."}},
			{Table: "12", Live: true, AgeMS: 700, Health: asked, Round: "Round 3", Names: [2]string{"Cleo", ""}, Problems: []string{}},
			{Table: "13", AgeMS: 83_000, Health: gone, Round: "Round 3", Names: [2]string{"Eva", "Finn"}, Problems: []string{}},
			{Table: "20", AgeMS: -1, Expires: time.Unix(1_700_000_000, 0), Problems: []string{}},
		}}
	return func(t *testing.T) *httptest.Server {
		files := os.DirFS("../hall/static")
		mux := http.NewServeMux()
		mux.Handle("GET /{$}", web.Translated(web.Static(files, "hall.html")))
		mux.Handle("GET /director", web.Translated(web.Static(files, "director.html")))
		mux.HandleFunc("GET /hall/now.js", func(w http.ResponseWriter, _ *http.Request) { // the page's clocks stand still, too
			module, err := fs.ReadFile(files, "now.js")
			assert.NoError(t, err)
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write(regexp.MustCompile(`(performance|Date)\.now\(\)`).ReplaceAll(module, []byte("0")))
		})
		mux.Handle("GET /hall/", http.StripPrefix("/hall", http.FileServerFS(files)))
		mux.Handle("GET /", http.FileServerFS(web.Files()))
		mux.HandleFunc("GET /overlay/all", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>Overlay</title><main><h1></h1></main>`))
		})
		mux.HandleFunc("GET /api/hall", func(w http.ResponseWriter, _ *http.Request) { web.WriteJSON(w, http.StatusOK, now) })
		mux.HandleFunc("GET /api/pairings", func(w http.ResponseWriter, _ *http.Request) {
			web.WriteJSON(w, http.StatusOK, map[string]any{"pairings": []hall.Pairing{}})
		})
		mux.HandleFunc("GET /api/me", func(w http.ResponseWriter, _ *http.Request) {
			web.WriteJSON(w, http.StatusOK, map[string]any{"role": role, "name": "Jo", "judges": true})
		})
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		return server
	}
}
