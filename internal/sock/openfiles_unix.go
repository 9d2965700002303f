//go:build unix

package sock

import (
	"math"
	"syscall"
)

// OpenFiles returns how many file descriptors this process may have open; 0 is no limit
// that matters. Go raises the limit to the highest that the system lets it have.
func OpenFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur > math.MaxInt32 {
		return 0
	}
	return int(l.Cur)
}
