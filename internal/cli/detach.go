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
		return measure.Errorf(measure.KindUsage, "-D: this system has no way to go on in the background").WithHint("leave it out, or start it as a service")
	}
	if err != nil {
		return measure.Errorf(measure.KindInternal, "-D: start again in the background: %w", err)
	}
	return nil
}
