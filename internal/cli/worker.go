package cli

import (
	"github.com/spf13/cobra"

	"soku/internal/agent"
	"soku/internal/fleet/endpoint"
	"soku/internal/printable"
	"soku/internal/process"
	"soku/internal/version"
)

// newEndpointCommand is the process that a campaign has on a host that it reaches by ssh; what
// passes between them is specified at [endpoint.Schema].
func newEndpointCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:    "endpoint",
		Short:  "Run what a campaign needs on this host until the input ends",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return endpoint.Serve(cmd.Context(), sys.Stdin, printable.Unfiltered(sys.Stdout))
		},
	}
}

// newTrialCommand is the process in which an agent runs one trial; what passes
// between them is specified at agent.Schema.
func newTrialCommand(sys *System) *cobra.Command {
	var while string
	cmd := &cobra.Command{
		Use:    "trial",
		Short:  "Run one trial of a campaign that is described on the input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			if while != "" {
				var stop func()
				ctx, stop = process.WhileThere(ctx, func() bool { _, err := sys.Stat(while); return err == nil })
				defer stop()
			}
			return agent.Serve(ctx, sys.Stdin, printable.Unfiltered(sys.Stdout), here(sys))
		},
	}
	cmd.Flags().StringVar(&while, "while", "", "run only while this file exists")
	return cmd
}

// here is this process as a place where trials run.
func here(sys *System) agent.Place {
	return agent.Local{Version: version.String(), Floor: storedBaseline(sys, func(string) {})}
}
