//go:build !linux

package sock

import (
	"net"
	"time"
)

// LimitUnacknowledged returns an error of kind usage: this system has no
// TCP_USER_TIMEOUT.
func LimitUnacknowledged(*net.TCPConn, time.Duration) error { return unsupported("TCP_USER_TIMEOUT") }
