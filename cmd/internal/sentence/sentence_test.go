package sentence

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSentences(t *testing.T) {
	assert.Equal(t, "Range 2", Upper("range 2"))
	assert.Equal(t, "range 2", Lower("Range 2"))
	assert.Empty(t, Upper("")+Lower(""))
	assert.Equal(t, "The file is gone.", Of(errors.New("the file is gone")))
	assert.Equal(t, "calibration/mat.png: it is full.", Of(errors.New("calibration/mat.png: it is full")))
	assert.Equal(t, "The file is gone.", Of(errors.New("The file is gone.")))
	assert.Equal(t, "Is it gone?", Of(errors.New("is it gone?")))
	assert.Equal(t, "x_mm: expected a number.", Of(errors.New("x_mm: expected a number")), "a key is written as it is")
	assert.Equal(t, "Measuring: expected free.", Of(errors.New("measuring: expected free")))
}

func TestInvisibleCharacters(t *testing.T) {
	for r, want := range map[rune]bool{'a': false, '\n': false, '\t': false, 'é': false, 0: true, '\r': true, 0x202e: true, 0x200b: true} {
		assert.Equal(t, want, Invisible(r), "%U", r)
	}
}

func TestLongTextsAreShortenedAtACharacter(t *testing.T) {
	assert.Equal(t, "short", Shorten("short"))
	assert.Equal(t, strings.Repeat("é", 20)+"…", Shorten(strings.Repeat("é", 30)))
	assert.Equal(t, "a"+strings.Repeat("é", 19)+"…", Shorten("a"+strings.Repeat("é", 30)))
}

func TestPrintable(t *testing.T) {
	assert.Equal(t, "Ada [31m Ben", Printable("Ada\x1b[31m\nBen", ' '))
	assert.Equal(t, "Ada[31mBen", Printable("Ada\x1b[31m\nBen", -1))
	assert.Equal(t, "Ada B én", Printable("Ada\tB\u202eén", ' '))
	assert.Equal(t, "🏴\u200d☠️ 👩\u200d👧", Printable("🏴\u200d☠️ 👩\u200d👧", -1), "emoji of several parts")
	assert.True(t, Unprintable('\n'))
	assert.False(t, Unprintable(' '))
}
