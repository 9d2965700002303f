//go:build !linux

package direct

import (
	"net"
	"time"
)

// OpenBlocking reports false: this system has only the net poller.
func OpenBlocking(net.Conn, time.Duration) (Link, bool) { return nil, false }
