package sock

import "slices"

// Preferred are the paths to try in turn: all that the system has for "auto", in
// its order, or the one that was asked for, if the system has it.
func Preferred(asked string, have []string) []string {
	if asked == "" || asked == "auto" {
		return have
	}
	if slices.Contains(have, asked) {
		return []string{asked}
	}
	return nil
}
