package sock

import "slices"

// Preferred returns the paths to try in order: for "auto" all that the system has,
// otherwise the requested one if the system has it.
func Preferred(asked string, have []string) []string {
	if asked == "" || asked == "auto" {
		return have
	}
	if slices.Contains(have, asked) {
		return []string{asked}
	}
	return nil
}
