package tablesim

import (
	"math"
	"math/rand/v2"
	"time"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

// The scripted game. Ten ships stand so that all interesting answers occur: A1 has B1 at range 2 in
// its front arc, A2 has B2 in its bullseye at range 1, A3 and B3 are within 0.3 mm of the end of
// range 1 (which no camera can decide), A4 and B4 touch side by side, and a rock lies between A5
// and B5. Then the players execute one maneuver after the other. Each moved ship ends where it
// began (four turns, a Koiogran turn there and one back), so that the game can repeat.

// pose is a pose with its heading in degrees.
func pose(x, y, heading float64) geom.Pose {
	return geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(heading) * geom.Degree}
}

var scriptShips = []engine.Ship{
	{ID: "A1", Player: 1, Base: engine.Small, Pose: pose(320, 150, 0)},
	{ID: "B1", Player: 2, Base: engine.Small, Pose: pose(330, 340, 180)},
	{ID: "A2", Player: 1, Base: engine.Medium, Pose: pose(600, 160, 0)},
	{ID: "B2", Player: 2, Base: engine.Small, Pose: pose(600, 280, 200)},
	{ID: "A3", Player: 1, Base: engine.Large, Pose: pose(150, 480, 90)},
	{ID: "B3", Player: 2, Base: engine.Small, Pose: pose(310.15, 485, 270)},
	{ID: "A4", Player: 1, Base: engine.Small, Pose: pose(700, 560, 45)},
	{ID: "B4", Player: 2, Base: engine.Small, Pose: pose(700+40*math.Sqrt2/2, 560-40*math.Sqrt2/2, 225)},
	{ID: "A5", Player: 1, Base: engine.Medium, Pose: pose(440, 440, 0)},
	{ID: "B5", Player: 2, Base: engine.Large, Pose: pose(500, 760, 180)},
}

var scriptRocks = []engine.Obstacle{
	{ID: "rock1", Kind: "asteroid", Pose: pose(480, 570, 20), Outline: rock(34, 30)},
	{ID: "rock2", Kind: "debris", Pose: pose(820, 330, 75), Outline: rock(40, 27)},
	{ID: "rock3", Kind: "gas", Pose: pose(270, 680, 140), Outline: rock(38, 33)},
}

// rock is an uneven oval.
func rock(a, b float64) []geom.Point {
	var out []geom.Point
	for i := range 12 {
		s, c := math.Sincos(2 * math.Pi * float64(i) / 12)
		k := 0.88 + 0.12*math.Cos(5*float64(i))
		out = append(out, geom.Point{X: k * a * c, Y: k * b * s})
	}
	return out
}

// A game is what is played on the simulated table: the ships' first places, what else lies there,
// and the moves in order.
type game struct {
	ships []engine.Ship
	rocks []engine.Obstacle
	moves []scriptMove
	side  geom.Length // of the mat, which is square
}

var (
	fullGame = game{scriptShips, scriptRocks, flown(scriptShips, scriptManeuvers), calibration.MatSide}

	// smallGame is played on a mat a fifth as large: tests that need many pictures are fast there at
	// the usual scale.
	smallGame = game{
		side: 420 * geom.Millimeter,
		ships: []engine.Ship{
			{ID: "A1", Player: 1, Base: engine.Small, Pose: pose(120, 90, 5)},
			{ID: "B1", Player: 2, Base: engine.Small, Pose: pose(130, 252, 178)},
			{ID: "A2", Player: 1, Base: engine.Medium, Pose: pose(300, 105, 350)},
			{ID: "B2", Player: 2, Base: engine.Small, Pose: pose(290, 330, 200)},
		},
		rocks: []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Pose: pose(205, 185, 20), Outline: rock(30, 26)}},
		moves: []scriptMove{
			{"B1", pose(150, 205, 190)},
			{"A2", pose(270, 130, 20)},
			{"B2", pose(330, 290, 215)},
			{"A1", pose(95, 130, 30)},
			{"A1", pose(120, 90, 5)},
			{"B2", pose(290, 330, 200)},
			{"A2", pose(300, 105, 350)},
			{"B1", pose(130, 252, 178)},
		},
	}
)

// game returns the game that is played.
func (o Options) game() *game {
	if o.Small {
		return &smallGame
	}
	return &fullGame
}

// A scriptMove is a ship moved by its player's hand.
type scriptMove struct {
	ship string
	to   geom.Pose
}

// scriptManeuvers are ships with their maneuvers, in order.
var scriptManeuvers = [][2]string{
	{"B1", "koiogran 1"},    // to range 1 of A1, its rear towards it
	{"A2", "turn right 1"},  // B2 leaves the bullseye
	{"B5", "segnor left 1"}, // the rock is no longer between A5 and B5
	{"A4", "koiogran 2"},    // out of contact
	{"A2", "turn right 1"},
	{"B1", "koiogran 1"},
	{"A5", "segnor left 1"},
	{"A2", "turn right 1"},
	{"A4", "koiogran 2"},
	{"B5", "segnor right 1"},
	{"A5", "segnor right 1"},
	{"A2", "turn right 1"},
}

// flown returns where each maneuver takes its ship. Nothing is in the way of any, which a test
// checks.
func flown(ships []engine.Ship, maneuvers [][2]string) (out []scriptMove) {
	at := map[string]engine.Ship{}
	for _, s := range ships {
		at[s.ID] = s
	}
	for _, k := range maneuvers {
		ship := at[k[0]]
		m, err := move.ParseManeuver(k[1])
		if err == nil {
			var end move.Result
			end, err = move.Execute(&engine.Scene{Rules: engine.Rules25, Ships: []engine.Ship{ship}}, ship.ID, m, engine.Options{})
			ship.Pose = end.Full
		}
		if err != nil {
			panic("tablesim: the scripted game: " + err.Error())
		}
		at[ship.ID] = ship
		out = append(out, scriptMove{ship.ID, ship.Pose})
	}
	return out
}

// The timing of one move.
const (
	beatStill = 4200 * time.Millisecond
	beatIn    = 900 * time.Millisecond
	beatMove  = 1700 * time.Millisecond
	beatOut   = 900 * time.Millisecond
	beatHand  = beatIn + beatMove + beatOut
)

// length returns the length of the game.
func (g *game) length(pause time.Duration) time.Duration {
	return time.Duration(len(g.moves)) * (pause + beatHand)
}

// at returns the scene and the hands at a time of the game, in which the table rests for pause
// before each move. The game repeats.
func (g *game) at(t, pause time.Duration) (engine.Scene, []Hand) {
	s := engine.Scene{
		Rules: engine.Rules25, MatWidth: g.side, MatHeight: g.side,
		Ships: append([]engine.Ship(nil), g.ships...), Obstacles: g.rocks,
	}
	beat := pause + beatHand
	t %= g.length(pause)
	now := int(t / beat)
	var moving *engine.Ship
	for i, m := range g.moves[:now+1] {
		for k := range s.Ships {
			if s.Ships[k].ID != m.ship {
				continue
			}
			if i < now {
				s.Ships[k].Pose = m.to
			} else {
				moving = &s.Ships[k]
			}
		}
	}
	t -= time.Duration(now)*beat + pause
	if t <= 0 || moving == nil {
		return s, nil
	}
	part := func(d time.Duration) float64 { return smooth(0, 1, t.Seconds()/d.Seconds()) }
	away := geom.Point{X: moving.Pose.X, Y: -260}
	if moving.Player == 2 {
		away.Y = float64(s.MatHeight) + 260
	}
	hand := Hand{Player: moving.Player, Z: 45}
	from, to := moving.Pose, g.moves[now].to
	switch {
	case t < beatIn:
		hand.Tip = away.Lerp(from.Point, part(beatIn))
	case t < beatIn+beatMove:
		t -= beatIn
		k := part(beatMove)
		turn := (to.Heading - from.Heading).Signed()
		moving.Pose = geom.Pose{Point: from.Lerp(to.Point, k), Heading: (from.Heading + geom.Angle(k)*turn).Normalized()}
		hand.Tip = moving.Pose.Point
	default:
		t -= beatIn + beatMove
		moving.Pose = to
		hand.Tip = to.Lerp(away, part(beatOut))
	}
	return s, []Hand{hand}
}

// scriptTable returns the table of the game; scene and hands change.
func scriptTable(o Options) *Table {
	rng := rand.New(rand.NewPCG(o.Seed, 0x67616d65))
	t := &Table{
		Camera: o.camera(),
		Layout: calibration.DefaultLayout(o.game().side, o.game().side),
		Minis:  map[string]Mini{}, Look: DefaultLook(), Model: o.Model, Seed: o.Seed, Workers: o.Workers,
	}
	t.Look.Mat = o.Mat
	t.Look.Samples = 4 // a hand redraws a tenth of the picture; see BenchmarkNext
	if t.Scene, t.Hands = o.game().at(0, beatStill); o.Huge > 0 {
		t.Scene, t.Hands = RandomTableWithHuge(o.Seed, o.Width, o.Height, o.Huge).Scene, nil
	}
	for _, s := range t.Scene.Ships {
		t.Minis[s.ID] = RandomMini(rng, s.Base)
	}
	if !o.Small {
		t.Clutter = randomClutter(rng, t.Scene)[:3] // those next to the mat
	}
	return t
}

// camera returns the camera over the game; over a small mat it has the same height and a longer
// lens.
func (o Options) camera() calibration.Camera {
	c := o.overhead()
	if o.Tilt != nil { // validate has found a place
		c, _ = oblique(c.Intrinsics, calibration.DefaultLayout(o.game().side, o.game().side), o.Tilt[0], o.Tilt[1])
	}
	return c
}

func (o Options) overhead() calibration.Camera {
	c := DefaultCamera(o.Width, o.Height)
	if !o.Small {
		return c
	}
	// The mat and the markers around it fill the picture's height.
	longer := 0.98 * float64(o.Height) * 1250 / float64(o.game().side+110) / c.Fy
	c.Fx, c.Fy = c.Fx*longer, c.Fy*longer
	for i := range c.Distortion {
		c.Distortion[i] = 0 // a long lens has little distortion
	}
	by := float64(calibration.MatSide-o.game().side) / 2
	for i := range 3 {
		c.T[i] += (c.R[i][0] + c.R[i][1]) * by
	}
	return c
}
