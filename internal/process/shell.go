package process

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// Shell runs commands of a plan.
type Shell struct {
	// Command makes the process, as exec.CommandContext does.
	Command func(ctx context.Context, name string, args ...string) *exec.Cmd
	Argv    []string // the plan's shell, or nil for the system's
	Dir     string
	More    []string // environment for every command
}

// Run runs one command and returns the last 64 KiB of what it printed. When ctx
// ends, the command and what it started are killed.
func (s Shell) Run(ctx context.Context, text string, environment []string) ([]byte, error) {
	cmd := ShellCommand(func(name string, args ...string) *exec.Cmd { return s.Command(ctx, name, args...) }, s.Argv, text)
	cmd.Dir = s.Dir
	cmd.Env = append(append(cmd.Environ(), s.More...), environment...)
	out := &Tail{Limit: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 50 * time.Millisecond // a grandchild may keep the pipe open
	group := NewGroup(cmd)
	cmd.Cancel = group.Kill
	err := group.Run()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		err = nil // it started something that goes on, such as a load generator
	}
	return out.Bytes(), err
}
