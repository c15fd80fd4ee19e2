package look

import (
	"slices"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
)

// Watch searches the whole mat in the background when its picture rests and shows something that it did not show when it was searched
// last. No caller waits for it, and it leaves a core half of the time. It belongs to one goroutine.
type Watch struct {
	finder *Finder // not while a search runs
	search chan []Sight
	seen   []uint8       // the picture that is searched or was last, in blocks
	stood  []engine.Ship // the bases that stood there since
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

// watchWorks is how long a search works before it rests as long.
const watchWorks = 10 * time.Millisecond

// Rest takes a picture that rests, and begins a search unless one runs or this picture was searched. lies says whether something may
// lie at a point of the mat; nil: it may anywhere. taken are the bases that stand there already. It reports whether a search runs.
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
	found := make(chan []Sight, 1) // so that the search ends although no one asks for what it found
	w.search = found
	if c := f.Color; c != nil { // whose pixels need not outlive their turn
		f.Color = &vision.BGR{Width: c.Width, Height: c.Height, Pix: slices.Clone(c.Pix)}
	}
	finder := w.finder
	go func() { found <- finder.Search(f, lies, taken) }()
	return true
}

// known reports whether all bases still stand there that stood there. A ship that was exchanged for another one of its like is none of them
// any more, and the picture shows the same.
func (w *Watch) known(taken []engine.Ship) bool {
	return !slices.ContainsFunc(w.stood, func(o engine.Ship) bool {
		return !slices.ContainsFunc(taken, func(s engine.Ship) bool { return s.Base == o.Base && s.Pose.Distance(o.Pose.Point) < stoodWithin })
	})
}

// stoodWithin, in mm, is less than any two bases' middles are apart.
const stoodWithin = 20

// Ready reports whether a search has ended whose sights were not taken.
func (w *Watch) Ready() bool { return len(w.search) > 0 }

// Take returns what the search found that ended; false: none has. The picture that it searched may be long past: current reports whether
// this one shows the same, so that what was not found is not there.
func (w *Watch) Take(f vision.Frame) (found []Sight, current, ok bool) {
	if !w.Ready() {
		return nil, false, false
	}
	found = <-w.search
	w.search = nil
	return found, w.shows(watchBlocks(f)), true
}

// shows reports whether blocks are those of the picture that was searched last.
func (w *Watch) shows(now []uint8) bool { return len(now) == len(w.seen) && !watchDiffers(now, w.seen) }

// Two pictures differ where the mean of a block does by more than watchLeast grey levels.
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
