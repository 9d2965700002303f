package hub

import (
	"context"
	"crypto/rand"
	"time"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// Bounds of the time between two questions whether a command has ended.
const (
	askFirst = 50 * time.Millisecond
	askMost  = time.Second
)

// codeBusy is an agent's answer while another command runs there, such as one of a hub that was killed.
const codeBusy = "daemon.command.busy"

// RunCommand runs a command of a plan on an agent and returns the last of what it printed. It waits while another
// command runs there. When ctx ends, the command is killed. An error is that of the command or of the agent, the cause of
// ctx, or has kind unreachable if the agent does not answer for as long as patience.
func (h *Hub) RunCommand(ctx context.Context, agent string, c fleet.Command, patience time.Duration) (output []byte, err error) {
	c.ID = rand.Text()
	silent := time.Time{}
	for wait := askFirst; ; wait = min(2*wait, askMost) {
		state, err := ask[fleet.Commanded](ctx, h, agent, fleet.DownCommand, c)
		e := measure.AsError(err, measure.KindBroken)
		switch {
		case ctx.Err() != nil:
			h.endCommand(ctx, agent, c.ID)
			return nil, context.Cause(ctx)
		case e != nil && (e.Code == codeNoAnswer || e.Code == codeNotSent):
			if silent.IsZero() {
				silent = time.Now()
			}
			if time.Since(silent) > patience {
				return nil, err
			}
		case e != nil:
			return nil, err
		case state.Error != nil && state.Error.Code == codeBusy:
		case state.Error != nil:
			return state.Output, state.Error
		case !state.Running:
			return state.Output, nil
		default:
			silent, c = time.Time{}, fleet.Command{ID: c.ID}
		}
		next := time.NewTimer(wait)
		select {
		case <-next.C:
		case <-ctx.Done(): // which the next round sees
			next.Stop()
		}
	}
}

// endCommand kills a command, also after ctx has ended.
func (h *Hub) endCommand(ctx context.Context, agent, id string) {
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer stop()
	if _, err := ask[fleet.Commanded](limited, h, agent, fleet.DownCommand, fleet.Command{ID: id, End: true}); err != nil {
		h.cfg.Log.Warn("a command was not ended", "agent", agent, "cause", err)
	}
}
