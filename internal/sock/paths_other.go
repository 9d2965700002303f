//go:build !linux

package sock

// WriterPaths are the values of the option tx that this system has for TCP beside
// the portable write.
func WriterPaths() []string { return nil }

// ReaderPaths are the values of the option rx that this system has for TCP beside
// the portable read.
func ReaderPaths() []string { return nil }

// MultipathPaths are the values of the options tx and rx to take for connections of
// Multipath TCP where none is asked for.
func MultipathPaths() (tx, rx string) { return "write", "read" }

// PrepareWriter has nothing to make ahead here.
func PrepareWriter() {}
