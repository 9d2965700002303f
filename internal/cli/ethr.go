package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"soku/internal/dropin/ethr"
	"soku/internal/measure"
	"soku/internal/version"
)

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
