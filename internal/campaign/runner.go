package campaign

import (
	"context"

	"soku/internal/agent"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// Runner runs trials: in this process, in a child process, or on another host.
//
// Run runs one trial and always returns a result, whose Error says what went
// wrong. Ending ctx ends the trial within 100 ms; the result's Error is then
// ctx's cause. Run is called concurrently when the executor runs several trials.
type Runner interface {
	Run(ctx context.Context, j schedule.Job, h Hooks) *measure.Result
}

// Hooks are how a running trial reports to the executor. Progress is never nil.
// A trial that belongs to a group calls Ready, which returns when the whole group is ready, or
// an error when another trial of the group failed. It then calls Started with its start; without
// that call, the start is the moment at which Ready returned.
type Hooks = agent.Hooks
