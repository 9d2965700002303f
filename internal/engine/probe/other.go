//go:build !linux

package probe

import (
	"errors"
	"runtime"

	"soku/internal/measure"
)

// ErrTooLong says that the interface or the route does not take a packet that long.
var ErrTooLong = errors.New("longer than the interface carries")

// Open reports that this system has no prober.
func Open(c Config) (Prober, error) {
	return nil, measure.Errorf(measure.KindUsage, "%s %s: not supported on %s yet", c.What, c.Target, runtime.GOOS).
		WithHint("run it on Linux, or measure round trips: soku ping %s", c.Target)
}
