package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestEveryExitCodeIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/reference/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "| `") {
			rows++
		}
	}
	for kind, code := range exitStatus {
		if !strings.Contains(string(b), fmt.Sprintf("| %d | `%s` |", code, kind)) {
			t.Errorf("code %d, kind %s is not in the table", code, kind)
		}
	}
	if rows != len(exitStatus) {
		t.Errorf("the table has %d kinds, the program %d", rows, len(exitStatus))
	}
}
