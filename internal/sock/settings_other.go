//go:build !linux

package sock

import "soku/internal/measure"

// lacking returns the error for an option that this system does not support.
func lacking(option string) error {
	return measure.Errorf(measure.KindUsage, "%s cannot be set on %s", option, system).
		WithHint("leave it out on this host")
}
