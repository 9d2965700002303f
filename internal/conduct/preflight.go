package conduct

import (
	"context"
	"slices"

	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// preflight prepares the hosts that are reached by ssh and checks that clients reach their
// servers. Of several failures it reports each, and returns their number.
func (s *Session) preflight(ctx context.Context) error {
	var probes []schedule.Job
	if !s.order.NoPreflight {
		probes = schedule.Probes(s.order.Plan, s.order.Only)
	}
	unprepared, err := s.place.remotes.prepare(ctx, s.conductor.begun)
	if err != nil {
		return err
	}
	var failures []*measure.Error
	for _, h := range s.place.remotes.inPlan {
		if e := unprepared[h.Name]; e != nil {
			failures = append(failures, measure.Fail(e.Kind, "campaign.preflight", measure.Figures{"pairs": []string{h.Name}, "cause": e}))
		}
	}
	probes = slices.DeleteFunc(probes, func(j schedule.Job) bool {
		return unprepared[j.Client.Endpoint.Name] != nil || unprepared[j.Server.Endpoint.Name] != nil
	})
	unreached, err := campaign.Preflight(ctx, s.executor.Runner, probes)
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
		s.conductor.begun(Beginning{Step: StepUnreachable, Error: e})
	}
	return measure.Fail(failures[0].Kind, "cli.run.preflight", measure.Figures{"failures": len(failures)})
}
