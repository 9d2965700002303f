//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// startDetached starts a process that outlives this one and has no terminal.
func startDetached(name string, args ...string) error {
	c := exec.Command(name, args...) //nolint:noctx // it is to outlive every context
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Env = append(c.Environ(), detachedName+"=1")
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}
