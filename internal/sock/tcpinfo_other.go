//go:build !linux

package sock

import (
	"net"
	"syscall"

	"soku/internal/measure"
)

// TCPInfo reports false: TCP_INFO is not read on this system.
func TCPInfo(*net.TCPConn) (measure.TCPInfo, bool) { return measure.TCPInfo{}, false }

// Unsent reports false: unacknowledged bytes are not read on this system.
func Unsent(*net.TCPConn) (int64, bool) { return 0, false }

// LimitPacing reports false: on this system only the caller's own schedule paces.
func LimitPacing(syscall.Conn, uint64) (taken bool) { return false }
