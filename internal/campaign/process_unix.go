//go:build !windows

package campaign

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a group of its own, so that ending it ends what
// it started, and so that the terminal's Ctrl-C reaches only soku, which then
// ends it in order.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
