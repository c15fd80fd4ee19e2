// Package sentence has functions for texts that people read and write.
package sentence

import (
	"fmt"
	"strings"
	"unicode"
)

// Upper returns s with its first letter in upper case. s must begin with an ASCII letter.
func Upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Lower returns s with its first letter in lower case, like [Upper].
func Lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// Of returns an error as a sentence: "Measuring: expected …, got …." A key or a path at its beginning stays
// as users must write it: "x_mm: expected …."
func Of(err error) string {
	text := err.Error()
	if key, _, _ := strings.Cut(text, ":"); !strings.ContainsAny(key, "_/") || strings.Contains(key, " ") {
		text = Upper(text)
	}
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// Invisible reports whether a character is not displayed: a control character other than a new line
// or a tab, or a format character (Unicode's Cf), which may display "abc 2" as "2 cba".
func Invisible(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf)
}

// Unprintable reports whether a character must not be written on a line: a control character, a
// line end, or any blank but a space. The joiner of an emoji's parts is allowed.
func Unprintable(r rune) bool { return !unicode.IsPrint(r) && r != joiner }

const joiner = '\u200d' // of a flag's or a family's parts

// Printable returns s with each unprintable character replaced; -1 drops them.
func Printable(s string, instead rune) string {
	return strings.Map(func(r rune) rune {
		if Unprintable(r) {
			return instead
		}
		return r
	}, s)
}

// Shorten cuts a user's text to a length that fits on one line of an error.
func Shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// Or joins alternatives, at least one: "1", "1 or 2", "1, 2 or 3".
func Or(all []string) string {
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Counted returns a number of things in words: "1 base", "2 bases".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
