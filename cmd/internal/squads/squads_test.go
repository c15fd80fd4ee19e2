package squads_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/squads"
	"sightline/engine"
)

// checked reads a squad and looks it up.
func checked(t *testing.T, xws string) squads.Report {
	t.Helper()
	s, err := squads.Parse([]byte(xws))
	require.NoError(t, err)
	return squads.Builtin().Check(s)
}

func TestASquadsNameReversesNothing(t *testing.T) {
	s, err := squads.Parse([]byte(`{"faction":"scumandvillainy","name":"Aces \u202ewins 2","pilots":[{"id":"bobafett","ship":"firesprayclasspatrolcraft"}]}`))
	require.NoError(t, err)
	assert.Equal(t, "Aces \uFFFDwins 2", s.Name)
}

func TestTheTenSquads(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xws")
	require.NoError(t, err)
	require.Len(t, files, 10)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		r := checked(t, string(data))
		assert.Empty(t, r.Unknown, f)
		assert.Empty(t, r.Notes, f)
		var named struct{ Pilots []json.RawMessage }
		require.NoError(t, json.Unmarshal(data, &named))
		assert.Len(t, r.Ships, len(named.Pilots), f)
		for _, s := range r.Ships {
			assert.NotEmpty(t, s.Dial, "%s: %s", f, s.ID)
			_, err := engine.ParseBase(s.Base)
			assert.NoError(t, err, f)
		}
		assert.Equal(t, strings.HasPrefix(filepath.Base(f), "first-edition"), r.Edition == "first", f)
	}
}

func TestWhatASquadSays(t *testing.T) {
	data, err := os.ReadFile("testdata/red-flight.xws")
	require.NoError(t, err)
	s, err := squads.Parse(data)
	require.NoError(t, err)
	assert.Equal(t, "Red Flight", s.Name)
	assert.Equal(t, []string{"coreasteroid0", "coreasteroid1", "gascloud2"}, s.Obstacles)
	r := squads.Builtin().Check(s)
	assert.Equal(t, "rebelalliance", r.Faction)
	wedge := r.Ships[0]
	require.NotNil(t, wedge.Initiative)
	assert.Equal(t, 6, *wedge.Initiative)
	wedge.Initiative = nil
	assert.Equal(t, squads.ShipLine{ID: "wedgeantilles", Pilot: "Wedge Antilles", Ship: "T-65 X-wing", ShipID: "t65xwing", Base: "small",
		Dial: strings.Fields("1BB 1FB 1NB 2TW 2BB 2FB 2NB 2YW 3ER 3TW 3BW 3FW 3NW 3YW 3RR 4FW 4KR"), Arcs: []string{"front"},
		Actions:  []string{"focus", "lock", "barrel roll"},
		Upgrades: map[string][]string{"talent": {"predator"}, "astromech": {"r4astromech"}}}, wedge)
}

// The data of the first edition have the same pilot on several ships and for several
// factions, and a pilot without a skill.
func TestTheFirstEditionsPilots(t *testing.T) {
	for _, c := range []struct {
		faction, name, ship string
		skill               int
		wantShip            string
		notes               int
	}{
		{"scum", "kathscarlet", "firespray31", 7, "firespray31", 0},
		{"imperial", "kathscarlet", "firespray31", 7, "firespray31", 0},
		{"rebel", "sabinewren", "attackshuttle", 5, "attackshuttle", 0},
		{"scumandvillainy", "sabinewren", "lancerclasspursuitcraft", 5, "lancerclasspursuitcraft", 0},
		{"rebel", "sabinewren", "tiefighter", 5, "tiefighter", 0},
		{"empire", "kyloren", "tiesilencer", 9, "tiesilencer", 0},
		{"rebel", "herasyndulla", "", 7, "", 1},
		{"rebel", "darthvader", "tieadvanced", 9, "tieadvanced", 1},
	} {
		ship := ""
		if c.ship != "" {
			ship = `,"ship":"` + c.ship + `"`
		}
		r := checked(t, `{"faction":"`+c.faction+`","pilots":[{"name":"`+c.name+`"`+ship+`}]}`)
		require.Len(t, r.Ships, 1, c.name)
		if c.wantShip != "" {
			assert.Equal(t, c.wantShip, r.Ships[0].ShipID)
		}
		require.NotNil(t, r.Ships[0].Initiative, c.name)
		assert.Equal(t, c.skill, *r.Ships[0].Initiative, c.name)
		assert.Len(t, r.Notes, c.notes, "%s of %s: %v", c.name, c.faction, r.Notes)
	}
	r := checked(t, `{"faction":"scum","pilots":[{"name":"nashtahpuppilot","ship":"z95headhunter"}]}`)
	assert.Nil(t, r.Ships[0].Initiative, "the card has ?")
}

func TestUnknownIDsAreReported(t *testing.T) {
	r := checked(t, `{"version":"2.0.0","faction":"hutts","pilots":[{"id":"nobody","ship":"nothing"},{"id":"newace","ship":"t65xwing"},
		{"id":"darthvader","ship":"t65xwing"},{"id":"nobody"}]}`)
	assert.Equal(t, []string{"hutts", "nobody", "nothing", "newace"}, r.Unknown)
	require.Len(t, r.Ships, 2)
	assert.Equal(t, "newace", r.Ships[0].Pilot, "of the ship of an unknown pilot is said what is known")
	assert.Equal(t, "small", r.Ships[0].Base)
	assert.Nil(t, r.Ships[0].Initiative)
	assert.Equal(t, []string{"darthvader flies tieadvancedx1, the squad says t65xwing"}, r.Notes)

	mixed := checked(t, `{"faction":"rebelalliance","pilots":[{"id":"darthvader"}]}`)
	assert.Equal(t, []string{"darthvader flies for galacticempire, the squad is of rebelalliance"}, mixed.Notes)
	assert.Empty(t, mixed.Unknown)
}

func TestMalformedSquadsSayWhereAndWhatIsExpected(t *testing.T) {
	const ok = `{"id":"wedgeantilles"}`
	for _, c := range []struct{ xws, want string }{
		{``, "expected a squad in JSON, got nothing"},
		{"\n\n{\"faction\":", "line 3: the file ends within the squad"},
		{"{\n\"faction\" \"scum\"}", "line 2: expected JSON"},
		{"https://yasb.app/?f=Rebel%20Alliance&d=v9", "expected the squad itself, got an address: export it in the squad builder as XWS"},
		{`[]`, "the file: expected an object in braces, got a list"},
		{`"squad"`, "the file: expected an object in braces, got a text"},
		{`{} {}`, "line 1: expected the end of the file after the squad"},
		{"\xff\xfe{", "expected text in UTF-8"},
		{`{"pilots":[` + ok + `]}`, "faction: is missing"},
		{`{"faction":7,"pilots":[` + ok + `]}`, "faction: expected a text, got the number 7"},
		{`{"faction":"","pilots":[` + ok + `]}`, "faction: expected an id, got nothing"},
		{`{"faction":"scum"}`, "pilots: is missing"},
		{`{"Faction":"scum","pilots":[]}`, "faction: is missing"},
		{`{"faction":"scum","pilots":[]}`, "pilots: expected at least one"},
		{`{"faction":"scum","pilots":null}`, "pilots: expected at least one"},
		{`{"faction":"scum","pilots":{}}`, "pilots: expected a list in brackets, got an object"},
		{`{"faction":"scum","pilots":["bobafett"]}`, "pilots[0]: expected an object in braces, got a text"},
		{`{"faction":"scum","pilots":[` + ok + `,{"ship":"xwing"}]}`, "pilots[1]: expected an id, or in the first edition a name"},
		{`{"faction":"scum","pilots":[` + ok + `,{"name":"bobafett"}]}`, "pilots[1].id: is missing"},
		{`{"faction":"scum","pilots":[{"id":["bobafett"]}]}`, "pilots[0].id: expected a text, got a list"},
		{`{"faction":"scum","pilots":[{"id":"boba\u202efett"}]}`, `pilots[0].id: expected an id without blanks, got "boba\u202efett"`},
		{`{"faction":"scum","pilots":[{"id":"boba fett"}]}`, `pilots[0].id: expected an id without blanks, got "boba fett"`},
		{`{"faction":"scum","pilots":[{"id":"` + strings.Repeat("x", 101) + `"}]}`, "pilots[0].id: expected an id of at most 100 bytes"},
		{`{"faction":"scum","pilots":[{"ship":"xwing"}]}`, "pilots[0]: expected an id, or in the first edition a name"},
		{`{"version":"2.0.0","faction":"scum","pilots":[{"name":"bobafett"}]}`, "pilots[0].id: is missing"},
		{`{"version":2,"faction":"scum","pilots":[` + ok + `]}`, "version: expected a text, got the number 2"},
		{`{"version":"two","faction":"scum","pilots":[` + ok + `]}`, `version: expected one like 2.0.0, got "two"`},
		{`{"faction":"scum","faction":"rebel","pilots":[` + ok + `]}`, "faction: is repeated"},
		{`{"faction":"scum","pilots":[{"id":"a","id":"b"}]}`, "pilots[0].id: is repeated"},
		{`{"faction":"scum","pilots":[{"id":"a","ship":{}}]}`, "pilots[0].ship: expected a text, got an object"},
		{`{"faction":"scum","pilots":[{"id":"a","upgrades":"r2d2"}]}`, "pilots[0].upgrades: expected an object in braces, got a text"},
		{`{"faction":"scum","pilots":[{"id":"a","upgrades":{"crew":"r2d2"}}]}`,
			"pilots[0].upgrades.crew: expected a list in brackets, got a text"},
		{`{"faction":"scum","pilots":[{"id":"a","upgrades":{"crew":[1]}}]}`,
			"pilots[0].upgrades.crew[0]: expected an id in quotes, got the number 1"},
		{`{"faction":"scum","obstacles":"rock","pilots":[` + ok + `]}`, "obstacles: expected a list in brackets, got a text"},
		{`{"container":[{"faction":"scum"}]}`, "container: the file holds several squads"},
		{`{"faction":"scum","pilots":[` + strings.Repeat(ok+",", 200) + ok + `]}`, "pilots: expected at most 200, got 201"},
		{`{"faction":"scum","pilots":` + strings.Repeat("[", 100000), "line 1: expected JSON"},
		{`{"faction":"` + strings.Repeat(" ", squads.MaxFile) + `"}`, "expected at most 2 MB"},
	} {
		_, err := squads.Parse([]byte(c.xws))
		require.Error(t, err, "%.80s", c.xws)
		assert.Contains(t, err.Error(), c.want)
		assert.NotContains(t, err.Error(), "\n")
		assert.Less(t, len(err.Error()), 200)
	}
}

// What other programs write into the places that the format leaves to them.
func TestForeignKeysAreIgnored(t *testing.T) {
	r := checked(t, "\xEF\xBB\xBF"+
		`{"version":"2.0.0","faction":"rebelalliance","points":"many","vendor":[1,2],"favourite":true,"obstacles":null,
		"description":null,"pilots":[{"id":"wedgeantilles","name":"wedgeantilles","ship":"t65xwing","points":{},"multi":0,"upgrades":[]},
		{"id":"lukeskywalker","ship":null,"upgrades":{"force-power":[],"talent":null},"vendor":null}]}`)
	assert.Len(t, r.Ships, 2)
	assert.Empty(t, r.Unknown)
	assert.Empty(t, r.Notes)
	assert.Equal(t, "second", r.Edition)
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.xws")
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte(`{"faction":"scum","pilots":[{"id":"a","upgrades":{"crew":[1]}}]}`))
	f.Add([]byte(`{"container":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := squads.Parse(data)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NotEmpty(t, s.Pilots)
		require.NotEmpty(t, s.Faction)
		r := squads.Builtin().Check(s)
		require.LessOrEqual(t, len(r.Ships), len(s.Pilots))
		_, err = json.Marshal(r)
		require.NoError(t, err)
		for _, p := range s.Pilots {
			require.NotEmpty(t, p.ID)
		}
	})
}
