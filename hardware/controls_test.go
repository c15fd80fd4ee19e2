package hardware_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/hardware"
)

const ms = time.Millisecond

// edge is one edge of one line in a test.
type edge struct {
	at   time.Duration
	high bool
}

// bounce returns the edges of a contact that goes to a level at a time and bounces:
// an odd number of edges, the last within the given time.
func bounce(r *rand.Rand, at time.Duration, high bool, within time.Duration) []edge {
	out := []edge{{at, high}}
	for range r.IntN(15) {
		at += time.Duration(r.Int64N(int64(within) / 30))
		out = append(out, edge{at, !high}, edge{at + time.Duration(r.Int64N(int64(within)/30)), high})
		at = out[len(out)-1].at
	}
	return out
}

// pushes plays edges to a button that is looked after every tick, as a program does,
// or never (0), as when it is busy; and lets it rest at the end.
func pushes(edges []edge, tick time.Duration) (out []hardware.Push) {
	var b hardware.Button
	take := func(p hardware.Push, ok bool) {
		if ok {
			out = append(out, p)
		}
	}
	now := time.Duration(0)
	for _, e := range edges {
		for tick > 0 && now+tick < e.at {
			now += tick
			take(b.Advance(now))
		}
		now = e.at
		take(b.Edge(e.at, e.high))
	}
	for range 3 {
		now += time.Second
		take(b.Advance(now))
	}
	return out
}

func TestEveryPressCountsOnceHoweverTheContactBounces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		var edges []edge
		var want []bool // held?
		at := 10 * ms
		for range 1 + r.IntN(6) {
			down := at
			storm := bounce(r, at, true, 10*ms)
			edges = append(edges, storm...)
			at = storm[len(storm)-1].at + hardware.Settle + time.Duration(1+r.IntN(1500))*ms
			if near := at - down - hardware.HoldAfter; near > -40*ms && near < 40*ms {
				at += 80 * ms // whether it was held must be plain
			}
			edges = append(edges, bounce(r, at, false, 10*ms)...)
			// Held is from the end of one storm to the end of the other, less what both settle.
			want = append(want, edges[len(edges)-1].at-storm[len(storm)-1].at >= hardware.HoldAfter)
			at = edges[len(edges)-1].at + hardware.Settle + time.Duration(1+r.IntN(300))*ms
		}
		for _, tick := range []time.Duration{0, ms, 7 * ms, 100 * ms} {
			var held []bool
			for _, p := range pushes(edges, tick) {
				held = append(held, p.Held)
			}
			require.Equal(t, want, held, "round %d, looked after every %v", round, tick)
		}
	}
}

// levelsBySampling is the debounced level by another, slow way: at every microsecond
// of a grid, the level counts that has stood still for Settle.
func levelsBySampling(edges []edge, end time.Duration) (changes []hardware.Change) {
	level := false
	for now := time.Duration(0); now <= end; now += 100 * time.Microsecond {
		raw, since := false, time.Duration(-time.Hour)
		for _, e := range edges {
			if e.at <= now {
				raw, since = e.high, e.at
			}
		}
		if raw != level && now-since >= hardware.Settle {
			level = raw
			changes = append(changes, hardware.Change{At: since + hardware.Settle, High: level})
		}
	}
	return changes
}

func TestDebouncingAgreesWithSampling(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		var edges []edge
		at := time.Duration(0)
		for range r.IntN(12) {
			// The grid's step divides every time, and no gap is exactly Settle.
			at += time.Duration(1+r.IntN(250)) * 100 * time.Microsecond
			if len(edges) > 0 && at-edges[len(edges)-1].at == hardware.Settle {
				at += 100 * time.Microsecond
			}
			edges = append(edges, edge{at, r.IntN(2) == 0}) // also twice the same level: an edge was missed
		}
		var d hardware.Debouncer
		var got []hardware.Change
		take := func(c hardware.Change, ok bool) {
			if ok {
				got = append(got, c)
			}
		}
		for _, e := range edges {
			take(d.Edge(e.at, e.high))
		}
		take(d.Advance(at + time.Second))
		require.Equal(t, levelsBySampling(edges, at+50*ms), got, "round %d: %v", round, edges)
	}
}

func TestAnInterferencePulseIsNotAPress(t *testing.T) {
	assert.Empty(t, pushes([]edge{{10 * ms, true}, {12 * ms, false}}, ms))
	assert.Empty(t, pushes([]edge{{10 * ms, false}, {40 * ms, false}}, ms), "a release without a press")
}

func TestAHoldCountsWhileTheButtonIsStillDown(t *testing.T) {
	got := pushes([]edge{{0, true}, {5 * time.Second, false}}, 10*ms)
	require.Len(t, got, 1)
	assert.True(t, got[0].Held)
	assert.Equal(t, hardware.Settle+hardware.HoldAfter, got[0].At)
}

// quarters of the Gray code to the right: A closes, B closes, A opens, B opens.
var right = []hardware.Edge{{Line: 0, High: true}, {Line: 1, High: true}, {Line: 0}, {Line: 1}}

// stepEdges returns the edges of one step, bouncing: each contact may bounce while the
// other rests.
func stepEdges(r *rand.Rand, toLeft bool) (out []hardware.Edge) {
	for _, e := range right {
		if toLeft {
			e.Line = 1 - e.Line
		}
		out = append(out, e)
		for range r.IntN(8) {
			back := e
			back.High = !e.High
			out = append(out, back, e)
		}
	}
	return out
}

func turns(edges []hardware.Edge) (steps []int) {
	var q hardware.Quadrature
	for _, e := range edges {
		if s := q.Edge(e.Line, e.High); s != 0 {
			steps = append(steps, s)
		}
	}
	return steps
}

func TestEveryStepOfTheEncoderCountsOnceHoweverItBounces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var edges []hardware.Edge
		var want []int
		for range 1 + r.IntN(20) {
			left := r.IntN(2) == 0
			edges = append(edges, stepEdges(r, left)...)
			want = append(want, map[bool]int{true: -1, false: 1}[left])
		}
		require.Equal(t, want, turns(edges))
	}
}

func TestAStepThatIsTakenBackDoesNotCount(t *testing.T) {
	half := slices.Clone(right[:2])
	back := []hardware.Edge{{Line: 1}, {Line: 0}}
	assert.Empty(t, turns(append(half, back...)))
}

// Whatever the kernel has to drop, no one is moved in a direction in which no one
// turned, and what comes after the next detent counts again.
func TestLostEdgesNeverReverseAStep(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	lost := 0
	for round := range 3000 {
		left := r.IntN(2) == 0
		want := map[bool]int{true: -1, false: 1}[left]
		var edges []hardware.Edge
		const steps = 12
		for range steps {
			edges = append(edges, stepEdges(r, left)...)
		}
		from := r.IntN(len(edges))
		to := from + 1 + r.IntN(30)
		var q hardware.Quadrature
		var level [2]bool
		got := 0
		for i, e := range edges {
			level[e.Line] = e.High
			if i >= from && i < to {
				continue
			}
			if i == to { // the gap in the numbers is seen here, and the lines are read
				q.Resume(level[0], level[1])
				continue
			}
			if s := q.Edge(e.Line, e.High); s != 0 {
				require.Equal(t, want, s, "round %d", round)
				got++
			}
		}
		require.LessOrEqual(t, got, steps, "no step from nothing")
		lost += steps - got
	}
	assert.Positive(t, lost, "the test loses edges that matter")
}

// player plays edges to controls without a kernel. Its tests run in a bubble of package
// synctest, on a clock of their own, so that no busy machine makes an input stale or a
// push a hold.
type player struct {
	t     *testing.T
	began time.Time
	lines [hardware.NumControls]*hardware.FakeLines
	seq   [hardware.NumControls]uint32
	did   chan hardware.Did
	busy  chan struct{} // when not nil, whoever is handed an input waits for it
	c     *hardware.Controls
}

func newPlayer(t *testing.T) *player {
	p := &player{t: t, began: time.Now(), did: make(chan hardware.Did, 1000)}
	var open [hardware.NumControls]func() (*hardware.FakeLines, error)
	for i := range open {
		p.lines[i] = hardware.NewFakeLines()
		open[i] = func() (*hardware.FakeLines, error) { return p.lines[i], nil }
	}
	p.c = hardware.FakeControls(p.now, open)
	return p
}

func (p *player) now() time.Duration { return time.Hour + time.Since(p.began) }

func (p *player) run() {
	ctx, stop := context.WithCancel(p.t.Context())
	done := make(chan error, 1)
	go func() {
		done <- p.c.Run(ctx, func(d hardware.Did) {
			if p.busy != nil {
				<-p.busy
			}
			p.did <- d
		})
	}()
	p.t.Cleanup(func() {
		stop()
		select {
		case err := <-done:
			assert.NoError(p.t, err)
		case <-time.After(5 * time.Second):
			p.t.Error("the controls do not stop")
		}
	})
}

// send sends edges that happen now, numbered as the kernel does.
func (p *player) send(c hardware.Control, edges ...hardware.Edge) {
	now := p.now()
	for i := range edges {
		p.seq[c]++
		edges[i].Seq, edges[i].At = p.seq[c], now+time.Duration(i)*time.Microsecond
	}
	p.lines[c].Send(nil, edges...)
}

func (p *player) next() hardware.Did {
	p.t.Helper()
	select {
	case d := <-p.did:
		return d
	case <-time.After(5 * time.Second):
		p.t.Fatal("nothing happens")
		return hardware.Did{}
	}
}

func (p *player) nothing(within time.Duration) {
	p.t.Helper()
	select {
	case d := <-p.did:
		p.t.Fatalf("%v from nothing", d.Input)
	case <-time.After(within):
	}
}

func TestControlsDeliverInputs(t *testing.T) { synctest.Test(t, controlsTellWhatPeopleDo) }

func controlsTellWhatPeopleDo(t *testing.T) {
	p := newPlayer(t)
	p.run()
	p.send(hardware.ControlTurn, slices.Clone(right)...)
	assert.Equal(t, hardware.TurnRight, p.next().Input)
	for c, want := range map[hardware.Control]hardware.Input{
		hardware.ControlKnob: hardware.PushKnob, hardware.ControlChoose: hardware.PushChoose, hardware.ControlFreeze: hardware.PushFreeze,
	} {
		p.send(c, hardware.Edge{High: true})
		time.Sleep(2 * hardware.Settle)
		p.send(c, hardware.Edge{})
		assert.Equal(t, want, p.next().Input)
	}
	p.send(hardware.ControlFreeze, hardware.Edge{High: true})
	assert.Equal(t, hardware.HoldFreeze, p.next().Input, "while it is still down")
	p.send(hardware.ControlFreeze, hardware.Edge{})
	p.nothing(100 * ms)
}

func TestOldQueuedInputsAreDropped(t *testing.T) {
	synctest.Test(t, whatQueuedUpWhileBusyIsDroppedWhenItIsOld)
}

func whatQueuedUpWhileBusyIsDroppedWhenItIsOld(t *testing.T) {
	p := newPlayer(t)
	p.busy = make(chan struct{})
	p.run()
	p.send(hardware.ControlTurn, slices.Clone(right)...)
	time.Sleep(50 * ms) // the first is being handed on, and that takes long
	for range 5 {
		p.send(hardware.ControlTurn, slices.Clone(right)...)
	}
	time.Sleep(hardware.StaleAfter + 50*ms)
	close(p.busy)
	assert.Equal(t, hardware.TurnRight, p.next().Input, "the first")
	p.nothing(100 * ms)
	stale, _ := p.c.Dropped()
	assert.Equal(t, 5, stale)
	p.send(hardware.ControlTurn, slices.Clone(right)...)
	assert.Equal(t, hardware.TurnRight, p.next().Input, "and it goes on")
}

func TestAnOverflowDropsTheStepInProgress(t *testing.T) {
	synctest.Test(t, edgesThatTheQueueCouldNotHoldForgetWhatWasUnderWay)
}

func edgesThatTheQueueCouldNotHoldForgetWhatWasUnderWay(t *testing.T) {
	p := newPlayer(t)
	p.run()
	p.send(hardware.ControlTurn, right[0], right[1])
	time.Sleep(50 * ms)
	var flood []hardware.Edge
	for range 16 { // 64 edges: the queue is full
		flood = append(flood, right[2], right[3], right[0], right[1])
	}
	p.seq[hardware.ControlTurn] += 10 // and ran over by ten
	p.send(hardware.ControlTurn, flood...)
	p.nothing(100 * ms)
	_, lost := p.c.Dropped()
	assert.Equal(t, 1, lost)
	p.send(hardware.ControlTurn, slices.Clone(right)...)
	assert.Equal(t, hardware.TurnRight, p.next().Input)
}

// The kernel makes one edge of several that come faster than its handler runs.
func TestAGapWithoutAFullQueueIsNotALoss(t *testing.T) {
	synctest.Test(t, aGapInTheNumbersIsNoLossWhileTheQueueIsNotFull)
}

func aGapInTheNumbersIsNoLossWhileTheQueueIsNotFull(t *testing.T) {
	p := newPlayer(t)
	p.run()
	for _, e := range right {
		p.seq[hardware.ControlTurn] += 3
		p.send(hardware.ControlTurn, e)
		time.Sleep(5 * ms)
	}
	assert.Equal(t, hardware.TurnRight, p.next().Input)
}

func TestAFailedControlRecovers(t *testing.T) { synctest.Test(t, aControlThatFailsComesBack) }

func aControlThatFailsComesBack(t *testing.T) {
	p := newPlayer(t)
	p.run()
	p.lines[hardware.ControlKnob].Send(errors.New("no such device"))
	require.Eventually(t, func() bool { return p.c.String() == "3 of 4 controls; knob: no such device" }, 5*time.Second, 5*ms, p.c.String())
	require.Eventually(t, func() bool { return p.c.String() == "4 of 4 controls" }, 5*time.Second, 5*ms)
}

func TestControlsThatAreNotFittedAreNotMentioned(t *testing.T) {
	c := hardware.OpenControls([hardware.NumControls]hardware.ControlLines{}, discard())
	assert.Empty(t, c.String())
	ctx, stop := context.WithTimeout(t.Context(), 20*ms)
	defer stop()
	assert.NoError(t, c.Run(ctx, func(hardware.Did) { t.Error("from nothing") }))
}

func ExampleQuadrature() {
	var q hardware.Quadrature
	fmt.Println(q.Edge(0, true), q.Edge(1, true), q.Edge(0, false), q.Edge(1, false))
	// Output: 0 0 0 1
}
