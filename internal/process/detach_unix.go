//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// StartDetached starts a program that outlives this process: it has a session of
// its own, no terminal and no streams, and environment ("NAME=value") beside this
// process's own. The error is errors.ErrUnsupported where the system has no way.
func StartDetached(environment []string, name string, args ...string) error {
	c := exec.Command(name, args...) //nolint:noctx // it is to outlive every context
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Env = append(c.Environ(), environment...)
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}
