//go:build !unix

package sock

// OpenFiles returns how many file descriptors this process may have open; 0 is no limit
// that matters.
func OpenFiles() int { return 0 }
