//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

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
