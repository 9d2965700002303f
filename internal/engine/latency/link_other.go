//go:build !linux

package latency

import (
	"net"
	"time"
)

// openLink opens the best link this system has.
func openLink(conn net.Conn, tick time.Duration, threads int) link {
	return openPoller(conn, tick, threads)
}
