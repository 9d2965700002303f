//go:build !unix

package postgresql

import "os/exec"

func give(...string) error          { return nil }
func asOwner(c *exec.Cmd) *exec.Cmd { return c }
