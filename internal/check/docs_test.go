package check

import (
	"os"
	"strings"
	"testing"
)

// Files of rules in the documentation are whole.
func TestTheRulesInTheDocumentationAreFiles(t *testing.T) {
	for _, name := range []string{"../../README.md", "../../docs/commands.md", "../../docs/reference/check.md", "../cli/check.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines, found := strings.Split(string(b), "\n"), 0
		for i, line := range lines {
			key := strings.TrimLeft(line, " ")
			indent := len(line) - len(key)
			if key != "rules:" {
				continue
			}
			found++
			end := i + 1
			for end < len(lines) && strings.HasPrefix(lines[end], strings.Repeat(" ", indent+1)) {
				end++
			}
			text := strings.TrimSuffix(strings.Join(lines[i:end], "\n"), "`,")
			if rules, err := Parse(name, []byte(text)); err != nil || len(rules.Rules) == 0 {
				t.Errorf("%s: %v in\n%s", name, err, text)
			}
		}
		if found == 0 {
			t.Errorf("%s has no rules", name)
		}
	}
}
