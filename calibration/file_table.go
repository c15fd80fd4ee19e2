package calibration

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"sightline/calibration/internal/document"
	"sightline/calibration/strictjson"
	"sightline/engine/geom"
)

// tableVersion is the version of the table calibration's file. It rises when the
// meaning of a key changes. Version 2 added "registration"; version 1 is still read.
const tableVersion = 2

// tableFile is the file form of a table calibration. Units are in the keys; the frames
// are those of package geom and of this package's comment.
type tableFile struct {
	Version int        `json:"version"`
	Hash    string     `json:"hash,omitempty"` // of all else, see document.Hash
	Made    *time.Time `json:"made,omitempty"` // capture time of the picture
	Lens    *LensFile  `json:"lens"`
	// LensIntegrity is "edited" when the lens file was changed by hand before the table
	// was made with it, "intact" when not; left out when unknown.
	LensIntegrity string `json:"lens_integrity,omitempty"`
	Camera        *struct {
		Rotation    numbers   `json:"rotation"`       // row-major 3×3: x_camera = R x_table + t
		Translation numbers   `json:"translation_mm"` // t
		Center      []float64 `json:"center_mm"`      // of the camera in the table frame; for people, follows from the others
	} `json:"camera"`
	// PoseCovariance is the row-major 6×6 covariance of the camera's place: a small
	// turn (rad, about the camera's axes) and shift (mm, in the camera's frame).
	PoseCovariance numbers           `json:"pose_covariance_rad_mm,omitempty"`
	RMS            float64           `json:"rms_px"`
	Used           []int             `json:"used_markers"`
	Rejected       []rejectionFile   `json:"rejected_markers"`
	ScaleSigma     float64           `json:"scale_sigma"`
	Mat            *matFile          `json:"mat"`
	Markers        []tableMarkerFile `json:"markers"`
	// MatCorners is where the mat's corners appear: near left, near right, far
	// right, far left, as seen by player 1. For people and checks; it follows from
	// the rest and is not read back.
	MatCorners [][]float64 `json:"mat_corners_px"`

	Registration *registrationFile `json:"registration,omitempty"` // how the place was found, see there
}

type rejectionFile struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

type matFile struct {
	Width  float64 `json:"width_mm"`
	Height float64 `json:"height_mm"`
}

type tableMarkerFile struct {
	ID      int     `json:"id"`
	X       float64 `json:"x_mm"`
	Y       float64 `json:"y_mm"`
	Z       float64 `json:"z_mm"`
	Heading float64 `json:"heading_deg"`
	Size    float64 `json:"size_mm"`
}

// MatCorners returns where the mat's four corners appear in the picture: near
// left, near right, far right, far left, as seen by player 1. It reports false
// when one lies behind the camera; a corner may lie outside the picture.
func (t *Table) MatCorners() (c [4]geom.Pixel, ok bool) {
	w, h := float64(t.Layout.Width), float64(t.Layout.Height)
	for i, p := range [4]geom.Point{{}, {X: w}, {X: w, Y: h}, {Y: h}} {
		if c[i], ok = t.PixelOf(p, 0); !ok {
			return c, false
		}
	}
	return c, true
}

// SaveTable is StoreTable without the name of the backup.
func SaveTable(path string, t *Table) error {
	_, err := StoreTable(path, t)
	return err
}

// StoreTable writes a table calibration as JSON, atomically, and sets its Hash and
// Integrity. The previous file stays in the same directory as a backup, whose name
// StoreTable returns; "" when there was none.
func StoreTable(path string, t *Table) (kept string, err error) {
	raw, err := formatTable(t)
	if err == nil {
		kept, err = document.Save(path, raw)
	}
	if err != nil {
		return "", fmt.Errorf("calibration: save table %s: %w", path, err)
	}
	t.Integrity, t.Hash, _ = IntegrityOf(raw, false) // it was just read back
	return kept, nil
}

// Sealed returns the content of the table's file and its hash, which also identifies a
// registration that was never saved.
func (t Table) Sealed() (raw []byte, hash string, err error) {
	if raw, err = formatTable(&t); err != nil {
		return nil, "", fmt.Errorf("calibration: %w", err)
	}
	return raw, document.Hash(raw, false), nil
}

// LoadTable reads a table calibration. An unknown key, an unknown version and an
// impossible camera are errors that name the key.
func LoadTable(path string) (Table, error) {
	raw, err := document.Read(path)
	if err != nil {
		return Table{}, fmt.Errorf("calibration: load table %s: %w", path, err)
	}
	t, err := parseTable(raw)
	if err != nil {
		return Table{}, fmt.Errorf("calibration: load table %s: %w", path, err)
	}
	return t, nil
}

func formatTable(t *Table) ([]byte, error) {
	corners, ok := t.MatCorners()
	if !ok {
		return nil, errors.New("camera: the mat lies behind it")
	}
	lens := NewLensFile(t.Intrinsics)
	center := t.Center()
	f := tableFile{
		Version: tableVersion, Lens: &lens, LensIntegrity: t.LensIntegrity.key(), PoseCovariance: t.PoseCovariance, RMS: t.RMS,
		Used: append([]int{}, t.Used...), Rejected: []rejectionFile{}, ScaleSigma: t.ScaleSigma,
		Mat: &matFile{float64(t.Layout.Width), float64(t.Layout.Height)}, Registration: newRegistrationFile(t),
	}
	f.Camera = &struct {
		Rotation    numbers   `json:"rotation"`
		Translation numbers   `json:"translation_mm"`
		Center      []float64 `json:"center_mm"`
	}{nil, t.T[:], center[:]}
	for _, row := range t.R {
		f.Camera.Rotation = append(f.Camera.Rotation, row[:]...)
	}
	if !t.Made.IsZero() {
		made := t.Made.UTC()
		f.Made = &made
	}
	for _, r := range t.Rejected {
		f.Rejected = append(f.Rejected, rejectionFile(r))
	}
	for _, m := range t.Layout.Markers {
		f.Markers = append(f.Markers, tableMarkerFile{m.ID, m.Center.X, m.Center.Y, float64(m.Z), m.Heading.Degrees(), float64(m.Size)})
	}
	for _, c := range corners {
		f.MatCorners = append(f.MatCorners, []float64{c.X, c.Y})
	}
	raw, err := document.Seal(false, func(hash string) ([]byte, error) {
		f.Hash = hash
		return document.MarshalJSON(f)
	})
	if err != nil {
		return nil, err
	}
	// What cannot be read back must not be written.
	if _, err := parseTable(raw); err != nil {
		return nil, err
	}
	return raw, nil
}

func parseTable(raw []byte) (Table, error) {
	// The version first: a file of another version has other keys.
	var v struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return Table{}, strictjson.Plain(raw, err)
	}
	switch {
	case v.Version == nil && document.Kind(raw) == "lens":
		return Table{}, errors.New("it is a lens file, expected a table calibration: calibrate table makes one")
	case v.Version == nil:
		return Table{}, fmt.Errorf("version: missing, expected %d: is it a table calibration?", tableVersion)
	case *v.Version < 1 || *v.Version > tableVersion:
		return Table{}, fmt.Errorf("version: expected %d (or an older one), got %d", tableVersion, *v.Version)
	}
	var f tableFile
	if err := strictjson.Decode(raw, &f); err != nil {
		return Table{}, err
	}
	t, err := f.table()
	if err != nil {
		return Table{}, err
	}
	t.Integrity, t.Hash, err = IntegrityOf(raw, false)
	return t, err
}

// table checks the file form and turns it into a table.
func (f *tableFile) table() (t Table, err error) {
	switch {
	case f.Lens == nil:
		return t, errors.New("lens: missing")
	case f.Camera == nil:
		return t, errors.New("camera: missing")
	case f.Mat == nil:
		return t, errors.New("mat: missing")
	case !(f.RMS >= 0):
		return t, fmt.Errorf("rms_px: expected a number of pixels, got %v", f.RMS)
	case !(f.ScaleSigma >= 0):
		return t, fmt.Errorf("scale_sigma: expected a relative error, got %v", f.ScaleSigma)
	}
	if err := cmp.Or(f.Camera.Rotation.check("camera.rotation", 9), f.Camera.Translation.check("camera.translation_mm", 3)); err != nil {
		return t, err
	}
	if t.Intrinsics, err = f.Lens.Intrinsics(); err != nil {
		return Table{}, fmt.Errorf("lens: %w", err)
	}
	if t.LensIntegrity, err = parseIntegrity(f.LensIntegrity); err != nil {
		return Table{}, fmt.Errorf("lens_integrity: %w", err)
	}
	for i := range 9 {
		t.R[i/3][i%3] = f.Camera.Rotation[i]
	}
	copy(t.T[:], f.Camera.Translation)
	if !isRotation(t.R) {
		return Table{}, errors.New("camera.rotation: expected a rotation matrix")
	}
	t.Contradiction = f.contradiction(&t.Extrinsics)
	if err := checkCovariance("pose_covariance_rad_mm", f.PoseCovariance, 6); err != nil {
		return Table{}, err
	}
	t.PoseCovariance, t.RMS, t.ScaleSigma = f.PoseCovariance, f.RMS, f.ScaleSigma
	t.Used = append([]int(nil), f.Used...)
	for _, r := range f.Rejected {
		t.Rejected = append(t.Rejected, Rejection(r))
	}
	t.Layout = Layout{Width: geom.Length(f.Mat.Width), Height: geom.Length(f.Mat.Height)}
	for _, m := range f.Markers {
		t.Layout.Markers = append(t.Layout.Markers, Marker{
			ID: m.ID, Center: geom.Point{X: m.X, Y: m.Y}, Z: geom.Length(m.Z),
			Heading: geom.Angle(m.Heading) * geom.Degree, Size: geom.Length(m.Size),
		})
	}
	if err := t.Layout.Validate(); err != nil {
		return Table{}, err
	}
	if err := f.Registration.apply(&t); err != nil {
		return Table{}, fmt.Errorf("registration: %w", err)
	}
	if f.Made != nil {
		t.Made = *f.Made
	}
	if _, ok := t.MatCorners(); !ok {
		return Table{}, errors.New("camera: the mat lies behind it")
	}
	return t, nil
}

// centerTolerance is the accepted difference, in mm, of center_mm from the rotation and
// translation_mm: people and programs round what they write.
const centerTolerance = 0.1

// contradiction reports a center_mm that differs from the camera's centre by rotation and
// translation_mm; "" when they agree or the file has none.
func (f *tableFile) contradiction(e *Extrinsics) string {
	if len(f.Camera.Center) != 3 {
		return ""
	}
	c := e.Center()
	for i, v := range f.Camera.Center {
		if !(math.Abs(v-c[i]) <= centerTolerance) {
			s := f.Camera.Center
			return fmt.Sprintf("camera.center_mm says %.1f, %.1f, %.1f, but camera.rotation and translation_mm, which count, put the camera at "+
				"%.1f, %.1f, %.1f", s[0], s[1], s[2], c[0], c[1], c[2])
		}
	}
	return ""
}

// isRotation reports whether r is a rotation to the precision of a written file.
func isRotation(r [3][3]float64) bool {
	for i := range 3 {
		for j := range 3 {
			want := 0.0
			if i == j {
				want = 1
			}
			if d := Vec3(r[i]).Dot(r[j]) - want; !(math.Abs(d) < 1e-6) {
				return false
			}
		}
	}
	return Vec3(r[0]).Cross(r[1]).Dot(r[2]) > 0
}

// ParseTableFile reads a table calibration from its file's content, as LoadTable does.
func ParseTableFile(raw []byte) (Table, error) {
	t, err := parseTable(raw)
	if err != nil {
		return Table{}, fmt.Errorf("calibration: table: %w", err)
	}
	return t, nil
}

// MarshalTable returns the content of the table's file.
func MarshalTable(t *Table) ([]byte, error) { return formatTable(t) }
