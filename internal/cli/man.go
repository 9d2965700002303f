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
	cmd.InitDefaultVersionFlag()
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"soku manual\"\n", strings.ToUpper(pageName(cmd)), "soku "+version.String())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, ".br\n.B %s\nCOMMAND [ARGUMENT]...\n", roff(cmd.CommandPath()))
	}
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roffLines(cmd.Long))
	}
	for _, section := range flagSections(cmd) {
		if section.heading == "Flags" {
			b.WriteString(".SH OPTIONS\n")
		} else {
			fmt.Fprintf(&b, ".SH \"OPTIONS: %s\"\n", strings.ToUpper(section.heading))
		}
		section.flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				manualFlag(&b, f)
			}
		})
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roffLines(cmd.Example))
	}
	if showsStore(cmd) {
		fmt.Fprintf(&b, ".SH FILES\n%s\n", roffLines(storeOnUnix))
	}
	if also := seeAlso(cmd); len(also) > 0 {
		fmt.Fprintf(&b, ".SH \"SEE ALSO\"\n%s(1)\n", roff(strings.Join(also, "(1), ")))
	}
	return b.String()
}

// storeOnUnix says where a reader of the page finds results, whatever system made the page.
const storeOnUnix = `Results are stored in the file of --store, or soku.db in the data folder: SOKU_DATA, or
the folder that systemd gives a service (STATE_DIRECTORY), or soku in XDG_DATA_HOME
(~/.local/share), on macOS in ~/Library/Application Support.`

// seeAlso are the pages of the commands above and below.
func seeAlso(cmd *cobra.Command) (pages []string) {
	if cmd.HasParent() {
		pages = append(pages, pageName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			pages = append(pages, pageName(sub))
		}
	}
	return pages
}

func manualFlag(b *strings.Builder, f *pflag.Flag) {
	name, help := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n\\fB")
	if f.Shorthand != "" {
		b.WriteString(roff("-"+f.Shorthand) + "\\fR, \\fB")
	}
	b.WriteString(roff("--"+f.Name) + "\\fR")
	switch {
	case name == "": // takes no value
	case f.NoOptDefVal != "":
		b.WriteString("[=" + roff(name) + "]")
	default:
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
