package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/version"
)

// manName is the command whose pages have the texts of all others.
const manName = "man"

func newManCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:     manName + " DIR",
		Short:   "Write the manual pages into a folder",
		Long:    "Writes a manual page (man, section 1) for soku and for each of its commands.",
		Example: "  soku man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.InitDefaultCompletionCmd()
			if err := sys.MkdirAll(args[0], 0o755); err != nil {
				return measure.Fail(measure.KindStore, "cli.man", measure.Figures{"file": args[0], "cause": err})
			}
			return writePages(sys, args[0], root)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
}

// writePages writes the page of a command and those of the commands below it.
func writePages(sys *System, dir string, cmd *cobra.Command) error {
	file := filepath.Join(dir, pageName(cmd)+".1")
	if err := sys.WriteFile(file, []byte(manualPage(cmd)), 0o644); err != nil {
		return measure.Fail(measure.KindStore, "cli.man", measure.Figures{"file": file, "cause": err})
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writePages(sys, dir, sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage is a page in the language of man(7).
func manualPage(cmd *cobra.Command) string {
	var b strings.Builder
	cmd.InitDefaultHelpFlag()
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"soku manual\"\n", strings.ToUpper(pageName(cmd)), "soku "+version.String())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, ".br\n.B %s\nCOMMAND [ARGUMENT]...\n", roff(cmd.CommandPath()))
	}
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roffLines(cmd.Long))
	}
	for _, g := range flagGroups {
		heading := strings.ToUpper(g.heading)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || groupOf(f) != g.name {
				return
			}
			if heading != "" {
				fmt.Fprintf(&b, ".SH \"OPTIONS: %s\"\n", heading)
				heading = ""
			}
			manualFlag(&b, f)
		})
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roffLines(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, pageName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			also = append(also, pageName(sub))
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH \"SEE ALSO\"\n%s(1)\n", roff(strings.Join(also, "(1), ")))
	}
	return b.String()
}

func manualFlag(b *strings.Builder, f *pflag.Flag) {
	name, help := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n\\fB")
	if f.Shorthand != "" {
		b.WriteString(roff("-"+f.Shorthand) + "\\fR, \\fB")
	}
	b.WriteString(roff("--"+f.Name) + "\\fR")
	switch {
	case f.NoOptDefVal != "" && f.Value.Type() != "bool":
		b.WriteString("[=" + roff(name) + "]")
	case name != "":
		b.WriteString(" " + roff(name))
	}
	b.WriteString("\n" + roffLines(help))
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" && d != "0s" {
		b.WriteString(" (default " + roff(d) + ")")
	}
	b.WriteString("\n")
}

// roff writes text so that man(7) shows it as it is.
func roff(s string) string {
	return strings.NewReplacer("\\", "\\e", "-", "\\-").Replace(s)
}

// roffLines are the lines of a text; one that begins with a dot or an apostrophe would be a
// request.
func roffLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line = roff(line); strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = "\\&" + line
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
