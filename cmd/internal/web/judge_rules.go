package web

import (
	"strings"

	"sightline/cmd/internal/rulebook"
)

// rulesInWords are the rules that a verdict on a pair names, in the words of docs/rules.md.
var rulesInWords = rulebook.Texts

// ruleTexts turns "1e G34 G36" into its rules in words.
func ruleTexts(rule string) []ruleTextJSON {
	out := []ruleTextJSON{}
	for _, word := range strings.Fields(rule) {
		if strings.HasPrefix(word, "G") {
			out = append(out, ruleTextJSON{word, rulesInWords[word]})
		}
	}
	return out
}
