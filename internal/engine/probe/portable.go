//go:build !linux

package probe

import (
	"errors"
	"runtime"

	"soku/internal/measure"
)

// ErrTooLong means that the packet exceeds the MTU of the interface or the route.
var ErrTooLong = errors.New("longer than the interface carries")

// Open returns an error: this system has no prober.
func Open(c Config) (Prober, error) {
	return nil, measure.Fail(measure.KindUsage, "probe.unsupported", measure.Figures{
		"test": c.What, "target": c.Target.String(), "system": runtime.GOOS,
	})
}
