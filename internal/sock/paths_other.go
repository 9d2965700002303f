//go:build !linux

package sock

// OutletPaths are the values of the option tx that this system has for TCP beside
// the portable write.
func OutletPaths() []string { return nil }

// IntakePaths are the values of the option rx that this system has for TCP beside
// the portable read.
func IntakePaths() []string { return nil }

// PrepareOutlet has nothing to make ahead here.
func PrepareOutlet() {}
