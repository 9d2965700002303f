//go:build !linux

package sock

import (
	"net"
	"time"
)

// Unanswered reports that the system does not tell.
func Unanswered(*net.TCPConn) (waits bool, last time.Duration, ok bool) { return false, 0, false }
