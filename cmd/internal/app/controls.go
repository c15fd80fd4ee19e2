package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/hardware"
	"sightline/vision"
)

// Inputs are the panel's encoder and buttons: a hardware.Controls.
type Inputs interface {
	Run(ctx context.Context, do func(hardware.Did)) error
	String() string
}

// panelMenu is the menu of the panel's display.
type panelMenu struct {
	address func() string // of the page; nil: it has none
	code    func() string // of the pairing code; nil: no phone can pair
	now     func() time.Time

	mu   sync.Mutex // guards menu
	menu hardware.Menu
}

// screen returns the menu's screen for a state.
func (m *panelMenu) screen(v *live.State) hardware.Screen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.menu.Screen(m.world(v), m.now())
}

// handle processes one input and returns the requested action.
func (m *panelMenu) handle(in hardware.Input, v *live.State) (commands []hardware.Command) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.menu, commands = m.menu.Handle(in, m.world(v), m.now())
	return commands
}

// world returns the part of a state that the menu needs.
func (m *panelMenu) world(v *live.State) hardware.World {
	w := hardware.World{
		From: v.Choice.From, To: v.Choice.To, Arc: v.Choice.Arc.String(),
		Edition: v.Located.Scene.Rules.String(), Editions: []string{"1e", "2.0", "2.5"},
		CanEdition: v.Play == nil || v.Play.Over != "", // a game keeps the edition with which it began
		Frozen:     v.Held, CanFreeze: v.Health.Code == live.OK, CanJudge: true,
	}
	if m.address != nil {
		w.Address = m.address()
	}
	if v.Hold != nil {
		w.Held, w.Guarded = v.Hold.Number, v.Hold.AwaitsJudge(v.Ruling)
	}
	if m.code != nil {
		w.Code = m.code()
	}
	for _, s := range v.Located.Scene.Ships {
		w.Ships = append(w.Ships, hardware.Choosable{ID: s.ID, Player: s.Player})
	}
	slices.SortFunc(w.Ships, func(a, b hardware.Choosable) int { return vision.CompareIDs(a.ID, b.ID) })
	for _, p := range v.Result.Pairs {
		if p.From == w.From && p.To == w.To {
			for _, a := range p.Arcs {
				w.Arcs = append(w.Arcs, a.Arc.String())
			}
		}
	}
	return w
}

// controlsTask turns inputs at the panel into choices, through the menu.
type controlsTask struct {
	inputs Inputs
	hub    *live.Hub
	menu   *panelMenu
	game   *game.Game
}

func (t *controlsTask) String() string { return "controls" }

// Run implements Task.
func (t *controlsTask) Run(ctx context.Context) error { return t.inputs.Run(ctx, t.did) }

// did passes an input to the menu.
func (t *controlsTask) did(d hardware.Did) {
	v := t.hub.Newest()
	for _, c := range t.menu.handle(d.Input, &v) {
		t.obey(c)
	}
	t.game.Publish() // the new screen
}

// obey executes a command of the menu.
func (t *controlsTask) obey(c hardware.Command) {
	switch c.Kind {
	case hardware.CommandChoose:
		choice := live.Choice{From: c.From, To: c.To, Arc: engine.ArcFront}
		if arc, err := engine.ParseArc(c.Arc); err == nil {
			choice.Arc = arc
		}
		t.game.Choose(choice)
	case hardware.CommandFreeze:
		t.hold(live.HoldRequest{Hold: true})
	case hardware.CommandRelease:
		t.hold(live.HoldRequest{Held: c.Held})
	case hardware.CommandJudge:
		t.game.AskJudge()
	case hardware.CommandEdition:
		if edition, err := engine.ParseRules(c.Edition); err == nil {
			t.game.SetEdition(edition)
		}
	}
}

// hold holds or releases the picture for the person at the panel.
func (t *controlsTask) hold(r live.HoldRequest) {
	r.By = "who stands at the box"
	if err := t.game.Hold(r); err != nil {
		t.game.Note(err.Error())
	}
}
