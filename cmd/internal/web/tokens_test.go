package web_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tokens reads the named tokens of one block of tokens.css.
func tokens(t *testing.T, selector string) map[string]string {
	t.Helper()
	css, err := os.ReadFile("static/tokens.css")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(css), selector+" {\n")
	require.True(t, ok, "tokens.css has a block %s", selector)
	block, _, _ := strings.Cut(rest, "}")
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`(--[a-z0-9-]+): ([^;]+);`).FindAllStringSubmatch(block, -1) {
		out[m[1]] = m[2]
	}
	return out
}

func TestEveryLightColourHasADarkOne(t *testing.T) {
	light, dark := tokens(t, `:root[data-theme="light"]`), tokens(t, "\n:root")
	assert.Subset(t, slices.Collect(maps.Keys(dark)), slices.Collect(maps.Keys(light)))
}

// luminance is WCAG 2.2's relative luminance of #rrggbb.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	require.Regexp(t, `^#[0-9a-f]{6}$`, hex)
	n, err := strconv.ParseUint(hex[1:], 16, 32)
	require.NoError(t, err)
	linear := func(c uint64) float64 {
		v := float64(c&255) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}

// contrast is WCAG 2.2's contrast ratio.
func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (math.Max(la, lb) + 0.05) / (math.Min(la, lb) + 0.05)
}

// TestColoursCanBeReadInBothThemes holds WCAG 2.2 AA: 4.5:1 for text (1.4.3), 3:1 for
// what a control or a drawing is known by (1.4.11).
func TestColoursCanBeReadInBothThemes(t *testing.T) {
	grounds := []string{"--bg", "--surface", "--surface-2"}
	rules := []struct {
		least   float64
		marks   []string
		grounds []string
	}{
		{4.5, []string{"--text", "--muted", "--focus", "--yes", "--no", "--close", "--noview", "--alarm", "--player1", "--player2", "--player0",
			"--ghost"}, grounds},
		{4.5, []string{"--text", "--alarm"}, []string{"--alarm-bg"}},
		{4.5, []string{"--text", "--close"}, []string{"--close-bg"}},
		{4.5, []string{"--text", "--ghost"}, []string{"--ghost-bg"}},
		{4.5, []string{"--on-focus"}, []string{"--focus"}},
		{4.5, []string{"--on-close"}, []string{"--close"}},
		{4.5, []string{"--text", "--muted", "--measure", "--asteroid", "--debris", "--gas", "--ghost"}, []string{"--mat"}},
		{3, []string{"--edge", "--focus"}, grounds},
		{3, []string{"--player1", "--player2", "--player0", "--ring", "--ghost"}, []string{"--mat"}},
		{3, []string{"--player1"}, []string{"--player1-bg"}}, {3, []string{"--player2"}, []string{"--player2-bg"}}, {3, []string{"--player0"},
			[]string{"--player0-bg"}},
		{4.5, []string{"--text"}, []string{"--player1-bg", "--player2-bg", "--player0-bg"}},
		{4.5, []string{"--on-picture", "--picture-player1", "--picture-player2", "--picture-good", "--picture-bad", "--picture-ghost"},
			[]string{"--under-picture"}},
	}
	dark := tokens(t, "\n:root")
	light := maps.Clone(dark)
	maps.Copy(light, tokens(t, `:root[data-theme="light"]`))
	for theme, values := range map[string]map[string]string{"dark": dark, "light": light} {
		for _, r := range rules {
			for _, mark := range r.marks {
				for _, ground := range r.grounds {
					got := contrast(t, values[mark], values[ground])
					assert.GreaterOrEqual(t, got, r.least, fmt.Sprintf("%s: %s %s on %s %s", theme, mark, values[mark], ground, values[ground]))
				}
			}
		}
	}
}
