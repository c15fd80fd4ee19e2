package engine

import (
	"errors"
	"fmt"
	"math"

	"sightline/engine/geom"
)

// ErrNoShip is the error for a ship that is not in the scene.
var ErrNoShip = errors.New("no such ship in the scene")

// Limits of what a scene may hold. They are far beyond any table, and keep every
// sum and square of coordinates exact enough for a tie of 1e-9 mm to mean
// something.
const (
	maxCoordinate = 1e6 // mm
	maxVariance   = 1e6 // mm²: a metre either way
	maxTurn       = 40  // rad²: a whole turn either way
	maxVertices   = 20000

	// MaxShips is how many ships a scene may hold: the largest games have some 24, and
	// all pairs of 200 take about a second.
	MaxShips = 200
)

// maxSigmas is more standard deviations than anyone needs.
const maxSigmas = 100

// Ready checks a scene and options, and returns what every answer starts from: the standard
// deviations that decide a question, and the dimensions.
func (s *Scene) Ready(o Options) (sigmas float64, p Profile, err error) {
	sigmas = o.Sigmas
	if sigmas == 0 {
		sigmas = DefaultSigmas
	}
	if !(sigmas > 0 && sigmas <= maxSigmas) {
		return 0, p, fmt.Errorf("sigmas: expected more than 0 and at most %d, got %g", maxSigmas, o.Sigmas)
	}
	if err = s.Validate(); err != nil {
		return 0, p, err
	}
	p, err = s.dimensions()
	return sigmas, p, err
}

// dimensions returns the profile that the scene is measured with.
func (s *Scene) dimensions() (Profile, error) {
	if s.Dimensions != nil {
		return *s.Dimensions, s.Dimensions.Validate()
	}
	return ProfileNamed(s.Profile)
}

// Validate reports the first thing in the scene that cannot be measured: what,
// where and what was expected, by the keys of scene files.
func (s *Scene) Validate() error {
	if s.Rules <= RulesUnknown || int(s.Rules) >= len(rulesNames) {
		return errors.New("rules: expected 1e, 2.0 or 2.5")
	}
	if _, err := s.dimensions(); err != nil {
		return err
	}
	for _, l := range [...]struct {
		key string
		v   geom.Length
	}{{"mat.width_mm", s.MatWidth}, {"mat.height_mm", s.MatHeight}} {
		if !within(float64(l.v), 0, maxCoordinate) {
			return fmt.Errorf("%s: expected 0 to %g, got %g", l.key, maxCoordinate, float64(l.v))
		}
	}
	if len(s.Ships) > MaxShips {
		return fmt.Errorf("ships: expected at most %d, got %d", MaxShips, len(s.Ships))
	}
	if !within(s.ScaleSigma, 0, 1) {
		return fmt.Errorf("scale_sigma: expected 0 to 1, got %g", s.ScaleSigma)
	}
	for i, u := range s.Unknown {
		if err := validArea(u); err != nil {
			return fmt.Errorf("unknown_mm[%d]: %w", i, err)
		}
	}
	for i := range s.Blind {
		if err := validArea(s.Blind[i].Outline); err != nil {
			return fmt.Errorf("blind_mm[%d]: outline_mm: %w", i, err)
		}
	}
	return s.validateThings()
}

// validateThings reports the first ship, obstacle, device or marker that cannot be
// measured or whose id is not its own.
func (s *Scene) validateThings() error {
	ids := make(map[string]bool, len(s.Ships)+len(s.Obstacles)+len(s.Devices)+len(s.Markers))
	check := func(list string, i int, id string, err error) error {
		switch {
		case id == "":
			return fmt.Errorf("%s[%d]: id: expected a name, got none", list, i)
		case ids[id]:
			return fmt.Errorf("%s[%d]: id: %q appears twice", list, i, id)
		case err != nil:
			return fmt.Errorf("%s[%d] (%s): %w", list, i, id, err)
		}
		ids[id] = true
		return nil
	}
	for i := range s.Ships {
		if err := check("ships", i, s.Ships[i].ID, s.Ships[i].validate()); err != nil {
			return err
		}
	}
	for i := range s.Obstacles {
		if err := check("obstacles", i, s.Obstacles[i].ID, s.Obstacles[i].validate()); err != nil {
			return err
		}
	}
	for i := range s.Devices {
		if err := check("devices", i, s.Devices[i].ID, s.Devices[i].validate()); err != nil {
			return err
		}
	}
	for i := range s.Markers {
		if err := check("markers", i, s.Markers[i].ID, s.Markers[i].validate()); err != nil {
			return err
		}
	}
	return nil
}

// validArea reports whether an area on the table has three corners or more, all in millimetres.
func validArea(u geom.Polygon) error {
	if len(u) < 3 {
		return fmt.Errorf("expected 3 points or more, got %d", len(u))
	}
	for _, p := range u {
		if !within(p.X, -maxCoordinate, maxCoordinate) || !within(p.Y, -maxCoordinate, maxCoordinate) {
			return fmt.Errorf("expected millimetres, got [%g, %g]", p.X, p.Y)
		}
	}
	return nil
}

// within reports whether v is a number from lo to hi; NaN is not.
func within(v, lo, hi float64) bool { return v >= lo && v <= hi }

func (s *Ship) validate() error {
	if s.Base <= BaseUnknown || int(s.Base) >= len(baseNames) {
		return errors.New("base: expected small, medium, large, huge-195 or huge-225")
	}
	if err := validPlayer(s.Player); err != nil {
		return err
	}
	if err := validPose(s.Pose); err != nil {
		return err
	}
	if err := validCovariance(&s.Covariance); err != nil {
		return err
	}
	for _, a := range s.Arcs {
		if _, err := ParseArc(a); err != nil {
			return fmt.Errorf("arcs: %w", err)
		}
	}
	switch s.Turret {
	case "", "front", "rear", "left", "right":
	default:
		return fmt.Errorf("turret: expected front, rear, left or right, got %q", s.Turret)
	}
	switch s.Seen {
	case "", "token", "edges", "both", "look", "mark":
	default:
		return fmt.Errorf("seen: expected token, edges, both, look or mark, got %q", s.Seen)
	}
	if len(s.NameDoubt) > MaxShips {
		return fmt.Errorf("name_doubt: expected at most %d ships, got %d", MaxShips, len(s.NameDoubt))
	}
	if !within(s.Visible, 0, 1) {
		return fmt.Errorf("visible: expected 0 to 1, got %g", s.Visible)
	}
	return nil
}

func validPlayer(p int) error {
	if p < 0 || p > 2 {
		return fmt.Errorf("player: expected 1 or 2, got %d", p)
	}
	return nil
}

func validPose(p geom.Pose) error {
	for _, c := range [...]struct {
		key string
		v   float64
	}{{"x_mm", p.X}, {"y_mm", p.Y}} {
		if !within(c.v, -maxCoordinate, maxCoordinate) {
			return fmt.Errorf("%s: expected a place within %g mm, got %g", c.key, maxCoordinate, c.v)
		}
	}
	if d := p.Heading.Degrees(); !within(d, -maxCoordinate, maxCoordinate) {
		return fmt.Errorf("heading_deg: expected an angle, got %g", d)
	}
	return nil
}

// validCovariance checks that a covariance is one: finite, symmetric, and with no
// direction of negative variance, up to the rounding of printed numbers.
func validCovariance(c *geom.Cov3) error {
	const (
		rounding = 1e-4                              // of a correlation: four digits in a file
		degrees  = (180 / math.Pi) * (180 / math.Pi) // in a file
	)
	var sd [3]float64
	for i := range sd {
		v := c[4*i]
		if !within(v, 0, [...]float64{maxVariance, maxVariance, maxTurn}[i]) {
			if i == 2 {
				v *= degrees
			}
			return fmt.Errorf("covariance: expected variances on the diagonal, from 0 to %g mm² and %.0f deg², got %.6g", maxVariance,
				maxTurn*degrees, v)
		}
		sd[i] = math.Sqrt(v)
	}
	var rho [3]float64 // xy, xθ, yθ
	for i, e := range [...][2]int{{0, 1}, {0, 2}, {1, 2}} {
		a, b := c[3*e[0]+e[1]], c[3*e[1]+e[0]]
		limit := sd[e[0]] * sd[e[1]]
		if !(math.Abs(a-b) <= rounding*limit) {
			return errors.New("covariance: expected a symmetric matrix")
		}
		if !(math.Abs(a) <= (1+rounding)*limit) {
			return errors.New("covariance: expected a positive semi-definite matrix")
		}
		if limit > 0 {
			rho[i] = a / limit
		}
	}
	det := 1 + 2*rho[0]*rho[1]*rho[2] - geom.Sq(rho[0]) - geom.Sq(rho[1]) - geom.Sq(rho[2])
	if !(det >= -10*rounding) {
		return errors.New("covariance: expected a positive semi-definite matrix")
	}
	return nil
}

func (o *Obstacle) validate() error {
	switch o.Kind {
	case "", "asteroid", "debris", "gas": // range and obstruction do not ask which
	default:
		return fmt.Errorf("kind: expected asteroid, debris or gas, got %q", o.Kind)
	}
	if err := validPose(o.Pose); err != nil {
		return err
	}
	if !within(float64(o.Sigma), 0, math.Sqrt(maxVariance)) {
		return fmt.Errorf("sigma_mm: expected 0 to %g, got %g", math.Sqrt(maxVariance), float64(o.Sigma))
	}
	return validOutline(o.Outline)
}

func validOutline(outline []geom.Point) error {
	if n := len(outline); n < 3 || n > maxVertices {
		return fmt.Errorf("outline_mm: expected 3 to %d vertices, got %d", maxVertices, n)
	}
	for i, p := range outline {
		if !within(p.X, -maxCoordinate, maxCoordinate) || !within(p.Y, -maxCoordinate, maxCoordinate) {
			return fmt.Errorf("outline_mm[%d]: expected a place within %g mm, got %g, %g", i, maxCoordinate, p.X, p.Y)
		}
	}
	if i, j, bad := geom.Polygon(outline).Crossing(); bad {
		return fmt.Errorf("outline_mm: expected a simple polygon, but the edge from vertex %d meets the edge from vertex %d", i, j)
	}
	if geom.Polygon(outline).Area() == 0 {
		return errors.New("outline_mm: expected a polygon with an area")
	}
	return nil
}

func (t *Token) validate() error {
	if err := validPlayer(t.Player); err != nil {
		return err
	}
	if err := validPose(t.Pose); err != nil {
		return err
	}
	return t.validateOutline()
}

// validateOutline checks what a token states of its own outline.
func (t *Token) validateOutline() error {
	if !within(float64(t.Sigma), 0, math.Sqrt(maxVariance)) {
		return fmt.Errorf("sigma_mm: expected 0 to %g, got %g", math.Sqrt(maxVariance), float64(t.Sigma))
	}
	if len(t.Outline) == 0 {
		return nil
	}
	return validOutline(t.Outline)
}
