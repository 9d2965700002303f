//go:build !linux

package sock

import "soku/internal/measure"

// lacking returns the error for an option that this system does not support.
func lacking(option string) error {
	return measure.Fail(measure.KindUsage, "sock.lacking", measure.Figures{"option": option, "system": system})
}
