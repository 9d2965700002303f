//go:build unix

package tier

import "golang.org/x/sys/unix"

// ownSeconds is the processor time of this process and of its children that have ended.
func ownSeconds() (seconds float64) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			seconds += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
		}
	}
	return seconds
}
