package cli

import (
	"github.com/spf13/cobra"

	"soku/internal/fleet/endpoint"
	"soku/internal/printable"
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
