//go:build !linux

package process

import "os/exec"

// DieWithParent does nothing: only Linux can. A child that has to end with its
// parent reads a pipe that the parent holds open, see [WhileOpen].
func DieWithParent(*exec.Cmd) {}
