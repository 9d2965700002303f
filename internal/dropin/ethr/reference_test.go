package ethr

import (
	"os"
	"strings"
	"testing"
)

func TestTheReferenceHasEveryOption(t *testing.T) {
	b, err := os.ReadFile("../../../docs/reference/ethr.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options() {
		row := ""
		for _, line := range strings.Split(string(b), "\n") {
			if strings.HasPrefix(line, "| `") && (strings.Contains(line, "`-"+o.name+"`") || strings.Contains(line, "`-"+o.name+" ")) {
				row = line
			}
		}
		if row == "" {
			t.Errorf("-%s: the row is %q", o.name, row)
		}
	}
}
