//go:build unix

package host

import "golang.org/x/sys/unix"

// processTimes is the processor time of this process, all threads (getrusage(2)).
func processTimes() (userNs, sysNs int64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return u.Utime.Nano(), u.Stime.Nano()
}
