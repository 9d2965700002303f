package cli

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"soku/internal/campaign/advice"
	"soku/internal/measure"
	"soku/internal/measure/option"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// parseCommands reads the command lines of soku versus with the flags of their tests.
func parseCommands(sys *System, lines []string) (test measure.Test, commands []advice.Command, err error) {
	for _, line := range lines {
		t, c, err := parseCommand(sys, line)
		if err != nil {
			wrong := measure.AsError(err, measure.KindUsage)
			return "", nil, measure.Fail(wrong.Kind, "cli.versus.line", measure.Figures{"line": line, "cause": wrong})
		}
		if test != "" && t != test {
			return "", nil, measure.Fail(measure.KindUsage, "cli.versus.other_test", measure.Figures{"first": test, "second": t})
		}
		same := func(o advice.Command) bool { return o.Host == c.Host && o.Key(t) == c.Key(t) }
		if i := slices.IndexFunc(commands, same); i >= 0 {
			return "", nil, measure.Fail(measure.KindUsage, "cli.versus.twice", measure.Figures{"first": commands[i].Line, "second": c.Line})
		}
		if first := commands; len(first) > 0 && option.CanDiscard(t) && (first[0].Options.RX == readsBytes) != (c.Options.RX == readsBytes) {
			return "", nil, measure.Fail(measure.KindUsage, "cli.versus.rx", measure.Figures{"first": first[0].Options.RX, "second": c.Options.RX})
		}
		test, commands = t, append(commands, c)
	}
	return test, commands, nil
}

// readsBytes is the value of --rx with which the receiver of a test that can discard the
// bytes reads them.
const readsBytes = "read"

// parseCommand reads one command line: a test, with the name of the program before it or not.
func parseCommand(sys *System, line string) (measure.Test, advice.Command, error) {
	words, err := splitWords(line)
	if err != nil {
		return "", advice.Command{}, err
	}
	if len(words) > 0 && words[0] == "soku" {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", advice.Command{}, measure.Fail(measure.KindUsage, "cli.versus.no_command", nil)
	}
	test, err := measure.ParseTest(words[0])
	if err != nil {
		return "", advice.Command{}, err
	}
	cmd, f := measureCommand(sys, test)
	(&cobra.Command{Use: "soku"}).AddCommand(cmd) // messages have the whole name
	if err := parseFlags(cmd, words[1:]); err != nil {
		return "", advice.Command{}, err
	}
	hosts := cmd.Flags().Args()
	if err := cmd.ValidateArgs(hosts); err != nil {
		return "", advice.Command{}, err
	}
	if err := contradiction(cmd.Flags()); err != nil {
		return "", advice.Command{}, err
	}
	if _, err := option.Effective(f.options, test); err != nil {
		return "", advice.Command{}, err
	}
	return test, advice.Command{Line: strings.Join(words, " "), Host: hosts[0], Options: f.options}, nil
}

// parseFlags reads the flags of a test. Those that do not say what is measured, such as
// --json, are errors: they would have no effect.
func parseFlags(cmd *cobra.Command, words []string) error {
	err := cmd.ParseFlags(words)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return measure.Fail(measure.KindUsage, "cli.versus.no_option", measure.Figures{"flag": "help"})
	case err != nil:
		return flagError(cmd, err)
	}
	other := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if g := groupOf(f); g == "" || g == groupAccess {
			other = f.Name
		}
	})
	if other != "" {
		return measure.Fail(measure.KindUsage, "cli.versus.no_option", measure.Figures{"flag": other})
	}
	return nil
}

// splitWords splits a command line as a shell does, with quotes and backslashes, and expands
// nothing.
func splitWords(line string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	begun, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			begun, quote = true, r
		case quote == 0 && unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, measure.Fail(measure.KindUsage, "cli.versus.quote", nil)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
