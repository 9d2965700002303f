//go:build unix

package sock

import "soku/internal/measure"

// windowCapped returns the error for a buffer that the system limits to less.
func windowCapped(option string, asked measure.Size, got int, knob string) error {
	return measure.Errorf(measure.KindPermission, "set socket option %s to %s: the system allows %s", option, asked, measure.Size(got)).
		WithHint("raise %s, or ask for a smaller --window", knob)
}
