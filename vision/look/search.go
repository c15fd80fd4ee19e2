package look

import (
	"cmp"
	"math"
	"slices"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look/internal/signs"
	"sightline/vision/token"
)

// The search over the whole mat compares the signs of the rectified picture with every look, in all headings, at every
// place where a base may stand (signs.go), and fits the best places of each look. Where that finds no base, it correlates
// blocks, as near a hint (capture.go), and fits the best places too. Looks that found no base are compared once more there: poses of the
// bases that were found, and of other prints, had displaced theirs.

const (
	searchSample   = 1.0  // mm between the samples of the mat
	searchTile     = 64   // samples along a side for which one local view is used
	searchBeyond   = 40   // mm around the mat, for bases that reach over its edge
	searchKeep     = 100  // places of each look that climb
	searchApart    = 6.0  // mm between these places, or difference in heading at the rim
	searchFits     = 12   // places that are fitted then
	searchDeep     = 200  // places that climb as well of looks that found no base: the best by evidence
	searchDeepFits = 60   // fits by evidence of all these looks, if their bases are small
	searchFirst    = 4    // places that are fitted as well: the best before climbing
	searchSure     = 6    // and these: the best by evidence
	searchLeast    = 3.0  // score by signs that is kept
	searchLower    = 1.5  // and where looks that found no base are compared once more
	searchScore    = 0.2  // score by blocks that is fitted
	searchEvidence = 11.0 // from which no finer samples are tried, and name plates are compared
	othersLeast    = 4.0  // evidence of a look from which all others of its size are fitted there

	// From sureEvidence a base is believed without its guides, and no other pose is fitted there. Of wrong poses on 27 tables one at another
	// base's corner has 16.9, four on a template 11.4 to 12.0, and the others less.
	sureEvidence = 22.0

	// The evidence that a place on the rectified mat needs for a fit unless it has flatScore, and one from finer samples to start again. On
	// 21 tables (1 to 3, 1201 to 1208, ten tables of our own ships), none of 222 first fits that ended with an evidence of 5 began with less
	// than 3.0; of 8336 others a quarter began with less than 2.0. On the simulated table a card whose first fit slips off begins with a
	// score of 0.5 and an evidence of 0, and again with less than 1.
	flatLeast  = 2.0
	flatScore  = 0.4
	finerLeast = 0.0

	// The evidence, with blur, that a starting pose needs. On nine tables (1 to 3, 1 at 4K, 1001, 1101 to 1104) each of 83 cards that were
	// found had a start with 2.1 or more; half of 1993 fits that ended elsewhere had less than 1.0. Five repeated fits that helped had 2.3 to
	// 14.6.
	firstLeast = 1.0
	againLeast = 2.0

	doubtEvidence = 5.0 // of a look at a second place, from which the look names no ship
	doubtApart    = 20  // mm between the two places

	// Grey levels by which a card varies (signs.NewStanding).
	variesBy   = 4.5
	variesMore = 10.0 // where looks that found no base are compared once more; of their bases, larger ones may vary by less
)

// Search finds all bases whose looks are known. lies reports whether something may lie at a point of the mat; nil means
// anywhere. taken are bases that are known already. It leaves out cards that lie a quarter turn off in their
// bases or have none, which Turned returns.
func (f *Finder) Search(frame vision.Frame, lies func(geom.Point) bool, taken []engine.Ship) (out []Sight) {
	w, h := frame.Size()
	if w != f.table.Intrinsics.Width || h != f.table.Intrinsics.Height {
		return nil
	}
	s := &search{f: f, frame: frame, mat: f.flattenMat(frame), alike: map[fitKey][]candidate{}}
	s.signs = s.mat.signs()
	s.stand(lies, taken, variesBy)
	known := taken
	all, found := s.settle(s.bySigns())
	for i := range found {
		taken = append(taken[:len(taken):len(taken)], engine.Ship{Base: found[i].Look.Base, Pose: found[i].Pose})
	}
	s.stand(lies, taken, variesBy)
	_, out = s.settle(append(all, s.byBlocks(found, lies, taken)...))
	f.refused = nil
	right := out[:0]
	for i := range out {
		if wrong := cmp.Or(f.bare(frame, &out[i]), f.turned(frame, &out[i])); wrong != nil {
			f.refused = append(f.refused, wrong)
		} else {
			right = append(right, out[i])
		}
	}
	out = right
	f.byPlates(frame, out)
	f.byNumbers(frame, out)
	f.byDots(frame, out)
	counted := f.count(out, known) && !slices.ContainsFunc(out, func(s Sight) bool { return s.Plate == PlateDenies })
	for i := range out {
		out[i].Slip = f.slip(frame, &out[i])
		out[i].Counted, out[i].Missing = counted, f.looks.misses(out[i].Look.Base)
	}
	f.byKinds(frame, out)
	among(out, known, counted)
	return slices.DeleteFunc(out, func(s Sight) bool { // more likely another card of the layout, or no base
		return !s.Told() && (s.Kind <= kindDenied || s.Kind < 0 && s.Kind < s.Aside)
	})
}

// Turned returns the cards that the last Search left out because they lie a quarter turn off in their bases or have none.
func (f *Finder) Turned() []*TurnedError { return f.refused }

// count reports whether as many bases were found as ships were shown. If fewer were found, one of them may be a ship that was not shown.
// taken are the bases that were known before.
func (f *Finder) count(found []Sight, taken []engine.Ship) bool {
	var shown []string
	for _, l := range f.looks.Looks {
		for _, id := range l.Ships {
			if !slices.Contains(shown, id) {
				shown = append(shown, id)
			}
		}
	}
	n := len(found)
	for i := range taken {
		if slices.Contains(shown, taken[i].ID) || taken[i].Look != "" || token.Unidentified(taken[i].ID) {
			n++
		}
	}
	return n == len(shown)
}

// search is a search over one picture.
type search struct {
	f     *Finder
	frame vision.Frame
	mat   *flat
	signs *signs.Mat
	may   map[engine.Base]*signs.Standing
	looks []*searched
	alike map[fitKey][]candidate // the other looks at a candidate's pose
	slips []slip
	sure  []candidate // bases that no other pose there can compete with
}

// slip is a starting pose from which a fit failed or ended with too little evidence.
type slip struct {
	m    *matcher
	look *Look
	pose geom.Pose
}

// fitKey identifies a candidate.
type fitKey struct {
	look *Look
	pose geom.Pose
}

// searched is a look with its best guesses.
type searched struct {
	*Look
	missing bool    // a base of it may not have been found
	before  []guess // of the first comparison
	signs   signs.Look
	guesses ranking
	below   float64 // score from which a place is not kept again
}

// stand computes where bases may stand.
func (s *search) stand(lies func(geom.Point) bool, taken []engine.Ship, variesBy float32) {
	s.may = map[engine.Base]*signs.Standing{}
	for _, l := range s.f.looks.Looks {
		if s.may[l.Base] == nil {
			varies := func(p geom.Point) bool { return s.signs.VariesAt(p, variesBy) }
			s.may[l.Base] = signs.NewStanding(&s.f.table.Layout, l.Base, varies, lies, taken)
		}
	}
}

// settle returns all candidates and the bases that they show. Where no base is accepted, fits that failed or ended with too little evidence
// start again.
func (s *search) settle(all []candidate) ([]candidate, []Sight) {
	found := s.believed(all)
	if more := s.again(found); len(more) > 0 {
		all = append(all, more...)
		found = s.believed(all)
	}
	return all, found
}

// again repeats fits from the best pose by finer samples. The mat's coarse samples may lead to a start 2 mm and 3° off the true pose, from
// which a fit may diverge and end 3 mm away. A small card with 63 % in view was lost in this way (seed 1102, A4).
func (s *search) again(found []Sight) (out []candidate) {
	var from []fitKey
	for _, p := range s.slips {
		if slices.ContainsFunc(found, func(f Sight) bool {
			return token.BasesOverlap(f.Look.Base, f.Pose, p.look.Base, p.pose, token.BasesLap)
		}) {
			continue
		}
		s.f.rest()
		sc, ok := newScan(&s.f.table, s.frame, p.pose.Point, p.look.Z, p.look.half()*math.Sqrt2+climbReach+3)
		if !ok {
			continue
		}
		finer := sc.flatten(captureBlur, p.m.reach+climbReach)
		to := fitKey{p.look, p.m.climb(finer, guess{pose: p.pose}).pose}
		if e, ok := p.m.evidence(finer, to.pose); !ok || e < finerLeast || slices.ContainsFunc(from, func(o fitKey) bool {
			return o.look == to.look && o.pose.Distance(to.pose.Point) < tableStep && o.pose.Heading.Distance(to.pose.Heading) < geom.Degree
		}) {
			continue
		}
		from = append(from, to)
		if c, ok := sc.fitFrom(to.look, to.pose, againLeast); ok {
			out = append(out, c)
		}
	}
	s.slips = nil
	return out
}

// believed returns the bases that are accepted among candidates from the whole mat.
func (s *search) believed(all []candidate) (out []Sight) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.evidence, a.evidence) })
	for left := all; len(left) > 0; {
		best := left[0]
		var here, rest []candidate
		for _, c := range left {
			if token.BasesOverlap(best.look.Base, best.pose, c.look.Base, c.pose, token.BasesLap) {
				here = append(here, c)
			} else {
				rest = append(rest, c)
			}
		}
		left = rest
		if best.evidence < othersLeast {
			break
		}
		best, here = s.besides(best, here)
		if best.evidence < evidenceLeast || best.evidence < sureEvidence && !s.f.standsThere(s.frame, best.look.Base, best.pose) {
			continue
		}
		if s, ok := decide(here, evidenceLeast); ok {
			s.Elsewhere = slices.ContainsFunc(all, func(c candidate) bool {
				return c.look == s.Look && c.evidence >= doubtEvidence && c.pose.Distance(s.Pose.Point) > doubtApart
			})
			out = append(out, s)
		}
	}
	return out
}

// besides adds the other looks at the pose of the best candidate, and at that of one of these that is better. It returns the best of all.
func (s *search) besides(best candidate, here []candidate) (candidate, []candidate) {
	for range besidesRounds {
		here = append(here, s.others(&best)...)
		before := best.look
		best = slices.MaxFunc(here, func(a, b candidate) int { return cmp.Compare(a.evidence, b.evidence) })
		if best.look == before {
			break
		}
	}
	return best, here
}

const besidesRounds = 3

// others fits the other looks of the same base size at a candidate's pose: the search may have found only one of two
// similar looks.
func (s *search) others(c *candidate) (out []candidate) {
	key := fitKey{c.look, c.pose}
	if out, ok := s.alike[key]; ok {
		return out
	}
	sc, ok := newScan(&s.f.table, s.frame, c.pose.Point, c.look.Z, c.look.half()*math.Sqrt2+4)
	if !ok {
		return nil
	}
	for _, l := range s.f.looks.Looks {
		if l != c.look && l.Base == c.look.Base {
			out = append(out, sc.atPoseOf(c, l)...)
		}
	}
	s.alike[key] = out
	return out
}

// flattenMat rectifies the mat at the height of a card's top, blurred by captureBlur.
func (f *Finder) flattenMat(frame vision.Frame) *flat {
	t := &f.table
	size := max(float64(t.Layout.Width), float64(t.Layout.Height)) + 2*searchBeyond
	n := int(math.Ceil(size/searchSample)) + 1
	p := planes{w: n, h: n, v: make([]float32, channels*n*n)}
	out := &flat{origin: geom.Point{X: -searchBeyond, Y: -searchBeyond}, n: n, step: searchSample}
	for j := 0; j < n; j += searchTile {
		for i := 0; i < n; i += searchTile {
			middle := geom.Point{X: float64(i) + searchTile/2, Y: float64(j) + searchTile/2}
			if v, ok := newLocalView(t, out.origin.Add(middle.Mul(searchSample)), CardTop); ok {
				p.sampleTile(frame, &v, i, j)
			}
		}
	}
	p = p.blurred(math.Sqrt(captureBlur*captureBlur-sampleBlur*sampleBlur) / searchSample)
	out.v = p.v
	return out
}

// sampleBlur is the blur of the sampling itself, in mm.
const sampleBlur = 0.4

// sampleTile samples a tile of the picture from sample i, j on. Each sample is the mean of about as many places as it has pixels.
func (p *planes) sampleTile(frame vision.Frame, v *localView, i0, j0 int) {
	w, h := frame.Size()
	per := max(int(math.Round(v.scale()*searchSample)), 1)
	k := 1 / float32(per*per)
	for j := j0; j < min(j0+searchTile, p.h); j++ {
		for i := i0; i < min(i0+searchTile, p.w); i++ {
			out := p.v[channels*(j*p.w+i):][:channels]
			for s := range per * per {
				sx, sy := (float64(s%per)+0.5)/float64(per)-0.5, (float64(s/per)+0.5)/float64(per)-0.5
				x, y := v.pixel((float64(i-i0)-searchTile/2+sx)*searchSample, (float64(j-j0)-searchTile/2+sy)*searchSample)
				if x >= 0 && y >= 0 && x < float64(w-1) && y < float64(h-1) {
					addPixel(frame, x, y, k, out)
				}
			}
		}
	}
}

// addPixel adds a bilinear sample of the picture, times k, to three channels.
func addPixel(frame vision.Frame, x, y float64, k float32, out []float32) {
	i, j := int(x), int(y)
	ax, ay := float32(x-float64(i)), float32(y-float64(j))
	wa, wb, wc, wd := k*(1-ax)*(1-ay), k*ax*(1-ay), k*(1-ax)*ay, k*ax*ay
	if c := frame.Color; c != nil {
		a := c.Pix[channels*(j*c.Width+i):][:2*channels]
		b := c.Pix[channels*((j+1)*c.Width+i):][:2*channels]
		for ch := range channels {
			out[ch] += wa*float32(a[ch]) + wb*float32(a[channels+ch]) + wc*float32(b[ch]) + wd*float32(b[channels+ch])
		}
		return
	}
	g := frame.Gray
	a, b := g.Pix[j*g.Stride+i:], g.Pix[(j+1)*g.Stride+i:]
	v := wa*float32(a[0]) + wb*float32(a[1]) + wc*float32(b[0]) + wd*float32(b[1])
	for ch := range channels {
		out[ch] += v
	}
}

// bySigns compares the signs of all looks with the picture and returns the best poses, fitted.
func (s *search) bySigns() []candidate {
	for _, l := range s.f.looks.Looks {
		s.looks = append(s.looks, &searched{Look: l, signs: l.grids().signs, guesses: ranking{least: searchLeast}, below: math.Inf(1)})
	}
	s.compareSigns(false)
	var all []start
	for _, l := range s.looks {
		best := apart(l.guesses.all, searchKeep, searchApart, searchApart/l.half())
		all = append(all, s.climb(l.Look, best, nil, searchSure)...)
	}
	return s.fit(all)
}

// compareSigns ranks the poses where bases may stand by how well the signs of the looks agree, or of those only that found no base.
func (s *search) compareSigns(missing bool) {
	turned := signs.NewLattice(s.signs)
	var all []*comparison
	for _, base := range bases {
		if s.may[base] != nil {
			all = append(all, s.comparison(base, missing))
		}
	}
	for a := range signs.Turns {
		s.f.rest()
		turned.Turn(geom.Angle(2 * math.Pi * float64(a) / signs.Turns))
		for _, c := range all {
			if len(c.looks) > 0 && (c.looks[0].Base != engine.Small || a%signs.Small == 0) {
				c.with(turned)
			}
		}
	}
}

// comparison compares the looks of a base size with the mat.
type comparison struct {
	looks   []*searched
	may     *signs.Standing
	scorer  *signs.Scorer
	samples []int
}

// comparison returns that of all looks of a base size, or of those that found no base.
func (s *search) comparison(base engine.Base, missing bool) *comparison {
	c := &comparison{may: s.may[base]}
	var all []*signs.Look
	for _, l := range s.looks {
		if l.Base == base && (l.missing || !missing) {
			c.looks, all = append(c.looks, l), append(all, &l.signs)
		}
	}
	c.scorer = signs.NewScorer(all)
	return c
}

// with compares the looks with the mat at a heading.
func (c *comparison) with(mat *signs.Lattice) {
	for j := range mat.Side {
		c.samples = c.may.Along(mat, j, c.samples[:0])
		c.scorer.Score(mat, j, c.samples, func(k, i int, score float64) {
			if l := c.looks[k]; score >= l.guesses.least && score < l.below {
				l.guesses.add(geom.Pose{Point: mat.Point(i, j), Heading: mat.Heading}, score)
			}
		})
	}
}

// byBlocks takes the poses whose signs agree where bases may still stand, and returns the best of them by blocks, fitted. For looks that
// found no base it compares the signs there once more, if any was found: those displaced many poses. It fits the best by
// evidence as well.
func (s *search) byBlocks(found []Sight, lies func(geom.Point) bool, taken []engine.Ship) []candidate {
	missing := 0
	for _, l := range s.looks {
		if l.missing = len(found) > 0 && lacks(found, l.Look); l.missing {
			missing++
			l.before, l.below = l.guesses.all, l.guesses.least
			l.guesses = ranking{least: searchLower}
		}
	}
	all := s.may
	if missing > 0 {
		s.stand(lies, taken, variesMore)
		s.compareSigns(true)
	}
	var starts []start
	for _, l := range s.looks {
		left := slices.DeleteFunc(append(l.guesses.all, l.before...), func(g guess) bool { return !all[l.Base].At(g.pose.Point) })
		blocks, evidence := s.score(l.Look, left)
		best := apart(blocks, searchKeep, searchApart, searchApart/l.half())
		if !l.missing {
			starts = append(starts, s.climb(l.Look, best, nil, searchSure)...)
			continue
		}
		first := apart(evidence, searchDeep, searchApart, searchApart/l.half())
		w, _ := l.Base.Size()
		sure := min(max(int(searchDeepFits/square(float64(w)/40))/missing, searchSure), searchFits)
		starts = append(starts, s.climb(l.Look, append(best, first...), first[:min(sure, len(first))], sure)...)
	}
	s.may = all
	return s.fit(starts)
}

// lacks reports whether fewer bases were found that may have a look than there are looks that these bases may have.
func lacks(found []Sight, l *Look) bool {
	bases, may := 0, map[*Look]bool{l: true}
	for i := range found {
		if all := append([]*Look{found[i].Look}, found[i].Alike...); slices.Contains(all, l) {
			bases++
			for _, o := range all {
				may[o] = true
			}
		}
	}
	return bases < len(may)
}

// score returns guesses with their scores by blocks, and with their evidence.
func (s *search) score(l *Look, left []guess) (blocks, evidence []guess) {
	m := newMatcher(&l.grids().coarse)
	slices.SortStableFunc(left, func(a, b guess) int { return cmp.Compare(a.pose.Heading, b.pose.Heading) })
	evidence = slices.Clone(left)
	var t turnedGrid
	for i := range left {
		g := &left[i]
		if i == 0 || g.pose.Heading != t.heading {
			t = m.turn(g.pose.Heading, s.mat)
		}
		g.score, evidence[i].score = m.both(s.mat, &t, g.pose.Point)
	}
	return left, evidence
}

// start is a pose from which a look is fitted.
type start struct {
	slip
	parts  float64 // evidence by smaller blocks
	repeat bool    // if the fit slips off, it starts again
}

// climb moves guesses of a look to the best pose near them, and returns the poses from which it is fitted: first and the best after
// climbing, sure of them by evidence.
func (s *search) climb(l *Look, all, first []guess, sure int) (out []start) {
	m, parts := newMatcher(&l.grids().coarse), newMatcher(&l.grids().kind)
	for i := range all {
		all[i].score = 0
		all[i] = m.climb(s.mat, all[i])
	}
	fits, evidence := s.toFit(m, parts, all, first, sure)
	for i, g := range fits {
		out = append(out, start{slip{m, l, g.pose}, evidence[g.pose], i < searchFits+searchFirst+searchSure})
	}
	return out
}

// fit fits looks from some poses, those with most evidence first. A base that is found with certainty is not fitted at another pose, where
// no look has enough evidence to compete with it.
func (s *search) fit(all []start) (out []candidate) {
	slices.SortStableFunc(all, func(a, b start) int { return cmp.Compare(b.parts, a.parts) })
	for _, from := range all {
		if slices.ContainsFunc(s.sure, func(c candidate) bool {
			return !onePose(&c, &candidate{pose: from.pose}) && token.BasesOverlap(c.look.Base, c.pose, from.look.Base, from.pose, token.BasesLap)
		}) {
			continue
		}
		s.f.rest()
		l := from.look
		sc, ok := newScan(&s.f.table, s.frame, from.pose.Point, l.Z, l.half()*math.Sqrt2+climbReach)
		if !ok {
			continue
		}
		c, ok := sc.fitFrom(l, from.pose, firstLeast)
		if ok {
			out = append(out, c)
		}
		if ok && c.evidence >= sureEvidence {
			s.sure = append(s.sure, c)
		}
		if (!ok || c.evidence < searchEvidence) && from.repeat {
			s.slips = append(s.slips, from.slip)
		}
	}
	return out
}

// toFit returns the guesses that are fitted, in the order of their scores by blocks, and the evidence of each pose: first, and of climbed
// ones the best by blocks, by evidence, and those that were the best before they climbed. The evidence is that by parts of the card, of
// 1 mm cells: of four small cards a third in view or less it is the 1st to 9th of some 480, by blocks of 2 mm cells the 22nd to 237th.
func (s *search) toFit(m, parts *matcher, climbed, first []guess, sure int) ([]guess, map[geom.Pose]float64) {
	first = slices.Clone(first)
	for i, g := range first {
		t := m.turn(g.pose.Heading, s.mat)
		first[i].score, _ = m.scoreAt(s.mat, &t, g.pose.Point)
	}
	all := append(slices.Clone(climbed), first...)
	byEvidence, evidence, score := slices.Clone(climbed), map[geom.Pose]float64{}, map[geom.Pose]float64{}
	for _, g := range all {
		e, ok := parts.evidence(s.mat, g.pose)
		if !ok {
			e = math.Inf(-1)
		}
		evidence[g.pose], score[g.pose] = e, g.score
	}
	for i, g := range byEvidence {
		byEvidence[i].score = evidence[g.pose]
	}
	byEvidence = apart(byEvidence, sure, 2, 5*math.Pi/180)
	for i, g := range byEvidence {
		byEvidence[i].score = score[g.pose]
	}
	all = append(apart(slices.Clone(climbed), searchFits, 2, 5*math.Pi/180), climbed[:min(searchFirst, len(climbed))]...)
	all = append(append(all, byEvidence...), first...)
	all = apart(all, len(all), 0.5, 2*math.Pi/180)
	return slices.DeleteFunc(all, func(g guess) bool {
		e := evidence[g.pose]
		return math.IsInf(e, -1) || e < flatLeast && g.score < flatScore || g.score < searchScore
	}), evidence
}

// ranking keeps the best guesses.
type ranking struct {
	least float64
	all   []guess
}

// rankingMost is the capacity of a ranking. A full ranking drops its worse half.
const rankingMost = 1 << 14

// add adds a guess, which must not be worse than least.
func (r *ranking) add(pose geom.Pose, score float64) {
	r.all = append(r.all, guess{pose, score})
	if len(r.all) == rankingMost {
		slices.SortFunc(r.all, func(a, b guess) int { return cmp.Compare(b.score, a.score) })
		r.all = r.all[:rankingMost/2]
		r.least = r.all[len(r.all)-1].score
	}
}
