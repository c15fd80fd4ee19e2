package look

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration"
	"sightline/calibration/atomicfile"
	"sightline/calibration/atomicfile/faultdisk"
	"sightline/engine"
	"sightline/engine/geom"
)

func pose(x, y, degrees float64) geom.Pose {
	return geom.Pose{Point: geom.Point{X: x, Y: y}, Heading: (geom.Angle(degrees) * geom.Degree).Normalized()}
}

// off is by how much a sight is off the truth: in mm, degrees, and as the largest of its sigmas.
func off(f *Finder, s *Sight, truth geom.Pose) (mm, deg, sigmas float64) {
	d, turn := s.Pose.Sub(truth.Point), (s.Pose.Heading - truth.Heading).Signed()
	c := f.covariance(s, false)
	return d.Norm(), turn.Degrees(), max(math.Abs(d.X)/math.Sqrt(c[0]), math.Abs(d.Y)/math.Sqrt(c[4]), math.Abs(float64(turn))/math.Sqrt(c[8]))
}

// A card is found whichever way it points, in other light than it was learnt in and with a miniature over a third of it.
func TestABaseIsFoundByItsCard(t *testing.T) {
	looks := &Library{Looks: []*Look{small(t, 1, "A1"), small(t, 2, "A2")}}
	for i, c := range []struct {
		light [3]float64
		mini  float64 // radius, mm
		grey  bool
	}{{light: [3]float64{1, 1, 1}, mini: 12}, {light: [3]float64{0.4, 0.55, 0.7}, mini: 12}, {light: [3]float64{1.3, 1.2, 1.1}, mini: 14},
		{light: [3]float64{0.7, 0.7, 0.7}, mini: 10, grey: true}} {
		for k := range 4 {
			at := pose(120+7.3*float64(k), 130-5.1*float64(i), 77*float64(k)+31*float64(i))
			d := drawing{table: tableAt(1.02), light: c.light, noise: 1.5, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}},
				hides: discOver(at.Add(geom.Point{X: 6, Y: -3}), c.mini, 0.02)}
			frame := d.draw(uint64(10*i + k))
			if c.grey {
				frame.Color = nil
			}
			f := NewFinder(d.table, looks, calibration.Uncertainty{})
			hint := Hint{Base: engine.Small, Pose: pose(at.X+3, at.Y-2, 0), Reach: 5, Turn: math.Pi}
			s, ok, err := f.Near(frame, hint)
			require.NoError(t, err)
			require.True(t, ok, "light %v, heading %.0f°: evidence %.1f, margin %.1f", c.light, at.Heading.Degrees(), s.Evidence, s.Margin)
			assert.Equal(t, "A1", s.Look.Name)
			assert.Equal(t, []string{"A1"}, s.Ships(), "the other card looks otherwise")
			mm, deg, sigmas := off(f, &s, at)
			assert.Less(t, mm, 0.3, "mm")
			assert.Less(t, math.Abs(deg), 0.7, "degrees")
			assert.Less(t, sigmas, 3.0)
			s.Counted = true
			ship := f.Ship(&s, "", "?1")
			assert.Equal(t, "A1", ship.ID)
			assert.Equal(t, "look", ship.Seen)
			assert.Equal(t, 1, ship.Player)
		}
	}
}

// A card that was never shown, a bare mat and a card that is hidden but for a corner are no sight.
func TestNothingIsBelievedOfOtherCards(t *testing.T) {
	looks := &Library{Looks: []*Look{small(t, 1, "A1"), small(t, 2, "A2")}}
	at := pose(130, 130, 40)
	for name, d := range map[string]drawing{
		"another card": {bases: []drawnBase{{base: engine.Small, art: drawnArt(3), pose: at}}},
		"a bare mat":   {matted: true},
		"hidden": {bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}},
			hides: discOver(at.Point, 24, 0.3)},
	} {
		d.table, d.noise = tableAt(1.02), 1.5
		for seed := range uint64(3) {
			s, ok, err := NewFinder(d.table, looks, calibration.Uncertainty{}).Near(d.draw(seed), Hint{Base: engine.Small, Pose: at, Reach: 8,
				Turn: math.Pi})
			require.NoError(t, err)
			assert.False(t, ok, "%s: %.1f, %.1f", name, s.Evidence, s.Margin)
		}
	}
}

// Two ships with the same card are told by it as one of the two, and a borrowed look says so in its sigma.
func TestCopiesAreNotTold(t *testing.T) {
	one, two := small(t, 1, "A1"), small(t, 1, "B2")
	at := pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	frame := d.draw(1)
	hint := Hint{Base: engine.Small, Pose: at, Reach: 3, Turn: math.Pi}
	f := NewFinder(d.table, &Library{Looks: []*Look{one, two}}, calibration.Uncertainty{})
	s, ok, err := f.Near(frame, hint)
	require.NoError(t, err)
	require.True(t, ok)
	ship := f.Ship(&s, "", "?1")
	assert.Equal(t, "?1", ship.ID)
	assert.Equal(t, []string{"A1", "B2"}, ship.NameDoubt)
	assert.Zero(t, ship.Player, "they are of two players")
	own := f.Ship(&s, s.Look.Name, "")
	assert.InDelta(t, float64(BorrowedSigma*BorrowedSigma), ship.Covariance[0]-own.Covariance[0], 1e-9)
	assert.InDelta(t, float64(BorrowedTurn*BorrowedTurn), ship.Covariance[8]-own.Covariance[8], 1e-9)

	hint.Ship = "B2" // a person says which it is
	s, ok, err = f.Near(frame, hint)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "B2", s.Look.Name)
	assert.Empty(t, s.Alike)
}

// A look of one view has that view's shadows. They must not tell one of two copies of a card.
func TestShadowsOfOneViewDoNotTellCopies(t *testing.T) {
	at := pose(130, 130, 40)
	d := drawing{table: tableAt(1.02), noise: 1, bases: []drawnBase{{base: engine.Small, art: drawnArt(1), pose: at}}}
	shaded := d
	shaded.shades = func(p geom.Point) float64 {
		if q := at.Inverse(p); q.X > 8 && q.Y > -4 && q.Y < 14 && math.Mod(q.Y+40, 4) < 2 {
			return 0.4
		}
		return 1
	}
	learn := func(id string, d *drawing) *Look {
		l, err := Learn(Card{Name: id, Ships: []string{id}, Base: engine.Small}, d.views(1))
		require.NoError(t, err)
		return l
	}
	one, two := learn("A1", &d), learn("A2", &shaded)
	for i, table := range []*drawing{&d, &shaded} {
		f := NewFinder(d.table, &Library{Looks: []*Look{one, two}}, calibration.Uncertainty{})
		s, ok, err := f.Near(table.draw(2), Hint{Base: engine.Small, Pose: at, Reach: 3, Turn: 0.1})
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, []string{"A1", "A2"}, s.Ships(), "%d: evidence %.1f", i, s.Evidence)
	}
}

func TestHintsAreChecked(t *testing.T) {
	d := drawing{table: tableAt(1.02)}
	frame := d.draw(1)
	f := NewFinder(d.table, &Library{}, calibration.Uncertainty{})
	for _, h := range []Hint{{Base: engine.Small, Reach: 20}, {Base: engine.Small, Reach: -1},
		{Base: engine.Small, Turn: geom.Angle(math.NaN())},
		{Base: engine.Small, Pose: pose(math.NaN(), 0, 0)}} {
		_, _, err := f.Near(frame, h)
		assert.Error(t, err)
	}
	_, ok, err := f.Near(frame, Hint{Base: engine.Small, Pose: pose(-900, 4000, 0), Reach: 3, Turn: 1})
	require.NoError(t, err)
	assert.False(t, ok, "off the picture")
	big := tableAt(2)
	_, _, err = NewFinder(big, &Library{}, calibration.Uncertainty{}).Near(frame, Hint{Base: engine.Small})
	assert.ErrorContains(t, err, "the calibration is for")
}

// What makes no look is refused, and the reason is said.
func TestWhatMakesNoLookIsRefused(t *testing.T) {
	good := func(b engine.Base) drawing {
		return drawing{table: tableAt(1.02), bases: quarters(b, drawnArt(1)), noise: 1}
	}
	learn := func(b engine.Base, v []View) error {
		_, err := Learn(Card{Name: "A1", Ships: []string{"A1"}, Base: b}, v)
		return err
	}
	d := good(engine.Small)
	views := d.views(1)
	require.NoError(t, learn(engine.Small, views))
	require.NoError(t, learn(engine.Small, views[:1]), "one view makes a look")

	assert.ErrorContains(t, learn(engine.Medium, views), "medium base", "too large")
	m := good(engine.Medium)
	require.NoError(t, learn(engine.Medium, m.views(1)))
	assert.ErrorContains(t, learn(engine.Small, m.views(1)), "does not end at the edge of a small base")

	turned := append([]View{}, views...)
	turned[2].Pose.Heading += 90 * geom.Degree
	assert.Error(t, learn(engine.Small, turned), "a wrong turn")
	turned[2].Pose = views[2].Pose
	turned[2].Pose.X += 1.2
	assert.ErrorContains(t, learn(engine.Small, turned), "view 3 stands", "not where it is said to stand")

	mini := good(engine.Small)
	mini.hides = func(p geom.Point) (bool, float64) {
		for _, b := range mini.bases {
			if hidden, light := discOver(b.pose.Add(geom.Point{X: 5, Y: 4}), 13, 0.2)(p); hidden {
				return true, light
			}
		}
		return false, 0
	}
	assert.ErrorContains(t, learn(engine.Small, mini.views(1)), "miniature")

	soft := good(engine.Small)
	soft.blur = 2.5
	assert.ErrorContains(t, learn(engine.Small, soft.views(1)), "blurred")

	plain := good(engine.Small)
	for i := range plain.bases {
		plain.bases[i].art = func(u, v float64) [3]float64 { return [3]float64{0.2, 0.2, 0.2} }
	}
	assert.Error(t, learn(engine.Small, plain.views(1)), "a card without a picture")
	four := good(engine.Small)
	for i := range four.bases {
		a := drawnArt(1)
		four.bases[i].art = func(u, v float64) [3]float64 { // looks the same after a quarter turn
			for u <= 0 || v < 0 {
				u, v = v, -u
			}
			return a(u, v)
		}
	}
	assert.ErrorContains(t, learn(engine.Small, four.views(1)), "headings")

	away := append([]View{}, views...)
	away[0].Pose.X = 3
	assert.ErrorContains(t, learn(engine.Small, away), "not whole in the picture")
	assert.ErrorContains(t, learn(engine.Huge195, views), "base: expected")
	assert.ErrorContains(t, learn(engine.Small, nil), "views: expected")
}

// A disk that is full, or a power cut, at any step leaves the old look or the new one, each with its own picture.
func TestNothingMixesTwoLooks(t *testing.T) {
	old := small(t, 4, "A1")
	turned := old.Turned(1)
	turned.Pilot = "Turned"
	for _, cut := range []bool{false, true} {
		for n := 1; ; n++ { // it is full at the n-th step, or nothing is done from there on
			dir := t.TempDir()
			require.NoError(t, old.Save(dir))
			step := 0
			disk := &faultdisk.Disk{Disk: atomicfile.OS{}, Before: func(name string) error {
				step++
				if step >= n && (cut || name == "create" || name == "write" || name == "write half" || name == "sync") {
					return syscall.ENOSPC
				}
				return nil
			}}
			err := turned.save(disk, dir, "")
			b, loading := Load(dir)
			require.NoError(t, loading)
			require.Empty(t, b.Damaged, "step %d", n)
			require.Len(t, b.Looks, 1, "step %d", n)
			got := b.Looks[0]
			want := old
			if got.Pilot == "Turned" {
				want = turned
			}
			assert.Equal(t, want.Version(), got.Version(), "step %d: its own picture", n)
			if err == nil {
				require.Greater(t, n, 6)
				assert.Equal(t, "Turned", got.Pilot)
				break
			}
			if !cut {
				assert.Equal(t, old.Pilot, got.Pilot, "step %d", n)
				left, err := os.ReadDir(dir)
				require.NoError(t, err)
				assert.Len(t, left, 2, "step %d", n)
			}
		}
	}
}

// Whenever the power fails while a look is renamed, the card has one name: the earlier one or the new one. What is left of the other is
// removed with the next change, and does not come back with it.
func TestARenamedCardHasOneName(t *testing.T) {
	old := small(t, 4, "A1")
	renamed, err := old.Renamed([]string{"B2"}, "Renamed")
	require.NoError(t, err)
	names := func(dir string) (out []string) {
		b, err := Load(dir)
		require.NoError(t, err)
		require.Empty(t, b.Damaged)
		left, err := filepath.Glob(filepath.Join(dir, "*.json"))
		require.NoError(t, err)
		require.Len(t, left, len(b.Looks)+len(b.Hidden), "none is left out without a word")
		for _, l := range b.Looks {
			out = append(out, l.Name)
		}
		return out
	}
	both := 0
	for n := 1; ; n++ { // the power fails before the n-th step
		dir := t.TempDir()
		require.NoError(t, old.Save(dir))
		step := 0
		disk := &faultdisk.Disk{Disk: atomicfile.OS{}, Before: func(string) error {
			if step++; step >= n {
				return syscall.EIO
			}
			return nil
		}}
		err := renamed.rename(disk, dir, "A1")
		got := names(dir)
		require.Len(t, got, 1, "step %d", n)
		if err == nil {
			require.Greater(t, n, 6)
			assert.Equal(t, []string{"B2"}, got)
			break
		}
		left, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		if both += len(left) - 1; len(left) == 1 {
			continue
		}
		assert.Equal(t, []string{"B2"}, got, "step %d", n)
		b, err := Load(dir)
		require.NoError(t, err)
		require.Len(t, b.Hidden, 1)
		assert.Equal(t, Hidden{"A1", "B2"}, b.Hidden[0])
		if n%2 == 0 {
			require.NoError(t, renamed.Turned(1).Save(dir))
			assert.Equal(t, []string{"B2"}, names(dir), "it is changed")
			continue
		}
		require.NoError(t, Remove(dir, "B2"))
		assert.Empty(t, names(dir), "it is removed")
	}
	assert.Positive(t, both, "the power never failed while both were there")

	dir := t.TempDir()
	require.NoError(t, old.Save(dir))
	require.NoError(t, renamed.Rename(dir, "A1"))
	require.NoError(t, small(t, 9, "A1").Save(dir))
	assert.Equal(t, []string{"A1", "B2"}, names(dir), "another card gets the name")
	again, err := renamed.Renamed([]string{"A3"}, "")
	require.NoError(t, err)
	require.NoError(t, again.Rename(dir, "B2"))
	assert.Equal(t, []string{"A1", "A3"}, names(dir))
}

// An earlier version could save a look whose name is that of a picture of another one now.
func TestALookKeepsThePictureOfAnother(t *testing.T) {
	dir := t.TempDir()
	other := small(t, 9, "A2")
	other.Name = "A1-0123456789ab"
	doc, picture, err := other.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, other.Name+".json"), doc, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, other.Name+".png"), picture, 0o600))
	l := small(t, 4, "A1")
	require.NoError(t, l.Save(dir))
	require.NoError(t, l.Turned(1).Save(dir))
	require.NoError(t, Remove(dir, "A1"))
	b, err := Load(dir)
	require.NoError(t, err)
	require.Empty(t, b.Damaged)
	require.Len(t, b.Looks, 1)
	assert.Equal(t, other.Version(), b.Looks[0].Version())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2)
}

func TestALookSurvivesItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "looks")
	l := small(t, 4, "A1")
	l.Ships = []string{"A1", "A2"}
	require.NoError(t, l.Save(dir))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o644))
	known, err := Load(dir)
	require.NoError(t, err)
	require.Len(t, known.Looks, 1)
	got := known.Looks[0]
	assert.Equal(t, []string{"A1", "A2"}, got.Ships)
	assert.Equal(t, "Drawn", got.Pilot)
	assert.Equal(t, l.Scale, got.Scale)
	assert.True(t, got.Color)
	for k, w := range l.weight {
		require.InDelta(t, w, got.weight[k], 0.003)
		require.InDelta(t, l.cells[3*k], got.cells[3*k], 0.51)
	}
	assert.Same(t, got, known.Of("A2"))
	assert.True(t, got.Own("A1"))
	assert.False(t, got.Own("A2"))
	assert.Nil(t, known.Of("B1"))

	_, err = Load(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// saved are two looks in a folder, and the path of the first one's picture.
func saved(t *testing.T) (dir, picture string) {
	dir = filepath.Join(t.TempDir(), "looks")
	require.NoError(t, small(t, 4, "A1").Save(dir))
	require.NoError(t, small(t, 5, "B1").Save(dir))
	picture, err := PictureFile(dir, "A1")
	require.NoError(t, err)
	return dir, picture
}

// A look that cannot be read leaves the others in use, and is named.
func TestADamagedLookIsLeftOutAlone(t *testing.T) {
	for name, harm := range map[string]func(dir, picture string) error{
		"no picture":     func(_, picture string) error { return os.Remove(picture) },
		"half a picture": func(_, picture string) error { return os.Truncate(picture, 500) },
		"another picture": func(dir, picture string) error {
			other, err := PictureFile(dir, "B1")
			if err != nil {
				return err
			}
			raw, err := os.ReadFile(other)
			if err != nil {
				return err
			}
			return os.WriteFile(picture, raw, 0o644)
		},
		"half a description": func(dir, _ string) error { return os.Truncate(filepath.Join(dir, "A1.json"), 40) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, picture := saved(t)
			require.NoError(t, harm(dir, picture))
			b, err := Load(dir)
			require.NoError(t, err)
			require.Len(t, b.Looks, 1)
			assert.Equal(t, "B1", b.Looks[0].Name)
			require.Len(t, b.Damaged, 1)
			assert.Equal(t, "A1", b.Damaged[0].Name)
			assert.ErrorContains(t, b.Damaged[0].Err, "A1.json: ")
			assert.True(t, b.misses(engine.Small))
			assert.Equal(t, name == "half a description", b.misses(engine.Large), "only the description tells the base")
			require.NoError(t, small(t, 4, "A1").Save(dir), "it is shown again")
			b, err = Load(dir)
			require.NoError(t, err)
			assert.Len(t, b.Looks, 2)
			assert.Empty(t, b.Damaged)
			assert.False(t, b.misses(engine.Small))
		})
	}
}

// What an earlier version saved is read, and saving it again leaves one picture.
func TestALookOfAnEarlierVersionIsRead(t *testing.T) {
	dir := t.TempDir()
	l := small(t, 4, "A1")
	doc, picture, err := l.Encode()
	require.NoError(t, err)
	require.NotContains(t, string(doc), "sha256")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A1.json"), doc, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "A1.png"), picture, 0o644))
	got, err := LoadOne(dir, "A1")
	require.NoError(t, err)
	assert.Equal(t, l.Version(), got.Version())
	require.NoError(t, got.Turned(1).Save(dir))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2)
	require.NoError(t, Remove(dir, "A1"))
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.ErrorIs(t, Remove(dir, "A1"), os.ErrNotExist)
}

// Files that are no looks are refused, with the key or what is wrong with the picture.
func TestBadFilesAreRefused(t *testing.T) {
	doc, picture, err := small(t, 4, "A1").Encode()
	require.NoError(t, err)
	change := func(from, to string) []byte {
		require.Contains(t, string(doc), from)
		return []byte(strings.Replace(string(doc), from, to, 1))
	}
	wrongSize := func(n int) []byte {
		var b bytes.Buffer
		img := image.NewNRGBA(image.Rect(0, 0, n, n))
		img.Set(0, 0, color.NRGBA{1, 2, 3, 4})
		require.NoError(t, png.Encode(&b, img))
		return b.Bytes()
	}
	for _, c := range []struct {
		doc, picture []byte
		want         string
	}{
		{nil, picture, "not a look"},
		{[]byte("[]"), picture, "not a look"},
		{append(doc[:len(doc):len(doc)], "{}"...), picture, "something follows"},
		{change(`"version": 1`, `"version": 2`), picture, "version: expected 1, got 2"},
		{change(`"version": 1`, `"version": 1, "extra": 2`), picture, "extra"},
		{change(`"version": 1`, `"version": 1, "Version": 1`), picture, "appears twice"},
		{change(`"small"`, `"tiny"`), picture, "base: expected small"},
		{change(`"small"`, `"huge-195"`), picture, "base: expected small, medium or large"},
		{change(`"small"`, `"large"`), picture, "its picture: expected 151×151"},
		{change(`"A1"`, `"X1"`), picture, `ships: ship id "X1"`},
		{change(`"A1"`, `"A1", "A1"`), picture, "twice"},
		{change(`"z_mm": 3.6`, `"z_mm": 36`), picture, "z_mm: expected 1 to 6"},
		{change(`"cell_mm": 0.5`, `"cell_mm": 1`), picture, "cell_mm: expected 0.5"},
		{change(`"views": 4`, `"views": 0`), picture, "views: expected"},
		{change(`"Drawn"`, `"\u0007"`), picture, "pilot: expected"},
		{doc, nil, "its picture"},
		{doc, picture[:len(picture)/2], "its picture"},
		{doc, wrongSize(70), "expected 71×71"},
		{doc, wrongSize(71), "the views agree in 0 %"},
	} {
		_, err := Decode("A1", c.doc, c.picture)
		assert.ErrorContains(t, err, c.want)
	}
	for _, name := range []string{"", "a/b", "..", "ä", strings.Repeat("a", 41)} {
		_, err := Decode(name, doc, picture)
		assert.ErrorContains(t, err, "name: expected", name)
	}
}

func FuzzDecode(f *testing.F) {
	doc, picture, err := small(f, 4, "A1").Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc, picture)
	f.Add([]byte(`{"version":1}`), picture[:40])
	f.Fuzz(func(t *testing.T, doc, picture []byte) {
		l, err := Decode("A1", doc, picture)
		if err != nil {
			return
		}
		again, picture, err := l.Encode()
		require.NoError(t, err)
		require.True(t, json.Valid(again))
		_, err = Decode("A1", again, picture)
		require.NoError(t, err, "what is written can be read")
	})
}

// Looks that are kept with a ruling are the same when they are read again.
func TestLooksInOneDocument(t *testing.T) {
	all := &Library{Looks: []*Look{small(t, 1, "A1"), small(t, 2, "B1"), small(t, 3, "B2")}}
	raw, err := all.Only([]string{"B2", "A1", "A7"}).Encode()
	require.NoError(t, err)
	got, err := DecodeLibrary(raw)
	require.NoError(t, err)
	require.Len(t, got.Looks, 2)
	for i, want := range []*Look{all.Looks[0], all.Looks[2]} {
		doc, picture, err := want.Encode()
		require.NoError(t, err)
		again, pictureAgain, err := got.Looks[i].Encode()
		require.NoError(t, err)
		assert.Equal(t, [2]string{string(doc), string(picture)}, [2]string{string(again), string(pictureAgain)})
	}
	for bad, want := range map[string]string{
		"": "looks: ", "[]": "looks: ", `{"version":2,"looks":[]}`: "version: expected 1, got 2",
		`{"version":1,"looks":[{"name":"a/b","of":{},"picture":""}]}`:  `looks[0]: "a/b": name: expected`,
		`{"version":1,"looks":[{"name":"A1","of":{},"picture":""}]}`:   `looks[0]: "A1": version: expected 1, got 0`,
		strings.Replace(string(raw), `"B2","of"`, `"A1","of"`, 1):      `looks[1]: "A1": it appears twice`,
		strings.Replace(string(raw), `"picture":"`, `"picture":"!`, 1): "looks: ",
	} {
		_, err := DecodeLibrary([]byte(bad))
		assert.ErrorContains(t, err, want, bad[:min(len(bad), 60)])
	}
}

func FuzzDecodeLibrary(f *testing.F) {
	raw, err := (&Library{Looks: []*Look{small(f, 4, "A1")}}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"version":1,"looks":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := DecodeLibrary(raw)
		if err != nil {
			return
		}
		again, err := b.Encode()
		require.NoError(t, err)
		_, err = DecodeLibrary(again)
		require.NoError(t, err, "what is written can be read")
	})
}

// All known cards of a table are found wherever they lie; of two bases with one look neither is named.
func TestTheWholeMatIsSearched(t *testing.T) {
	looks := &Library{Looks: []*Look{small(t, 1, "A1"), small(t, 2, "B1")}}
	d := drawing{table: tableAt(1.02), noise: 1, matted: true, bases: []drawnBase{
		{base: engine.Small, art: drawnArt(1), pose: pose(60, 70, 200), guides: 2},
		{base: engine.Small, art: drawnArt(1), pose: pose(150, 75, 33), guides: 2},
		{base: engine.Small, art: drawnArt(2), pose: pose(70, 190, 310), guides: 2},
		{base: engine.Small, art: drawnArt(3), pose: pose(190, 180, 10), guides: 2}, // was never shown
	}}
	d.hides = discOver(geom.Point{X: 155, Y: 80}, 12, 0.03)
	lies := func(p geom.Point) bool {
		for _, b := range d.bases {
			if b.pose.Distance(p) < 30 {
				return true
			}
		}
		return false
	}
	f := NewFinder(d.table, looks, calibration.Uncertainty{})
	frame := d.draw(1)
	names := map[string]int{}
	for _, s := range f.Search(frame, lies, nil) {
		ship := f.Ship(&s, "", "?1")
		names[ship.ID]++
		i := 2
		if s.Look.Name == "A1" {
			assert.True(t, s.Elsewhere)
			assert.Equal(t, []string{"A1"}, ship.NameDoubt)
			if i = 0; s.Pose.X > 100 {
				i = 1
			}
		}
		mm, _, sigmas := off(f, &s, d.bases[i].pose)
		assert.Less(t, mm, 0.3, s.Look.Name)
		assert.Less(t, sigmas, 3.0, s.Look.Name)
	}
	assert.Equal(t, map[string]int{"?1": 2, "B1": 1}, names)

	missing := *looks
	for _, base := range []engine.Base{engine.Large, engine.Small} {
		missing.Damaged = []Damage{{Name: "B2", Base: base}}
		f := NewFinder(d.table, &missing, calibration.Uncertainty{})
		named := ""
		for _, s := range f.Search(frame, lies, nil) {
			if ship := f.Ship(&s, "", "?1"); ship.ID != "?1" {
				named = ship.ID
			} else if base == engine.Small {
				assert.True(t, ship.LookDoubt)
			}
		}
		assert.Equal(t, base == engine.Large, named == "B1", "B2, whose look cannot be read, may have the same card")
	}

	taken := []engine.Ship{{Base: engine.Small, Pose: d.bases[2].pose}}
	for _, s := range f.Search(frame, lies, taken) {
		assert.Equal(t, "A1", s.Look.Name, "B1 is known to stand there")
	}
	assert.Empty(t, f.Search(frame, func(geom.Point) bool { return false }, nil))
}

// A card that shows the same drawing in other colours is another card, in whatever light.
func TestTheSameDrawingInOtherColoursIsAnotherCard(t *testing.T) {
	looks := &Library{Looks: []*Look{small(t, 1, "A1")}}
	shown := drawnArt(1)
	other := func(u, v float64) [3]float64 {
		c := shown(u, v)
		return [3]float64{c[1], c[2], c[0]}
	}
	at := pose(130, 130, 40)
	for _, light := range [][3]float64{{1, 1, 1}, {0.6, 0.8, 1}, {1, 0.8, 0.6}} {
		for name, a := range map[string]art{"A1": shown, "": other} {
			d := drawing{table: tableAt(1.02), noise: 1.5, light: light, bases: []drawnBase{{base: engine.Small, art: a, pose: at}}}
			f := NewFinder(d.table, looks, calibration.Uncertainty{})
			s, ok, err := f.Near(d.draw(7), Hint{Base: engine.Small, Pose: at, Reach: 3, Turn: math.Pi})
			require.NoError(t, err)
			assert.Equal(t, name == "A1", ok, "%v: evidence %.1f", light, s.Evidence)
			assert.Equal(t, name == "A1", ok && s.Named())
		}
	}
}

// Where a grey miniature hides what is coloured, the card is the look's by what else is in view; a card in other colours is not.
func TestTheHueOfWhatIsInView(t *testing.T) {
	l, at := small(t, 1, "A1"), pose(130, 130, 40)
	shown := drawnArt(1)
	for _, c := range []struct {
		name   string
		art    art
		hidden float64 // mm, radius
		agrees bool
	}{
		{"the look's card", shown, 0, true},
		{"half hidden", shown, 13, true},
		{"in other colours", func(u, v float64) [3]float64 { c := shown(u, v); return [3]float64{c[2], c[0], c[1]} }, 0, false},
	} {
		d := drawing{table: tableAt(1.02), noise: 1.5, light: [3]float64{0.6, 0.8, 1}, hides: discOver(at.Point, c.hidden, 0.4),
			bases: []drawnBase{{base: engine.Small, art: c.art, pose: at}}}
		s, ok := newScan(&d.table, d.draw(3), at.Point, l.Z, 40)
		require.True(t, ok)
		f := newFitting(s, l, &l.grids().fine, at)
		require.True(t, f.light(), c.name)
		f.agree()
		cosine, ok := f.hue()
		require.True(t, ok, c.name)
		assert.Equal(t, c.agrees, cosine >= hueAgrees, "%s: %.2f", c.name, cosine)
	}
	gray := &fitting{g: &grid{step: 1, weight: make([]float32, 900), block: make([]int32, 900)}, seen: make([]bool, 900)}
	_, ok := gray.hue()
	assert.False(t, ok, "nothing is in view")
}

// What agrees with a look only in part may be a card that was never shown, and so may one whose name is not read, where more bases stand
// than ships were shown: it stands there, and gets no name.
func TestWhatMayBeAnotherCardIsNotNamed(t *testing.T) {
	l := &Look{Name: "A1", Ships: []string{"A1"}}
	for _, c := range []struct {
		sight Sight
		named bool
	}{
		{Sight{Evidence: nameLeast, Plate: PlateAgrees, Kind: kindPlate}, true},
		{Sight{Evidence: nameLeast, Plate: PlateAgrees, Kind: kindPlate - 0.1}, false}, // another card may have the same name
		{Sight{Evidence: nameLeast - 0.1, Plate: PlateAgrees, Kind: 9, Counted: true}, false},
		{Sight{Evidence: nameLeast}, false}, {Sight{Evidence: nameLeast, Counted: true}, true},
		{Sight{Evidence: nameLeast, Counted: true, Plate: PlateDenies}, false},
		{Sight{Evidence: nameLeast, Counted: true, Plate: PlateAgrees, Elsewhere: true}, false},
		{Sight{Evidence: nameLeast, Counted: true, Plate: PlateAgrees, Kind: -3.1}, false}, // all but the name is another card's
		{Sight{Evidence: nameLeast - 0.1, Dots: Naming{Ship: "A1"}}, true},                 // its dots say it
	} {
		c.sight.Look = l
		assert.Equal(t, c.named, c.sight.Named(), "%+v", c.sight)
	}
}
