package pipeline

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/cmd/internal/live"
	"sightline/cmd/internal/naming"
	"sightline/engine"
	"sightline/engine/geom"
	"sightline/engine/move"
	"sightline/vision"
	"sightline/vision/catalogue"
	"sightline/vision/fiducial"
	"sightline/vision/locate"
	"sightline/vision/look"
	"sightline/vision/obstacle"
	"sightline/vision/tablesim"
	"sightline/vision/token"
	"sightline/vision/track"
)

// stockMat is the side of the mat on which ships without our tokens are played: pictures of it are rendered and searched quickly.
const stockMat = 560 * geom.Millimeter

// stockCamera hangs over it, 1.05 px/mm.
func stockCamera() calibration.Camera {
	const height, scale, side = 1250, 1.05, 716
	return calibration.Camera{
		Intrinsics: calibration.Intrinsics{Width: side, Height: side, Fx: scale * height, Fy: scale * height, Cx: (side - 1) / 2.0,
			Cy: (side - 1) / 2.0},
		Extrinsics: calibration.Extrinsics{R: [3][3]float64{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
			T: calibration.Vec3{-float64(stockMat) / 2, float64(stockMat) / 2, height}},
	}
}

// stockMini stands on every ship.
var stockMini = tablesim.Mini{Kind: tablesim.MiniTwin, Width: 30, Length: 26, Z: 38, Thick: 5, Color: color.RGBA{140, 146, 150, 255}}

// A stockGame is the whole pipeline over a table of ships without our tokens, several of them alike: in pictures, with hands and
// miniatures, and with the search in the background.
type stockGame struct {
	*bench
	sim   *tablesim.Table
	truth *engine.Scene
	rng   *rand.Rand
	dial  []move.Maneuver
	alike []string
	shown []vision.Frame // the table as it is, each with other noise
	n     int
	eyes  *sketchedTable // nil: the real ones

	search *stockSearch // nil: the eyes

	taps int
}

// newStockGame lays out k ships alike and one of another card. own: each was shown by itself, and not one for all.
// sketched: the pictures are sketches.
func newStockGame(t *testing.T, seed uint64, k int, own, sketched bool) *stockGame {
	g := &stockGame{rng: rand.New(rand.NewPCG(seed, 16))}
	for _, m := range []string{"turn left 1", "bank left 1", "turn right 1", "bank right 1", "bank left 2", "straight 2", "bank right 2",
		"turn left 3", "straight 3", "turn right 3", "koiogran 3", "straight 4", "koiogran 4", "straight 5"} { // much as a TIE fighter's
		maneuver, err := move.ParseManeuver(m)
		require.NoError(t, err)
		g.dial = append(g.dial, maneuver)
	}
	g.sim = &tablesim.Table{Camera: stockCamera(), Layout: calibration.DefaultLayout(stockMat, stockMat), Look: tablesim.DefaultLook(),
		Seed: seed, Worn: map[string]tablesim.Wear{}, Cards: map[string]string{}, Minis: map[string]tablesim.Mini{},
		Scene: engine.Scene{MatWidth: stockMat, MatHeight: stockMat, Rules: engine.Rules25}}
	g.sim.Look.Samples = 4
	g.truth = &g.sim.Scene
	card := fmt.Sprintf("A%d", 7+seed%10)
	add := func(id string, player int, x, y float64) {
		g.truth.Ships = append(g.truth.Ships, engine.Ship{ID: id, Player: player, Base: engine.Small, Pose: g.hand(geom.Pose{
			Point: geom.Point{X: x, Y: y}, Heading: geom.Angle(20*g.rng.NormFloat64()+180*float64(player-1)) * geom.Degree}, 1)})
		g.sim.Worn[id] = tablesim.WearStock
	}
	for i := range k {
		id := fmt.Sprintf("A%d", i+1)
		add(id, 1, 130+90*float64(i%4), 200-90*float64(i/4))
		g.sim.Cards[id], g.alike = card, append(g.alike, id)
	}
	add("B1", 2, 300, 440)
	if sketched {
		g.sketched(t, own)
		return g
	}
	table := calibration.Table{Camera: g.sim.Camera, Layout: g.sim.Layout}
	ships := locate.Options{Looks: g.learn(t, &table, own), InBackground: true}
	mat := locate.Options{Catalogue: &catalogue.Catalogue{}, Background: g.bare(t, table)}
	for _, s := range g.truth.Ships {
		g.sim.Minis[s.ID] = stockMini
	}
	g.watched(t, func(p *benchParts) {
		p.Layout, p.File = g.sim.Layout, CalibrationFile{Table: &table, Name: "truth"}
		p.Markers, p.Track = nil, fiducial.TrackMarkers
		p.NewLocator = func(table calibration.Table) (Locator, error) {
			s, err := locate.New(table, ships)
			require.NoError(t, err)
			m, err := locate.New(table, mat)
			g.search = &stockSearch{Locator: s, mat: m}
			return g.search, err
		}
	})
	return g
}

// A stockSearch is a locator that searches for ships' cards in the background, and knows whether it does. What lies on the mat, which that
// search needs, it finds at once.
type stockSearch struct {
	*locate.Locator
	mat  *locate.Locator
	runs bool
}

func (s *stockSearch) Locate(f vision.Frame) (vision.Located, error) { return s.mat.Locate(f) }

func (s *stockSearch) Rest(f vision.Frame, tracked *vision.Tracked) bool {
	s.runs = s.Locator.Rest(f, tracked)
	return s.runs
}

// sketched puts the same ships on a table that is drawn.
func (g *stockGame) sketched(t *testing.T, own bool) {
	g.eyes = &sketchedTable{g: g, own: own, rng: g.rng}
	g.truth.MatWidth, g.truth.MatHeight = calibration.MatSide, calibration.MatSide
	g.watched(t, func(p *benchParts) {
		p.NewLocator = func(calibration.Table) (Locator, error) { return g.eyes, nil }
	})
}

// watched starts the program.
func (g *stockGame) watched(t *testing.T, change func(*benchParts)) {
	memory, err := naming.OpenMemory(filepath.Join(t.TempDir(), naming.File), time.Now(), nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	g.bench = newBench(t, func(_ *bench, p *benchParts) {
		p.Dial = func(string) []move.Maneuver { return g.dial }
		p.Tracking, p.Names = track.TrackerOptions{}, memory
		p.NewChange = func(t calibration.Table) (*track.ChangeDetector, error) {
			return track.NewChangeDetector(t, track.ChangeOptions{Quiet: 2})
		}
		change(p)
	})
}

// learn shows each ship's card in four quarter turns, without its miniature.
func (g *stockGame) learn(t *testing.T, table *calibration.Table, own bool) *look.Library {
	out := &look.Library{}
	game := g.truth.Ships
	for _, s := range game {
		c := look.Card{Name: s.ID, Ships: []string{s.ID}, Base: s.Base}
		if slices.Contains(g.alike, s.ID) && !own {
			if c.Ships = g.alike; s.ID != g.alike[0] {
				continue
			}
		}
		var views []look.View
		for i := range 4 {
			s.Pose = geom.Pose{Point: geom.Point{X: 180 + 40*float64(i), Y: 190 + 30*float64(i%2)}, Heading: geom.Angle(90*i+4) * geom.Degree}
			g.truth.Ships = []engine.Ship{s}
			f, _, err := g.sim.Render()
			require.NoError(t, err)
			views = append(views, look.View{Table: *table, Frame: f, Pose: s.Pose})
		}
		l, err := look.Learn(c, views)
		require.NoError(t, err)
		out.Looks = append(out.Looks, l)
	}
	g.truth.Ships = game
	return out
}

// bare learns the empty mat.
func (g *stockGame) bare(t *testing.T, table calibration.Table) *obstacle.Background {
	ships := g.truth.Ships
	g.truth.Ships = nil
	f, _, err := g.sim.Render()
	require.NoError(t, err)
	g.truth.Ships = ships
	l := obstacle.NewBackgroundLearner(table)
	require.NoError(t, l.Add(f))
	mat, err := l.Background()
	require.NoError(t, err)
	return mat
}

// hand is a pose as a hand sets a ship down, to so many mm and degrees.
func (g *stockGame) hand(p geom.Pose, by float64) geom.Pose {
	p.X, p.Y = p.X+by*g.rng.NormFloat64(), p.Y+by*g.rng.NormFloat64()
	p.Heading = (p.Heading + geom.Angle(by*g.rng.NormFloat64())*geom.Degree).Normalized()
	return p
}

// set sets a ship down about somewhere, beside all others, and so many mm aside at least.
func (g *stockGame) set(id string, at geom.Pose, by, aside float64) {
	for range 100 {
		p := g.hand(at, by)
		free := float64(p.Distance(at.Point)) >= aside && !slices.ContainsFunc(g.truth.Ships, func(o engine.Ship) bool {
			return o.ID != id && token.BasesOverlap(o.Base, o.Pose, engine.Small, p, 0)
		})
		if free {
			g.at(id).Pose = p
			return
		}
	}
}

func (g *stockGame) at(id string) *engine.Ship {
	i := slices.IndexFunc(g.truth.Ships, func(s engine.Ship) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &g.truth.Ships[i]
}

// render takes pictures of the table as it is, with hands over some ships.
func (g *stockGame) render(over ...geom.Point) {
	g.sim.Hands = nil
	for _, p := range over {
		g.sim.Hands = append(g.sim.Hands, tablesim.Hand{Player: 1, Tip: p.Add(geom.Point{Y: 12}), Z: 40})
	}
	var f vision.Frame
	if g.eyes != nil {
		f.Gray = g.eyes.draw(&g.camera)
	} else {
		var err error
		f, _, err = g.sim.Render()
		require.NoError(g.t, err)
	}
	g.shown = nil
	for range 3 {
		noisy := f
		noisy.Gray = image.NewGray(f.Gray.Rect)
		var noise uint64
		for i, v := range f.Gray.Pix {
			if i%32 == 0 {
				noise = g.rng.Uint64()
			}
			noisy.Gray.Pix[i] = uint8(min(max(int(v)+int(noise&1)-int(noise>>1&1), 0), 255))
			noise >>= 2
		}
		g.shown = append(g.shown, noisy)
	}
}

// see lets pictures come, five a second, and holds every name in each of them against the truth.
func (g *stockGame) see(pictures int) { g.look(pictures, false) }

func (g *stockGame) look(pictures int, rest bool) {
	for range pictures {
		g.n++
		g.now = g.now.Add(frameTime)
		f := g.shown[g.n%len(g.shown)]
		f.Seq, f.Captured = uint64(g.n), g.now
		g.pipeline.Update(f)
		for _, k := range g.hub.Newest().Tracks {
			if k.State != vision.Still {
				continue
			}
			may := []string{k.Ship.ID}
			if token.Unidentified(k.Ship.ID) {
				may = k.Ship.NameDoubt
			}
			right := slices.ContainsFunc(may, func(id string) bool {
				s := g.at(id)
				return s != nil && s.Pose.Distance(k.Ship.Pose.Point) < 3
			})
			if !right && len(may) > 0 && rest {
				g.t.Errorf("picture %d: %s %v stands at %v, which it is not", g.n, k.Ship.ID, k.Ship.NameDoubt, k.Ship.Pose)
			}
		}
	}
}

// names are those of the ships that stand, and what each base may be that has none.
func (g *stockGame) names() map[string][]string {
	out := map[string][]string{}
	for _, k := range g.hub.Newest().Tracks {
		if k.State == vision.Still {
			out[k.Ship.ID] = k.Ship.NameDoubt
		}
	}
	return out
}

// rest lets pictures come until the search in the background has found all ships, and says how many of them have no name. Time stands still
// while it searches.
func (g *stockGame) rest(what string) (open int) {
	g.render()
	g.see(8)
	for range 8 {
		if len(g.names()) == len(g.truth.Ships) && (g.search == nil || !g.search.runs) { // a base may be there before its name
			break
		}
		g.see(4)
		for g.search != nil && g.search.runs && !g.search.Ready() {
			time.Sleep(10 * time.Millisecond)
		}
		g.see(6)
	}
	g.look(4, true)
	names := g.names()
	assert.Len(g.t, names, len(g.truth.Ships), "%s: %v", what, names)
	for id := range names {
		if token.Unidentified(id) {
			open++
		}
	}
	g.t.Logf("%s: %v", what, names)
	return open
}

// tell taps bases without a name until all have one: those that are left follow by elimination.
func (g *stockGame) tell() {
	for range 8 {
		base := vision.Track{}
		for _, k := range g.hub.Newest().Tracks {
			if k.State == vision.Still && token.Unidentified(k.Ship.ID) {
				base = k
			}
		}
		if base.Ship.ID == "" {
			return
		}
		i := slices.IndexFunc(g.truth.Ships, func(s engine.Ship) bool { return s.Pose.Distance(base.Ship.Pose.Point) < 3 })
		require.GreaterOrEqual(g.t, i, 0)
		s := g.truth.Ships[i]
		asked := &placing{ship: live.PlacedShip{ID: s.ID, Player: s.Player, Base: s.Base, Pose: base.Ship.Pose}, done: make(chan error, 1)}
		require.True(g.t, g.pipeline.placing.CompareAndSwap(nil, asked))
		g.see(1)
		require.NoError(g.t, <-asked.done)
		g.taps++
		g.see(5)
	}
	assert.Fail(g.t, "taps do not end", "%v", g.names())
}

// cover lays hands over ships, which takes them out of sight as far as it does, and does something under them.
func (g *stockGame) cover(ids []string, do func()) {
	var over []geom.Point
	for _, id := range ids {
		over = append(over, g.at(id).Pose.Point)
	}
	g.render(over...)
	g.see(3)
	do()
	g.render(over...)
	g.see(3)
}

// carry is cover with the ships in the hands for a while, and then somewhere.
func (g *stockGame) carry(ids []string, do func()) {
	var over []geom.Point
	for _, id := range ids {
		over = append(over, g.at(id).Pose.Point)
	}
	g.cover(ids, func() {
		down := slices.Clone(g.truth.Ships)
		g.truth.Ships = slices.DeleteFunc(g.truth.Ships, func(s engine.Ship) bool { return slices.Contains(ids, s.ID) })
		g.render(over...)
		g.see(3 + g.rng.IntN(4))
		g.truth.Ships = down
		do()
	})
}

// fly moves a ship as its player may, to where it stands clear of the mat's edge; false: it has no such maneuver.
func (g *stockGame) fly(id string) bool {
	for range 60 {
		m := g.dial[g.rng.IntN(len(g.dial))]
		r, err := move.Execute(g.truth, id, m, engine.Options{})
		if err != nil || math.Min(r.Final.X, r.Final.Y) < 35 || math.Max(r.Final.X, r.Final.Y) > float64(g.truth.MatWidth)-35 {
			continue
		}
		g.set(id, r.Final, 1, 0)
		return true
	}
	return false
}

// pair chooses two of the ships that look alike.
func (g *stockGame) pair() []string {
	i := g.rng.IntN(len(g.alike))
	return []string{g.alike[i], g.alike[(i+1+g.rng.IntN(len(g.alike)-1))%len(g.alike)]}
}

// exchange sets ships down in each other's places.
func (g *stockGame) exchange(ids []string) {
	a, b := g.at(ids[0]).Pose, g.at(ids[1]).Pose
	g.at(ids[0]).Pose, g.at(ids[1]).Pose = b, a
	g.set(ids[0], b, 1, 0)
	g.set(ids[1], a, 1, 0.7) // if both stand to 0.5 mm as the other stood, nothing tells
}

// lift takes a ship off the table until back is called.
func (g *stockGame) lift(id string) (back func(geom.Pose)) {
	s := *g.at(id)
	g.truth.Ships = slices.DeleteFunc(slices.Clone(g.truth.Ships), func(o engine.Ship) bool { return o.ID == id })
	return func(p geom.Pose) {
		s.Pose = p
		g.truth.Ships = append(g.truth.Ships, s)
		g.set(id, p, 1, 0.5)
	}
}

// What hands do with ships that look alike, and what must be said of it: never a wrong name, and a name where the maneuvers leave one
// way.
func TestStockShipsInPictures(t *testing.T) {
	if os.Getenv("SIGHTLINE_STOCKGAMES") == "" {
		t.Skip("a game takes minutes: SIGHTLINE_STOCKGAMES=1")
	}
	playStockGames(t, 1, 1, func(t *testing.T, n int) *stockGame { return newStockGame(t, uint64(n), 3+n%4, n%2 == 1, false) })
}

// playStockGames plays so many games, or as many as SIGHTLINE_STOCKGAMES says.
func playStockGames(t *testing.T, short, games int, game func(t *testing.T, n int) *stockGame) {
	if s := os.Getenv("SIGHTLINE_STOCKGAMES"); s != "" {
		games, _ = strconv.Atoi(s)
	} else if testing.Short() {
		games = short
	}
	count, asked, taps := map[int]int{}, map[int]int{}, 0
	for n := range games {
		t.Run(fmt.Sprintf("game %d", n), func(t *testing.T) {
			g := game(t, n)
			g.t = t
			assert.Equal(t, len(g.alike), g.rest("ships that were set up"))
			g.tell()
			assert.LessOrEqual(t, g.taps, len(g.alike)-1, "the last one follows")
			for _, c := range stockScript {
				moved := g.pair()
				open := c.do(g, moved)
				g.t.Logf("%s %v: %d open", c.what, moved, open)
				count[c.say]++
				asked[c.say] += min(open, 1)
				if c.say == mustAsk {
					assert.GreaterOrEqual(t, open, 2, c.what)
				}
				g.tell()
			}
			taps += g.taps
		})
	}
	t.Logf("%d double moves, %d asked; %d single ones, %d asked; %d exchanges, %d asked; %d others, %d asked; %d taps", count[mayDouble],
		asked[mayDouble], count[maySingle], asked[maySingle], count[mustAsk], asked[mustAsk], count[mustName], asked[mustName], taps)
	for say, share := range map[int]float64{maySingle: 0.1, mayDouble: 0.15, mustName: 0.1} { // a hand may hide a third ship
		assert.LessOrEqual(t, float64(asked[say]), 1+share*float64(count[say]), "moves asked about, of kind %d", say)
	}
}

// What must be said of the ships that hands moved.
const (
	mustName = iota
	mustAsk
	maySingle
	mayDouble
)

// stockEvent is what a hand did.
type stockEvent struct {
	what string
	say  int
	do   func(g *stockGame, ids []string) (open int)
}

var stockScript = []stockEvent{
	{"a hand rests over two", mustName, func(g *stockGame, ids []string) int {
		g.cover(ids, func() {})
		return g.rest("rests")
	}},
	{"one flies unseen", maySingle, func(g *stockGame, ids []string) int {
		g.carry(ids[:1], func() { g.fly(ids[0]) })
		return g.rest("flies")
	}},
	{"two fly unseen", mayDouble, func(g *stockGame, ids []string) int {
		g.carry(ids, func() { g.fly(ids[0]); g.fly(ids[1]) })
		return g.rest("fly")
	}},
	{"one is pushed", mustName, func(g *stockGame, ids []string) int {
		g.cover(ids[:1], func() { g.set(ids[0], g.at(ids[0]).Pose, 0.8, 0) })
		return g.rest("pushed")
	}},
	{"two are exchanged under hands", mustAsk, func(g *stockGame, ids []string) int {
		g.carry(ids, func() { g.exchange(ids) })
		return g.rest("exchanged")
	}},
	{"one is lifted, and put back", mustName, func(g *stockGame, ids []string) int {
		at := g.at(ids[0]).Pose
		back := g.lift(ids[0])
		g.render()
		g.see(10)
		g.rest("lifted")
		back(at)
		return g.rest("put back")
	}},
	{"two are lifted, and put back", mustAsk, func(g *stockGame, ids []string) int {
		a, b := g.at(ids[0]).Pose, g.at(ids[1]).Pose
		backA, backB := g.lift(ids[0]), g.lift(ids[1])
		g.rest("lifted")
		backA(b)
		backB(a)
		return g.rest("put back")
	}},
	{"one is lifted and put where another stood, which is taken up instead", mustAsk, func(g *stockGame, ids []string) int {
		a, b := g.at(ids[0]).Pose, g.at(ids[1]).Pose
		backA := g.lift(ids[0])
		g.rest("lifted")
		var backB func(geom.Pose)
		g.carry(ids[1:], func() {
			backB = g.lift(ids[1])
			backA(b)
		})
		g.rest("put where another stood")
		backB(a)
		return g.rest("put back")
	}},
	{"two fly again", mayDouble, func(g *stockGame, ids []string) int {
		g.carry(ids, func() { g.fly(ids[1]); g.fly(ids[0]) })
		return g.rest("fly")
	}},
}
