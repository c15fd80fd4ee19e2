package squads_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/squads"
	"sightline/engine/flown"
)

// Every pilot of both tables resolves by what a squad says of it: all 755 that the data hold
// of the second edition, and all 297 of the first.
func TestEveryPilotResolves(t *testing.T) {
	for _, c := range []struct {
		table  *squads.Table
		form   string
		ships  int
		pilots int
	}{
		{squads.Builtin().Second, `{"version":"2.0.0","faction":%q,"pilots":[{"id":%q,"ship":%q}]}`, 108, 755},
		{squads.Builtin().First, `{"version":"0.3.0","faction":%q,"pilots":[{"name":%q,"ship":%q}]}`, 56, 297},
	} {
		assert.Len(t, c.table.Ships, c.ships)
		n := 0
		for _, ship := range c.table.Ships {
			for _, p := range ship.Pilots {
				n++
				r := checked(t, fmt.Sprintf(c.form, p.Faction, p.ID, ship.ID))
				require.Empty(t, r.Unknown, p.ID)
				require.Len(t, r.Ships, 1)
				got := r.Ships[0]
				assert.Equal(t, []string{p.ID, p.Name, ship.ID, ship.Base.String()}, []string{got.ID, got.Pilot, got.ShipID, got.Base})
				assert.Equal(t, p.Initiative, got.Initiative, p.ID)
				assert.Equal(t, len(ship.Dial) == 0, len(r.Notes) == 1, "%s: %v", p.ID, r.Notes)
				if c.table.Edition == squads.Second { // the id alone will do
					r = checked(t, fmt.Sprintf(`{"faction":%q,"pilots":[{"id":%q}]}`, p.Faction, p.ID))
					assert.Equal(t, got, r.Ships[0])
				}
			}
		}
		assert.Equal(t, c.pilots, n)
	}
}

// Whoever flies a ship can be asked what it has flown: all entries of the dials are maneuvers
// that the engine knows, but for the huge ships', and are tried where the dial is not known.
func TestEveryDialIsRead(t *testing.T) {
	entries, tried := 0, flown.Every().Maneuvers
	for _, table := range []*squads.Table{squads.Builtin().First, squads.Builtin().Second} {
		for _, ship := range table.Ships {
			if strings.HasPrefix(ship.Base.String(), "huge") {
				continue
			}
			dial, err := flown.ParseDial(strings.Join(ship.Dial, ","))
			if len(ship.Dial) > 0 {
				require.NoError(t, err, ship.ID)
			}
			entries += len(dial)
			assert.Subset(t, tried, dial, ship.ID)
		}
	}
	assert.Greater(t, entries, 2000)
}

func TestWritingTheTableIsDeterministic(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		path := filepath.Join("data", name+"-edition.json")
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		table, err := squads.Read(path)
		require.NoError(t, err)
		table.Ships[0], table.Ships[1] = table.Ships[1], table.Ships[0]
		got, err := table.Write()
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), name)
	}
	assert.Contains(t, squads.Notice, "Copyright (c) 2018 Guido Kessels")
	assert.Contains(t, squads.Notice, "Permission is hereby granted, free of charge")
}

// The table is what the generator makes of the data that this project has read.
func TestTheTableHoldsTheReferenceData(t *testing.T) {
	for name, table := range map[string]*squads.Table{"first": squads.Builtin().First, "second": squads.Builtin().Second} {
		path := filepath.Join("../../../../shared/ships", name+"-edition.json")
		if _, err := os.Stat(path); err != nil {
			t.Skip("the reference data are not here: ", err)
		}
		reference, err := squads.Read(path)
		require.NoError(t, err)
		reference.Source = table.Source
		want, err := reference.Write()
		require.NoError(t, err)
		got, err := table.Write()
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got))
	}
}

// clone writes the files of a clone of xwing-data2, in its form, with what the program does
// not use left in.
func clone(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, "data", "pilots", name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

const shipFile = `{"name":"T-99 Test-wing","xws":"t99testwing","size":"Medium","dial":["1BB","2FW","3KR"],"dialCodes":["XW"],
 "faction":"rebelalliance","stats":[{"arc":"Front Arc","type":"attack","value":3},{"arc":"Single Turret Arc","type":"attack","value":2},
 {"type":"agility","value":2}],"actions":[{"difficulty":"White","type":"Focus"},{"difficulty":"Red","type":"Barrel Roll",
 "linked":{"difficulty":"Red","type":"Focus"}}],"icon":"https://example.org/x.png","ability":"none of it",
 "pilots":[{"name":"New Ace","caption":"x","initiative":5,"limited":1,"cost":5,"xws":"newace","ability":"a text that is not kept"}]}`

func TestAUsersOwnData(t *testing.T) {
	dir := clone(t, map[string]string{"rebel-alliance/t-99.json": shipFile})
	for _, path := range []string{dir, filepath.Join(dir, "data")} {
		d, err := squads.Load(path)
		require.NoError(t, err)
		s, err := squads.Parse([]byte(`{"version":"2.0.0","faction":"rebelalliance","pilots":[{"id":"newace"},{"id":"wedgeantilles"}]}`))
		require.NoError(t, err)
		r := d.Check(s)
		require.Len(t, r.Ships, 1)
		five := 5
		assert.Equal(t, squads.ShipLine{ID: "newace", Pilot: "New Ace", Ship: "T-99 Test-wing", ShipID: "t99testwing", Base: "medium",
			Initiative: &five, Dial: []string{"1BB", "2FW", "3KR"}, Arcs: []string{"front", "turret"}, Actions: []string{"focus", "barrel roll*"}},
			r.Ships[0])
		assert.Equal(t, []string{"wedgeantilles"}, r.Unknown, "the user's data take the place of the program's")
		assert.Equal(t, squads.Builtin().First, d.First, "but for the edition that they do not hold")
		out, err := d.Second.Write()
		require.NoError(t, err)
		assert.NotContains(t, string(out), "a text that is not kept")
		assert.True(t, json.Valid(out))
	}
}

func TestWrongDataNameTheFile(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{`, "unexpected end of JSON"},
		{strings.Replace(shipFile, `"Medium"`, `"Middling"`, 1), `ship "t99testwing": size: base: expected small`},
		{strings.Replace(shipFile, `"3KR"`, `"9KR"`, 1), `ship "t99testwing": dial: expected speed, bearing and colour`},
		{strings.Replace(shipFile, `Front Arc`, `Side Arc`, 1), `ship "t99testwing": arcs: `},
		{strings.Replace(shipFile, `"xws":"newace"`, `"xws":""`, 1), `ship "t99testwing": pilots: expected an id`},
		{`{"pilots":[]}`, "expected an id and a name"},
	} {
		_, err := squads.Load(clone(t, map[string]string{"scum/x.json": c.text}))
		require.Error(t, err)
		assert.Contains(t, err.Error(), "x.json")
		assert.Contains(t, err.Error(), c.want)
	}
	_, err := squads.Load(clone(t, map[string]string{"a/x.json": shipFile, "b/y.json": shipFile}))
	assert.ErrorContains(t, err, "is listed twice")
	_, err = squads.Load(t.TempDir())
	assert.ErrorContains(t, err, "expected a clone of xwing-data2")
	_, err = squads.Load(filepath.Join(t.TempDir(), "nothing"))
	assert.ErrorContains(t, err, "no such file")
}
