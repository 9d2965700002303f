//go:build !unix

package cli

import (
	"os/exec"

	"soku/internal/measure"
)

func detach(*exec.Cmd) error {
	return measure.Errorf(measure.KindUsage, "this system has no such thing").WithHint("start it as a service")
}
