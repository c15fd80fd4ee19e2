package app

import (
	"time"

	"sightline/vision"
)

// twinsAgain is how long a code must not have been seen twice before it is told again: one
// that is read now and then is one trouble.
const twinsAgain = 10 * time.Second

// tellTwins notes which codes a picture shows in several places, once: nobody would know
// why the ship is missing. The caller holds mu.
func (w *Watcher) tellTwins(twins []vision.Twin) {
	now := w.o.Now()
	for _, t := range twins {
		if last, told := w.twins[t.ID]; !told || now.Sub(last) > twinsAgain {
			w.note(t.String() + ".")
		}
		if w.twins == nil {
			w.twins = map[string]time.Time{}
		}
		w.twins[t.ID] = now
	}
}

// seenTwice reports whether the newest picture that was searched shows a ship's code in several places. The
// caller holds mu.
func (s *shown) seenTwice(id string) bool {
	for _, t := range s.last.Twins {
		if t.ID == id {
			return true
		}
	}
	return false
}
