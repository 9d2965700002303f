// Package cli is the command line: a file for each command or group of commands. It only reads
// flags and writes: a command calls the package that does the work, such as conduct for a
// campaign and publish for a report, and prints what that returns.
// TestTheCommandLineOnlyReadsFlagsAndWrites lists what the package may import.
//
// Run starts one goroutine that turns signals into the end of the context.
package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/printable"
	"soku/internal/process"
	"soku/internal/sock"
	"soku/internal/text"
	"soku/internal/version"
)

// Program is a program that has the commands of this package.
type Program struct {
	Name     string
	Short    string // in help
	Examples string
	// More are commands of this program alone, in the Group, also in place of one of the same name.
	Group *cobra.Group // or nil
	More  []func(*System) *cobra.Command
}

// Soku is the program that measures.
var Soku = Program{
	Name: "soku", Short: "Measure a network path, compare choices, read the answer",
	Examples: `  soku server          on one host
  soku tcp HOST        on another: goodput to the first
  soku ls              what was measured`,
}

// Run executes one command line and returns its exit status. It never panics:
// a panic becomes one sentence and status 1.
func Run(sys *System) (code int) { return Soku.Run(sys) }

// Run is [Run] of a program.
func (p Program) Run(sys *System) (code int) {
	sys, stdout := filtered(sys)
	sys.takeLanguage()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer endOnInterrupt(sys, cancel)()
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("failure.defect", text.Args{"Panic": panics.From(r).Value}))
			code = exitStatus[measure.KindInternal]
		}
	}()

	sock.ReserveThreads()
	if run, args := asDropIn(sys); run != nil {
		if code = run(ctx, sys, args); code == 0 && stdout.Err() != nil {
			printError(sys.Catalogue, sys.Stderr, notPrinted(stdout.Err()))
			code = exitStatus[measure.KindInternal]
		}
		return code
	}
	root := p.newRoot(sys)
	root.SetArgs(ownArgs(sys))
	root.SetIn(sys.Stdin)
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	err := root.ExecuteContext(ctx)
	if failed := stdout.Err(); failed != nil && (err == nil || measure.KindOf(err) == measure.KindInternal) {
		err = notPrinted(failed)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && measure.KindOf(err) == measure.KindInternal {
			err = cause
		}
		printError(sys.Catalogue, sys.Stderr, err)
	}
	return status(err)
}

// filtered is sys with package printable before its outputs, because a text may hold parts from
// other hosts or programs. stdout keeps the first error of the standard output, so that no
// command has to check what it prints.
func filtered(sys *System) (out *System, stdout *printable.Writer) {
	all := *sys
	stdout = printable.NewWriter(sys.Stdout)
	all.Stdout, all.Stderr = stdout, printable.NewWriter(sys.Stderr)
	return &all, stdout
}

// notPrinted is the error of a standard output that cannot be written. Commands return what a write
// failed with as it is.
func notPrinted(cause error) error {
	return measure.Fail(measure.KindStore, "cli.output", measure.Figures{"cause": cause})
}

// impatience is how long after the first interrupt another one does not end the process: people
// press Ctrl-C twice in a row, and what a test made is to be removed first.
const impatience = time.Second

// endOnInterrupt calls cancel when the first interrupt comes, until stop is called.
func endOnInterrupt(sys *System, cancel context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case s := <-sys.Interrupts:
			cancel(measure.Fail(measure.KindInterrupted, "cli.interrupted", nil).WithCause(process.Signalled{Signal: s}))
		case <-done:
			return
		}
		select {
		case <-time.After(impatience):
			sys.EndOnSignal()
		case <-done:
		}
	}()
	return func() { close(done) }
}

func (p Program) newRoot(sys *System) *cobra.Command {
	var shown *bool // the version is asked for
	root := &cobra.Command{
		Use:           p.Name,
		Short:         p.Short,
		Example:       p.Examples,
		Annotations:   storesResults,
		SilenceErrors: true,
		SilenceUsage:  true,
		// Levenshtein distance of names that an error suggests.
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case *shown:
				return printVersion(cmd, nil)
			case len(args) == 0:
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	shown = root.Flags().BoolP("version", "v", false, "version for soku")
	addLanguage(root, sys)
	root.SetFlagErrorFunc(flagError)
	add := func(group string, command *cobra.Command) {
		checkArguments(command)
		command.GroupID = group
		root.AddCommand(command)
	}
	if p.Group != nil {
		root.AddGroup(p.Group)
	}
	root.AddGroup(commandGroups...)
	own := map[string]bool{}
	for _, newCommand := range p.More {
		c := newCommand(sys)
		own[c.Name()] = true
		add(p.Group.ID, c)
	}
	for _, test := range measure.Tests() {
		add(groupTests, newMeasureCommand(sys, test))
	}
	for _, c := range commands {
		if command := c.make(sys); !own[command.Name()] {
			add(c.group, command)
		}
	}
	root.SetHelpCommand(newHelpCommand(root))
	completeHelp(root, sys)
	return root
}

func printVersion(cmd *cobra.Command, _ []string) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s, %s/%s)\n", cmd.Root().Name(), version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// newVersionCommand is --version for people who type it as a command.
func newVersionCommand(*System) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Hidden: true, Args: cobra.NoArgs, RunE: printVersion}
}

// checkArguments makes what a command, or one below it, finds wrong with its
// arguments an error of usage that says where to look.
func checkArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err == nil { // cobra does this after the arguments, too, and gives no kind
				if err = cmd.ValidateFlagGroups(); err != nil {
					return measure.TextError(measure.KindUsage, err.Error(), "").WithHintCode("see_help", measure.Figures{"command": cmd.CommandPath()})
				}
			}
			var e *measure.Error
			switch {
			case err == nil || errors.As(err, &e):
				return err
			case !cmd.HasSubCommands():
				last := ""
				if len(args) > 0 {
					last = args[len(args)-1]
				}
				return measure.Fail(measure.KindUsage, "cli.arguments", measure.Figures{"arguments": len(args), "last": last, "usage": cmd.UseLine(), "command": cmd.CommandPath()})
			}
			return unknownSubcommand(cmd, args[0])
		}
	}
	for _, sub := range cmd.Commands() {
		checkArguments(sub)
	}
}

// unknownSubcommand names the commands below cmd.
func unknownSubcommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	return measure.Fail(measure.KindUsage, "cli.unknown_subcommand", measure.Figures{"name": name, "command": cmd.CommandPath(), "commands": known})
}

// Groups of commands in help.
const (
	groupTests     = "tests"
	groupCampaigns = "campaigns"
	groupResults   = "results"
	groupDropIns   = "drop-ins"
)

var commandGroups = []*cobra.Group{
	{ID: groupTests, Title: "Measure a path:"}, {ID: groupCampaigns, Title: "Compare choices:"},
	{ID: groupResults, Title: "Results:"}, {ID: groupDropIns, Title: "Drop-in replacements:"},
}

// commands are the subcommands that run no test.
var commands = []struct {
	group string
	make  func(*System) *cobra.Command
}{
	{groupTests, newServerCommand}, {groupTests, newFloorCommand}, {groupTests, newDoctorCommand}, {groupTests, newAgentCommand},
	{groupCampaigns, newNewCommand}, {groupCampaigns, newPlanCommand}, {groupCampaigns, newRunCommand}, {groupCampaigns, newReportCommand}, {groupCampaigns, newCompareCommand}, {groupCampaigns, newVersusCommand}, {groupCampaigns, newCheckCommand}, {groupCampaigns, newCatalogCommand}, {groupCampaigns, newLabCommand},
	{groupResults, newLsCommand}, {groupResults, newShowCommand}, {groupResults, newRmCommand}, {groupResults, newPruneCommand}, {groupResults, newMergeCommand}, {groupResults, newIngestCommand},
	{groupDropIns, newNtttcpCommand}, {groupDropIns, newEthrCommand}, {groupDropIns, newIperf3Command},
	{"", newManCommand}, {"", newVersionCommand}, {"", newLicensesCommand}, {"", newTrialCommand}, {"", newEndpointCommand},
}

// newHelpCommand is cobra's, except that it has topics, too, and that help about nothing that exists
// is an error.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Help about a command or a topic",
		RunE: func(help *cobra.Command, args []string) error {
			if len(args) == 1 {
				if known, err := printTopic(help.OutOrStdout(), args[0]); known {
					return err
				}
			}
			cmd, rest, _ := root.Find(args) // its error is that rest has words
			if len(rest) > 0 {
				return unknownCommand(cmd, rest[0])
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if cmd, _, err := root.Find(args); err == nil {
				for _, sub := range cmd.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
				}
			}
			for _, t := range topics {
				if named, _, _ := root.Find([]string{t.name}); named == root && len(args) == 0 { // no command has that name
					names = append(names, cobra.CompletionWithDesc(t.name, t.about))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// unknownCommand names the commands that a person may have meant by a word that is none: the name
// of a plan, a host, or a similar command.
func unknownCommand(cmd *cobra.Command, name string) error {
	e := measure.Fail(measure.KindUsage, "cli.unknown_command", measure.Figures{"name": name, "tests": measure.Tests()})
	near := cmd.SuggestionsFor(name)
	switch extension := filepath.Ext(name); {
	case extension == ".yaml" || extension == ".yml":
		return e.WithHintCode("command_of_plan", measure.Figures{"name": name})
	case strings.ContainsAny(name, ".:"):
		return e.WithHintCode("command_of_host", measure.Figures{"name": name})
	case len(near) > 0:
		return e.WithHintCode("similar_commands", measure.Figures{"commands": near, "name": name})
	}
	return e
}
