package draw

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
)

func TestLongNotesAreWrapped(t *testing.T) {
	got := wrapped([]string{"short", "one two three four five", strings.Repeat("x", 25)}, 10)
	for _, l := range got {
		assert.LessOrEqual(t, len(l), 10+1)
	}
	assert.Equal(t, "short", got[0])
	assert.Equal(t, "onetwothreefourfive"+strings.Repeat("x", 25), strings.ReplaceAll(strings.Join(got[1:], ""), " ", ""))
}

func TestALabelGoesWhereItHidesNothing(t *testing.T) {
	d := &drawing{view: box{0, 0, 100, 100}}
	d.unit, d.top = 1, 100
	d.take(geom.Point{X: 20, Y: 20}, geom.Point{X: 40, Y: 40})
	d.label("tag", 2, "word", geom.Point{X: 30, Y: 30}, geom.Point{X: 60, Y: 60}, geom.Point{X: 80, Y: 80})
	assert.Contains(t, d.b.String(), `x="60" y="40"`, "the first place is taken, the second is free")
	d.label("tag", 2, "word", geom.Point{X: 60, Y: 60}, geom.Point{X: 80, Y: 80})
	assert.Contains(t, d.b.String(), `x="80" y="20"`, "a label takes its place")
	d.label("tag", 2, "word", geom.Point{X: 400, Y: 50})
	x, err := strconv.ParseFloat(regexp.MustCompile(`x="([\d.]+)" y="50"`).FindStringSubmatch(d.b.String())[1], 64)
	require.NoError(t, err)
	assert.Less(t, x, 100.0, "it stays in the picture")
}

// Whatever is chosen from, in any edition, can be drawn: every option once, in the
// class that says whether it is legal.
func TestEveryOptionIsDrawnByItsLegality(t *testing.T) {
	for _, rules := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		for _, words := range []string{"barrel-roll left", "barrel-roll right bank forward", "decloak left bank backward",
			"decloak forward bank left", "boost right", "tractor left"} {
			s := engine.Scene{Rules: rules, Ships: []engine.Ship{
				{ID: "A", Base: engine.Small}, {ID: "B", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: -82, Y: 47}}},
				{ID: "C", Base: engine.Small, Pose: geom.Pose{Point: geom.Point{X: 120, Y: 40}}},
			}}
			a, err := move.ParseAction(words)
			require.NoError(t, err)
			svg, err := SVG(&s, Options{Move: &Moved{Ship: "A", Action: &a}})
			require.NoError(t, err)
			r, err := move.Reposition(&s, "A", a, engine.Options{})
			require.NoError(t, err)
			for _, o := range r.Options {
				class := optionClass(&o)
				if o.Range {
					class = "sweep " + class
				}
				assert.Contains(t, string(svg), fmt.Sprintf("class=%q", class), "%v %s", rules, words)
				assert.Contains(t, string(svg), o.Name)
			}
			assert.NotContains(t, string(svg), "NaN")
		}
	}
}
