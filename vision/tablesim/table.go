package tablesim

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/token"
)

// Table is everything that a picture shows. Ships carry the token of their id ("A1"…"B18",
// token.CodeOfID). A Table is a plain value that may be changed between renders. Render is safe for
// concurrent use while the table does not change.
type Table struct {
	Camera calibration.Camera
	Layout calibration.Layout // the mat's size and its markers
	Scene  engine.Scene       // ships and obstacles; covariances are ignored

	Minis   map[string]Mini        // miniatures by ship id; a ship may have none
	Heights map[string]geom.Length // by ship id: how much higher than token.BaseTop its top really is
	Worn    map[string]Wear        // by ship id: tokens whose code cannot be read
	Prints  map[string]Print       // by ship id: distortions of its token's print; none by default
	Cards   map[string]string      // by ship id: the ship whose card it carries, under WearStock; its own by default
	Spares  []Spare                // tokens that lie on the mat without a base
	Clutter []Clutter              // what else lies about
	Strips  []LaidStrip            // of the check card
	Jig     *LaidJig               // the sheet on which ships' cards are shown; nil: none
	Hands   []Hand
	Board   *HeldBoard // held before the camera; nil: none

	Projector *Projector // over the mat; nil: none

	Look    Look
	Model   *CameraModel // the camera model; nil: a plain camera with Look's blur and noise
	Seed    uint64       // of the mat's pattern and the noise
	Shot    uint64       // counts the pictures of a table, each with noise of its own
	Workers int          // goroutines to render with; 0: one for each processor
}

// MiniKind is the form of a miniature.
type MiniKind int

// The forms.
const (
	MiniOval  MiniKind = iota // a disc
	MiniWedge                 // a dart with the point ahead
	MiniCross                 // a fuselage with wings
	MiniTwin                  // a ball between two upright panels
	miniKinds
)

// Mini is a miniature: a solid on a clear peg, centred over its base.
type Mini struct {
	Kind          MiniKind
	Width, Length geom.Length // across and along the heading
	Z             geom.Length // height of its underside over the mat
	Thick         geom.Length
	Color         color.RGBA // sRGB
}

// Print is the distortion of a printed token: the relative enlargement of its width and length, and
// the shift of each row to the right as a share of its distance ahead of the middle.
type Print struct{ Wider, Longer, Sheared float64 }

// drawn returns the place of the token's artwork that was printed at a place of its base's top.
func (p Print) drawn(x, y float64) geom.Point {
	y /= 1 + p.Longer
	return geom.Point{X: x/(1+p.Wider) - p.Sheared*y, Y: y}
}

// Spare is a ship's token that lies on the mat without a base, its print up.
type Spare struct {
	ID   string // the ship's
	Base engine.Base
	Pose geom.Pose
}

// Wear is a state of a token's rim.
type Wear int

// The states.
const (
	WearNone   Wear = iota
	WearCells       // the white cells are worn off, the keyline is there
	WearBleach      // keyline and cells are all white, as under glare
	WearPanel       // not our token: a card of one middling grey
	WearStock       // not our token: a card that lies in the plastic's frame, as a base comes out of the publisher's box
)

// ink returns the ink at a place of a token's top, a number of mm from its edge.
func (w Wear) ink(c color.RGBA, deep float64) color.RGBA {
	switch {
	case w == WearPanel:
		return color.RGBA{128, 132, 136, 255}
	case deep > float64(token.RimDeep):
		return c
	case w == WearBleach:
		return token.InkWhite
	case w == WearCells && deep > float64(token.Keyline):
		return token.InkDark
	}
	return c
}

// Clutter is a flat object: a template, a card, a die; with Corners, a token or a dial.
type Clutter struct {
	Pose          geom.Pose   // of its centre
	Width, Length geom.Length // across and along the heading
	Height        geom.Length
	Color         color.RGBA // sRGB
	Corners       int        // of the regular polygon, stretched into Width and Length; below 3: a rectangle
}

// outline returns the corners in the object's own frame.
func (c Clutter) outline() (out []geom.Point) {
	w, l := float64(c.Width)/2, float64(c.Length)/2
	if c.Corners < 3 {
		return []geom.Point{{X: -w, Y: -l}, {X: w, Y: -l}, {X: w, Y: l}, {X: -w, Y: l}}
	}
	for i := range c.Corners {
		s, cos := math.Sincos(2 * math.Pi * float64(i) / float64(c.Corners))
		out = append(out, geom.Point{X: w * cos, Y: l * s})
	}
	return out
}

// Hand is a player's hand over the table, with the arm reaching back over the
// player's own edge.
type Hand struct {
	Player int         // 1 reaches in from y = 0, 2 from the far edge
	Tip    geom.Point  // of the fingers
	Z      geom.Length // height of the fingers
}

// MatStyle is a mat's print.
type MatStyle int

// The styles.
const (
	MatStars MatStyle = iota // stars, a nebula and a planet on black
	MatPlain                 // one grey
	MatDots                  // grey with white discs every 100 mm, for measuring
	MatIce                   // a light mat
	MatWhite                 // nearly as white as paper
	MatWood                  // a bare table of brown wood, with its grain
	MatSand                  // a light print of sand: dunes, and grains next to each other
)

var matNames = [...]string{MatStars: "stars", MatPlain: "plain", MatDots: "dots", MatIce: "ice", MatWhite: "white", MatWood: "wood",
	MatSand: "sand"}

// MatNamed returns the style of a name.
func MatNamed(name string) (MatStyle, error) {
	k := slices.Index(matNames[:], name)
	if k < 0 {
		return 0, fmt.Errorf("mat: expected one of %s, got %q", strings.Join(matNames[:], ", "), name)
	}
	return MatStyle(k), nil
}

// String returns the style's name.
func (m MatStyle) String() string { return matNames[m] }

// Plastic is what bases are made of.
type Plastic int

// The plastics.
const (
	PlasticBlack Plastic = iota
	PlasticClear         // translucent: the mat shines through the sides
	PlasticWhite         // nearly as white as paper
)

// Look is how the table appears to the camera.
type Look struct {
	Mat     MatStyle
	Plastic Plastic

	Light   float64    // level of a perfectly white surface, as a share of full scale
	Slope   geom.Point // shadows move this many mm for each mm of height
	Shadow  float64    // 0…1, how deep shadows are
	Spread  float64    // penumbra: mm for each mm of height
	Falloff float64    // 0…1, share of light missing in the picture's corners (vignetting)

	Blur      float64 // sigma of the optical blur, px, without the pixel's own area
	FullWell  float64 // electrons at full scale (shot noise); 0: none
	ReadNoise float64 // sigma as a share of full scale; 0: none

	Samples int // n: up to n×n rays for one pixel; 0: defaultSamples
}

// defaultSamples is the default of Look.Samples.
const defaultSamples = 5

// DefaultLook returns a usual look: a dark mat in even light, a sharp lens.
func DefaultLook() Look {
	return Look{
		Light: 0.8, Slope: geom.Point{X: 0.25, Y: -0.15}, Shadow: 0.45, Spread: 0.25, Falloff: 0.25,
		Blur: 0.55, FullWell: 8000, ReadNoise: 0.0015,
	}
}

func (l Look) validate() error {
	switch {
	case !(l.Light > 0) || l.Light > 4:
		return fmt.Errorf("tablesim: look: light: expected 0 < light ≤ 4, got %v", l.Light)
	case !(l.Blur >= 0) || l.Blur > 3:
		return fmt.Errorf("tablesim: look: blur: expected 0…3 px, got %v", l.Blur)
	case !(l.FullWell >= 0) || !(l.ReadNoise >= 0) || l.ReadNoise > 1:
		return fmt.Errorf("tablesim: look: noise: full well %v and read noise %v must not be negative", l.FullWell, l.ReadNoise)
	case l.Samples < 0 || l.Samples > 16:
		return fmt.Errorf("tablesim: look: samples: expected 0…16, got %d", l.Samples)
	}
	return nil
}

// Heights over the mat that the printed and moulded parts have (rules/dimensions).
const (
	obstacleTop = 2.0 // cardboard
	spareTop    = 0.3 // paper that was cut out
	guideTop    = 3.2
	guideWide   = 3.3
	guideGap    = 20.2
	pegRadius   = 1.5
	matThick    = 2.0 // the table is that much lower
)

// guides returns the four guides' outlines in the base's frame.
func guides(b engine.Base) [4]box {
	_, length := b.Size()
	h, out := float64(length)/2, float64(engine.GuideReach(b))
	const in, far = guideGap / 2, guideGap/2 + guideWide
	return [4]box{{-far, h, -in, h + out}, {in, h, far, h + out}, {-far, -h - out, -in, -h}, {in, -h - out, far, -h}}
}

// baseTop returns the true height of a ship's top.
func (t *Table) baseTop(id string) float64 { return float64(token.BaseTop + t.Heights[id]) }

// Validate reports what cannot be rendered.
func (t *Table) Validate() error {
	if err := t.Look.validate(); err != nil {
		return err
	}
	if t.Model != nil {
		if err := t.Model.validate(); err != nil {
			return err
		}
	}
	if !(t.Layout.Width > 0) || !(t.Layout.Height > 0) {
		return fmt.Errorf("tablesim: layout: the mat must have a size, got %v × %v", t.Layout.Width, t.Layout.Height)
	}
	for _, s := range t.Spares {
		if v := s.Pose.X + s.Pose.Y + float64(s.Pose.Heading); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("tablesim: spare token %s: pose must be finite", s.ID)
		}
	}
	for _, s := range t.Scene.Ships {
		if h := t.baseTop(s.ID); !(h > 0) || h > 20 {
			return fmt.Errorf("tablesim: ship %s: top at %v mm, expected 0…20", s.ID, h)
		}
		if p := t.Prints[s.ID]; !(max(math.Abs(p.Wider), math.Abs(p.Longer), math.Abs(p.Sheared)) < 0.5) {
			return fmt.Errorf("tablesim: ship %s: expected a print that is out of true by less than a half, got %+v", s.ID, p)
		}
		if v := s.Pose.X + s.Pose.Y + float64(s.Pose.Heading); math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("tablesim: ship %s: pose must be finite", s.ID)
		}
	}
	return nil
}

// Render renders the table. The same table gives the same picture, byte for byte,
// whatever the number of workers.
func (t *Table) Render() (vision.Frame, Truth, error) {
	r, err := newRenderer(t)
	if err != nil {
		return vision.Frame{}, Truth{}, err
	}
	if err := r.update(t); err != nil {
		return vision.Frame{}, Truth{}, err
	}
	f, err := r.take(1+t.Shot, 1)
	return f, witness{r.lens, r.solids}.truth(t), err
}
