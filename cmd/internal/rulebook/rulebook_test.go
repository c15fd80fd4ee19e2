package rulebook_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sightline/cmd/internal/rulebook"
	"sightline/engine"
)

func TestEveryRuleOfAVerdictHasAText(t *testing.T) {
	page, err := os.ReadFile("../../../docs/rules.md")
	require.NoError(t, err)
	for _, r := range []engine.Rules{engine.Rules1e, engine.Rules20, engine.Rules25} {
		named := []string{engine.RangeRule(r, engine.Yes), engine.RangeRule(r, engine.No), engine.ObstructionRule(r)}
		for a := engine.ArcFront; a <= engine.ArcFront136; a++ {
			named = append(named, a.Rule(r), engine.AttackRule(r, a))
		}
		for _, name := range named {
			rules := rulebook.Of(name)
			require.NotEmpty(t, rules, name)
			for _, rule := range rules {
				assert.NotEmpty(t, rule.Text, "%s of %q", rule.Name, name)
				assert.Contains(t, string(page), "| "+rule.Name+" |", "docs/rules.md has it")
			}
		}
	}
	assert.Empty(t, rulebook.Of("no rule"))
}
