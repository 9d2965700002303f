package cli

import (
	"context"

	"github.com/spf13/cobra"

	"soku/internal/dropin/iperf3"
	"soku/internal/version"
)

const iperf3Name = "iperf3"

// asIperf3 are the arguments of a command line that is one of iperf3: the program
// was called by that name, or has it as its first word.
func asIperf3(sys *System) (args []string, ok bool) {
	switch {
	case sys.Called == iperf3Name:
		return sys.Args, true
	case len(sys.Args) > 0 && sys.Args[0] == iperf3Name:
		return sys.Args[1:], true
	}
	return nil, false
}

// runIperf3 does what iperf3 does, down to what is printed and the exit status.
func runIperf3(ctx context.Context, sys *System, args []string) int {
	return iperf3.Run(ctx, iperf3.Environment{
		Stdout: sys.Stdout, Stderr: sys.Stderr, Now: sys.Now, Version: version.String(), System: sys.Uname(), PID: sys.PID,
		Getenv: sys.Getenv, ReadFile: sys.ReadFile, Append: sys.Append, Remove: sys.Remove,
		WriteFile: func(file string, b []byte) error { return sys.WriteFile(file, b, 0o600) },
		Detach:    func(args []string) error { return detachIperf3(sys, args) },
		Detached:  sys.Getenv(detachedName) != "",
	}, args)
}

// detachedName is the variable by which a program knows that it is in the background.
const detachedName = "SOKU_DETACHED"

// detachIperf3 starts this program anew, without streams, and does not wait for it.
func detachIperf3(sys *System, args []string) error {
	path, err := sys.Executable()
	if err != nil {
		return err
	}
	c := sys.Command(context.Background(), path, append([]string{iperf3Name}, args...)...)
	c.Env = append(c.Environ(), detachedName+"=1")
	if err := detach(c); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}

// newIperf3Command is how the help of soku lists it; Run never gets here with it.
func newIperf3Command(*System) *cobra.Command {
	return &cobra.Command{
		Use:                iperf3Name + " [iperf3's options]",
		Short:              "Take the place of iperf3: its options, protocol, text and JSON",
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}
