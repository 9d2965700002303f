package cli

import (
	"fmt"
	"io"
	"slices"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/tests"
	"soku/internal/text"
)

// usualHeight is the number of rows of a terminal that does not report it.
const usualHeight = 24

// traceView draws the table of hops over and over on a terminal. Elsewhere it draws
// nothing: the table comes with the summary.
type traceView struct {
	w             io.Writer
	catalogue     *text.Catalogue
	width, height func() int
	drawn         int // lines that stand there
}

func (v *traceView) draw(host string, t *measure.Trace) {
	width, height := v.width(), v.height()
	if width <= 0 {
		return
	}
	if height <= 0 {
		height = usualHeight
	}
	lines := append([]string{traceHead(v.catalogue, host, t, width-1)}, fitted(v.catalogue, tests.TraceTable(v.catalogue, t), width-1)...)
	// Lines above the top of a terminal cannot be overwritten, and the cursor
	// stands below the last line.
	if room := max(height-1, 2); len(lines) > room {
		lines = append(lines[:room-1], v.catalogue.Sentence("live.more_lines", text.Args{"N": len(lines) - room + 1}))
	}
	parts := v.back()
	for _, line := range lines {
		parts = append(parts, terminal.Truncate(printable.Line(line), width-1, "…"), endLine, "\n") // the last column would wrap
	}
	printable.Draw(v.w, append(parts, eraseBelow)...)
	v.drawn = len(lines)
}

const eraseBelow = printable.Sequence("\x1b[J")

// back moves the cursor to where the table begins.
func (v *traceView) back() []any {
	if v.drawn == 0 {
		return []any{beginLine}
	}
	return []any{printable.Sequence(fmt.Sprintf("\x1b[%dA\r", v.drawn))}
}

// traceHead says what runs. On a narrow terminal it does without how to end.
func traceHead(c *text.Catalogue, host string, t *measure.Trace, width int) string {
	long := printable.Line(c.Sentence("live.trace.long", text.Args{"Host": host, "Round": t.Rounds, "Probes": t.Sent, "Outstanding": t.Outstanding}))
	if terminal.StringWidth(long) <= width {
		return long
	}
	return liveLine(host, width, func(host string) string {
		return c.Sentence("live.trace.short", text.Args{"Host": host, "Round": t.Rounds, "Probes": t.Sent, "Outstanding": t.Outstanding})
	})
}

// dispensable are columns of the table of hops, what a narrow terminal does without
// first.
var dispensable = []string{"head.deviation", "head.last", "head.flows", "head.best", "head.worst", "head.sent"}

// fitted is the table of hops without the columns that there is no room for.
func fitted(c *text.Catalogue, rows [][]string, width int) []string {
	lines := tests.AlignedTrace(c, rows)
	for _, key := range dispensable {
		if !slices.ContainsFunc(lines, func(line string) bool { return terminal.StringWidth(line) > width }) {
			break
		}
		column := slices.Index(rows[0], c.Heading(key))
		for i, row := range rows {
			if column < len(row) {
				rows[i] = slices.Delete(row, column, column+1)
			}
		}
		lines = tests.AlignedTrace(c, rows)
	}
	return lines
}

// clear takes the live table away.
func (v *traceView) clear() {
	if v.drawn > 0 {
		printable.Draw(v.w, append(v.back(), eraseBelow)...)
		v.drawn = 0
	}
}
