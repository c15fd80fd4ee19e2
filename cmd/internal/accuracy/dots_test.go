package accuracy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/dots"
	"sightline/vision/look"
	"sightline/vision/renderedtest"
)

// dotTally is what was read of dots.
type dotTally struct {
	ships, dots, inView     int // dots with 70 % in view
	read, readInView, wrong int
	named, misnamed         int // ships, of three alike with numbers that follow each other
}

func (d *dotTally) String() string {
	return fmt.Sprintf("%d dots, %d in view: %d read, %d of those in view, %d wrong; %d ships: %d named, %d named wrongly", d.dots, d.inView,
		d.read, d.readInView, d.wrong, d.ships, d.named, d.misnamed)
}

// dottedShip is what the truth says of a ship with dots, the left one first.
type dottedShip struct {
	ID    string `json:"id"`
	Stock struct {
		Aids []struct {
			Colour  string  `json:"colour"`
			Visible float64 `json:"visible"`
		} `json:"aids"`
	} `json:"stock"`
}

// TestDots reads the dots of rendered ships (SIGHTLINE_DOTS lists the pictures' folders; those of odd numbers have set the
// limits), at poses as a look gives them, and those of ships that have none, at their poses and in a thousand other places.
func TestDots(t *testing.T) {
	if testing.Short() {
		t.Skip("all of the stock pictures")
	}
	for _, dir := range filepath.SplitList(os.Getenv("SIGHTLINE_DOTS")) {
		r, f := readRendered(t, dir)
		reader, ok := dots.NewReader(r.table(), inColor(t, f, filepath.Join(dir, r.Image)))
		require.True(t, ok, dir)
		var truth struct {
			Ships []dottedShip `json:"ships"`
		}
		renderedtest.Read(t, dir, &truth)
		var tally dotTally
		rng := rand.New(rand.NewPCG(5, 6))
		for i, w := range r.bases(t) {
			tally.add(t, &truth.Ships[i], reader.Read(w.base, offBy(rng, w.pose, 0.15, 0.2), look.CardTop))
		}
		t.Logf("%s: %v", dir, &tally)
		assert.Zero(t, tally.wrong+tally.misnamed, dir)
	}
	none, read, onShips := 0, 0, 0
	for _, dir := range stockPictures(t) {
		r, f := readRendered(t, dir)
		reader, ok := dots.NewReader(r.table(), inColor(t, f, filepath.Join(dir, r.Image)))
		require.True(t, ok, dir)
		rng := rand.New(rand.NewPCG(5, 7))
		var poses []trueBase
		for _, w := range r.bases(t) {
			poses = append(poses, trueBase{base: w.base, pose: offBy(rng, w.pose, 0.15, 0.2)})
		}
		for range 1000 {
			at := geom.Point{X: 30 + 850*rng.Float64(), Y: 30 + 850*rng.Float64()}
			poses = append(poses, trueBase{base: engine.Small, pose: geom.Pose{Point: at, Heading: geom.Angle(2 * math.Pi * rng.Float64())}})
		}
		for i, w := range poses {
			for _, c := range reader.Read(w.base, w.pose, look.CardTop) {
				none++
				if c == dots.None {
					continue
				}
				read++
				if i < len(r.bases(t)) {
					onShips++
				}
			}
		}
	}
	t.Logf("where there is none: %d of %d places read, %d of them on ships", read, none, onShips)
	assert.LessOrEqual(t, float64(read), 0.0005*float64(none))
}

// offBy is a pose that is off by normal errors in mm and degrees.
func offBy(rng *rand.Rand, p geom.Pose, mm, deg float64) geom.Pose {
	p.Point = p.Point.Add(geom.Point{X: mm * rng.NormFloat64(), Y: mm * rng.NormFloat64()})
	p.Heading += geom.Angle(deg*rng.NormFloat64()) * geom.Degree
	return p
}

func (d *dotTally) add(t *testing.T, truth *dottedShip, got dots.Reading) {
	d.ships++
	for i, aid := range truth.Stock.Aids {
		d.dots++
		seen := aid.Visible > 0.7
		if seen {
			d.inView++
		}
		if os.Getenv("DOTS_EACH") != "" {
			t.Logf("%s %d: %s, %.2f in view, read %v", truth.ID, i, aid.Colour, aid.Visible, got[i])
		}
		switch {
		case got[i] == dots.None:
			continue
		case got[i].String() != aid.Colour:
			d.wrong++
		}
		d.read++
		if seen {
			d.readInView++
		}
	}
	n, err := strconv.Atoi(truth.ID[1:])
	require.NoError(t, err)
	alike := []string{truth.ID}
	for i := 1; i < 3; i++ {
		alike = append(alike, fmt.Sprintf("%c%d", truth.ID[0], 1+(n+i-1)%18))
	}
	if id, ok := got.Resolve(alike); ok {
		d.named++
		if id != truth.ID {
			d.misnamed++
		}
	}
}
