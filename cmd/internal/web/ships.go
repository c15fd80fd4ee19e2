package web

import (
	"fmt"
	"math"
	"net/http"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// PlacedShip is a ship that a person says stands somewhere, since its code cannot be
// read: its base is looked for there by its edges.
type PlacedShip struct {
	ID     string
	Player int
	Base   engine.Base
	Pose   geom.Pose
	Headed bool // the person said which way its nose points; else the arcs are NoView
}

// shipsRoutes adds the address at which a person places a ship.
func (s *Server) shipsRoutes(mux *router) {
	mux.Handle("POST /api/ships", s.allow(Player, s.placeShip))
}

// placeShip takes {"id":"A1","base":"small","x_mm":420,"y_mm":310,"heading_deg":90}; without
// heading_deg nobody knows which way the nose points.
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
	}
	if problem := readJSON(http.MaxBytesReader(w, r.Body, bodyMost), &in,
		`{"id":"A1","base":"small","x_mm":420,"y_mm":310,"heading_deg":90}`); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	p, err := ReadPlacedShip(in.ID, in.Base, in.X, in.Y, in.Heading)
	if err != nil {
		http.Error(w, upperFirst(err.Error())+".", http.StatusBadRequest)
		return
	}
	if err := s.o.PlaceShip(p); err != nil {
		http.Error(w, upperFirst(err.Error())+".", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// ReadPlacedShip checks what a person said of a ship; a nil heading was not said.
func ReadPlacedShip(id, base string, x, y, heading *float64) (PlacedShip, error) {
	code, err := vision.CodeOfID(id)
	if err != nil {
		return PlacedShip{}, err
	}
	p := PlacedShip{ID: id, Player: code.Player(), Headed: heading != nil}
	if p.Base, err = engine.ParseBase(base); err != nil {
		return PlacedShip{}, err
	}
	if _, err := vision.NewToken(code, p.Base); err != nil {
		return PlacedShip{}, err
	}
	for _, c := range []struct {
		name string
		v    *float64
		to   *float64
	}{{"x_mm", x, &p.Pose.X}, {"y_mm", y, &p.Pose.Y}} {
		if c.v == nil || !(math.Abs(*c.v) <= 10000) {
			return PlacedShip{}, fmt.Errorf("%s: expected a place on the mat in millimetres", c.name)
		}
		*c.to = *c.v
	}
	if heading != nil {
		if !(math.Abs(*heading) <= 3600) {
			return PlacedShip{}, fmt.Errorf("heading_deg: expected an angle in degrees, got %g", *heading)
		}
		p.Pose.Heading = (geom.Angle(*heading) * geom.Degree).Normalized()
	}
	return p, nil
}
