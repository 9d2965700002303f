package daemon

import (
	"context"
	"os/exec"
	"sync"
	"time"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/process"
)

// longestCommand bounds the time of a command.
const longestCommand = 24 * time.Hour

// codeBusy is why a command does not begin yet: another one, perhaps of a hub that was killed, has not ended.
const codeBusy = "daemon.command.busy"

// commands are those of plans that run on this host, one at a time. It is safe for concurrent use.
type commands struct {
	d   *daemon
	ctx context.Context // its end kills them
	all panics.Group

	mu   sync.Mutex
	last *command // nil: none was ordered yet
}

// command is one that was ordered.
type command struct {
	id      string
	end     context.CancelCauseFunc
	outcome fleet.Commanded // the lock of commands guards it
}

// order begins a command, ends it, or tells how far it is. An error has kind refused where the owner does not allow
// commands or another one runs, not_found for one that this process has not begun, or usage.
func (c *commands) order(o fleet.Command) (fleet.Commanded, error) {
	if !c.d.Policy.Commands {
		return fleet.Commanded{}, measure.Fail(measure.KindRefused, "daemon.policy.commands", nil)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch known := c.last != nil && c.last.id == o.ID; {
	case o.ID == "" || len(o.ID) > longestName:
		return fleet.Commanded{}, measure.Fail(measure.KindUsage, "daemon.command.order", nil)
	case known && o.End:
		c.last.end(measure.Fail(measure.KindInterrupted, "daemon.command.stopped", nil))
		return c.last.outcome, nil
	case known:
		return c.last.outcome, nil
	case len(o.Text) == 0:
		return fleet.Commanded{}, measure.Fail(measure.KindNotFound, "daemon.command.unknown", nil)
	case c.last != nil && c.last.outcome.Running:
		return fleet.Commanded{}, measure.Fail(measure.KindRefused, codeBusy, nil)
	}
	return c.begin(o), nil
}

// begin runs a command. The lock is held.
func (c *commands) begin(o fleet.Command) fleet.Commanded {
	limit := time.Duration(o.LimitNs)
	if limit <= 0 || limit > longestCommand {
		limit = longestCommand
	}
	limited, stop := context.WithTimeoutCause(c.ctx, limit, measure.Fail(measure.KindBroken, "campaign.command_timeout", measure.Figures{"limit_ns": limit}))
	ctx, end := context.WithCancelCause(limited)
	r := &command{id: o.ID, end: end, outcome: fleet.Commanded{Running: true}}
	c.last = r
	c.all.Go(func() {
		defer stop()
		output, err := process.Shell{Command: exec.CommandContext, Argv: o.Shell}.Run(ctx, string(o.Text), o.Environment)
		switch {
		case err != nil && ctx.Err() != nil:
			err = context.Cause(ctx)
		case err != nil:
			err = measure.Fail(measure.KindBroken, "daemon.command.failed", measure.Figures{"cause": err})
		}
		end(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		r.outcome = fleet.Commanded{Output: output[max(0, len(output)-fleet.MaxOutput):], Error: measure.AsError(err, measure.KindInterrupted)}
	})
	return r.outcome
}
