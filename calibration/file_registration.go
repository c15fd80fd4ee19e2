package calibration

import (
	"fmt"
	"math"

	"sightline/engine/geom"
)

// registrationFile describes how the camera's pose was found. Files of version 1 do not
// have it.
type registrationFile struct {
	// Covariance is the pose's, as pose_covariance_rad_mm, without the lens's part.
	Covariance      numbers        `json:"covariance_rad_mm,omitempty"`
	CornerSigma     float64        `json:"corner_sigma_px"`
	PlacementFactor float64        `json:"placement_variance_factor"`
	FocalDoubt      float64        `json:"focal_doubt_relative,omitempty"` // the lens's covariance includes it
	BentSigma       float64        `json:"bent_sigma_mm,omitempty"`
	Placement       placementFile  `json:"placement"`
	Residuals       []residualFile `json:"markers"`
	Distances       []distanceFile `json:"measured_distances,omitempty"`
	Surface         *surfaceFile   `json:"surface,omitempty"`
}

// placementFile is the stated Placement.
type placementFile struct {
	XY   float64 `json:"xy_mm"`
	Turn float64 `json:"turn_deg"`
	Z    float64 `json:"z_mm"`
	Size float64 `json:"size_relative"`
}

// residualFile is a MarkerResidual.
type residualFile struct {
	ID          int     `json:"id"`
	Used        bool    `json:"used"`
	Along       float64 `json:"along_mm"`
	AlongSigma  float64 `json:"along_sigma_mm"`
	Across      float64 `json:"across_mm"`
	AcrossSigma float64 `json:"across_sigma_mm"`
	Turn        float64 `json:"turn_deg"`
	TurnSigma   float64 `json:"turn_sigma_deg"`
	Distance    float64 `json:"sigmas"`
}

// distanceFile is a ScaleDistance.
type distanceFile struct {
	From   int     `json:"from"`
	To     int     `json:"to"`
	Length float64 `json:"length_mm"`
	Sigma  float64 `json:"sigma_mm"`
}

// surfaceFile is a Surface.
type surfaceFile struct {
	Sigma      float64     `json:"sigma_mm"`
	Places     [][]float64 `json:"places_mm"` // x, y, z of each
	Covariance numbers     `json:"covariance_mm2"`
}

// newRegistrationFile returns the file form; nil for a table without one.
func newRegistrationFile(t *Table) *registrationFile {
	if !(t.CornerSigma > 0) && t.Surface == nil && len(t.Distances) == 0 {
		return nil
	}
	p := t.Layout.placement()
	f := &registrationFile{
		Covariance: t.RegistrationCovariance, CornerSigma: t.CornerSigma, PlacementFactor: t.PlacementFactor, FocalDoubt: t.FocalDoubt,
		BentSigma: float64(t.BentSigma),
		Placement: placementFile{float64(p.XY), p.Turn.Degrees(), float64(p.Z), p.Size}, Residuals: []residualFile{},
	}
	for _, m := range t.Residuals {
		f.Residuals = append(f.Residuals, residualFile{
			m.ID, m.Used, float64(m.Along), float64(m.AlongSigma), float64(m.Across), float64(m.AcrossSigma),
			m.Turn.Degrees(), m.TurnSigma.Degrees(), m.Distance,
		})
	}
	for _, d := range t.Distances {
		f.Distances = append(f.Distances, distanceFile{d.From, d.To, float64(d.Length), float64(d.Sigma)})
	}
	if s := t.Surface; s != nil {
		f.Surface = &surfaceFile{Sigma: float64(s.Sigma), Covariance: s.Covariance}
		for _, p := range s.Places {
			f.Surface.Places = append(f.Surface.Places, []float64{p.X, p.Y, float64(p.Z)})
		}
	}
	return f
}

// apply checks the file form and sets the table from it. Errors name the key.
func (f *registrationFile) apply(t *Table) error {
	if f == nil {
		return nil
	}
	if err := checkCovariance("covariance_rad_mm", f.Covariance, 6); err != nil {
		return err
	}
	if !(f.CornerSigma >= 0) || f.CornerSigma > 100 {
		return fmt.Errorf("corner_sigma_px: expected 0 to 100 px, got %v", f.CornerSigma)
	}
	if !(f.PlacementFactor >= 0) || f.PlacementFactor > 1e9 {
		return fmt.Errorf("placement_variance_factor: expected a positive number, got %v", f.PlacementFactor)
	}
	if !(f.FocalDoubt >= 0) || f.FocalDoubt > 10 {
		return fmt.Errorf("focal_doubt_relative: expected 0 to 10, got %v", f.FocalDoubt)
	}
	if !(f.BentSigma >= 0) || f.BentSigma > 1000 {
		return fmt.Errorf("bent_sigma_mm: expected 0 to 1000 mm, got %v", f.BentSigma)
	}
	t.BentSigma = geom.Length(f.BentSigma)
	t.RegistrationCovariance, t.CornerSigma, t.PlacementFactor, t.FocalDoubt = f.Covariance, f.CornerSigma, f.PlacementFactor, f.FocalDoubt
	p := f.Placement
	t.Layout.Placement = Placement{geom.Length(p.XY), geom.Angle(p.Turn) * geom.Degree, geom.Length(p.Z), p.Size}
	if err := t.Layout.Placement.validate(); err != nil {
		return err
	}
	for _, m := range f.Residuals {
		for _, v := range [...]float64{m.AlongSigma, m.AcrossSigma, m.TurnSigma, m.Distance} {
			if !(v >= 0) {
				return fmt.Errorf("markers: id %d: expected sigmas that are not negative, got %v", m.ID, v)
			}
		}
		t.Residuals = append(t.Residuals, MarkerResidual{
			ID: m.ID, Used: m.Used, Along: geom.Length(m.Along), Across: geom.Length(m.Across),
			AlongSigma: geom.Length(m.AlongSigma), AcrossSigma: geom.Length(m.AcrossSigma),
			Turn: geom.Angle(m.Turn) * geom.Degree, TurnSigma: geom.Angle(m.TurnSigma) * geom.Degree, Distance: m.Distance,
		})
	}
	for _, d := range f.Distances {
		one := ScaleDistance{d.From, d.To, geom.Length(d.Length), geom.Length(d.Sigma)}
		if err := one.validate(t.Layout); err != nil {
			return fmt.Errorf("measured_distances: %w", err)
		}
		t.Distances = append(t.Distances, one)
	}
	return f.applySurface(t)
}

func (f *registrationFile) applySurface(t *Table) (err error) {
	if f.Surface == nil {
		return nil
	}
	var places []SurfacePlace
	for i, p := range f.Surface.Places {
		if len(p) != 3 {
			return fmt.Errorf("surface.places_mm: place %d: expected x, y and z, got %d numbers", i, len(p))
		}
		places = append(places, SurfacePlace{geom.Point{X: p[0], Y: p[1]}, geom.Length(p[2])})
	}
	if err := checkCovariance("surface.covariance_mm2", f.Surface.Covariance, len(places)); err != nil {
		return err
	}
	t.Surface, err = NewSurface(geom.Length(f.Surface.Sigma), places, f.Surface.Covariance)
	return err
}

// validate reports an impossible distance.
func (d ScaleDistance) validate(l Layout) error {
	for _, id := range [...]int{d.From, d.To} {
		if _, ok := l.marker(id); !ok {
			return fmt.Errorf("marker %d: is not one of this mat's", id)
		}
	}
	switch {
	case d.From == d.To:
		return fmt.Errorf("from marker %d to itself: expected two markers", d.From)
	case !(d.Length > 0) || d.Length > 2*maxSide:
		return fmt.Errorf("from marker %d to %d: expected a length of at most %v, got %v", d.From, d.To, 2*maxSide, d.Length)
	case !(d.Sigma > 0) || math.IsInf(float64(d.Sigma), 0) || d.Sigma > d.Length:
		return fmt.Errorf("from marker %d to %d: expected a positive sigma, got %v", d.From, d.To, d.Sigma)
	}
	return nil
}

// marker returns the layout's marker with this id.
func (l Layout) marker(id int) (Marker, bool) {
	for _, m := range l.Markers {
		if m.ID == id {
			return m, true
		}
	}
	return Marker{}, false
}
