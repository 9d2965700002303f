package conduct

import (
	"context"
	"slices"

	"soku/internal/campaign"
	"soku/internal/campaign/plan"
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
	var between []schedule.Job
	probes = slices.DeleteFunc(probes, func(j schedule.Job) bool {
		if a := &s.place.agents; a.of == nil || !a.betweenAgents(j) {
			return false
		}
		between = append(between, j)
		return true
	})
	unreached, err := campaign.Preflight(ctx, s.executor.Runner, probes)
	if err != nil {
		return err
	}
	failures = append(failures, unreached...)
	if unreached, err = s.preflightAgents(ctx, between); err != nil {
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

// preflightAgents tries how the agents of each pair reach each other. Pairs that cannot be opened either way do not run, unless they are
// all. It returns the failures that keep the campaign from beginning. An error has kind interrupted.
func (s *Session) preflightAgents(ctx context.Context, probes []schedule.Job) ([]*measure.Error, error) {
	pairs := map[schedule.EndpointPair]bool{}
	failures, err := campaign.EachProbe(ctx, probes, func(j schedule.Job) *measure.Error {
		_, err := s.place.agents.find(ctx, j)
		return measure.AsError(err, measure.KindBroken)
	})
	if err != nil {
		return nil, err
	}
	blocked := map[schedule.EndpointPair]*measure.Error{}
	var causes []*measure.Error
	for _, j := range probes {
		pair := j.Endpoints()
		found, _ := s.place.agents.ways.get(pair)
		if found.blocked != nil && blocked[pair] == nil {
			blocked[pair] = found.blocked
			causes = append(causes, found.blocked)
		}
		if found.reversed && !pairs[pair] {
			s.reportOneWay(j)
		}
		if found.first != nil && !pairs[pair] {
			s.conductor.begun(Beginning{Step: StepAddress, Error: measure.Fail(measure.KindUnreachable, "campaign.other_address", measure.Figures{
				"pair": pair.String(), "address": found.address, "first": found.first.address, "cause": found.first.why,
			})})
		}
		pairs[pair] = true
	}
	grouped := campaign.GroupFailures(probes, failures)
	if len(blocked) == len(pairs) {
		return append(grouped, causes...), nil
	}
	for _, e := range causes {
		s.conductor.begun(Beginning{Step: StepUnreachable, Error: e})
	}
	s.executor.Blocked = blocked
	return grouped, nil
}

// reportOneWay reports the tests between the ends of a probe that do not run because only the planned server opens a connection.
func (s *Session) reportOneWay(probe schedule.Job) {
	pair, reported := probe.Endpoints(), map[measure.Test]bool{}
	patterns := s.order.Plan.AllPatterns()
	for i := range patterns {
		pt := &patterns[i]
		if sets := s.order.Plan.EndpointSets(pt); !s.order.Only.Matches(pt.Levels) || !sets.Has(pair.Client, pair.Server) {
			continue
		}
		for _, t := range pt.Tests {
			if reported[t.Test] || !plan.NeedsOwnServer(t.Test, t.Options) || reversible(schedule.Job{Test: t.Test, Options: t.Options}) {
				continue
			}
			reported[t.Test] = true
			s.conductor.begun(Beginning{Step: StepUnreachable, Error: oneWay(probe, t.Test)})
		}
	}
}
