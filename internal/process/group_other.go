//go:build !unix

package process

import "os/exec"

// OwnGroup does nothing: this system has no process groups.
func OwnGroup(*exec.Cmd) {}

// KillGroup kills the command alone.
func KillGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
