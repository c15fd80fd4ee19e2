package web

import (
	"strings"

	"sightline/cmd/internal/rulebook"
)

// rulesInWords has the texts of the rules that verdicts name, from docs/rules.md.
var rulesInWords = rulebook.Texts

// ruleTexts returns the texts of rules such as "1e G34 G36".
func ruleTexts(rule string) []ruleTextJSON {
	out := []ruleTextJSON{}
	for _, word := range strings.Fields(rule) {
		if strings.HasPrefix(word, "G") {
			out = append(out, ruleTextJSON{word, rulesInWords[word]})
		}
	}
	return out
}
