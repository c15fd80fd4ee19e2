package hall_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/hall"
)

func pairing(table, round, a, b string) hall.Pairing {
	return hall.Pairing{Table: table, Round: round, Players: [2]string{a, b}}
}

// exported is a tournament in the form in which other programs export it for List Fortress.
const exported = `{"name": "Example", "players": [{"name": "Ada Example", "rank": {"swiss": 1}, "list": {"faction": "rebelalliance"}}, {"name": "Ben"}],
	"rounds": [{"round-type": "swiss", "round-number": 1, "matches": []}, {"round-type": "swiss", "round-number": 2, "matches": [
	{"player1": "Cleo", "player1points": 0, "player2": "Ada Example", "player2points": 0, "result": null},
	{"player1": "Dan", "player2": "BYE"}, {"player1": "Eva", "player2": null, "result": "bye"}, {"player1": "Finn", "player2": "Gil", "result": "win"}]},
	{"round-type": "elimination", "round-number": 4, "matches": [{"player1": "Ada Example", "player2": "Ben"}]}]}`

// fortress is a tournament in the form of List Fortress's API, with invented people.
const fortress = `{"id": 1, "name": "Example", "participants": [{"id": 11, "name": "Ada Example", "score": 3}, {"id": 12, "name": "Ben"},
	{"id": 13, "name": "Cleo"}, {"id": 14, "name": "Dan"}, {"id": 15, "name": "A name that is far too long for any line"}],
	"rounds": [{"round_number": 2, "roundtype_id": 1, "matches": [{"player1_id": 15, "player2_id": null}, {"player1_id": 13, "player2_id": 11},
	{"player1_id": 12, "player2_id": 15}]}, {"round_number": 1, "roundtype_id": 1, "matches": []},
	{"round_number": 4, "roundtype_id": 2, "matches": [{"player1_id": 11, "player2_id": 12}]}]}`

// rollbetter is a tournament in the form of the text that Rollbetter's "List Fortress" button makes,
// as programs that read it describe it, with invented people: ids are names or numbers, a player
// may have an id alone, and squads stand in it as text.
const rollbetter = "\ufeff" + `{
  "title": "Example Open", "date": "2026-11-21",
  "players": [
    {"name": "ada", "id": "ada", "mov": 96, "score": 3, "sos": 2, "rank": {"swiss": 5}, "dropped": false, "list": "{\"faction\":\"rebelalliance\",\"pilots\":[]}"},
    {"name": "Ben O'Neill", "id": 4711, "mov": 40, "score": 1, "sos": 1.5, "rank": {"swiss": 6, "elimination": null}, "dropped": true, "list": null},
    {"name": "Zoë", "id": "zoe", "mov": null, "score": 0}, {"id": "no-name"}, {"name": "Byerson", "id": "byerson"}],
  "rounds": [
    {"round-type": "swiss", "round-number": 1, "scenario": "Salvage Mission", "matches": [
      {"player1": "ada", "player1-id": "ada", "player2": "Zoë", "player2-id": "zoe", "player1points": 25, "player2points": 27, "winner-id": "zoe", "result": "win"}]},
    {"round-type": "swiss", "round-number": 2, "scenario": "", "matches": [
      {"player1": "Zoë", "player1-id": "zoe", "player2": "Byerson", "player2-id": "byerson", "player1points": 0, "player2points": 0, "winner-id": null, "result": null},
      {"player1-id": 4711, "player2": "", "player2-id": "no-name"},
      {"player1": "ada", "player1-id": "ada", "player2": null, "player2-id": null, "player1points": 20, "player2points": null, "winner-id": "ada", "result": "bye"}]},
    {"round-type": "elimination", "round-number": 3, "matches": []}]}`

// TestARollbetterExportIsRead, with Unix and with Windows line ends, and with round numbers as
// text; what is broken in it is named.
func TestARollbetterExportIsRead(t *testing.T) {
	t.Parallel()
	want := []hall.Pairing{pairing("1", "Round 2", "Zoë", "Byerson"), pairing("2", "Round 2", "Ben O'Neill", "no-name")}
	for name, text := range map[string]string{
		"as it is": rollbetter, "Windows line ends": strings.ReplaceAll(rollbetter, "\n", "\r\n"),
		"round numbers as text": strings.ReplaceAll(rollbetter, `"round-number": 2`, `"round-number": "2"`),
	} {
		list, err := hall.ParsePairings([]byte(text))
		require.NoError(t, err, name)
		assert.Equal(t, want, list, name)
	}
	for text, want := range map[string]string{
		rollbetter[:len(rollbetter)/2]: "unexpected end of JSON input",
		strings.ReplaceAll(rollbetter, `"round-number": 2`, `"round-number": "two"`):      `expected a number, got "two"`,
		strings.ReplaceAll(rollbetter, `"player1-id": 4711`, `"player1-id": {"id":4711}`): "expected an id as text or number",
		strings.ReplaceAll(rollbetter, `"player1-id": 4711, `, ``):                        "pairing 2: player 1 has no name",
		strings.ReplaceAll(rollbetter, `"rounds"`, `"Runden"`):                            "the tournament has no rounds",
	} {
		_, err := hall.ParsePairings([]byte(text))
		assert.ErrorContains(t, err, want)
	}
}

// TestMorePairingsThanTables: 201 are read, as is what a spreadsheet leaves below them; a thousand
// and one are no event's.
func TestMorePairingsThanTables(t *testing.T) {
	t.Parallel()
	many := func(n int) []byte {
		text := "\ufeffTable,Player 1,Player 2\r\n"
		for i := range n {
			text += fmt.Sprintf("%d,Ada %d,Ben %d\r\n", i+1, i, i)
		}
		return []byte(text + ",,\r\n , ,\r\n")
	}
	list, err := hall.ParsePairings(many(201))
	require.NoError(t, err)
	require.Len(t, list, 201)
	assert.Equal(t, pairing("201", "", "Ada 200", "Ben 200"), list[200])
	_, err = hall.ParsePairings(many(1001))
	assert.ErrorContains(t, err, "at most 1000, got 1001")
}

func TestPairingsAreReadFromEveryForm(t *testing.T) {
	t.Parallel()
	ada, cleo := pairing("1", "Round 3", "Ada", "Ben"), pairing("2", "Round 3", "Cleo", "Dan, the elder")
	for name, text := range map[string]string{
		"commas":                "table,round,player1,player2\n1,3,Ada,Ben\n2,3,Cleo,\"Dan, the elder\"\n",
		"semicolons":            "\ufeffPlayer 1;Player 2;Table;Round\r\nAda;Ben;1;3\r\nCleo;Dan, the elder;2;Round 3\r\n",
		"tabs":                  "table\tplayer_1\tplayer_2\tround\n1\tAda\tBen\t3\n2\tCleo\tDan, the elder\t3",
		"a list of our own":     `[{"table":"1","round":"Round 3","players":["Ada","Ben"]},{"table":"2","round":"Round 3","players":["Cleo","Dan, the elder"]}]`,
		"Unicode text of Excel": "\xff\xfe" + utf16le("table\tplayer1\tplayer2\tround\r\n1\tAda\tBen\t3\r\n2\tCleo\tDan, the elder\t3\r\n"),
		"marks that nobody sees, and ends of lines": "table,round,player1,player2\n" +
			"1,3,\u200fAda\u200f,\"Ben\n\"\n2,3,Cleo,\"Dan,\u2028the elder\"\n",
		"our own JSON": `{"pairings":[{"table":"1","round":"Round 3","players":["Ada","Ben"]},` +
			`{"table":"2","round":"Round 3","players":["Cleo","Dan, the elder"]}]}`,
	} {
		list, err := hall.ParsePairings([]byte(text))
		require.NoError(t, err, name)
		assert.Equal(t, []hall.Pairing{ada, cleo}, list, name)
	}
	list, err := hall.ParsePairings([]byte(fortress))
	require.NoError(t, err)
	assert.Equal(t, []hall.Pairing{pairing("1", "Round 2", "Cleo", "Ada Example"),
		pairing("2", "Round 2", "Ben", "A name that is far too long for…")}, list)
	for _, text := range []string{exported, `{"tournament":` + exported + `}`} {
		list, err = hall.ParsePairings([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, []hall.Pairing{pairing("1", "Round 2", "Cleo", "Ada Example"), pairing("2", "Round 2", "Finn", "Gil")}, list)
	}
	for text, want := range map[string]string{
		`{"id":338,"matches":[{"player1":{"username":"ada"}}]}`: `expected "pairings", or a tournament with "participants" or "players" and "rounds"; found "id", "matches"`,
		`{"ladder":[],"waitlist":[]}`:                           `found "ladder", "waitlist"`, `{}`: "found nothing",
		`[{"player1":"Ada"}]`: "pairing 1: table: expected", `["Ada"]`: "an entry of the list is a JSON string", `[`: "unexpected end",
		`{"players":[],"rounds":[{"matches":[{"player1":{"name":"Ada"}}]}]}`: "cannot read this form",
		`{"players":[{}],"rounds":[{"matches":[{"player2":"Ben"}]}]}`:        "pairing 1: player 1 has no name",
		`{"players":[{}]}`: "the tournament has no rounds", "<!doctype html><table>": "this is a web page",
		"": "the file is empty", "\ufeff\n": "the file is empty", "a,b\n": "there is no table", "table,player1,player2\n": "the file has none",
		"table,player1,player2\n1,Ada,Ben\n1,Cleo,Dan\n":                       "pairing 2: table 1 has pairing 1 already",
		"table,player1,player2\n1.5,Ada,Ben\n":                                 "pairing 1: table: expected 1 to 16 letters",
		"table,player1,player2\n1,,Ben\n":                                      "player 1 has no name",
		"table,player1,player2\n1,Ada\n":                                       "wrong number of fields",
		"table,player1,player2\n1,\u202e\x07,Ben\n":                            "player 1 has no name",
		"table,player1,player2\n" + strings.Repeat("7", 10_000) + ",Ada,Ben\n": `got "7777777777777777777777777777777777777777…"`,
		"{": "cannot read this form", `{"participants":[],"rounds":[]}`: "has no rounds",
		`{"participants":[],"rounds":[{"matches":[{"player1_id":1,"player2_id":2}]}]}`: "participant 1 is not among the participants",
		"\xff": "UTF-8", strings.Repeat("x", hall.PairingsMost+1): "expected at most",
	} {
		_, err := hall.ParsePairings([]byte(text))
		assert.ErrorContains(t, err, want, text[:min(len(text), 60)])
	}
}

// TestALongNameIsCut: one name of a whole round that is too long for a line does not refuse the whole file.
func TestALongNameIsCut(t *testing.T) {
	t.Parallel()
	list, err := hall.ParsePairings([]byte("table,round,player1,player2\n1," +
		strings.Repeat("r", 10_000) + "," + strings.Repeat("é", 10_000) + ",Ben\n"))
	require.NoError(t, err)
	assert.Equal(t, []hall.Pairing{pairing("1", strings.Repeat("r", 23)+"…", strings.Repeat("é", 31)+"…", "Ben")}, list)
}

// utf16le is a text as UTF-16, the low byte first.
func utf16le(text string) string {
	var raw []byte
	for _, u := range utf16.Encode([]rune(text)) {
		raw = binary.LittleEndian.AppendUint16(raw, u)
	}
	return string(raw)
}

func FuzzParsePairings(f *testing.F) {
	f.Add([]byte("table,round,player1,player2\n1,3,Ada,Ben\n"))
	f.Add([]byte(fortress))
	f.Add([]byte(exported))
	f.Add([]byte(rollbetter))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := hall.ParsePairings(raw)
		if err != nil {
			return
		}
		again, err := json.Marshal(map[string]any{"pairings": list})
		if err != nil {
			t.Fatal(err)
		}
		read, err := hall.ParsePairings(again)
		if err != nil || !assert.ObjectsAreEqual(list, read) {
			t.Errorf("%v is read again as %v: %v", list, read, err)
		}
	})
}

// TestPairingsReachTheTables: a judge reads a file, tiles show it, and each table's match line
// gets its own; a table that is not there is named.
func TestPairingsReachTheTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run(t, dir)
	p := join(t, r.invite(t, "7"))
	bodies := make(chan string, 1)
	p.serve = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		raw, _ := io.ReadAll(q.Body)
		bodies <- q.Method + " " + q.URL.Path + " " + string(raw)
	})
	eventually(t, "it is heard", func() bool { return r.tile(t, "7").Live })
	status, _ := r.send(t, http.MethodPut, "/api/pairings", "x")
	assert.Equal(t, http.StatusForbidden, status, "a judge's work")
	judge := asJudge(t, r)
	put := func(method, path, body string) (int, string) {
		q, err := http.NewRequest(method, r.page+path, strings.NewReader(body))
		require.NoError(t, err)
		answer, err := judge.Do(q)
		require.NoError(t, err)
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(raw)
	}
	status, text := put(http.MethodPut, "/api/pairings", "table,player1\n")
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Contains(t, text, "there is no player2")
	status, text = put(http.MethodPut, "/api/pairings", "table,round,player1,player2\n7,3,Ada,Ben\n9,3,Cleo,Dan\n")
	require.Equal(t, http.StatusOK, status, text)
	status, text = put(http.MethodPost, "/api/pairings/send", "")
	require.Equal(t, http.StatusOK, status, text)
	assert.JSONEq(t, `{"sent":1,"failed":["9"]}`, text)
	assert.Equal(t, `PATCH /api/match {"round":"Round 3","sides":[{"name":"Ada","score":0},{"name":"Ben","score":0}]}`, <-bodies)
	r.invite(t, "9")
	assert.Equal(t, [2]string{"Cleo", "Dan"}, r.tile(t, "9").Names, "before it is there")
	r.stop()
	assert.Equal(t, [2]string{"Cleo", "Dan"}, run(t, dir).tile(t, "9").Names, "they are kept")
}
