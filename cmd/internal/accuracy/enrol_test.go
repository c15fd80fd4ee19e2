package accuracy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine/geom"
	"sightline/vision/look"
)

// Good cards are learnt: none of those that were shown is refused. Ships whose miniatures were left on are, although they stand
// exactly where they are said to.
func TestWhatIsLearnt(t *testing.T) {
	notShort(t)
	dirs, shown := map[string]bool{}, 0
	left := map[string][]look.View{} // with the miniature on, of the same ship in several pictures
	bases := map[string]trueBase{}
	for _, dir := range stockPictures(t) {
		r, f := readRendered(t, dir)
		if strings.Contains(dir, sharedDir(t, "stock")) && sizeOf(dir) == "1080p" {
			f = inColor(t, f, filepath.Join(dir, r.Image))
			for _, w := range r.bases(t) {
				left[w.id], bases[w.id] = append(left[w.id], look.View{Table: r.table(), Frame: f, Pose: w.pose}), w
			}
		}
		if d := enrolmentOf(dir); d != "" && !dirs[d] {
			dirs[d] = true
			all, by := learnLooks(t, d, d)
			shown += len(by)
			kinds := map[string]bool{}
			for _, s := range stockShips(t, d) {
				kinds[s.kind()] = true
			}
			assert.Len(t, all.Looks, len(kinds), "%s: cards that are learnt", filepath.Base(d))
		}
	}
	refused := 0
	for id, views := range left {
		require.GreaterOrEqual(t, len(views), 3, id)
		_, err := look.Learn(look.Card{Name: id, Ships: []string{id}, Base: bases[id].base}, views)
		if assert.Error(t, err, "%s, a %v one with its miniature", id, bases[id].base) {
			refused++
			t.Logf("%s, %v: %v", id, bases[id].base, err)
		}
		turned := append([]look.View{}, views[:2]...)
		turned[1].Pose.Heading += 90 * geom.Degree
		_, err = look.Learn(look.Card{Name: id, Ships: []string{id}, Base: bases[id].base}, turned)
		assert.Error(t, err, "%s: two views, one turned", id)
	}
	t.Logf("%d cards are learnt; of %d ships with their miniatures on, %d are refused", shown, len(left), refused)
}
