package cli

import (
	"context"

	"github.com/spf13/cobra"

	"soku/internal/dropin/iperf3"
	"soku/internal/version"
)

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
