package app

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	firmwareconfig "sightline/firmware-config"
)

// describe adds the place and the key to a decoder's error. (The decoder counts a newline as part
// of the next line.)
func describe(text string, e toml.ParseError) string {
	before := text[:min(max(0, e.Position.Start), len(text))]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	where := fmt.Sprintf("line %d, column %d: ", 1+strings.Count(before, "\n"), 1+utf8.RuneCountInString(line))
	if key := e.LastKey[strings.LastIndexByte(e.LastKey, '.')+1:]; key != "" && strings.Contains(line, key) {
		where += e.LastKey + ": "
	}
	return where + e.Message
}

// otherTypes matches the decoder's errors about values of a wrong type.
var otherTypes = regexp.MustCompile(`^toml: (?:line (\d+) )?\(last key "([^"]+)"\): (?:` +

	`incompatible types: TOML value has type (\S+); destination has type (\S+)|type mismatch for .*: expected (table) but found (\S+))$`)

// otherType rewords such an error like those of other values. It returns any other error unchanged.
func otherType(text string, err error) error {
	m := otherTypes.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	key := strings.Split(m[2], ".")
	n, _ := strconv.Atoi(m[1])
	if n == 0 {
		n = firmwareconfig.LineOf(text, key)
	}
	return fmt.Errorf("%s: %s: expected %s, got %s", placeIn(text, n, key), m[2], typeInWords(m[4]+m[5]), typeInWords(m[3]+m[6]))
}

// typeInWords names a Go type in the words of a file's author.
func typeInWords(name string) string {
	switch {
	case name == "string":
		return "text in quotes"
	case strings.HasPrefix(name, "bool"):
		return "true or false"
	case strings.HasPrefix(name, "int"):
		return "a whole number"
	case strings.HasPrefix(name, "float"):
		return "a number"
	case strings.HasPrefix(name, "[]"), name == "slice", name == "array":
		return "a list"
	case strings.HasPrefix(name, "map"), name == "table":
		return "a table of keys"
	}
	return name
}

// placeOf returns the line and column of a key in words, both counted from 1.
func placeOf(text string, key toml.Key) string {
	return placeIn(text, firmwareconfig.LineOf(text, key), key)
}

// placeIn is placeOf for a key on a known line.
func placeIn(text string, n int, key toml.Key) string {
	line := strings.Split(text, "\n")[n-1]
	column := 1
	if before, _, found := strings.Cut(line, key[len(key)-1]); found {
		column = utf8.RuneCountInString(before) + 1
	}
	return fmt.Sprintf("line %d, column %d", n, column)
}

// badValue is an invalid value.
type badValue struct {
	key  toml.Key
	text string
}

func (b *badValue) Error() string { return b.key.String() + ": " + b.text }

func bad(key, format string, a ...any) *badValue {
	return &badValue{key: strings.Split(key, "."), text: fmt.Sprintf(format, a...)}
}
