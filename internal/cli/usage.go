package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

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
