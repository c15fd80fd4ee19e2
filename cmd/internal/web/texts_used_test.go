package web_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	catalogue "sightline/cmd/internal/texts"
)

// TestEveryTextOfTheCatalogueIsUsed finds entries whose text no page, script or package says any more.
func TestEveryTextOfTheCatalogueIsUsed(t *testing.T) {
	used := usedIn(sourceTexts(t))
	for key := range german(t) {
		assert.True(t, !twoWords.MatchString(key) || used(plainForm(key)), "no code says %q: remove it from static/texts/de.json", key)
	}
	assert.False(t, used("nothing like this sentence was ever said by any page of it"))
}

// filledIn are names and figures that the code puts into its texts and the catalogue spells out: arcs, edges, corners, ranges.
var filledIn = regexp.MustCompile(`\b((full )?(front|rear|left|right)( (180|90|106|136|aux))?|bullseye|(double |primary )?turret|mobile|near|far|` +
	`top|bottom|\d+)\b`)

// plainForm is a text in lower case, with {} for what is filled in.
func plainForm(text string) string {
	return filledIn.ReplaceAllString(strings.ReplaceAll(strings.ToLower(text), "_", " "), "{}")
}

// sourceTexts lists all texts of the tree's code in their plain forms.
func sourceTexts(t *testing.T) (out []string) {
	add := func(texts []string) {
		for _, text := range texts {
			out = append(out, plainForm(text))
		}
	}
	for _, root := range []string{"../..", "../../../calibration", "../../../engine", "../../../hardware", "../../../vision"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() || strings.Contains(path, "testdata"):
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				add(textsOf(t, path))
			case strings.HasSuffix(path, ".js"):
				add(textsOfScript(t, path))
			case strings.HasSuffix(path, ".html"):
				page, err := os.ReadFile(path)
				require.NoError(t, err)
				add(catalogue.Of(page))
			}
			return err
		}))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// usedIn returns whether the code says a text: whether half of its runs of three words stand in the code's texts.
// A text that is joined from parts has some runs that stand nowhere; one of fewer than eight words is not judged.
func usedIn(said []string) func(string) bool {
	runs := map[string]bool{}
	for _, text := range said {
		for _, run := range runsOf(text) {
			runs[run] = true
		}
	}
	return func(key string) bool {
		of := runsOf(key)
		n := 0
		for _, run := range of {
			if runs[run] {
				n++
			}
		}
		return len(of) < 6 || 2*n >= len(of)
	}
}

var word = regexp.MustCompile(`[\p{L}’']+`)

// runsOf lists the runs of three words in a text.
func runsOf(text string) (out []string) {
	words := word.FindAllString(text, -1)
	for i := range max(0, len(words)-2) {
		out = append(out, strings.Join(words[i:i+3], " "))
	}
	return out
}
