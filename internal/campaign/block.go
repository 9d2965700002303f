package campaign

import (
	"context"
	"time"

	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// block runs a pattern's trials between its commands. The after commands run
// whatever happened, so that a half-made change is undone: also, with little
// time, after an interrupt.
func (r *run) block(ctx context.Context, b schedule.Block) error {
	g, err := r.newBlockRun(b)
	if err != nil || g.queue.Waiting == 0 {
		return err
	}
	if err := r.changeByHand(ctx, b); err != nil {
		return err
	}
	failed, err := r.surround(ctx, "before", b, b.Pattern.Before)
	switch {
	case err != nil:
	case failed != nil:
		err = g.notRun(ctx, failed)
	default:
		err = g.runAll(ctx)
	}
	after := ctx
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		after, cancel = context.WithTimeout(context.WithoutCancel(ctx), afterGrace)
		defer cancel()
	}
	_, afterErr := r.surround(after, "after", b, b.Pattern.After)
	r.mu.Lock()
	r.clock.blocksDone++
	r.mu.Unlock()
	if err == nil {
		err = afterErr
	}
	return err
}

// afterGrace is how long the after commands may take once the person has
// stopped the campaign.
const afterGrace = 10 * time.Second

// surround runs commands and counts their time.
func (r *run) surround(ctx context.Context, when string, b schedule.Block, texts []string) (failed *measure.Error, err error) {
	begin := r.Now()
	failed, err = r.commands(ctx, when, b, texts)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clock.commands += r.Now().Sub(begin)
	return failed, err
}
