package pipeline

import (
	"slices"
	"strings"
	"time"

	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
)

// reported remembers which problems were noted, so that each is noted once and not with every
// picture.
type reported struct {
	conflicts  map[string]bool      // ships about which the cameras disagree
	duplicates map[string]time.Time // ships whose code was seen twice, and when last
	raised     lasting              // ships whose token is read above the mat
	spare      lasting              // ships whose token lies on the mat without a base
	small      lasting              // ships whose token was printed too small
	turned     []shownTurned        // bases whose cards lie a quarter turn off
}

// lasting are the problems of one kind that pictures show, by the ship's id.
type lasting map[string]shownFor

// shownFor is since when pictures have shown a problem, and whether it was noted.
type shownFor struct {
	since, last time.Time
	noted       bool
}

const (
	// lastsFor is how long pictures must show a problem, with gaps of up to lastsGap, before it is noted: a hand that carries a
	// ship takes less time.
	lastsFor = 2 * time.Second
	lastsGap = time.Second
)

// shown records that a picture shows a ship's problem. It reports whether the problem has lasted long enough to be noted (long), and
// whether it was not noted before (fresh).
func (l *lasting) shown(id string, now time.Time) (long, fresh bool) {
	if *l == nil {
		*l = lasting{}
	}
	k, known := (*l)[id]
	if !known || now.Sub(k.last) > lastsGap {
		k = shownFor{since: now}
	}
	k.last = now
	if long = now.Sub(k.since) >= lastsFor; long {
		fresh = !k.noted
		k.noted = true
	}
	(*l)[id] = k
	return long, fresh
}

// newTokens returns the notes on tokens that do not stand on bases or were printed in another size.
func (r *reported) newTokens(located *vision.Located, now time.Time) (notes []string) {
	notes = newLasting(&r.raised, located.Raised, now, func(t vision.RaisedToken) string { return t.ID }, vision.DescribeRaised)
	notes = append(notes, newLasting(&r.spare, located.Spare, now, func(s vision.SpareToken) string { return s.ID },
		func(all []vision.SpareToken) (texts []string) {
			for _, s := range all {
				texts = append(texts, s.String())
			}
			return texts
		})...)
	return append(notes, newLasting(&r.small, located.Small, now, func(s vision.SmallToken) string { return s.ID }, vision.DescribeSmall)...)
}

// newLasting returns the notes on all lasting problems of a kind, if one of them was not noted before.
func newLasting[T any](l *lasting, all []T, now time.Time, id func(T) string, describe func([]T) []string) (notes []string) {
	var lasted []T
	noted := true
	for _, v := range all {
		if long, fresh := l.shown(id(v), now); long {
			lasted, noted = append(lasted, v), noted && !fresh
		}
	}
	if noted {
		return nil
	}
	for _, text := range describe(lasted) {
		notes = append(notes, text+".")
	}
	return notes
}

// duplicateAgain is how long a code must not have been seen twice before it is noted again.
const duplicateAgain = 10 * time.Second

// newDuplicates returns the notes on codes that a picture shows in several places, which
// explain why the ship is missing.
func (r *reported) newDuplicates(twins []vision.DuplicateID, now time.Time) (notes []string) {
	for _, twin := range twins {
		if last, known := r.duplicates[twin.ID]; !known || now.Sub(last) > duplicateAgain {
			notes = append(notes, twin.String()+".")
		}
		if r.duplicates == nil {
			r.duplicates = map[string]time.Time{}
		}
		r.duplicates[twin.ID] = now
	}
	return notes
}

// shownTurned is a base whose card lies a quarter turn off, when a picture last showed it, and whether a later one showed that it does so
// no more.
type shownTurned struct {
	*look.TurnedError
	last  time.Time
	right bool
}

// A base whose card lies a quarter turn off is noted again if it lay right or was away for turnedAgain, or stands turnedMoved elsewhere.
const (
	turnedAgain = time.Minute
	turnedMoved = 20 * geom.Millimeter
)

// newTurned returns the notes on bases whose cards lie a quarter turn off, which explain why the ships are missing.
func (r *reported) newTurned(turned []*look.TurnedError, now time.Time) (notes []string) {
	for _, wrong := range turned {
		i := slices.IndexFunc(r.turned, func(o shownTurned) bool { return o.Card == wrong.Card && o.At.Distance(wrong.At) < turnedMoved })
		if i < 0 || r.turned[i].right && now.Sub(r.turned[i].last) > turnedAgain {
			notes = append(notes, wrong.Error()+".")
		}
		if i < 0 {
			i, r.turned = len(r.turned), append(r.turned, shownTurned{})
		}
		r.turned[i] = shownTurned{wrong, now, false}
	}
	r.turned = slices.DeleteFunc(r.turned, func(o shownTurned) bool { return o.right && now.Sub(o.last) > turnedAgain })
	return notes
}

// turnedBack notices which bases lie right again or are gone: where a ship stands now, or a search of the whole table found none that is
// turned. found are the turned ones of this picture.
func (r *reported) turnedBack(found []*look.TurnedError, searched bool, tracks []vision.Track) {
	for i := range r.turned {
		o := &r.turned[i]
		is := func(w *look.TurnedError) bool { return w.Card == o.Card && w.At.Distance(o.At) < turnedMoved }
		stands := func(k vision.Track) bool { return k.State.InSight() && k.Ship.Pose.Distance(o.At) < turnedMoved }
		if !slices.ContainsFunc(found, is) && (searched || slices.ContainsFunc(tracks, stands)) {
			o.right = true
		}
	}
}

// turnedNow says which bases lie turned, as far as is known.
func (r *reported) turnedNow() (texts []string) {
	for _, o := range r.turned {
		if !o.right {
			texts = append(texts, o.Error()+".")
		}
	}
	return texts
}

// newConflicts returns the notes on what the cameras disagree about.
func (r *reported) newConflicts(f *vision.Fusion) (notes []string) {
	now := map[string]bool{}
	if f != nil {
		for _, c := range f.Conflicts {
			key := strings.Join(c.IDs, " ")
			if !r.conflicts[key] {
				notes = append(notes, "The cameras contradict each other. "+c.String()+".")
			}
			now[key] = true
		}
	}
	r.conflicts = now
	return notes
}
