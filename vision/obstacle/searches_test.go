package obstacle

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSearchesOfFurtherCamerasWait(t *testing.T) {
	var s Searches
	main := s.begin(false)
	second := s.begin(false) // of a main camera, whose registration is new, say
	var going, most, done atomic.Int32
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			end := s.begin(true)
			most.Store(max(most.Load(), going.Add(1)))
			time.Sleep(time.Millisecond)
			going.Add(-1)
			done.Add(1)
			end()
		})
	}
	time.Sleep(20 * time.Millisecond)
	main()
	time.Sleep(5 * time.Millisecond)
	assert.Zero(t, done.Load(), "a further camera's search began beside the main camera's")
	second()
	all.Wait()
	assert.Equal(t, int32(1), most.Load(), "one after the other")

	further := s.begin(true)
	s.begin(false)() // the main camera waits for no one
	further()
	var none *Searches
	none.begin(true)()
}
