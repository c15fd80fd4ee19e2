package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/web"
	"sightline/engine"
	"sightline/vision/token"
)

// fakeJudges keeps rulings in memory and does with the view what package app does.
type fakeJudges struct {
	f *fakeTable

	mu    sync.Mutex // guards the fields below
	made  []live.Ruling
	fails error // what Rule answers
	holds uint64

	released *live.Held // what was let go last
}

func newFakeJudges(f *fakeTable) *fakeJudges { return &fakeJudges{f: f, holds: 1700000000000} }

// options adds the judges' part.
func (j *fakeJudges) options(o *web.Options) {
	o.Freeze, o.AskJudge, o.Rulings = j.freeze, j.ask, j
	o.Access.Key, o.Access.JudgeSecret = testKey, "correct horse battery"
}

// straightDown is the camera of fakePicture: one pixel for a millimetre at the height of
// a base's top, as outlinesOf says.
func straightDown() calibration.Camera {
	const height = 1300
	return calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: 1920, Height: 1080, Fx: height, Fy: height, Cx: 957, Cy: 540},
		Extrinsics: calibration.Extrinsics{
			R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
			T: calibration.Vec3{-457, 460, height + float64(token.BaseTop)},
		},
	}
}

func (j *fakeJudges) ask(who string) error {
	j.hold(true, live.AskedText(slices.DeleteFunc([]string{who}, func(s string) bool { return s == "" })))
	return nil
}

// freeze does what Options.Freeze does; what is let go is kept.
func (j *fakeJudges) freeze(r live.HoldRequest) error {
	state := j.f.hub.Newest()
	if err := r.Check(state.Hold, state.Ruling); err != nil {
		return err
	}
	if r.Held == 0 || !r.Hold {
		if !r.Hold && state.Hold != nil {
			j.released = state.Hold
		}
		j.hold(r.Hold, "")
		j.f.change(func(now *live.State) {
			if now.Released = nil; j.released != nil {
				now.Released = []live.Released{{Number: j.released.Number, At: j.released.At, AskedBy: j.released.AskedBy, From: "A1", To: "B1",
					ReleasedAt: state.At, By: r.By}}
			}
		})
		return nil
	}
	if j.released == nil || j.released.Number != r.Held {
		return live.ErrNotKept
	}
	j.f.change(func(state *live.State) { state.Held, state.Hold, state.Released = true, j.released, nil })
	return nil
}

func (j *fakeJudges) hold(hold bool, asked string) {
	j.f.change(func(state *live.State) {
		if !hold {
			state.Held, state.Hold = false, nil
			return
		}
		if state.Health.Code != live.OK {
			return
		}
		j.holds++
		state.Held = true
		state.Hold = &live.Held{
			Number: j.holds, At: state.At, AskedBy: asked, Register: state.Register, Table: calibration.Table{Camera: straightDown()},
			Source: state.Source, Frame: state.Frame, Region: state.Region, Located: state.Located, Tracks: state.Tracks,
			ObstaclesWatched: state.ObstaclesWatched, Sigmas: state.Sigmas, Result: state.Result,
		}
	})
}

func (j *fakeJudges) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fails = err
}

func (j *fakeJudges) Rule(r live.RuleRequest) (live.Ruling, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	state := j.f.hub.Newest()
	switch {
	case j.fails != nil:
		return live.Ruling{}, j.fails
	case state.Hold == nil || state.Hold.Number != r.Held:
		return live.Ruling{}, live.ErrHeldChanged
	case uint64(len(j.made)) != r.After:
		return live.Ruling{}, live.RuledInBetween(&j.made[len(j.made)-1])
	}
	ruling, err := live.NewRuling(state.Hold, r)
	if err != nil {
		return ruling, err
	}
	ruling.Number, ruling.At = uint64(len(j.made)+1), time.Unix(1700000100, 0)
	ruling.EntryHash, ruling.PictureGivesSame = fmt.Sprintf("%064x", ruling.Number), true
	j.made = append(j.made, ruling)
	j.f.change(func(state *live.State) { state.Ruling = &ruling })
	return ruling, nil
}

func (j *fakeJudges) List(before uint64, limit int) ([]live.Ruling, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := slices.Clone(j.made)
	slices.Reverse(out)
	out = slices.DeleteFunc(out, func(r live.Ruling) bool { return before > 0 && r.Number >= before })
	return out[:min(limit, len(out))], nil
}

func (j *fakeJudges) find(n uint64) (live.Ruling, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n < 1 || n > uint64(len(j.made)) {
		return live.Ruling{}, fmt.Errorf("fake: %w", live.ErrNoRuling)
	}
	return j.made[n-1], nil
}

func (j *fakeJudges) Entry(n uint64) ([]byte, error) {
	r, err := j.find(n)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"number": r.Number, "ruling": r.Title})
}

func (j *fakeJudges) Picture(n uint64) ([]byte, string, error) {
	_, err := j.find(n)
	return []byte("\x89PNG"), "image/png", err
}

func (j *fakeJudges) Export(w io.Writer, n uint64) error {
	r, err := j.find(n)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "<!doctype html><title>%s</title>", r.Title)
	return err
}

func (j *fakeJudges) ExportAll(w io.Writer) error {
	if len(j.made) == 0 {
		return errors.New("fake: nothing was ruled")
	}
	_, err := io.WriteString(w, "PK")
	return err
}

// withRock puts an asteroid on the line from A1 to B1, and measures again.
func withRock(state *live.State) {
	state.Located.Scene.Obstacles = []engine.Obstacle{{ID: "rock1", Kind: "asteroid", Outline: square(305, 380, 25), Sigma: 0.2}}
	state.ObstaclesWatched = true
	result, err := engine.Measure(&state.Located.Scene, engine.Options{})
	if err != nil {
		panic(err)
	}
	state.Result = result
}

// serveCourtroom serves a courtroom to browsers.
func serveCourtroom(t testing.TB, c *courtroom) *httptest.Server {
	s := httptest.NewServer(c.server)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// steadyCourt serves a courtroom that sends its state every second, as a running program
// tells it.
func steadyCourt(t testing.TB, c *courtroom) *httptest.Server {
	s := serveCourtroom(t, c)
	everySecond(t, func() { c.change(func(*live.State) {}) })
	return s
}
