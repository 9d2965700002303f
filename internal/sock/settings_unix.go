//go:build unix

package sock

import "soku/internal/measure"

// windowCapped returns the error for a buffer that the system limits to less.
func windowCapped(option string, asked measure.Size, got int, knob string) error {
	return measure.Fail(measure.KindPermission, "sock.window", measure.Figures{
		"option": option, "asked_bytes": asked, "limit_bytes": measure.Size(got), "setting": knob,
	})
}
