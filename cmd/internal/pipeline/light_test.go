package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/live"
)

func TestTheLightIsMeasuredOnceASecondAndReported(t *testing.T) {
	if testing.Short() {
		t.Skip("it renders a game")
	}
	w := newFaultyTable(t, 688, 640, 3, false)
	for range 2 * faultFPS {
		w.next()
	}
	l := w.view.Light
	require.Equal(t, live.OK, w.view.Health.Code)
	assert.Equal(t, 32, l.Edges, "four of each of eight markers")
	assert.Empty(t, l.Advice, "%+v", l)
	assert.InDelta(t, 2, l.Noise, 1.5, "the simulated sensor's")
	for _, c := range []struct {
		kind FaultKind
		says string
	}{
		// A smear aslant to the markers' edges widens all of them alike: it is "not sharp".
		{FaultDefocus, "not sharp"}, {FaultMotionBlur, "smeared|not sharp"}, {FaultBright, "burnt out"},
		{FaultPepper, ""},
	} {
		kind := c.kind
		w.source.Inject(kind)
		heard := false
		for range 2*faultFPS + 2 {
			v := w.next()
			heard = heard || len(v.Light.Advice) > 0
		}
		if kind != FaultPepper { // a tenth of the pixels is what moves, as far as noise goes
			assert.Regexp(t, c.says, fmt.Sprint(w.view.Light.Advice), "%v: %+v", kind, w.view.Light)
			assert.True(t, heard)
		}
		w.source.Inject(FaultNone)
		for range 2*faultFPS + 2 {
			w.next()
		}
		assert.Empty(t, w.view.Light.Advice, "after %v", kind)
	}
	var watch lightGauge
	measured := 0
	f, err := w.source.Next(t.Context())
	require.NoError(t, err)
	for i := range 100 { // ten seconds
		if _, ok := watch.measure(f, time.Unix(1000, 0).Add(time.Duration(i)*tenth), nil, nil); ok {
			measured++
		}
	}
	assert.InDelta(t, 10, measured, 1)
}
