package app

import (
	"context"
	"fmt"
	"image"
	"net"
	"slices"
	"sync"
	"time"

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

// controlsTask turns what people do at the panel into choices, by way of the menu.
type controlsTask struct {
	inputs  Inputs
	hub     *live.Hub
	watcher *Watcher
	address string        // of the page
	code    func() string // pairs a phone; nil: none does
	now     func() time.Time

	mu   sync.Mutex // guards menu
	menu hardware.Menu
}

func (t *controlsTask) String() string { return "controls" }

// Run implements Task.
func (t *controlsTask) Run(ctx context.Context) error { return t.inputs.Run(ctx, t.did) }

// did takes one input: the menu says what it means.
func (t *controlsTask) did(d hardware.Did) {
	v := t.hub.Newest()
	t.mu.Lock()
	menu, commands := t.menu.Handle(d.Input, t.world(&v), t.now())
	t.menu = menu
	t.mu.Unlock()
	for _, c := range commands {
		t.obey(c)
	}
	t.watcher.update(func() {}) // the new screen
}

// screen is what the menu shows of a view.
func (t *controlsTask) screen(v *live.State) hardware.Screen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.menu.Screen(t.world(v), t.now())
}

// world is what the menu needs to know of a view.
func (t *controlsTask) world(v *live.State) hardware.World {
	w := hardware.World{
		From: v.Choice.From, To: v.Choice.To, Arc: v.Choice.Arc.String(),
		Edition: v.Located.Scene.Rules.String(), Editions: []string{"1e", "2.0", "2.5"}, CanEdition: true,
		Frozen: v.Held, CanFreeze: v.Health.Code == live.OK, CanJudge: true, Address: t.address,
	}
	if v.Hold != nil {
		w.Held, w.Guarded = v.Hold.Number, v.Hold.Guarded(v.Ruling)
	}
	if t.code != nil {
		w.Code = t.code()
	}
	for _, s := range v.Located.Scene.Ships {
		w.Ships = append(w.Ships, hardware.Choosable{ID: s.ID, Player: s.Player})
	}
	slices.SortFunc(w.Ships, func(a, b hardware.Choosable) int { return naturally(a.ID, b.ID) })
	for _, p := range v.Result.Pairs {
		if p.From == w.From && p.To == w.To {
			for _, a := range p.Arcs {
				w.Arcs = append(w.Arcs, a.Arc.String())
			}
		}
	}
	return w
}

// naturally orders A2 before A10.
func naturally(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	if a < b {
		return -1
	}
	return 1
}

// obey does what the menu asks.
func (t *controlsTask) obey(c hardware.Command) {
	switch c.Kind {
	case hardware.CommandChoose:
		choice := live.Choice{From: c.From, To: c.To, Arc: engine.ArcFront}
		if arc, ok := arcNamed(c.Arc); ok {
			choice.Arc = arc
		}
		t.watcher.Choose(choice)
	case hardware.CommandFreeze:
		t.hold(live.HoldRequest{Hold: true})
	case hardware.CommandGoOn:
		t.hold(live.HoldRequest{Held: c.Held})
	case hardware.CommandJudge:
		t.watcher.AskJudge()
	case hardware.CommandEdition:
		if edition, err := engine.ParseRules(c.Edition); err == nil {
			t.watcher.SetEdition(edition)
		}
	}
}

// hold holds or lets go for who stands at the panel.
func (t *controlsTask) hold(r live.HoldRequest) {
	r.By = "who stands at the box"
	if err := t.watcher.Hold(r); err != nil {
		t.watcher.Tell(err.Error())
	}
}

// arcNamed is the inverse of engine.Arc.String.
func arcNamed(name string) (engine.Arc, bool) {
	for a := engine.ArcFront; a <= engine.ArcFront136; a++ {
		if a.String() == name {
			return a, true
		}
	}
	return 0, false
}

// phoneAddress is the page's address for a phone at the same table: the machine's own
// address where the page is served to everybody; "" where it is served to nobody else.
func phoneAddress(scheme string, listening net.Addr) string {
	tcp, ok := listening.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return ""
	}
	ip := tcp.IP
	if ip.IsUnspecified() {
		if ip = ownAddress(); ip == nil {
			return ""
		}
	}
	host := net.TCPAddr{IP: ip, Port: tcp.Port}
	return scheme + "://" + host.String() + "/"
}

// ownAddress returns the machine's first IPv4 address that others can reach.
func ownAddress() net.IP {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP
		}
	}
	return nil
}

// shown is what is shown and answered from: the newest picture's, or what is held.
type shown struct {
	frame  vision.Frame
	region image.Rectangle
	last   vision.Located
	result engine.Result
	tracks []vision.Track
	hold   *live.Held // nil: it is live
}

// shown returns what is shown now. The caller holds mu.
func (w *Watcher) shown() *shown {
	if w.held != nil {
		return w.held
	}
	return &shown{frame: w.frame, region: w.region, last: w.last, result: w.result, tracks: w.tracks}
}

// rules returns the rules, whose edition may change while the program runs.
func (w *Watcher) rules() Rules {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.o.Rules
}

// AskJudge holds the answers and tells everybody that a judge is asked for.
func (w *Watcher) AskJudge() { w.AskJudgeFor("") }

// AskJudgeFor does the same, and remembers who asked; "": nobody said.
func (w *Watcher) AskJudgeFor(who string) {
	if err := w.Hold(live.HoldRequest{Hold: true, AskJudge: true}); err != nil {
		w.Tell(err.Error())
	}
	w.update(func() {
		if !w.asked(who) {
			return
		}
		by, what := "", " at this table."
		if who != "" {
			by = " by " + who
		}
		if w.choice.From != "" && w.choice.To != "" {
			what = fmt.Sprintf(": %s to %s.", w.choice.From, w.choice.To)
		}
		w.note("A judge is asked for" + by + what)
	})
}

// SetEdition changes the edition of the rules; what is on the table is measured anew.
func (w *Watcher) SetEdition(r engine.Rules) {
	w.update(func() {
		w.o.Rules.Edition = r
		w.ruled(r)
		w.last.Scene.Rules = r
		w.result = engine.Result{} // measured with the next picture
		if w.held != nil {
			held := *w.held
			held.last.Scene.Rules = r
			standing := (&live.Held{Located: held.last, Tracks: held.tracks}).Scene()
			if result, err := engine.Measure(&standing, engine.Options{Sigmas: w.o.Rules.Sigmas}); err == nil {
				held.result = result
			}
			held.hold = w.renamed(held.hold, &held)
			w.held = &held
		}
		w.note(fmt.Sprintf("The rules are now those of %v.", r))
	})
}
