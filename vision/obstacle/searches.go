package obstacle

import "sync"

// Searches lets the searches for obstacles of several cameras go on one after the other:
// the main camera's begin at once, a further camera's wait until no search of the main
// camera's and no other one is under way. However many cameras there are, no more than two
// searches then take a processor from the pictures. Its zero value is ready; nil stands for
// one camera alone.
type Searches struct {
	mu    sync.Mutex
	freed sync.Cond
	first int  // searches of the main camera that go on
	later bool // one of a further camera's is running
}

// begin waits for a search's turn; the caller calls what it returns when the search ends.
func (s *Searches) begin(further bool) (end func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed.L = &s.mu
	if !further {
		s.first++
	} else {
		for s.first > 0 || s.later {
			s.freed.Wait()
		}
		s.later = true
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if further {
			s.later = false
		} else {
			s.first--
		}
		s.freed.Broadcast()
	}
}
