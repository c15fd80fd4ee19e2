package pipeline

import (
	"strings"
	"time"

	"sightline/vision"
)

// told remembers which troubles of pictures people were told of, so that each is noted
// once and not with every picture.
type told struct {
	conflicts  map[string]bool      // ships about which the cameras contradict each other
	duplicates map[string]time.Time // ships whose code was seen twice, and when last
	raised     lasting              // ships whose token is read above the mat
	spare      lasting              // ships whose token lies on the mat without a base
	small      lasting              // ships whose token was printed too small
}

// lasting is since when pictures show the troubles of ships, by their names.
type lasting map[string]shownFor

// shownFor is since when a trouble is shown, and whether people were told of it.
type shownFor struct {
	since, last time.Time
	told        bool
}

const (
	// lastsFor is how long a trouble must be shown, with gaps of up to lastsGap, before it is noted: a hand that carries a ship
	// takes less.
	lastsFor = 2 * time.Second
	lastsGap = time.Second
)

// shown notes that a picture shows a ship's trouble. It reports whether that has lasted long enough to be told, and whether it is told
// for the first time.
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
		fresh = !k.told
		k.told = true
	}
	(*l)[id] = k
	return long, fresh
}

// newTokens returns the notes on tokens that do not stand on bases or were printed in another size.
func (t *told) newTokens(located *vision.Located, now time.Time) (notes []string) {
	notes = newLasting(&t.raised, located.Raised, now, func(r vision.RaisedToken) string { return r.ID }, vision.DescribeRaised)
	notes = append(notes, newLasting(&t.spare, located.Spare, now, func(s vision.SpareToken) string { return s.ID },
		func(all []vision.SpareToken) (texts []string) {
			for _, s := range all {
				texts = append(texts, s.String())
			}
			return texts
		})...)
	return append(notes, newLasting(&t.small, located.Small, now, func(s vision.SmallToken) string { return s.ID }, vision.DescribeSmall)...)
}

// newLasting returns the notes on all troubles of a kind that have lasted, if one of them was not told before.
func newLasting[T any](l *lasting, all []T, now time.Time, id func(T) string, describe func([]T) []string) (notes []string) {
	var lasted []T
	told := true
	for _, v := range all {
		if long, fresh := l.shown(id(v), now); long {
			lasted, told = append(lasted, v), told && !fresh
		}
	}
	if told {
		return nil
	}
	for _, text := range describe(lasted) {
		notes = append(notes, text+".")
	}
	return notes
}

// duplicateAgain is how long a code must not have been seen twice before it is noted
// again: one that is read now and then is one trouble.
const duplicateAgain = 10 * time.Second

// newDuplicates returns the notes on codes that a picture shows in several places: people
// would wonder why the ship is missing.
func (t *told) newDuplicates(twins []vision.DuplicateID, now time.Time) (notes []string) {
	for _, twin := range twins {
		if last, known := t.duplicates[twin.ID]; !known || now.Sub(last) > duplicateAgain {
			notes = append(notes, twin.String()+".")
		}
		if t.duplicates == nil {
			t.duplicates = map[string]time.Time{}
		}
		t.duplicates[twin.ID] = now
	}
	return notes
}

// newConflicts returns the notes on what the cameras contradict each other in.
func (t *told) newConflicts(f *vision.Fusion) (notes []string) {
	now := map[string]bool{}
	if f != nil {
		for _, c := range f.Conflicts {
			key := strings.Join(c.IDs, " ")
			if !t.conflicts[key] {
				notes = append(notes, "The cameras contradict each other. "+c.String()+".")
			}
			now[key] = true
		}
	}
	t.conflicts = now
	return notes
}
