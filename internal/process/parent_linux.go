package process

import (
	"os/exec"
	"syscall"
)

// DieWithParent has the kernel kill the command when the thread that starts it
// ends, however that comes. The caller calls it before the start and stays locked
// to its thread (runtime.LockOSThread) until the command has ended.
func DieWithParent(cmd *exec.Cmd) { attributes(cmd).Pdeathsig = syscall.SIGKILL }
