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

// openNumbers opens a file of version 1 that counts for an hour.
func openNumbers(path string, now time.Time) (*Store[int], error) {
	var f numberFile
	return Open(Options[int]{Path: path, Name: "numbers", Version: 1, For: time.Hour, Log: slog.New(slog.DiscardHandler),
		Same: func(a, b int) bool { return a == b },
		Form: func(h Header, v int) any { return numberFile{h, v} }},
		now, &f, func() int { return f.Number })
}

func TestWhatCouldNotBeWrittenIsWrittenLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	path, now := filepath.Join(dir, "number.json"), time.Unix(1700000000, 0)
	s, err := openNumbers(path, now)
	require.NoError(t, err)
	s.Keep(7)
	require.Error(t, s.Write(now), "there is no such folder")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, s.Write(now))
	read := func(at time.Time) int {
		s, err := openNumbers(path, at)
		require.NoError(t, err)
		return s.Value()
	}
	assert.Equal(t, 7, read(now.Add(time.Hour)))
	assert.Zero(t, read(now.Add(time.Hour+time.Second)), "too old")
	_, err = Load(path, 2, &numberFile{}, now, time.Hour)
	assert.ErrorContains(t, err, path+": version: expected 2, got 1")
	s.Keep(-1)
	require.NoError(t, s.Write(now))
	s, err = openNumbers(path, now)
	assert.Zero(t, s.Value(), "an invalid file counts for nothing")
	assert.ErrorContains(t, err, "numbers: ")
	assert.ErrorContains(t, err, path+": number: expected 0 or more")
}

// The age of a file is that of the machine's uptime where it did not start since. After a start, the time of day must have gone on.
func TestAnAgeThatIsNotKnownIsNoAge(t *testing.T) {
	now := time.Unix(1700000000, 0)
	boot, up, set := "a", time.Hour, false
	c := &Clock{func() (string, time.Duration) { return boot, up }, func() bool { return set }}
	var h Header
	h.At = now
	assert.Equal(t, Unknown, h.age(now, time.Hour, c), "an earlier version wrote it")
	assert.Equal(t, Fresh, h.age(now, time.Hour, nil))
	h.Stamp = c.Stamp(now)
	up += time.Hour
	assert.Equal(t, Fresh, h.age(now.Add(100*time.Hour), time.Hour, c), "a network set the clock since")
	up += time.Second
	assert.Equal(t, Old, h.age(now, time.Hour, c), "whatever the clock says")
	boot, up = "b", time.Minute
	assert.Equal(t, Unknown, h.age(now, time.Hour, c), "the board may have been off for a night")
	assert.Equal(t, Old, h.age(now.Add(2*time.Hour), time.Hour, c), "or even longer")
	set = true
	assert.Equal(t, Fresh, h.age(now, time.Hour, c))
	boot, up = Uptime()
	assert.NotEmpty(t, boot)
	assert.Positive(t, up)
	_ = ThisMachine().Set()
}
