//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach makes c a process of a session of its own, that outlives this one.
func detach(c *exec.Cmd) error {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return nil
}
