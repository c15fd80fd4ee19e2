package pipeline

import (
	"errors"
	"image"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/watch"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/racetest"
	"sightline/vision"
)

// Every state with every event.
func TestTheTransitionsOfARegistration(t *testing.T) {
	const U, F, X, T, M, S, R, L = Unknown, Confirming, Contradicted, Trusted, Moved, Settled, Refocused, Lost
	events := []registrationEvent{
		invalidated, fileLoaded, registered, fileConfirmed, fileUnclear, fileDenied, markersInPlace, markersMoved, markersSettled, pictureGrew,
		markersGone,
	}
	for state, want := range map[RegistrationState][]RegistrationState{
		//            invalid loaded found confirmed unclear denied in place moved settled grew gone
		Unknown:      {U, F, T, U, U, U, U, U, U, U, U},
		Confirming:   {U, F, T, T, F, X, F, F, F, F, F},
		Contradicted: {U, X, T, T, F, X, X, X, X, X, X},
		Trusted:      {U, T, T, T, T, T, T, M, S, R, L},
		Moved:        {U, M, T, M, M, M, T, M, S, R, L},
		Settled:      {U, S, T, S, S, S, T, M, S, R, L},
		Refocused:    {U, R, T, R, R, R, T, M, S, R, L},
		Lost:         {U, L, T, L, L, L, T, M, S, R, L},
	} {
		require.Len(t, want, len(events))
		for i, e := range events {
			assert.Equal(t, want[i], state.next(e), "%v, event %d", state, e)
		}
	}
	for s := watch.OK; s <= watch.Lost; s++ {
		_, known := driftEvents[s]
		assert.True(t, known, "the drift monitor's %v is no event", s)
	}
}

// registering is a registration of its own, before a bench's markers.
type registering struct {
	*bench
	*Registration
	installed []calibration.Table
	drops     int
	refuse    error // by the later stages
	notes     []string
}

func newRegistering(t *testing.T, file *calibration.Table) *registering {
	r := &registering{bench: newBench(t, nil)}
	o := RegistrationOptions{
		Markers: r.bench, Track: r.track, Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide),
		Lens: func() (calibration.Intrinsics, bool) { return r.camera.Intrinsics, true }, Log: slog.New(slog.DiscardHandler),
	}
	if file != nil {
		o.File = CalibrationFile{Table: file, Name: "table.json"}
	}
	r.Registration = NewRegistration(o, r)
	return r
}

func (r *registering) install(t calibration.Table) error {
	if r.refuse == nil {
		r.installed = append(r.installed, t)
	}
	return r.refuse
}

func (r *registering) drop()            { r.drops++ }
func (r *registering) note(text string) { r.notes = append(r.notes, text) }

// pass lets n pictures come, ten a second.
func (r *registering) pass(n int) RegistrationState {
	for range n {
		r.now = r.now.Add(tenth)
		r.Update(vision.Frame{Gray: r.gray()}, r.now)
	}
	return r.State()
}

// The way through all states that pictures lead to.
func TestARegistrationGoesThroughItsStates(t *testing.T) {
	r := newRegistering(t, nil)
	assert.Equal(t, Unknown, r.State())
	assert.Equal(t, live.Starting, r.Health().Code)
	assert.Equal(t, Trusted, r.pass(20))
	assert.Len(t, r.installed, 1)
	r.camera = overhead(3)
	var way []RegistrationState
	for range 10 {
		if s := r.pass(1); len(way) == 0 || way[len(way)-1] != s {
			way = append(way, s)
		}
	}
	assert.Equal(t, []RegistrationState{Trusted, Moved, Trusted}, way, "the first picture is only doubted")
	assert.Len(t, r.installed, 2)
	r.hidden = 5
	r.camera = overhead(4)
	assert.Equal(t, Settled, r.pass(10), "three markers are too few to register again")
	assert.Contains(t, r.Health().Detail, "only 3 markers agree")
	r.hidden = 0
	assert.Equal(t, Trusted, r.pass(10))
	r.hidden = 8
	assert.Equal(t, Lost, r.pass(20))
	assert.Equal(t, live.MarkersLost, r.Health().Code)
	assert.Contains(t, r.Health().Advice, "Any five of the eight are enough")
	r.verdict.Seen = 6 // in small pictures
	assert.Contains(t, r.Health().Advice, "in these, more must be in view", "six are in place, and not enough")
	r.hidden = 0
	r.pass(5)
	r.camera.Fx, r.camera.Fy = r.camera.Fx*1.004, r.camera.Fy*1.004
	assert.Equal(t, Refocused, r.pass(10))
	assert.Equal(t, live.LensChanged, r.Health().Code)

	file := calibration.Table{Camera: overhead(0), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	r = newRegistering(t, &file)
	r.hidden = 8
	assert.Equal(t, Confirming, r.pass(3))
	assert.Equal(t, live.MarkersLost, r.Health().Code, "nothing confirms the file")
	assert.False(t, r.Trusted())
	r.hidden, r.camera = 0, overhead(4)
	for pictures := 1; r.pass(1) == Confirming; pictures++ {
		require.Less(t, pictures, 10, "the markers are searched for once a second")
	}
	assert.Equal(t, Contradicted, r.State())
	assert.Equal(t, mayHaveMoved, r.Health())
	assert.False(t, r.Trusted())
	assert.Equal(t, Trusted, r.pass(1))
	assert.Contains(t, r.notes[0], "not where table.json puts it, by 4.0 mm")
}

// Whatever the state was, nothing of a registration that no longer holds is left.
func TestAnInvalidRegistrationLeavesNothing(t *testing.T) {
	racetest.Skip(t)
	for name, before := range map[string]func(r *registering){
		"trusted": func(*registering) {},
		"moved":   func(r *registering) { r.camera = overhead(3); r.pass(2) },
		"settled": func(r *registering) { r.camera, r.hidden = overhead(1), 5; r.pass(10) },
		"lost":    func(r *registering) { r.hidden = 8; r.pass(20) },
		"torn":    func(r *registering) { r.drift.torn, r.drift.away = []int{1, 2}, []int{1, 2} },
	} {
		r := newRegistering(t, nil)
		require.Equal(t, Trusted, r.pass(20), name)
		before(r)
		for _, why := range []error{nil, errors.New("out of order")} {
			r.Invalidate(why)
			assert.Equal(t, Unknown, r.State(), name)
			assert.True(t, r.Trusted(), name)
			assert.Equal(t, live.Register{Times: r.view.Times}, r.View(), name)
			assert.Equal(t, image.Rectangle{}, r.Region(), name)
			assert.Empty(t, r.failed, name)
			assert.Nil(t, r.drift.inPlace(), name)
			assert.Zero(t, r.verdict, name)
			code := live.Starting
			if why != nil {
				code = live.NoCalibration
			}
			assert.Equal(t, code, r.Health().Code, name)
		}
		assert.Equal(t, 2, r.drops, name)
		r.hidden = 0
		assert.Equal(t, Trusted, r.pass(11), "%s: it is found again", name)
		assert.Equal(t, 2, r.View().Times, name)
	}
}

func TestARegistrationRefusedByLaterStagesIsDropped(t *testing.T) {
	r := newRegistering(t, nil)
	r.refuse = errors.New("out of order")
	assert.Equal(t, Unknown, r.pass(11))
	assert.Contains(t, r.Health().Detail, "out of order")
	assert.Empty(t, r.notes)
	r.refuse = nil
	assert.Equal(t, Trusted, r.pass(11))

	r.refuse, r.camera = errors.New("out of order"), overhead(3)
	assert.Equal(t, Settled, r.pass(10), "the old one stays, and gives no answers")
	assert.Equal(t, live.Moved, r.Health().Code)
	assert.Contains(t, r.Health().Detail, "cannot be found again: out of order")
	r.refuse = nil
	assert.Equal(t, Trusted, r.pass(5))
}

// A file that the markers contradict gives no answers, also where they cannot take its place.
func TestAContradictedFileWhoseReplacementIsRefusedSaysWhy(t *testing.T) {
	file := calibration.Table{Camera: overhead(0), Layout: calibration.DefaultLayout(calibration.MatSide, calibration.MatSide)}
	r := newRegistering(t, &file)
	r.hidden = 8
	require.Equal(t, Confirming, r.pass(1))
	r.hidden, r.camera, r.refuse = 0, overhead(4), errors.New("out of order")
	require.Equal(t, Contradicted, r.pass(15))
	assert.Equal(t, live.Moved, r.Health().Code)
	assert.Contains(t, r.Health().Detail, "not where table.json puts it, and its place cannot be found again: out of order")
	before := r.searches
	require.Equal(t, Contradicted, r.pass(20))
	assert.LessOrEqual(t, r.searches-before, 3, "it is tried once a second")
	r.camera = overhead(0)
	require.Equal(t, Trusted, r.pass(11), "the file's place again")
	assert.Equal(t, live.OK, r.Health().Code)
}

// A calibration that is made while the program runs takes the place of everything before.
func TestANewCalibrationReplacesTheRegistration(t *testing.T) {
	r := newRegistering(t, nil)
	require.Equal(t, Trusted, r.pass(20))
	table := *r.Table()
	r.Replace(CalibrationFile{Table: &table, Name: "new.json"}, "")
	assert.Zero(t, r.View())
	assert.Equal(t, Trusted, r.pass(1), "its markers are in view")
	assert.Equal(t, "new.json", r.View().From)
	r.Replace(CalibrationFile{}, "lens.json")
	require.Equal(t, Trusted, r.pass(1))
	assert.Equal(t, "lens.json", r.View().Lens)
	assert.Equal(t, "new.json", r.View().From, "the file stays in use")
}

// A picture in which some markers went away together may look like a motion of all: that a part of it is missing is the better
// reason, until the next pictures tell.
func TestATornPictureIsNoMoveOfTheCamera(t *testing.T) {
	r := newRegistering(t, nil)
	require.Equal(t, Trusted, r.pass(20))
	r.drift.torn, r.verdict.Doubt = []int{1, 2}, true
	assert.Equal(t, live.Torn, r.Health().Code)
	r.state = Moved
	assert.Equal(t, live.Moved, r.Health().Code)
}
