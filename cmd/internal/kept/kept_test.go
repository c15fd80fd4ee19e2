package kept

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type numberFile struct {
	Header
	Number int `json:"number"`
}

func (f *numberFile) Check() error {
	if f.Number < 0 {
		return errors.New("number: expected 0 or more")
	}
	return nil
}

func numbers(path string) *Store[int] {
	return NewStore(Options[int]{Path: path, Name: "numbers", Log: slog.New(slog.DiscardHandler), Same: func(a, b int) bool { return a == b },
		Form: func(now time.Time, v int) any { return numberFile{Header{1, now}, v} }}, 0, time.Time{})
}

func TestWhatCouldNotBeWrittenIsWrittenLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	path, now := filepath.Join(dir, "number.json"), time.Unix(1700000000, 0)
	s := numbers(path)
	s.Keep(7)
	require.Error(t, s.Write(now), "there is no such folder")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, s.Write(now))
	var f numberFile
	fresh, err := Load(path, 1, &f, now.Add(time.Hour), time.Hour)
	require.NoError(t, err)
	assert.True(t, fresh)
	assert.Equal(t, 7, f.Number)
	fresh, err = Load(path, 1, &f, now.Add(time.Hour+time.Second), time.Hour)
	require.NoError(t, err)
	assert.False(t, fresh, "too old")
	_, err = Load(path, 2, &f, now, time.Hour)
	assert.ErrorContains(t, err, path+": version: expected 2, got 1")
	s.Keep(-1)
	require.NoError(t, s.Write(now))
	_, err = Load(path, 1, &f, now, time.Hour)
	assert.ErrorContains(t, err, path+": number: expected 0 or more")
}
