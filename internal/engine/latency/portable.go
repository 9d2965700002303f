//go:build !linux

package latency

import (
	"net"
	"time"
)

// openShared opens the best link for loops that run in the Go runtime.
func openShared(conn net.Conn, tick time.Duration, threads int) link {
	return openPoller(conn, tick, threads)
}
