package scenefile

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
)

type wireScene struct {
	Version    int            `json:"version"`
	Rules      string         `json:"rules"`
	Profile    any            `json:"profile,omitempty"`
	Mat        *wireMat       `json:"mat,omitempty"`
	ScaleSigma float64        `json:"scale_sigma,omitempty"`
	Ships      []wireShip     `json:"ships"`
	Obstacles  []wireObstacle `json:"obstacles,omitzero"`
	Unknown    [][][2]float64 `json:"unknown_mm,omitempty"`
	Blind      []wireBlind    `json:"blind_mm,omitempty"`
	Devices    []wireToken    `json:"devices,omitempty"`
	Markers    []wireToken    `json:"markers,omitempty"`
}

type wireMat struct {
	Width  float64 `json:"width_mm"`
	Height float64 `json:"height_mm"`
}

type wireShip struct {
	ID         string    `json:"id"`
	Player     int       `json:"player,omitempty"`
	Base       string    `json:"base"`
	X          float64   `json:"x_mm"`
	Y          float64   `json:"y_mm"`
	Heading    float64   `json:"heading_deg"`
	Arcs       []string  `json:"arcs,omitempty"`
	Turret     string    `json:"turret,omitempty"`
	Covariance []float64 `json:"covariance,omitempty"`
	Seen       string    `json:"seen,omitempty"`
	Visible    *float64  `json:"visible,omitempty"`
	Quarters   bool      `json:"heading_quarters,omitempty"`
	Look       string    `json:"look,omitempty"`
	LookDoubt  bool      `json:"look_doubt,omitempty"`
	TurnDoubt  bool      `json:"turn_doubt,omitempty"`
	NameDoubt  []string  `json:"name_doubt,omitempty"`
}

type wireObstacle struct {
	ID      string       `json:"id"`
	Kind    string       `json:"kind,omitempty"`
	X       float64      `json:"x_mm"`
	Y       float64      `json:"y_mm"`
	Heading float64      `json:"heading_deg"`
	Outline [][2]float64 `json:"outline_mm"`
	Sigma   float64      `json:"sigma_mm,omitempty"`
}

type wireBlind struct {
	Outline [][2]float64 `json:"outline_mm"`
	Why     string       `json:"why,omitempty"`
}

type wireToken struct {
	ID      string  `json:"id"`
	Kind    string  `json:"kind,omitempty"`
	Player  int     `json:"player,omitempty"`
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Heading float64 `json:"heading_deg"`

	Outline [][2]float64 `json:"outline_mm,omitempty"`
	Sigma   float64      `json:"sigma_mm,omitempty"`
}

// Marshal writes a scene as JSON, on one line.
func Marshal(s engine.Scene) ([]byte, error) {
	w, err := newWireScene(&s)
	if err != nil {
		return nil, err
	}
	return json.Marshal(w)
}

// MarshalList writes a list of scenes, as locate does.
func MarshalList(scenes []engine.Scene) ([]byte, error) {
	w := struct {
		Version int          `json:"version"`
		Scenes  []*wireScene `json:"scenes"`
	}{wireVersion, make([]*wireScene, len(scenes))}
	for i := range scenes {
		var err error
		if w.Scenes[i], err = newWireScene(&scenes[i]); err != nil {
			return nil, fmt.Errorf("scenes[%d]: %w", i, err)
		}
	}
	return json.Marshal(w)
}

func newWireScene(s *engine.Scene) (*wireScene, error) {
	w := &wireScene{Version: wireVersion, Rules: s.Rules.String(), ScaleSigma: s.ScaleSigma, Ships: make([]wireShip, len(s.Ships))}
	if s.MatWidth > 0 || s.MatHeight > 0 {
		w.Mat = &wireMat{float64(s.MatWidth), float64(s.MatHeight)}
	}
	var err error
	if w.Profile, err = wireProfile(s); err != nil {
		return nil, err
	}
	for i := range s.Ships {
		w.Ships[i] = newWireShip(&s.Ships[i])
	}
	if !s.ObstaclesUnseen && (len(s.Obstacles) > 0 || slices.ContainsFunc(s.Ships, func(s engine.Ship) bool { return s.Seen != "" })) {
		w.Obstacles = []wireObstacle{} // an empty list says that there are none
	}
	for i := range s.Obstacles {
		o := &s.Obstacles[i]
		wo := wireObstacle{o.ID, o.Kind, o.Pose.X, o.Pose.Y, wireDegrees(o.Pose.Heading), wireOutline(o.Outline), float64(o.Sigma)}
		w.Obstacles = append(w.Obstacles, wo)
	}
	for _, u := range s.Unknown {
		w.Unknown = append(w.Unknown, wireOutline(u))
	}
	for _, b := range s.Blind {
		w.Blind = append(w.Blind, wireBlind{wireOutline(b.Outline), b.Why})
	}
	w.Devices, w.Markers = wireTokens(s.Devices), wireTokens(s.Markers)
	return w, nil
}

func wireTokens(ts []engine.Token) []wireToken {
	var w []wireToken
	for _, t := range ts {
		w = append(w, wireToken{t.ID, t.Kind, t.Player, t.Pose.X, t.Pose.Y, wireDegrees(t.Pose.Heading), wireOutline(t.Outline),
			float64(t.Sigma)})
	}
	return w
}

func wireOutline(outline []geom.Point) [][2]float64 {
	w := make([][2]float64, len(outline))
	for i, p := range outline {
		w[i] = [2]float64{p.X, p.Y}
	}
	return w
}

// wireProfile returns nil, the profile's name, or the object of what differs.
func wireProfile(s *engine.Scene) (any, error) {
	if s.Dimensions == nil {
		if s.Profile == "" {
			return nil, nil
		}
		return s.Profile, nil
	}
	named, err := engine.ProfileNamed(s.Dimensions.Name)
	if err != nil {
		return nil, err
	}
	w := map[string]any{"name": named.Name}
	if s.Dimensions.Guides != named.Guides {
		w["guides"] = s.Dimensions.Guides
	}
	for i := range engine.Dimensions {
		d := &engine.Dimensions[i]
		if v := d.Values(s.Dimensions); !slices.Equal(v, d.Values(&named)) {
			if d.Count == 0 {
				w[d.Name] = v[0]
			} else {
				w[d.Name] = v
			}
		}
	}
	return w, nil
}

func newWireShip(s *engine.Ship) wireShip {
	w := wireShip{
		ID: s.ID, Player: s.Player, Base: s.Base.String(),
		X: s.Pose.X, Y: s.Pose.Y, Heading: wireDegrees(s.Pose.Heading),
		Arcs: s.Arcs, Turret: s.Turret, Seen: s.Seen, Quarters: s.Quarters, Look: s.Look, LookDoubt: s.LookDoubt,
		TurnDoubt: s.TurnDoubt, NameDoubt: s.NameDoubt,
	}
	if s.Covariance != (geom.Cov3{}) {
		c := s.Covariance
		scaleHeading(&c, 1/float64(geom.Degree))
		w.Covariance = c[:]
	}
	if s.Seen != "" || s.Visible > 0 {
		w.Visible = &s.Visible
	}
	return w
}

// wireDegrees returns a heading in [0, 360).
func wireDegrees(a geom.Angle) float64 {
	d := math.Mod(a.Degrees(), 360)
	if d < 0 {
		d += 360
	}
	if d >= 360 {
		d = 0
	}
	return d
}
