//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartDetached starts a program that outlives this process: it has a session of
// its own, no terminal and no streams, and environment ("NAME=value") in addition to
// this process's own. The error is errors.ErrUnsupported if the system has no way.
func StartDetached(environment []string, name string, args ...string) error {
	c := exec.Command(name, args...) //nolint:noctx // it is to outlive every context
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Env = append(c.Environ(), environment...)
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}

// Group is a command and what it starts. The terminal's Ctrl-C does not reach them: soku
// ends the command in order.
type Group struct{ cmd *exec.Cmd }

// NewGroup makes the group of a command that has not been started: a process group.
func NewGroup(cmd *exec.Cmd) *Group {
	attributes(cmd).Setpgid = true
	return &Group{cmd}
}

// Start starts the command.
func (g *Group) Start() error { return g.cmd.Start() }

// Wait waits for the command, and leaves alone what it started and left running.
func (g *Group) Wait() error { return g.cmd.Wait() }

// Kill kills the command, after its start began, and all of its group. It does nothing where
// none of the group is left.
func (g *Group) Kill() error { return syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }

// ShellCommand makes the command that runs a text with a shell: argv and the text behind it, or the
// system's shell if argv is empty. create makes it from a program and its arguments.
func ShellCommand(create func(name string, args ...string) *exec.Cmd, argv []string, text string) *exec.Cmd {
	if len(argv) == 0 {
		argv = []string{"sh", "-c"}
	}
	return create(argv[0], append(argv[1:len(argv):len(argv)], text)...)
}

func attributes(cmd *exec.Cmd) *syscall.SysProcAttr {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	return cmd.SysProcAttr
}

// LockFile takes the file for this process. The kernel gives it back when the
// process ends, however it ends. It returns false if another process has it.
func LockFile(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// UnlockFile gives a locked file back. To close the file is not enough: a child that was just
// forked has it until it runs its program.
func UnlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
