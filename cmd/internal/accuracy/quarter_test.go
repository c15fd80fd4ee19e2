package accuracy

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/look"
)

// TestQuarterTurnsOfStockBases: the first view of a rendered card says by how many quarter turns each other view of it is
// turned, and that no card of another chassis is it.
func TestQuarterTurnsOfStockBases(t *testing.T) {
	if testing.Short() {
		t.Skip("all enrolments")
	}
	dirs := map[string]bool{}
	for _, dir := range stockPictures(t) {
		if d := enrolmentOf(dir); d != "" {
			dirs[d] = true
		}
	}
	require.NotEmpty(t, dirs)
	right, all, others, foreign := 0, 0, 0, 0
	for dir := range dirs {
		r, f := readRendered(t, dir)
		f = inColor(t, f, filepath.Join(dir, r.Image))
		extra, truth := stockShips(t, dir), r.bases(t)
		views := map[string][]look.View{}
		kinds := map[string]stockShip{}
		for i, s := range extra {
			id, _, _ := strings.Cut(s.ID, "_")
			views[id], kinds[id] = append(views[id], look.View{Table: r.table(), Frame: f, Pose: truth[i].pose}), s
		}
		for id, own := range views {
			base, err := engine.ParseBase(kinds[id].Base)
			require.NoError(t, err)
			first, err := look.Learn(look.Card{Name: id, Ships: []string{id}, Base: base}, own[:1])
			require.NoError(t, err, "%s: %s", dir, id)
			for i, v := range own[1:] {
				v.Pose.Heading = (v.Pose.Heading - geom.Angle(i)*math.Pi/2).Normalized()
				turn, ok := first.Quarter(v)
				all++
				if ok && turn == i {
					right++
				}
				assert.False(t, ok && turn != i, "%s: %s, view %d: turned by %d, not %d", dir, id, i+2, turn, i)
			}
			for other, theirs := range views {
				if kinds[other].Base != kinds[id].Base || chassis(kinds[other]) == chassis(kinds[id]) {
					continue
				}
				foreign++
				if _, ok := first.Quarter(theirs[0]); ok {
					others++
				}
			}
		}
	}
	t.Logf("%d of %d turns told, none wrong; %d of %d cards of another chassis taken for the first", right, all, others, foreign)
	assert.GreaterOrEqual(t, float64(right), 0.97*float64(all))
	assert.Zero(t, others)
}

// chassis is what of a card's art is not its name plate.
func chassis(s stockShip) string {
	_, rest, _ := strings.Cut(string(s.Stock.Art), `"chassis":`)
	name, _, _ := strings.Cut(rest, ",")
	return name
}
