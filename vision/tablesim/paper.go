package tablesim

import (
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"time"

	"sightline/engine"
	"sightline/engine/geom"
)

// PaperStage is what lies on the table of a source that shows how tokens are taught.
type PaperStage int

// The stages, in order.
const (
	PaperEmpty  PaperStage = iota // the mat with nothing on it
	PaperTokens                   // tokens on two sheets of white paper
	PaperGame                     // the same tokens on the mat, with two ships
	paperStages
)

// DefaultPaperTime is the default length of a stage.
const DefaultPaperTime = 60 * time.Second

// paperSheets are the sheets' middles; each is an upright A4 sheet.
var paperSheets = []geom.Pose{pose(250, 470, 2), pose(650, 450, -3)}

// paperTokens are tokens of the three kinds and a device, as they lie on the paper: on both sheets
// from left to right. None is like another, or like itself when turned.
var paperTokens = []engine.Obstacle{
	{ID: "rock1", Kind: "asteroid", Pose: pose(212, 540, 30), Outline: []geom.Point{{X: -30, Y: -20}, {X: 25, Y: -25}, {X: 35, Y: 5},
		{X: 10, Y: 30}, {X: -25, Y: 18}}},
	{ID: "debris1", Kind: "debris", Pose: pose(258, 400, 100), Outline: []geom.Point{{X: -20, Y: -30}, {X: 20, Y: -28}, {X: 12, Y: 2},
		{X: 30, Y: 30}, {X: -28, Y: 26}}},
	{ID: "gas1", Kind: "gas", Pose: pose(640, 530, 200), Outline: []geom.Point{{X: -35, Y: -12}, {X: 0, Y: -20}, {X: 38, Y: -10},
		{X: 34, Y: 14}, {X: -5, Y: 9}, {X: -30, Y: 17}}},
	{ID: "charge1", Kind: "seismic_charge", Pose: pose(662, 390, 310), Outline: []geom.Point{{X: -16, Y: -18}, {X: 14, Y: -20}, {X: 21, Y: 2},
		{X: 6, Y: 22}, {X: -17, Y: 14}}},
}

// paperGame is where the tokens lie in the last stage; the second has its other face up.
var paperGame = []geom.Pose{pose(260, 300, 80), pose(470, 560, 250), pose(690, 330, 15), pose(180, 680, 140)}

// PaperOutlines returns the tokens of a source with Options.Paper as they lie on the paper, from
// left to right.
func PaperOutlines() []engine.Obstacle { return slices.Clone(paperTokens) }

// ShowPaper shows a stage of Options.Paper from the next frame on. It is safe to call while Next
// runs.
func (s *Source) ShowPaper(stage PaperStage) { s.paper.Store(&stage) }

// layPaper sets the table to what the frame of a source with Options.Paper shows.
func (s *Source) layPaper(t *Table, seq uint64) {
	if s.o.Paper <= 0 {
		return
	}
	stage := PaperStage(s.timeOf(seq)/s.o.Paper) % paperStages
	if shown := s.paper.Load(); shown != nil {
		stage = *shown
	}
	t.Clutter, t.Hands = slices.Clone(s.beside), nil
	t.Scene.Ships, t.Scene.Obstacles = nil, nil
	if stage == PaperEmpty {
		return
	}
	t.Scene.Obstacles = PaperOutlines()
	if stage == PaperTokens {
		for _, at := range paperSheets {
			t.Clutter = append(t.Clutter, Clutter{Pose: at, Width: 210, Length: 297, Height: 0.1, Color: color.RGBA{240, 240, 240, 255}})
		}
		return
	}
	for i := range t.Scene.Obstacles {
		t.Scene.Obstacles[i].Pose = paperGame[i]
	}
	turned := slices.Clone(t.Scene.Obstacles[1].Outline)
	for i := range turned {
		turned[i].X = -turned[i].X
	}
	slices.Reverse(turned)
	t.Scene.Obstacles[1].Outline = turned
	t.Scene.Ships = append(t.Scene.Ships, scriptShips[:2]...)
}

// parsePaper parses the length of each stage of Options.Paper: seconds, or nothing.
func parsePaper(value string) (time.Duration, error) {
	if value == "" {
		return DefaultPaperTime, nil
	}
	return parseStay("paper", value)
}

// parseStay parses a number of seconds.
func parseStay(key, value string) (time.Duration, error) {
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || !(s >= 1 && s <= 3600) {
		return 0, fmt.Errorf("%s: expected 1 to 3600 seconds, got %q", key, value)
	}
	return time.Duration(s * float64(time.Second)), nil
}
