package agent

import (
	"context"
	"os/exec"

	"soku/internal/measure"
)

// Self is how this program starts itself again.
type Self struct {
	Executable func() (string, error) // path of this program, as os.Executable
	// Make makes a process that dies with ctx, as exec.CommandContext.
	Make func(ctx context.Context, name string, args ...string) *exec.Cmd
}

// Path is the path of this program.
func (s Self) Path() (string, error) {
	path, err := s.Executable()
	if err != nil {
		return "", measure.Fail(measure.KindInternal, "agent.self", measure.Figures{"cause": err})
	}
	return path, nil
}

// Command makes a process of this program that dies with ctx.
func (s Self) Command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := s.Path()
	if err != nil {
		return nil, err
	}
	return s.Make(ctx, path, args...), nil
}
