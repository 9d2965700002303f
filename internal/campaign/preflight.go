package campaign

import (
	"context"
	"sync"
	"time"

	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// Bounds of the check before a run.
const (
	probesAtOnce  = 8
	probeTimeout  = 15 * time.Second
	rightsTimeout = 2 * time.Second
)

// Preflight runs probes, several concurrently, and returns what failed, failures of one cause as
// one. The error is of kind interrupted, if ctx ends.
func Preflight(ctx context.Context, runner Runner, probes []schedule.Job) ([]*measure.Error, error) {
	failures, err := EachProbe(ctx, probes, func(j schedule.Job) *measure.Error {
		limit, ofServer := probeTimeout, option.HasServer(j.Test)
		if !ofServer {
			limit = rightsTimeout
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		r := runner.Run(limited, j, Hooks{Progress: func(measure.Progress) {}})
		switch {
		case limited.Err() != nil: // it still waits for its turn at the server, or for packets
		case ofServer || r.Error != nil && (r.Error.Kind == measure.KindPermission || r.Error.Kind == measure.KindBroken):
			return r.Error
		}
		return nil
	})
	return GroupFailures(probes, failures), err
}

// EachProbe runs probes, several concurrently, and returns the failure of each, or nil. The error is of kind interrupted, if ctx ends.
func EachProbe(ctx context.Context, probes []schedule.Job, run func(schedule.Job) *measure.Error) ([]*measure.Error, error) {
	failures := make([]*measure.Error, len(probes))
	var all sync.WaitGroup
	room := make(chan struct{}, probesAtOnce)
	for i, j := range probes {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			failures[i] = run(j)
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	return failures, nil
}

// GroupFailures are the failures of probes, those of one cause as one. failures has an element a probe, or none.
func GroupFailures(probes []schedule.Job, failures []*measure.Error) (out []*measure.Error) {
	var causes []*measure.Error
	pairs := map[string][]string{}
	for i, e := range failures {
		if e == nil {
			continue
		}
		text := e.Error()
		if pairs[text] == nil {
			causes = append(causes, e)
		}
		pairs[text] = append(pairs[text], probes[i].Endpoints().String())
	}
	for _, e := range causes {
		out = append(out, measure.Fail(e.Kind, "campaign.preflight", measure.Figures{"pairs": pairs[e.Error()], "cause": e}))
	}
	return out
}
