package tablesim

import (
	"image/color"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/jig"
)

// LaidJig is the jig sheet on the table, on which ships' cards are shown to the camera.
type LaidJig struct {
	Pose  geom.Pose // of the corner of the stop; the heading is the arrow's
	Scale float64   // printed size over the designed one; 0: 1
}

const (
	jigSide   = 190.0 // mm, of the sheet
	jigMiddle = 40.0  // of the sheet, from the corner along both axes
	jigArm    = 2.5   // height of the stop
)

// Stand returns a ship whose base stands against the stop in a quarter turn, moved by dx and dy in
// mm along the sheet's axes.
func (l LaidJig) Stand(id string, b engine.Base, turn int, dx, dy float64) engine.Ship {
	s := engine.Ship{ID: id, Base: b, Pose: jig.Place{Pose: l.Pose}.Base(b, turn)}
	s.Pose.Point = s.Pose.Point.Add(geom.Pose{Heading: l.Pose.Heading}.Transform(geom.Point{X: dx, Y: dy}))
	return s
}

// solids returns the sheet and the arms of its stop.
func (l LaidJig) solids(look *Look) ([]solid, error) {
	scale := l.Scale
	if scale == 0 {
		scale = 1
	}
	middle := geom.Pose{Point: l.Pose.Transform(geom.Point{X: jigMiddle, Y: jigMiddle}), Heading: l.Pose.Heading}
	s := &laidStrip{frame: frameOf(middle), halfWidth: scale * jigSide / 2, halfHeight: scale * jigSide / 2, z: float64(jig.Paper), look: look}
	sum := []float64{13, s.x, s.y, s.s, s.c, scale}
	for _, m := range jig.Tags() {
		m.Center = m.Center.Sub(geom.Point{X: jigMiddle, Y: jigMiddle}).Mul(scale)
		m.Size *= geom.Length(scale)
		tag, err := newCard(m, look)
		if err != nil {
			return nil, err
		}
		s.tags = append(s.tags, tag)
	}
	s.id = checksum(sum...)
	out := []solid{s}
	for _, outline := range jig.Arms() {
		out = append(out, newSlab(l.Pose, outline, jigArm, printed(color.RGBA{150, 130, 105, 255}), false, look))
	}
	return out, nil
}

// The script of a source that shows ships' cards: each ship in four quarter turns, then the next
// ship. A hand is over the sheet at the beginning of each turn.
var (
	jigPlace = LaidJig{Pose: pose(75, 72, 8)}
	jigShips = []engine.Ship{{ID: "A1", Base: engine.Small}, {ID: "A2", Base: engine.Small}, {ID: "B1", Base: engine.Medium},
		{ID: "B2", Base: engine.Large}}
)

// DefaultJigTime is the default length of a turn.
const DefaultJigTime = 6 * time.Second

// jigHand is the share of a turn for which a hand is over the sheet.
const jigHand = 0.25

// layJig adds to the table what a frame of a source with Options.Jig shows.
func (s *Source) layJig(t *Table, seq uint64) {
	if s.o.Jig <= 0 {
		return
	}
	at := s.timeOf(seq)
	turn := int(at / s.o.Jig)
	hand := float64(at-time.Duration(turn)*s.o.Jig) < jigHand*float64(s.o.Jig)
	if shown := s.turn.Load(); shown != nil {
		turn, hand = int(*shown), false
	}
	ship := jigShips[turn/jig.Turns%len(jigShips)]
	t.Scene.Obstacles, t.Hands, t.Minis, t.Clutter = nil, nil, nil, nil
	t.Jig, t.Worn = &jigPlace, map[string]Wear{ship.ID: WearStock}
	t.Scene.Ships = []engine.Ship{t.Jig.Stand(ship.ID, ship.Base, turn%jig.Turns, 0, 0)}
	if hand {
		t.Hands = []Hand{{Player: 1, Tip: t.Jig.Pose.Transform(geom.Point{X: 30, Y: 25}), Z: 30 * geom.Millimeter}}
	}
}

// parseJig parses the length of each turn of Options.Jig: seconds, or nothing.
func parseJig(value string) (time.Duration, error) {
	if value == "" {
		return DefaultJigTime, nil
	}
	return parseStay("jig", value)
}

// ShowTurn shows the n-th turn of the script of Options.Jig from the next frame on: the four of the
// first ship, then the next one's. It is safe to call while Next runs.
func (s *Source) ShowTurn(n int) {
	turn := int64(n)
	s.turn.Store(&turn)
}

// Jig returns where the sheet of a source with Options.Jig lies.
func (s *Source) Jig() LaidJig { return jigPlace }
