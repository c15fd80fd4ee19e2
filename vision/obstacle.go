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
	ID      string           // in the scene: the entry's name, or name-2 for a second one
	Entry   *catalogue.Entry // nil: nothing in the catalogue fits
	Flipped bool             // the face that was not traced is up
	Pose    geom.Pose        // of the outline's centroid
	Cov     geom.Cov3        // of the pose: mm, rad; systematic part included
	Outline []geom.Point     // on the table, mm

	OutlinePx []geom.Pixel // of its upper edge, in the picture

	Visible float64 // share of the outline that nothing hides
	Support float64 // share of the visible outline where the edge was seen in its place
	RMS     float64 // of the edges' distances from the outline, mm
	Misfit  float64 // 0…1: how badly the edges fit, those that are missing included
	Region  float64 // 0…1: how badly the picture fits a mat that is bare outside the outline and covered inside
	Lit     float64 // share of the visible outline at which a print ends, not a shadow
	Area    float64 // misfit in area per length of the outline, mm, if the edges did not decide; else 0
	Second  string  // the next best entry or face, or the same one in another pose; "": none came near
	Margin  float64 // by how much the misfit of Second is larger; if Sure, its cost

	Radius float64 // of the outline about its centroid, mm
	Sure   bool    // identified beyond doubt by what lies inside and outside the outline
	Denied bool    // its edges fit, but what lies inside and outside shows another thing
	Known  bool    // it lay there in an earlier picture
	Before bool    // it lay there before the program started, and no picture has shown it since
}

// misfitSigma times the square of a misfit is a standard deviation of the outline, mm. The edges'
// own scatter does not include it, because glare or shadow moves them together. Measured with the
// pictures of docs/accuracy.md: outlines were off by up to 0.9 mm at misfits to 0.25, 1.5 mm at 0.3
// and 3.4 mm at 0.38, at their worst place.
const misfitSigma = 8.0

// Obstacle returns the scene's obstacle.
func (v *ObstacleView) Obstacle() engine.Obstacle {
	misfit := misfitSigma * v.Misfit * v.Misfit
	variance := max(v.Cov[0], v.Cov[4]) + v.Cov[8]*v.Radius*v.Radius + float64(v.Entry.Sigma*v.Entry.Sigma) + misfit*misfit
	return engine.Obstacle{
		ID: v.ID, Kind: v.Entry.Kind, Pose: v.Pose, Outline: v.Entry.Face(v.Flipped),
		Sigma: geom.Length(math.Sqrt(variance)),
	}
}

// AsUnknown returns the unknown object for an obstacle whose identity is in doubt.
func (v *ObstacleView) AsUnknown() UnknownObject {
	area, _ := catalogue.Centroid(v.Outline)
	return UnknownObject{Outline: geom.Polygon(v.Outline).Hull(nil), OutlinePx: v.OutlinePx, Area: math.Abs(area)}
}

// OnePlace reports whether two obstacles lie where there is room for only one. The middle of a bent
// outline may lie outside it.
func OnePlace(a, b *ObstacleView) bool {
	return geom.Polygon(a.Outline).Hull(nil).Contains(b.Pose.Point) || geom.Polygon(b.Outline).Hull(nil).Contains(a.Pose.Point)
}

// UnknownObject is something on the mat that fits nothing in the catalogue.
type UnknownObject struct {
	Outline   []geom.Point // convex, on the table, mm
	OutlinePx []geom.Pixel // the same in the picture
	Area      float64      // mm²
}

// ObstacleSight is what a picture shows of the obstacles.
type ObstacleSight struct {
	// Unseen says in a few words why obstacles are not watched. If it is empty, an obstacle that is
	// not listed is not there, except where Unknown lies.
	Unseen string
	// Captured is the time of the picture that was searched. It may be older than the located picture,
	// because a search takes longer than a frame.
	Captured time.Time
	Views    []ObstacleView     // recognised; unless Unseen, as the scene's obstacles, in their order, then its devices and markers
	Bases    []UnidentifiedBase // bases whose code was not read; the caller makes ships of them
	Unknown  []UnknownObject    // what lies on the mat, could hide or be an obstacle, and is none that is known
	Blind    []engine.BlindArea // where an obstacle would not have been noticed: rectangles along the mat's edges

	// Missed are obstacles of earlier pictures that may still lie there, but are not recognised. Unknown has them too.
	Missed []ObstacleView

	// Adjoins holds points, in mm on the mat, of each thing that lies on the mat and certainly continues under the base next to it.
	Adjoins [][]geom.Point

	// Past says that the camera does not see the obstacles now and reports what it last saw. Fuse
	// treats as unknown whatever no other camera sees.
	Past bool

	// Refining says that there will be a better result although nothing changes: the mean of several
	// pictures, which has less noise, is being made.
	Refining bool

	// Grainy says that the picture has so much noise that nothing is told of miniatures.
	Grainy bool

	Coverage *Coverage // where nothing lies; nil: not known

	// Pushed is by how far the mat lies elsewhere than when it was learnt, at most over all of it. 0: by less than can be told.
	Pushed geom.Length
}

// pushedMost is by how much, in mm, a mat may lie elsewhere than when it was learnt before people are told: another registration of the
// camera may differ by that much.
const pushedMost = 1.5

// DescribePushed says that the mat was pushed, in words; "" where it was not by much. The edges of the play area are the markers'.
func (s *ObstacleSight) DescribePushed() string {
	if s == nil || s.Pushed < pushedMost {
		return ""
	}
	return fmt.Sprintf("the mat lies up to %.0f mm from where it was learnt. Its edges, for ships that flee or are set up, are taken to be "+
		"where the markers show them. Push it back.", float64(s.Pushed))
}

// Lying returns the obstacles that a later search should look for where they lay.
func (s *ObstacleSight) Lying() []ObstacleView { return slices.Concat(s.Views, s.Missed) }

// Reasons why obstacles are not watched.
const (
	UnseenChanging = "the picture is changing"
	UnseenLooking  = "obstacles are being looked for"
	UnseenOtherMat = "the mat does not look like the one that was learnt empty"
	UnseenNoisy    = "the picture is too noisy: give the table more light"
	UnseenLight    = "the mat is much lighter or darker than when it was learnt empty: learn it again"
	UnseenHidden   = "an obstacle would go unnoticed on most of the mat: it is too dark, too bright, too noisy or too mottled"
)

// Reasons why a part of the mat is blind.
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

// Pending reports whether later pictures will give a better result although nothing changes on the
// table.
func (s *ObstacleSight) Pending() bool {
	return s.Unseen == UnseenChanging || s.Unseen == UnseenLooking
}

// OnMat returns the IDs of what is recognised on the mat, and whether something unknown lies there. Where obstacles are not watched,
// nothing is known to be unknown.
func (s *ObstacleSight) OnMat() (ids []string, unknown bool) {
	for i := range s.Views {
		ids = append(ids, s.Views[i].ID)
	}
	return ids, len(s.Unknown) > 0 && s.Unseen == ""
}

// Noisy reports whether a mean of several pictures may show more.
func (s *ObstacleSight) Noisy() bool {
	return s.Unseen != "" && !s.Pending() || s.Grainy ||
		slices.ContainsFunc(s.Blind, func(b engine.BlindArea) bool { return b.Why == BlindNoise })
}

// Unidentified returns the unidentified base of a size within reach of a pose and turned by no more
// than turn, with the nearest of its four headings. It reports false if there is none or more than
// one.
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

// AsUnknown returns the sight with all recognised obstacles turned into unknown objects.
func (s *ObstacleSight) AsUnknown() ObstacleSight {
	out := *s
	out.Views, out.Unknown = nil, slices.Clone(s.Unknown)
	for i := range s.Views {
		out.Unknown = append(out.Unknown, s.Views[i].AsUnknown())
	}
	return out
}

// Into adds what was recognised, and what was not, to a scene.
func (s *ObstacleSight) Into(scene *engine.Scene) {
	// Obstacles come first, so that views and obstacles have the same order.
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
