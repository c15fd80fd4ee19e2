package web

import (
	"math"
	"sync"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// What a stream lays over its own picture of the same camera: places in the camera's whole picture,
// through the real lens, so clients need no lens. Everything is at the height of the bases' tops,
// where the ends of the measuring line appear.

// overlayJSON is null while nothing may be laid over a live picture: without a valid calibration,
// and while an older picture is held.
type overlayJSON struct {
	WidthPx   int           `json:"width_px"` // of the camera's whole picture
	HeightPx  int           `json:"height_px"`
	Mat       polyline      `json:"mat_px"` // the mat's edge, closed
	Ships     []overlayShip `json:"ships"`
	Obstacles []polyline    `json:"obstacles_px"`
	Rings     []ringJSON    `json:"rings"`           // around the attacker, ranges 1 to 3, as far as they lie on the mat
	Arc       polyline      `json:"arc_px"`          // the chosen arc up to range 3, on the mat, closed
	ArcMM     polyline      `json:"arc_mm"`          // the same on the table
	Lines     []polyline    `json:"lines_px"`        // of the answer
	Ruling    []polyline    `json:"ruling_lines_px"` // of the last ruling
}

// directedJSON is the director's pair in the overlays; the state has the same for the players'
// choice.
type directedJSON struct {
	Choice  choiceJSON   `json:"choice"`
	Answer  answerJSON   `json:"answer"`
	Reach   bool         `json:"reach"` // as in the policy: ranges may be drawn around the attacker
	Overlay *overlayJSON `json:"overlay"`
}

// directedOf returns the director's pair without its overlay, or nil if the overlays show the
// players' choice.
func directedOf(state *live.State) *directedJSON {
	if state.Direction.Pair == nil {
		return nil
	}
	asked := state.WithChoice(state.Direction.Choice(state.Choice))
	return &directedJSON{
		Choice: choiceOf(asked.Choice), Answer: answerOf(&asked, asked.Text()),
		Reach: asked.Policy.Reach(asked.Located.Scene.Rules, asked.Choice.From),
	}
}

type polyline [][2]float64

type overlayShip struct {
	ID        string   `json:"id"`
	OutlinePx polyline `json:"outline_px"` // front left, front right, rear right, rear left
}

type ringJSON struct {
	Band  int        `json:"band"`
	Parts []polyline `json:"parts_px"`
}

// sampleStep is the distance between projected points of a line: over this length, a lens bends a
// line on a mat by less than a tenth of a pixel.
const sampleStep = 20.0 // mm

// tables caches the calibration of a state.
type tables struct {
	mu    sync.Mutex // guards the fields below
	hash  string
	table *calibration.Table
}

// of returns the calibration of a register, or nil.
func (t *tables) of(r *live.Register) *calibration.Table {
	if r.Hash == "" || len(r.File) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hash != r.Hash {
		t.hash, t.table = r.Hash, nil
		if parsed, err := calibration.ParseTableFile(r.File); err == nil {
			t.table = &parsed
		}
	}
	return t.table
}

// overlayOf projects a state. It returns nil while nothing may be laid over a live picture.
func overlayOf(state *live.State, table *calibration.Table) *overlayJSON {
	if table == nil || state.Health.Code != live.OK {
		return nil
	}
	if w, h := state.Frame.Size(); w > 0 && (w != table.Intrinsics.Width || h != table.Intrinsics.Height) {
		return nil // the picture's size has just changed
	}
	scene := &state.Located.Scene
	p := projector{table, float64(scene.MatWidth), float64(scene.MatHeight)}
	o := &overlayJSON{
		WidthPx: table.Intrinsics.Width, HeightPx: table.Intrinsics.Height,
		Mat: p.closed(p.mat()), Ships: []overlayShip{}, Obstacles: []polyline{}, Rings: []ringJSON{}, Arc: polyline{}, ArcMM: polyline{},
		Lines: []polyline{}, Ruling: []polyline{},
	}
	if state.Ruling != nil {
		o.Ruling = p.lines(state.Ruling.Lines)
	}
	if state.Held { // the table may look different by now
		return o
	}
	profile := engine.ProfileOf(scene)
	for i := range scene.Ships {
		if ship := &scene.Ships[i]; state.Stands(ship.ID) {
			outline, ok := p.points(profile.Corners(ship.Base, ship.Pose))
			if ok {
				o.Ships = append(o.Ships, overlayShip{ship.ID, outline})
			}
		}
	}
	for i := range scene.Obstacles {
		rock := &scene.Obstacles[i]
		if outline, ok := p.points(rock.Pose.TransformAll(rock.Outline)); ok {
			o.Obstacles = append(o.Obstacles, outline)
		}
	}
	if state.Pair == nil { // there is no answer, or none that may be shown
		return o
	}
	o.Lines = p.lines(state.Pair.Range.Lines)
	for i := range scene.Ships {
		if ship := &scene.Ships[i]; ship.ID == state.Choice.From && state.Policy.Reach(scene.Rules, ship.ID) {
			o.attacker(&p, ship, &profile, state)
		}
	}
	return o
}

// attacker adds the rings and the arc of the attacker.
func (o *overlayJSON) attacker(p *projector, ship *engine.Ship, profile *engine.Profile, state *live.State) {
	w, l := profile.Size(ship.Base)
	for band := 1; band <= 3 && state.Policy.Reach(state.Located.Scene.Rules, ship.ID); band++ {
		ring := ship.Pose.TransformAll(around(float64(w)/2, float64(l)/2, float64(band)*rangeBand))
		o.Rings = append(o.Rings, ringJSON{band, p.onMat(append(ring, ring[0]))})
	}
	if _, told := state.ArcOf(); !told {
		return
	}
	arc := arcOutline(profile, state.Located.Scene.Rules, ship, state.Choice.Arc)
	onMat := clipped(ship.Pose.TransformAll(arc), p.sides())
	o.Arc = p.closed(onMat)
	for _, q := range onMat {
		o.ArcMM = append(o.ArcMM, pointOf(q))
	}
}

const rangeBand = 100.0 // mm

// around returns the points at distance r from a rectangle with half sides x and y: a convex
// polygon that looks like the curve.
func around(x, y, r float64) (out []geom.Point) {
	const perCorner = 24 // at range 3 a chord is off by 0.16 mm
	for corner, c := range []geom.Point{{X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}, {X: -x, Y: y}} {
		for i := range perCorner + 1 {
			sin, cos := math.Sincos((float64(corner) + float64(i)/perCorner) * math.Pi / 2)
			out = append(out, geom.Point{X: c.X + r*sin, Y: c.Y + r*cos})
		}
	}
	return out
}

// halfPlane is the set N·p ≤ D.
type halfPlane struct {
	N geom.Point
	D float64
}

func (h halfPlane) side(p geom.Point) float64 { return h.N.X*p.X + h.N.Y*p.Y - h.D }

// clipped cuts a polygon with half planes (Sutherland and Hodgman).
func clipped(polygon []geom.Point, by []halfPlane) []geom.Point {
	for _, h := range by {
		var out []geom.Point
		for i, p := range polygon {
			q := polygon[(i+1)%len(polygon)]
			dp, dq := h.side(p), h.side(q)
			if dp <= 0 {
				out = append(out, p)
			}
			if (dp < 0 && dq > 0) || (dp > 0 && dq < 0) {
				t := dp / (dp - dq)
				out = append(out, geom.Point{X: p.X + t*(q.X-p.X), Y: p.Y + t*(q.Y-p.Y)})
			}
		}
		polygon = out
	}
	return polygon
}

// arcOutline returns an arc up to range 3 in the ship's own frame (engine/arcs.go defines the
// arcs), or nil for arcs that are not drawn.
func arcOutline(profile *engine.Profile, rules engine.Rules, ship *engine.Ship, arc engine.Arc) []geom.Point {
	if ship.Base != engine.Small && ship.Base != engine.Medium && ship.Base != engine.Large {
		return nil // a huge ship's arcs start elsewhere
	}
	if ship.Quarters {
		return nil // its heading is unknown
	}
	arc, angle := profile.Sector(rules, ship, arc)
	half := float64(angle)
	w, l := profile.Size(ship.Base)
	ring := around(float64(w)/2, float64(l)/2, 3*rangeBand)
	// wedge returns the half planes within half an opening of a direction, clockwise from ahead.
	wedge := func(toward, opening float64) []halfPlane {
		sinL, cosL := math.Sincos(toward - opening)
		sinR, cosR := math.Sincos(toward + opening)
		return []halfPlane{{N: geom.Point{X: -cosL, Y: sinL}}, {N: geom.Point{X: cosR, Y: -sinR}}}
	}
	switch arc {
	case engine.ArcFront:
		return clipped(ring, wedge(0, half))
	case engine.ArcRear:
		return clipped(ring, wedge(math.Pi, half))
	case engine.ArcLeft:
		return clipped(ring, wedge(-math.Pi/2, math.Pi/2-half))
	case engine.ArcRight:
		return clipped(ring, wedge(math.Pi/2, math.Pi/2-half))
	case engine.ArcFullFront:
		return clipped(ring, []halfPlane{{N: geom.Point{Y: -1}}})
	case engine.ArcFullRear:
		return clipped(ring, []halfPlane{{N: geom.Point{Y: 1}}})
	case engine.ArcBullseye:
		x := float64(profile.Bullseye) / 2
		return clipped(ring, []halfPlane{{geom.Point{X: 1}, x}, {geom.Point{X: -1}, x}, {geom.Point{Y: -1}, -float64(l) / 2}})
	}
	return nil
}

// projector projects points of the table to pixels, at the height of the bases' tops. It projects
// only points on the mat: the lens is known only where the camera looks.
type projector struct {
	table         *calibration.Table
	width, height float64
}

func (p *projector) mat() []geom.Point {
	return []geom.Point{{}, {X: p.width}, {X: p.width, Y: p.height}, {Y: p.height}}
}

func (p *projector) sides() []halfPlane {
	return []halfPlane{{N: geom.Point{X: -1}}, {N: geom.Point{Y: -1}}, {geom.Point{X: 1}, p.width}, {geom.Point{Y: 1}, p.height}}
}

// points projects points. It reports false if one cannot be projected.
func (p *projector) points(in []geom.Point) (out polyline, ok bool) {
	out = polyline{}
	for _, q := range in {
		px, ok := p.table.PixelOf(q, token.BaseTop)
		if !ok {
			return nil, false
		}
		out = append(out, [2]float64{tenth(px.X), tenth(px.Y)})
	}
	return out, true
}

// closed projects a polygon's edges, which the lens bends.
func (p *projector) closed(polygon []geom.Point) polyline {
	if len(polygon) < 3 {
		return polyline{}
	}
	out, ok := p.points(dense(append(polygon[:len(polygon):len(polygon)], polygon[0])))
	if !ok {
		return polyline{}
	}
	return out.slim()
}

// lines projects measuring lines.
func (p *projector) lines(in []geom.Line) []polyline {
	out := []polyline{}
	for _, l := range in {
		if line, ok := p.points(dense(l[:])); ok {
			out = append(out, line.slim())
		}
	}
	return out
}

// onMat projects the parts of a line that lie on the mat.
func (p *projector) onMat(line []geom.Point) []polyline {
	out := []polyline{}
	var run []geom.Point
	flush := func() {
		if len(run) > 1 {
			if part, ok := p.points(dense(run)); ok {
				out = append(out, part.slim())
			}
		}
		run = nil
	}
	for i := 1; i < len(line); i++ {
		from, to, ok := p.cut(line[i-1], line[i])
		if !ok {
			flush()
			continue
		}
		if len(run) == 0 || run[len(run)-1] != from {
			flush()
			run = []geom.Point{from}
		}
		run = append(run, to)
	}
	flush()
	return out
}

// cut returns the part of a segment on the mat.
func (p *projector) cut(a, b geom.Point) (from, to geom.Point, ok bool) {
	lo, hi := 0.0, 1.0
	for _, h := range p.sides() {
		da, db := h.side(a), h.side(b)
		switch {
		case da > 0 && db > 0:
			return a, b, false
		case da > 0:
			lo = math.Max(lo, da/(da-db))
		case db > 0:
			hi = math.Min(hi, da/(da-db))
		}
	}
	if lo >= hi {
		return a, b, false
	}
	at := func(t float64) geom.Point { return geom.Point{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)} }
	from, to = a, b
	if lo > 0 {
		from = at(lo)
	}
	if hi < 1 {
		to = at(hi)
	}
	return from, to, true
}

// dense adds points to a line so that none are further apart than sampleStep.
func dense(line []geom.Point) (out []geom.Point) {
	for i, a := range line {
		if i > 0 {
			z := line[i-1]
			n := int(math.Ceil(math.Hypot(a.X-z.X, a.Y-z.Y) / sampleStep))
			for k := 1; k < n; k++ {
				t := float64(k) / float64(n)
				out = append(out, geom.Point{X: z.X + t*(a.X-z.X), Y: z.Y + t*(a.Y-z.Y)})
			}
		}
		out = append(out, a)
	}
	return out
}

// tenth rounds a pixel to a tenth.
func tenth(x float64) float64 { return math.Round(10*x) / 10 }
