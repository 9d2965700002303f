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
	failures := make([]*measure.Error, len(probes))
	var all sync.WaitGroup
	room := make(chan struct{}, probesAtOnce)
	for i, j := range probes {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
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
				failures[i] = r.Error
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
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
	var out []*measure.Error
	for _, e := range causes {
		out = append(out, measure.Fail(e.Kind, "campaign.preflight", measure.Figures{"pairs": pairs[e.Error()], "cause": e}))
	}
	return out, nil
}
