package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/tests"
	"soku/internal/text"
)

// groupAnnotation is the annotation of a flag that names its group.
const groupAnnotation = "soku_group"

// groupAccess is the group of flags that say how a server is entered.
const groupAccess = "access"

// flagGroup is a group of flags with its heading.
type flagGroup struct{ name, heading string }

// Groups of flags in the order of help, for tests and for other commands. Flags without a
// group are about output in tests, and anything in other commands.
var (
	testFlagGroups = []flagGroup{
		{string(option.GroupTest), "Test"}, {string(option.GroupNetwork), "Network"}, {string(option.GroupHost), "Hosts"},
		{groupAccess, "Access to the server"}, {"", "Output and storage"},
	}
	otherFlagGroups = []flagGroup{{"", "Flags"}, {groupAccess, "Access to the server"}}
)

// inGroup puts a flag into a group of help.
func inGroup(flag *pflag.Flag, group string) {
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[groupAnnotation] = []string{group}
}

// addAccess adds flags that say how a server is entered.
func addAccess(cmd *cobra.Command, add func(*pflag.FlagSet)) {
	flags := pflag.NewFlagSet(groupAccess, pflag.ContinueOnError)
	add(flags)
	flags.VisitAll(func(f *pflag.Flag) { inGroup(f, groupAccess) })
	cmd.Flags().AddFlagSet(flags)
}

// groupOf is the group of a flag.
func groupOf(f *pflag.Flag) string {
	if group := f.Annotations[groupAnnotation]; len(group) > 0 {
		return group[0]
	}
	return ""
}

// flagSection are the flags of a command below one heading.
type flagSection struct {
	heading string
	flags   *pflag.FlagSet
}

// flagSections are the flags of a command, without those of its parents.
func flagSections(cmd *cobra.Command) (all []flagSection) {
	sets := map[string]*pflag.FlagSet{}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		group := groupOf(f)
		if sets[group] == nil {
			sets[group] = pflag.NewFlagSet(group, pflag.ContinueOnError)
			sets[group].SortFlags = false
		}
		sets[group].AddFlag(f)
	})
	groups := otherFlagGroups
	if sets[string(option.GroupTest)] != nil {
		groups = testFlagGroups
	}
	for _, g := range groups {
		if set := sets[g.name]; set != nil {
			all = append(all, flagSection{g.heading, set})
		}
	}
	return all
}

// groupedFlags are the flags of a command for its help.
func groupedFlags(cmd *cobra.Command, width int) string {
	var parts []string
	for _, s := range flagSections(cmd) {
		parts = append(parts, s.heading+":\n"+strings.TrimRight(s.flags.FlagUsagesWrapped(width), " \n"))
	}
	return strings.Join(parts, "\n\n")
}

// paragraphs wraps a text to a width; lines that begin with a space stay as they are, and an
// empty line ends a paragraph.
func paragraphs(long string, width int) string {
	if width <= 0 || width >= usualWidth {
		return long // as it was written
	}
	var out []string
	var open []string
	flush := func() {
		if len(open) > 0 {
			out = append(out, broken(joinedLines(open), width)...)
			open = nil
		}
	}
	for line := range strings.SplitSeq(long, "\n") {
		if line == "" || line[0] == ' ' {
			flush()
			out = append(out, line)
			continue
		}
		open = append(open, line)
	}
	flush()
	return strings.Join(out, "\n")
}

// joinedLines are the lines of a paragraph as one: Japanese has no space where a line ended.
func joinedLines(lines []string) string {
	out := lines[0]
	for _, line := range lines[1:] {
		if !text.EndsWide(out) && !text.BeginsWide(line) {
			out += " "
		}
		out += line
	}
	return out
}

// usualWidth is for how many columns help is written.
const usualWidth = 80

// completeHelp makes the texts of help when it is requested: those of tests are sentences
// of the catalogue, and the first packet of a test does not wait until that is read.
func completeHelp(root *cobra.Command, sys *System) {
	describe := sync.OnceFunc(func() { describeTests(root, sys.Catalogue) })
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		describe()
		cmd.Long = paragraphs(cmp.Or(cmd.Long, cmd.Short), sys.StdoutWidth())
		if showsStore(cmd) {
			cmd.Long += "\n\n" + storedIn(sys)
		}
		help(cmd, args)
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		describe()
		_, err := io.WriteString(cmd.OutOrStderr(), usage(cmd, sys.StdoutWidth()))
		return err
	})
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == manName {
			describe()
		}
	}
}

func describeTests(root *cobra.Command, c *text.Catalogue) {
	for _, cmd := range root.Commands() {
		if name := cmd.Name(); tests.Of(measure.Test(name)) != nil {
			cmd.Short = c.Sentence("help."+name+".short", nil)
			cmd.Long = c.Sentence("help."+name+".long", nil)
			cmd.Example = c.Sentence("help."+name+".example", nil)
		}
	}
}

// usage is the part of a command's help below its description, in lines of at most width
// columns; 0 does not break lines. A template of cobra cannot group flags and break lines.
func usage(cmd *cobra.Command, width int) string {
	var out strings.Builder
	out.WriteString("Usage:")
	if cmd.Runnable() {
		out.WriteString("\n  " + cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		out.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if cmd.HasExample() {
		out.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		out.WriteString(listedCommands(cmd, width))
	}
	if !cmd.HasParent() {
		out.WriteString(listedTopics())
	}
	if cmd.HasAvailableLocalFlags() {
		out.WriteString("\n\n" + groupedFlags(cmd, width))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "\n\nUse \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
	}
	return out.String() + "\n"
}

// listedCommands are the commands below a command, by their groups where it has some.
func listedCommands(parent *cobra.Command, width int) string {
	heading := "Available Commands:"
	var out strings.Builder
	list := func(heading, group string) {
		out.WriteString("\n\n" + heading)
		for _, cmd := range parent.Commands() {
			if cmd.GroupID == group && (cmd.IsAvailableCommand() || cmd.Name() == "help") {
				out.WriteString("\n" + listedCommand(cmd, width))
			}
		}
	}
	for _, group := range parent.Groups() {
		list(group.Title, group.ID)
		heading = "Additional Commands:"
	}
	if !parent.AllChildCommandsHaveGroup() {
		list(heading, "")
	}
	return out.String()
}

// listedCommand is a line of a list of commands: its name and what it does, below it in
// lines of their own where the terminal is narrow.
func listedCommand(cmd *cobra.Command, width int) string {
	indent := cmd.NamePadding() + 3
	if width <= 0 {
		return fmt.Sprintf("  %-*s %s", cmd.NamePadding(), cmd.Name(), cmd.Short)
	}
	lines := broken(cmd.Short, width-indent)
	return fmt.Sprintf("  %-*s %s", cmd.NamePadding(), cmd.Name(), strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
}
