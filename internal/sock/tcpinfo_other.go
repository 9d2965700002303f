//go:build !linux

package sock

import (
	"net"
	"syscall"

	"soku/internal/measure"
)

// TCPInfo is what the kernel knows of c; this platform is not asked.
func TCPInfo(*net.TCPConn) (measure.TCPInfo, bool) { return measure.TCPInfo{}, false }

// Unsent is how many bytes c's peer has not acknowledged; this platform is not asked.
func Unsent(*net.TCPConn) (int64, bool) { return 0, false }

// LimitPacing smooths what c sends; on this platform the caller's own schedule
// does it alone.
func LimitPacing(syscall.Conn, uint64) (taken bool) { return false }
