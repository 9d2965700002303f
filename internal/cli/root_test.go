package cli

import (
	"strings"
	"testing"
)

func TestNamesOfCommandsAreCompleted(t *testing.T) {
	out, _, code := soku(t, "__complete", "tc")
	if code != 0 || !strings.HasPrefix(out, "tcp\tMeasure ") {
		t.Errorf("completion gives %d, %q", code, out)
	}
}
