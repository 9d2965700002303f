// Package version knows which soku this is.
package version

import "runtime/debug"

// number is set by the linker: -X soku/internal/version.number=v1.2.3.
var number = "devel"

// String is the version that was linked in, with the revision it was built from
// where that is known.
func String() string {
	if number != "devel" {
		return number
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return number
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return number + "-" + s.Value[:12]
		}
	}
	return number
}
