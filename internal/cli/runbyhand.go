package cli

import (
	"bufio"
	"context"
	"fmt"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// terminalQuestions asks the person at the terminal.
type terminalQuestions struct {
	sys       *System
	lines     *bufio.Reader
	clearLine func() // takes the live line away
}

// SetLevels implements [conduct.Questions].
func (q *terminalQuestions) SetLevels(ctx context.Context, levels []measure.Level) error {
	q.clearLine()
	names := make([]string, len(levels))
	for i, l := range levels {
		names[i] = q.sys.Catalogue.Sentence("run.by_hand.level", text.Args{"Factor": l.Factor, "Level": l.Value})
	}
	fmt.Fprint(q.sys.Stderr, printable.Line(q.sys.Catalogue.Sentence("run.by_hand", text.Args{"Levels": names})), " ")
	_, err := nextLine(ctx, q.lines)
	if err != nil {
		fmt.Fprintln(q.sys.Stderr)
	}
	return err
}
