package pipeline

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/game"
	"sightline/cmd/internal/live"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision"
	"sightline/vision/capture"
	"sightline/vision/track"
)

// edgyLocator sees the edges of one base.
type edgyLocator struct {
	at   geom.Pose
	seen bool
	hint vision.EdgeHint
}

func (l *edgyLocator) Locate(vision.Frame) (vision.Located, error) { return vision.Located{}, nil }

func (l *edgyLocator) Edges(_ vision.Frame, h vision.EdgeHint) (vision.EdgeSight, bool, error) {
	l.hint = h
	return vision.EdgeSight{Pose: l.at, Covariance: geom.Cov3{0: 0.01, 4: 0.01, 8: 1e-6}, Sides: [4]float64{1, 1, 1, 1}}, l.seen &&
		l.at.Distance(h.Pose.Point) <= h.Reach, nil
}

func (l *edgyLocator) EdgeView(id string, _ engine.Base, s vision.EdgeSight) vision.ShipView {
	return vision.ShipView{ID: id, Score: s.Visible()}
}

func edgyPipeline(l Locator, o track.TrackerOptions) *Pipeline {
	log := slog.New(slog.DiscardHandler)
	g := game.New(game.Options{
		Camera: noFrames{}.Status, Hub: live.NewHub(live.State{}), Now: time.Now, Log: log, PanelName: func() string { return "" },
	})
	p := New(Options{Game: g, Now: time.Now, RegistrationOptions: RegistrationOptions{Log: log}, Tracking: o})
	p.locate.locator = l
	return p
}

// edgesIn returns the search for edges in a picture that was located.
func edgesIn(p *Pipeline, located *vision.Located) *EdgeSearch {
	return p.locate.edgeSearch(vision.Frame{}, located, p.registration.drift.widen)
}

type noFrames struct{ Frames }

func (noFrames) Status() capture.FeedStatus { return capture.FeedStatus{} }

// placed asks for a ship and shows the pipeline a picture meanwhile.
func placed(w *Pipeline, p live.PlacedShip, also ...engine.Ship) (vision.Located, error) {
	answer := make(chan error, 1)
	go func() { answer <- w.PlaceShip(p) }()
	for w.placing.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	located := vision.Located{Scene: engine.Scene{Ships: also}, Ships: make([]vision.ShipView, len(also))}
	w.place(edgesIn(w, &located))
	return located, <-answer
}

func TestAPersonPlacesAShipWhoseCodeCannotBeRead(t *testing.T) {
	l := &edgyLocator{at: geom.Pose{Point: geom.Point{X: 303, Y: 398}, Heading: 91 * geom.Degree}, seen: true}
	w := edgyPipeline(l, track.TrackerOptions{})
	ask := live.PlacedShip{ID: "A1", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 400},
		Heading: 90 * geom.Degree}, Headed: true}
	got, err := placed(w, ask)
	require.NoError(t, err)
	require.Len(t, got.Scene.Ships, 1)
	require.Len(t, got.Ships, 1)
	s := got.Scene.Ships[0]
	assert.Equal(t, "edges", s.Seen)
	assert.Equal(t, l.at, s.Pose)
	assert.False(t, s.Quarters, "a person said which way it points")
	assert.Less(t, l.hint.Turn, 45*geom.Degree)

	ask.Headed = false
	got, err = placed(w, ask)
	require.NoError(t, err)
	assert.True(t, got.Scene.Ships[0].Quarters)

	_, err = placed(w, ask, engine.Ship{ID: "A1", Base: engine.Small})
	assert.ErrorContains(t, err, "its code is read")
	_, err = placed(w, ask, engine.Ship{ID: "B3", Base: engine.Large, Pose: geom.Pose{Point: geom.Point{X: 340, Y: 400}}})
	assert.ErrorContains(t, err, "B3 stands there")
	assert.False(t, l.hint.Read, "nobody knows whose card it carries")
	_, _, ok := edgesIn(w, &vision.Located{}).finder()(vision.Track{Ship: s, Read: true})
	assert.True(t, ok)
	assert.True(t, l.hint.Read, "its code was read before")
	l.seen = false
	_, err = placed(w, ask)
	assert.True(t, errors.Is(err, ErrNoEdges), "%v", err)
	_, err = placed(edgyPipeline(blindLocator{}, track.TrackerOptions{}), ask)
	assert.ErrorContains(t, err, "cannot find bases by their edges")
}

type blindLocator struct{}

func (blindLocator) Locate(vision.Frame) (vision.Located, error) { return vision.Located{}, nil }

// A base has one name: whoever named it wrongly takes it away, or names the ship that it is.
func TestANamedBaseIsNotAnotherShips(t *testing.T) {
	l := &edgyLocator{at: geom.Pose{Point: geom.Point{X: 303, Y: 398}}, seen: true}
	ask := live.PlacedShip{ID: "A3", Player: 1, Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 300, Y: 400}}, Headed: true}
	for state, refused := range map[vision.TrackState]bool{vision.Settling: true, vision.Still: true, vision.Unread: true, vision.Frozen: true,
		vision.Hidden: false, vision.Lifted: false} {
		w := edgyPipeline(l, track.TrackerOptions{})
		tracks := []vision.Track{{Ship: engine.Ship{ID: "A2", Base: engine.Small, Pose: l.at}, State: state}}
		w.o.Game.Update(func(s *game.Seen) { s.Tracks = tracks })
		_, err := placed(w, ask)
		assert.Equal(t, refused, err != nil, "%v: %v", state, err)
		if refused {
			assert.EqualError(t, err, "A3 is not placed: A2 stands there: if that is another ship's base, take it off the table first")
		}
		tracks[0].Ship.ID = "A3"
		_, err = placed(w, ask)
		assert.NoError(t, err, "it may be placed again")
		tracks[0].Ship.ID, tracks[0].Ship.Pose = "A2", geom.Pose{Point: geom.Point{X: 500, Y: 400}}
		_, err = placed(w, ask)
		assert.NoError(t, err, "the other stands elsewhere")
	}
}

// Pictures that speak each for itself remember no ship that was placed in one before.
func TestNoShipIsPlacedInADirectoryOfPictures(t *testing.T) {
	w := edgyPipeline(&edgyLocator{seen: true}, track.TrackerOptions{SettleFrames: 1})
	err := w.PlaceShip(live.PlacedShip{ID: "A1", Player: 1, Base: engine.Small})
	assert.ErrorContains(t, err, "A1 is not placed: the source has single pictures")
	assert.Nil(t, w.placing.Load(), "nobody waits")
}

// A base without a name that a person names is that ship, also where its edges alone would not show it, and continues
// to be it in the pictures after.
func TestAPersonNamesABaseWithoutAName(t *testing.T) {
	at := geom.Pose{Point: geom.Point{X: 303, Y: 398}, Heading: 1 * geom.Degree}
	sight := &vision.ObstacleSight{Bases: []vision.UnidentifiedBase{{Base: engine.Small, Pose: at, Covariance: geom.Cov3{0: 0.1, 4: 0.1,
		8: 1e-5}}}}
	w := edgyPipeline(&edgyLocator{}, track.TrackerOptions{})
	name := func(p live.PlacedShip) (vision.Located, error) {
		located := vision.Located{Obstacles: sight}
		_, err := edgesIn(w, &located).Place(p, nil)
		return located, err
	}
	ask := live.PlacedShip{ID: "B2", Player: 2, Base: engine.Small, Pose: geom.Pose{Point: at.Point, Heading: 91 * geom.Degree}, Headed: true}
	got, err := name(ask)
	require.NoError(t, err)
	s := got.Scene.Ships[0]
	assert.Equal(t, "B2", s.ID)
	assert.Equal(t, 2, s.Player)
	assert.InDelta(t, 91, s.Pose.Heading.Degrees(), 1e-9)
	assert.False(t, s.Quarters)

	again, _, ok := edgesIn(w, &vision.Located{Obstacles: sight}).finder()(vision.Track{Ship: s})
	require.True(t, ok)
	assert.Equal(t, s.Pose.Point, again.Pose.Point)

	ask.Base = engine.Large
	_, err = name(ask)
	assert.ErrorIs(t, err, ErrNoEdges, "it is a small base that stands there")
	sight = nil
	ask.Base = engine.Small
	_, err = name(ask)
	assert.ErrorIs(t, err, ErrNoEdges)
}
