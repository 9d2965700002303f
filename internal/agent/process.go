package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/process"
)

// Process runs each trial in a process of its own. The process ends with the
// trial, with ctx, and with this process. Its output and its time are bounded: it may be a
// program of the user that does not run a trial.
type Process struct {
	// Command makes the process, which is to run "soku trial" somewhere; it dies
	// with ctx.
	Command func(ctx context.Context) (*exec.Cmd, error)
	Now     func() time.Time
	// Clock compares the clock of the process with that of this one: [SameClock], or over a connection to its host. nil: it is
	// not known. Then a trial that starts at an instant gets its order only then.
	Clock func(context.Context) (Clock, error)

	mute time.Duration // how long a child may report nothing at all; 0: see longestMute
}

// How long a child may take to end after its input has. Then its group is killed,
// and a little later the child alone if it is still there.
const (
	endGrace  = 70 * time.Millisecond
	killGrace = 80 * time.Millisecond
)

// Run starts the child, gives it the spec and reads what comes back. A child that
// cannot be started or ends without a result leaves a result of its own whose
// error, of kind broken, holds the last line that the child wrote to stderr.
func (p Process) Run(ctx context.Context, s Spec, h Hooks) *measure.Result {
	own, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	result, err := p.run(own, cancel, s, h)
	switch {
	case result == nil && own.Err() != nil:
		return s.NotRun(p.Now(), context.Cause(own))
	case result == nil:
		return s.NotRun(p.Now(), err)
	case err != nil:
		result.Error = measure.AsError(err, measure.KindBroken)
	case result.Error != nil && ctx.Err() != nil: // the child only knows that its input ended
		result.Error = measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	t := s.Trial
	result.Trial = &t
	return result
}

// run returns the child's result, if there is one, and why the trial failed where
// the child did not report that.
func (p Process) run(ctx context.Context, cancel context.CancelCauseFunc, s Spec, h Hooks) (*measure.Result, error) {
	s.Schema, s.AwaitStart, s.Acknowledge = Schema, h.Ready != nil, true
	line, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	cmd, err := p.Command(ctx)
	if err != nil {
		return nil, err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	barrier := newBarrier(ctx, cancel, h, p.Clock, stdin, s)
	late := time.AfterFunc(cmp.Or(p.mute, cmp.Or(s.Longest(), unknownTime)+longestMute), func() {
		cancel(s.Overtime())
	})
	defer late.Stop()
	out := &reportReader{
		barrier: barrier, hooks: h, done: func() { _ = stdin.Close() }, within: func(d time.Duration) { late.Reset(d) },
		limit: maxReport, options: s.Options, longest: s.Longest(), began: time.Now(),
	}
	complaints := &process.Tail{Limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, complaints
	group := process.NewGroup(cmd)
	var kill *time.Timer
	cmd.Cancel = func() error {
		kill = time.AfterFunc(endGrace, func() { _ = group.Kill() })
		return stdin.Close()
	}
	cmd.WaitDelay = killGrace
	process.DieWithParent(cmd)
	runtime.LockOSThread() // see DieWithParent
	defer runtime.UnlockOSThread()
	if err := group.Start(); err != nil {
		return nil, measure.Fail(measure.KindBroken, "agent.process.start", measure.Figures{"command": cmd.Path, "host": s.Client.String(), "cause": err})
	}
	_, writeErr := stdin.Write(append(line, '\n')) // less than a pipe holds, or the child reads it
	waitErr := group.Wait()
	if kill != nil {
		kill.Stop()
		_ = group.Kill() // what the child started and left running
	}
	if err := barrier.leave(ctx); err != nil {
		return out.result, err
	}
	if out.result == nil {
		return nil, childFailure(s, out, complaints, errors.Join(waitErr, writeErr))
	}
	return out.result, nil
}

// Longest is how long the trial may take from its start, or 0 if that is not known.
func (s Spec) Longest() time.Duration {
	o, err := option.Effective(s.Options, s.Test)
	if err != nil || o.Duration <= 0 || !option.NeedsServer(o, s.Test) {
		return 0
	}
	return (o.Omit + o.Duration).Std() + overtime
}

const codeLost = "agent.process.lost"

// lostStatus are the exit codes of a process that was killed (-1: by a signal; 137 and 143: as a
// shell reports SIGKILL and SIGTERM) or whose connection ended (255: ssh).
var lostStatus = []int{-1, 255, 137, 143}

// codeAway is that of a trial whose agent has gone away.
const codeAway = "fleet.agent_away"

// Lost reports whether a trial ended because its process was killed or because the connection
// to its host ended: it may be run again.
func Lost(e *measure.Error) bool {
	return e != nil && (e.Code == codeLost || e.Code == "ssh.lost" || e.Code == codeAway)
}

// NotWaiting is the failure of a trial whose client started it without waiting for the order to start.
func (s Spec) NotWaiting() *measure.Error {
	return measure.Fail(measure.KindBroken, "agent.process.no_wait", measure.Figures{"host": s.Client.String()})
}

// Overtime is the failure of a trial that did not end in time.
func (s Spec) Overtime() *measure.Error {
	return measure.Fail(measure.KindBroken, "agent.process.overtime", measure.Figures{"host": s.Client.String()})
}

// Away is the failure of a trial whose client has gone away: see [Lost].
func (s Spec) Away(why string) *measure.Error { return lostWith(s.Client.String(), why) }

// whyUnknown is why a trial is lost that its agent does not know.
const whyUnknown = "dropped"

// Dropped is the failure of a trial that its agent does not know: see [Unknown].
func (s Spec) Dropped() *measure.Error { return s.Away(whyUnknown) }

// Unknown reports whether a trial was lost because its agent does not know it.
func Unknown(e *measure.Error) bool {
	return e != nil && e.Code == codeAway && e.Figures["why"] == whyUnknown
}

// ServerAway is [Spec.Away] of its server.
func (s Spec) ServerAway(why string) *measure.Error { return lostWith(s.Server.Name, why) }

func lostWith(host, why string) *measure.Error {
	return measure.Fail(measure.KindBroken, codeAway, measure.Figures{"host": host, "why": why})
}

func childFailure(s Spec, out *reportReader, complaints *process.Tail, err error) error {
	why := cmp.Or(process.LastLine(string(complaints.Bytes())), out.stray)
	if why == "" && err != nil {
		why = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	code := "agent.process.no_result"
	var ended *exec.ExitError
	if errors.As(err, &ended) && slices.Contains(lostStatus, ended.ExitCode()) {
		code = codeLost
	}
	return measure.Fail(measure.KindBroken, code, measure.Figures{"host": s.Client.String(), "why": strings.ToValidUTF8(why, "\uFFFD")})
}
