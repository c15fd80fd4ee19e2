package calibrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"sightline/calibration"
	"sightline/calibration/verify"
	"sightline/cmd/internal/pictures"
	"sightline/cmd/internal/terminal"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/opencv"
)

type verifyCmd struct {
	pictures.Input `embed:""`

	Calibration string  `required:"" placeholder:"FILE" help:"The table calibration to verify, from calibrate table."`
	CardLength  string  `placeholder:"MM[,MM]" help:"The 220 mm bars of the check card as measured with a steel rule: of both strips, or of M,B. Without it the card cannot show a wrong scale."`
	Thickness   float64 `name:"card-thickness" default:"0.2" placeholder:"MM" help:"Thickness of a strip with what it is glued on. Default: ${default}."`
	BaseTop     float64 `default:"4" placeholder:"MM" help:"Height of the bases under strip B over the mat. Default: ${default}."`
	Limit       float64 `default:"1" placeholder:"MM" help:"Error of a distance that makes the calibration fail, however large its stated sigma. Default: ${default}."`
	Places      int     `needs:"source" default:"5" placeholder:"N" help:"From a live source: how many places to wait for. Default: ${default}."`
	Study       bool    `help:"Add a gauge study: repeatability of pictures with the card untouched, reproducibility from place to place."`
	Tolerance   float64 `needs:"study" default:"1" placeholder:"MM" help:"Tolerance of the gauge study. Default: ${default}."`
	JSON        bool    `name:"json" help:"Print one JSON document."`
}

// Run implements the command.
func (c *verifyCmd) Run(ctx context.Context) error {
	return terminal.Named("calibrate verify", terminal.Progress(ctx, c.run))
}

func (c *verifyCmd) run(ctx context.Context, out, progress io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	setup, err := c.setup()
	if err != nil {
		return err
	}
	table, err := pictures.LoadTable(progress, c.Calibration)
	if err != nil {
		return err
	}
	w := cardWatch{live: c.Live(), table: &table, progress: progress}
	if err := c.watch(ctx, &w); err != nil {
		return err
	}
	v, err := verify.Run(table, setup, w.sightings())
	switch {
	case errors.Is(err, verify.ErrNoCard):
		return terminal.Unanswered{Err: err}
	case err != nil:
		return err
	}
	answer := verifyAnswer{verification: v, setup: setup, places: w.places, file: c.Calibration, hash: table.Hash, integrity: table.State()}
	if c.Study {
		if answer.studies, err = c.studies(table, setup, w.places); err != nil {
			return terminal.Unanswered{Err: err}
		}
	}
	at := w.last
	if at.IsZero() {
		at = time.Now()
	}
	if err := verify.SaveRecord(c.Calibration, v.Record(at, table.Hash)); err != nil {
		fmt.Fprintf(progress, "the verification is not kept: %v\n", err)
	}
	if c.JSON {
		err = answer.writeJSON(out)
	} else {
		err = answer.write(out)
	}
	if err == nil && v.Outcome != verify.Pass {
		err = terminal.Unanswered{Err: fmt.Errorf("%s: %s", v.Outcome, strings.Join(v.Reasons, "; "))}
	}
	return err
}

// setup returns how the card was made and laid.
func (c *verifyCmd) setup() (verify.Setup, error) {
	s := verify.Setup{
		Card: verify.DefaultCard(), Thickness: geom.Length(c.Thickness), BaseTop: geom.Length(c.BaseTop), Limit: geom.Length(c.Limit),
	}
	if c.CardLength != "" {
		for i, text := range strings.Split(c.CardLength, ",") {
			v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "mm"), 64)
			if err != nil || i > 1 || v == 0 {
				return s, fmt.Errorf("--card-length %q: expected the 220 mm bars as measured, in mm: 219.8, or 219.8,219.9 for the strips M and B",
					c.CardLength)
			}
			s.Bars[i] = geom.Length(v)
			if i == 0 {
				s.Bars[1] = s.Bars[0]
			}
		}
	}
	if c.Study && !(c.Tolerance > 0) {
		return s, fmt.Errorf("--tolerance: expected more than 0 mm, got %v", c.Tolerance)
	}
	if c.Places < 1 || c.Places > 100 {
		return s, fmt.Errorf("--places: expected 1 to 100, got %d", c.Places)
	}
	if err := s.Validate(); err != nil {
		return s, fmt.Errorf("--%w", err)
	}
	return s, nil
}

// watch takes the pictures.
func (c *verifyCmd) watch(ctx context.Context, w *cardWatch) error {
	d, err := opencv.NewMarkerDetector(opencv.MarkerOptions{})
	if err != nil {
		return err
	}
	defer d.Close()
	return c.Each(ctx, func(f vision.Frame) (useful, enough bool, err error) {
		if width, height := f.Size(); width != w.table.Width || height != w.table.Height {
			return false, false, fmt.Errorf("%s is %d×%d, %s is for %d×%d: expected pictures of the camera that was calibrated", f.Name, width,
				height, c.Calibration, w.table.Width, w.table.Height)
		}
		found, err := markersIn(d, f)
		if err != nil {
			return false, false, err
		}
		useful = w.add(f, vision.Sightings(found))
		return useful, w.live && w.settled() >= c.Places, nil
	})
}

// The card is at rest if none of its corners moves further than stillPixels between pictures: noise
// moves corners by 0.1 px. In live pictures it must rest for stillFrames, so that no hand touches
// it.
const (
	stillPixels = 1.0
	stillFrames = 5
)

// cardPlace is the card at one place, in one or more pictures.
type cardPlace struct {
	name     string // of the first picture
	pictures []verify.Sighting
}

// cardWatch sorts pictures into places.
type cardWatch struct {
	live     bool
	table    *calibration.Table
	progress io.Writer
	places   []cardPlace
	last     time.Time // capture time of the newest picture
}

// add adds a picture and reports whether it was useful.
func (w *cardWatch) add(f vision.Frame, seen []calibration.MarkerSighting) bool {
	tags := 0
	for _, m := range seen {
		if m.ID >= calibration.CheckCardIDs && m.ID < calibration.CheckCardIDs+6 {
			tags++
		}
	}
	if tags < 2 {
		if !w.live {
			fmt.Fprintf(w.progress, "%s: %d of 6 markers of the check card: left out\n", f.Name, tags)
		}
		return false
	}
	w.last = f.Captured
	s := verify.Sighting{Name: f.Name, Tags: seen, Frames: 1}
	if n := len(w.places); n > 0 {
		p := &w.places[n-1]
		if sameCard(p.pictures[len(p.pictures)-1], s) {
			if w.live && len(p.pictures) >= stillFrames {
				return false // nothing new: the card has not been moved yet
			}
			p.pictures = append(p.pictures, s)
			if w.live && len(p.pictures) == stillFrames {
				fmt.Fprintf(w.progress, "place %d: %d of 6 markers; now lay the card elsewhere\n", n, tags)
			}
			if !w.live {
				fmt.Fprintf(w.progress, "%s: the card lies as before (place %d)\n", f.Name, n)
			}
			return true
		}
		if w.live && len(p.pictures) < stillFrames { // it was still on its way
			w.places = w.places[:n-1]
		}
	}
	w.places = append(w.places, cardPlace{f.Name, []verify.Sighting{s}})
	if !w.live {
		fmt.Fprintf(w.progress, "%s: %d of 6 markers of the check card (place %d)\n", f.Name, tags, len(w.places))
	}
	return true
}

// settled returns the number of places with all their pictures.
func (w *cardWatch) settled() (n int) {
	for _, p := range w.places {
		if len(p.pictures) >= stillFrames {
			n++
		}
	}
	return n
}

// sameCard reports whether two sightings have the same markers in the same places.
func sameCard(a, b verify.Sighting) bool {
	at := map[int][4]geom.Pixel{}
	for _, m := range a.Tags {
		at[m.ID] = m.Corners
	}
	common := 0
	for _, m := range b.Tags {
		was, ok := at[m.ID]
		if m.ID < calibration.CheckCardIDs || m.ID >= calibration.CheckCardIDs+6 || !ok {
			continue
		}
		common++
		for k, p := range m.Corners {
			if p.Sub(was[k]).Norm() > stillPixels {
				return false
			}
		}
	}
	return common >= 2
}

// sightings returns each place with its corners averaged over the pictures. It leaves out places at
// which a live card did not come to rest.
func (w *cardWatch) sightings() (out []verify.Sighting) {
	if w.live {
		var settled []cardPlace
		for _, p := range w.places {
			if len(p.pictures) >= stillFrames {
				settled = append(settled, p)
			}
		}
		w.places = settled
	}
	for _, p := range w.places {
		out = append(out, p.mean())
	}
	return out
}

// lengthErrors returns the error of one strip's length in each picture that shows both of its ends.
func (p cardPlace) lengthErrors(t calibration.Table, setup verify.Setup, strip int) (out []float64, err error) {
	for _, s := range p.pictures {
		v, err := verify.Run(t, setup, []verify.Sighting{s})
		if errors.Is(err, verify.ErrNoCard) {
			continue
		} else if err != nil {
			return nil, err
		}
		for _, d := range v.Deviations {
			if d.Strip == strip && d.From == calibration.CheckCardIDs+3*strip && d.To == d.From+1 {
				out = append(out, float64(d.Error()))
			}
		}
	}
	return out, nil
}

// cornerSums adds up the corners of a marker over all pictures, and counts how often it is seen.
func (p cardPlace) cornerSums(id int) (sum [4]geom.Pixel, n int) {
	for _, s := range p.pictures {
		for _, m := range s.Tags {
			if m.ID != id {
				continue
			}
			for k := range sum {
				sum[k] = sum[k].Add(m.Corners[k])
			}
			n++
		}
	}
	return sum, n
}

// mean averages the corners of the markers that every picture shows once; the others are those of
// the first picture.
func (p cardPlace) mean() verify.Sighting {
	out := verify.Sighting{Name: p.name, Frames: len(p.pictures)}
	for _, m := range p.pictures[0].Tags {
		if sum, n := p.cornerSums(m.ID); n == len(p.pictures) {
			for k := range sum {
				m.Corners[k] = sum[k].Mul(1 / float64(n))
			}
		} else {
			out.Frames = 1
		}
		out.Tags = append(out.Tags, m)
	}
	return out
}

// cardStudy is the gauge study of one strip's long distance.
type cardStudy struct {
	strip int
	verify.GaugeStudy
}

// studies computes the gauge study of each strip's longest distance.
func (c *verifyCmd) studies(t calibration.Table, setup verify.Setup, places []cardPlace) (out []cardStudy, err error) {
	for strip := range setup.Card.Strips {
		var errorsAt [][]float64
		for _, p := range places {
			at, err := p.lengthErrors(t, setup, strip)
			if err != nil {
				return nil, err
			}
			if len(at) > 0 {
				errorsAt = append(errorsAt, at)
			}
		}
		if len(errorsAt) == 0 {
			continue
		}
		study, err := verify.NewGaugeStudy(errorsAt, geom.Length(c.Tolerance))
		if err != nil {
			return nil, fmt.Errorf("--study: strip %s: %w", stripName(strip), err)
		}
		out = append(out, cardStudy{strip, study})
	}
	if len(out) == 0 {
		return nil, errors.New("--study: no picture shows both ends of a strip")
	}
	return out, nil
}

func stripName(strip int) string { return [2]string{"M", "B"}[strip] }

// verifyAnswer is the command's result.
type verifyAnswer struct {
	verification verify.Result
	setup        verify.Setup
	places       []cardPlace
	studies      []cardStudy
	file, hash   string
	integrity    string // of the file, for people
}

// write prints the answer for people.
func (a verifyAnswer) write(out io.Writer) error {
	v := a.verification
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "place\tstrip\tmarkers\ttrue mm\tmeasured\terror\t± stated\t± card\terror/±\t")
	for _, d := range v.Deviations {
		fmt.Fprintf(w, "%d\t%s\t%d-%d\t%.2f\t%.2f\t%+.2f\t%.2f\t%.2f\t%+.1f\t\n", d.Place+1, stripName(d.Strip), d.From, d.To,
			float64(d.True), float64(d.Measured), float64(d.Error()), float64(d.Stated), float64(d.Reference), d.Normalised)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s: %d distances at %d places, near %.0f %% of the mat\n", strings.ToUpper(string(v.Outcome)), v.Freedom, v.Places,
		100*v.Covered)
	fmt.Fprintf(out, "largest error %.2f mm; largest error/± %.1f (at most %.1f is chance); chi-square %.1f for %d (a true calibration "+
		"exceeds it in %.3g %% of cases)\n",
		float64(v.WorstError), v.WorstNormalised, v.Allowed, v.ChiSquare, v.Freedom, 100*v.Probability)
	for _, r := range v.Reasons {
		fmt.Fprintf(out, "why: %s\n", r)
	}
	if v.Cause != "" {
		fmt.Fprintf(out, "likely: %s\n", v.Cause)
	}
	for _, n := range v.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
	for _, s := range a.studies {
		fmt.Fprintf(out, "gauge study, strip %s: %d pictures at %d places: bias %+.3f mm, repeatability %.3f mm, reproducibility %.3f mm (1 "+
			"sd), %.0f %% of the %s mm tolerance, Cg %s, Cgk %s\n",
			stripName(s.strip), s.Pictures, s.Places, float64(s.Bias), float64(s.Repeatability), float64(s.Reproducibility), 100*s.GRR,
			strconv.FormatFloat(float64(s.Tolerance), 'g', -1, 64), figure(s.Cg), figure(s.Cgk))
	}
	return nil
}

// figure formats a capability, which is infinite if nothing varies.
func figure(v float64) string {
	if math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf("%.2f", v)
}

// The JSON form of calibrate verify; keys include the units.
type (
	verifyJSON struct {
		Version     int               `json:"version"`
		Outcome     string            `json:"outcome"` // pass, fail, undecided
		WorstError  float64           `json:"worst_error_mm"`
		WorstSigmas float64           `json:"worst_sigmas"`
		Allowed     float64           `json:"allowed_sigmas"`
		ChiSquare   float64           `json:"chi_square"`
		Freedom     int               `json:"degrees_of_freedom"`
		Probability float64           `json:"probability"`
		Stated      float64           `json:"stated_sigma_mm"`
		Reference   float64           `json:"card_sigma_mm"`
		Limit       float64           `json:"limit_mm"`
		Covered     float64           `json:"covered"`
		Reasons     []string          `json:"reasons"`
		Cause       string            `json:"cause"`
		Notes       []string          `json:"notes"`
		Places      []verifyPlaceJSON `json:"places"`
		Study       []studyJSON       `json:"study,omitempty"`
		Calibration struct {
			File      string `json:"file"`
			Hash      string `json:"hash"`
			Integrity string `json:"integrity"`
		} `json:"calibration"`
	}
	verifyPlaceJSON struct {
		Name      string               `json:"name"`
		Pictures  int                  `json:"pictures"`
		Distances []verifyDistanceJSON `json:"distances"`
	}
	verifyDistanceJSON struct {
		Strip     string        `json:"strip"` // mat or bases
		From      int           `json:"from"`
		To        int           `json:"to"`
		Height    float64       `json:"height_mm"`
		At        [2][2]float64 `json:"at_mm"`
		True      float64       `json:"true_mm"`
		Measured  float64       `json:"measured_mm"`
		Error     float64       `json:"error_mm"`
		Stated    float64       `json:"stated_sigma_mm"`
		Reference float64       `json:"card_sigma_mm"`
		Sigmas    float64       `json:"sigmas"`
	}
	studyJSON struct {
		Strip           string   `json:"strip"`
		Places          int      `json:"places"`
		Pictures        int      `json:"pictures"`
		Bias            float64  `json:"bias_mm"`
		Repeatability   float64  `json:"repeatability_mm"`
		Between         float64  `json:"between_places_mm"`
		Reproducibility float64  `json:"reproducibility_mm"`
		Tolerance       float64  `json:"tolerance_mm"`
		GRR             float64  `json:"grr"`
		Cg              *float64 `json:"cg"` // null when nothing varies
		Cgk             *float64 `json:"cgk"`
	}
)

// writeJSON prints the answer for programs.
func (a verifyAnswer) writeJSON(out io.Writer) error {
	v := a.verification
	j := verifyJSON{
		Version: 1, Outcome: string(v.Outcome), WorstError: float64(v.WorstError), WorstSigmas: v.WorstNormalised, Allowed: v.Allowed,
		ChiSquare: v.ChiSquare, Freedom: v.Freedom, Probability: v.Probability, Stated: float64(v.Stated), Reference: float64(v.Reference),
		Limit: float64(a.setup.Limit), Covered: v.Covered, Reasons: append([]string{}, v.Reasons...), Cause: v.Cause, Notes: append([]string{},
			v.Notes...),
	}
	j.Calibration.File, j.Calibration.Hash, j.Calibration.Integrity = a.file, a.hash, a.integrity
	for _, p := range a.places {
		j.Places = append(j.Places, verifyPlaceJSON{p.name, len(p.pictures), []verifyDistanceJSON{}})
	}
	for _, d := range v.Deviations {
		p := &j.Places[d.Place]
		height := a.setup.Thickness
		if d.Strip == 1 {
			height += a.setup.BaseTop
		}
		p.Distances = append(p.Distances, verifyDistanceJSON{
			a.setup.Card.Strips[d.Strip].Name, d.From, d.To, float64(height), [2][2]float64{{d.At[0].X, d.At[0].Y}, {d.At[1].X, d.At[1].Y}},
			float64(d.True), float64(d.Measured), float64(d.Error()), float64(d.Stated), float64(d.Reference), d.Normalised,
		})
	}
	for _, s := range a.studies {
		j.Study = append(j.Study, studyJSON{
			a.setup.Card.Strips[s.strip].Name, s.Places, s.Pictures, float64(s.Bias), float64(s.Repeatability), float64(s.Between),
			float64(s.Reproducibility), float64(s.Tolerance), s.GRR, finite(s.Cg), finite(s.Cgk),
		})
	}
	raw, err := json.MarshalIndent(j, "", "  ")
	if err == nil {
		_, err = out.Write(append(raw, '\n'))
	}
	return err
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}
