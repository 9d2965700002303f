//go:build !linux

package sock

import (
	"net"
	"time"
)

// LimitUnacknowledged would make the kernel give c up when what it sent is not
// acknowledged for so long; this system has no such option.
func LimitUnacknowledged(*net.TCPConn, time.Duration) error { return lacking("TCP_USER_TIMEOUT") }
