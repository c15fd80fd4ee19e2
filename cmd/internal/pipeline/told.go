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
	raised     map[string]raisedFor // ships whose token is read above the mat
}

// raisedFor is since when a token is read above the mat, and what is told of it.
type raisedFor struct {
	since, last time.Time
	told        bool
}

// raisedTold is how long a token must be read above the mat, with gaps of up to raisedGap, before it is noted: a hand that
// carries a ship takes less.
const (
	raisedTold = 2 * time.Second
	raisedGap  = time.Second
)

// newRaised returns the notes on tokens that are read above the mat, and so do not count.
func (t *told) newRaised(raised []vision.RaisedToken, now time.Time) (notes []string) {
	if t.raised == nil {
		t.raised = map[string]raisedFor{}
	}
	var since []vision.RaisedToken // for long enough
	fresh := false
	for _, r := range raised {
		k, known := t.raised[r.ID]
		if !known || now.Sub(k.last) > raisedGap {
			k = raisedFor{since: now}
		}
		k.last = now
		if now.Sub(k.since) >= raisedTold {
			since, fresh = append(since, r), fresh || !k.told
			k.told = true
		}
		t.raised[r.ID] = k
	}
	if !fresh {
		return nil
	}
	for _, text := range vision.DescribeRaised(since) {
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
