//go:build !linux

package sock

// WriterPaths returns the values of the option tx for TCP that this system has in
// addition to the portable write.
func WriterPaths() []string { return nil }

// ReaderPaths returns the values of the option rx for TCP that this system has in
// addition to the portable read.
func ReaderPaths() []string { return nil }

// MultipathPaths returns the default values of the options tx and rx for Multipath TCP.
func MultipathPaths() (tx, rx string) { return "write", "read" }

// PrepareWriters does nothing on this system.
func PrepareWriters(int) {}
