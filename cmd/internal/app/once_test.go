package app

import (
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/pipeline"
	"sightline/vision"
)

// givenTo remembers which grey pictures a part of the program was given.
type givenTo map[string]map[*image.Gray]bool

func (g givenTo) note(who string, picture *image.Gray) {
	if g[who] == nil {
		g[who] = map[*image.Gray]bool{}
	}
	g[who][picture] = true
}

type notingMarkers struct {
	vision.MarkerDetector
	given givenTo
}

func (m notingMarkers) DetectMarkers(g *image.Gray) ([]vision.Detection, error) {
	m.given.note("the marker detector", g)
	return m.MarkerDetector.DetectMarkers(g)
}

type notingLocator struct {
	pipeline.Locator
	given givenTo
	who   string
}

func (l notingLocator) Locate(f vision.Frame) (vision.Located, error) {
	l.given.note(l.who, f.Gray)
	return l.Locator.Locate(f)
}

// No picture is decoded or converted twice: what searches it, watches over the markers,
// shows it, holds it and records it has the very picture that the source made, in memory once.
func TestEveryoneIsGivenTheSourcesOwnPicture(t *testing.T) {
	given := givenTo{}
	c := newCourt(t, func(b *desk, o *deskParts) {
		o.Markers = notingMarkers{b, given}
		o.Track = func(g *image.Gray, at []calibration.MarkerSighting) []calibration.MarkerSighting {
			given.note("the watch over the markers", g)
			return b.track(g, at)
		}
		locator := o.NewLocator
		o.NewLocator = func(t calibration.Table) (pipeline.Locator, error) {
			l, err := locator(t)
			return notingLocator{l, given, "the search"}, err
		}
	})
	alone := c.judges.newLocator
	c.judges.newLocator = func(t calibration.Table) (pipeline.Locator, error) {
		l, err := alone(t)
		return notingLocator{l, given, "the search of the held picture"}, err
	}
	made := map[*image.Gray]*vision.BGR{}
	var last vision.Frame
	for range 12 {
		c.now = c.now.Add(100 * time.Millisecond)
		c.seq++
		f := vision.Frame{Gray: image.NewGray(image.Rect(0, 0, 1280, 720)), Color: &vision.BGR{Pix: make([]byte, 3*1280*720), Width: 1280,
			Height: 720}, Seq: c.seq, Captured: c.now}
		for i := range f.Gray.Pix {
			f.Gray.Pix[i] = uint8(64 + (i*int(c.seq))%97)
		}
		made[f.Gray], last = f.Color, f
		c.pipeline.Update(f)
		v := c.hub.Newest()
		require.Same(t, f.Gray, v.Frame.Gray, "what the page shows")
		require.Same(t, f.Color, v.Frame.Color)
	}
	c.game.AskJudgeFor("player 1")
	v := c.hub.Newest()
	require.NotNil(t, v.Hold, "%+v", v.Health)
	assert.Same(t, last.Gray, v.Hold.Frame.Gray, "what is held")
	assert.Same(t, last.Color, v.Hold.Frame.Color)
	files, err := c.judges.files(v.Hold)
	require.NoError(t, err)
	assert.Same(t, last.Gray, files.Frame, "what is recorded")
	assert.Same(t, last.Color, files.Color)
	c.judges.alone(v.Hold, live.Choice{From: "A1", To: "B1"})

	for _, who := range []string{"the marker detector", "the watch over the markers", "the search", "the search of the held picture"} {
		assert.NotEmpty(t, given[who], "%s had no picture", who)
		for g := range given[who] {
			assert.Contains(t, made, g, "%s was given a copy", who)
		}
	}
}
