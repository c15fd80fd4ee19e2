package play

import (
	"fmt"
	"math"
	"slices"

	"sightline/cmd/internal/live"
	"sightline/cmd/internal/round"
	"sightline/engine"
	"sightline/engine/scenefile"
)

// atJSON is the table after an event of a game, with the answer for a pair.
type atJSON struct {
	Number    int64          `json:"number"`
	Turn      string         `json:"turn"`
	Score     [2]int         `json:"score"`
	Text      string         `json:"text"` // the event
	Says      []string       `json:"says"`
	WidthMM   float64        `json:"width_mm"`
	HeightMM  float64        `json:"height_mm"`
	Ships     []atShip       `json:"ships"`
	Obstacles [][][2]float64 `json:"obstacles_mm"`
	Answer    string         `json:"answer"`  // for the pair, measured again; "" for none
	Meaning   string         `json:"meaning"` // for an attack
	Arcs      []string       `json:"arcs"`    // that the first ship has
}

type atShip struct {
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Player    int           `json:"player"`
	OutlineMM [4][2]float64 `json:"outline_mm"` // front left, front right, rear right, rear left
	SigmaMM   float64       `json:"sigma_mm"`
}

// Scene returns the table after a game's events: the last recorded table, with the moves since.
// ok is false when no table was recorded.
func Scene(events []round.Event) (g *round.Game, scene engine.Scene, ok bool, err error) {
	if g, err = round.Fold(events); err != nil || g.Scene == nil {
		return g, scene, false, err
	}
	scenes, _, err := scenefile.Parse(g.Scene)
	if err != nil || len(scenes) != 1 {
		return g, scene, false, fmt.Errorf("the table that was noted: %w", err)
	}
	scene = scenes[0]
	noted := 0
	for i := range events {
		if events[i].Kind == round.Noted {
			noted = i
		}
	}
	gone := round.TakenBack(events)
	for i := range events[noted:] {
		if e := &events[noted+i]; !gone[e.Number] {
			apply(e, scene.Ships)
		}
	}
	scene.Ships = slices.DeleteFunc(scene.Ships, func(s engine.Ship) bool {
		p := g.Piece(s.ID)
		return p != nil && p.Status != round.OnTable
	})
	return g, scene, true, nil
}

// apply moves or renames the ships of an event.
func apply(e *round.Event, ships []engine.Ship) {
	for k := range ships {
		s := &ships[k]
		switch {
		case e.Kind == round.Moved && s.ID == e.Ship:
			*s = e.Flown.To.Ship(*s)
		case e.Kind == round.Renamed && s.ID == e.Ship:
			s.ID = e.With
		case e.Kind == round.Renamed && s.ID == e.With:
			s.ID = e.Ship
		}
	}
}

// at returns the table after the last of events, and measures a pair again.
func at(events []round.Event, from, to, arc string, agreed live.Policy) (atJSON, error) {
	g, scene, ok, err := Scene(events)
	if err != nil {
		return atJSON{}, err
	}
	last := &events[len(events)-1]
	out := atJSON{Number: last.Number, Turn: g.Turn(), Score: g.Score(), Text: round.Words(g, last), Says: []string{}, Ships: []atShip{},
		Obstacles: [][][2]float64{}, Arcs: []string{}}
	if last.Flown != nil {
		out.Says = append(out.Says, last.Flown.Says...)
	}
	if !ok {
		return out, nil
	}
	out.WidthMM, out.HeightMM = float64(scene.MatWidth), float64(scene.MatHeight)
	profile := engine.ProfileOf(&scene)
	for i := range scene.Ships {
		s := &scene.Ships[i]
		ship := atShip{ID: s.ID, Name: nameOf(g, s), Player: s.Player, SigmaMM: sigma(s)}
		for k, p := range profile.Corners(s.Base, s.Pose) {
			ship.OutlineMM[k] = [2]float64{p.X, p.Y}
		}
		out.Ships = append(out.Ships, ship)
	}
	for i := range scene.Obstacles {
		o := &scene.Obstacles[i]
		var outline [][2]float64
		for _, p := range o.Pose.TransformAll(o.Outline) {
			outline = append(outline, [2]float64{p.X, p.Y})
		}
		out.Obstacles = append(out.Obstacles, outline)
	}
	return out, out.measure(g, &scene, from, to, arc, agreed)
}

// nameOf returns a ship's display name, with the ships that an unidentified base may be.
func nameOf(g *round.Game, s *engine.Ship) string {
	if may := live.PossibleShips(s.NameDoubt); may != "" {
		return fmt.Sprintf("%s (%s)", s.ID, may)
	}
	return g.Name(s.ID)
}

func sigma(s *engine.Ship) float64 {
	p := s.Covariance.Position()
	return math.Sqrt((p.XX + p.YY) / 2)
}

// measure adds what the agreement permits of the answer for a pair.
func (out *atJSON) measure(g *round.Game, scene *engine.Scene, from, to, name string, agreed live.Policy) error {
	if scene.Ship(from) == nil || scene.Ship(to) == nil || from == to {
		return nil
	}
	if name == "" {
		name = engine.ArcFront.String()
	}
	arc, err := live.ParseArc(name)
	if err != nil {
		return err
	}
	const sigmas = 3
	play := playOf(0, g)
	play.Printed.Apply(scene)
	r, err := engine.Measure(scene, play.Touch.Options(scene, sigmas))
	if err != nil {
		return err
	}
	s := live.State{Health: live.Health{Code: live.OK}, Sigmas: sigmas, Choice: live.Choice{From: from, To: to, Arc: arc}, Result: r,
		ObstaclesWatched: !scene.ObstaclesUnseen, Play: play, Policy: agreed}
	s.Located.Scene = *scene
	for i := range r.Pairs {
		if p := &r.Pairs[i]; p.From == from && p.To == to {
			s.Pair = p
			for _, a := range p.Arcs {
				if s.Play.HasArc(from, a.Arc.String()) {
					out.Arcs = append(out.Arcs, a.Arc.String())
				}
			}
		}
	}
	s.WithholdPair()
	w := s.Text()
	out.Answer, out.Meaning = w.Live, w.Meaning.Text
	return nil
}
