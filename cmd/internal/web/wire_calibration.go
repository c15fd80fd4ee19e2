package web

import (
	"fmt"
	"math"

	"sightline/calibration"
	"sightline/calibration/lens"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/setup"
	"sightline/engine/geom"
)

// The JSON of the calibration's page. Keys have units.

type calibrationStateJSON struct {
	Version int                   `json:"version"`
	Seq     uint64                `json:"seq"`
	Active  bool                  `json:"active"`
	Busy    bool                  `json:"busy"` // the usual answers are stopped
	Step    setup.Step            `json:"step"`
	Steps   []calibrationStepJSON `json:"steps"`
	Camera  calibrationCameraJSON `json:"camera"`
	Print   printStepJSON         `json:"print"`
	Lens    lensStepJSON          `json:"lens"`
	Table   tableStepJSON         `json:"table"`
	Verify  verifyStepJSON        `json:"verify"`
}

type calibrationStepJSON struct {
	Name  setup.Step  `json:"name"`
	Phase setup.Phase `json:"phase"`
}

type calibrationCameraJSON struct {
	Lost     string `json:"lost"` // why there are no pictures; "": there are
	WidthPx  int    `json:"width_px"`
	HeightPx int    `json:"height_px"`
	Picture  uint64 `json:"picture_seq"` // 0: none
}

type printStepJSON struct {
	Phase   setup.Phase `json:"phase"`
	ScaleX  float64     `json:"scale_x"`
	ScaleY  float64     `json:"scale_y"`
	BarXMM  float64     `json:"bar_x_mm"` // 0: not measured yet
	BarYMM  float64     `json:"bar_y_mm"`
	Verdict string      `json:"verdict"`
}

type lensStepJSON struct {
	Phase   setup.Phase     `json:"phase"`
	Board   string          `json:"board"`
	Columns int             `json:"columns"` // of inner corners
	Corners [][2]float64    `json:"corners_px"`
	Outcome string          `json:"outcome"` // of the last picture
	Now     string          `json:"now"`
	Views   []lensViewJSON  `json:"views"`
	Refused []refusedJSON   `json:"refused"`
	Guide   lensGuideJSON   `json:"guide"`
	Result  *lensResultJSON `json:"result"`
	SavedAs string          `json:"saved_as"`
	Problem string          `json:"problem"`
}

type lensViewJSON struct {
	Name  string `json:"name"`
	Added string `json:"added"`
}

type refusedJSON struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Times   int    `json:"times"`
}

type lensGuideJSON struct {
	Counts  [][]int         `json:"counts"` // taken corners, by row and column of the picture's grid
	Covered float64         `json:"covered"`
	Tilts   map[string]bool `json:"tilts"` // by the side nearer to the camera
	Near    bool            `json:"near"`
	Far     bool            `json:"far"`
	Enough  bool            `json:"enough"`
	Advice  string          `json:"advice"`
	Target  *[2]int         `json:"target_cell"` // column, row
	Sigma   *lensSigmaJSON  `json:"sigma"`
}

type lensSigmaJSON struct {
	FxPx  float64 `json:"fx_px"`
	FyPx  float64 `json:"fy_px"`
	MatMM float64 `json:"mat_mm"`
	RMSPx float64 `json:"rms_px"`
}

type lensResultJSON struct {
	FxPx       lensFigure      `json:"fx_px"`
	FyPx       lensFigure      `json:"fy_px"`
	CxPx       lensFigure      `json:"cx_px"`
	CyPx       lensFigure      `json:"cy_px"`
	Distortion [5]float64      `json:"distortion"` // k1, k2, p1, p2, k3
	RMSPx      float64         `json:"rms_px"`
	Views      int             `json:"views"`
	MatMM      float64         `json:"mat_mm"` // sigma from the lens at the worst point of a mat
	Dropped    []rejectionJSON `json:"left_out"`
}

// lensFigure is a value and its standard deviation.
type lensFigure struct {
	Value float64 `json:"value"`
	Sigma float64 `json:"sigma"`
}

type rejectionJSON struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

type tableStepJSON struct {
	Phase   setup.Phase     `json:"phase"`
	Frames  int             `json:"frames"`
	Wanted  int             `json:"frames_wanted"`
	Markers []markerJSON    `json:"markers"`
	RMSPx   float64         `json:"rms_px"`
	Height  float64         `json:"camera_height_mm"`
	Quick   bool            `json:"quick"`           // the lens is estimated together with the pose
	Views   int             `json:"views"`           // places of the camera in the estimate
	Focal   float64         `json:"focal_sigma"`     // of the estimated focal length, relative
	Middle  float64         `json:"middle_sigma_mm"` // of 300 mm in the middle of the mat; 0: no result yet
	Scale   float64         `json:"scale_sigma"`     // of all lengths alike, relative; 0: no result yet
	Said    string          `json:"scale_said"`      // result of the measured distances; "": none were given
	Long    [][2]int        `json:"long_distances"`  // markers between which to measure; empty: not now
	Heat    string          `json:"heat"`            // address of the picture of sigma over the mat; "": none yet
	Left    []rejectionJSON `json:"left_out"`
	Advice  string          `json:"advice"`
	SavedAs string          `json:"saved_as"`
	Problem string          `json:"problem"`
}

type markerJSON struct {
	ID      int          `json:"id"`
	Corners [][2]float64 `json:"corners_px"` // empty: not visible
	Used    bool         `json:"used"`
	OffMM   *float64     `json:"off_mm"` // distance from where the others put it; absent: unknown
}

type verifyStepJSON struct {
	Phase     setup.Phase       `json:"phase"`
	BarMM     float64           `json:"card_bar_mm"` // 0: not measured
	Thickness float64           `json:"card_thickness_mm"`
	BaseTop   float64           `json:"base_top_mm"`
	Now       string            `json:"now"`
	Markers   []markerJSON      `json:"markers"`
	Places    []placeJSON       `json:"places"`
	Wanted    int               `json:"places_wanted"`
	Result    *verificationJSON `json:"result"`
	SavedAs   string            `json:"saved_as"`
	Problem   string            `json:"problem"`
}

type placeJSON struct {
	Distances   int     `json:"distances"`
	WorstError  float64 `json:"worst_error_mm"`
	WorstSigmas float64 `json:"worst_sigmas"`
}

type verificationJSON struct {
	Outcome     string   `json:"outcome"` // pass, fail, undecided
	WorstError  float64  `json:"worst_error_mm"`
	WorstSigmas float64  `json:"worst_sigmas"`
	Allowed     float64  `json:"allowed_sigmas"`
	Distances   int      `json:"distances"`
	Stated      float64  `json:"stated_sigma_mm"`
	Covered     float64  `json:"covered"`
	Reasons     []string `json:"reasons"`
	Cause       string   `json:"cause"`
	Notes       []string `json:"notes"`
}

// calibrationStateOf returns the page's JSON of a state.
func calibrationStateOf(v *live.CalibrationState) calibrationStateJSON {
	s := &v.State
	j := calibrationStateJSON{
		Version: 1, Seq: v.Seq, Active: s.Active, Busy: s.Busy(), Step: s.Step,
		Camera: calibrationCameraJSON{s.Camera.Lost, s.Camera.Width, s.Camera.Height, v.Frame.Seq},
		Print: printStepJSON{s.Print.Phase, s.Print.ScaleX, s.Print.ScaleY, s.Print.BarX.Millimeters(), s.Print.BarY.Millimeters(),
			s.Print.Verdict},
		Lens: lensStepOf(&s.Lens), Table: tableStepOf(&s.Table), Verify: verifyStepOf(&s.Verify),
	}
	for _, step := range setup.Steps {
		j.Steps = append(j.Steps, calibrationStepJSON{step, s.Phase(step)})
	}
	return j
}

func lensStepOf(l *setup.LensState) lensStepJSON {
	j := lensStepJSON{
		Phase: l.Phase, Board: l.Board, Corners: pixelsOf(l.Corners), Outcome: l.Outcome.String(), Now: l.Now,
		Views: []lensViewJSON{}, Refused: []refusedJSON{}, Guide: lensGuideOf(&l.Guide), SavedAs: l.SavedAs, Problem: l.Problem,
	}
	if b, err := calibration.ParseBoard(l.Board); err == nil {
		j.Columns = b.Cols
	}
	for _, v := range l.Views {
		j.Views = append(j.Views, lensViewJSON(v))
	}
	for _, r := range l.Refused {
		j.Refused = append(j.Refused, refusedJSON{r.Outcome.String(), r.Reason, r.Times})
	}
	if l.Result != nil {
		j.Result = lensResultOf(l.Result)
	}
	return j
}

func lensGuideOf(g *lens.GuideState) lensGuideJSON {
	j := lensGuideJSON{
		Covered: g.Covered, Tilts: map[string]bool{}, Near: g.Near, Far: g.Far, Enough: g.Enough, Advice: g.Advice,
	}
	for _, row := range g.Counts {
		j.Counts = append(j.Counts, append([]int(nil), row[:]...))
	}
	for side, tilted := range g.Tilts {
		j.Tilts[lens.Side(side).String()] = tilted
	}
	if g.Target.Col >= 0 && g.Target.Row >= 0 && g.Advice != "" && g.Views > 0 {
		j.Target = &[2]int{g.Target.Col, g.Target.Row}
	}
	if s := g.Sigma; s != nil {
		j.Sigma = &lensSigmaJSON{FxPx: finite(s.Fx), FyPx: finite(s.Fy), MatMM: finite(s.Mat.Millimeters()), RMSPx: finite(s.RMS)}
	}
	return j
}

func lensResultOf(r *setup.LensResult) *lensResultJSON {
	in := r.Lens
	sigma := func(k int) float64 {
		if len(in.Covariance) != 81 {
			return 0
		}
		return finite(math.Sqrt(in.Covariance[10*k]))
	}
	j := &lensResultJSON{
		FxPx: lensFigure{in.Fx, sigma(0)}, FyPx: lensFigure{in.Fy, sigma(1)}, CxPx: lensFigure{in.Cx, sigma(2)}, CyPx: lensFigure{in.Cy,
			sigma(3)},
		Distortion: in.Distortion, RMSPx: in.RMS, Views: in.Views, MatMM: finite(r.Mat.Millimeters()), Dropped: rejectionsOf(r.Dropped),
	}
	return j
}

func rejectionsOf(rs []calibration.Rejection) []rejectionJSON {
	out := []rejectionJSON{}
	for _, r := range rs {
		out = append(out, rejectionJSON(r))
	}
	return out
}

func tableStepOf(t *setup.TableState) tableStepJSON {
	j := tableStepJSON{
		Phase: t.Phase, Frames: t.Frames, Wanted: t.Wanted, Left: []rejectionJSON{},
		Advice: t.Advice, SavedAs: t.SavedAs, Problem: t.Problem,
		Said: t.Scale, Long: append([][2]int{}, t.Long...),
		Quick: t.Quick, Views: t.Views, Focal: t.FocalSigma, Middle: t.MiddleSigma.Millimeters(),
	}
	j.Markers = markersOf(t.Markers)
	if t.Table != nil {
		j.RMSPx, j.Left = t.Table.RMS, rejectionsOf(t.Table.Rejected)
		j.Height = t.Table.Center()[2]
		if t.Phase == setup.Ready || t.Phase == setup.Saved {
			j.Scale = t.Table.ScaleSigma
			// The same table with another scale has another picture.
			j.Heat = fmt.Sprintf("/api/calibration/heat.svg?v=%d,%.9g", t.Table.Made.UnixMilli(), t.Table.Center()[2])
		}
	}
	return j
}

func markersOf(markers []setup.Marker) []markerJSON {
	out := []markerJSON{}
	for _, m := range markers {
		k := markerJSON{ID: m.ID, Corners: [][2]float64{}, Used: m.Used}
		if m.Seen {
			k.Corners = pixelsOf(m.Corners[:])
		}
		if m.Known {
			off := m.Off.Millimeters()
			k.OffMM = &off
		}
		out = append(out, k)
	}
	return out
}

func verifyStepOf(v *setup.VerifyState) verifyStepJSON {
	j := verifyStepJSON{
		Phase: v.Phase, BarMM: v.Card.Bar.Millimeters(), Thickness: v.Card.Thickness.Millimeters(), BaseTop: v.Card.BaseTop.Millimeters(),
		Now: v.Now, Markers: markersOf(v.Markers), Places: []placeJSON{}, Wanted: v.Wanted, SavedAs: v.SavedAs, Problem: v.Problem,
	}
	for _, p := range v.Places {
		j.Places = append(j.Places, placeJSON{p.Distances, p.WorstError.Millimeters(), finite(p.WorstSigmas)})
	}
	if r := v.Result; r != nil {
		j.Result = &verificationJSON{
			Outcome: string(r.Outcome), WorstError: r.WorstError.Millimeters(), WorstSigmas: finite(r.WorstNormalised), Allowed: finite(r.Allowed),
			Distances: r.Freedom, Stated: finite(r.Stated.Millimeters()), Covered: r.Covered,
			Reasons: append([]string{}, r.Reasons...), Cause: r.Cause, Notes: append([]string{}, r.Notes...),
		}
	}
	return j
}

func pixelsOf(px []geom.Pixel) [][2]float64 {
	out := [][2]float64{}
	for _, p := range px {
		out = append(out, [2]float64{math.Round(100*p.X) / 100, math.Round(100*p.Y) / 100})
	}
	return out
}

// finite returns x, or 0 if JSON cannot represent it.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
