package cli

import (
	"fmt"
	"io"

	"soku/internal/printable"
	"soku/internal/text"
)

// usualHeight is the number of rows of a terminal that does not report it.
const usualHeight = 24

// eraseBelow erases from the cursor to the end of the screen.
const eraseBelow = printable.Sequence("\x1b[J")

// terminalLines are lines at the bottom of a terminal that are drawn over and over.
type terminalLines struct {
	w             io.Writer
	catalogue     *text.Catalogue
	width, height func() int
	drawn         int // lines that stand there
}

// draw writes lines over those that stand there, as far as the terminal has room.
func (t *terminalLines) draw(lines []string) {
	width, height := t.width(), t.height()
	if height <= 0 {
		height = usualHeight
	}
	// Lines above the top of a terminal cannot be overwritten, and the cursor
	// stands below the last line.
	if room := max(height-1, 2); len(lines) > room {
		lines = append(lines[:room-1], t.catalogue.Sentence("live.more_lines", text.Args{"N": len(lines) - room + 1}))
	}
	parts := []any{t.back()}
	for _, line := range lines {
		parts = append(parts, terminal.Truncate(printable.Line(line), width-1, "…"), endLine, "\n") // the last column would wrap
	}
	printable.Draw(t.w, append(parts, eraseBelow)...)
	t.drawn = len(lines)
}

// clear takes the lines away.
func (t *terminalLines) clear() {
	if t.drawn > 0 {
		printable.Draw(t.w, t.back(), eraseBelow)
		t.drawn = 0
	}
}

// back moves the cursor to where the lines begin.
func (t *terminalLines) back() printable.Sequence {
	if t.drawn == 0 {
		return beginLine
	}
	return printable.Sequence(fmt.Sprintf("\x1b[%dA\r", t.drawn))
}
