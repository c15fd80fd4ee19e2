package vision

import (
	"fmt"
	"strings"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// Located is what one frame says about the table.
type Located struct {
	Scene engine.Scene
	Ships []ShipView // one for each ship of Scene, in the same order

	// Obstacles is how the scene's obstacles were seen; nil when nobody looks for them.
	Obstacles *ObstacleSight

	// Doubtful says that the picture may not show the table as the calibration has it: a
	// Tracker believes then what stands where it stood, and nothing new.
	Doubtful bool

	Duplicates []DuplicateID // codes that were read in several places; in the order of their names

	Fusion *Fusion // how several cameras' views became this one; nil: it is one camera's

	Captured time.Time
	Seq      uint64
	Elapsed  time.Duration // what locating took
}

// DuplicateID is a ship's code that one picture shows in several places, and so names no ship.
type DuplicateID struct {
	ID       string
	At       []geom.Point // the bases' middles
	Believed *geom.Point  // the one that shows so much more of its code that it is the ship; nil: none
}

// String says it for people: "A1 is seen twice: at (300, 300) and (650, 300) mm: ...".
func (t DuplicateID) String() string {
	places := make([]string, len(t.At))
	for i, p := range t.At {
		places[i] = fmt.Sprintf("(%.0f, %.0f)", p.X, p.Y)
	}
	times := "twice"
	if n := len(places); n > 2 {
		times = fmt.Sprintf("%d times", n)
	}
	text := fmt.Sprintf("%s is seen %s: at %s mm", t.ID, times, strings.Join(places, " and "))
	if t.Believed != nil {
		return text + fmt.Sprintf("; the one at (%.0f, %.0f), which shows twice as much of its code or more, counts", t.Believed.X, t.Believed.Y)
	}
	return text + ", and neither counts: take one away, or print another token for it"
}

// ShipView is how a ship was seen: what a page draws over the picture so that a
// person can see why the program believes what it says.
type ShipView struct {
	ID       string
	Outline  [4]geom.Pixel // of the base's top: front left, front right, rear right, rear left
	Sides    []token.Side  // sides whose code was read and agrees
	Residual float64       // rms of the fit, grey levels over contrast
	Score    float64       // 0…1: how well the picture agrees with the printed rim
	Fit      geom.Cov3     // the fit's part of the ship's covariance; the rest is the calibration's and the object's own

	// Shared is the part of the ship's covariance that another camera over the same table
	// shares or may share; zero: nobody knows, all of it may be.
	Shared geom.Cov3
}
