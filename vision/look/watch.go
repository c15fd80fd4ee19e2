package look

import (
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// Watch searches the whole mat in the background whenever the picture is at rest and has changed since the last search. It never blocks
// the caller, and leaves a core half of the time. It is not safe for concurrent use.
type Watch struct {
	finder *Finder // not while a search runs
	search chan []Sight
	seen   []uint8       // the blocks of the picture of the current or last search
	stood  []engine.Ship // the bases that stood there then
	turned []*TurnedError
}

// NewWatch returns a watch over a calibrated table. The zero Uncertainty means calibration.DefaultUncertainty.
func NewWatch(t calibration.Table, looks *Library, u calibration.Uncertainty) *Watch {
	f := NewFinder(t, looks, u)
	began := time.Now()
	f.pause = func() {
		if worked := time.Since(began); worked > watchWorks {
			time.Sleep(worked)
			began = time.Now()
		}
	}
	return &Watch{finder: f}
}

// watchWorks is the time for which a search works before it pauses for as long.
const watchWorks = 10 * time.Millisecond

// Rest takes a picture at rest, and begins a search unless one is running or this picture was searched. lies reports whether something may
// lie at a point of the mat; nil means anywhere. taken are the bases that are known already. It reports whether a search is running.
func (w *Watch) Rest(f vision.Frame, lies func(geom.Point) bool, taken []engine.Ship) bool {
	width, height := f.Size()
	if t := &w.finder.table.Intrinsics; w.search != nil || width != t.Width || height != t.Height {
		return w.search != nil
	}
	now, known := watchBlocks(f), w.known(taken)
	taken = slices.Clone(taken)
	w.stood = taken
	if w.shows(now) && known {
		return false
	}
	w.seen = now
	found := make(chan []Sight, 1) // buffered: the search ends even if its result is not taken
	w.search = found
	if c := f.Color; c != nil { // whose pixels need not outlive their turn
		f.Color = &vision.BGR{Width: c.Width, Height: c.Height, Pix: slices.Clone(c.Pix)}
	}
	finder := w.finder
	go func() { found <- finder.Search(f, lies, taken) }()
	return true
}

// known reports whether all bases that stood there still do. The picture alone cannot show that a ship was exchanged for one with the same
// card.
func (w *Watch) known(taken []engine.Ship) bool {
	return !slices.ContainsFunc(w.stood, func(o engine.Ship) bool {
		return !slices.ContainsFunc(taken, func(s engine.Ship) bool { return s.Base == o.Base && s.Pose.Distance(o.Pose.Point) < stoodWithin })
	})
}

// stoodWithin, in mm, is less than the distance between the centres of any two bases.
const stoodWithin = 20

// Ready reports whether a search has ended and its sights were not taken yet.
func (w *Watch) Ready() bool { return len(w.search) > 0 }

// Take returns the sights of the search that ended; false: none has. Its picture may be old: current reports whether this picture still
// shows the same, so that ships that were not found are not there.
func (w *Watch) Take(f vision.Frame) (found []Sight, current, ok bool) {
	if !w.Ready() {
		return nil, false, false
	}
	found = <-w.search
	w.search, w.turned = nil, w.finder.Turned()
	return found, w.shows(watchBlocks(f)), true
}

// Turned returns the cards that the search left out whose sights were taken last, because they lie a quarter turn off or have no base.
func (w *Watch) Turned() []*TurnedError { return w.turned }

// shows reports whether blocks equal those of the picture of the last search.
func (w *Watch) shows(now []uint8) bool { return len(now) == len(w.seen) && !watchDiffers(now, w.seen) }

// Two pictures differ if the mean of a block differs by more than watchLeast grey levels.
const (
	watchBlock = 16 // px
	watchLeast = 5
)

// watchBlocks returns the mean grey levels of a picture's blocks.
func watchBlocks(f vision.Frame) []uint8 {
	w, h := f.Size()
	out := make([]uint8, 0, (w/watchBlock)*(h/watchBlock))
	for y := 0; y+watchBlock <= h; y += watchBlock {
		for x := 0; x+watchBlock <= w; x += watchBlock {
			sum := 0
			for j := range watchBlock {
				for _, v := range f.Gray.Pix[(y+j)*f.Gray.Stride+x:][:watchBlock] {
					sum += int(v)
				}
			}
			out = append(out, uint8(sum/(watchBlock*watchBlock)))
		}
	}
	return out
}

func watchDiffers(a, b []uint8) bool {
	for i, v := range a {
		if d := int(v) - int(b[i]); d > watchLeast || d < -watchLeast {
			return true
		}
	}
	return false
}
