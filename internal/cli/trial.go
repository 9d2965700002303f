package cli

import (
	"github.com/spf13/cobra"

	"soku/internal/agent"
	"soku/internal/printable"
	"soku/internal/version"
)

// newTrialCommand is the process in which an agent runs one trial; what passes
// between them is specified at agent.Schema.
func newTrialCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:    "trial",
		Short:  "Run one trial of a campaign that is described on the input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return agent.Serve(cmd.Context(), sys.Stdin, printable.Unfiltered(sys.Stdout), here(sys))
		},
	}
}

// here is this process as a place where trials run.
func here(sys *System) agent.Place {
	return agent.Local{Version: version.String(), Floor: storedBaseline(sys, func(string) {})}
}
