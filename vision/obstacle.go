package vision

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/catalogue"
	"sightline/vision/token"
)

// ObstacleView is an obstacle as a picture shows it.
type ObstacleView struct {
	ID      string           // in the scene: the entry's name, or name-2 where it lies there twice
	Entry   *catalogue.Entry // nil: nothing in the catalogue fits
	Flipped bool             // the other face than the traced one is up
	Pose    geom.Pose        // of the outline's centroid
	Cov     geom.Cov3        // of the pose: mm, rad; systematic part included
	Outline []geom.Point     // on the table, mm

	OutlinePx []geom.Pixel // of its upper edge, in the picture

	Visible float64 // share of the outline that nothing hides
	Support float64 // share of the visible outline where the edge was seen in its place
	RMS     float64 // of the edges' distances from the outline, mm
	Misfit  float64 // 0…1: how badly the edges fit, those that are missing included
	Region  float64 // 0…1: how badly it fits that the mat is bare outside of the outline and not inside
	Lit     float64 // share of the visible outline where a print that is no shadow ends at it
	Area    float64 // where edges did not decide: how much area is wrong, over the length of the outline, mm; else 0
	Second  string  // the next best entry or face, or the same one lying otherwise; empty: none came near
	Margin  float64 // by how much the misfit of that one is larger; of the cost, when it is sure

	Radius float64 // of the outline about its centroid, mm
	Sure   bool    // beyond doubt by what lies inside and outside of it
	Denied bool    // its edges fit, but what lies inside and outside is another thing
	Known  bool    // it lay there in an earlier picture
}

// misfitSigma times the square of a misfit is a standard deviation of the outline, mm:
// what the edges' own scatter does not show, because glare or shadow moves them
// together. Measured with the pictures of docs/accuracy.md: outlines were off by up to
// 0.9 mm at misfits to 0.25, 1.5 mm at 0.3 and 3.4 mm at 0.38, at their worst place.
const misfitSigma = 8.0

// Obstacle returns what stands in the scene.
func (v *ObstacleView) Obstacle() engine.Obstacle {
	misfit := misfitSigma * v.Misfit * v.Misfit
	variance := max(v.Cov[0], v.Cov[4]) + v.Cov[8]*v.Radius*v.Radius + float64(v.Entry.Sigma*v.Entry.Sigma) + misfit*misfit
	return engine.Obstacle{
		ID: v.ID, Kind: v.Entry.Kind, Pose: v.Pose, Outline: v.Entry.Face(v.Flipped),
		Sigma: geom.Length(math.Sqrt(variance)),
	}
}

// AsUnknown is an obstacle that may not be what it was taken for.
func (v *ObstacleView) AsUnknown() UnknownObject {
	area, _ := catalogue.Centroid(v.Outline)
	return UnknownObject{Outline: geom.Polygon(v.Outline).Hull(nil), OutlinePx: v.OutlinePx, Area: math.Abs(area)}
}

// OnePlace reports whether two obstacles lie where only one of them can. A bent outline's
// middle lies outside of it.
func OnePlace(a, b *ObstacleView) bool {
	return geom.Polygon(a.Outline).Hull(nil).Contains(b.Pose.Point) || geom.Polygon(b.Outline).Hull(nil).Contains(a.Pose.Point)
}

// UnknownObject is something on the mat that nothing in the catalogue fits.
type UnknownObject struct {
	Outline   []geom.Point // convex, on the table, mm
	OutlinePx []geom.Pixel // the same in the picture
	Area      float64      // mm²
}

// ObstacleSight is what a picture says of the obstacles on the table.
type ObstacleSight struct {
	// Unseen says in a few words why obstacles are not watched; empty when they are,
	// so one that is not listed is not there, except where Unknown lies.
	Unseen string
	// Captured is when the picture was taken that the rest speaks of. It may be older than
	// the one that was located: a search takes longer than a picture lasts.
	Captured time.Time
	Views    []ObstacleView     // recognised; unless Unseen, as the scene's obstacles, in their order, then its devices and markers
	Bases    []UnidentifiedBase // bases whose code is not read; whoever asks makes ships of them
	Unknown  []UnknownObject    // what lies on the mat, could hide or be an obstacle, and is none that is known
	Blind    []engine.BlindArea // where an obstacle would not have been noticed: rectangles along the mat's edges

	// Past says that the camera does not see the obstacles now, and that this is what it saw
	// before: Fuse takes what no other camera sees of it for things that are not known.
	Past bool

	// Refining says that more is to come though nothing changes: the mean of the pictures that are
	// being gathered has less noise than the one that this speaks of.
	Refining bool

	Coverage *Coverage // where nothing lies; nil: not known
}

// Why obstacles are not watched, as far as it is the same words each time.
const (
	UnseenChanging = "the picture is changing"
	UnseenLooking  = "obstacles are being looked for"
	UnseenOtherMat = "the mat does not look like the one that was learnt empty"
	UnseenHidden   = "most of the mat is outside the picture, white with glare, or lost in noise"
)

// Why a part of the mat is blind.
const (
	BlindGlare   = "glare"
	BlindOutside = "outside the picture"
	BlindNoise   = "noise"
)

// DescribeBlind says in words how much of the mat is blind and why, "an obstacle would not be
// noticed on 120 cm² of the mat (glare 100, noise 20)"; "" when nothing is.
func DescribeBlind(areas []engine.BlindArea) string {
	by := map[string]float64{}
	total := 0.0
	for _, a := range areas {
		cm2 := math.Abs(a.Outline.Area()) / 100
		by[a.Why] += cm2
		total += cm2
	}
	if total == 0 {
		return ""
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%s %.0f", cmp.Or(why, "not said"), by[why]))
	}
	return fmt.Sprintf("an obstacle would not be noticed on %.0f cm² of the mat (%s)", total, strings.Join(parts, ", "))
}

// Pending reports whether the next pictures will say more of the obstacles though nothing
// changes on the table.
func (s *ObstacleSight) Pending() bool {
	return s.Unseen == UnseenChanging || s.Unseen == UnseenLooking
}

// Noisy reports whether a mean of several pictures may show more.
func (s *ObstacleSight) Noisy() bool {
	return s.Unseen == UnseenHidden || s.Unseen == UnseenOtherMat ||
		slices.ContainsFunc(s.Blind, func(b engine.BlindArea) bool { return b.Why == BlindNoise })
}

// Unidentified returns the base without a name that stands within reach of a pose, is of the size and is turned no
// further, its heading being the one of four that is nearest. It reports false when there is none or more than one.
func (s *ObstacleSight) Unidentified(base engine.Base, pose geom.Pose, reach geom.Length, turn geom.Angle) (found UnidentifiedBase,
	ok bool) {
	if s == nil {
		return found, false
	}
	for i := range s.Bases {
		if u := &s.Bases[i]; u.is(base, pose, reach, turn) {
			if ok {
				return UnidentifiedBase{}, false
			}
			found, ok = *u, true
		}
	}
	off := token.AlikeTurn(base, found.Pose.Heading-pose.Heading)
	found.Pose.Heading = (pose.Heading + geom.Angle(off)).Normalized()
	return found, ok
}

// AsUnknown returns a sight that no longer says what lies there, but that something does.
func (s *ObstacleSight) AsUnknown() ObstacleSight {
	out := *s
	out.Views, out.Unknown = nil, slices.Clone(s.Unknown)
	for i := range s.Views {
		out.Unknown = append(out.Unknown, s.Views[i].AsUnknown())
	}
	return out
}

// Into puts what was recognised into a scene, and what was not.
func (s *ObstacleSight) Into(scene *engine.Scene) {
	// Obstacles come first, so that each view stands where its obstacle does.
	slices.SortStableFunc(s.Views, func(a, b ObstacleView) int {
		return cmp.Compare(catalogue.RoleOf(a.Entry.Kind), catalogue.RoleOf(b.Entry.Kind))
	})
	for i := range s.Views {
		o := s.Views[i].Obstacle()
		piece := engine.Token{ID: o.ID, Kind: o.Kind, Pose: o.Pose, Outline: o.Outline, Sigma: o.Sigma}
		switch catalogue.RoleOf(o.Kind) {
		case catalogue.RoleDevice:
			scene.Devices = append(scene.Devices, piece)
		case catalogue.RoleMarker:
			scene.Markers = append(scene.Markers, piece)
		default:
			scene.Obstacles = append(scene.Obstacles, o)
		}
	}
	for _, t := range s.Unknown {
		scene.Unknown = append(scene.Unknown, t.Outline)
	}
	scene.Blind = append(scene.Blind, s.Blind...)
}
