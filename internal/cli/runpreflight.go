package cli

import (
	"context"
	"slices"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// probes are what is checked before the first trial.
func (f *runFlags) probes(p *campaign.Plan, only campaign.Selection) []campaign.Job {
	if f.noPreflight {
		return nil
	}
	return p.Probes(only)
}

// preflight prepares the hosts that are reached by ssh and checks that clients reach their
// servers, and shows all that fails.
func preflight(ctx context.Context, sys *System, place *place, runner campaign.Runner, probes []campaign.Job) error {
	unprepared, err := place.remotes.prepare(ctx, sys)
	if err != nil {
		return err
	}
	var failures []*measure.Error
	for _, h := range place.remotes.inPlan {
		if e := unprepared[h.Name]; e != nil {
			failures = append(failures, measure.Fail(e.Kind, "campaign.preflight", measure.Figures{"pairs": []string{h.Name}, "cause": e}))
		}
	}
	probes = slices.DeleteFunc(probes, func(j campaign.Job) bool {
		return unprepared[j.Client.Endpoint.Name] != nil || unprepared[j.Server.Endpoint.Name] != nil
	})
	unreached, err := campaign.Preflight(ctx, runner, probes)
	if err != nil {
		return err
	}
	failures = append(failures, unreached...)
	switch len(failures) {
	case 0:
		return nil
	case 1:
		return failures[0]
	}
	for _, e := range failures {
		printError(sys.Catalogue, sys.Stderr, e)
	}
	return measure.Fail(failures[0].Kind, "cli.run.preflight", measure.Figures{"failures": len(failures)})
}
