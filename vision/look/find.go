package look

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// What is believed, measured on the pictures that docs/stock.md lists: of 700 fits in wrong places none had more
// evidence than 5, of 85 in the right one none had less than 7.
const (
	evidenceLeast = 8.0 // where something else says about where the base stands
	marginLeast   = 4.0 // by which the best place or heading exceeds the next
	alikeWithin   = 12.0

	// A card that was never shown has much in common with one that was: frame, arc, numbers, the same ship drawn for another
	// pilot. Of 439 such cards, 20 have this evidence, of 216 that were shown 176 (TestCardsThatWereNotShown).
	nameLeast = 20.0

	alikeLeast = 0.4 // of the evidence of the best look, what another has that the card may be
)

// Finder finds bases by their looks in pictures of one calibrated camera. It belongs to one goroutine.
type Finder struct {
	table   calibration.Table
	errors  *calibration.ErrorModel
	looks   *Library
	layouts map[*Look][]float32
	pause   func() // called between parts of a long search; nil: nothing is
}

// NewFinder returns a finder for a calibrated table. The zero Uncertainty means calibration.DefaultUncertainty.
func NewFinder(t calibration.Table, looks *Library, u calibration.Uncertainty) *Finder {
	return &Finder{table: t, errors: calibration.NewErrorModel(t, cardUncertainty(u)), looks: looks}
}

// rest lets others work during a long search.
func (f *Finder) rest() {
	if f.pause != nil {
		f.pause()
	}
}

// Looks returns the looks that the finder knows.
func (f *Finder) Looks() *Library { return f.looks }

// Hint says which base to look for and about where.
type Hint struct {
	Base  engine.Base
	Pose  geom.Pose
	Reach geom.Length // how far its middle may be from there, at most ReachMost
	Turn  geom.Angle  // how far it may be turned from there; from 180° on, any way
	Ship  string      // the ship that it is; "": no one knows
	Look  string      // the name of the look that it has; "": its ship's, or any
}

// A base that is followed is fitted where it stood first, and nowhere else if it is believed there: no other place or heading is as
// near.
const (
	followReach = 3.5 // mm
	followTurn  = 10 * math.Pi / 180
)

// ReachMost is how far from a hint a base is looked for.
const ReachMost = 15 * geom.Millimeter

// Sight is a base that was found by its look.
type Sight struct {
	Look     *Look
	Alike    []*Look // others that fit nearly as well: it may be any of them
	Pose     geom.Pose
	Fit      geom.Cov3 // what the picture's noise gives to the pose
	Evidence float64   // logarithm of a likelihood ratio
	Margin   float64   // by which it exceeds the best other place or heading
	Seen     float64   // share of the card that is seen, 0…1
	Kind     float64   // logarithm of the odds that the card is one that was shown, and not another of its layout

	Dots   Naming // what the dots on it say
	Plate  Plate  // what its name plate says
	Number *Look  // whose ID token stands on it, of those that it may be; nil: that is not seen

	// Counted says that the whole table was searched, that as many bases were found as ships were shown, and that no plate shows
	// another name.
	Counted bool

	// Elsewhere says that a card of this look may lie in another place as well.
	Elsewhere bool
}

// Ships returns the ships that it may be, in order.
func (s *Sight) Ships() (out []string) {
	if s.Dots.Ship != "" {
		return []string{s.Dots.Ship}
	}
	if s.Number != nil {
		return slices.Clone(s.Number.Ships)
	}
	for _, l := range append([]*Look{s.Look}, s.Alike...) {
		for _, id := range l.Ships {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	slices.SortFunc(out, vision.CompareIDs)
	return out
}

// Shown reports whether it is one of the ships whose cards were shown, and no other: another pilot's of the same ship has the same drawing.
// Either the name plate says so, or every ship that was shown stands on the table, and nothing is left over; and the rest of the card does
// not say that it is another one of its layout.
func (s *Sight) Shown() bool {
	return !s.Dots.Other && s.Evidence >= nameLeast && s.Kind > -kindLeast && (s.Plate == PlateAgrees || s.Counted && s.Plate != PlateDenies)
}

// Named reports whether it can be one ship only.
func (s *Sight) Named() bool {
	return s.Dots.Ship != "" || len(s.Ships()) == 1 && (!s.Elsewhere || s.Number != nil) && s.Shown()
}

// Near looks for a base near a hint. It reports false where none is believed.
func (f *Finder) Near(frame vision.Frame, h Hint) (Sight, bool, error) {
	if w, ht := frame.Size(); w != f.table.Intrinsics.Width || ht != f.table.Intrinsics.Height {
		return Sight{}, false, fmt.Errorf("look: the picture is %d×%d, the calibration is for %d×%d", w, ht, f.table.Intrinsics.Width,
			f.table.Intrinsics.Height)
	}
	if !(h.Reach >= 0 && h.Reach <= ReachMost) || !(h.Turn >= 0) || math.IsNaN(h.Pose.X+h.Pose.Y+float64(h.Pose.Heading)) {
		return Sight{}, false, fmt.Errorf("look: expected a pose and a reach of at most %v, got %v and %v", ReachMost, h.Pose, h.Reach)
	}
	var all []candidate
	looks := f.candidates(h)
	for _, l := range looks {
		all = append(all, f.fits(frame, l, h)...)
	}
	s, ok := decide(append(all, f.besides(frame, all, looks)...), evidenceLeast)
	if ok {
		one := []Sight{s}
		if h.Ship == "" && h.Look == "" { // else a person or a track says whose it is
			f.byPlates(frame, one)
			f.byNumbers(frame, one)
			f.byKinds(frame, one)
		}
		f.byDots(frame, one)
		s = one[0]
	}
	return s, ok, nil
}

// besides fits the looks that no candidate has where the best one lies: the search may have found only one of two that look alike.
func (f *Finder) besides(frame vision.Frame, all []candidate, looks []*Look) (out []candidate) {
	if len(all) == 0 {
		return nil
	}
	best := slices.MaxFunc(all, func(a, b candidate) int { return cmp.Compare(a.evidence, b.evidence) })
	s, ok := newScan(&f.table, frame, best.pose.Point, best.look.Z, best.look.half()*math.Sqrt2+4)
	if !ok || best.evidence < evidenceLeast {
		return nil
	}
	for _, l := range looks {
		if slices.ContainsFunc(all, func(c candidate) bool { return c.look == l && onePose(&c, &best) }) {
			continue
		}
		if c, ok := s.fit(l, best.pose); ok {
			out = append(out, c)
		}
	}
	return out
}

// candidates are the looks that a base may have: of a ship that is known its own, or else all of its base.
func (f *Finder) candidates(h Hint) []*Look {
	if i := slices.IndexFunc(f.looks.Looks, func(l *Look) bool { return l.Name == h.Look && l.Base == h.Base }); i >= 0 {
		return f.looks.Looks[i : i+1]
	}
	if l := f.looks.Of(h.Ship); l != nil && h.Ship != "" {
		if l.Base == h.Base {
			return []*Look{l}
		}
		return nil
	}
	var out []*Look
	for _, l := range f.looks.Looks {
		if l.Base == h.Base {
			out = append(out, l)
		}
	}
	return out
}

// candidate is a look at a pose.
type candidate struct {
	look *Look
	pose geom.Pose
	fit  geom.Cov3
	agreement
}

// fits returns the poses of a look near a hint that the picture agrees with best.
func (f *Finder) fits(frame vision.Frame, l *Look, h Hint) (out []candidate) {
	reach := float64(h.Reach)
	s, ok := newScan(&f.table, frame, h.Pose.Point, l.Z, l.half()*math.Sqrt2+reach+climbReach+1)
	if !ok {
		return nil
	}
	if reach <= followReach && float64(h.Turn) <= followTurn { // it most likely stands where it stood
		if c, ok := s.fit(l, h.Pose); ok && c.evidence >= evidenceLeast && h.allows(&c) {
			return []candidate{c}
		}
	}
	m := newMatcher(&l.grids().coarse)
	flat := s.flatten(captureBlur, m.reach+reach+climbReach)
	guesses := m.capture(flat, h.Pose.Point, reach, headings(h, l.turnStep()), captureKeep)
	for i, g := range guesses {
		guesses[i] = m.climb(flat, g)
	}
	guesses = apart(guesses, captureFits, captureSame, captureSame*math.Pi/180)
	if i := slices.IndexFunc(guesses, func(g guess) bool { return g.score < captureWorst*guesses[0].score }); i >= 0 {
		guesses = guesses[:i]
	}
	for _, g := range newSigns(flat).near(l, reach, headings(h, l.turnStep())) {
		if !slices.ContainsFunc(guesses, func(o guess) bool { return g.near(o, captureSame, captureSame*math.Pi/180) }) {
			guesses = append(guesses, g)
		}
	}
	for _, g := range guesses {
		if c, ok := s.fit(l, g.pose); ok && h.allows(&c) {
			out = append(out, c)
		}
	}
	return out
}

// allows reports whether a candidate stands where the hint says.
func (h *Hint) allows(c *candidate) bool {
	d := float64((c.pose.Heading - h.Pose.Heading).Signed())
	return c.pose.Distance(h.Pose.Point) <= h.Reach+1 && (h.Turn >= math.Pi || math.Abs(d) <= float64(h.Turn)+captureTurn/2)
}

// turnStep is the angle between the headings in which a look is compared: at most captureTurn, and at most captureStep at its rim.
func (l *Look) turnStep() float64 { return min(captureTurn, captureStep/l.half()) }

// headings returns those that a hint allows, a step apart.
func headings(h Hint, step float64) (out []geom.Angle) {
	n := int(math.Ceil(min(float64(h.Turn), math.Pi) / step))
	for i := -n; i <= n; i++ {
		out = append(out, (h.Pose.Heading + geom.Angle(float64(i)*step)).Normalized())
	}
	if h.Turn >= math.Pi {
		out = out[1:] // the first is the last
	}
	return out
}

// fit lays a look over the picture from a pose, blurred first. It reports false where the picture decides nothing, or shows too little of
// the look.
func (s *scan) fit(l *Look, pose geom.Pose) (c candidate, ok bool) {
	g := l.grids()
	levels := []*grid{&g.fine}
	if s.scale > finestScale {
		levels = []*grid{&g.half, &g.finest}
	}
	first := newFitting(s, l, &g.middle, pose)
	first.hasty = true
	switch {
	case first.light() && first.run() && first.agree().evidence >= startLeast:
		pose = first.pose
	case newFitting(s, l, levels[0], pose).agree().evidence < startLeast:
		return c, false
	}
	var last *fitting
	for _, level := range levels {
		last = newFitting(s, l, level, pose)
		if !last.light() || !last.run() {
			return c, false
		}
		pose = last.pose
	}
	c = candidate{look: l, pose: pose}
	if c.fit, ok = last.covariance(); !ok {
		return c, false
	}
	c.agreement = last.agree()
	if s.color && l.Color {
		if agree, deny := last.colors(); deny > max(1, agree*deniedMost) {
			return c, false
		}
	}
	if c.evidence >= evidenceLeast {
		s.refine(&c)
	}
	return c, true
}

// refine fits once more with smaller blocks, which leave out less of what lies beside a miniature: of small cards at 1080p the heading is
// off by 0.25° rms instead of 0.31° (TestLooksOfStockBases).
func (s *scan) refine(c *candidate) {
	g := &c.look.grids().last
	if s.scale > finestScale {
		g = &c.look.grids().lastFinest
	}
	if r, ok := s.fitted(c, &g.grid); ok {
		c.pose, c.fit = r.pose, r.fit
	}
	s.byHalves(c, g)
}

// fitted fits a candidate once more on a grid. It reports false where it does not end where it began.
func (s *scan) fitted(c *candidate, g *grid) (candidate, bool) {
	f, r := newFitting(s, c.look, g, c.pose), *c
	if !f.light() || !f.run() {
		return r, false
	}
	ok := false
	r.pose = f.pose
	r.fit, ok = f.covariance()
	return r, ok && onePose(c, &r)
}

// What half of a card is off by at least, as a fit has it: on pictures of cards that were shown, their halves state less than they differ.
const (
	halfPlace = 0.02 // mm
	halfTurn  = 0.05 * math.Pi / 180
)

// byHalves fits the left, the right, the front and the rear half of a card on their own, each in its own light, and takes their mean,
// weighted by what each decides. In glare, and where a miniature's shadow lies, one light for the whole card bends it: what fits ill
// counts as hidden, and the fit rests where it is. Of small cards at 1080p the heading is off by 0.18° rms instead of 0.25°, and on
// eight tables that set nothing by 0.20° instead of 0.30° (TestLooksOfStockBases).
func (s *scan) byHalves(c *candidate, g *halvedGrid) {
	var all, weighted [9]float64
	n := 0
	for i := range g.halves {
		h, ok := s.fitted(c, &g.halves[i])
		if !ok {
			continue
		}
		add(&h.fit, halfPlace, halfTurn)
		info, ok := linalg.InvertScaled(h.fit[:], 3)
		if !ok {
			continue
		}
		d := [3]float64{h.pose.X - c.pose.X, h.pose.Y - c.pose.Y, float64((h.pose.Heading - c.pose.Heading).Signed())}
		for j, v := range info {
			all[j] += v
			weighted[j/3] += v * d[j%3]
		}
		n++
	}
	if cov, ok := linalg.InvertScaled(all[:], 3); ok && n > 1 {
		var d [3]float64
		for j, v := range cov {
			d[j/3] += v * weighted[j%3]
			c.fit[j] = 2 * v // each cell is in two halves
		}
		c.pose.X, c.pose.Y, c.pose.Heading = c.pose.X+d[0], c.pose.Y+d[1], (c.pose.Heading + geom.Angle(d[2])).Normalized()
	}
}

// startLeast is the evidence from which a pose is fitted without blur: of 850 blurred fits none that ended with an evidence of 6 had less
// than 5. Of a dark card with a fine drawing blur leaves too little: a pose that was good before the blurred fit is taken as it was.
const startLeast = 3.0

// finestScale is how many pixels a millimetre has from which all of a look's cells are compared.
const finestScale = 1.5

// onePose reports whether two candidates have one pose.
func onePose(a, b *candidate) bool {
	return a.pose.Distance(b.pose.Point) < 2.5 && a.pose.Heading.Distance(b.pose.Heading) < 6*math.Pi/180
}

// decide returns what the candidates for one base show. It reports false where none is believed.
func decide(all []candidate, least float64) (Sight, bool) {
	if len(all) == 0 {
		return Sight{}, false
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.evidence, a.evidence) })
	best := &all[0]
	s := Sight{Look: best.look, Pose: best.pose, Fit: best.fit, Evidence: best.evidence, Margin: best.evidence, Seen: best.seen}
	for i := range all[1:] {
		c := &all[1+i]
		if !onePose(best, c) {
			s.Margin = min(s.Margin, best.evidence-max(c.evidence, 0))
			continue
		}
		if c.look != best.look && !slices.Contains(s.Alike, c.look) && c.evidence > max(best.evidence-alikeWithin, alikeLeast*best.evidence) {
			s.Alike = append(s.Alike, c.look)
		}
	}
	return s, s.Evidence >= least && s.Margin >= marginLeast
}

// Ship makes a ship of a base that was found by its look. id is the ship that a person or a track says it is; "": the
// look says it, if only one ship carries it, else it gets the name unnamed.
func (f *Finder) Ship(s *Sight, id, unnamed string) engine.Ship {
	out := engine.Ship{ID: id, Base: s.Look.Base, Pose: s.Pose, Seen: "look", Visible: s.Seen, Look: s.Look.Name}
	may := s.Ships()
	switch {
	case id != "":
	case s.Named():
		out.ID = may[0]
	default:
		out.ID, out.NameDoubt, out.LookDoubt = unnamed, may, !s.Told()
	}
	if len(out.NameDoubt) == 0 || s.Shown() { // else it may be another ship, of the other player
		out.Player = playerOf(append([]string{out.ID}, out.NameDoubt...))
	}
	out.Covariance = f.covariance(s, !s.Look.Own(out.ID))
	return out
}

// playerOf returns the player that all of the ships are of, those without a name left out; 0: they are not of one.
func playerOf(ids []string) int {
	player := 0
	for _, id := range ids {
		c, err := token.CodeOfID(id)
		switch {
		case err != nil:
		case player != 0 && player != c.Player():
			return 0
		default:
			player = c.Player()
		}
	}
	return player
}

// View says how it was seen.
func (f *Finder) View(id string, s *Sight) vision.ShipView {
	v := vision.ShipView{ID: id, Score: s.Seen, Fit: fitCovariance(s)}
	w, l := s.Look.Base.Size()
	x, y := float64(w)/2, float64(l)/2
	for i, p := range [4]geom.Point{{X: -x, Y: y}, {X: x, Y: y}, {X: x, Y: -y}, {X: -x, Y: -y}} {
		at := s.Pose.Transform(p)
		v.Outline[i], _ = f.table.PixelOf(at, token.BaseTop+f.table.Surface.Height(s.Pose.Point))
	}
	return v
}
