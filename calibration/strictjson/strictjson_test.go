package strictjson_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/calibration/strictjson"
)

type file struct {
	Version int      `json:"version"`
	Open    bool     `json:"open"`
	Names   []string `json:"names"`
}

func TestWhatGoPassesOverIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 1, "open": true, "names": ["a"]}` + "\n": "",
		"":                             "it is empty",
		`{"version": 1`:                "it ends in the middle",
		`{"version": 1, "more": 2}`:    `unknown key "more"`,
		`{"version": 1, "Version": 2}`: `the key "Version" appears twice in one object: expected once`,
		"{\"open\": true,\n \"version\":\n \"1\"}": "line 3: version: expected a whole number",
		"{\n\"open\": tru}":                        "line 2: not JSON: invalid character",
		"{}\n{}":                                   "line 2: something follows it",
		`{"version": 1} {}`:                        "something follows it",
		`[]`:                                       "expected an object, got array",
		`{"version": "1"}`:                         "version: expected a whole number, got string",
		`{"open": 1}`:                              "open: expected true or false, got number",
		`{"names": {"a": 1, "b": 2}}`:              "names: expected a list, got object",
		`{"names": [{"a": 1, "a": 2}]}`:            `the key "a" appears twice`,
		`{"names": [1]}`:                           "names: expected a text, got number",
		`{"names": [], "open": tru}`:               "invalid character",
		`{"names": ["version","version"]}`:         "",
	} {
		var f file
		err := strictjson.Decode([]byte(text), &f)
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want, text)
		}
	}
}

func TestAFileIsKeptAndReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	got := file{Version: 7}
	found, err := strictjson.Load(path, 1000, &got)
	require.NoError(t, err)
	assert.False(t, found)
	assert.Equal(t, file{Version: 7}, got, "without a file it stays")

	want := file{Version: 1, Open: true, Names: []string{"a"}}
	require.NoError(t, strictjson.Save(path, want, 0o600))
	found, err = strictjson.Load(path, 1000, &got)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, want, got)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())

	_, err = strictjson.Load(path, 10, &got)
	assert.ErrorContains(t, err, "expected at most 10 bytes")
	require.NoError(t, os.WriteFile(path, []byte(`{"version": 1, "more": 2}`), 0o600))
	_, err = strictjson.Load(path, 1000, &got)
	assert.EqualError(t, err, path+`: expected JSON: unknown key "more"`)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version": 1, "names": ["a"]}`))
	f.Add([]byte(`{"version": 1, "version": [{"a":{}}]} {}`))
	f.Fuzz(func(_ *testing.T, raw []byte) {
		var v file
		_ = strictjson.Decode(raw, &v)
	})
}
