// Package cli is the command line: one file a command. A command reads its
// flags, calls the package that does the work and prints; it decides nothing.
//
// Run starts one goroutine that turns signals into the end of the context.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/version"
)

// Run executes one command line and returns its exit status. It never panics:
// a panic becomes one sentence and status 1.
func Run(sys *System) (code int) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer endOnInterrupt(sys, cancel)()
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(sys.Stderr, "soku: internal error: %v; please report it with the command line\n", r)
			code = exitStatus[measure.KindInternal]
		}
	}()

	if !measures(sys) {
		sock.ReserveThreads()
	}
	if run, args := asDropIn(sys); run != nil {
		return run(ctx, sys, args)
	}
	root := newRoot(sys)
	root.SetArgs(ownArgs(sys))
	root.SetIn(sys.Stdin)
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && measure.KindOf(err) == measure.KindInternal {
			err = cause
		}
		fmt.Fprintf(sys.Stderr, "soku: %s\n", oneLine(err.Error()))
	}
	return status(err)
}

// endOnInterrupt calls cancel when the first interrupt comes, until stop is called. For a
// test the watch begins beside it, as its first packet need not wait for that; for
// others it has begun on return: whoever sees a server listen may end it.
func endOnInterrupt(sys *System, cancel context.CancelCauseFunc) (stop func()) {
	var interrupts <-chan os.Signal
	if !measures(sys) {
		interrupts = sys.Interrupts()
	}
	done := make(chan struct{})
	go func() {
		if interrupts == nil {
			interrupts = sys.Interrupts()
		}
		select {
		case <-interrupts:
			cancel(measure.Errorf(measure.KindInterrupted, "interrupted"))
			signal.Reset() // a second one ends the process at once
		case <-done:
		}
	}()
	return func() { close(done) }
}

// measures tells whether the command line is a test of soku's own, for which a trial
// reserves threads when it has reached its far end.
func measures(sys *System) bool {
	return dropInOf(sys.Called) == nil && len(sys.Args) > 0 && slices.Contains(measure.Tests(), measure.Test(sys.Args[0]))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func newRoot(sys *System) *cobra.Command {
	root := &cobra.Command{
		Use:           "soku",
		Short:         "Measure a network path, compare choices, read the answer",
		Version:       version.String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		e := measure.AsError(err, measure.KindUsage)
		if e.Hint != "" {
			return e
		}
		return e.WithHint("see: %s --help", cmd.CommandPath())
	})
	root.SetVersionTemplate(fmt.Sprintf("soku {{.Version}} (%s, %s/%s)\n", runtime.Version(), runtime.GOOS, runtime.GOARCH))
	if w := sys.StdoutWidth(); w > 0 {
		root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", w)))
	}
	root.AddCommand(wanted(sys)...)
	// A command that is named gets no company: see wanted.
	root.CompletionOptions.DisableDefaultCmd = len(root.Commands()) == 1
	for _, command := range root.Commands() {
		checkArguments(command)
	}
	return root
}

// checkArguments makes what a command, or one below it, finds wrong with its
// arguments an error of usage that says where to look.
func checkArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var e *measure.Error
			if err == nil || errors.As(err, &e) {
				return err
			}
			return measure.Errorf(measure.KindUsage, "%w", err).WithHint("see: %s --help", cmd.CommandPath())
		}
	}
	for _, sub := range cmd.Commands() {
		checkArguments(sub)
	}
}

// commands are the subcommands in the order help lists them.
var commands = []struct {
	name string
	make func(*System) *cobra.Command
}{
	{"tcp", newMeasureCommand(measure.TestTCP)},
	{"udp", newMeasureCommand(measure.TestUDP)},
	{"latency", newMeasureCommand(measure.TestLatency)},
	{"connect", newMeasureCommand(measure.TestConnect)},
	{"ping", newMeasureCommand(measure.TestPing)},
	{"trace", newMeasureCommand(measure.TestTrace)},
	{"mtu", newMeasureCommand(measure.TestMTU)},
	{"server", newServerCommand},
	{"ntttcp", newNtttcpCommand},
	{"ethr", newEthrCommand},
	{"iperf3", newIperf3Command},
	{"floor", newFloorCommand},
	{"plan", newPlanCommand},
	{"run", newRunCommand},
	{"report", newReportCommand},
	{"ingest", newIngestCommand},
	{"ls", newLsCommand},
	{"show", newShowCommand},
	{"lab", newLabCommand},
	{"trial", newTrialCommand},
}

// wanted are the subcommands that the command line can need: the one that its
// first word names, or else all. To make all of them and their flags takes longer
// than all else that the command line does before the first packet.
func wanted(sys *System) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range commands {
		if len(sys.Args) > 0 && sys.Args[0] == c.name {
			return []*cobra.Command{c.make(sys)}
		}
	}
	for _, c := range commands {
		all = append(all, c.make(sys))
	}
	return all
}

func unknownCommand(cmd *cobra.Command, name string) error {
	hint := "tests are tcp, udp, latency, connect, ping, trace, mtu; see: soku --help"
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s? See: soku --help", strings.Join(near, " or "))
	}
	return measure.Errorf(measure.KindUsage, "unknown test or command %q", name).WithHint("%s", hint)
}
