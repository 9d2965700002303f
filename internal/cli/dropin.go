package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"soku/internal/dropin/ethr"
	"soku/internal/dropin/iperf3"
	"soku/internal/dropin/ntttcp"
	"soku/internal/measure"
	"soku/internal/version"
)

// dropIn is what takes the place of another tool with its whole command line, and
// returns that tool's exit status.
type dropIn func(ctx context.Context, sys *System, args []string) int

// dropInOf is the drop-in of a name, nil for none.
func dropInOf(name string) dropIn {
	switch name {
	case ethrName:
		return runEthr
	case iperf3Name:
		return runIperf3
	}
	return nil
}

// asDropIn finds the drop-in of a command line: the program was called by another
// tool's name, or has it as its first word.
func asDropIn(sys *System) (run dropIn, args []string) {
	if run := dropInOf(sys.Called); run != nil {
		return run, sys.Args
	}
	if len(sys.Args) > 0 {
		return dropInOf(sys.Args[0]), sys.Args[1:]
	}
	return nil, nil
}

// ownArgs are the arguments of soku's own command line. A link named as ntttcp is
// soku's command of that name, which reports its errors as soku does.
func ownArgs(sys *System) []string {
	if sys.Called == ntttcpName {
		return append([]string{ntttcpName}, sys.Args...)
	}
	return sys.Args
}

const ethrName = "ethr"

// runEthr does what Ethr does, with its tables and its log file.
func runEthr(ctx context.Context, sys *System, args []string) int {
	return ethr.Run(ctx, ethr.Environment{Stdout: sys.Stdout, Now: sys.Now, Version: version.String(), Append: sys.appendPrintable,
		Size: func() (columns, lines int) {
			if sys.Getenv("TERM") == "dumb" {
				return 0, 0
			}
			return sys.StdoutWidth(), sys.StdoutHeight()
		}}, args)
}

// newEthrCommand is how the help of soku lists it; Run never gets here with it.
func newEthrCommand(*System) *cobra.Command {
	return &cobra.Command{
		Use:                ethrName + " [Ethr's options]",
		Short:              "Drop-in replacement for Ethr",
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// printEthrTable writes the rows of a latency test as Ethr does.
func printEthrTable(w io.Writer, l *measure.Latency) error {
	if l == nil {
		return nil
	}
	var rows []measure.Percentiles
	for _, row := range l.Rows {
		rows = append(rows, row.RTT)
	}
	return ethr.WriteTable(w, rows)
}

const iperf3Name = "iperf3"

// runIperf3 does what iperf3 does, down to what is printed and the exit status.
func runIperf3(ctx context.Context, sys *System, args []string) int {
	return iperf3.Run(ctx, iperf3.Environment{
		Stdout: sys.Stdout, Stderr: sys.Stderr, Now: sys.Now, Version: version.String(), System: sys.Uname(), PID: sys.PID,
		ReadPassword: sys.ReadPassword, Getenv: sys.Getenv, ReadFile: sys.ReadFile, Open: sys.Open, Stat: sys.Stat, Create: sys.Create, Append: sys.appendPrintable, Remove: sys.Remove,
		WriteFile: func(file string, b []byte) error { return sys.WriteFile(file, b, 0o600) },
		Detach:    func(args []string) error { return detach(sys, iperf3Name, args) },
		Detached:  isDetached(sys),
	}, args)
}

// newIperf3Command is how the help of soku lists it; Run never gets here with it.
func newIperf3Command(*System) *cobra.Command {
	return &cobra.Command{
		Use:                iperf3Name + " [iperf3's options]",
		Short:              "Drop-in replacement for iperf3",
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

const ntttcpName = "ntttcp"

func newNtttcpCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:   "ntttcp [-r|-s] [options of ntttcp]",
		Short: "Drop-in replacement for ntttcp for Linux",
		Long: `Takes the options of ntttcp for Linux and prints what it prints, in text, XML
and JSON. The other end may be soku ntttcp or ntttcp itself. A link named ntttcp
to this program is the same command. soku ntttcp -h lists the options.`,
		Example: `  soku ntttcp -r -m 8,*,10.0.0.4           receive on 8 ports
  soku ntttcp -s -m 8,*,10.0.0.4 -t 30     send to them
  ln -s soku ntttcp && ./ntttcp -r`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"--help"}) { // ntttcp itself has only -h
				return cmd.Help()
			}
			o, notes, err := ntttcp.Parse(args)
			if err != nil {
				return err
			}
			if o.Help {
				_, err := io.WriteString(sys.Stdout, ntttcp.Usage)
				return err
			}
			if o.Daemon && !isDetached(sys) {
				return detach(sys, ntttcpName, args)
			}
			return ntttcp.Run(cmd.Context(), o, notes, ntttcp.Env{
				Stdout: sys.Stdout, Terminal: sys.drawsOnStdout(), Now: sys.Now,
				WriteFile: sys.WriteFile, TryWrite: sys.TryWrite, Append: sys.appendPrintable, Version: version.String(), Hostname: sys.Hostname(),
			})
		},
	}
}

// isDetached reports whether this process was started by [detach].
func isDetached(sys *System) bool { return sys.Getenv(detachedName) != "" }

// detach starts this program again in the background, with a session of its own and
// without streams.
func detach(sys *System, command string, args []string) error {
	self, err := sys.Executable()
	if err == nil {
		err = sys.Detach(self, append([]string{command}, args...)...)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return measure.Fail(measure.KindUsage, "cli.detach.unsupported", nil)
	}
	if err != nil {
		return measure.Fail(measure.KindInternal, "cli.detach.start", measure.Figures{"cause": err})
	}
	return nil
}
