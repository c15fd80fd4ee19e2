package vision

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/token"
)

// Located is what one frame shows of the table.
type Located struct {
	Scene engine.Scene
	Ships []ShipView // one for each ship of Scene, in the same order

	// Obstacles describes how the scene's obstacles were seen; nil if they are not searched.
	Obstacles *ObstacleSight

	// Doubtful says that the picture may not show the table where the calibration puts it. A Tracker
	// then believes only ships that stand where they stood.
	Doubtful bool

	Duplicates []DuplicateID // codes read in several places, by name
	Raised     []RaisedToken // codes read higher than on a base on the mat, by name
	Spare      []SpareToken  // codes of tokens on the mat without a base, by name
	Small      []SmallToken  // ships whose tokens were printed too small, by name

	Fusion *Fusion // how several cameras' views were combined; nil for one camera's

	Captured time.Time
	Seq      uint64
	Elapsed  time.Duration // what locating took
}

// DuplicateID is a ship's code that one picture shows in several places, and that therefore names
// no ship.
type DuplicateID struct {
	ID       string
	At       []geom.Point // the bases' middles
	Believed *geom.Point  // the one that shows so much more of its code that it must be the ship; nil: none
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

// RaisedToken is a code whose print looks larger than on a base. It names no ship, because its
// place is unknown.
type RaisedToken struct {
	ID     string
	At     geom.Point  // where the base's centre would be if it stood on the mat
	Larger float64     // relative enlargement of its print
	Sigma  float64     // standard deviation of Larger
	Up     geom.Length // height over a base's top, if its print has the right size
}

// String says it for people.
func (t RaisedToken) String() string {
	return fmt.Sprintf("%s at (%.0f, %.0f) mm does not count: its print looks %.1f %% larger than on a base that stands on the mat. "+
		"It is held about %.0f mm too high, or was printed too large", t.ID, t.At.X, t.At.Y, 100*t.Larger, t.Up.Millimeters())
}

// SpareToken is a ship's token that lies on the mat without a base. It names no ship.
type SpareToken struct {
	ID string
	At geom.Point // of the token's middle
}

// String says it for people.
func (t SpareToken) String() string {
	return fmt.Sprintf("%s at (%.0f, %.0f) mm does not count: its token lies flat on the mat, without a base", t.ID, t.At.X, t.At.Y)
}

// SmallToken is a ship whose token was printed too small. The ship counts, but other tokens of its
// sheet may be unreadable.
type SmallToken struct {
	ID      string
	Smaller float64 // by how much: 0.01 is one hundredth
	Sigma   float64 // the standard deviation of that
}

const (
	// The prints of alikeTokens or more tokens are compared. They are alike if each size is within alikeSigmas standard
	// deviations of the mean. alikeFloor, added to each, is what blur and light do to a print's size.
	alikeTokens = 3
	alikeSigmas = 3.0
	alikeFloor  = 0.002
)

// printSize is the relative error of a print's size and its standard deviation.
type printSize struct{ off, sigma float64 }

// commonSize returns the mean of the sizes, and whether all are as near to it as chance allows.
func commonSize(sizes []printSize) (mean float64, alike bool) {
	var sum, weights float64
	for _, s := range sizes {
		w := 1 / (s.sigma*s.sigma + alikeFloor*alikeFloor)
		sum, weights = sum+w*s.off, weights+w
	}
	mean = sum / weights
	return mean, !slices.ContainsFunc(sizes, func(s printSize) bool {
		return math.Abs(s.off-mean) > alikeSigmas*math.Hypot(s.sigma, alikeFloor)
	})
}

// DescribeRaised says for people which codes do not count, and why. Tokens that are all too large
// by the same factor are not in hands: they were printed too large.
func DescribeRaised(all []RaisedToken) (texts []string) {
	var names []string
	var sizes []printSize
	for _, t := range all {
		sizes, names = append(sizes, printSize{t.Larger, t.Sigma}), append(names, t.ID)
	}
	if mean, alike := commonSize(sizes); alike && len(all) >= alikeTokens {
		return []string{fmt.Sprintf("%s do not count: all of them look %.1f %% larger than on a base that stands on the mat. They were printed "+
			"too large (docs/printing.md says how to check that), or the mat lies about %.0f mm higher than its markers",
			strings.Join(names, ", "), 100*mean, all[0].Up.Millimeters()*mean/all[0].Larger)}
	}
	for _, t := range all {
		texts = append(texts, t.String())
	}
	return texts
}

// DescribeSmall says for people which tokens were printed too small, in one sentence if all are too
// small by the same factor.
func DescribeSmall(all []SmallToken) (texts []string) {
	var names []string
	var sizes []printSize
	for _, t := range all {
		sizes, names = append(sizes, printSize{t.Smaller, t.Sigma}), append(names, t.ID)
	}
	mean, alike := commonSize(sizes)
	if alike && len(all) > 0 {
		sizes, names = []printSize{{off: mean}}, []string{strings.Join(names, ", ")}
	}
	for i, s := range sizes {
		texts = append(texts, fmt.Sprintf("Tokens printed at %.1f %% of their size: %s. Ships with such tokens are sometimes missed: "+
			"print them at 100 %% (docs/printing.md says how)", 100*(1-s.off), names[i]))
	}
	return texts
}

// ShipView describes how a ship was seen. Pages draw it over the picture, so that a person can see
// why the program believes the pose.
type ShipView struct {
	ID       string
	Outline  [4]geom.Pixel // of the base's top: front left, front right, rear right, rear left
	Sides    []token.Side  // sides whose code was read and agrees
	Rim      []RimCell     // clockwise all round; nil: its code was not read
	Residual float64       // rms of the fit, grey levels over contrast
	Score    float64       // 0…1: how well the picture agrees with the printed rim
	Fit      geom.Cov3     // the fit's part of the ship's covariance; the rest is the calibration's and the object's own

	// Shared is the part of the ship's covariance that other cameras over the same table share or may
	// share; zero means unknown: possibly all of it.
	Shared geom.Cov3
}

// RimCell describes how a printed cell of a ship's rim was seen.
type RimCell struct {
	At    geom.Point // the middle of its outer edge on the table
	Out   geom.Point // the direction away from the base
	Width float64    // mm
	White bool       // as it is printed
	Seen  bool       // it shows what is printed
	Line  bool       // the white line along the edge next to it is in view
}
