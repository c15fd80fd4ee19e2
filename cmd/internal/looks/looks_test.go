package looks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/engine"
	"sightline/engine/geom"
	"sightline/vision/look"
)

func TestShipsAreShownOnTheCommandLine(t *testing.T) {
	at, names := []string{"A1+A2, small,70,71.5,0", "B1,large,1,2,3", "A1+A2,small,80,90,450"}, []string{" Academy ", "Omicron"}
	got, err := Read(at, names)
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, look.Card{Name: "A1", Ships: []string{"A1", "A2"}, Base: engine.Small, Pilot: "Academy"}, got[0].Card)
	assert.Equal(t, []geom.Pose{{Point: geom.Point{X: 70, Y: 71.5}}, {Point: geom.Point{X: 80, Y: 90}, Heading: 90 * geom.Degree}},
		got[0].poses)
	assert.Equal(t, []int{0, 2}, got[0].said)
	for text, says := range map[string]string{
		"A1,small,1,2":         "expected SHIP,BASE,X,Y,HEADING",
		"A1,small,1,2,3,4":     "expected SHIP,BASE,X,Y,HEADING",
		"X1,small,1,2,3":       "expected A1",
		"A1+,small,1,2,3":      "expected A1",
		"A1,tiny,1,2,3":        "expected small",
		"A1,small,here,2,3":    `got "here"`,
		"A1,small,1,NaN,3":     `got "NaN"`,
		"B1,medium,1,2,3":      "the first --at of B1",
		"B1+B2,large,40,50,60": "the first --at of B1",
	} {
		_, err := Read([]string{"B1,large,1,2,3", text}, nil)
		assert.ErrorContains(t, err, says, text)
	}
	_, err = Read(at, append(names, "another"))
	assert.ErrorContains(t, err, "--name: expected at most one")
}

// Several pictures are of a table at rest, or one for each --at.
func TestWhichPictureShowsAShip(t *testing.T) {
	ships, err := Read([]string{"A1,small,70,70,0", "B1,small,90,90,0", "A1,small,70,70,90"}, nil)
	require.NoError(t, err)
	pictures := make([]look.View, 3)
	for i := range pictures {
		pictures[i].Frame.Seq = uint64(i)
	}
	own := ships[0].views(pictures, 3)
	require.Len(t, own, 2)
	assert.Equal(t, uint64(0), own[0].Frame.Seq)
	assert.Equal(t, uint64(2), own[1].Frame.Seq)
	assert.Equal(t, 90*geom.Degree, own[1].Pose.Heading)
	assert.Len(t, ships[0].views(pictures[:2], 3), 4, "each place in each picture")
}

// Two bases cannot stand in one place of a picture, and a ship that is seen in one heading alone is not seen from all sides.
func TestPlacesInOnePictureAreApart(t *testing.T) {
	for _, c := range []struct {
		at       []string
		pictures int
		want     string
		turned   bool
	}{
		{[]string{"A1,small,70,70,0", "A1,small,150,70,90"}, 1, "", true},
		{[]string{"A1,small,70,70,0", "A1,small,70,70,0"}, 1, "A1 at (70, 70) and A1 at (70, 70)", false},
		{[]string{"A1,small,70,70,0", "A1,small,70,70,90"}, 2, "", true}, // each in its own picture
		{[]string{"A1,small,70,70,0", "A1,small,70,70,90"}, 3, "would stand in each other", true},
		{[]string{"A1,small,70,70,0", "B1,large,110,80,0"}, 1, "A1 at (70, 70) and B1 at (110, 80)", false},
		{[]string{"A1,small,70,70,0"}, 4, "", false}, // a table at rest
		{[]string{"A1,small,70,70,0", "A1,small,300,70,10"}, 1, "", true},
	} {
		ships, err := Read(c.at, nil)
		require.NoError(t, err)
		err = CheckApart(ships, c.pictures, len(c.at))
		if c.want == "" {
			assert.NoError(t, err, c.at)
		} else {
			assert.ErrorContains(t, err, c.want)
		}
		assert.Equal(t, c.turned, ships[0].Turned(), c.at)
	}
}
