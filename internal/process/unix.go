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

// OwnGroup gives a command, before its start, a process group of its own: the
// terminal's Ctrl-C then reaches only soku, which ends the command in order, and
// [KillGroup] ends also what the command started.
func OwnGroup(cmd *exec.Cmd) { attributes(cmd).Setpgid = true }

// KillGroup kills a command that was started with [OwnGroup], and all of its
// group. It does nothing where none of the group is left.
func KillGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

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
