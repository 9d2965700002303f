//go:build !linux

package sock

import "soku/internal/measure"

// unsupported returns the error for an option that this system does not support.
func unsupported(option string) error {
	return measure.Fail(measure.KindUsage, "sock.unsupported", measure.Figures{"option": option, "system": system})
}
