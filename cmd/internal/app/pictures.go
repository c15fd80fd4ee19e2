package app

import (
	"bytes"
	"image"
	"time"
)

// pictureCheck tells pictures that show nothing: black or blank ones, and the same
// one again and again. It belongs to the watcher's goroutine.
type pictureCheck struct {
	frozenAfter time.Duration // how long the same picture may come; 0: for ever

	pixels []byte    // of the picture before
	same   time.Time // since when the pictures are exactly the same
	blank  time.Time // since when they show nothing; zero: they do not
	seen   time.Time // when the last picture came
}

// What a picture must show, in grey levels. A mat in a dark room still has its
// markers' white paper; a covered camera has one level with noise.
const (
	darkLevel  = 24 // the brightest fiftieth of a black picture is darker
	flatRange  = 12 // from the darkest fiftieth to the brightest of a blank one
	blankAfter = time.Second
	levelStep  = 8 // px between the samples, in both directions
)

// pictureState says what is wrong with the pictures.
type pictureState int

const (
	pictureGood pictureState = iota
	pictureDark
	pictureBlank  // one level all over: covered, or blinded by light
	pictureFrozen // the same again and again
)

// look takes a picture and says what is wrong with the last ones, if anything.
func (c *pictureCheck) look(g *image.Gray, now time.Time) pictureState {
	gap := now.Sub(c.seen) > staleAfter // what was before says nothing
	c.seen = now
	if c.frozenAfter > 0 {
		if gap || !bytes.Equal(c.pixels, g.Pix) {
			c.pixels, c.same = g.Pix, now
		}
	}
	lo, hi := levels(g)
	if gap || (hi >= darkLevel && hi-lo >= flatRange) {
		c.blank = time.Time{}
	}
	if (hi < darkLevel || hi-lo < flatRange) && c.blank.IsZero() {
		c.blank = now
	}
	switch {
	case !c.blank.IsZero() && now.Sub(c.blank) >= blankAfter && hi < darkLevel:
		return pictureDark
	case !c.blank.IsZero() && now.Sub(c.blank) >= blankAfter:
		return pictureBlank
	case c.frozenAfter > 0 && now.Sub(c.same) >= c.frozenAfter:
		return pictureFrozen
	}
	return pictureGood
}

// levels returns the grey levels below and above which a fiftieth of the picture lies.
func levels(g *image.Gray) (lo, hi int) {
	var count [256]int
	total := 0
	b := g.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += levelStep {
		row := g.Pix[g.PixOffset(b.Min.X, y):][:b.Dx()]
		for x := 0; x < len(row); x += levelStep {
			count[row[x]]++
			total++
		}
	}
	below := 0
	for v, n := range count {
		below += n
		if below <= total/50 {
			lo = v + 1
		}
		if below < total-total/50 {
			hi = v + 1
		}
	}
	return min(lo, 255), min(hi, 255)
}
