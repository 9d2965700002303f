package scale_test

import (
	"fmt"
	"strings"
	"testing"
)

// noteFunc adds a row.
type noteFunc func(what, format string, figures ...any)

// newTable begins a table of docs/scale.md, which is logged when the test ends: what was measured, and the figure.
func newTable(t *testing.T, title string) noteFunc {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s | |\n|---|---|\n", title)
	t.Cleanup(func() { t.Log(b.String()) })
	return func(what, format string, figures ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, figures...))
	}
}
