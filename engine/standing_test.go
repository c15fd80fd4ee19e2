package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/internal/enginetest"
)

// barred writes what ships may not do: "A attack B yes G73, …".
func barred(t *testing.T, s engine.Scene, touching engine.Touching) string {
	t.Helper()
	all, err := enginetest.StandingState(&s, touching, engine.Options{})
	require.NoError(t, err)
	var out []string
	for _, st := range all {
		for _, b := range st.Restrictions {
			out = append(out, strings.Join(strings.Fields(fmt.Sprint(st.ID, " ", b.Act, " ", b.Target, " ", b.Outcome, " ", b.Rule)), " "))
		}
	}
	return strings.Join(out, "; ")
}

func TestWhoMayNotAttack(t *testing.T) {
	for _, c := range []struct {
		name, scene, kind string
		touching          engine.Touching
		want              string
	}{
		{"G175 on an asteroid in the first edition", "1e; A small 0 0 0; r square 28 0 0 20", "asteroid", nil, "A attack yes 1e G175"},
		{"G175 contact alone is not overlapping", "1e; A small 0 0 0; r square 30 0 0 20", "asteroid", nil, ""},
		{"G176 on debris the ship can attack", "1e; A small 0 0 0; r square 28 0 0 20", "debris", nil, ""},
		{"G177 touching an asteroid is range 0 in 2.0", "2.0; A small 0 0 0; r square 30 0 0 20", "asteroid", nil, "A attack yes 2.0 G177"},
		{"G177 range 1 of it is not", "2.0; A small 0 0 0; r square 30.001 0 0 20", "asteroid", nil, ""},
		{"2.0 debris and gas do not", "2.0; A small 0 0 0; r square 28 0 0 20", "gas", nil, ""},
		{"G178 debris forbids attacks in 2.5", "2.5; A small 0 0 0; r square 30 0 0 20", "debris", nil, "A attack yes 2.5 G178"},
		{"G178 G179 gas forbids attacks and locks in 2.5", "2.5; A small 0 0 0; r square 30 0 0 20", "gas", nil,
			"A attack yes 2.5 G178; A lock yes 2.5 G179"},
		{"an obstacle of an unknown kind may be an asteroid", "2.0; A small 0 0 0; r square 30 0 0 20", "", nil, "A attack no_view 2.0 G177"},
		{"G73 no attack at range 0 in 2.0", "2.0; A small 0 0 0; B small 0 40 0", "", nil, "A attack B yes 2.0 G73; B attack A yes 2.0 G73"},
		{"G73 nor where guides touch", "2.0; A small 0 0 0; B small 0 43.2 0", "", nil, "A attack B yes 2.0 G73; B attack A yes 2.0 G73"},
		{"G73 a hair apart it may", "2.0; A small 0 0 0; B small 0 43.201 0", "", nil, ""},
		{"G177 a guide on an asteroid is range 0", "2.0; A small 0 0 0; r square 12 31 0 20", "asteroid", nil, "A attack yes 2.0 G177"},
		{"G58 range 0 may be attacked in 2.5", "2.5; A small 0 0 0; B small 0 40 0", "", nil, ""},
		{"G95 contact in the first edition may be touching", "1e; A small 0 0 0; B small 0 40 0", "", nil,
			"A attack B no_view 1e G95; B attack A no_view 1e G95"},
		{"G97 contact is not touching without an overlap", "1e; A small 0 0 0; B small 0 40 0", "", engine.Touching{}, ""},
		{"G102 no attack on a ship that it touches", "1e; A small 0 0 0; B small 0 40 0", "", engine.Touching{{"B", "A"}},
			"A attack B yes 1e G102; B attack A yes 1e G102"},
		{"G96 ships that touched and stand apart may touch", "1e; A small 0 0 0; B small 0 50 0", "", engine.Touching{{"A", "B"}},
			"A attack B too_close 1e G102; B attack A too_close 1e G102"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := enginetest.Scene(t, c.scene)
			for i := range s.Obstacles {
				s.Obstacles[i].Kind = c.kind
			}
			assert.Equal(t, c.want, barred(t, s, c.touching))
		})
	}
	s := enginetest.Scene(t, "2.0; A small 0 0 0; B small 0 43.2 0")
	s.Ships[0].Covariance = geom.Cov3{0: 0.06, 4: 0.06}
	assert.Equal(t, "A attack B too_close 2.0 G73; B attack A too_close 2.0 G73", barred(t, s, nil), "a measured contact is too close to call")
	all, err := enginetest.StandingState(&s, nil, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, engine.Indeterminate, all[0].MayAttack("B"))
	assert.Equal(t, engine.Yes, all[0].MayAttack("C"))
}

// What each kind of obstacle forbids a ship on it, in contact with it and a hair apart, in each edition.
func TestWhatEveryObstacleForbids(t *testing.T) {
	const none, attack, both = "", "A attack", "A attack; A lock"
	for _, c := range []struct {
		kind           string
		first          string // on it, in the first edition, where contact forbids nothing (G175, G176)
		second, latest string // on it or in contact, in 2.0 and 2.5 (G177 to G179)
	}{
		{"asteroid", attack, attack, attack},
		{"debris", none, none, attack},
		{"gas", none, none, both},
		{"cargo", none, none, attack}, // G43
		{"spare_parts", none, none, attack},
		{"electro_chaff", none, "A lock", "A lock"},
		{"bomb", none, none, none}, // G42
		{"satellite", none, none, none},
	} {
		for rules, on := range map[string]string{"1e": c.first, "2.0": c.second, "2.5": c.latest} {
			contact := on
			if rules == "1e" {
				contact = none
			}
			for _, at := range []struct {
				x    float64 // where the square of 20 mm lies, next to a base of 40
				want string
			}{{28, on}, {30, contact}, {30.001, none}} {
				s := enginetest.Scene(t, fmt.Sprintf("%s; A small 0 0 0; r square %.17g 0 0 20", rules, at.x))
				switch c.kind {
				case "asteroid", "debris", "gas":
					s.Obstacles[0].Kind = c.kind
				default:
					o := s.Obstacles[0]
					s.Obstacles, s.Devices = nil, []engine.Token{{ID: "r", Kind: c.kind, Pose: o.Pose, Outline: o.Outline}}
				}
				var acts []string
				for _, said := range strings.Split(barred(t, s, nil), "; ") {
					acts = append(acts, strings.Split(said, " yes")[0])
				}
				assert.Equal(t, at.want, strings.Join(acts, "; "), "%s, %s at %v", rules, c.kind, at.x)
			}
		}
	}
}

// What is not known of two ships in contact is not made up from what is known of others.
func TestTouchingThatIsNotKnownOfAPair(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 40 0; C small 40 0 0")
	o := engine.Options{MayTouch: engine.Touching{{"B", "A"}}}
	all, err := enginetest.StandingState(&s, engine.Touching{{"A", "C"}}, o)
	require.NoError(t, err)
	assert.Equal(t, engine.NoView, all[0].MayAttack("B"), "G95")
	assert.Equal(t, engine.No, all[0].MayAttack("C"), "G102")
	s.Ships[1].Pose.Y = 60
	all, err = enginetest.StandingState(&s, engine.Touching{}, o)
	require.NoError(t, err)
	assert.Equal(t, engine.Yes, all[0].MayAttack("B"), "apart they do not touch")
}

// G219: scenario features are objects, and are not attacked or locked.
func TestScenarioFeaturesAreNoTargets(t *testing.T) {
	for _, kind := range []string{"satellite", "supply_cache", "supply cache", "mission-satellite", "objective", "hyperspace_marker"} {
		for _, rules := range []string{"2.0", "2.5"} {
			s := enginetest.Scene(t, rules+"; A small 0 0 0")
			s.Markers = []engine.Token{{ID: "m", Kind: kind, Pose: geom.Pose{Point: geom.Point{Y: 60}}}}
			r, err := engine.Measure(&s, engine.Options{})
			require.NoError(t, err)
			for _, act := range []string{"attack", "lock"} {
				all := r.Restrictions(act, "A", "m")
				if kind == "hyperspace_marker" || rules == "2.0" {
					assert.Empty(t, all, "%s %s", rules, kind)
					continue
				}
				require.Len(t, all, 1)
				assert.Equal(t, engine.Yes, all[0].Outcome)
				assert.Equal(t, "no "+act+": the target is a scenario feature (2.5 G219)", all[0].Words())
			}
			assert.Empty(t, r.Restrictions("lock", "A", ""))
		}
	}
}

func TestContactsAndOverlapsOfAllThings(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 43.2 0; C small 30 -10 0; r square -30 0 0 20; q square 0 -28 0 20;"+
		" far square 200 0 0 20")
	s.Devices = []engine.Token{{ID: "b", Kind: "bomb", Pose: geom.Pose{Point: geom.Point{X: -20, Y: 35}}}}
	all, err := enginetest.StandingState(&s, nil, engine.Options{})
	require.NoError(t, err)
	require.Equal(t, "A", all[0].ID)
	assert.Equal(t, []string{"B", "C", "r", "q", "b"}, all[0].Contacts, "G17")
	assert.Equal(t, []string{"q", "b", "C"}, all[0].Overlaps)
}

func TestTouchingIsARelationWithAHistory(t *testing.T) {
	contact := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 40 0; C small 40 0 0")
	var none engine.Touching
	after := func(was engine.Touching, s engine.Scene, moved string, touched ...string) engine.Touching {
		now, err := was.After(&s, moved, touched, engine.Options{})
		require.NoError(t, err)
		return now
	}
	assert.Empty(t, after(none, contact, "A"), "G97 G98 a move into contact without an overlap is not touching")
	both := after(none, contact, "A", "B", "C")
	assert.True(t, both.Has("A", "B") && both.Has("C", "A"), "G95 G100 G101 an overlap that ends in contact is, with several at once")
	assert.False(t, both.Has("B", "C"))
	assert.True(t, after(both, contact, "A").Has("A", "B"), "G99 a ship that stays goes on touching")
	apart := contact
	apart.Ships = append([]engine.Ship(nil), contact.Ships...)
	apart.Ships[0].Pose.X = -1
	now := after(both, apart, "A")
	assert.True(t, now.Has("A", "B"), "G96 the bases of these two are still in contact")
	assert.False(t, now.Has("A", "C"), "G96 of these no longer")
	assert.True(t, after(both, apart, "B").Has("A", "C"), "the move of another ship changes nothing between two")
	_, err := none.After(&contact, "A", []string{"X"}, engine.Options{})
	assert.ErrorIs(t, err, engine.ErrNoShip)
}

// What may not be done is asked of the result by act and pair: the surest reason first, a
// lock by where either ship stands, and in words that name reason and rule.
func TestBarredIsAskedByActAndPair(t *testing.T) {
	s := enginetest.Scene(t, "2.5; A small 0 0 0; B small 0 200 0; C small 200 0 0; g square 30 0 0 20; h square 0 230.5 0 20")
	s.Obstacles[0].Kind, s.Obstacles[1].Kind = "gas", "gas"
	s.Obstacles[1].Sigma = 0.5
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	words := func(act, from, to string) (out []string) {
		for _, b := range r.Restrictions(act, from, to) {
			out = append(out, b.ID+": "+b.Words())
		}
		return out
	}
	assert.Equal(t, []string{"A: no attack: at range 0 of an obstacle, g (2.5 G178)"}, words("attack", "A", "B"))
	assert.Equal(t, words("attack", "A", "B"), words("attack", "A", "C"), "whomever it attacks")
	assert.Equal(t, []string{"B: perhaps no attack, too close to call: at range 0 of an obstacle, h (2.5 G178)"}, words("attack", "B", "A"))
	assert.Equal(t, []string{"A: no lock: at range 0 of a gas cloud, g (2.5 G179)",
		"B: perhaps no lock, too close to call: at range 0 of a gas cloud, h (2.5 G179)"}, words("lock", "B", "A"), "the sure one first")
	assert.Equal(t, []string{"A: no lock: at range 0 of a gas cloud, g (2.5 G179)"}, words("lock", "C", "A"), "a lock on a ship in gas")
	assert.Empty(t, words("attack", "C", "A"), "an attack on it is none of that")
	assert.Empty(t, words("attack", "nobody", "A"))

	s = enginetest.Scene(t, "1e; A small 0 0 0; B small 0 40 0")
	r, err = engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"A: perhaps no attack, it cannot be seen: the two ships are in contact; they are touching if one overlapped " +
		"the other (1e G95)"}, words("attack", "A", "B"))
}

// In the first edition a maneuver that has just overlapped a ship makes the two touch, also
// where no one keeps the relation; of others contact alone does not say it.
func TestAnOverlapIsKnownWithoutTheWholeRelation(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 40 0; C small 0 -40 0")
	for _, id := range []string{"A", "B"} {
		other := map[string]string{"A": "B", "B": "A"}[id]
		r, err := engine.Measure(&s, engine.Options{Overlapped: engine.Touching{{"A", "B"}}})
		require.NoError(t, err)
		all := r.Restrictions("attack", id, other)
		require.Len(t, all, 1)
		assert.Equal(t, "no attack: the two ships are touching (1e G102)", all[0].Words())
	}
	r, err := engine.Measure(&s, engine.Options{Overlapped: engine.Touching{{"A", "B"}}})
	require.NoError(t, err)
	all := r.Restrictions("attack", "A", "C")
	require.Len(t, all, 1)
	assert.Equal(t, engine.NoView, all[0].Outcome)
}

// G97, G98: a ship that has just boosted, rolled or moved in full overlapped no one, and
// so touches none that it is in contact with. Others may touch all the same.
func TestAShipThatMovedWithoutAnOverlapTouchesNone(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 40 0; C small 0 -40 0")
	var m engine.Measurer
	for range 2 { // asked again, the answer stays
		r, err := m.Measure(&s, engine.Options{Untouched: "B"})
		require.NoError(t, err)
		assert.Empty(t, r.Restrictions("attack", "A", "B"))
		assert.Empty(t, r.Restrictions("attack", "B", "A"))
		assert.Len(t, r.Restrictions("attack", "A", "C"), 1)
	}
	r, err := m.Measure(&s, engine.Options{})
	require.NoError(t, err)
	assert.Len(t, r.Restrictions("attack", "B", "A"), 1, "nothing is known of B any more")
}

// Contact that is too close to call is not stated.
func TestContactThatIsNotDecidedIsNotStated(t *testing.T) {
	s := enginetest.Scene(t, "1e; A small 0 0 0; B small 0 43.3 0")
	for i := range s.Ships {
		s.Ships[i].Covariance = geom.Cov3{0: 0.0036, 4: 0.0036}
	}
	r, err := engine.Measure(&s, engine.Options{})
	require.NoError(t, err)
	require.Equal(t, engine.Indeterminate, r.Pairs[0].Contact)
	assert.Equal(t, "perhaps no attack, too close to call: the two ships may be in contact; they are touching if they are and one "+
		"overlapped the other (1e G95)",
		r.Restrictions("attack", "A", "B")[0].Words())
	assert.Contains(t, r.Pairs[0].Explain(engine.Rules1e), "whether they are in contact is too close to call")
}
