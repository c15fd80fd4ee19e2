// Package director is the page of the person who runs a stream. It chooses the pair and the widgets
// of the overlays, and freezes them.
package director

import (
	"embed"
	"errors"
	"net/http"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
	"sightline/cmd/internal/web"
)

//go:embed static
var static embed.FS

// Page serves the director's page and its API.
type Page struct {
	// Direct changes the overlays and returns their new state. It refuses with a *live.Refusal; any
	// other error says why the change could not be saved.
	Direct func(live.DirectionChange) (live.Direction, error)
}

// Routes returns the page's addresses.
func (p *Page) Routes() []web.Route {
	routes := web.PageRoutes(static, "director")
	page := routes[0].Handler
	routes[0].Handler = func(w http.ResponseWriter, r *http.Request) {
		web.AllowFrames(w)
		page(w, r)
	}
	return append(routes, web.Route{Pattern: "PATCH /api/director", Role: access.Player, Handler: p.direct})
}

const bodyMost = 4 << 10 // bytes of a change

// direct applies the given parts of a direction.
func (p *Page) direct(w http.ResponseWriter, r *http.Request) {
	var change live.DirectionChange
	if !web.ReadBody(w, r, &change, bodyMost, `{"hidden":{"table":true}}`) {
		return
	}
	now, err := p.Direct(change)
	var refused *live.Refusal
	switch {
	case errors.As(err, &refused):
		http.Error(w, refused.Error(), http.StatusBadRequest)
		return
	case err != nil:
		http.Error(w, sentence.Of(err), http.StatusInsufficientStorage)
		return
	}
	web.WriteJSON(w, http.StatusOK, now)
}
