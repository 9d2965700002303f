package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"soku/internal/measure"
)

// Remote is a [Runner] that has a child process run the trial at the job's
// client: in a host of the lab, or on another machine through ssh. The child is
// "soku trial"; it ends with the trial, with ctx, and with this process.
type Remote struct {
	// Child makes the process for a job; it must die with ctx.
	Child  func(ctx context.Context, j Job) (*exec.Cmd, error)
	Access Access
	Now    func() time.Time
}

// childGrace is how long a child may take to end after its input has.
const childGrace = 80 * time.Millisecond

// Run starts the child, gives it the spec and reads what comes back. A child
// that cannot be started or ends without a result leaves a result of its own
// whose error, of kind broken, has the last line the child wrote to stderr.
func (r *Remote) Run(ctx context.Context, j Job, h Hooks) *measure.Result {
	failed := func(err error) *measure.Result {
		res := blank(j, r.Now())
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		res.Error = measure.AsError(err, measure.KindBroken)
		return res
	}
	cmd, err := r.Child(ctx, j)
	if err != nil {
		return failed(err)
	}
	spec, err := json.Marshal(j.Spec(r.Access))
	if err != nil {
		return failed(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return failed(err)
	}
	out := &trialReader{obs: h.Progress, done: func() { _ = stdin.Close() }}
	complaints := &tail{limit: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, complaints
	cmd.Cancel, cmd.WaitDelay = stdin.Close, childGrace
	// The child is told to die with the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return failed(measure.Errorf(measure.KindBroken, "start %s for a trial on %s: %w", cmd.Path, j.Client.Endpoint, err).
			WithHint("check host: and command: of the endpoint in the plan"))
	}
	_, err = stdin.Write(append(spec, '\n')) // less than a pipe holds, or the child reads it
	waitErr := cmd.Wait()
	if out.result == nil {
		return failed(childFailure(j, out, complaints, errors.Join(waitErr, err)))
	}
	trial := j.Trial
	out.result.Trial = &trial
	return out.result
}

func childFailure(j Job, out *trialReader, complaints *tail, err error) error {
	said := lastLine(string(complaints.Bytes()))
	if said == "" {
		said = out.stray
	}
	if said == "" && err != nil {
		said = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if said == "" {
		said = "it said nothing"
	}
	return measure.Errorf(measure.KindBroken, "the process that ran the trial on %s ended without a result: %s", j.Client.Endpoint, strings.ToValidUTF8(said, "\uFFFD")).
		WithHint("is the same soku installed there? Try its command with --version")
}
