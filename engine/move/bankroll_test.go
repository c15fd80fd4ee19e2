package move_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
	"sightline/engine/move"
)

// G92: side and direction of the roll are declared, and these are all there are.
func TestABankRollDeclaresSideAndDirection(t *testing.T) {
	for _, words := range []string{
		"barrel-roll left bank forward", "barrel-roll left bank backward", "barrel-roll right bank forward", "barrel-roll right bank backward",
		"decloak left bank forward", "decloak right bank backward", "decloak forward bank left", "decloak forward bank right",
	} {
		a, err := move.ParseAction(words)
		require.NoError(t, err)
		assert.Equal(t, words, a.String())
	}
	for _, words := range []string{
		"barrel-roll left bank", "barrel-roll bank forward", "barrel-roll left bank left", "boost left bank forward",
		"decloak forward bank forward", "decloak left bank right", "tractor left bank forward", "barrel-roll forward",
	} {
		_, err := move.ParseAction(words)
		assert.ErrorContains(t, err, "[bank forward|backward]", words)
	}
	assert.Equal(t, "Action(0, 0, 4)", move.Action{Bend: move.BendRight}.String())
}

// laid puts a pose's pieces together with hands: the template against the side of
// the base, and the other side of the ship against its end.
func laid(side, forward, radius, slide, end float64) geom.Pose {
	// In the ship's frame, by angles counted from the ship's right, anticlockwise.
	at := geom.Point{X: side * 20, Y: slide}
	arc := math.Pi / 4
	centre := at.Add(geom.Point{Y: forward * radius}) // of the template's circle
	tip := centre.Add(geom.Point{X: side * radius * math.Sin(arc), Y: -forward * radius * math.Cos(arc)})
	along := geom.Point{X: side * math.Cos(arc), Y: forward * math.Sin(arc)} // the template's direction at its end
	heading := geom.Angle(-side*forward*45) * geom.Degree                    // clockwise
	p := geom.Pose{Point: tip.Add(along.Mul(20)), Heading: heading}
	return geom.Pose{Point: p.Transform(geom.Point{Y: end}), Heading: heading.Normalized()}
}

// G92: a roll along a bank template ends turned by 45°.
func TestWhereABankRollEnds(t *testing.T) {
	for _, c := range []struct {
		action        string
		side, forward float64
		radius        float64
	}{
		{"barrel-roll left bank forward", -1, 1, 80},
		{"barrel-roll left bank backward", -1, -1, 80},
		{"barrel-roll right bank forward", 1, 1, 80},
		{"barrel-roll right bank backward", 1, -1, 80},
		{"decloak left bank forward", -1, 1, 130},
		{"decloak right bank backward", 1, -1, 130},
	} {
		for _, rules := range []string{"2.0", "2.5"} {
			r := repositioned(t, enginetest.Scene(t, rules+"; A small 0 0 0"), "A", c.action)
			require.Len(t, r.Options, 3)
			for i, name := range []string{"forward", "middle", "backward"} {
				assert.Equal(t, name, r.Options[i].Name)
				want := laid(c.side, c.forward, c.radius, 0, 10-10*float64(i))
				assert.True(t, samePose(want, r.Options[i].Final), "%s %s: %v, want %v", c.action, name, r.Options[i].Final, want)
				assert.Equal(t, engine.Yes, r.Options[i].Legal)
			}
			assert.True(t, r.Chosen && r.FullyExecuted)
		}
		t.Run("1e: both ends of the template slide", func(t *testing.T) {
			r := repositioned(t, enginetest.Scene(t, "1e; A small 0 0 0"), "A", c.action)
			require.Len(t, r.Options, 9)
			for i, o := range r.Options {
				slide := -10 + 2.5*float64(i)
				require.True(t, o.Range)
				assert.True(t, samePose(laid(c.side, c.forward, c.radius, slide, -10), o.Final), "%s from %v", c.action, o.Final)
				assert.True(t, samePose(laid(c.side, c.forward, c.radius, slide, 10), o.FinalTo), "%s to %v", c.action, o.FinalTo)
			}
		})
	}
	r := repositioned(t, enginetest.Scene(t, "2.0; A small 0 0 0"), "A", "decloak forward bank right")
	want := moved(t, enginetest.Scene(t, "2.0; A small 0 0 0"), "A", "bank right 2")
	assert.Equal(t, want.Final, r.Final, "decloaking forward is a boost along bank 2")
}

// G92 G152 G153: what forbids a roll forbids one along a bank template.
func TestWhatForbidsABankRoll(t *testing.T) {
	for _, rules := range []string{"1e", "2.0", "2.5"} {
		t.Run(rules, func(t *testing.T) {
			roll := func(s engine.Scene) move.Result {
				return repositioned(t, s, "A", "barrel-roll right bank forward")
			}
			r := roll(enginetest.Scene(t, rules+"; A small 0 0 0; rock square 50 6 0 4"))
			assert.False(t, r.FullyExecuted)
			for _, o := range r.Options {
				assert.Equal(t, engine.No, o.Legal)
				assert.Contains(t, o.Why, "has the template over rock")
			}
			r = roll(enginetest.Scene(t, rules+"; A small 0 0 0; B small 90 45 0"))
			assert.False(t, r.FullyExecuted, "a ship in the place of all ends")
			assert.Equal(t, "overlaps B", r.Options[0].Why)
			r = roll(enginetest.Scene(t, rules+"; A small 0 0 0; B small 45 -8 45; rock square 45 -33 0 4"))
			assert.True(t, r.FullyExecuted, "a ship under the template forbids nothing, a rock beside it neither")
			s := enginetest.Scene(t, rules+"; A small 500 885 0")
			s.MatWidth, s.MatHeight = 914.4, 914.4
			r = roll(s)
			assert.False(t, r.FullyExecuted)
			assert.Contains(t, r.Options[0].Why, "leaves the play area")
			s.Ships[0].Base = engine.Large
			a, err := move.ParseAction("barrel-roll right bank forward")
			require.NoError(t, err)
			_, err = move.Reposition(&s, "A", a, engine.Options{})
			assert.ErrorIs(t, err, move.ErrBankRoll)
		})
	}
}

// G92 G89: in the first edition a roll is looked for over the whole area that both
// slides reach, also where only some place of the template leaves room.
func TestABankRollIsSearchedOverTheWholeArea(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 92))
	found, none, narrow := 0, 0, 0
	for i := range moveScenes(enginetest.Shorter(60, 15)) {
		s := engine.Scene{Rules: engine.Rules1e, Ships: []engine.Ship{enginetest.RandomShip(r, "A")}}
		a := &s.Ships[0]
		a.Base = engine.Small
		end := laid(1, 1, 80, 0, 0)
		for k := range 3 { // crowded, so that little is left
			b := enginetest.RandomShip(r, string(rune('B'+k)))
			b.Base = engine.Small
			b.Pose.Point = a.Pose.Transform(end.Point.Add(geom.Point{X: 170 * (r.Float64() - 0.5), Y: 170 * (r.Float64() - 0.5)}))
			s.Ships = append(s.Ships, b)
		}
		s.Obstacles = []engine.Obstacle{{ID: "rock", Outline: enginetest.Star(r, 7, 12), Pose: geom.Pose{Point: a.Pose.Transform(geom.Point{X: 60,
			Y: 40*r.Float64() - 25})}}}
		got := repositioned(t, s, "A", "barrel-roll right bank forward")
		rock := make([]geom.Point, 7)
		for j, p := range s.Obstacles[0].Outline {
			rock[j] = s.Obstacles[0].Pose.Transform(p)
		}
		free := func(slide, x float64) bool {
			p := laid(1, 1, 80, slide, x)
			p = geom.Pose{Point: a.Pose.Transform(p.Point), Heading: a.Pose.Heading + p.Heading}
			if slowOverlap(*a, p, s.Ships[1:], rectangular) {
				return false
			}
			for _, part := range slowParts(a.Base, p, rectangular) {
				if cross(part, rock) {
					return false
				}
			}
			// The template, as small pieces of itself, whose outer corners lie so far out that none of it is left out.
			const piece = 0.5
			outer := 90/math.Cos(piece/80/2) - 80
			line := newSlowLine(80*math.Pi/4, 80, -1)
			start := geom.Pose{Point: a.Pose.Transform(geom.Point{X: 20, Y: slide}), Heading: a.Pose.Heading + math.Pi/2}
			for u := 0.0; u < line.length; u += piece {
				var q []geom.Point
				for _, c := range [][2]float64{{u, outer}, {u, -10}, {u + piece, -10}, {u + piece, outer}} {
					at := min(c[0], line.length)
					h := line.heading(at)
					q = append(q, start.Transform(line.at(at).Add(geom.Point{X: math.Cos(h), Y: -math.Sin(h)}.Mul(c[1]))))
				}
				if cross(q, rock) {
					return false
				}
			}
			return true
		}
		any := false
		for slide := -10.0; slide <= 10 && !any; slide += 0.5 {
			for x := -10.0; x <= 10 && !any; x += 0.5 {
				any = free(slide, x)
			}
		}
		legal := engine.No
		for _, o := range got.Options {
			if o.Legal == engine.Yes {
				legal = engine.Yes
				var slide float64
				for j := -1000; j <= 1000; j++ { // the template's place, from the pose itself
					if p := laid(1, 1, 80, float64(j)/100, float64(o.From)); a.Pose.Transform(p.Point).Sub(o.Final.Point).Norm() < 1e-6 {
						slide = float64(j) / 100
					}
				}
				mid := float64(o.From+o.To) / 2
				if o.To-o.From > 0.02 {
					assert.True(t, free(slide, mid), "scene %d: template at %g, slide %g", i, slide, mid)
				}
			}
		}
		switch {
		case any:
			assert.Equal(t, engine.Yes, legal, "scene %d: the slow method found a place", i)
			found++
		case legal == engine.Yes:
			narrow++ // between the slow method's steps
		default:
			none++
		}
	}
	t.Logf("%d with a place, %d narrower than the slow steps, %d without", found, narrow, none)
	assert.Greater(t, found, 1)
	assert.Greater(t, none, 1)
}
