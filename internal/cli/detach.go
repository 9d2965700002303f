package cli

import (
	"errors"

	"soku/internal/measure"
	"soku/internal/process"
)

// detachedName is the variable by which a program knows that [detach] started it.
const detachedName = "SOKU_DETACHED"

// isDetached reports whether this process was started by [detach].
func isDetached(sys *System) bool { return sys.Getenv(detachedName) != "" }

// startDetached starts a process that outlives this one and knows that it is
// detached.
func startDetached(name string, args ...string) error {
	return process.StartDetached([]string{detachedName + "=1"}, name, args...)
}

// detach starts this program again in the background, with a session of its own and
// without streams.
func detach(sys *System, command string, args []string) error {
	self, err := sys.Executable()
	if err == nil {
		err = sys.Detach(self, append([]string{command}, args...)...)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return measure.Fail(measure.KindUsage, "cli.detach.unsupported", nil)
	}
	if err != nil {
		return measure.Fail(measure.KindInternal, "cli.detach.start", measure.Figures{"cause": err})
	}
	return nil
}
