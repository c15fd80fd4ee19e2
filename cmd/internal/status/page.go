package status

import (
	"embed"
	"net/http"
	"runtime"
	"time"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
)

//go:embed static
var static embed.FS

// Page serves the status page and its data.
type Page struct {
	Hub     *live.Hub
	Tail    *Tail // nil: no log
	Version string
	Started time.Time
	Now     func() time.Time
}

// statusJSON is the page's data in addition to the state.
type statusJSON struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	System   string   `json:"system"` // "linux/arm64"
	Source   string   `json:"source"` // without names and passwords
	UptimeMS int64    `json:"uptime_ms"`
	Log      []Record `json:"log"` // oldest first
}

// Routes returns the page's addresses.
func (p *Page) Routes() []web.Route {
	return append(web.PageRoutes(static, "status"), web.Route{Pattern: "GET /api/status", Role: access.Reader, Handler: p.status})
}

func (p *Page) status(w http.ResponseWriter, _ *http.Request) {
	state := p.Hub.Newest()
	out := statusJSON{
		Version: p.Version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Source: hide(state.Source),
		UptimeMS: p.Now().Sub(p.Started).Milliseconds(), Log: []Record{},
	}
	if p.Tail != nil {
		out.Log = append(out.Log, p.Tail.Records()...)
	}
	web.WriteJSON(w, http.StatusOK, out)
}
