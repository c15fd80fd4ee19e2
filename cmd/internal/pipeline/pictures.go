package pipeline

import (
	"bytes"
	"fmt"
	"image"
	"slices"
	"time"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
)

// pictureCheck detects pictures that are black or blank, frozen or incomplete. It belongs to
// the pipeline's goroutine.
type pictureCheck struct {
	frozenAfter time.Duration // how long a camera may send the same picture; 0: for ever
	frozenMost  time.Duration // the same for a stream whose encoder is seen to leave out what does not change; 0: frozenAfter

	pixels []byte      // of the last picture
	same   time.Time   // since when pictures are identical
	copies int         // of the first of these
	pauses []pause     // the last ones, oldest first
	blank  time.Time   // since when pictures show nothing; zero: they do not
	seen   time.Time   // when the last picture came
	plain  float64     // the smallest share of repeated rows in any picture
	before *image.Gray // the last picture
	stuck  []time.Time // since when each row, levelStep apart, is identical
	copied []int       // in how many pictures after the first
	size   int         // of the last picture, in bytes
	empty  bool        // the last picture showed nothing
}

// Limits in grey levels. A mat in a dark room still shows its markers' white paper; a covered
// camera shows one level with noise.
const (
	darkLevel  = 24 // the brightest fiftieth of a black picture is darker
	flatRange  = 12 // between the darkest and the brightest fiftieth of a blank picture
	blankAfter = time.Second
	levelStep  = 8 // px between the samples, in both directions

	// The noise of a square's mean is a quarter of a pixel's; a marker's paper is wider.
	levelSquare = 4 // px

	// If a picture's data breaks off, decoders fill the remainder with one colour or repeat the
	// last rows. A camera's rows never repeat, since they have noise. A picture is broken if the
	// share of repeated rows exceeds the usual one (a camera may deliver black bars) by this.
	brokenShare  = 0.1
	repeatsLevel = 2 // grey levels by which the samples of repeated rows may differ
	copiesLeast  = 2 // copies of one picture before it counts as frozen

	// An encoder that aims at a quality, not at a rate, may send nothing until its next full picture. Two such pauses show
	// that a stream does so; then one of twice their length is none of the camera's faults.
	pausesLeast = 2
	pausesMost  = 8
	pausesFor   = 5 * time.Minute

	// The full picture at a pause's end changes the mean of a square by 2.3 levels at most (docs/measurements/time.md); a ship that
	// was moved changes it by tens.
	pauseSquare = 32 // px
	pauseLevel  = 4
)

// pause is a time in which a stream stood still while nothing moved before the camera.
type pause struct {
	end    time.Time
	length time.Duration
}

// pictureState says what is wrong with the pictures.
type pictureState int

const (
	pictureGood pictureState = iota
	pictureDark
	pictureBlank  // one level all over: covered, or blinded by light
	pictureFrozen // identical for too long
	pictureTorn   // a part is missing
)

// update returns what is wrong with the pictures up to this one.
func (c *pictureCheck) update(g *image.Gray, now time.Time) pictureState {
	gap := now.Sub(c.seen) > game.StaleAfter // earlier pictures no longer count
	c.seen = now
	frozen := c.isFrozen(g, now, gap)
	black, blank := c.isBlank(g, now, gap)
	torn := c.isTorn(g, now, gap)
	switch {
	case torn && !frozen:
		return pictureTorn
	case blank && black:
		return pictureDark
	case blank:
		return pictureBlank
	case frozen:
		return pictureFrozen
	}
	return pictureGood
}

// isFrozen reports whether the same picture has come for too long.
func (c *pictureCheck) isFrozen(g *image.Gray, now time.Time, gap bool) bool {
	if c.frozenAfter <= 0 {
		return false
	}
	if gap || !bytes.Equal(c.pixels, g.Pix) {
		c.endPause(g, now, gap)
		c.pixels, c.same, c.copies = g.Pix, now, -1
	}
	c.copies++
	return c.copies >= copiesLeast && now.Sub(c.same) >= c.mayStand(now)
}

// isBlank reports whether the picture is black, and whether pictures have been black or of one level for too long.
func (c *pictureCheck) isBlank(g *image.Gray, now time.Time, gap bool) (black, blank bool) {
	lo, hi := levels(g)
	black = hi < darkLevel
	c.empty = black || hi-lo < flatRange
	if gap || !c.empty {
		c.blank = time.Time{}
	}
	if c.empty && c.blank.IsZero() {
		c.blank = now
	}
	return black, c.empty && now.Sub(c.blank) >= blankAfter
}

// isTorn reports whether a part of the picture is missing: rows repeat the one above, or stand still.
func (c *pictureCheck) isTorn(g *image.Gray, now time.Time, gap bool) bool {
	repeats := repeated(g)
	if c.size != len(g.Pix) || gap {
		c.size, c.plain = len(g.Pix), repeats
	}
	torn := repeats > c.plain+brokenShare || c.partStuck(g, now, gap) > brokenShare
	c.plain = min(c.plain, repeats)
	return torn && !c.empty
}

// endPause remembers how long a stream stood still, if its next picture shows the same.
func (c *pictureCheck) endPause(g *image.Gray, now time.Time, gap bool) {
	length := now.Sub(c.same)
	if c.frozenMost <= c.frozenAfter || gap || c.copies < copiesLeast || length < c.frozenAfter || !showsSame(c.before, g) {
		return
	}
	c.pauses = append(c.pauses, pause{now, length})
	c.pauses = c.pauses[max(0, len(c.pauses)-pausesMost):]
}

// mayStand returns how long the stream may stand still: frozenAfter, or longer if it was seen to pause.
func (c *pictureCheck) mayStand(now time.Time) time.Duration {
	var lengths []time.Duration
	for _, p := range c.pauses {
		if now.Sub(p.end) < pausesFor {
			lengths = append(lengths, p.length)
		}
	}
	if len(lengths) < pausesLeast {
		return c.frozenAfter
	}
	slices.Sort(lengths)
	return min(max(2*lengths[len(lengths)-pausesLeast], c.frozenAfter), c.frozenMost)
}

// showsSame reports whether two pictures show the same in every square.
func showsSame(a, b *image.Gray) bool {
	if a == nil || a.Rect != b.Rect {
		return false
	}
	for y := a.Rect.Min.Y; y+pauseSquare <= a.Rect.Max.Y; y += pauseSquare {
		for x := a.Rect.Min.X; x+pauseSquare <= a.Rect.Max.X; x += pauseSquare {
			sum := 0
			for j := range pauseSquare {
				from, to := a.Pix[a.PixOffset(x, y+j):][:pauseSquare], b.Pix[b.PixOffset(x, y+j):][:pauseSquare]
				for i, v := range from {
					sum += int(to[i]) - int(v)
				}
			}
			if max(sum, -sum) > pauseLevel*pauseSquare*pauseSquare {
				return false
			}
		}
	}
	return true
}

// levels returns the grey levels below and above which a fiftieth of the picture lies. It
// averages small squares, since noise makes single pixels of a dark picture bright.
func levels(g *image.Gray) (lo, hi int) {
	var count [256]int
	total := 0
	b := g.Bounds()
	for y := b.Min.Y; y+levelSquare <= b.Max.Y; y += levelStep {
		for x := b.Min.X; x+levelSquare <= b.Max.X; x += levelStep {
			sum := 0
			for j := range levelSquare {
				for _, v := range g.Pix[g.PixOffset(x, y+j):][:levelSquare] {
					sum += int(v)
				}
			}
			count[sum/(levelSquare*levelSquare)]++
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

// partStuck returns the share of rows that have been identical for too long. Rows of one
// level, such as a black bar's, do not count. An encoder leaves out parts more readily than whole pictures.
func (c *pictureCheck) partStuck(g *image.Gray, now time.Time, gap bool) float64 {
	before, most := c.before, max(c.frozenAfter, c.frozenMost)
	c.before = g
	n := g.Rect.Dy() / levelStep
	if c.frozenAfter <= 0 || n == 0 {
		return 0
	}
	if gap || before == nil || before.Rect != g.Rect || len(c.stuck) != n {
		c.stuck, c.copied = make([]time.Time, n), make([]int, n)
		before = nil
	}
	stuck := 0
	for i := range n {
		row := g.Pix[i*levelStep*g.Stride:][:g.Rect.Dx()]
		if before == nil || !bytes.Equal(row, before.Pix[i*levelStep*before.Stride:][:len(row)]) {
			c.stuck[i], c.copied[i] = now, 0
			continue
		}
		c.copied[i]++
		if c.copied[i] >= copiesLeast && now.Sub(c.stuck[i]) >= most && slices.Max(row)-slices.Min(row) > repeatsLevel {
			stuck++
		}
	}
	return float64(stuck) / float64(n)
}

// repeated returns the share of rows that repeat the row above.
func repeated(g *image.Gray) float64 {
	b := g.Bounds()
	alike, n := 0, 0
	for y := b.Min.Y + levelStep; y < b.Max.Y; y += levelStep {
		row, before := g.Pix[g.PixOffset(b.Min.X, y):][:b.Dx()], g.Pix[g.PixOffset(b.Min.X, y-levelStep):][:b.Dx()]
		n++
		alike++
		for x := 0; x < len(row); x += levelStep {
			if d := int(row[x]) - int(before[x]); d > repeatsLevel || d < -repeatsLevel {
				alike--
				break
			}
		}
	}
	return float64(alike) / float64(max(n, 1))
}

const tornAdvice = "Try another port and a shorter cable, or ask for smaller pictures (camera.width, camera.height). Answers " +
	"come back with the next whole picture."

// health returns the health for pictures that are not good.
func (c *pictureCheck) health(s pictureState) live.Health {
	switch s {
	case pictureDark:
		return live.Health{Code: live.Dark, Title: "Black picture", Detail: "The camera's pictures are black.", Advice: "Take the cap " +
			"off the lens and switch the light on."}
	case pictureBlank:
		return live.Health{Code: live.Dark, Title: "Blank picture", Detail: "The camera's pictures show one grey level and nothing " +
			"else.", Advice: "Check whether something is in front of the lens, or a light shines into it."}
	}
	if s == pictureTorn {
		return live.Health{Code: live.Torn, Title: "Broken picture", Detail: "A part of the camera's picture is missing.", Advice: tornAdvice}
	}
	detail := fmt.Sprintf("The camera has sent exactly the same picture for %.1f s or more. A working camera never does.",
		c.frozenAfter.Seconds())
	if c.frozenMost > c.frozenAfter {
		detail = fmt.Sprintf("The stream has shown exactly the same picture for %.1f s or more.", c.mayStand(c.seen).Seconds())
	}
	return live.Health{
		Code: live.Frozen, Title: "Picture frozen", Detail: detail,
		Advice: "Unplug the camera and plug it in again, or restart its stream. Answers come back with the first new picture.",
	}
}
