package look

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/calibration/linalg"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// The limits of acceptance, from the pictures that docs/stock.md lists: none of 700 fits in wrong places had more than 5
// of evidence, none of 85 in the right place less than 7. Through x264 with a dim lamp one of 263 was 1.7 mm off, 7.9 of its
// sigmas, with 8.6; the others had 9.7 or more (2026-11-28).
const (
	evidenceLeast = 9.2  // near a hint: ten thousand times as likely
	marginLeast   = 4.0  // by which the best pose exceeds every other
	alikeWithin   = 12.0 // of evidence below the best look of a small base, within which another look is possible too
	alikeFew      = 22.0 // the same if one of the looks has few views, or both have the same drawing

	// A card that was never shown has much in common with one that was: frame, arc, numbers, the same ship drawn for another
	// pilot. 20 of 439 such cards have this evidence, and 176 of 216 that were shown (TestCardsThatWereNotShown).
	nameLeast = 20.0

	alikeLeast = 0.4 // share of the best look's evidence from which another look is possible too
)

// Finder finds bases by their looks in pictures of one calibrated camera. It is not safe for concurrent use.
type Finder struct {
	table   calibration.Table
	errors  *calibration.ErrorModel
	looks   *Library
	layouts map[*Look][]float32
	pause   func() // called between parts of a long search; may be nil
	refused []*TurnedError
}

// NewFinder returns a finder for a calibrated table. The zero Uncertainty means calibration.DefaultUncertainty.
func NewFinder(t calibration.Table, looks *Library, u calibration.Uncertainty) *Finder {
	return &Finder{table: t, errors: calibration.NewErrorModel(t, cardUncertainty(u)), looks: looks}
}

// rest lets other work run during a long search.
func (f *Finder) rest() {
	if f.pause != nil {
		f.pause()
	}
}

// Looks returns the finder's looks.
func (f *Finder) Looks() *Library { return f.looks }

// Hint says which base to search for and roughly where.
type Hint struct {
	Base  engine.Base
	Pose  geom.Pose
	Reach geom.Length // largest distance of its centre from there, at most ReachMost
	Turn  geom.Angle  // largest difference in heading; 180° or more: any heading
	Ship  string      // the ship's id; "": unknown
	Look  string      // the name of its look; "": its ship's look, or any
}

// The reach and turn up to which a base counts as tracked: it is fitted where it stood, and if that is accepted, nowhere else.
const (
	followReach = 3.5 // mm
	followTurn  = 10 * math.Pi / 180
)

// ReachMost is the largest reach of a hint.
const ReachMost = 15 * geom.Millimeter

// Sight is a base that was found by its look.
type Sight struct {
	Look     *Look
	Alike    []*Look // other looks that fit nearly as well: it may be any of them
	Pose     geom.Pose
	Fit      geom.Cov3  // the part of the pose's covariance that comes from the picture's noise
	Evidence float64    // logarithm of a likelihood ratio
	Margin   float64    // by which it exceeds the evidence of every other pose
	Seen     float64    // share of the card that is in view, 0…1
	Kind     float64    // logarithm of the odds that the card is one that was shown, not another of its layout
	Tint     float64    // logarithm of the odds that the ground of the card has other colours than the look; at least 0
	Aside    float64    // logarithm of the odds that the base's guides are at the card's sides, not at its front and rear
	Slip     geom.Angle // by which the card is turned in its base, if that is noticeable
	Bare     bool       // neither guides nor rim are seen well enough to name it: the card may lie on the mat without a base

	Dots   Naming // what the dots on it say
	Plate  Plate  // what its name plate says
	Number *Look  // of the possible looks, the one whose ID token stands on it; nil: unknown

	// Counted is true if the whole table was searched, as many bases were found as ships were shown, and no plate shows another name.
	Counted bool

	// Elsewhere is true if a card of this look may lie in another place as well.
	Elsewhere bool

	// Missing is true if the base may be a ship that was shown and whose look cannot be read. Only dots and ID tokens tell its name.
	Missing bool
}

// Ships returns the ships that the base may be, in order.
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

// Shown reports whether the base is a ship whose card was shown, and not another pilot of the same ship, whose card has the same drawing.
// Either the name plate agrees, or the bases found are exactly as many as the ships that were shown; and the rest of the card must not
// contradict.
func (s *Sight) Shown() bool {
	return !s.Missing && !s.Dots.Other && s.Evidence >= nameLeast && s.Tint < tintNamed &&
		(s.Plate == PlateAgrees && s.Kind >= kindPlate || s.Counted && s.Plate != PlateDenies && s.Kind > kindDenied)
}

// Named reports whether the base can be one ship only.
func (s *Sight) Named() bool {
	return s.Dots.Ship != "" || len(s.Ships()) == 1 && (!s.Elsewhere || s.Number != nil) && s.Shown() && !s.Bare
}

// Near searches for a base near a hint. It reports false if it accepts none. It fails for an invalid hint or picture, with a *TurnedError
// if the card lies a quarter turn off in its base, and with an *OtherCardError if the hint names a ship and the base shows another's card.
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
		if wrong := f.turned(frame, &s); wrong != nil {
			return Sight{}, false, wrong
		}
		if h.Ship != "" && h.Look == "" && !h.follows() { // a person names it
			if other := f.another(frame, &s); other != nil {
				return Sight{}, false, &OtherCardError{s.Look.Ships, other.Ships, s.Pose.Point}
			}
		}
		one := []Sight{s}
		if h.Ship == "" && h.Look == "" { // else a person or a track names it
			one[0].Missing = f.looks.misses(s.Look.Base)
			f.byPlates(frame, one)
			f.byNumbers(frame, one)
			f.byKinds(frame, one)
		}
		f.byDots(frame, one)
		s = one[0]
		s.Slip = f.slip(frame, &s)
	}
	return s, ok, nil
}

// besides fits all other looks at the pose of the best candidate: the search may have found only one of two similar looks.
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
		if !slices.ContainsFunc(all, func(c candidate) bool { return c.look == l && best.mayBe(&c) }) {
			out = append(out, s.atPoseOf(&best, l)...)
		}
	}
	return out
}

// atPoseOf fits a look at the pose of another's candidate. If its fit fails or slips from there, it counts with what it has at that pose:
// of two looks of B6 on table 1812 one had an evidence of 11.3, and the other of 2.6, 0.8 mm beside it.
func (s *scan) atPoseOf(best *candidate, l *Look) (out []candidate) {
	c, ok := s.fit(l, best.pose)
	if ok {
		out = append(out, c)
	}
	if best.evidence < evidenceLeast || ok && best.mayBe(&c) {
		return out
	}
	if c, ok := s.unmoved(l, best); ok {
		out = append(out, c)
	}
	return out
}

// another returns the look of another ship whose card a base clearly shows, not the one that a person says; nil: none. Of 48 cards that
// were taken for another of their layout, because the person named its ship, it finds 42, and none of 62 right ones is taken for another
// (1, 1801, 1812). Looks with the same drawing are not told by evidence.
func (f *Finder) another(frame vision.Frame, s *Sight) (out *Look) {
	said := candidate{look: s.Look, pose: s.Pose, agreement: agreement{evidence: s.Evidence}}
	sc, ok := newScan(&f.table, frame, s.Pose.Point, s.Look.Z, s.Look.half()*math.Sqrt2+4)
	if !ok {
		return nil
	}
	most := 0.0
	for _, l := range f.looks.Looks {
		if l == s.Look || l.Base != s.Look.Base || l.sameDrawing(s.Look) {
			continue
		}
		if c, ok := sc.fit(l, s.Pose); ok && c.evidence > most && onePose(&c, &said) && !c.passesFor(&said) {
			out, most = l, c.evidence
		}
	}
	return out
}

// An OtherCardError is the error for a base that clearly shows the card of another ship than the one that a person says stands there.
type OtherCardError struct {
	Said, Seen []string // the ships that carry the card of the one, and of the other
	At         geom.Point
}

// Error says what to do.
func (e *OtherCardError) Error() string {
	said := strings.Join(e.Said, " or ")
	return fmt.Sprintf("the base at (%.0f, %.0f) mm does not show the card of %s, but one most like that of %s; if %s has another card now, "+
		"show it again", e.At.X, e.At.Y, said, strings.Join(e.Seen, " or "), said)
}

// candidates returns the looks that a base may have: its ship's look if that is known, else all looks of its base size.
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
	if h.follows() { // it most likely stands where it stood
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
	for _, g := range near(flat.signs(), l, reach, headings(h, l.turnStep())) {
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

// follows reports whether a hint is that of a base that is tracked.
func (h *Hint) follows() bool { return h.Reach <= followReach && h.Turn <= followTurn }

// allows reports whether a candidate's pose is within the hint's reach and turn.
func (h *Hint) allows(c *candidate) bool {
	d := float64((c.pose.Heading - h.Pose.Heading).Signed())
	return c.pose.Distance(h.Pose.Point) <= h.Reach+1 && (h.Turn >= math.Pi || math.Abs(d) <= float64(h.Turn)+captureTurn/2)
}

// turnStep is the step between the headings of the search: at most captureTurn, and at most captureStep at the rim of the look.
func (l *Look) turnStep() float64 { return min(captureTurn, captureStep/l.half()) }

// headings returns the headings that a hint allows, a step apart.
func headings(h Hint, step float64) (out []geom.Angle) {
	n := int(math.Ceil(min(float64(h.Turn), math.Pi) / step))
	for i := -n; i <= n; i++ {
		out = append(out, (h.Pose.Heading + geom.Angle(float64(i)*step)).Normalized())
	}
	if h.Turn >= math.Pi {
		out = out[1:] // the first equals the last
	}
	return out
}

// fit fits a look to the picture from a starting pose, blurred first. It reports false if the picture does not determine the pose, or shows
// too little of the look.
func (s *scan) fit(l *Look, pose geom.Pose) (c candidate, ok bool) {
	return s.fitFrom(l, pose, math.Inf(-1))
}

// fitFrom is fit, but gives up at once if the evidence at the starting pose is below least with blur and below startLeast without.
func (s *scan) fitFrom(l *Look, pose geom.Pose, least float64) (c candidate, ok bool) {
	g := s.gridsOf(l)
	levels := s.levels(g)
	first := newFitting(s, l, &g.middle, pose)
	defer first.release()
	first.least = &blurredHopeless
	blurred := first.promises(least) && first.light() && first.run() && first.promises(startLeast)
	switch {
	case blurred:
		pose = first.pose
	case !newFitting(s, l, levels[0], pose).promises(startLeast):
		return c, false
	}
	var last *fitting
	for _, level := range levels {
		last = newFitting(s, l, level, pose)
		defer last.release()
		last.least = &sharpHopeless
		if !last.light() || !last.run() {
			return c, false
		}
		pose = last.pose
	}
	c = candidate{look: l, pose: pose}
	if c.fit, ok = last.covariance(); !ok {
		return c, false
	}
	if !s.weigh(&c, last) {
		return c, false
	}
	if c.evidence >= evidenceLeast {
		s.refine(&c)
		if blurred {
			c.widen(first.pose)
		}
	}
	return c, true
}

// widen adds the difference to the pose of the blurred fit to a candidate's errors. Where the picture is smeared, a sharp fit takes one end
// of the smear for the card, and the blurred one its middle: through 6 px of motion blur B1 of 1802 was 1.9 mm off and 4.6 sigma, and just
// as far from the blurred fit. In sharp pictures they differ by 0.03 mm as a rule, and by 0.3 mm at most (1801, 1802).
func (c *candidate) widen(blurred geom.Pose) {
	d := [3]float64{blurred.X - c.pose.X, blurred.Y - c.pose.Y, float64((blurred.Heading - c.pose.Heading).Signed())}
	for i := range c.fit {
		c.fit[i] += d[i/3] * d[i%3] / square(fitFactor)
	}
}

// levels returns the grids on which a look is fitted after the blurred one.
func (s *scan) levels(g *fitted) []*grid {
	if s.scale > finestScale {
		return []*grid{&g.half, &g.finest}
	}
	return []*grid{&g.fine}
}

// weigh sets a candidate's evidence by its last fit. It reports false if the picture has other hues than the look.
func (s *scan) weigh(c *candidate, last *fitting) bool {
	c.agreement = last.agree()
	c.parts = s.evidenceBy(last.g.parts, c.look, c.pose)
	c.evidence = max(c.evidence, partsShare*c.parts)
	if s.color && c.look.Color {
		if cosine, ok := last.hue(); ok && cosine < hueAgrees {
			return false
		}
	}
	return true
}

// unmoved returns a look at the pose of another's candidate, with the evidence that it has there. It reports false if the picture shows too
// little of the look, or has other hues.
func (s *scan) unmoved(l *Look, at *candidate) (candidate, bool) {
	c := candidate{look: l, pose: at.pose, fit: at.fit}
	levels := s.levels(s.gridsOf(l))
	f := newFitting(s, l, levels[len(levels)-1], at.pose)
	defer f.release()
	return c, f.light() && s.weigh(&c, f)
}

// refine fits once more with smaller blocks, which lose less of the card next to a miniature. It reduces the heading error of small cards
// at 1080p from 0.31° to 0.25° rms (TestLooksOfStockBases).
func (s *scan) refine(c *candidate) {
	g := &s.gridsOf(c.look).last
	if s.scale > finestScale && c.look.Base == engine.Small { // larger cards have cells enough, and their fit takes four times as long
		g = &s.gridsOf(c.look).lastFinest
	}
	if r, ok := s.fitted(c, &g.grid); ok {
		c.pose, c.fit = r.pose, r.fit
	}
	s.byHalves(c, g)
}

// fitted fits a candidate once more on a grid. It reports false if the fit fails or ends at another pose.
func (s *scan) fitted(c *candidate, g *grid) (candidate, bool) {
	f, r := newFitting(s, c.look, g, c.pose), *c
	defer f.release()
	if !f.light() || !f.run() {
		return r, false
	}
	ok := false
	r.pose = f.pose
	r.fit, ok = f.covariance()
	return r, ok && onePose(c, &r)
}

// The least errors of the fit of half a card: the halves differ by more than their fits state.
const (
	halfPlace = 0.02 // mm
	halfTurn  = 0.05 * math.Pi / 180
)

// byHalves fits the left, right, front and rear halves of a card separately, each with its own illumination, and takes their weighted mean.
// In glare and shadow, one illumination for the whole card biases the pose, because cells that fit badly count as hidden. The heading error
// of small cards at 1080p falls from 0.25° to 0.18° rms, and from 0.30° to 0.20° on eight tables that set no limit
// (TestLooksOfStockBases).
func (s *scan) byHalves(c *candidate, g *halvedGrid) {
	var all, weighted [9]float64
	var halves []half
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
		halves = append(halves, half{d, info})
	}
	if cov, ok := linalg.InvertScaled(all[:], 3); ok && len(halves) > 1 {
		var d [3]float64
		for j, v := range cov {
			d[j/3] += v * weighted[j%3]
		}
		wider := max(1, disagreement(halves, d)/square(fitFactor))
		for j, v := range cov {
			c.fit[j] = 2 * v * wider // each cell belongs to two halves
		}
		c.pose.X, c.pose.Y, c.pose.Heading = c.pose.X+d[0], c.pose.Y+d[1], (c.pose.Heading + geom.Angle(d[2])).Normalized()
	}
}

// half is the fit of half a card: its pose off the whole card's, and the inverse of its covariance.
type half struct {
	off  [3]float64
	info []float64
}

// disagreement returns the chi² of halves about their mean by its degrees of freedom. Each cell belongs to two of four halves, so that
// there are half as many as the halves have coordinates. Shadow or glare that the fit takes for the card shows here: of A2 of 1202, which
// a camera 30° aslant sees at 0.6 px/mm, one half lies 1.7 mm and 3.3° off the others, and the mean 2.8° off the truth.
func disagreement(halves []half, mean [3]float64) (chi2 float64) {
	for _, h := range halves {
		for j, v := range h.info {
			chi2 += (h.off[j/3] - mean[j/3]) * v * (h.off[j%3] - mean[j%3])
		}
	}
	return chi2 / (1.5 * float64(len(halves)))
}

// startLeast is the evidence from which a pose is fitted without blur. Of 850 blurred fits that led to an evidence of 6, none had less than
// 5. Blur leaves too little of a dark card with a fine drawing: if the blurred fit fails, a starting pose with this evidence is used.
const startLeast = 3.0

// finestScale is the scale, in px/mm, from which all cells of a look are compared.
const finestScale = 1.5

// onePose reports whether two candidates have about the same pose.
func onePose(a, b *candidate) bool {
	return a.pose.Distance(b.pose.Point) < 2.5 && a.pose.Heading.Distance(b.pose.Heading) < 6*math.Pi/180
}

// passesFor reports whether a candidate with less evidence at the same pose may be the right one. Evidence is summed over blocks, so that
// its spread grows with the base's side: of two looks of one large card, seen by a camera 30° aslant, one had 45 and the other 28 (table
// 1202, A6). Of two looks of one small card that have a view each, one had up to 18.6 more than the other, because each has its view's
// shadows. Of two pilots of one ship, the wrong one had 12 more in a picture from 44° aslant (1299 B1): plates tell these.
func (c *candidate) passesFor(o *candidate) bool {
	w, _ := c.look.Base.Size()
	within := alikeWithin
	if c.look.fewViews() || o.look.fewViews() || c.look.sameDrawing(o.look) {
		within = alikeFew
	}
	return o.evidence > max(c.evidence-within*float64(w)/40, alikeLeast*c.evidence)
}

// mayBe reports whether a base may be another candidate's as well.
func (c *candidate) mayBe(o *candidate) bool { return onePose(c, o) && c.passesFor(o) }

// bestPose returns that one of the first candidate's poses that smaller blocks prefer: of two fits 0.7 mm and 1.3° apart (1222 A5, medium,
// through x264), larger blocks preferred the wrong one.
func bestPose(all []candidate) *candidate {
	best := &all[0]
	rank := func(c *candidate) float64 { return max(c.evidence, partsRank*c.parts) }
	for i := range all {
		if c := &all[i]; c.look == all[0].look && onePose(&all[0], c) && rank(c) > rank(best) {
			best = c
		}
	}
	return best
}

// decide returns the best of the candidates for one base. It reports false if it is not accepted.
func decide(all []candidate, least float64) (Sight, bool) {
	if len(all) == 0 {
		return Sight{}, false
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.evidence, a.evidence) })
	best := bestPose(all)
	s := Sight{Look: best.look, Pose: best.pose, Fit: best.fit, Evidence: best.evidence, Margin: best.evidence, Seen: best.seen}
	for i := range all {
		c := &all[i]
		if !onePose(best, c) {
			s.Margin = min(s.Margin, best.evidence-max(c.evidence, 0))
			continue
		}
		if c.look != best.look && !slices.Contains(s.Alike, c.look) && best.passesFor(c) {
			s.Alike = append(s.Alike, c.look)
		}
	}
	return s, s.Evidence >= least && s.Margin >= marginLeast
}

// Ship returns the ship of a base that was found by its look. id is the ship's id if a person or a track gives it. If id
// is "", the look names the ship where it can, else the ship gets the id unnamed.
func (f *Finder) Ship(s *Sight, id, unnamed string) engine.Ship {
	out := engine.Ship{ID: id, Base: s.Look.Base, Pose: s.Pose, Seen: "look", Visible: s.Seen, Look: s.Look.Name, TurnDoubt: s.TurnDoubt()}
	may := s.Ships()
	switch {
	case id != "":
	case s.Named():
		out.ID = may[0]
	default:
		out.ID, out.NameDoubt, out.LookDoubt = unnamed, may, !s.Told()
	}
	if len(out.NameDoubt) == 0 || s.Shown() { // else it may be a ship of the other player
		out.Player = playerOf(append([]string{out.ID}, out.NameDoubt...))
	}
	out.Covariance = f.covariance(s, !s.Look.Own(out.ID))
	return out
}

// playerOf returns the player to whom all named ships belong; 0: they belong to both, or none is named.
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

// View returns how the ship was seen.
func (f *Finder) View(id string, s *Sight) vision.ShipView {
	v := vision.ShipView{ID: id, Score: s.Seen, Fit: fitCovariance(s)}
	for i, p := range s.Look.Base.Corners(s.Pose) {
		v.Outline[i], _ = f.table.PixelOf(p, token.BaseTop+f.table.Surface.Height(s.Pose.Point))
	}
	return v
}
