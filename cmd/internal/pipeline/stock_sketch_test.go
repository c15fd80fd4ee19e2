package pipeline

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/look"
	"sightline/vision/token"
)

// A sketchedTable draws stock ships and hands so plainly that a game takes seconds, and finds their cards by the truth, as far as hands
// leave them in view: what is tried is what the tracker and the names make of it.
type sketchedTable struct {
	edgyLocator
	g       *stockGame
	own     bool            // each ship has a look of its own
	covered map[string]bool // by hands, in the pictures that are shown
	hands   bool            // there are some
	found   []look.Sight
	rng     *rand.Rand
}

const (
	sketchReach = 45 * geom.Millimeter // of a hand
	sketchNoise = 0.06                 // mm and degrees, standard deviation
)

// draw draws the table as it is, and decides which ships the hands leave in view.
func (s *sketchedTable) draw(cam *calibration.Camera) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, cam.Width, cam.Height))
	for i := range img.Pix {
		img.Pix[i] = uint8(36 + uint32(i)*2654435761>>29) // as rough as prints are
		if i%img.Stride > cam.Width*4/5 {                 // beside the mat
			img.Pix[i] += 90
		}
	}
	came := len(s.g.sim.Hands) > 0 && !s.hands // what they cover they cover until they go
	if s.hands = len(s.g.sim.Hands) > 0; came || !s.hands {
		s.covered = map[string]bool{}
	}
	for _, ship := range s.g.truth.Ships {
		s.disc(img, cam, ship.Pose.Point, 30, func(p geom.Point) (uint8, bool) {
			q := ship.Pose.Inverse(p)
			deep := 20 - max(math.Abs(q.X), math.Abs(q.Y))
			if deep < 0 {
				return 0, false
			}
			if deep < 2 {
				return 15, true
			}
			return uint8(70 + 60*(int(math.Floor(q.X/5))*3+int(math.Floor(q.Y/5))*5&3)), true
		})
		for _, h := range s.g.sim.Hands {
			if came && ship.Pose.Distance(h.Tip) < sketchReach && s.rng.Float64() < 0.6 {
				s.covered[ship.ID] = true
			}
		}
	}
	for _, h := range s.g.sim.Hands {
		s.disc(img, cam, h.Tip, float64(sketchReach), func(p geom.Point) (uint8, bool) {
			d := float64(p.Distance(h.Tip))
			return 150, d < float64(sketchReach) && math.Mod(d, 15) < 13
		})
	}
	return img
}

// disc gives the pixels round a point the light that ink says.
func (s *sketchedTable) disc(img *image.Gray, cam *calibration.Camera, at geom.Point, radius float64, ink func(geom.Point) (uint8, bool)) {
	middle, ok := cam.PixelOf(at, token.BaseTop)
	r := int(radius) + 2
	for y := int(middle.Y) - r; ok && y <= int(middle.Y)+r; y++ {
		for x := int(middle.X) - r; x <= int(middle.X)+r; x++ {
			p, ok := cam.PointAt(geom.Pixel{X: float64(x), Y: float64(y)}, token.BaseTop)
			if v, inked := ink(p); ok && inked && image.Pt(x, y).In(img.Rect) {
				img.Pix[y*img.Stride+x] = v
			}
		}
	}
}

// kind is which of the cards a ship carries; those of one kind look the same.
func (s *sketchedTable) kind(id string) string {
	if slices.Contains(s.g.alike, id) {
		return s.g.alike[0]
	}
	return id
}

// looksOf are the looks that fit a ship's card.
func (s *sketchedTable) looksOf(id string) (out []*look.Look) {
	for _, ship := range append(slices.Clone(s.g.alike), "B1") {
		switch kind := s.kind(ship); {
		case kind != s.kind(id):
		case s.own || kind == ship:
			l := &look.Look{Name: ship, Ships: []string{ship}, Base: engine.Small}
			if !s.own && slices.Contains(s.g.alike, ship) {
				l.Ships = s.g.alike
			}
			out = append(out, l)
		}
	}
	return out
}

// measured is a pose as a picture gives it.
func (s *sketchedTable) measured(p geom.Pose) geom.Pose {
	p.X, p.Y = p.X+sketchNoise*s.rng.NormFloat64(), p.Y+sketchNoise*s.rng.NormFloat64()
	p.Heading += geom.Angle(sketchNoise*s.rng.NormFloat64()) * geom.Degree
	return p
}

func (s *sketchedTable) Locate(f vision.Frame) (vision.Located, error) {
	return vision.Located{Captured: f.Captured, Seq: f.Seq,
		Scene: engine.Scene{MatWidth: s.g.truth.MatWidth, MatHeight: s.g.truth.MatHeight}}, nil
}

func (s *sketchedTable) ByLook(_ vision.Frame, h look.Hint, ship engine.Ship) (engine.Ship, vision.ShipView, bool, error) {
	for _, o := range s.g.truth.Ships {
		turn := math.Abs(float64((o.Pose.Heading - h.Pose.Heading).Signed()))
		if s.covered[o.ID] || o.Pose.Distance(h.Pose.Point) > h.Reach || turn > float64(h.Turn) && h.Turn < math.Pi {
			continue
		}
		for _, l := range s.looksOf(o.ID) {
			if h.Look != "" && h.Look != l.Name || h.Look == "" && h.Ship != "" && !l.Carries(h.Ship) {
				continue
			}
			ship.Pose, ship.Seen, ship.Look = s.measured(o.Pose), "look", l.Name
			ship.Covariance = geom.Cov3{0.04, 0, 0, 0, 0.04, 0, 0, 0, 1e-5}
			v := vision.ShipView{ID: ship.ID, Fit: geom.Cov3{0.01, 0, 0, 0, 0.01, 0, 0, 0, 3e-6}}
			for i, c := range [4]geom.Point{{X: -20, Y: 20}, {X: 20, Y: 20}, {X: 20, Y: -20}, {X: -20, Y: -20}} {
				v.Outline[i], _ = s.g.camera.PixelOf(ship.Pose.Transform(c), token.BaseTop)
			}
			return ship, v, true, nil
		}
	}
	return ship, vision.ShipView{}, false, nil
}

// Rest finds what stands in view and is not followed, unless a hand is there: hands do not rest.
func (s *sketchedTable) Rest(_ vision.Frame, tracked *vision.Tracked) bool {
	var found []look.Sight
	if len(s.g.sim.Hands) > 0 {
		return false
	}
	for _, o := range s.g.truth.Ships {
		known := slices.ContainsFunc(tracked.Tracks, func(k vision.Track) bool {
			return k.State.Stands() && k.Ship.Pose.Distance(o.Pose.Point) < 20
		})
		if known || s.covered[o.ID] {
			continue
		}
		fit := s.looksOf(o.ID)
		s.rng.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
		found = append(found, look.Sight{Look: fit[0], Alike: fit[1:], Pose: s.measured(o.Pose), Evidence: 30, Margin: 20, Counted: true})
	}
	if s.found == nil && len(found)+len(tracked.Tracks) > 0 {
		s.found = append([]look.Sight{}, found...)
	}
	return s.found != nil
}

func (s *sketchedTable) Ready() bool { return s.found != nil }

func (s *sketchedTable) Found(vision.Frame) ([]look.Sight, bool, bool) {
	found := s.found
	s.found = nil
	return found, true, found != nil
}

func (s *sketchedTable) Turned() []*look.TurnedError { return nil }

// The same games with drawn ships: many more of them.
func TestStockShipsSketched(t *testing.T) {
	playStockGames(t, 1, 4, func(t *testing.T, n int) *stockGame { return newStockGame(t, uint64(n), 3+n%4, n%2 == 1, true) })
}
