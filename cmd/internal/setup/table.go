package setup

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/calibration/quick"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// TableState is the step of the table.
type TableState struct {
	Phase   Phase
	Markers []Marker // all markers of the layout, as the last picture shows them
	Frames  int      // number of averaged pictures in the result
	Wanted  int      // number that is enough

	Quick      bool    // the lens is estimated together with the pose
	Views      int     // places of the camera in the estimate
	FocalSigma float64 // of the estimated lens, relative

	MiddleSigma geom.Length // of a distance of 300 mm in the middle of the mat, from the result; 0: none yet

	Long  [][2]int // pairs of markers whose distances determine the scale best; none: they cannot be measured now
	Scale string   // result of measured distances, in words

	Table   *calibration.Table // the result; nil: none yet
	Advice  string             // possible improvements, in words
	SavedAs string
	Problem string
}

// Marker is one of the mat's markers.
type Marker struct {
	ID      int
	Seen    bool
	Corners [4]geom.Pixel // if visible
	Used    bool          // used to find the camera's pose
	Known   bool          // Off is known
	Off     geom.Length   // distance from where all the others put it
}

// tableFrames is the number of pictures in a table with a camera at rest. Their mean reduces the
// corners' noise to a third; after that, other errors are larger.
const tableFrames = 10

// steadyBy is how far, rms in px, the markers of two pictures may differ while the camera stands
// still.
const steadyBy = 0.5

func (m *Machine) resetTable() {
	m.seen, m.views, m.table, m.placed, m.away = nil, nil, nil, placed{}, false
	m.state.Table = TableState{Phase: Waiting, Wanted: tableFrames}
}

// quick goes to the table step without a lens, which is then estimated from the markers. It drops
// what was found with another lens, and earlier estimates.
func (m *Machine) quick() {
	m.resetTable()
	m.resetVerify()
	m.state.Step, m.state.Table.Phase, m.state.Table.Quick = Table, Looking, true
}

// takeUp continues from the saved table in use, if there is one. A lens that was solved since makes
// it obsolete.
func (m *Machine) takeUp() bool {
	if m.o.Saved == nil || m.lens != nil {
		return false
	}
	t, ok := m.o.Saved()
	if !ok {
		return false
	}
	m.table = &t
	m.state.Table = TableState{Phase: Saved, Wanted: tableFrames, Table: &t, MiddleSigma: middleSigma(t), SavedAs: m.o.TablePath}
	return true
}

// anotherView keeps the present place of the camera as a view of the lens, and continues at another
// place: the error of the focal length differs from place to place.
func (m *Machine) anotherView() error {
	t := &m.state.Table
	m.views = append(slices.Clip(m.views), quick.View{Name: fmt.Sprintf("view %d", len(m.views)+1), Seen: m.last})
	m.table, t.Table, t.Phase, t.Frames = nil, nil, Looking, 0
	m.seen = nil
	return nil
}

// register finds the camera's pose from the pictures so far, and also the lens if it is estimated.
// centers are the markers' centres for [calibration.Table.MeasureScale]; an estimated lens has
// none.
func (m *Machine) register(s Sighting) (table calibration.Table, centers map[int]geom.Pixel, err error) {
	seen := meanSightings(m.seen)
	t := &m.state.Table
	if t.Quick {
		views := append(slices.Clip(m.views), quick.View{Name: "the picture", Seen: seen})
		solution, err := quick.Solve(quick.Input{Layout: m.o.Layout, Views: quick.Merge(views), Width: s.Width, Height: s.Height})
		t.Views, t.FocalSigma, m.last = solution.Views, solution.FocalSigma, seen
		return solution.Table, nil, err
	}
	lens, ok := m.bestLens()
	if !ok {
		return table, nil, errors.New("the lens is not known any more: do the lens first")
	}
	lens, err = lens.Scaled(s.Width, s.Height)
	if err != nil {
		return table, nil, fmt.Errorf("the lens does not fit the picture: %w", err)
	}
	table, err = calibration.Register(lens, m.o.Layout, seen)
	return table, calibration.Centers(lens, seen), err
}

// offerMarkers adds a picture of the mat's markers.
func (m *Machine) offerMarkers(s Sighting) {
	t := &m.state.Table
	t.Markers = m.markers(s.Markers, t.Table)
	if t.Phase == Ready {
		m.watchReady(s.Markers)
		return // the result stays until it is saved or restarted
	}
	if n := len(m.seen); n > 0 && max(movedSince(m.seen[0].Markers, s.Markers), movedSince(m.seen[n-1].Markers, s.Markers)) > steadyBy {
		m.seen = nil // the camera or a card moved, perhaps little by little
	}
	m.seen = append(m.seen, s)
	if n := len(m.seen); t.Quick && n > 1 && n < tableFrames {
		t.Frames = n
		return // an estimate takes longer than a picture, and only the last one counts
	}
	table, centers, err := m.register(s)
	if err != nil {
		m.seen, t.Frames, t.Table = nil, 0, nil
		t.Problem = "No place for the camera yet: " + trimmed(err) + "."
		t.Advice = m.markerAdvice(&s, nil)
		return
	}
	table.Made = s.At
	t.Problem, t.Frames, t.Table = "", len(m.seen), &table
	m.placed = placed{table, centers}
	t.Advice, t.Markers = m.markerAdvice(&s, &table), m.markers(s.Markers, &table)
	if t.Frames >= tableFrames {
		m.keep(table)
		m.seen = nil
	}
}

// watchReady says whether the camera has left the place that is to be saved. A camera whose lens is estimated is moved on purpose.
func (m *Machine) watchReady(seen []calibration.MarkerSighting) {
	t := &m.state.Table
	by, away := m.moved(seen)
	switch {
	case away && !t.Quick:
		t.Problem = movedText(by)
	case m.away:
		t.Problem = ""
	}
	m.away = away && !t.Quick
}

// middleSigma returns the stated sigma of a distance of 300 mm in the middle of the mat.
func middleSigma(t calibration.Table) geom.Length {
	x, y := float64(t.Layout.Width)/2, float64(t.Layout.Height)/2
	end := func(by float64) calibration.Spot {
		return calibration.Spot{Point: geom.Point{X: x + by, Y: y}, Z: token.BaseTop}
	}
	sigma, _ := calibration.NewBudget(t, calibration.Uncertainty{}).Distance(end(-150), end(150), 1)
	return sigma
}

// markers returns how the markers of the layout are seen, and how they fit the table.
func (m *Machine) markers(seen []calibration.MarkerSighting, t *calibration.Table) []Marker {
	here := map[int]calibration.MarkerSighting{}
	for _, s := range calibration.TurnSightings(m.o.Layout, seen) {
		here[s.ID] = s
	}
	var out []Marker
	for _, k := range m.o.Layout.Markers {
		s, ok := here[k.ID]
		r := Marker{ID: k.ID, Seen: ok, Corners: s.Corners}
		if t != nil {
			r.Used = slices.Contains(t.Used, k.ID)
			for _, residual := range t.Residuals {
				if residual.ID == k.ID {
					r.Off, r.Known = residual.Offset(), true
				}
			}
		}
		out = append(out, r)
	}
	return out
}

// movedSince returns how far (rms, px) the markers in both pictures moved; +Inf if they have none
// in common.
func movedSince(before, now []calibration.MarkerSighting) float64 {
	sum, n := 0.0, 0
	for _, b := range before {
		for _, a := range now {
			if a.ID != b.ID {
				continue
			}
			for i := range a.Corners {
				d := a.Corners[i].Sub(b.Corners[i]).Norm()
				sum, n = sum+d*d, n+1
			}
		}
	}
	if n == 0 {
		return math.Inf(1)
	}
	return math.Sqrt(sum / float64(n))
}

// meanSightings averages the corners of each marker over the pictures. It leaves out markers that
// fewer than half of the pictures show (a hand was over them), and markers that a picture shows
// twice, which are ambiguous.
func meanSightings(seen []Sighting) []calibration.MarkerSighting {
	var order []int
	sum, count, twice := map[int][4]geom.Pixel{}, map[int]int{}, map[int]bool{}
	for _, s := range seen {
		here := map[int]bool{}
		for _, k := range s.Markers {
			twice[k.ID] = twice[k.ID] || here[k.ID]
			here[k.ID] = true
			if count[k.ID] == 0 {
				order = append(order, k.ID)
			}
			count[k.ID]++
			c := sum[k.ID]
			for i := range c {
				c[i] = c[i].Add(k.Corners[i])
			}
			sum[k.ID] = c
		}
	}
	var out []calibration.MarkerSighting
	for _, id := range order {
		if twice[id] || 2*count[id] < len(seen) {
			continue
		}
		c := sum[id]
		for i := range c {
			c[i] = c[i].Mul(1 / float64(count[id]))
		}
		out = append(out, calibration.MarkerSighting{ID: id, Corners: c})
	}
	return out
}

// markerAdvice returns what would improve the table.
func (m *Machine) markerAdvice(s *Sighting, t *calibration.Table) string {
	if s.Mirrored {
		return "The mat's markers can only be read with left and right exchanged. Switch mirroring off in the camera's settings, or where " +
			"its stream is made."
	}
	here := map[int]bool{}
	for _, k := range s.Markers {
		here[k.ID] = true
	}
	var missing, off []string
	for _, k := range m.o.Layout.Markers {
		if !here[k.ID] {
			missing = append(missing, fmt.Sprint(k.ID))
		}
	}
	if t != nil {
		for _, r := range t.Rejected {
			off = append(off, r.Name+": "+r.Reason)
		}
	}
	var out []string
	if len(missing) > 0 {
		out = append(out, fmt.Sprintf("Not seen: %s %s. Is it covered, out of the picture, or in a lamp's reflection?",
			plural(len(missing), "marker", "markers"), strings.Join(missing, ", ")))
	}
	if len(off) > 0 {
		out = append(out, "Left out: "+strings.Join(off, "; ")+". Lay it flush against the mat's edge where its card says, and do the step "+
			"again.")
	}
	return strings.Join(out, " ")
}

// trimmed returns an error's text without package names.
func trimmed(err error) string {
	text := err.Error()
	for _, prefix := range []string{"calibration: register: ", "calibration: quick: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
