// Package version knows which soku this is.
package version

import "runtime/debug"

// Release is the version in CHANGELOG.md that this source belongs to.
const Release = "0.1.0"

// revision is set by the linker where the source is not exactly that of a release:
// -X soku/internal/version.revision=3b54ab1d.
var revision string

// String is the release, with the revision as build metadata of Semantic Versioning where it
// is known: 0.1.0+3b54ab1d. Builds of a tagged release have no revision.
func String() string {
	if revision != "" {
		return Release + "+" + revision
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Release
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return Release + "+" + s.Value[:12]
		}
	}
	return Release
}
