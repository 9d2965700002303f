package campaign

import (
	"context"
	"time"

	"soku/internal/measure"
)

// Runner runs trials: in this process, in a child process, or on another host.
//
// Run runs one trial and always returns a result, whose Error says what went
// wrong. Ending ctx ends the trial within 100 ms; the result's Error is then
// ctx's cause. Run is called from several goroutines at once when the
// executor runs several trials at once.
type Runner interface {
	Run(ctx context.Context, j Job, h Hooks) *measure.Result
}

// Hooks are how a running trial reports to the executor. A Runner calls them
// from one goroutine at a time, and not after Run has returned.
type Hooks struct {
	// Progress gets the live intervals of the trial. It is never nil.
	Progress measure.Observer
	// Ready is nil unless the trial belongs to a group that starts together. Run
	// calls it once, when all is prepared (session open, connections up) and
	// before packets move. It returns when the whole group is ready, and then the
	// trial starts at once; with an error, which becomes the result's Error, the
	// trial must not start: another trial of the group failed, or ctx ended.
	//
	// A runner that starts a child process calls Ready when the child reports that
	// it is ready, and tells the child to start when Ready returns nil.
	Ready func(ctx context.Context) error
	// Started reports when the trial started, on the clock of this process
	// (time.Now). It is nil when Ready is. Calling it is optional: without it the
	// start is the moment at which Ready returned, which is late enough for a trial
	// in this process and too early for one that still has to be told elsewhere.
	Started func(at time.Time)
}
