package accuracy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/locate"
	"sightline/vision/tablesim"
)

// answerTally counts the decided answers about located scenes, of any kind, and those that the truth contradicts.
type answerTally struct {
	ranges, arcs, attacks, obstructions, contacts, wrong int
	lost                                                 []string
}

func (a *answerTally) join(b *answerTally) {
	a.ranges, a.arcs, a.attacks = a.ranges+b.ranges, a.arcs+b.arcs, a.attacks+b.attacks
	a.obstructions, a.contacts, a.wrong = a.obstructions+b.obstructions, a.contacts+b.contacts, a.wrong+b.wrong
	a.lost = append(a.lost, b.lost...)
}

func (a *answerTally) all() int { return a.ranges + a.arcs + a.attacks + a.obstructions + a.contacts }

func (a *answerTally) String() string {
	return fmt.Sprintf("%d decided answers: %d ranges, %d arcs, %d attack ranges, %d obstructions, %d contacts; %d wrong", a.all(), a.ranges,
		a.arcs, a.attacks, a.obstructions, a.contacts, a.wrong)
}

// truthNear is the margin, in mm, below which the truth itself is no answer.
const truthNear = 0.05

// add measures what was located and the truth, pair by pair of the ships that both have. Ships that were named wrongly are left
// to other tests.
func (a *answerTally) add(t *testing.T, name string, located, truth engine.Scene) {
	located.Ships = slices.Clone(located.Ships)
	located.Ships = slices.DeleteFunc(located.Ships, func(s engine.Ship) bool {
		return !slices.ContainsFunc(truth.Ships, func(w engine.Ship) bool { return w.ID == s.ID })
	})
	got, err := engine.Measure(&located, engine.Options{})
	require.NoError(t, err)
	want, err := engine.Measure(&truth, engine.Options{})
	require.NoError(t, err)
	for _, p := range got.Pairs {
		i := slices.IndexFunc(want.Pairs, func(q engine.PairVerdict) bool { return q.From == p.From && q.To == p.To })
		require.GreaterOrEqual(t, i, 0, "%s: %s to %s", name, p.From, p.To)
		q := want.Pairs[i]
		one := func(kind *int, decided, same bool, margin geom.Length, says string) {
			if !decided {
				return
			}
			*kind++
			if !same && max(margin, -margin) > truthNear {
				a.wrong++
				a.lost = append(a.lost, fmt.Sprintf("%s: %s to %s: %s; truly %.2f mm the other way", name, p.From, p.To, says, margin.Millimeters()))
			}
		}
		one(&a.ranges, p.Range.Outcome == engine.Yes, p.Range.Band == q.Range.Band, q.Range.Margin, fmt.Sprint("range ", p.Range.Band))
		one(&a.contacts, p.Contact == engine.Yes || p.Contact == engine.No, p.Contact == q.Contact, 1,
			fmt.Sprint("contact ", p.Contact))
		for k, arc := range p.Arcs {
			if k >= len(q.Arcs) || q.Arcs[k].Arc != arc.Arc {
				continue
			}
			w := q.Arcs[k]
			one(&a.arcs, arc.InArc == engine.Yes || arc.InArc == engine.No, arc.InArc == w.InArc, w.Margin, fmt.Sprint(arc.Arc, " ", arc.InArc))
			if arc.Attack == nil || w.Attack == nil {
				continue
			}
			one(&a.attacks, arc.Attack.Outcome == engine.Yes, arc.Attack.Band == w.Attack.Band, w.Attack.Margin,
				fmt.Sprint(arc.Arc, " attack ", arc.Attack.Band))
			v := arc.Attack.Obstruction.Verdict
			one(&a.obstructions, v == "never" || v == "may" || v == "must", v == w.Attack.Obstruction.Verdict, w.Attack.Obstruction.Margin,
				fmt.Sprint(arc.Arc, " obstruction ", v))
		}
	}
}

// TestAnswersThroughEveryCamera holds every decided answer about random tables to the truth, through each of the simulator's
// camera models, and through two that compress harder and map tones locally.
func TestAnswersThroughEveryCamera(t *testing.T) {
	notShort(t)
	all := &answerTally{}
	for _, name := range append(tablesim.CameraNames(), "webcam,quality=60", "phone,quality=60,tone=0.6") {
		sum := &answerTally{}
		for seed := range scenes(t, 1, 20) {
			table := tablesim.RandomTable(uint64(90000+seed), 1920, 1080)
			o, err := tablesim.ParseSpec("sim:camera=" + name)
			require.NoError(t, err)
			table.Model = o.Model
			f, truth, err := table.Render()
			require.NoError(t, err)
			l, err := locate.New(calibration.Table{Camera: table.Camera, Layout: table.Layout}, locate.Options{})
			require.NoError(t, err)
			got, err := l.Locate(f)
			require.NoError(t, err)
			exact := got.Scene
			exact.Ships = nil
			for _, s := range got.Scene.Ships {
				if w, ok := truth.Ship(s.ID); ok {
					s.Pose, s.Covariance = w.Pose, geom.Cov3{}
					exact.Ships = append(exact.Ships, s)
				}
			}
			// No empty mat was learnt: of obstruction nothing is decided.
			sum.add(t, fmt.Sprintf("%s %d", name, seed), got.Scene, exact)
		}
		t.Logf("%-25s %v", name, sum)
		all.join(sum)
	}
	t.Logf("all %v", all)
	for _, w := range all.lost {
		t.Log("    ", w)
	}
	assert.Zero(t, all.wrong, "decided answers that the truth contradicts")
	assert.Positive(t, all.ranges)
}
