package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// groupAnnotation is the annotation of a flag that names its group.
const groupAnnotation = "soku_group"

// groupAccess is the group of flags that say how a server is entered.
const groupAccess = "access"

// flagGroups are the headings of groups of flags, in the order of help. What has no group
// is about output.
var flagGroups = []struct{ name, heading string }{
	{string(measure.GroupTest), "Test"}, {string(measure.GroupNetwork), "Network"}, {string(measure.GroupHost), "Hosts"},
	{groupAccess, "Access to the server"}, {"", "Output and storage"},
}

// inGroup puts a flag into a group of help.
func inGroup(flag *pflag.Flag, group string) {
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[groupAnnotation] = []string{group}
}

// inGroupSince puts the flags into a group that are not in before.
func inGroupSince(flags *pflag.FlagSet, before map[string]bool, group string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] {
			inGroup(f, group)
		}
	})
}

// flagNames are the names of flags that are there.
func flagNames(flags *pflag.FlagSet) map[string]bool {
	names := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { names[f.Name] = true })
	return names
}

// groupOf is the group of a flag.
func groupOf(f *pflag.Flag) string {
	if group := f.Annotations[groupAnnotation]; len(group) > 0 {
		return group[0]
	}
	return ""
}

// groupedFlags are the flags of a command for its help: under one heading, or under that of
// each group where they have some.
func groupedFlags(cmd *cobra.Command, width int) string {
	sets := map[string]*pflag.FlagSet{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		group := groupOf(f)
		if sets[group] == nil {
			sets[group] = pflag.NewFlagSet(group, pflag.ContinueOnError)
			sets[group].SortFlags = false
		}
		sets[group].AddFlag(f)
	})
	if len(sets) == 1 && sets[""] != nil {
		return "Flags:\n" + strings.TrimRight(sets[""].FlagUsagesWrapped(width), " \n")
	}
	var parts []string
	for _, g := range flagGroups {
		if set := sets[g.name]; set != nil {
			parts = append(parts, g.heading+":\n"+strings.TrimRight(set.FlagUsagesWrapped(width), " \n"))
		}
	}
	return strings.Join(parts, "\n\n")
}

// listedCommand is a line of a list of commands: its name and what it does, below it in
// lines of their own where the terminal is narrow.
func listedCommand(cmd *cobra.Command, width int) string {
	indent := cmd.NamePadding() + 3
	if width <= 0 {
		return fmt.Sprintf("  %-*s %s", cmd.NamePadding(), cmd.Name(), cmd.Short)
	}
	lines := wrapped(cmd.Short, max(width-indent, 20))
	return fmt.Sprintf("  %-*s %s", cmd.NamePadding(), cmd.Name(), strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}

// paragraphs wraps text to a width; lines that begin with a space stay as they are, and an
// empty line ends a paragraph.
func paragraphs(text string, width int) string {
	if width <= 0 || width >= usualWidth {
		return text // as it was written
	}
	var out []string
	var open []string
	flush := func() {
		if len(open) > 0 {
			out = append(out, wrapped(strings.Join(open, " "), width)...)
			open = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' || line[0] == '/' {
			flush()
			out = append(out, line)
			continue
		}
		open = append(open, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// usualWidth is for how many columns help is written.
const usualWidth = 80

// wrapped are the lines of a text of at most so many columns, broken at spaces.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case runewidth.StringWidth(line)+1+runewidth.StringWidth(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// helpTemplate is cobra's template of usage with groups of flags, for a terminal of so many
// columns, or for none.
func helpTemplate(of string, width int) string {
	for _, r := range [][2]string{
		{"Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", fmt.Sprintf("{{groupedFlags . %d}}", width)},
		{"  {{rpad .Name .NamePadding }} {{.Short}}", fmt.Sprintf("{{listedCommand . %d}}", width)},
		{".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", width)},
	} {
		of = strings.ReplaceAll(of, r[0], r[1])
	}
	return of
}

// Cobra keeps the functions of its templates for all commands of a process.
func init() {
	cobra.AddTemplateFunc("groupedFlags", groupedFlags)
	cobra.AddTemplateFunc("listedCommand", listedCommand)
}

// similarFlag is the flag of the command that an unknown one may have meant, or empty.
func similarFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return yamlfile.Nearest(unknown.GetSpecifiedName(), names)
}
