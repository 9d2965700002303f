package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"

	"github.com/spf13/cobra"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/trial"
	"soku/internal/version"
)

// newTrialCommand is the child that a campaign starts on a host to run one
// trial there; what passes between them is specified by campaign.TrialSchema.
func newTrialCommand(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:    "trial",
		Short:  "Run one trial of a campaign that is described on the input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return campaign.ServeTrial(cmd.Context(), sys.Stdin, sys.Stdout, trialRunner(sys))
		},
	}
}

// trialRunner measures what a spec says, in this process.
func trialRunner(sys *System) func(context.Context, campaign.TrialSpec, measure.Observer) *measure.Result {
	return func(ctx context.Context, s campaign.TrialSpec, obs measure.Observer) *measure.Result {
		return trial.Run(ctx, trial.Spec{
			Test: s.Test, Options: s.Options, Host: s.Host, Client: s.Client, Server: s.Server,
			Token: s.Access.Token, TLS: tlsOf(s.Access), Version: version.String(), Identity: &s.Trial,
			Floor: keptFloor(sys, func(string) {}),
		}, trial.Hooks{Observe: obs})
	}
}

// tlsOf is the TLS configuration of an access, nil for none. A certificate
// authority that does not parse trusts nobody, so that the trial says so.
func tlsOf(a campaign.Access) *tls.Config {
	if !a.TLS {
		return nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.TLSCA != "" {
		cfg.RootCAs = x509.NewCertPool()
		cfg.RootCAs.AppendCertsFromPEM([]byte(a.TLSCA))
	}
	return cfg
}
