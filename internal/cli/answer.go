package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
)

// nextLine waits for a line of a person at the terminal; the error is that of the input, or the
// cause why ctx ended. A read of a terminal cannot be cancelled: after ctx has ended it goes on
// until the process ends.
func nextLine(ctx context.Context, lines *bufio.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		line, err := lines.ReadString('\n')
		answers <- answer{line, err}
	}()
	select {
	case a := <-answers:
		return a.line, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// agreedTo asks a person whether these results may be deleted, unless yes was given.
func agreedTo(ctx context.Context, sys *System, yes bool, question string, results int) (bool, error) {
	switch {
	case yes:
		return true, nil
	case !sys.StdinTerminal():
		return false, measure.Fail(measure.KindUsage, "cli.prune.unasked", measure.Figures{"results": results})
	}
	agreed, err := confirmed(ctx, sys, question)
	if err == nil && !agreed {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("prune.kept", nil))
	}
	return agreed, err
}

// confirmed asks a person at the terminal and reports whether the answer is yes.
func confirmed(ctx context.Context, sys *System, question string) (bool, error) {
	fmt.Fprint(sys.Stderr, question, " ")
	answer, _ := nextLine(ctx, bufio.NewReader(sys.Stdin)) // the end of the input is no yes
	if err := context.Cause(ctx); err != nil {
		fmt.Fprintln(sys.Stderr)
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// terminalQuestions asks the person at the terminal.
type terminalQuestions struct {
	sys       *System
	lines     *bufio.Reader
	clearLine func() // takes the live line away
}

// SetLevels implements [conduct.Questions].
func (q *terminalQuestions) SetLevels(ctx context.Context, change campaign.HandChange) (person string, err error) {
	q.clearLine()
	names := make([]string, len(change.Levels))
	for i, l := range change.Levels {
		names[i] = q.sys.Catalogue.Sentence("run.by_hand.level", text.Args{"Factor": l.Factor, "Level": l.Value})
	}
	fmt.Fprint(q.sys.Stderr, printable.Line(q.sys.Catalogue.Sentence("run.by_hand", text.Args{"Levels": names, "Number": change.Number, "Of": change.Of})), " ")
	_, err = nextLine(ctx, q.lines)
	if err != nil {
		fmt.Fprintln(q.sys.Stderr)
	}
	return "", err
}
