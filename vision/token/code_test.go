package token

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryTwoWordsDifferInAtLeastFourCells(t *testing.T) {
	for i := range AllWords {
		for j := range i {
			if d := Distance(AllWords[i], AllWords[j]); d < 4 {
				t.Errorf("words %d (%012b) and %d (%012b) differ in %d cells, want at least 4", i, AllWords[i], j, AllWords[j], d)
			}
		}
	}
}

func TestIDsGoThereAndBack(t *testing.T) {
	seen := map[string]bool{}
	for c := range ShipCode(Ships) {
		id := c.ID()
		assert.False(t, seen[id], "id %s twice", id)
		seen[id] = true
		back, err := CodeOfID(id)
		require.NoError(t, err)
		assert.Equal(t, c, back)
	}
	for _, bad := range []string{"", "A", "A0", "A19", "B19", "C1", "a1", "A01", "A+1", "A1x"} {
		_, err := CodeOfID(bad)
		assert.ErrorContains(t, err, "expected A1", "CodeOfID(%q)", bad)
	}
}
