package web

import (
	"net/http"

	"sightline/cmd/internal/access"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/sentence"
)

// shipsRoutes adds the address at which a person places a ship.
func (s *Server) shipsRoutes(mux *router) {
	mux.Handle("POST /api/ships", s.Allow(access.Player, s.placeShip))
}

// placeShip accepts {"id":"A1","base":"small","x_mm":420,"y_mm":310,"heading_deg":90}; without
// heading_deg the direction of the nose is unknown. "instead_of":"A2" means that the base there was
// mistaken for A2 and is A1.
func (s *Server) placeShip(w http.ResponseWriter, r *http.Request) {
	if s.o.PlaceShip == nil {
		http.Error(w, "Ships cannot be placed by hand here.", http.StatusNotFound)
		return
	}
	var in struct {
		ID      string   `json:"id"`
		Base    string   `json:"base"`
		X       *float64 `json:"x_mm"`
		Y       *float64 `json:"y_mm"`
		Heading *float64 `json:"heading_deg"`
		Instead *string  `json:"instead_of"`
	}
	if !readBody(w, r, &in, `{"id":"A1","base":"small","x_mm":420,"y_mm":310,"heading_deg":90}`) {
		return
	}
	p, err := live.ReadPlacedShip(in.ID, in.Base, in.X, in.Y, in.Heading)
	if err == nil && in.Instead != nil {
		err = p.ReadInsteadOf(*in.Instead)
	}
	if err != nil {
		http.Error(w, sentence.Of(err), http.StatusBadRequest)
		return
	}
	if err := s.o.PlaceShip(p); err != nil {
		http.Error(w, sentence.Of(err), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
